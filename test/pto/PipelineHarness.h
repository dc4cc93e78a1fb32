#pragma once

// What tests of whole pipelines on the PTO back end share. Each pipeline is lowered for a core, with moves, tiles, addresses and
// flags, and the lowered statement is interpreted for several numbers of blocks: it must give what the unscheduled program gives.
// Its kernels are noted for the emulator, as those of the suite (Suite.h).

#include "api/BoundaryConditions.h"
#include "api/Func.h"
#include "api/ImageParam.h"
#include "api/InlineReductions.h"
#include "api/Pipeline.h"
#include "api/RDom.h"
#include "api/Var.h"
#include "func/PTOProgram.h"
#include "interp/Interpreter.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Target.h"
#include "support/Error.h"
#include "lower/Pipeline.h"

#include "Suite.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace bromide {

using namespace Halide;
using namespace Halide::Internal;

inline Var x("x"), y("y"), z("z"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), c("c");

struct Program {
    Func f;
    std::map<std::string, Buffer<>> inputs;
};

/// Builds the algorithm, with its schedule if asked.
using Make = std::function<Program(bool scheduled)>;

template <typename T>
Buffer<T> data(const std::vector<int> &sizes, int seed = 1, std::vector<int> mins = {}) {
    Buffer<T> b(sizes);
    if (!mins.empty()) {
        b.set_min(mins);
    }
    uint32_t state = (uint32_t)seed * 2654435761u + 12345u;
    b.for_each_value([&](T &v) {
        state = state * 1664525u + 1013904223u;
        v = std::is_floating_point<T>::value ? (T)((int)(state >> 16) % 1000 - 500) / (T)64 : (T)(state >> 16);
    });
    return b;
}

/// Another number of blocks than the launch plan asks for.
class LaunchBlocks : public IRMutator {
    using IRMutator::visit;
    const int blocks;
    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUBlock && op->device_api == DeviceAPI::PTO && blocks > 0) {
            return For::make(op->name, 0, blocks - 1, op->for_type, op->partition_policy, op->device_api, op->body);
        }
        return IRMutator::visit(op);
    }

public:
    explicit LaunchBlocks(int blocks) : blocks(blocks) {
    }
};

struct Counts {
    int moves = 0, flags = 0, barriers = 0, scalar_stores = 0, kernels = 0, vector_global = 0;
};

inline Counts count(const Stmt &s) {
    Counts n;
    std::map<std::string, int> local;
    int vectors = 0;
    visit_with(
        s,
        [&](auto *self, const Allocate *op) {
            local[op->name]++;
            self->visit_base(op);
        },
        [&](auto *self, const For *op) {
            n.kernels += op->for_type == ForType::GPUBlock;
            vectors += op->for_type == ForType::Vectorized;
            self->visit_base(op);
            vectors -= op->for_type == ForType::Vectorized;
        },
        [&](auto *self, const Store *op) {
            n.scalar_stores += vectors == 0;
            n.vector_global += vectors > 0 && !local.count(op->name);
            self->visit_base(op);
        },
        [&](auto *self, const Load *op) {
            n.vector_global += vectors > 0 && !local.count(op->name);
            self->visit_base(op);
        },
        [&](auto *self, const Call *op) {
            n.moves += op->is_intrinsic({Call::pto_mte_gm_ub, Call::pto_mte_ub_gm});
            n.flags += op->is_intrinsic(Call::pto_set_flag);
            n.barriers += op->is_intrinsic({Call::pto_mem_bar, Call::pto_pipe_barrier});
            self->visit_base(op);
        });
    return n;
}

struct Lowered {
    Stmt s;
    std::shared_ptr<PTOProgram> program;
};

inline Lowered lower_for_pto(Func f) {
    const Target target = get_host_target().with_feature(Target::PTO_A5);
    LowerContext ctx = make_lower_context({f.function()}, "kernel", target, {}, {}, false, {});
    Lowered result;
    result.s = run_lowering_passes(ctx, "pto-sync");
    result.program = ctx.pto;
    return result;
}

template <typename T>
void check(const std::string &name, const Make &make, const std::vector<int> &sizes, Counts *counts = nullptr,
           const std::vector<int> &mins = {}, int ulp = 0) {
    SCOPED_TRACE(name);
    Buffer<T> expected(sizes), got(sizes);
    if (!mins.empty()) {
        expected.set_min(mins);
        got.set_min(mins);
    }
    Program plain = make(false), scheduled;
    plain.f.realize(expected, get_host_target());
    Lowered lowered;
    try {
        scheduled = make(true);
        lowered = lower_for_pto(scheduled.f);
    } catch (const Halide::Error &e) {
        FAIL() << e.what();
    }
    if (counts) {
        *counts = count(lowered.s);
    }
    EXPECT_EQ(count(lowered.s).vector_global, 0) << lowered.s;
    for (int blocks : {0, 1, 3}) {
        got.for_each_value([](T &v) { v = (T)77; });
        Interpreter interp;
        interp.set_buffer(scheduled.f.name(), got);
        for (const auto &[input, buffer] : scheduled.inputs) {
            interp.set_buffer(input, buffer);
        }
        try {
            const int code = interp.run(LaunchBlocks(blocks)(lowered.s));
            ASSERT_EQ(code, 0) << interp.error_message() << "\n" << lowered.s;
        } catch (const InterpreterFault &fault) {
            FAIL() << fault.what() << "\n" << lowered.s;
        }
        int wrong = 0;
        expected.for_each_element([&](const int *at) {
            const T e = expected(at), g = got(at);
            if (memcmp(&e, &g, sizeof(T)) != 0 && wrong++ == 0) {
                std::ostringstream where;
                for (size_t d = 0; d < sizes.size(); d++) {
                    where << (d ? ", " : "") << at[d];
                }
                ADD_FAILURE() << "with " << blocks << " blocks, at (" << where.str() << "): " << +g << ", expected " << +e
                              << "\n" << lowered.s;
            }
        });
        if (wrong) {
            return;
        }
    }
    Program emitted = make(true);
    note_kernels(name, emitted.f, emitted.inputs, expected, 2, ulp);
}

template <typename T>
ImageParam image(const std::string &name, int dimensions, const Buffer<T> &b, Program &p) {
    ImageParam in(halide_type_of<T>(), dimensions, name);
    in.set(b);
    p.inputs[name] = b;
    return in;
}

}  // namespace bromide
