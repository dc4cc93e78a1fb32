#pragma once

// The suite of whole pipelines on the PTO back end. Each pipeline is built twice, without its schedule and with it, for extents
// that are known when it is compiled and for extents that are not. The interpreter's run of the lowered statement must give what
// the unscheduled program gives; the emitted kernel, executed by tools/ptosim, must give what the lowered statement gives. This
// program does the first part and writes down the second: test/pto/emulate.py runs it.

#include "api/BoundaryConditions.h"
#include "api/Func.h"
#include "api/ImageParam.h"
#include "api/InlineReductions.h"
#include "api/Param.h"
#include "api/Pipeline.h"
#include "api/RDom.h"
#include "api/Var.h"
#include "ir/IROperator.h"
#include "ir/NarrowFloats.h"
#include "ir/Target.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bromide {

using namespace Halide;

/// What the elements of an input are.
struct Fill {
    enum Kind {
        Numbers,    ///< Of both signs, where the type has them; floats are small multiples of 1/64.
        Positive,   ///< 1 and more; floats from 1/64 on.
        Unit,       ///< Floats between −1 and 1.
        Bits,       ///< Any bit pattern; floats without NaN and infinity.
        Below,      ///< Indices: 0, 1, …, `limit` − 1 in some order.
    } kind = Numbers;
    int limit = 0;
};

/// One way to build a pipeline: the algorithm asks it for inputs and extents.
class Build {
public:
    bool scheduled = false;
    bool constant = false;      ///< Extents are known when it is compiled.
    int w = 0, h = 0;

    /// An input of these extents. Its first coordinates are `mins`.
    ImageParam input(const std::string &name, const Type &type, const std::vector<int> &extents, Fill fill = {},
                     const std::vector<int> &mins = {});
    template<typename T>
    ImageParam input(const std::string &name, const std::vector<int> &extents, Fill fill = {}, const std::vector<int> &mins = {}) {
        return input(name, halide_type_of<T>(), extents, fill, mins);
    }
    /// A scalar argument.
    Expr scalar(const std::string &name, const Type &type, double value);

    /// The extent of an input: a number, or what the input says.
    Expr extent(const ImageParam &in, int dimension) const;

    /// A Func of exactly this name.
    static Func func(const std::string &name);

    /// How much an element of the output may differ from the unscheduled program, as a Func of the same dimensions. Nothing if
    /// undefined: integers, and floats whose order of operations stays.
    Func allowed;

    std::map<std::string, Buffer<>> inputs;
    std::map<std::string, Expr> scalars;
};

struct Pipe {
    std::string name;
    std::function<Func(Build &)> make;
    int dims = 2;
    /// Units in the last place by which the emulator's approximate functions may differ from the interpreter's: 2 for each.
    int ulp = 0;
    std::vector<int> widths = {1, 63, 64, 65, 127, 300, 4096};
    /// Extents of the output; {w, h} or {w} if undefined.
    std::function<std::vector<int>(int w, int h)> output;
    /// First coordinates of the output.
    std::vector<int> mins;
    bool constant = true, run_time = true;
    std::vector<int> heights = {3, 1, 5};
    /// The hand-written kernel of the emulator's tests that this one is measured by; "-" looks for needless synchronisation only.
    std::string measure;
};

/// Notes the kernels of one program for the emulator, under a name like this; `expected` is what they must give.
void note_kernels(const std::string &name, Func f, const std::map<std::string, Buffer<>> &inputs, const Buffer<> &expected,
                  int blocks, int ulp);

/// Runs a program without and with its schedule over these inputs, and notes its kernels for the emulator.
/// @returns  the difference, or nothing.
/// @throws   what the compiler throws.
std::string run_both(const std::string &id, Func plain, Func scheduled, const std::map<std::string, Buffer<>> &inputs,
                     const std::vector<int> &extents);

/// Runs one pipeline for its extents, and notes its kernels for the emulator.
void run(const Pipe &pipe);

}  // namespace bromide
