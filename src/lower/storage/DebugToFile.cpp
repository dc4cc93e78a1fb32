#include "lower/storage/DebugToFile.h"

#include <algorithm>

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"

namespace Halide {
namespace Internal {

namespace {

/// "dir/name.tif" with a number: "dir/name_1.tif".
std::string numbered(const std::string &filename, int i) {
    const size_t slash = filename.find_last_of('/');
    const size_t dot = filename.find_last_of('.');
    const bool has_extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    const size_t end = has_extension ? dot : filename.size();
    return filename.substr(0, end) + "_" + std::to_string(i) + filename.substr(end);
}

class WriteProduced : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;

    Stmt visit(const ProducerConsumer *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<ProducerConsumer>();
        auto it = ctx.env.find(op->name);
        if (!op->is_producer || it == ctx.env.end() || it->second.debug_file().empty()) {
            return s;
        }
        const Function &f = it->second;
        std::vector<Stmt> stmts = {op->body};
        for (int i = 0; i < f.outputs(); i++) {
            const bool tuple = f.outputs() > 1;
            const std::string value = tuple ? f.name() + "." + std::to_string(i) : f.name();
            const std::string file = tuple ? numbered(f.debug_file(), i) : f.debug_file();
            const Expr buffer = Variable::make(type_of<struct halide_buffer_t *>(), value + ".buffer");
            const std::string result_name = ctx.unique_name(f.name() + ".debug_to_file");
            const Expr result = Variable::make(Int(32), result_name);
            const Expr error =
                Call::make(Int(32), "halide_error_debug_to_file_failed", {Expr(f.name()), Expr(file), result}, Call::Extern);
            stmts.push_back(LetStmt::make(result_name,
                                          Call::make(Int(32), Call::debug_to_file, {Expr(file), buffer}, Call::Intrinsic),
                                          AssertStmt::make(result == 0, error)));
        }
        return op->changed(&ProducerConsumer::body, Block::make(stmts));
    }

public:
    explicit WriteProduced(LowerContext &ctx) : ctx(ctx) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt debug_to_file(const Stmt &s, LowerContext &ctx) {
    const bool any = std::any_of(ctx.env.begin(), ctx.env.end(),
                                 [](const auto &entry) { return !entry.second.debug_file().empty(); });
    return any ? WriteProduced(ctx)(s) : s;
}

}  // namespace Internal
}  // namespace Halide
