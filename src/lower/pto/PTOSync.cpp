#include "lower/pto/PTOSync.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "func/PTOProgram.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "lower/pto/PTOIterations.h"
#include "lower/pto/PTOUtil.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

enum Pipe { MTE2, V, MTE3, S, pipe_count };
constexpr const char *pipe_names[] = {"MTE2", "V", "MTE3", "S"};
constexpr int max_events = 8;

/// Vector and scalar code see the unified buffer through one path, which barriers order; other pairs need flags.
bool ordered_by_barrier(Pipe a, Pipe b) {
    return (a == V || a == S) && (b == V || b == S);
}

/// What a statement does to memory, by pipe.
struct Effects {
    std::array<std::set<std::string>, pipe_count> reads, writes;

    bool touches(Pipe p) const {
        return !reads[p].empty() || !writes[p].empty();
    }
    void add(const Effects &other) {
        for (int p = 0; p < pipe_count; p++) {
            reads[p].insert(other.reads[p].begin(), other.reads[p].end());
            writes[p].insert(other.writes[p].begin(), other.writes[p].end());
        }
    }
};

class FindEffects : public IRVisitor {
    using IRVisitor::visit;
    const std::set<std::string> &registers;
    int vectors = 0;

    Pipe pipe() const {
        return vectors > 0 ? V : S;
    }
    void visit(const Load *op) override {
        IRVisitor::visit(op);
        if (!registers.count(op->name)) {
            effects.reads[pipe()].insert(op->name);
        }
    }
    void visit(const Store *op) override {
        IRVisitor::visit(op);
        if (!registers.count(op->name)) {
            effects.writes[pipe()].insert(op->name);
        }
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        vectors += op->for_type == ForType::Vectorized;
        op->body.accept(this);
        vectors -= op->for_type == ForType::Vectorized;
    }
    void visit(const Call *op) override {
        IRVisitor::visit(op);
        const bool in = op->is_intrinsic(Call::pto_mte_gm_ub), out = op->is_intrinsic(Call::pto_mte_ub_gm);
        if (in || out) {
            const std::string &gm = op->args[0].as<Variable>()->name, &ub = op->args[2].as<Variable>()->name;
            effects.reads[in ? MTE2 : MTE3].insert(in ? gm : ub);
            effects.writes[in ? MTE2 : MTE3].insert(in ? ub : gm);
        }
    }

public:
    Effects effects;
    explicit FindEffects(const std::set<std::string> &registers) : registers(registers) {
    }
};

/// One element of a sequence: a statement, or something around the rest (a let, an allocation).
struct Item {
    Stmt s;                      // a statement, or the wrapper with its old body
    bool wrapper = false;
    Effects effects;             // of a wrapper: of its value only
    std::vector<std::pair<Pipe, Pipe>> ordered_before, ordered_after;  // pairs that a loop orders at its ends, always
    /// Pairs (q, p) of which all that p does inside comes after all that q did before, or all that q does inside before
    /// all that p does later. A branch that is not taken does nothing, and orders nothing else.
    std::set<std::pair<Pipe, Pipe>> enters_after, leaves_before;
};

/// Q raises the flag behind item `set`; P waits for it in front of item `wait`.
struct Flag {
    Pipe from, to;
    int set, wait;
    bool carried = false;   // the wait belongs to the next iteration
    int ring = 1;           // copies of the memory in question: that many iterations may be under way
    Expr phase;             // which copy this iteration uses
    int event = 0;
    bool all_pipes = false; // no event was left
    bool given = false;     // stands for what a loop in the sequence does

    Flag(Pipe from, Pipe to, int set, int wait) : from(from), to(to), set(set), wait(wait) {
    }
};

struct Barrier {
    std::string kind;
    int before;
};

struct Ring {
    int copies = 1;
    std::string index;   // the let that holds the number of the copy
};

class Synchronize {
    LowerContext &ctx;
    std::set<std::string> registers;
    std::map<std::string, std::vector<const PTOLocalBuffer *>> overlapping;
    std::map<std::string, Ring> rings;
    std::map<std::pair<Pipe, Pipe>, int> events;

    // ---- Dependences

    bool same_memory(const std::string &a, const std::string &b) const {
        if (a == b) {
            return true;
        }
        const auto it = overlapping.find(a);
        return it != overlapping.end() && std::any_of(it->second.begin(), it->second.end(),
                                                      [&](const PTOLocalBuffer *o) { return o->name == b; });
    }

    template <typename Found>
    void conflicts(const std::set<std::string> &a, const std::set<std::string> &b, const Found &found) const {
        for (const std::string &x : a) {
            for (const std::string &y : b) {
                if (same_memory(x, y)) {
                    found(x, y);
                }
            }
        }
    }

    struct Conflict {
        bool any = false, ring_only = true;
        bool raw = false, war = false, waw = false;
        Ring ring;
    };

    /// Of an earlier access by `q` and a later one by `p`. Rings are those whose copy changes with each iteration.
    Conflict conflict(const Effects &a, Pipe q, const Effects &b, Pipe p, const std::map<std::string, Ring> &turning,
                      const std::set<std::string> &apart) const {
        Conflict c;
        auto note = [&](bool &kind) {
            return [&](const std::string &x, const std::string &y) {
                if (x == y && apart.count(x)) {
                    return;
                }
                c.any = kind = true;
                const auto r = x == y ? turning.find(x) : turning.end();
                const bool fits = r != turning.end() && (c.ring.copies == 1 || (c.ring.copies == r->second.copies));
                if (fits) {
                    c.ring = c.ring.copies == 1 ? r->second : c.ring;
                } else {
                    c.ring_only = false;
                }
            };
        };
        conflicts(a.writes[q], b.reads[p], note(c.raw));
        conflicts(a.reads[q], b.writes[p], note(c.war));
        if (q != V || p != V) {
            // Vector stores to one place happen in their order.
            conflicts(a.writes[q], b.writes[p], note(c.waw));
        }
        return c;
    }

    /// Whether what `q` did at item j is finished before `p` starts on item i (i > j, counted over two iterations of n items).
    static bool happens_before(Pipe q, int j, Pipe p, int i, int n, const std::vector<Flag> &flags, bool one_apart) {
        constexpr int never = 1 << 30;
        std::array<int, pipe_count> reach;
        reach.fill(never);
        bool changed = true;
        while (changed) {
            changed = false;
            for (const Flag &f : flags) {
                if (f.ring > 1 && one_apart) {
                    continue;   // lets the next iteration start
                }
                for (int shift = 0; shift <= (f.carried ? 0 : n); shift += std::max(n, 1)) {
                    const int set = f.set + shift, wait = f.wait + shift + (f.carried ? n : 0);
                    const bool from = (f.from == q && set >= j) || set >= reach[f.from];
                    if (f.all_pipes && set >= j) {
                        for (int &r : reach) {
                            changed = changed || wait < r;
                            r = std::min(r, wait);
                        }
                    } else if (from && wait < reach[f.to]) {
                        reach[f.to] = wait;
                        changed = true;
                    }
                }
            }
        }
        return reach[p] <= i;
    }

    // ---- Registers

    /// From the allocation of a register to its last use: vectors live there, and those do not survive a flag.
    using Range = std::pair<int, int>;

    static std::vector<Range> register_ranges(const std::vector<Item> &items) {
        std::vector<Range> ranges;
        for (int i = 0; i < (int)items.size(); i++) {
            const Allocate *a = items[(size_t)i].wrapper ? items[(size_t)i].s.as<Allocate>() : nullptr;
            if (!a || a->memory_type != MemoryType::Register) {
                continue;
            }
            Range range(i, i);
            for (int j = i + 1; j < (int)items.size(); j++) {
                const Item &item = items[(size_t)j];
                const LetStmt *let = item.wrapper ? item.s.as<LetStmt>() : nullptr;
                if (item.wrapper && !let) {
                    continue;
                }
                bool uses = false;
                auto note = [&](auto *self, const auto *op) {
                    uses = uses || op->name == a->name;
                    self->visit_base(op);
                };
                auto look = [&](const auto &what) {
                    visit_with(what, [&](auto *self, const Load *op) { note(self, op); },
                               [&](auto *self, const Store *op) { note(self, op); });
                };
                let ? look(let->value) : look(item.s);
                range.second = uses ? j : range.second;
            }
            ranges.push_back(range);
        }
        return ranges;
    }

    /// Moves flags out of the lives of registers: they are set later, or waited for earlier.
    static void keep_registers_whole(const std::vector<Item> &items, std::vector<Flag> &flags) {
        const std::vector<Range> ranges = register_ranges(items);
        for (Flag &f : flags) {
            for (bool moved = true; moved && !f.given;) {
                moved = false;
                for (const auto &[first, last] : ranges) {
                    if (first <= f.set && f.set < last && (f.carried || last < f.wait)) {
                        f.set = last;
                        moved = true;
                    }
                    if (first < f.wait && f.wait <= last && (f.carried || f.set < first)) {
                        f.wait = first;
                        moved = true;
                    }
                }
            }
        }
    }

    // ---- Sequences

    /// A statement as a list: blocks opened, lets and allocations followed into their bodies.
    std::vector<Item> items_of(const Stmt &stmt) {
        std::vector<Item> items;
        Stmt s = stmt;
        while (s.defined()) {
            if (is_vector_region(s)) {
                items.push_back(statement(s));
                break;
            }
            if (const Block *b = s.as<Block>()) {
                if (b->first.as<Block>()) {
                    // (a; b); c  →  a; b; c
                    const Block *inner = b->first.as<Block>();
                    s = Block::make(inner->first, Block::make(inner->rest, b->rest));
                    continue;
                }
                items.push_back(statement(b->first));
                s = b->rest;
            } else if (s.as<LetStmt>() || s.as<Allocate>() || s.as<ProducerConsumer>()) {
                Item item;
                item.s = s;
                item.wrapper = true;
                FindEffects find(registers);
                if (const LetStmt *let = s.as<LetStmt>()) {
                    let->value.accept(&find);
                    note_ring(let);
                    s = let->body;
                } else if (const Allocate *a = s.as<Allocate>()) {
                    if (a->memory_type == MemoryType::Register) {
                        registers.insert(a->name);
                    }
                    s = a->body;
                } else {
                    s = s.as<ProducerConsumer>()->body;
                }
                item.effects = find.effects;
                items.push_back(item);
            } else {
                items.push_back(statement(s));
                break;
            }
        }
        return items;
    }

    /// The loops that an accumulator of several lanes lives through: vectors do not live across flags, so all of it is one
    /// statement here.
    bool is_vector_region(const Stmt &s) {
        const Allocate *a = s.as<Allocate>();
        if (!a || a->memory_type != MemoryType::Register) {
            return false;
        }
        std::set<std::string> with_this = registers;
        with_this.insert(a->name);
        FindEffects find(with_this);
        a->body.accept(&find);
        for (int p = 0; p < pipe_count; p++) {
            if (p != V && find.effects.touches((Pipe)p)) {
                return false;
            }
        }
        return true;
    }

    void note_ring(const LetStmt *let) {
        const std::string suffix = ".ring_buffer.index";
        if (!ends_with(let->name, suffix)) {
            return;
        }
        const std::string name = let->name.substr(0, let->name.size() - suffix.size());
        const auto f = ctx.env.find(name);
        if (f != ctx.env.end() && f->second.schedule().ring_buffer().defined()) {
            const std::optional<int64_t> n = as_const_int(f->second.schedule().ring_buffer());
            if (n && *n > 1 && *n <= max_events) {
                rings[name] = {(int)*n, let->name};
            }
        }
    }

    Item statement(const Stmt &s) {
        Item item;
        FindEffects find(registers);
        s.accept(&find);
        item.effects = find.effects;
        item.s = s;
        if (const For *f = s.as<For>(); f && f->for_type != ForType::Vectorized) {
            loop(f, item);
        } else if (const IfThenElse *i = s.as<IfThenElse>()) {
            Item otherwise;
            const Stmt then_case = sequence(i->then_case, item);
            item.s = IfThenElse::make(i->condition, then_case,
                                      i->else_case.defined() ? sequence(i->else_case, otherwise) : Stmt());
            if (i->else_case.defined()) {
                keep_common(item.enters_after, otherwise.enters_after);
                keep_common(item.leaves_before, otherwise.leaves_before);
            }
        } else if (is_vector_region(s)) {
            const Allocate *a = s.as<Allocate>();
            registers.insert(a->name);
            item.s = a->changed(&Allocate::body, sequence(a->body, item));
        } else if (s.as<LetStmt>() || s.as<Allocate>() || s.as<ProducerConsumer>()) {
            item.s = sequence(s, item);
        }
        return item;
    }

    static void keep_common(std::set<std::pair<Pipe, Pipe>> &a, const std::set<std::pair<Pipe, Pipe>> &b) {
        for (auto it = a.begin(); it != a.end();) {
            it = b.count(*it) ? std::next(it) : a.erase(it);
        }
    }

    /// What a sequence with these flags orders against what is around it.
    static void note_orders(const std::vector<Item> &items, const std::vector<Flag> &flags, Item &whole) {
        for (int q = 0; q < pipe_count; q++) {
            for (int p = 0; p < pipe_count; p++) {
                const auto pair = std::make_pair((Pipe)q, (Pipe)p);
                int first = -1, last = -1;
                for (int i = 0; i < (int)items.size(); i++) {
                    first = first < 0 && items[(size_t)i].effects.touches((Pipe)p) ? i : first;
                    last = items[(size_t)i].effects.touches((Pipe)q) ? i : last;
                }
                bool enters = first >= 0 && items[(size_t)first].enters_after.count(pair);
                bool leaves = last >= 0 && items[(size_t)last].leaves_before.count(pair);
                for (const Flag &f : flags) {
                    const bool same = f.all_pipes || (f.from == q && f.to == p && f.ring == 1);
                    enters = enters || (same && first >= 0 && f.wait <= first);
                    leaves = leaves || (same && !f.carried && last >= 0 && f.set >= last);
                }
                if (enters) {
                    whole.enters_after.insert(pair);
                }
                if (leaves) {
                    whole.leaves_before.insert(pair);
                }
            }
        }
    }

    Stmt sequence(const Stmt &s, Item &whole) {
        std::vector<Item> items = items_of(s);
        std::vector<Flag> flags = given_flags(items);
        std::vector<Barrier> barriers;
        order_items(items, flags, barriers);
        keep_registers_whole(items, flags);
        const Stmt result = rebuild(items, flags, barriers);
        note_orders(items, flags, whole);
        return result;
    }

    /// What loops in the sequence order at their ends.
    static std::vector<Flag> given_flags(const std::vector<Item> &items) {
        std::vector<Flag> flags;
        for (int i = 0; i < (int)items.size(); i++) {
            for (const auto &[q, p] : items[(size_t)i].ordered_before) {
                flags.emplace_back(q, p, i - 1, i);
                flags.back().given = true;
            }
            for (const auto &[q, p] : items[(size_t)i].ordered_after) {
                flags.emplace_back(q, p, i, i + 1);
                flags.back().given = true;
            }
        }
        return flags;
    }

    static std::string barrier_kind(Pipe q, Pipe p, const Conflict &c) {
        const int kinds = c.raw + c.war + c.waw;
        const std::string from = q == V ? "V" : "", to = p == V ? "V" : "";
        if (kinds > 1) {
            return std::string(q == V ? "V" : "S") + (p == V ? "V" : "S") + "_ALL";
        }
        return c.raw ? from + "ST_" + to + "LD" : c.war ? from + "LD_" + to + "ST" : from + "ST_" + to + "ST";
    }

    static bool has_barrier(const std::vector<Barrier> &barriers, const std::string &kind, int after, int up_to) {
        const std::string all = std::string(kind[0] == 'V' ? "V" : "S") +
                                (kind.substr(kind.find('_') + 1)[0] == 'V' ? "V" : "S") + "_ALL";
        return std::any_of(barriers.begin(), barriers.end(), [&](const Barrier &b) {
            return b.before > after && b.before <= up_to && (b.kind == kind || b.kind == all || kind == b.kind);
        });
    }

    static bool ordered_inside(const std::vector<Item> &items, int q, int j, int p, int i) {
        const auto pair = std::make_pair((Pipe)q, (Pipe)p);
        return items[(size_t)j].leaves_before.count(pair) || items[(size_t)i].enters_after.count(pair);
    }

    /// Dependences from one item to a later one.
    void order_items(const std::vector<Item> &items, std::vector<Flag> &flags, std::vector<Barrier> &barriers) {
        const int n = (int)items.size();
        for (int i = 0; i < n; i++) {
            for (int j = i - 1; j >= 0; j--) {
                for (int p = 0; p < pipe_count; p++) {
                    for (int q = 0; q < pipe_count; q++) {
                        if (p == q && p != V) {
                            continue;
                        }
                        const Conflict c = conflict(items[(size_t)j].effects, (Pipe)q, items[(size_t)i].effects, (Pipe)p, {}, {});
                        if (!c.any || ordered_inside(items, q, j, p, i) ||
                            happens_before((Pipe)q, j, (Pipe)p, i, 0, flags, false)) {
                            continue;
                        }
                        if (ordered_by_barrier((Pipe)q, (Pipe)p)) {
                            const std::string kind = barrier_kind((Pipe)q, (Pipe)p, c);
                            if (!has_barrier(barriers, kind, j, i)) {
                                barriers.push_back({kind, i});
                            }
                        } else {
                            flags.emplace_back((Pipe)q, (Pipe)p, j, i);
                        }
                    }
                }
            }
        }
    }

    /// Dependences from one iteration of a loop to the next.
    void order_iterations(const std::vector<Item> &items, const std::map<std::string, Ring> &turning,
                          const std::set<std::string> &apart, std::vector<Flag> &flags, std::vector<Barrier> &barriers) {
        const int n = (int)items.size();
        for (int q = 0; q < pipe_count; q++) {
            for (int p = 0; p < pipe_count; p++) {
                if (p == q && p != V) {
                    continue;
                }
                int wait = n, set = -1;
                bool ring_only = true;
                Ring ring;
                for (int j = 0; j < n; j++) {
                    for (int i = 0; i <= j; i++) {
                        const Conflict c =
                            conflict(items[(size_t)j].effects, (Pipe)q, items[(size_t)i].effects, (Pipe)p, turning,
                                     ordered_by_barrier((Pipe)q, (Pipe)p) ? apart : std::set<std::string>());
                        if (!c.any || ordered_inside(items, q, j, p, i) ||
                            happens_before((Pipe)q, j, (Pipe)p, n + i, n, flags, !c.ring_only)) {
                            continue;
                        }
                        if (ordered_by_barrier((Pipe)q, (Pipe)p)) {
                            const std::string kind = barrier_kind((Pipe)q, (Pipe)p, c);
                            if (!has_barrier(barriers, kind, j, n) && !has_barrier(barriers, kind, -1, i)) {
                                barriers.push_back({kind, i});
                            }
                            continue;
                        }
                        wait = std::min(wait, i);
                        set = std::max(set, j);
                        ring_only = ring_only && c.ring_only && (ring.copies == 1 || ring.copies == c.ring.copies);
                        ring = c.ring.copies > 1 ? c.ring : ring;
                    }
                }
                if (set < 0) {
                    continue;
                }
                Flag f((Pipe)q, (Pipe)p, set, wait);
                f.carried = true;
                if (ring_only && ring.copies > 1) {
                    f.ring = ring.copies;
                    f.phase = Variable::make(Int(32), ring.index);
                }
                flags.push_back(f);
            }
        }
        // Where iterations overlap, so do their flags in the other direction.
        for (Flag &f : flags) {
            for (const Flag &back : flags) {
                if (back.carried && back.ring > 1 && !f.carried && !f.given && f.from == back.to && f.to == back.from) {
                    f.ring = back.ring;
                    f.phase = back.phase;
                }
            }
        }
    }

    void loop(const For *op, Item &item) {
        std::vector<Item> items = items_of(op->body);
        // Memory whose copy is chosen by a let of this very body turns with each iteration.
        std::map<std::string, Ring> turning;
        for (const Item &i : items) {
            const LetStmt *let = i.wrapper ? i.s.as<LetStmt>() : nullptr;
            for (const auto &[name, ring] : rings) {
                if (let && let->name == ring.index) {
                    turning[name] = ring;
                }
            }
        }
        std::vector<Flag> flags = given_flags(items);
        std::vector<Barrier> barriers;
        order_items(items, flags, barriers);
        order_iterations(items, turning, buffers_apart_in_iterations(op), flags, barriers);
        keep_registers_whole(items, flags);
        const int n = (int)items.size();
        std::vector<Stmt> before, after;
        choose_events(flags);
        note_orders(items, flags, item);
        for (const Flag &f : flags) {
            if (!f.carried || f.given || f.all_pipes) {
                continue;
            }
            for (int k = 0; k < f.ring; k++) {
                before.push_back(call(Call::pto_set_flag, f.from, f.to, f.event + k));
                after.push_back(call(Call::pto_wait_flag, f.from, f.to, f.event + k));
            }
            const auto pair = std::make_pair(f.from, f.to);
            bool earlier = false, later = false;
            for (int i = 0; i < n; i++) {
                earlier = earlier || (i < f.wait && items[(size_t)i].effects.touches(f.to));
                later = later || (i > f.set && items[(size_t)i].effects.touches(f.from));
            }
            if (!earlier) {
                item.ordered_before.push_back(pair);
            }
            if (!later) {
                item.ordered_after.push_back(pair);
            }
        }
        before.push_back(op->changed(&For::body, rebuild(items, flags, barriers, false)));
        before.insert(before.end(), after.begin(), after.end());
        item.s = Block::make(before);
    }

    // ---- Results

    static Stmt call(Call::IntrinsicOp what, Pipe from, Pipe to, const Expr &event) {
        return Evaluate::make(Call::make(Int(32), what, {StringImm::make(pipe_names[from]), StringImm::make(pipe_names[to]), event},
                                         Call::Intrinsic));
    }

    /// Each flag of a kernel has events of its own; what is beyond the last waits for all pipes.
    void choose_events(std::vector<Flag> &flags) {
        for (Flag &f : flags) {
            if (f.given || f.event > 0 || f.all_pipes) {
                continue;
            }
            int &next = events[{f.from, f.to}];
            if (next + f.ring > max_events && f.ring > 1) {
                f.ring = 1;
                f.phase = Expr();
            }
            if (next + f.ring > max_events) {
                f.all_pipes = true;
            } else {
                f.event = next;
                next += f.ring;
            }
        }
    }

    Stmt rebuild(const std::vector<Item> &items, std::vector<Flag> &flags, const std::vector<Barrier> &barriers,
                 bool choose = true) {
        if (choose) {
            choose_events(flags);
        }
        Stmt rest;
        auto prepend = [&](const std::vector<Stmt> &list) {
            for (size_t i = list.size(); i-- > 0;) {
                rest = rest.defined() ? Block::make(list[i], rest) : list[i];
            }
        };
        for (int i = (int)items.size(); i-- > 0;) {
            std::vector<Stmt> behind, front;
            for (const Flag &f : flags) {
                if (f.given) {
                    continue;
                }
                const Expr event = f.phase.defined() ? f.phase + f.event : Expr(f.event);
                if (f.set == i && !f.all_pipes) {
                    behind.push_back(call(Call::pto_set_flag, f.from, f.to, event));
                }
                if (f.wait == i) {
                    front.push_back(f.all_pipes ? Evaluate::make(Call::make(Int(32), Call::pto_pipe_barrier, {}, Call::Intrinsic)) :
                                                  call(Call::pto_wait_flag, f.from, f.to, event));
                }
            }
            for (const Barrier &b : barriers) {
                if (b.before == i) {
                    front.push_back(Evaluate::make(Call::make(Int(32), Call::pto_mem_bar, {StringImm::make(b.kind)}, Call::Intrinsic)));
                }
            }
            const Item &item = items[(size_t)i];
            prepend(behind);
            if (item.wrapper) {
                internal_assert(rest.defined()) << "an empty body of " << item.s << "\n";
                if (const LetStmt *let = item.s.as<LetStmt>()) {
                    rest = LetStmt::make(let->name, let->value, rest);
                } else if (const Allocate *a = item.s.as<Allocate>()) {
                    rest = a->changed(&Allocate::body, rest);
                } else {
                    rest = item.s.as<ProducerConsumer>()->changed(&ProducerConsumer::body, rest);
                }
            } else {
                rest = rest.defined() ? Block::make(item.s, rest) : item.s;
            }
            prepend(front);
        }
        return rest;
    }

public:
    Synchronize(LowerContext &ctx, const std::string &kernel) : ctx(ctx) {
        const std::vector<PTOLocalBuffer> &local = ctx.pto->local[kernel];
        for (const PTOLocalBuffer &a : local) {
            for (const PTOLocalBuffer &b : local) {
                if (&a != &b && a.address < b.address + b.bytes && b.address < a.address + a.bytes) {
                    overlapping[a.name].push_back(&b);
                }
            }
        }
    }

    Stmt kernel(const For *op) {
        Item whole;
        return op->changed(&For::body, sequence(op->body, whole));
    }
};

class SynchronizeKernels : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;

    Stmt visit(const For *op) override {
        return is_pto_block(op) ? Synchronize(ctx, op->name).kernel(op) : IRMutator::visit(op);
    }

public:
    explicit SynchronizeKernels(LowerContext &ctx) : ctx(ctx) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt pto_sync(const Stmt &s, LowerContext &ctx) {
    return SynchronizeKernels(ctx)(s);
}

}  // namespace Internal
}  // namespace Halide
