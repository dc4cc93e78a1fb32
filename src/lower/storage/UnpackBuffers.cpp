#include "lower/storage/UnpackBuffers.h"

#include <set>

#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// Free names of a statement, and the names of buffers that it loads, stores or passes on.
class FindFreeSymbols : public IRVisitor {
public:
    std::set<std::string> names;
    std::set<std::string> memory;

protected:
    using IRVisitor::visit;

    void visit(const Variable *op) override {
        if (!bound.contains(op->name)) {
            names.insert(op->name);
        }
    }
    void visit(const Let *op) override {
        op->value.accept(this);
        ScopedBinding<> bind(bound, op->name);
        op->body.accept(this);
    }
    void visit(const LetStmt *op) override {
        op->value.accept(this);
        ScopedBinding<> bind(bound, op->name);
        op->body.accept(this);
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        ScopedBinding<> bind(bound, op->name);
        op->body.accept(this);
    }
    void visit(const Allocate *op) override {
        for (const Expr &e : op->extents) {
            e.accept(this);
        }
        op->condition.accept(this);
        if (op->new_expr.defined()) {
            op->new_expr.accept(this);
        }
        ScopedBinding<> bind(bound, op->name);
        op->body.accept(this);
    }
    void visit(const Load *op) override {
        touch(op->name);
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        touch(op->name);
        IRVisitor::visit(op);
    }

private:
    Scope<> bound;

    void touch(const std::string &name) {
        if (!bound.contains(name)) {
            memory.insert(name);
        }
    }
};

/// Splits `b.min.3` into buffer, field and dimension.
bool parse_symbol(const std::string &name, std::string &buffer, std::string &field, int &dim) {
    const size_t last = name.rfind('.');
    if (last == std::string::npos || last == 0 || last + 1 == name.size()) {
        return false;
    }
    for (size_t i = last + 1; i < name.size(); i++) {
        if (name[i] < '0' || name[i] > '9') {
            return false;
        }
    }
    const size_t middle = name.rfind('.', last - 1);
    if (middle == std::string::npos) {
        return false;
    }
    buffer = name.substr(0, middle);
    field = name.substr(middle + 1, last - middle - 1);
    dim = std::atoi(name.c_str() + last + 1);
    return field == "min" || field == "extent" || field == "stride";
}

}  // namespace

Stmt unpack_buffers(const Stmt &s, LowerContext &ctx) {
    FindFreeSymbols free;
    s.accept(&free);

    const Type buffer_type = type_of<struct halide_buffer_t *>();
    auto buffer_symbol = [&](const std::string &b) { return Variable::make(buffer_type, b + ".buffer"); };

    std::set<std::string> buffers = free.memory;
    std::vector<std::pair<std::string, Expr>> lets;
    for (const std::string &name : free.names) {
        std::string buffer, field;
        int dim = 0;
        if (ends_with(name, ".buffer")) {
            buffers.insert(name.substr(0, name.size() - 7));
        } else if (parse_symbol(name, buffer, field, dim)) {
            buffers.insert(buffer);
            const char *getter = field == "min" ? Call::buffer_get_min :
                                 field == "extent" ? Call::buffer_get_extent : Call::buffer_get_stride;
            lets.emplace_back(name, Call::make(Int(32), getter, {buffer_symbol(buffer), dim}, Call::Extern));
        }
    }
    for (const std::string &b : buffers) {
        if (free.memory.count(b) || free.names.count(b)) {
            lets.emplace_back(b, Call::make(Handle(), Call::buffer_get_host, {buffer_symbol(b)}, Call::Extern));
        }
    }

    Stmt result = s;
    for (size_t i = lets.size(); i > 0; i--) {
        result = LetStmt::make(lets[i - 1].first, lets[i - 1].second, result);
    }
    if (!ctx.target.has_feature(Target::NoAsserts)) {
        std::vector<Stmt> asserts;
        for (const std::string &b : buffers) {
            Expr error = Call::make(Int(32), "halide_error_buffer_argument_is_null", {Expr(b)}, Call::Extern);
            asserts.push_back(
                AssertStmt::make(reinterpret(UInt(64), buffer_symbol(b)) != make_zero(UInt(64)), error));
        }
        if (!asserts.empty()) {
            result = Block::make(Block::make(asserts), result);
        }
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
