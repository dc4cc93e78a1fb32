#pragma once

#include "lower/Pipeline.h"

#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// What becomes of the reductions over the lanes of one vectorized loop: each accumulates lane by lane in a register,
/// which is combined once behind the loop.
///
/// Example:   for x in 0..n (vectorized): s[0] = s[0] + a[x]
///               →  allocate s.acc[f32, 64] in Register;  for l (vectorized): s.acc[l] = 0;
///                  for x in 0..n (vectorized): s.acc[l] = s.acc[l] + a[x];
///                  once: s[0] = s[0] + reduce(+, s.acc[…])
struct VectorReductions {
    struct Reduction {
        std::string name;   ///< of the register
        Type type;          ///< of its elements: at least 32 bits where the lanes are added
        int lanes = 0;
        Expr neutral;
        Stmt combine;       ///< the store behind the loop
    };
    std::vector<Reduction> reductions;
    Stmt body;              ///< with stores to the registers, at element `<loop>.lane`

    /// The chunks with everything around them.
    Stmt wrap(const Stmt &chunks) const;
};

/// The reductions among the stores in the body of a vectorized loop. What is none stays as it is.
VectorReductions find_vector_reductions(const For *loop, const Stmt &body, int lanes, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
