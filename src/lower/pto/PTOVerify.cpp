#include "lower/pto/PTOVerify.h"

#include "func/PTOKernel.h"
#include "ir/IRVisitor.h"
#include "lower/pto/PTOVectorize.h"

namespace Halide {
namespace Internal {

Stmt pto_verify(const Stmt &s, LowerContext &ctx) {
    class Kernels : public IRVisitor {
    public:
        explicit Kernels(LowerContext &ctx) : ctx(ctx) {}

    protected:
        using IRVisitor::visit;
        void visit(const For *op) override {
            if (op->for_type != ForType::GPUBlock || op->device_api != DeviceAPI::PTO) {
                IRVisitor::visit(op);
                return;
            }
            PTOKernel kernel;
            kernel.name = op->name;
            kernel.body = op->body;
            check_vectorizable(kernel, ctx);
        }

    private:
        LowerContext &ctx;
    } kernels(ctx);
    s.accept(&kernels);
    return s;
}

}  // namespace Internal
}  // namespace Halide
