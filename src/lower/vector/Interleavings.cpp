#include "lower/vector/Interleavings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "analysis/ModulusRemainder.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// Machines interleave two, three and four vectors; more are a network of shuffles that still beats single elements.
constexpr int max_stored_stride = 8;
constexpr int max_loaded_stride = 4;

/// ramp(base, stride, lanes) with a constant stride above one.
struct Strided {
    Expr base;
    int64_t stride = 0;
    int lanes = 0;
};

std::optional<Strided> as_strided(const Expr &index, int max_stride) {
    const Ramp *r = index.as<Ramp>();
    if (!r || !r->base.type().is_scalar()) {
        return std::nullopt;
    }
    const auto stride = as_const_int(r->stride);
    if (!stride || *stride < 2 || *stride > max_stride) {
        return std::nullopt;
    }
    return Strided{r->base, *stride, r->lanes};
}

std::optional<int64_t> constant_distance(const Expr &a, const Expr &b) {
    return as_const_int(simplify(a - b));
}

/// Whether an expression reads elements of a buffer that a strided store of the same buffer writes.
class ReadsWhatIsWritten : public IRGraphVisitor {
    const std::string &name;
    const Strided &written;

    using IRGraphVisitor::visit;
    void visit(const Load *op) override {
        IRGraphVisitor::visit(op);
        if (op->name != name) {
            return;
        }
        const auto read = as_strided(op->index, max_stored_stride);
        if (read && read->stride == written.stride) {
            const auto distance = constant_distance(read->base, written.base);
            if (distance && *distance % written.stride != 0) {
                return;
            }
        }
        result = true;
    }
    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        result = result || !op->is_pure();
    }

public:
    bool result = false;
    ReadsWhatIsWritten(const std::string &name, const Strided &written)
        : name(name), written(written) {
    }
};

bool reads_what_is_written(const Expr &e, const std::string &name, const Strided &written) {
    ReadsWhatIsWritten reads(name, written);
    e.accept(&reads);
    return reads.result;
}

/// A store of a run, with its distance from the first one.
struct StridedStore {
    const Store *op = nullptr;
    Strided index;
    int64_t offset = 0;
};

/// Interleaves the stores of a run: `count` stores of one buffer, stride and width. Empty if that is not possible.
std::vector<Stmt> interleave_run(const std::vector<StridedStore> &run) {
    const int64_t stride = run[0].index.stride;
    const int lanes = run[0].index.lanes;
    for (size_t i = 0; i < run.size(); i++) {
        for (size_t j = i + 1; j < run.size(); j++) {
            const int64_t d = run[j].offset - run[i].offset;
            if (d % stride == 0 && std::abs(d) < stride * lanes) {
                return {};
            }
            if (reads_what_is_written(run[j].op->value, run[i].op->name, run[i].index)) {
                return {};
            }
        }
    }
    std::vector<StridedStore> sorted = run;
    std::sort(sorted.begin(), sorted.end(),
              [](const StridedStore &a, const StridedStore &b) { return a.offset < b.offset; });
    std::vector<Stmt> result;
    bool changed = false;
    for (size_t i = 0; i < sorted.size();) {
        bool dense = i + stride <= sorted.size();
        for (int64_t k = 1; dense && k < stride; k++) {
            dense = sorted[i + k].offset == sorted[i].offset + k;
        }
        const Store *first = sorted[i].op;
        if (!dense) {
            result.emplace_back(first);
            i++;
            continue;
        }
        std::vector<Expr> values;
        for (int64_t k = 0; k < stride; k++) {
            values.push_back(sorted[i + k].op->value);
        }
        const Expr base = sorted[i].index.base;
        const int total = (int)stride * lanes;
        result.push_back(Store::make(first->name, Shuffle::make_interleave(values),
                                     Ramp::make(base, make_one(base.type()), total), first->param, const_true(total),
                                     modulus_remainder(base), first->is_streaming));
        changed = true;
        i += stride;
    }
    return changed ? result : std::vector<Stmt>();
}

class InterleaveStores : public IRMutator {
    using IRMutator::visit;

    static std::optional<StridedStore> as_strided_store(const Stmt &s) {
        const Store *op = s.as<Store>();
        if (!op || !is_const_one(op->predicate)) {
            return std::nullopt;
        }
        const auto index = as_strided(op->index, max_stored_stride);
        if (!index) {
            return std::nullopt;
        }
        return StridedStore{op, *index, 0};
    }

    Stmt visit(const Block *op) override {
        std::vector<Stmt> parts;
        Stmt rest = op;
        bool changed = false;
        const auto append = [&](const Stmt &s) {
            parts.push_back(mutate(s));
            changed = changed || !parts.back().same_as(s);
        };
        for (const Block *b = op; b; b = rest.as<Block>()) {
            append(b->first);
            rest = b->rest;
        }
        append(rest);

        std::vector<Stmt> result;
        for (size_t i = 0; i < parts.size();) {
            std::vector<StridedStore> run;
            for (size_t j = i; j < parts.size(); j++) {
                auto s = as_strided_store(parts[j]);
                if (!s) {
                    break;
                }
                if (!run.empty()) {
                    const StridedStore &first = run[0];
                    const auto distance = constant_distance(s->index.base, first.index.base);
                    if (s->op->name != first.op->name || s->index.stride != first.index.stride ||
                        s->index.lanes != first.index.lanes || s->op->value.type() != first.op->value.type() ||
                        s->op->is_streaming != first.op->is_streaming || !distance) {
                        break;
                    }
                    s->offset = *distance;
                }
                run.push_back(*s);
            }
            std::vector<Stmt> interleaved;
            if (run.size() >= 2 && (int64_t)run.size() >= run[0].index.stride) {
                interleaved = interleave_run(run);
            }
            if (interleaved.empty()) {
                const size_t n = std::max<size_t>(run.size(), 1);
                result.insert(result.end(), parts.begin() + i, parts.begin() + i + n);
                i += n;
            } else {
                changed = true;
                result.insert(result.end(), interleaved.begin(), interleaved.end());
                i += run.size();
            }
        }
        return changed ? Block::make(result) : Stmt(op);
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

/// A strided load and the definitions inside its expression that its address uses: names are not unique there.
struct StridedLoad {
    const Load *op = nullptr;
    Strided index;
    std::map<std::string, int> definitions;
};

/// Unconditional strided loads of one expression.
class FindStridedLoads : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Load *op) override {
        IRGraphVisitor::visit(op);
        const auto index = as_strided(op->index, max_loaded_stride);
        if (index && is_const_one(op->predicate) && index->lanes >= 2 * index->stride) {
            loads.push_back({op, *index, definitions_used(op->index)});
        }
    }
    void visit(const Call *op) override {
        // What runs on one side only does not make it safe to read on the other.
        if (op->is_intrinsic(Call::if_then_else)) {
            op->args[0].accept(this);
        } else {
            IRGraphVisitor::visit(op);
        }
    }
    void visit(const Let *op) override {
        op->value.accept(this);
        ScopedBinding<int> bind(definitions, op->name, ++count);
        op->body.accept(this);
    }

    std::map<std::string, int> definitions_used(const Expr &e) const {
        class Find : public IRGraphVisitor {
            const Scope<int> &definitions;
            using IRGraphVisitor::visit;
            void visit(const Variable *op) override {
                if (const int *id = definitions.find(op->name)) {
                    result[op->name] = *id;
                }
            }

        public:
            std::map<std::string, int> result;
            explicit Find(const Scope<int> &definitions)
                : definitions(definitions) {
            }
        } find(definitions);
        e.accept(&find);
        return find.result;
    }
    Scope<int> definitions;
    int count = 0;

public:
    std::vector<StridedLoad> loads;
};

class ReplaceLoads : public IRGraphMutator {
    const std::map<const Load *, Expr> &replacements;

    using IRGraphMutator::visit;
    Expr visit(const Load *op) override {
        const auto it = replacements.find(op);
        return it == replacements.end() ? IRGraphMutator::visit(op) : it->second;
    }

public:
    explicit ReplaceLoads(const std::map<const Load *, Expr> &replacements)
        : replacements(replacements) {
    }
};

/// Loads of one buffer, stride and width, by their distance from the first of them.
struct LoadGroup {
    StridedLoad first;
    std::map<int64_t, std::vector<const Load *>> by_offset;
};

Expr share_wide_loads(const Expr &e) {
    FindStridedLoads find;
    e.accept(&find);
    if (find.loads.size() < 2) {
        return e;
    }
    std::map<std::string, std::vector<LoadGroup>> groups;
    for (const StridedLoad &l : find.loads) {
        std::vector<LoadGroup> &of_buffer = groups[l.op->name];
        bool placed = false;
        for (LoadGroup &g : of_buffer) {
            if (g.first.index.stride != l.index.stride || l.op->type != g.first.op->type ||
                g.first.definitions != l.definitions) {
                continue;
            }
            if (const auto d = constant_distance(l.index.base, g.first.index.base)) {
                g.by_offset[*d].push_back(l.op);
                placed = true;
                break;
            }
        }
        if (!placed) {
            of_buffer.push_back({l, {{0, {l.op}}}});
        }
    }
    std::map<const Load *, Expr> replacements;
    for (const auto &[name, of_buffer] : groups) {
        for (const LoadGroup &g : of_buffer) {
            const int64_t stride = g.first.index.stride;
            const int lanes = g.first.index.lanes;
            for (auto it = g.by_offset.begin(); it != g.by_offset.end();) {
                // A window that begins and ends with an element that is read anyway.
                const int64_t begin = it->first;
                const auto end = g.by_offset.find(begin + stride - 1);
                if (end == g.by_offset.end()) {
                    ++it;
                    continue;
                }
                const Load *op = it->second[0];
                const int total = (int)stride * lanes;
                const Expr base = simplify(op->index.as<Ramp>()->base);
                const Expr wide = Load::make(op->type.with_lanes(total), op->name,
                                             Ramp::make(base, make_one(base.type()), total), op->image, op->param,
                                             const_true(total), modulus_remainder(base));
                for (; it != g.by_offset.end() && it->first < begin + stride; ++it) {
                    const Expr slice = Shuffle::make_slice(wide, (int)(it->first - begin), (int)stride, lanes);
                    for (const Load *l : it->second) {
                        replacements[l] = slice;
                    }
                }
            }
        }
    }
    return replacements.empty() ? e : ReplaceLoads(replacements).mutate(e);
}

class DeinterleaveLoads : public IRMutator {
public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e.defined() ? share_wide_loads(e) : e;
    }
};

}  // namespace

Stmt interleavings(const Stmt &s, LowerContext &ctx) {
    return DeinterleaveLoads().mutate(InterleaveStores().mutate(s));
}

}  // namespace Internal
}  // namespace Halide
