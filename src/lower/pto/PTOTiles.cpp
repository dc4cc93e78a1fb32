#include "lower/pto/PTOTiles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "analysis/ExprUsesVar.h"
#include "func/PTOProgram.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOUtil.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

/// The tiles of one vectorized loop may take this much in all; a larger loop is cut into pieces of which the tiles take
/// the second amount. What remains is for the Funcs that the schedule stores in UB.
constexpr int64_t whole_loop_bytes = 98304, piece_bytes = 65536;
constexpr int64_t largest_piece = 16384, smallest_piece = 64;

/// A loop inside the vectorized loop, or that loop itself.
struct InnerLoop {
    std::string name;
    Expr min, max;
};

/// Where a part of a buffer in global memory has its copy.
struct Tile {
    std::string name, buffer;
    Type type;
    Expr load;                      // of the buffer, at `args`
    std::vector<Expr> args;         // in terms of loops inside and what is outside
    std::vector<InnerLoop> loops;   // those that the args use; the lanes first
    std::vector<Expr> guards;       // conditions around the access
    bool guarded_alike = true;      // all accesses have the same
    bool read = false, written = false, whole = false;
    Region box;                     // of a tile in the coordinates of the buffer
};

std::string text_of(const std::vector<Expr> &list) {
    std::ostringstream s;
    for (const Expr &e : list) {
        s << e << "; ";
    }
    return s.str();
}

/// Walks over a vectorized loop with what an access needs: the loops around it, and names replaced by their values.
class AccessWalker {
public:
    std::vector<InnerLoop> loops;
    std::vector<std::pair<std::string, Expr>> lets;
    std::vector<Expr> guards;

    Expr expand(Expr e) const {
        for (size_t i = lets.size(); i-- > 0;) {
            if (expr_uses_var(e, lets[i].first)) {
                e = substitute(lets[i].first, lets[i].second, e);
            }
        }
        return e;
    }
    std::vector<Expr> expand(const std::vector<Expr> &args) const {
        std::vector<Expr> result;
        for (const Expr &e : args) {
            result.push_back(simplify(expand(e)));
        }
        return result;
    }
};

bool is_function_load(const Call *op) {
    return op->call_type == Call::Image || op->call_type == Call::Halide;
}

/// f(x) = … f.tile …: collects the tiles that the accesses of a loop need.
class FindTiles : public IRVisitor {
    using IRVisitor::visit;
    const Scope<> &outer_local;
    Scope<> local;
    AccessWalker at;
    std::string func;

    bool is_global(const std::string &name) const {
        return !outer_local.contains(name) && !local.contains(name);
    }

    Tile &find(const std::string &buffer, const std::vector<Expr> &args, const Type &type) {
        const std::string key = buffer + "(" + text_of(args);
        auto it = index.find(key);
        if (it != index.end()) {
            Tile &t = tiles[it->second];
            t.guarded_alike = t.guarded_alike && text_of(t.guards) == text_of(at.guards);
            return t;
        }
        index[key] = tiles.size();
        Tile t;
        t.buffer = buffer;
        t.type = type;
        t.args = args;
        t.guards = at.guards;
        for (size_t i = at.loops.size(); i-- > 0;) {
            for (const Expr &e : args) {
                if (expr_uses_var(e, at.loops[i].name)) {
                    t.loops.push_back(at.loops[i]);
                    break;
                }
            }
        }
        // The innermost vectorized loop is the lanes: next to each other in memory.
        std::stable_partition(t.loops.begin(), t.loops.end(), [&](const InnerLoop &l) { return l.name == lane; });
        tiles.push_back(t);
        return tiles.back();
    }

    std::string in_words(const std::string &buffer, const std::vector<Expr> &args) const {
        std::ostringstream text;
        for (const Expr &e : args) {
            text << (text.str().empty() ? buffer + "(" : ", ") << e;
        }
        std::string result = text.str() + ")";
        for (const std::string &loop : all_loops) {
            result = replace_all(result, loop, var_of_loop(loop));
        }
        return result;
    }

    void check_index(const std::string &what, const std::string &buffer, const std::vector<Expr> &args) const {
        for (const Expr &e : args) {
            user_assert(is_index_arithmetic(e))
                << "PTO, memory access: " << loop_in_words(lane) << " is vectorized and " << what
                << " global memory at a place that depends on data, " << in_words(buffer, args)
                << ".\n  Vector code reaches the unified buffer only: "
                << (what == "loads from" ?
                        "keep " + buffer + " there, as " + buffer + ".in().compute_at(…).store_in(MemoryType::UB) does" :
                        "compute " + buffer + " there with store_in(MemoryType::UB), and copy it out by another Func")
                << ", or do not vectorize this loop.\n";
        }
    }

    void visit(const Call *op) override {
        if (op->is_intrinsic(Call::if_then_else) && op->args.size() == 2) {
            op->args[0].accept(this);
            at.guards.push_back(simplify(at.expand(op->args[0])));
            op->args[1].accept(this);
            at.guards.pop_back();
            return;
        }
        IRVisitor::visit(op);
        if (is_function_load(op) && is_global(op->name)) {
            const std::vector<Expr> args = at.expand(op->args);
            check_index("loads from", op->name, args);
            Tile &t = find(op->name, args, op->type);
            t.read = true;
            t.load = op->changed(&Call::args, args);
        }
    }
    void visit(const Provide *op) override {
        IRVisitor::visit(op);
        if (is_global(op->name)) {
            const std::vector<Expr> args = at.expand(op->args);
            check_index("stores to", op->name, args);
            internal_assert(op->values.size() == 1) << "a tuple in " << Stmt(op) << "\n";
            Tile &t = find(op->name, args, op->values[0].type());
            t.written = true;
        }
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        if (op->for_type == ForType::Vectorized) {
            lane = op->name;
        }
        all_loops.insert(op->name);
        at.loops.push_back({op->name, simplify(at.expand(op->min)), simplify(at.expand(op->max))});
        op->body.accept(this);
        at.loops.pop_back();
    }
    void visit(const LetStmt *op) override {
        op->value.accept(this);
        at.lets.emplace_back(op->name, op->value);
        op->body.accept(this);
        at.lets.pop_back();
    }
    void visit(const Let *op) override {
        op->value.accept(this);
        at.lets.emplace_back(op->name, op->value);
        op->body.accept(this);
        at.lets.pop_back();
    }
    void visit(const IfThenElse *op) override {
        op->condition.accept(this);
        const Expr condition = simplify(at.expand(op->condition));
        at.guards.push_back(condition);
        op->then_case.accept(this);
        at.guards.back() = simplify(!condition);
        if (op->else_case.defined()) {
            op->else_case.accept(this);
        }
        at.guards.pop_back();
    }
    void visit(const Realize *op) override {
        ScopedBinding<> b(local, op->name);
        IRVisitor::visit(op);
    }

public:
    std::string lane;
    std::set<std::string> all_loops;
    std::vector<Tile> tiles;
    std::map<std::string, size_t> index;

    explicit FindTiles(const Scope<> &local) : outer_local(local) {
    }
};

/// Makes the accesses of a loop go to its tiles.
class UseTiles : public IRMutator {
    using IRMutator::visit;
    const FindTiles &found;
    const std::map<std::string, Tile> &boxes;
    const Scope<> &outer_local;
    Scope<> local;
    AccessWalker at;

    bool is_global(const std::string &name) const {
        return !outer_local.contains(name) && !local.contains(name);
    }
    const Tile *find(const std::string &buffer, const std::vector<Expr> &args) const {
        const auto it = found.index.find(buffer + "(" + text_of(at.expand(args)));
        return it == found.index.end() ? nullptr : &found.tiles[it->second];
    }
    static std::vector<Expr> coordinates(const Tile &t) {
        std::vector<Expr> result;
        for (const InnerLoop &l : t.loops) {
            result.push_back(Variable::make(Int(32), l.name));
        }
        if (result.empty()) {
            result.emplace_back(0);
        }
        return result;
    }

    Expr visit(const Call *op) override {
        const Tile *t = is_function_load(op) && is_global(op->name) ? find(op->name, op->args) : nullptr;
        if (!t) {
            return IRMutator::visit(op);
        }
        if (const auto box = boxes.find(op->name); box != boxes.end()) {
            return Call::make(op->type, box->second.name, mutate_list(op->args), Call::Halide);
        }
        if (t->loops.empty() && !t->written) {
            return Variable::make(op->type, t->name);
        }
        return Call::make(op->type, t->name, coordinates(*t), Call::Halide);
    }
    Stmt visit(const Provide *op) override {
        std::vector<Expr> values;
        for (const Expr &e : op->values) {
            values.push_back(mutate(e));
        }
        const std::vector<Expr> args = mutate_list(op->args);
        const Expr predicate = mutate(op->predicate);
        if (!is_global(op->name)) {
            return Provide::make(op->name, values, args, predicate);
        }
        if (const auto box = boxes.find(op->name); box != boxes.end()) {
            return Provide::make(box->second.name, values, args, predicate);
        }
        const Tile *t = find(op->name, op->args);
        internal_assert(t) << "no tile for " << Stmt(op) << "\n";
        return Provide::make(t->name, values, coordinates(*t), predicate);
    }
    std::vector<Expr> mutate_list(const std::vector<Expr> &list) {
        std::vector<Expr> result;
        for (const Expr &e : list) {
            result.push_back(mutate(e));
        }
        return result;
    }
    Stmt visit(const LetStmt *op) override {
        Expr value = mutate(op->value);
        at.lets.emplace_back(op->name, op->value);
        Stmt body = mutate(op->body);
        at.lets.pop_back();
        return op->with(value, body);
    }
    Expr visit(const Let *op) override {
        Expr value = mutate(op->value);
        at.lets.emplace_back(op->name, op->value);
        Expr body = mutate(op->body);
        at.lets.pop_back();
        return Let::make(op->name, value, body);
    }
    Stmt visit(const Realize *op) override {
        ScopedBinding<> b(local, op->name);
        return IRMutator::visit(op);
    }

public:
    UseTiles(const FindTiles &found, const std::map<std::string, Tile> &boxes, const Scope<> &local)
        : found(found), boxes(boxes), outer_local(local) {
    }
};

/// The tiles of a loop, with sizes; or why there are none.
struct Plan {
    std::vector<Tile> tiles;            // with names
    std::map<std::string, Tile> boxes;  // by buffer
    FindTiles found;
    int64_t bytes = 0;
    std::string problem;

    explicit Plan(const Scope<> &local) : found(local) {
    }
};

Expr constant_extent(const Expr &min, const Expr &max, const TileScope &scope) {
    return constant_upper_bound(max - min + 1, scope.lets, scope.bounds);
}

/// Extents of a tile over loops; empty if one is unknown.
std::vector<Expr> extents_of(const Tile &t, const TileScope &scope, std::string &problem) {
    std::vector<Expr> result;
    for (const InnerLoop &l : t.loops) {
        const Expr e = constant_extent(l.min, l.max, scope);
        if (!e.defined()) {
            std::ostringstream s;
            s << loop_in_words(l.name) << " runs from " << l.min << " to " << l.max
              << ", so its number of iterations has no constant upper bound";
            problem = s.str();
            return {};
        }
        result.push_back(e);
    }
    if (result.empty()) {
        result.emplace_back(1);
    }
    return result;
}

int64_t bytes_of(const std::vector<Expr> &extents, const Type &type) {
    int64_t total = pto_element_bytes(type);
    for (size_t i = 0; i < extents.size(); i++) {
        int64_t n = std::max<int64_t>(0, as_const_int(extents[i]).value_or(0));
        if (i == 0) {
            // Rows begin at aligned addresses.
            const int64_t a = pto_align_elements(type);
            n = (n + a - 1) / a * a;
        }
        total = mul_would_overflow(64, total, n) ? INT64_MAX : total * n;
    }
    return total;
}

void plan_box(Plan &plan, const Stmt &s, const std::string &buffer, const TileScope &scope) {
    const Box box = box_touched(s, buffer);
    Tile t;
    t.buffer = buffer;
    t.whole = true;
    std::vector<Expr> extents;
    for (const Interval &i : box.bounds) {
        const Expr e = i.is_bounded() ? constant_extent(i.min, i.max, scope) : Expr();
        if (!e.defined()) {
            plan.problem = "the part of " + buffer + " that it reads and writes has no constant size";
            return;
        }
        t.box.emplace_back(simplify(i.min), e);
        extents.push_back(e);
    }
    for (const Tile &other : plan.found.tiles) {
        if (other.buffer == buffer) {
            t.type = other.type;
            t.load = other.load.defined() ? other.load : t.load;
        }
    }
    plan.bytes += bytes_of(extents, t.type);
    plan.boxes[buffer] = t;
}

Plan make_plan(const For *loop, const TileScope &scope) {
    Plan plan(scope.local);
    const Stmt s = loop;
    s.accept(&plan.found);
    std::map<std::string, std::pair<int, bool>> use;
    for (const Tile &t : plan.found.tiles) {
        use[t.buffer].first++;
        use[t.buffer].second |= t.written;
    }
    for (const auto &[buffer, u] : use) {
        // What is stored under one index and touched under another needs one tile for both.
        if (u.first > 1 && u.second) {
            plan_box(plan, s, buffer, scope);
        }
    }
    for (const Tile &t : plan.found.tiles) {
        if (!plan.problem.empty()) {
            break;
        }
        if (plan.boxes.count(t.buffer) || (t.loops.empty() && !t.written)) {
            continue;
        }
        const std::vector<Expr> extents = extents_of(t, scope, plan.problem);
        for (const InnerLoop &l : t.loops) {
            for (const InnerLoop &other : t.loops) {
                if (expr_uses_var(l.min, other.name) || expr_uses_var(l.max, other.name)) {
                    plan.problem = "the bounds of " + loop_in_words(l.name) + " depend on " + loop_in_words(other.name);
                }
            }
        }
        if (plan.problem.empty()) {
            plan.bytes += bytes_of(extents, t.type);
        }
    }
    return plan;
}

/// Whether `e` uses no loop of `all` but those listed.
bool uses_only(const Expr &e, const std::vector<InnerLoop> &listed, const std::set<std::string> &all) {
    return std::all_of(all.begin(), all.end(), [&](const std::string &name) {
        return !expr_uses_var(e, name) ||
               std::any_of(listed.begin(), listed.end(), [&](const InnerLoop &l) { return l.name == name; });
    });
}

Stmt guarded(Stmt s, const std::vector<Expr> &guards) {
    for (size_t i = guards.size(); i-- > 0;) {
        s = IfThenElse::make(guards[i], s);
    }
    return s;
}

/// for …: tile(loops) = buffer(args), or the other way round.
Stmt move_tile(const Tile &t, bool in, bool with_guards) {
    std::map<std::string, Expr> rename;
    std::vector<Expr> coordinates;
    std::vector<std::string> names;
    for (const InnerLoop &l : t.loops) {
        names.push_back(t.name + (in ? ".in." : ".out.") + std::to_string(names.size()));
        coordinates.push_back(Variable::make(Int(32), names.back()));
        rename[l.name] = coordinates.back();
    }
    if (coordinates.empty()) {
        coordinates.emplace_back(0);
    }
    std::vector<Expr> args;
    for (const Expr &e : t.args) {
        args.push_back(substitute(rename, e));
    }
    Stmt s;
    if (in) {
        const Expr source = t.load.defined() ? t.load.as<Call>()->changed(&Call::args, args) :
                                               Call::make(t.type, t.buffer, args, Call::Halide);
        s = Provide::make(t.name, {source}, coordinates, const_true());
    } else {
        s = Provide::make(t.buffer, {Call::make(t.type, t.name, coordinates, Call::Halide)}, args, const_true());
    }
    if (with_guards) {
        std::vector<Expr> guards;
        for (const Expr &g : t.guards) {
            guards.push_back(substitute(rename, g));
        }
        s = guarded(s, guards);
    }
    for (size_t i = 0; i < t.loops.size(); i++) {
        s = For::make(names[i], t.loops[i].min, t.loops[i].max, ForType::Serial, Partition::Never, DeviceAPI::None, s);
    }
    return s;
}

/// The same for a tile in the coordinates of the buffer.
Stmt move_box(const Tile &t, bool in, const Box &part) {
    std::vector<Expr> args;
    std::vector<std::string> names;
    for (size_t d = 0; d < part.size(); d++) {
        names.push_back(t.name + (in ? ".in." : ".out.") + std::to_string(d));
        args.push_back(Variable::make(Int(32), names.back()));
    }
    const Expr global = t.load.defined() ? t.load.as<Call>()->changed(&Call::args, args) :
                                           Call::make(t.type, t.buffer, args, Call::Halide);
    const Expr local = Call::make(t.type, t.name, args, Call::Halide);
    Stmt s = in ? Provide::make(t.name, {global}, args, const_true()) :
                  Provide::make(t.buffer, {local}, args, const_true());
    for (size_t d = 0; d < part.size(); d++) {
        s = For::make(names[d], part[d].min, part[d].max, ForType::Serial, Partition::Never, DeviceAPI::None, s);
    }
    return s;
}

Stmt apply_plan(Plan &plan, const For *loop, const TileScope &scope, LowerContext &ctx) {
    std::vector<Stmt> before, after;
    std::vector<const Tile *> hoisted;
    for (auto &[buffer, box] : plan.boxes) {
        box.name = ctx.unique_name(buffer + ".tile");
        ctx.pto->tiles.insert(box.name);
        before.push_back(move_box(box, true, box_touched(Stmt(loop), buffer)));
        after.push_back(move_box(box, false, box_provided(Stmt(loop), buffer)));
    }
    for (Tile &t : plan.found.tiles) {
        if (plan.boxes.count(t.buffer)) {
            continue;
        }
        t.name = ctx.unique_name(t.buffer + ".tile");
        ctx.pto->tiles.insert(t.name);
        if (t.loops.empty() && !t.written) {
            hoisted.push_back(&t);
            continue;
        }
        // Conditions on indices say which part moves. Others leave elements as they were, so these must be in the tile.
        const bool index_guards = t.guarded_alike && std::all_of(t.guards.begin(), t.guards.end(), [&](const Expr &g) {
            return is_index_arithmetic(g) && uses_only(g, t.loops, plan.found.all_loops);
        });
        const bool keeps = t.written && !index_guards && !t.guards.empty();
        if (t.read || keeps) {
            before.push_back(move_tile(t, true, index_guards));
        }
        if (t.written) {
            after.push_back(move_tile(t, false, index_guards));
        }
    }
    UseTiles use(plan.found, plan.boxes, scope.local);
    std::vector<Stmt> parts = before;
    parts.push_back(use(Stmt(loop)));
    parts.insert(parts.end(), after.begin(), after.end());
    Stmt s = Block::make(parts);
    for (const Tile *t : hoisted) {
        s = LetStmt::make(t->name, t->load, s);
    }
    for (const auto &entry : plan.boxes) {
        s = Realize::make(entry.second.name, {entry.second.type}, MemoryType::UB, entry.second.box, const_true(), s);
    }
    for (const Tile &t : plan.found.tiles) {
        if (plan.boxes.count(t.buffer) || (t.loops.empty() && !t.written)) {
            continue;
        }
        std::string problem;
        const std::vector<Expr> extents = extents_of(t, scope, problem);
        Region region;
        for (size_t i = 0; i < extents.size(); i++) {
            region.emplace_back(t.loops.empty() ? Expr(0) : t.loops[i].min, extents[i]);
        }
        s = Realize::make(t.name, {t.type}, MemoryType::UB, region, const_true(), s);
    }
    return IfThenElse::make(loop->min <= loop->max, s);
}

}  // namespace

Stmt stage_vector_loop(const For *loop, const TileScope &scope, LowerContext &ctx) {
    Plan whole = make_plan(loop, scope);
    if (whole.found.tiles.empty()) {
        return loop;
    }
    if (whole.problem.empty() && whole.bytes <= whole_loop_bytes) {
        return apply_plan(whole, loop, scope, ctx);
    }
    const std::string piece = loop->name + ".piece";
    const Expr number = Variable::make(Int(32), piece);
    std::string problem = whole.problem;
    for (int64_t size = largest_piece; size >= smallest_piece; size /= 2) {
        const Expr n = make_const(Int(32), size);
        const Expr min = loop->min + number * n;
        const Stmt inner = For::make(loop->name, min, Min::make(simplify(min + n - 1), loop->max), loop->for_type,
                                     loop->partition_policy, loop->device_api, loop->body);
        Plan plan = make_plan(inner.as<For>(), scope);
        problem = plan.problem;
        if (!plan.problem.empty() || plan.bytes > piece_bytes) {
            continue;
        }
        std::ostringstream why;
        why << loop->name << ": computed in pieces of " << size << ", whose tiles take " << plan.bytes << " bytes of UB";
        ctx.explain(why.str());
        return For::make(piece, 0, (loop->max - loop->min) / n, ForType::Serial, Partition::Never, DeviceAPI::None,
                         apply_plan(plan, inner.as<For>(), scope, ctx));
    }
    user_assert(problem.empty()) << "PTO, loop structure: " << loop_in_words(loop->name)
                                 << " is vectorized and accesses global memory, so it needs tiles in the unified buffer, but "
                                 << problem << ".\n"
                                 << "  Split that loop by a constant, give it a bound, or store what it reads in UB.\n";
    user_error << "PTO, memory access: " << loop_in_words(loop->name) << " is vectorized and accesses global memory, and the "
               << "tiles that it needs in the unified buffer are too large even for " << smallest_piece << " iterations.\n"
               << "  Split the loops inside it and move the outer parts outside.\n";
}

}  // namespace Internal
}  // namespace Halide
