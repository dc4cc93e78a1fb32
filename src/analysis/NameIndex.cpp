#include "analysis/NameIndex.h"

#include "ir/IR.h"
#include "ir/IRVisitor.h"
#include "support/Util.h"

#include <algorithm>

namespace Halide {
namespace Internal {

class NameIndex::Walk : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    NameIndex &index;
    int position = 0, start = 0;
    /// Where a shared expression was walked last.
    std::unordered_map<const IRNode *, int> walked;

    void mention(const std::string &name) {
        std::vector<int> &at = index.occurrences[name];
        if (at.empty() || at.back() != position) {
            at.push_back(position);
        }
    }

    void include(const Expr &e) override {
        if (e.get()->ref_count.value() > 1) {
            // Mentions count for the statement: once in each is enough.
            auto [it, fresh] = walked.try_emplace(e.get(), position);
            if (!fresh && it->second >= start) {
                return;
            }
            it->second = position;
        }
        e.accept(this);
    }

    void include(const Stmt &s) override {
        const int outer = start;
        start = ++position;
        s.accept(this);
        index.spans.try_emplace(s.get(), start, position);
        // What follows in the enclosing statement is outside of this one.
        position++;
        start = outer;
    }

    void visit(const Call *op) override {
        mention(op->name);
        if (op->is_intrinsic(Call::declare_box_touched)) {
            if (const StringImm *name = op->args[0].as<StringImm>()) {
                mention(name->value);
            }
        }
        IRGraphVisitor::visit(op);
    }
    void visit(const Load *op) override {
        mention(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        mention(op->name);
        if (op->type.is_handle() && ends_with(op->name, ".buffer")) {
            for (size_t dot = op->name.find('.'); dot != std::string::npos; dot = op->name.find('.', dot + 1)) {
                mention(op->name.substr(0, dot));
            }
        }
    }
    void visit(const Provide *op) override {
        mention(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        mention(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Prefetch *op) override {
        mention(op->name);
        IRGraphVisitor::visit(op);
    }

public:
    explicit Walk(NameIndex &index)
        : index(index) {
    }
    void walk(const Stmt &s) {
        include(s);
    }
};

NameIndex::NameIndex(const Stmt &s) {
    if (s.defined()) {
        Walk(*this).walk(s);
    }
}

bool NameIndex::may_mention(const Stmt &part, const std::string &name) const {
    auto span = spans.find(part.get());
    if (span == spans.end()) {
        return true;
    }
    auto found = occurrences.find(name);
    if (found == occurrences.end()) {
        return false;
    }
    const std::vector<int> &at = found->second;
    auto first = std::lower_bound(at.begin(), at.end(), span->second.first);
    return first != at.end() && *first <= span->second.second;
}

}  // namespace Internal
}  // namespace Halide
