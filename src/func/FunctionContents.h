#pragma once

// The inside of a function: not a public header.

#include "func/Function.h"
#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IRVisitor.h"

#include <memory>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

struct FunctionContents {
    std::string name, origin_name;
    std::vector<Type> output_types;
    std::vector<Type> required_types;
    int required_dims = -1;
    std::vector<std::string> args;

    FuncSchedule func_schedule;
    Definition init_def;
    std::vector<Definition> updates;

    std::string debug_file;
    std::vector<Parameter> output_buffers;

    std::string extern_function_name;
    NameMangling extern_mangling = NameMangling::Default;
    DeviceAPI extern_function_device_api = DeviceAPI::Host;
    std::vector<ExternFuncArgument> extern_arguments;
    Expr extern_proxy_expr;

    bool trace_loads = false, trace_stores = false, trace_realizations = false;
    std::vector<std::string> trace_tags;
    bool no_profiling = false;
    bool frozen = false;
    bool is_wrapper = false;
    /// Held weakly: wrappers live in the group of what they wrap.
    FunctionPtr global_wrapper;

    void accept(IRVisitor *v) const {
        func_schedule.accept(v);
        if (init_def.defined()) {
            init_def.accept(v);
        }
        for (const Definition &d : updates) {
            d.accept(v);
        }
        for (const ExternFuncArgument &a : extern_arguments) {
            if (a.is_expr()) {
                a.expr.accept(v);
            }
        }
        if (extern_proxy_expr.defined()) {
            extern_proxy_expr.accept(v);
        }
    }

    void mutate(IRMutator *m) {
        func_schedule.mutate(m);
        if (init_def.defined()) {
            init_def.mutate(m);
        }
        for (Definition &d : updates) {
            d.mutate(m);
        }
        for (ExternFuncArgument &a : extern_arguments) {
            if (a.is_expr()) {
                a.expr = (*m)(a.expr);
            }
        }
        if (extern_proxy_expr.defined()) {
            extern_proxy_expr = (*m)(extern_proxy_expr);
        }
    }
};

struct FunctionGroup {
    mutable RefCount ref_count;
    std::vector<std::unique_ptr<FunctionContents>> members;
};

/// Makes the calls of some functions hold them weakly.
class WeakenCalls : public IRGraphMutator {
    using IRGraphMutator::visit;
    const FunctionGroup *group;

    Expr visit(const Call *op) override {
        Expr e = IRGraphMutator::visit(op);
        const Call *call = e.as<Call>();
        if (call && call->func.defined() && call->func.group() == group && call->func.strong.defined()) {
            FunctionPtr weak = call->func;
            weak.weaken();
            e = Call::make(call->type, call->name, call->args, call->call_type, weak, call->value_index, call->image,
                           call->param);
        }
        return e;
    }

public:
    explicit WeakenCalls(const FunctionGroup *group) : group(group) {
    }
};

}  // namespace Internal
}  // namespace Halide
