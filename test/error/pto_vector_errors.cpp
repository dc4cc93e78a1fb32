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
    {"int64_lanes",
     "vectorized f.s0.x in [0, 63] { o[f.s0.x] = f32(i64(k[f.s0.x]) * i64(k[f.s0.x])) }",
     "Error: PTO, dtype: `(int64(k[x])*int64(k[x]))` has 64-bit lanes\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Vectors have elements of at most 32 bits: cast to a 32-bit type first.\n"},
    {"double_lanes",
     "vectorized f.s0.x in [0, 63] { o[f.s0.x] = f32(f64(x[f.s0.x]:f32) * f64(x[f.s0.x]:f32)) }",
     "Error: PTO, dtype: `(float64((float32)x[x])*float64((float32)x[x]))` has 64-bit lanes\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Vectors have elements of at most 32 bits: cast to a 32-bit type first.\n"},
    {"double_buffer",
     "allocate w[f64, 64] in UB\nvectorized f.s0.x in [0, 63] { w[f.s0.x] = f64(x[f.s0.x]:f32) }",
     "Error: PTO, dtype: w holds float64, which vectors cannot\n"
     "  In kernel f_k0.\n"
     "  Vectors have elements of at most 32 bits: cast to a 32-bit type.\n"},
    {"gather_from_gm",
     "vectorized f.s0.x in [0, 63] { o[f.s0.x] = in[k[f.s0.x]]:f32 }",
     "Error: PTO, memory access: `(float32)in[k[x]]` reads global memory in vector code\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Stage in in the unified buffer, as in.in(f).compute_at(f, xo).store_in(MemoryType::UB) does.\n"},
    {"load_from_gm",
     "vectorized f.s1.x in [0, 63] { o[f.s1.x] = in[f.s1.x]:f32 }",
     "Error: PTO, memory access: `(float32)in[x]` reads global memory in vector code\n"
     "  In update 0 of f, vectorized over x, kernel f_k0.\n"
     "  Stage in in the unified buffer, as in.in(f).compute_at(f, xo).store_in(MemoryType::UB) does.\n"},
    {"store_to_gm",
     "vectorized f.s0.x in [0, 63] { out[f.s0.x] = x[f.s0.x]:f32 }",
     "Error: PTO, memory access: `out[x]` is written in global memory by vector code\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Store out in the unified buffer and copy it out.\n"},
    {"scatter_of_data",
     "vectorized f.s1.x in [0, 63] { o[k[f.s1.x]] = x[f.s1.x]:f32 }",
     "Error: PTO, memory access: two lanes may write the same element `o[k[x]]`\n"
     "  In update 0 of f, vectorized over x, kernel f_k0.\n"
     "  A scatter has no order among its lanes: only addresses that provably differ can be written at once.\n"},
    {"scatter_same_twice",
     "vectorized f.s1.x in [0, 63] { o[f.s1.x / 2] = x[f.s1.x]:f32 }",
     "Error: PTO, memory access: two lanes may write the same element `o[(x/2)]`\n"
     "  In update 0 of f, vectorized over x, kernel f_k0.\n"
     "  A scatter has no order among its lanes: only addresses that provably differ can be written at once.\n"},
    {"scatter_one_element",
     "vectorized f.s1.x in [0, 63] { o[5] = x[f.s1.x]:f32 }",
     "Error: PTO, memory access: all lanes write the same element `o[5]`\n"
     "  In update 0 of f, vectorized over x, kernel f_k0.\n"
     "  If it is a reduction that may be reordered, say so with atomic().\n"},
    {"scatter_bytes",
     "vectorized f.s0.x in [0, 63] { b[f.s0.x*2] = 1_u8 }",
     "Error: PTO, memory access: there is no scatter of 64 elements of 8 bits, which `b[(x*2)]` would need\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Store 32-bit elements, or make the first element of each vector lie on a 32-byte border.\n"},
    {"unaligned_byte_store",
     "vectorized f.s0.x in [0, 63] { b[f.s0.x + 1] = 1_u8 }",
     "Error: PTO, memory access: there is no scatter of 64 elements of 8 bits, which `b[(x + 1)]` would need\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Store 32-bit elements, or make the first element of each vector lie on a 32-byte border.\n"},
    {"unaligned_half_store",
     "vectorized f.s0.x in [0, 63] { h[f.s0.x + n] = f16(x[f.s0.x]:f32) }",
     "Error: PTO, memory access: there is no scatter of 64 elements of 16 bits, which `h[(x + n)]` would need\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Store 32-bit elements, or make the first element of each vector lie on a 32-byte border.\n"},
    {"call_user",
     "vectorized f.s0.x in [0, 63] { o[f.s0.x] = extern my_filter(x[f.s0.x]:f32):f32 }",
     "Error: PTO, call: `(float32)my_filter((float32)x[x])` is a call that vector code cannot make\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Vector code has the mathematical functions of the language; what others compute must be written as expressions.\n"},
    {"int32_to_bfloat16",
     "allocate w[bf16, 64] in UB\nvectorized f.s0.x in [0, 63] { w[f.s0.x] = bf16(k[f.s0.x]) }",
     "Error: PTO, dtype/cast: a conversion from int32 to bfloat16 would round twice\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Convert to float32 first if that is what you want.\n"},
    {"loop_bound_varies",
     "vectorized f.s0.x in [0, 63] { for r in [0, k[f.s0.x]] { o[f.s0.x] = o[f.s0.x]:f32 + x[r]:f32 } }",
     "Error: PTO, loop structure: the bounds of the loop over r differ between lanes\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Put the loop outside of the vectorized one, or give it bounds that do not depend on the lane.\n"},
    {"parallel_inside",
     "vectorized f.s0.x in [0, 63] { parallel r in [0, 3] { o[f.s0.x + r*64] = x[f.s0.x]:f32 } }",
     "Error: PTO, loop structure: the loop over r is neither serial nor vectorized inside a kernel\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Only block loops, serial loops and vectorized loops run on a vector core.\n"},
    {"print_inside",
     "vectorized f.s0.x in [0, 63] { o[f.s0.x] = 1.0; evaluate extern puts(\"here\") }",
     "Error: PTO, statement: a kernel cannot evaluate `puts(\"here\")`\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"
     "  Calls of functions outside, prints and assertions run on the host only.\n"},
    {"assert_inside",
     "vectorized f.s0.x in [0, 63] { assert n > 0, 1\no[f.s0.x] = 1.0 }",
     "Error: PTO, statement: a kernel cannot contain `assert(0 < n, 1)\n"
     "`\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"},
    {"float_random",
     "vectorized f.s0.x in [0, 63] { o[f.s0.x] = random(f.s0.x):f32 }",
     "Error: PTO, expression: `(float32)random(x)` has no vector form\n"
     "  In the pure definition of f, vectorized over x, kernel f_k0.\n"},
};

TEST(PTOVectorErrors, AllCases) {
    for (const Case &c : cases) {
        EXPECT_EQ(error_of(kernel_text(c.text)), c.message) << c.name;
    }
}

}  // namespace
