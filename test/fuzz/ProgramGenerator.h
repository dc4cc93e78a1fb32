#pragma once

// Random pipelines and schedules as data, so that they can be built many times, printed as C++, and reduced.

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "api/BoundaryConditions.h"
#include "api/Func.h"
#include "api/InlineReductions.h"
#include "api/Lambda.h"
#include "api/Pipeline.h"

namespace fuzz {

using Halide::Expr;
using Halide::Func;
using Halide::RVar;
using Halide::Type;
using Halide::Var;

/// A seeded source of choices.
class Random {
public:
    explicit Random(uint64_t seed) : engine(seed) {}
    int upto(int n) { return (int)(engine() % (uint64_t)n); }   // 0 … n − 1
    int between(int lo, int hi) { return lo + upto(hi - lo + 1); }
    bool one_in(int n) { return upto(n) == 0; }
    template<typename T>
    const T &pick(const std::vector<T> &v) {
        return v[upto((int)v.size())];
    }

private:
    std::mt19937_64 engine;
};

/// An expression tree. Every node has the element type of its Func, except inside casts.
struct Node {
    enum Op {
        Constant, CoordX, CoordY, Call, CallUpdated, Input, Gather,
        Add, Sub, Mul, Div, Mod, Min, Max, And, Or, Xor, ShiftLeft, ShiftRight,
        AbsDiff, SaturatingAdd, SaturatingSub, HalvingAdd, RoundingHalvingAdd,
        SelectLess, SelectEqual, Clamp, Widened, Self, RVarX, RVarY,
        MulConstant, DivConstant, ModConstant, Not, Popcount, ShiftLeftBy, ShiftRightBy, SelectBoth
    } op = Constant;
    Type type;
    int value = 0;              // Constant, and operators with one; Call, Input: which
    int element = 0;            // Call: tuple element
    int dx = 0, dy = 0;         // Call, Input: offset
    int scale = 0;              // Call: 0 none, 1 x/2, 2 x*2, 3 clamped
    std::vector<std::shared_ptr<Node>> children;
};
using NodePtr = std::shared_ptr<Node>;

struct UpdateSpec {
    enum Kind { PureAdd, ReduceAdd, ReduceMax, Histogram, ScanX, ScanY } kind = PureAdd;
    std::vector<NodePtr> values;   // one per tuple element
    int extent_x = 1, extent_y = 1;
    bool where = false;
    NodePtr index;                 // Histogram
};

struct FuncSpec {
    std::vector<Type> types;
    std::vector<NodePtr> values;
    std::vector<UpdateSpec> updates;
};

/// One directive. `stage` −1 is the pure definition, k ≥ 0 update k; names are resolved when it is applied.
struct Directive {
    std::string kind;
    int func = 0, stage = -1;
    std::vector<std::string> vars;
    std::vector<int> numbers;
    int other = 0;                 // compute_at, store_at: the consumer
    Halide::TailStrategy tail = Halide::TailStrategy::Auto;
};

/// What programs compute.
enum class Values {
    Any,
    LaneWise   ///< what SWAR loops can: narrow integers of one width, mostly, and no products of two of them
};

struct Program {
    uint64_t seed = 0;
    Values values = Values::Any;
    int width = 0, height = 0;
    bool parameters = false;       // inputs are ImageParams, not Buffers of the program
    std::vector<FuncSpec> funcs;   // the last is the output
    std::vector<Type> inputs;
};

struct Schedule {
    std::vector<Directive> directives;
};

Program make_program(uint64_t seed, Values values = Values::Any);
/// Schedules of lane-wise programs vectorize in words, and store in registers, wherever they can; others now and then.
Schedule make_schedule(const Program &program, uint64_t seed);

/// The schedule that the judge runs: every Func computed at the root, so that nothing is evaluated twice.
Schedule plain_schedule(const Program &program);

/// Everything needed to run one program under one schedule.
struct Built {
    std::vector<Halide::Buffer<>> inputs;
    std::vector<Func> funcs;
    Func output() const { return funcs.back(); }
};

/// @throws CompileError  if the directive is refused.
void apply(Built &b, const Directive &d);
/// @throws CompileError  if a directive is refused.
Built build(const Program &program, const Schedule &schedule);

/// The whole as a C++ program that compiles as is and checks itself against the unscheduled one.
std::string print(const Program &program, const Schedule &schedule);
std::string directive_text(const Directive &d);

}  // namespace fuzz
