// What vector code of PTO kernels refuses: kernels as IR text, and the whole message of each.

#include <gtest/gtest.h>

#include "ir/IRText.h"
#include "lower/Pipeline.h"
#include "lower/pto/PTOLaneLayout.h"
#include "lower/pto/PTOLegalize.h"
#include "lower/pto/PTOVectorize.h"
#include "support/Error.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;

struct Case {
    const char *name;
    const char *text;
    const char *message;
};

std::string error_of(const std::string &text) {
    try {
        LowerContext ctx;
        PTOKernel kernel;
        kernel.name = "f_k0";
        kernel.body = lay_out_lanes(shape_vector_regions(parse_stmt(text), ctx), {}, ctx);
        check_vectorizable(kernel, ctx);
    } catch (const CompileError &e) {
        return e.what();
    }
    return "no error";
}

const char *const buffers =
    "allocate x[f32, 320] in UB\nallocate o[f32, 320] in UB\nallocate k[i32, 320] in UB\nallocate b[u8, 320] in UB\n"
    "allocate h[f16, 320] in UB\nallocate c[i16, 320] in UB\n";

/// Everything is moved out, so nothing is dropped.
std::string kernel_text(const char *text) {
    std::string s = std::string(buffers) + text + "\n";
    for (const char *name : {"o", "k", "b", "h", "c"}) {
        s += std::string("evaluate extern pto_mte_ub_gm(gm:handle, 0, ") + name + ":handle, 0, 320):f32\n";
    }
    if (s.find("allocate w[") != std::string::npos) {
        s += "evaluate extern pto_mte_ub_gm(gm:handle, 0, w:handle, 0, 64):f32\n";
    }
    return s;
}

const Case cases[] = {
#include "pto_vector_errors.inc"
};

TEST(PTOVectorErrors, AllCases) {
    for (const Case &c : cases) {
        EXPECT_EQ(error_of(kernel_text(c.text)), c.message) << c.name;
    }
}

}  // namespace
