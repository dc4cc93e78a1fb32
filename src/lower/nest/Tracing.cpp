#include "lower/nest/Tracing.h"

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "runtime/HalideRuntime.h"
#include "simplify/Simplify.h"

#include <algorithm>
#include <set>

namespace Halide {
namespace Internal {

namespace {

/// One event, as a call of the runtime whose value is the id of the event.
struct TraceEvent {
    std::string func;
    halide_trace_event_code_t event;
    Expr parent = 0;
    Type type = Int(32);
    Expr value;
    std::vector<Expr> coordinates;
    int value_index = 0;
    Expr tag;

    Expr make() const {
        auto list = [](const std::vector<Expr> &values, Type pointer) {
            return values.empty() ? make_zero(pointer) : Call::make(pointer, Call::make_struct, values, Call::Intrinsic);
        };
        std::vector<Expr> values;
        if (value.defined()) {
            // A Bool in memory is one byte.
            values.push_back(value.type().is_bool() ? cast(UInt(8, value.type().lanes()), value) : value);
        }
        const std::vector<Expr> args = {Expr(func),
                                        list(values, type_of<void *>()),
                                        list(coordinates, type_of<int32_t *>()),
                                        (int)type.code(),
                                        type.bits(),
                                        type.lanes(),
                                        (int)event,
                                        parent,
                                        value_index,
                                        (int)coordinates.size(),
                                        tag.defined() ? tag : Expr(std::string())};
        return Call::make(Int(32), Call::trace, args, Call::Extern);
    }
};

Expr trace_id(const std::string &name) {
    return Variable::make(Int(32), name + ".trace_id");
}

class InjectTracing : public IRMutator {
    using IRMutator::visit;

    LowerContext &ctx;
    const bool all_loads, all_stores, all_realizations;
    /// Funcs and images that emitted events, with the types of their values, and the tags that they ask for.
    std::map<std::string, std::vector<Type>> touched;
    std::map<std::string, std::vector<std::string>> tags;

    const Function *find(const std::string &name) const {
        auto it = ctx.env.find(name);
        return it == ctx.env.end() ? nullptr : &it->second;
    }
    bool traces_loads(const Function &f) const {
        return all_loads || f.is_tracing_loads();
    }
    bool traces_stores(const Function &f) const {
        return all_stores || f.is_tracing_stores();
    }
    bool traces_realizations(const Function &f) const {
        return all_realizations || f.is_tracing_realizations();
    }
    bool traces_any(const Function &f) const {
        return traces_loads(f) || traces_stores(f) || traces_realizations(f);
    }

    void touch(const std::string &name, const std::vector<Type> &types, const std::vector<std::string> &own_tags) {
        if (touched.emplace(name, types).second) {
            tags[name] = own_tags;
        }
    }

    Expr visit(const Call *op) override {
        Expr e = IRMutator::visit(op);
        op = e.as<Call>();
        if (!op || (op->call_type != Call::Halide && op->call_type != Call::Image)) {
            return e;
        }
        Expr parent;
        if (op->call_type == Call::Halide) {
            const Function *f = find(op->name);
            if (!f || !traces_loads(*f)) {
                return e;
            }
            parent = trace_id(op->name);
            touch(op->name, f->output_types(), f->get_trace_tags());
        } else {
            // What a program says of an image is said of the Func that stands for it.
            const Function *f = find(op->name + "_im");
            if (!all_loads && !(f && f->is_tracing_loads())) {
                return e;
            }
            parent = trace_id("pipeline");
            touch(op->name, {op->type}, f ? f->get_trace_tags() : std::vector<std::string>());
        }
        const std::string value_name = ctx.unique_name(op->name + ".trace_load");
        const Expr value = Variable::make(op->type, value_name);
        TraceEvent event;
        event.func = op->name;
        event.event = halide_trace_load;
        event.parent = parent;
        event.type = op->type;
        event.value = value;
        event.coordinates = op->args;
        event.value_index = op->value_index;
        return Let::make(value_name, e,
                         Call::make(op->type, Call::return_second, {event.make(), value}, Call::Intrinsic));
    }

    Stmt visit(const Provide *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<Provide>();
        const Function *f = find(op->name);
        if (!f || !traces_stores(*f)) {
            return s;
        }
        touch(op->name, f->output_types(), f->get_trace_tags());
        std::vector<std::pair<std::string, Expr>> lets;
        auto bind = [&](const std::vector<Expr> &exprs, const char *what) {
            std::vector<Expr> result;
            for (const Expr &e : exprs) {
                if (is_const(e) || e.as<Variable>() || is_undef(e)) {
                    result.push_back(e);
                    continue;
                }
                lets.emplace_back(ctx.unique_name(op->name + what), e);
                result.push_back(Variable::make(e.type(), lets.back().first));
            }
            return result;
        };
        const std::vector<Expr> args = bind(op->args, ".trace_site"), values = bind(op->values, ".trace_value");
        std::vector<Stmt> stmts;
        for (size_t i = 0; i < values.size(); i++) {
            if (is_undef(values[i])) {
                continue;
            }
            TraceEvent event;
            event.func = op->name;
            event.event = halide_trace_store;
            event.parent = trace_id(op->name);
            event.type = values[i].type();
            event.value = values[i];
            event.coordinates = args;
            event.value_index = (int)i;
            Stmt report = Evaluate::make(event.make());
            if (!is_const_one(op->predicate)) {
                report = IfThenElse::make(op->predicate, report);
            }
            stmts.push_back(report);
        }
        stmts.push_back(Provide::make(op->name, values, args, op->predicate));
        s = Block::make(stmts);
        for (size_t i = lets.size(); i > 0; i--) {
            s = LetStmt::make(lets[i - 1].first, lets[i - 1].second, s);
        }
        return s;
    }

    /// Events around the life of `f`'s storage.
    Stmt realization(const Function &f, const Region &bounds, const Stmt &body) {
        if (!traces_realizations(f)) {
            return LetStmt::make(f.name() + ".trace_id", 0, body);
        }
        touch(f.name(), f.output_types(), f.get_trace_tags());
        TraceEvent begin;
        begin.func = f.name();
        begin.event = halide_trace_begin_realization;
        begin.parent = trace_id("pipeline");
        begin.type = f.output_types()[0];
        for (const Range &r : bounds) {
            begin.coordinates.push_back(r.min);
            begin.coordinates.push_back(r.extent);
        }
        return between(f.name(), begin, halide_trace_end_realization, body);
    }

    /// let <name>.trace_id = begin  body  end
    static Stmt between(const std::string &name, const TraceEvent &begin, halide_trace_event_code_t end_code,
                        const Stmt &body) {
        TraceEvent end = begin;
        end.event = end_code;
        end.parent = trace_id(name);
        return LetStmt::make(name + ".trace_id", begin.make(), Block::make(body, Evaluate::make(end.make())));
    }

    Stmt visit(const Realize *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<Realize>();
        const Function *f = find(op->name);
        return f && traces_any(*f) ? op->changed(&Realize::body, realization(*f, op->bounds, op->body)) : s;
    }

    Stmt visit(const ProducerConsumer *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<ProducerConsumer>();
        const Function *f = find(op->name);
        if (!f || !traces_realizations(*f)) {
            return s;
        }
        touch(op->name, f->output_types(), f->get_trace_tags());
        TraceEvent begin;
        begin.func = op->name;
        begin.event = op->is_producer ? halide_trace_produce : halide_trace_consume;
        begin.parent = trace_id(op->name);
        begin.type = f->output_types()[0];
        for (const std::string &arg : f->args()) {
            const std::string symbol = op->name + ".s0." + arg;
            const Expr min = Variable::make(Int(32), symbol + ".min"), max = Variable::make(Int(32), symbol + ".max");
            begin.coordinates.push_back(min);
            begin.coordinates.push_back(max - min + 1);
        }
        const Stmt body = between(op->name, begin, op->is_producer ? halide_trace_end_produce : halide_trace_end_consume,
                                  op->body);
        return op->changed(&ProducerConsumer::body, body);
    }

    static Stmt make_tag(const std::string &func, const Expr &tag) {
        TraceEvent event;
        event.func = func;
        event.event = halide_trace_tag;
        event.parent = trace_id("pipeline");
        event.tag = tag;
        return Evaluate::make(event.make());
    }

    /// "func_type_and_dim: <number of types> <code bits lanes>… <number of dimensions> <min extent>…"
    static Stmt make_shape_tag(const std::string &func, const std::vector<Type> &types, const Box &box) {
        std::string text = "func_type_and_dim: " + std::to_string(types.size());
        for (const Type &t : types) {
            text += " " + std::to_string((int)t.code()) + " " + std::to_string(t.bits()) + " " + std::to_string(t.lanes());
        }
        bool bounded = true;
        for (const Interval &i : box.bounds) {
            bounded &= i.is_bounded();
        }
        text += " " + std::to_string(bounded ? box.size() : 0);
        std::vector<Expr> parts = {Expr(text)};
        for (size_t i = 0; bounded && i < box.size(); i++) {
            for (const Expr &e : {box[i].min, box[i].max - box[i].min + 1}) {
                parts.push_back(Expr(std::string(" ")));
                parts.push_back(simplify(e));
            }
        }
        return make_tag(func, parts.size() == 1 ? parts[0] : stringify(parts));
    }

public:
    explicit InjectTracing(LowerContext &ctx)
        : ctx(ctx), all_loads(ctx.target.has_feature(Target::TraceLoads)),
          all_stores(ctx.target.has_feature(Target::TraceStores)),
          all_realizations(ctx.target.has_feature(Target::TraceRealizations)) {
    }

    Stmt run(const Stmt &original) {
        Stmt s = mutate(original);
        for (const Function &f : ctx.outputs) {
            if (!traces_any(f)) {
                continue;
            }
            const std::string symbol = f.output_buffers()[0].name();
            Region bounds;
            for (int d = 0; d < f.dimensions(); d++) {
                const std::string dim = std::to_string(d);
                bounds.emplace_back(Variable::make(Int(32), symbol + ".min." + dim, f.output_buffers()[0]),
                                    Variable::make(Int(32), symbol + ".extent." + dim, f.output_buffers()[0]));
            }
            s = realization(f, bounds, s);
        }
        if (touched.empty() && !ctx.trace_pipeline && !ctx.target.has_feature(Target::TracePipeline)) {
            return s;
        }

        std::vector<Stmt> stmts;
        const std::map<std::string, Box> boxes = boxes_touched(original, Scope<Interval>::empty_scope(), ctx.func_bounds);
        for (const auto &[name, types] : touched) {
            auto box = boxes.find(name);
            stmts.push_back(make_shape_tag(name, types, box == boxes.end() ? Box() : box->second));
            for (const std::string &tag : tags[name]) {
                stmts.push_back(make_tag(name, Expr(tag)));
            }
        }
        stmts.push_back(s);
        TraceEvent begin;
        begin.func = ctx.pipeline_name;
        begin.event = halide_trace_begin_pipeline;
        return between("pipeline", begin, halide_trace_end_pipeline, Block::make(stmts));
    }
};

}  // namespace

Stmt inject_tracing(const Stmt &s, LowerContext &ctx) {
    return InjectTracing(ctx).run(s);
}

}  // namespace Internal
}  // namespace Halide
