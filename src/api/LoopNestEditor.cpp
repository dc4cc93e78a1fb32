#include "api/LoopNestEditor.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "api/Func.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "lower/nest/ApplySplit.h"
#include "lower/nest/Inline.h"
#include "regions/Associativity.h"
#include "regions/Dependence.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

constexpr const char *outermost_name = "__outermost";

std::string names_of(const std::vector<VarOrRVar> &vars) {
    std::vector<std::string> names;
    for (const VarOrRVar &v : vars) {
        names.push_back(v.name());
    }
    return join_strings(names, ", ");
}

template <typename T>
std::string text(const T &value) {
    std::ostringstream s;
    s << value;
    return s.str();
}

/// The Var, RVar or Func that makes an expression vary within a run of the pipeline; empty if there is none.
std::string varying_part(const Expr &e) {
    std::string found;
    visit_with(
        e,
        [&](auto *, const Variable *op) {
            if (!op->param.defined() && !op->image.defined()) {
                found = (op->reduction_domain.defined() ? "the RVar " : "the Var ") + op->name;
            }
        },
        [&](auto *self, const Call *op) {
            if (op->call_type == Call::Halide) {
                found = "the Func " + op->name;
            } else {
                self->visit_base(op);
            }
        });
    return found;
}

}  // namespace

bool dim_name_matches(const std::string &full_name, const std::string &name) {
    return full_name == name || ends_with(full_name, "." + name);
}

LoopNestEditor::LoopNestEditor(const Stage &stage)
    : function(stage.function()), definition(stage.definition()), schedule(definition.schedule()),
      stage_index(stage.stage_index()), stage_name(stage.name()) {
    schedule.touched() = true;
}

int LoopNestEditor::find(const std::string &name) const {
    const std::vector<Dim> &dims = schedule.dims();
    for (size_t i = 0; i < dims.size(); i++) {
        if (dim_name_matches(dims[i].var, name)) {
            return (int)i;
        }
    }
    return -1;
}

std::string LoopNestEditor::call(const std::string &directive, const std::string &arguments) const {
    return stage_name + "." + directive + "(" + arguments + ")";
}

std::string LoopNestEditor::loops() const {
    std::vector<std::string> names;
    for (const Dim &d : schedule.dims()) {
        names.push_back(d.var);
    }
    return "  Loops of " + stage_name + ", innermost first: Vars: " + join_strings(names, ", ") + "\n";
}

int LoopNestEditor::get(const VarOrRVar &v, const std::string &directive) const {
    const int i = find(v.name());
    user_assert(i >= 0) << directive << ": could not find dimension " << v.name() << " in the schedule of "
                        << stage_name << ".\n"
                        << loops();
    return i;
}

void LoopNestEditor::check_new_name(const VarOrRVar &v, const std::string &what_was_called,
                                    const std::vector<int> &replaced) const {
    const std::vector<Dim> &dims = schedule.dims();
    for (size_t i = 0; i < dims.size(); i++) {
        const bool goes = std::find(replaced.begin(), replaced.end(), (int)i) != replaced.end();
        user_assert(goes || !dim_name_matches(dims[i].var, v.name()))
            << what_was_called << ": the name " << v.name() << " is already used for another loop of " << stage_name
            << ".\n"
            << loops();
    }
}

void LoopNestEditor::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner, const Expr &factor,
                           TailStrategy tail) {
    const std::string what = call("split", old.name() + ", " + outer.name() + ", " + inner.name() + ", " +
                                               (factor.defined() ? text(factor) : "<undefined>"));
    const int i = get(old, what);
    std::vector<Dim> &dims = schedule.dims();

    user_assert(factor.defined()) << what << ": the factor is undefined.\n";
    const Expr int_factor =
        simplify(lossless_cast(Int(32), factor).defined() ? lossless_cast(Int(32), factor) : factor);
    user_assert(int_factor.type() == Int(32))
        << what << ": the factor has type " << factor.type() << " and cannot be represented as an int32.\n";
    const auto constant = as_const_int(int_factor);
    user_assert(!constant || *constant > 0)
        << what << ": the factor is " << *constant << ", but split factors must be positive.\n";
    const std::string varying = varying_part(int_factor);
    user_assert(varying.empty()) << what << ": the factor depends on " << varying
                                 << ", but it must be the same throughout a run: use parameters only.\n";

    user_assert(outer.name() != inner.name())
        << what << ": the outer and the inner loop both have the name " << outer.name() << ".\n"
        << "  Give them different names.\n";
    const bool is_rvar = dims[i].is_rvar();
    const bool is_outermost = dims[i].var == outermost_name;
    if (is_rvar) {
        user_assert(outer.is_rvar && inner.is_rvar)
            << what << ": " << old.name() << " is an RVar, so it can be split into RVars only, but "
            << (outer.is_rvar ? inner.name() : outer.name()) << " is a Var.\n"
            << "  Declare RVar " << outer.name() << "(\"" << outer.name() << "\"), " << inner.name() << "(\""
            << inner.name() << "\").\n";
    } else if (!is_outermost) {
        user_assert(!outer.is_rvar && !inner.is_rvar)
            << what << ": " << old.name() << " is a Var, so it can be split into Vars only, but "
            << (outer.is_rvar ? outer.name() : inner.name()) << " is an RVar.\n";
    }
    check_new_name(outer, what, {i});
    check_new_name(inner, what, {i});

    const std::string old_name = dims[i].var;
    tail = resolve_tail_strategy(tail, old_name, int_factor, is_rvar, !definition.is_init(), schedule.splits(),
                                 stage_name);

    Dim outer_dim = dims[i];
    dims[i].var = old_name + "." + inner.name();
    outer_dim.var = old_name + "." + outer.name();
    // The outer loop is what remains of the old one, as vectorize(x, 8) shows, which calls it x again.
    dims[i].hint = UnrollHint();
    if (outer_dim.for_type == ForType::Extern) {
        outer_dim.for_type = ForType::Serial;
    }
    dims.insert(dims.begin() + i + 1, outer_dim);

    Split s;
    s.old_var = old_name;
    s.outer = outer_dim.var;
    s.inner = old_name + "." + inner.name();
    s.factor = int_factor;
    s.exact = is_rvar;
    s.tail = tail;
    s.split_type = Split::SplitVar;
    schedule.splits().push_back(s);
    check_blend_is_legal();
}

void LoopNestEditor::fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused) {
    const std::string what = call("fuse", inner.name() + ", " + outer.name() + ", " + fused.name());
    int in = get(inner, what);
    int out = get(outer, what);
    std::vector<Dim> &dims = schedule.dims();
    user_assert(in != out) << what << ": the inner and the outer loop are the same.\n";
    const bool is_rvar = dims[in].is_rvar() || dims[out].is_rvar();
    user_assert(fused.is_rvar || !is_rvar)
        << what << ": one of the loops is an RVar, so the fused loop is an RVar too, but " << fused.name()
        << " is a Var.\n"
        << "  Declare RVar " << fused.name() << "(\"" << fused.name() << "\").\n";
    user_assert(!fused.is_rvar || is_rvar)
        << what << ": both loops are Vars, so the fused loop is a Var too, but " << fused.name() << " is an RVar.\n";
    check_new_name(fused, what, {in, out});

    for (int part : {in, out}) {
        user_assert(!dims[part].hint.defined())
            << what << ": " << dims[part].var << " has an unroll hint, but no loop of its own in the fused one.\n"
            << "  Fuse first, then give a hint for " << fused.name() << ".\n";
    }

    // The loops in between move outside of the fused one, which takes the place of the inner loop.
    std::vector<std::string> passed;
    if (dims[out].dim_type == DimType::ImpureRVar) {
        for (int i = std::min(in, out) + 1; i < std::max(in, out); i++) {
            if (dims[i].dim_type == DimType::ImpureRVar) {
                passed.push_back(dims[i].var);
            }
        }
        if (out < in && dims[in].dim_type == DimType::ImpureRVar) {
            passed.push_back(dims[in].var);
        }
    }
    if (!passed.empty()) {
        const std::string moved = dims[out].var;
        passed.push_back(moved);
        user_assert(may_reorder(passed))
            << what << ": this moves " << moved << " across other reduction loops, which may change the meaning of "
            << "the algorithm, because the update is not known to be associative and commutative.\n"
            << loops();
    }

    const Dim outer_dim = dims[out];
    dims.erase(dims.begin() + out);
    if (out < in) {
        in--;
    }
    Dim &dim = dims[in];
    Split s;
    s.inner = dim.var;
    s.outer = outer_dim.var;
    s.old_var = dim.var + "." + fused.name();
    s.exact = true;
    s.tail = TailStrategy::RoundUp;
    s.split_type = Split::FuseVars;
    dim.var = s.old_var;
    // The less is known of either part, the less is known of the whole.
    dim.dim_type = std::max(dim.dim_type, outer_dim.dim_type);
    schedule.splits().push_back(s);
}

void LoopNestEditor::rename(const VarOrRVar &old_name, const VarOrRVar &new_name) {
    const std::string what = call("rename", old_name.name() + ", " + new_name.name());
    const int i = get(old_name, what);
    std::vector<Dim> &dims = schedule.dims();
    user_assert(dims[i].is_rvar() == new_name.is_rvar)
        << what << ": " << old_name.name() << (dims[i].is_rvar() ? " is an RVar, but " : " is a Var, but ")
        << new_name.name() << (new_name.is_rvar ? " is an RVar.\n" : " is a Var.\n");
    check_new_name(new_name, what, {i});
    Split s;
    s.old_var = dims[i].var;
    s.outer = dims[i].var + "." + new_name.name();
    s.factor = 1;
    s.exact = dims[i].is_rvar();
    s.tail = TailStrategy::RoundUp;
    s.split_type = Split::RenameVar;
    dims[i].var = s.outer;
    schedule.splits().push_back(s);
}

bool LoopNestEditor::may_reorder(const std::vector<std::string> &loop_names) const {
    // Loops made by splits stand for the RVars that they come from; two parts of one RVar count twice.
    std::vector<std::string> moved;
    for (const std::string &l : loop_names) {
        for (const std::string &r : roots_of(l)) {
            moved.push_back(r);
        }
    }
    return can_reorder_rvars(moved, function.name(), definition.args(), definition.values(), definition.predicate(),
                             schedule.rvars());
}

void LoopNestEditor::reorder(const std::vector<VarOrRVar> &vars, const std::string &directive) {
    const std::string what = call(directive, names_of(vars));
    std::vector<Dim> &dims = schedule.dims();
    std::vector<int> positions;
    std::vector<std::string> missing;
    for (const VarOrRVar &v : vars) {
        const int i = find(v.name());
        if (i < 0) {
            missing.push_back(v.name());
            continue;
        }
        user_assert(std::find(positions.begin(), positions.end(), i) == positions.end())
            << what << ": " << v.name() << " is listed twice.\n";
        positions.push_back(i);
    }
    user_assert(missing.empty()) << what << ": could not find dimension " << join_strings(missing, ", ")
                                 << " in the schedule of " << stage_name << ".\n"
                                 << loops();
    for (size_t k = 0; k + 1 < positions.size(); k++) {
        user_assert(dims[positions[k]].var != outermost_name)
            << what << ": Var::outermost() stands for the place outside of all loops and cannot be moved inward.\n";
    }

    // Pairs of reduction loops that change places.
    std::vector<std::string> moved;
    for (size_t a = 0; a < positions.size(); a++) {
        for (size_t b = a + 1; b < positions.size(); b++) {
            const Dim &inner = dims[positions[a]], &outer = dims[positions[b]];
            if (positions[a] > positions[b] && inner.dim_type == DimType::ImpureRVar &&
                outer.dim_type == DimType::ImpureRVar) {
                moved = {inner.var, outer.var};
                user_assert(may_reorder(moved))
                    << what << ": cannot reorder RVars " << outer.var << " and " << inner.var
                    << ", because that may change the meaning of the algorithm: the update is not known to be "
                    << "associative and commutative.\n"
                    << loops();
            }
        }
    }

    std::vector<int> places = positions;
    std::sort(places.begin(), places.end());
    const std::vector<Dim> before = dims;
    for (size_t k = 0; k < positions.size(); k++) {
        dims[places[k]] = before[positions[k]];
    }
}

void LoopNestEditor::check_parallel_is_legal(const Dim &dim, const std::string &what) const {
    if (dim.dim_type != DimType::ImpureRVar || schedule.allow_race_conditions()) {
        return;
    }
    user_assert(schedule.atomic())
        << what << ": " << dim.var << " is a reduction loop of " << stage_name
        << ", so running its iterations at the same time may give a race condition, and the result depends on their "
           "order.\n"
        << "  Call " << stage_name << ".atomic() first if the update is associative and commutative, split the "
        << "reduction with rfactor, or call allow_race_conditions() if you know that the order does not matter.\n";
    bool reads_itself = false;
    for (const Expr &arg : definition.args()) {
        visit_with(arg, [&](auto *self, const Call *op) {
            reads_itself = reads_itself || (op->call_type == Call::Halide && op->name == function.name());
            self->visit_base(op);
        });
    }
    user_assert(!reads_itself)
        << what << ": " << stage_name << " is atomic, but the place that it updates depends on values of "
        << function.name() << " itself, which other iterations change meanwhile.\n"
        << "  Copy what the place depends on to another Func first.\n";
    if (!schedule.override_atomic_associativity_test()) {
        const AssociativeOp op = prove_associativity(function.name(), definition.args(), definition.values());
        user_assert(op.associative() && op.commutative() && op.choices.empty())
            << what << ": " << stage_name << " is atomic, but its update is not known to be associative and "
            << "commutative, so the order of iterations may change the result.\n"
            << "  If it is, call " << stage_name << ".atomic(true).\n";
    }
}

std::vector<std::string> LoopNestEditor::roots_of(const std::string &dim, std::vector<std::string> *on_the_way) const {
    std::vector<std::string> names = {dim};
    const std::vector<Split> &splits = schedule.splits();
    for (auto s = splits.rbegin(); s != splits.rend(); ++s) {
        std::vector<std::string> next;
        for (const std::string &n : names) {
            if (s->is_fuse() && n == s->old_var) {
                next.push_back(s->inner);
                next.push_back(s->outer);
            } else if (!s->is_fuse() && (n == s->outer || (s->is_split() && n == s->inner))) {
                next.push_back(s->old_var);
            } else {
                next.push_back(n);
            }
        }
        names = std::move(next);
        if (on_the_way) {
            on_the_way->insert(on_the_way->end(), names.begin(), names.end());
        }
    }
    return names;
}

void LoopNestEditor::check_blend_is_legal() const {
    if (schedule.allow_race_conditions()) {
        return;
    }
    for (const Split &s : schedule.splits()) {
        if (!s.is_split() ||
            (s.tail != TailStrategy::ShiftInwardsAndBlend && s.tail != TailStrategy::RoundUpAndBlend)) {
            continue;
        }
        const std::vector<std::string> blended = roots_of(s.old_var);
        const auto among = [](const std::vector<std::string> &names, const std::string &name) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        for (const Dim &d : schedule.dims()) {
            std::vector<std::string> origins = {d.var};
            const std::vector<std::string> roots = roots_of(d.var, &origins);
            // Tiles that are shifted inwards overlap: lanes that are different tiles race. Those of one tile do not.
            const bool lanes_race = is_vectorized(d.for_type) && s.tail == TailStrategy::ShiftInwardsAndBlend &&
                                    among(origins, s.outer);
            if (!lanes_race && d.for_type != ForType::Parallel && !is_gpu(d.for_type)) {
                continue;
            }
            for (const std::string &root : roots) {
                user_assert(!among(blended, root))
                    << stage_name << ": the split of " << s.old_var << " uses a tail strategy that blends with values "
                    << "stored before, and " << d.var << ", a loop over the same dimension, is "
                    << (lanes_race ? "vectorized" : "parallel") << ": this is a race condition.\n"
                    << "  Use TailStrategy::GuardWithIf, or call allow_race_conditions() first.\n";
            }
        }
    }
}

void LoopNestEditor::set_loop_type(const VarOrRVar &v, ForType type, const std::string &directive) {
    const std::string what = call(directive, v.name());
    Dim &dim = schedule.dims()[get(v, what)];
    if (is_parallel(type)) {
        check_parallel_is_legal(dim, what);
    }
    if (function.has_extern_definition() && definition.is_init()) {
        user_assert(!is_vectorized(type) && type != ForType::Unrolled)
            << what << ": " << function.name() << " is defined by the extern function "
            << function.extern_function_name() << ", whose loops cannot be vectorized or unrolled.\n";
    }
    user_assert(!dim.hint.defined() || type == ForType::Serial)
        << what << ": " << v.name() << " has an unroll hint, which only a serial loop can have.\n";
    dim.for_type = type;
    check_blend_is_legal();
}

void LoopNestEditor::set_device_api(const VarOrRVar &v, DeviceAPI api, const std::string &directive) {
    const std::string what = call(directive, v.name());
    Dim &dim = schedule.dims()[get(v, what)];
    user_assert(!dim.hint.defined() || api == DeviceAPI::None)
        << what << ": " << v.name() << " has an unroll hint, which only a serial loop can have.\n";
    dim.device_api = api;
}

void LoopNestEditor::set_hint(const VarOrRVar &v, const UnrollHint &hint) {
    const std::string what = call(
        "unroll_hint", v.name() + (hint.kind == UnrollHint::Kind::Factor ? ", " + std::to_string(hint.factor) : ""));
    Dim &dim = schedule.dims()[get(v, what)];
    user_assert(dim.var != outermost_name)
        << what << ": Var::outermost() stands for the place outside of all loops and has nothing to unroll.\n";
    const char *kind = is_gpu(dim.for_type) || dim.device_api != DeviceAPI::None ? "a device loop" :
                       is_vectorized(dim.for_type)                               ? "vectorized" :
                       dim.for_type == ForType::Parallel                         ? "parallel" :
                       dim.for_type == ForType::Unrolled                         ? "unrolled already" :
                       dim.for_type == ForType::Extern                           ? "computed by an extern function" :
                                                                                   nullptr;
    user_assert(!kind) << what << ": " << v.name() << " is " << kind
                       << "; only a serial loop can have an unroll hint.\n";
    user_assert(!dim.hint.defined()) << what << ": " << v.name() << " has an unroll hint already.\n";
    dim.hint = hint;
}

void LoopNestEditor::set_partition(const std::vector<VarOrRVar> &vars, Partition policy, const std::string &directive) {
    const std::string what = call(directive, names_of(vars));
    for (const VarOrRVar &v : vars) {
        schedule.dims()[get(v, what)].partition_policy = policy;
    }
}

void LoopNestEditor::set_all_partitions(Partition policy) {
    for (Dim &d : schedule.dims()) {
        d.partition_policy = policy;
    }
}

Stage LoopNestEditor::specialize(const Expr &condition) {
    user_assert(condition.defined()) << call("specialize", "") << ": the condition is undefined.\n";
    const std::string what = call("specialize", text(condition));
    user_assert(condition.type().is_bool()) << what << ": the condition has type " << condition.type()
                                            << "; it must be a comparison or another boolean (Bool()).\n";
    const std::string varying = varying_part(condition);
    user_assert(varying.empty()) << what << ": the condition depends on " << varying
                                 << ", but a specialization is chosen once per run.\n"
                                 << "  Conditions may use parameters and the shapes of buffers.\n";
    for (const Specialization &s : definition.specializations()) {
        if (s.failure_message.empty() && equal(condition, s.condition)) {
            return Stage(function, s.definition, stage_index);
        }
    }
    user_assert(definition.specializations().empty() || definition.specializations().back().failure_message.empty())
        << what << ": nothing can be specialized after specialize_fail(), which is the last alternative.\n";
    const Specialization &s = definition.add_specialization(condition);
    return Stage(function, s.definition, stage_index);
}

void LoopNestEditor::specialize_fail(const std::string &message) {
    const std::string what = call("specialize_fail", "\"" + message + "\"");
    user_assert(!message.empty()) << what << ": the message must not be empty.\n";
    user_assert(definition.specializations().empty() || definition.specializations().back().failure_message.empty())
        << what << ": there is a specialize_fail() already; only one is possible per stage.\n";
    definition.add_specialization(const_true());
    definition.specializations().back().failure_message = message;
}

void LoopNestEditor::allow_race_conditions() {
    schedule.allow_race_conditions() = true;
}

void LoopNestEditor::atomic(bool override_associativity_test) {
    schedule.atomic() = true;
    schedule.override_atomic_associativity_test() = override_associativity_test;
}

void LoopNestEditor::compute_with(const LoopLevel &level,
                                  const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
    LoopLevel l = level;
    user_assert(l.defined()) << call("compute_with", "") << ": the LoopLevel is undefined.\n";
    l.lock();
    user_assert(!l.is_inlined() && !l.is_root())
        << call("compute_with", l.to_string()) << ": the place must be a loop of another stage.\n";
    const std::string what = call("compute_with", l.to_string());
    user_assert(l.func_name() != function.name())
        << what << ": the loops of one Func cannot be merged with each other.\n";
    user_assert(!function.has_extern_definition())
        << what << ": " << function.name() << " is defined by an extern function and has no loops to merge.\n";
    std::map<std::string, LoopAlignStrategy> alignments;
    for (const auto &a : align) {
        user_assert(alignments.emplace(a.first.name(), a.second).second)
            << what << ": two alignments are given for " << a.first.name() << ".\n";
    }
    FuseLoopLevel &fuse_level = schedule.fuse_level();
    LoopLevel current = fuse_level.level;
    if (current.lock(); !current.is_inlined() && !(current == l)) {
        user_warning << what << ": " << stage_name << " was to be computed with " << current.to_string()
                     << " before; the new place replaces that one.\n";
    }
    fuse_level = FuseLoopLevel(l, alignments);
}

void LoopNestEditor::prefetch(const std::string &name, const VarOrRVar &at, const VarOrRVar &from, const Expr &offset,
                              PrefetchBoundStrategy strategy, const Parameter &param) {
    const std::string what = call("prefetch", name + ", " + at.name() + ", " + from.name());
    const int at_pos = get(at, what), from_pos = get(from, what);
    user_assert(from_pos >= at_pos) << what << ": the loop over " << from.name() << " is inside the loop over "
                                    << at.name()
                                    << ", where the prefetch stands; it must be the same loop or one outside.\n"
                                    << loops();
    user_assert(offset.defined()) << what << ": the offset is undefined.\n";
    PrefetchDirective d;
    d.name = name;
    d.at = schedule.dims()[at_pos].var;
    d.from = schedule.dims()[from_pos].var;
    d.offset = offset;
    d.strategy = strategy;
    d.param = param;
    schedule.prefetches().push_back(d);
}

void LoopNestEditor::stream_stores() {
    for (const Dim &d : schedule.dims()) {
        user_assert(d.dim_type != DimType::ImpureRVar || schedule.allow_race_conditions())
            << call("stream_stores", "") << ": the iterations of the reduction loop " << d.var
            << " may read what earlier ones stored, which must not bypass the cache.\n";
    }
    schedule.stream_stores() = true;
}

void LoopNestEditor::stream_loads(const std::vector<Func> &producers) {
    std::vector<std::string> names;
    for (const Func &f : producers) {
        user_assert(f.name() != function.name())
            << call("stream_loads", f.name()) << ": a stage's loads of its own Func may not bypass the cache.\n";
        names.push_back(f.name());
    }
    auto &all = schedule.stream_loads_names();
    if (names.empty() || !all) {
        all = names;
    } else if (!all->empty()) {
        all->insert(all->end(), names.begin(), names.end());
    }
}

void LoopNestEditor::eager_inline(const std::vector<Func> &fs) {
    for (const Func &f : fs) {
        const std::string what = call("eager_inline", f.name());
        user_assert(f.defined()) << what << ": " << f.name() << " is not defined.\n";
        user_assert(!f.function().same_as(function)) << what << ": a Func cannot be inlined into itself.\n";
        user_assert(f.function().can_be_inlined())
            << what << ": only pure Funcs without updates, extern definitions and specializations can be inlined.\n";
        inline_function(definition, f.function());
    }
}

}  // namespace Internal
}  // namespace Halide
