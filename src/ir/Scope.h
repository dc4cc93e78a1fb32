#pragma once

#include "support/Error.h"

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// The values that one name has had, innermost last.
template<typename T>
class SmallStack {
    std::vector<T> items;

public:
    void push(T t) {
        items.push_back(std::move(t));
    }
    void pop() {
        items.pop_back();
    }
    const T &top() const {
        return items.back();
    }
    T &top_ref() {
        return items.back();
    }
    bool empty() const {
        return items.empty();
    }
    size_t size() const {
        return items.size();
    }
};

template<>
class SmallStack<void> {
    size_t counter = 0;

public:
    void push() {
        counter++;
    }
    void pop() {
        counter--;
    }
    bool empty() const {
        return counter == 0;
    }
    size_t size() const {
        return counter;
    }
};

/// Names that are bound while something is walked: a later binding hides an earlier one until it is popped.
/// Iterates in the order of names.
template<typename T = void>
class Scope {
    using Table = std::map<std::string, SmallStack<T>, std::less<>>;
    Table table;
    const Scope<T> *containing_scope = nullptr;

public:
    Scope() = default;
    Scope(Scope &&) noexcept = default;
    Scope &operator=(Scope &&) noexcept = default;
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

    /// Where to look for what is not found here. Not owned.
    void set_containing_scope(const Scope<T> *s) {
        containing_scope = s;
    }

    static const Scope<T> &empty_scope() {
        static const Scope<T> empty;
        return empty;
    }

    /// The innermost value, or null.
    template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
    const T2 *find(const std::string &name) const {
        for (const Scope<T> *s = this; s; s = s->containing_scope) {
            if (const T2 *found = s->shallow_find(name)) {
                return found;
            }
        }
        return nullptr;
    }

    /// The same without looking in containing scopes.
    template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
    const T2 *shallow_find(const std::string &name) const {
        auto it = table.find(name);
        return it == table.end() || it->second.empty() ? nullptr : &it->second.top();
    }
    template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
    T2 *shallow_find(const std::string &name) {
        auto it = table.find(name);
        return it == table.end() || it->second.empty() ? nullptr : &it->second.top_ref();
    }

    /// The innermost value, which must exist.
    template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
    const T2 &get(const std::string &name) const {
        const T2 *found = find(name);
        _halide_internal_assert(found) << "Name not in Scope: " << name << "\n";
        return *found;
    }

    /// The innermost value in this scope itself, which must exist, to change it.
    template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
    T2 &ref(const std::string &name) {
        T2 *found = shallow_find(name);
        _halide_internal_assert(found) << "Name not in Scope: " << name << "\n";
        return *found;
    }

    bool contains(const std::string &name) const {
        for (const Scope<T> *s = this; s; s = s->containing_scope) {
            auto it = s->table.find(name);
            if (it != s->table.end() && !it->second.empty()) {
                return true;
            }
        }
        return false;
    }

    /// How often the name is bound in this scope itself.
    size_t count(const std::string &name) const {
        auto it = table.find(name);
        return it == table.end() ? 0 : it->second.size();
    }

    /// How many names are bound in this scope itself.
    size_t size() const {
        return table.size();
    }

    /// Identifies a pushed name: makes the pop cheap.
    struct PushToken {
        typename Table::iterator it;
    };

    template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
    PushToken push(const std::string &name, T2 &&value) {
        auto it = table.try_emplace(name).first;
        it->second.push(std::move(value));
        return {it};
    }
    template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
    PushToken push(const std::string &name, const T2 &value) {
        auto it = table.try_emplace(name).first;
        it->second.push(value);
        return {it};
    }
    template<typename T2 = T, typename = std::enable_if_t<std::is_void_v<T2>>>
    PushToken push(const std::string &name) {
        auto it = table.try_emplace(name).first;
        it->second.push();
        return {it};
    }

    void pop(const std::string &name) {
        auto it = table.find(name);
        _halide_internal_assert(it != table.end()) << "Name not in Scope: " << name << "\n";
        pop(PushToken{it});
    }
    void pop(PushToken token) {
        token.it->second.pop();
        if (token.it->second.empty()) {
            table.erase(token.it);
        }
    }

    class const_iterator {
        typename Table::const_iterator iter;

    public:
        explicit const_iterator(typename Table::const_iterator i)
            : iter(i) {
        }
        const_iterator() = default;

        bool operator!=(const const_iterator &other) const {
            return iter != other.iter;
        }
        bool operator==(const const_iterator &other) const {
            return iter == other.iter;
        }
        const_iterator &operator++() {
            ++iter;
            return *this;
        }
        const_iterator operator++(int) {
            const_iterator old = *this;
            ++iter;
            return old;
        }
        const_iterator &operator*() {
            return *this;
        }

        const std::string &name() const {
            return iter->first;
        }
        const SmallStack<T> &stack() const {
            return iter->second;
        }
        template<typename T2 = T, typename = std::enable_if_t<!std::is_void_v<T2>>>
        const T2 &value() const {
            return iter->second.top();
        }
    };

    const_iterator cbegin() const {
        return const_iterator(table.begin());
    }
    const_iterator cend() const {
        return const_iterator(table.end());
    }
    const_iterator begin() const {
        return cbegin();
    }
    const_iterator end() const {
        return cend();
    }

    void swap(Scope<T> &other) noexcept {
        table.swap(other.table);
        std::swap(containing_scope, other.containing_scope);
    }
};

template<typename T>
std::ostream &operator<<(std::ostream &stream, const Scope<T> &s) {
    stream << "{\n";
    for (auto iter = s.cbegin(); iter != s.cend(); ++iter) {
        stream << "  " << iter.name() << "\n";
    }
    stream << "}";
    return stream;
}

/// Binds a name until the end of a C++ scope.
template<typename T = void>
struct ScopedBinding {
    Scope<T> *scope = nullptr;
    typename Scope<T>::PushToken token;

    ScopedBinding() = default;
    ScopedBinding(Scope<T> &s, const std::string &name, T value)
        : scope(&s), token(s.push(name, std::move(value))) {
    }
    /// Only if the condition holds.
    ScopedBinding(bool condition, Scope<T> &s, const std::string &name, const T &value)
        : scope(condition ? &s : nullptr) {
        if (condition) {
            token = s.push(name, value);
        }
    }
    ScopedBinding(ScopedBinding &&other) noexcept
        : scope(std::exchange(other.scope, nullptr)), token(other.token) {
    }
    ScopedBinding &operator=(ScopedBinding &&other) noexcept {
        std::swap(scope, other.scope);
        std::swap(token, other.token);
        return *this;
    }
    ScopedBinding(const ScopedBinding &) = delete;
    ScopedBinding &operator=(const ScopedBinding &) = delete;
    ~ScopedBinding() {
        if (scope) {
            scope->pop(token);
        }
    }

    bool bound() const {
        return scope != nullptr;
    }
};

template<>
struct ScopedBinding<void> {
    Scope<> *scope = nullptr;
    Scope<>::PushToken token;

    ScopedBinding() = default;
    ScopedBinding(Scope<> &s, const std::string &name)
        : scope(&s), token(s.push(name)) {
    }
    ScopedBinding(bool condition, Scope<> &s, const std::string &name)
        : scope(condition ? &s : nullptr) {
        if (condition) {
            token = s.push(name);
        }
    }
    ScopedBinding(ScopedBinding &&other) noexcept
        : scope(std::exchange(other.scope, nullptr)), token(other.token) {
    }
    ScopedBinding &operator=(ScopedBinding &&other) noexcept {
        std::swap(scope, other.scope);
        std::swap(token, other.token);
        return *this;
    }
    ScopedBinding(const ScopedBinding &) = delete;
    ScopedBinding &operator=(const ScopedBinding &) = delete;
    ~ScopedBinding() {
        if (scope) {
            scope->pop(token);
        }
    }

    bool bound() const {
        return scope != nullptr;
    }
};

}  // namespace Internal
}  // namespace Halide
