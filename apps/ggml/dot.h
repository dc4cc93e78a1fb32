#pragma once

// Products of rows of 256-value blocks with rows of q8_K activations: result(r, c) = Σ weights(·, r) · activations(·, c).
//
// Per block, with s the sums of products of a run and t the sums of 16 activations:
//
//     d·d8·Σ scale·s − dmin·d8·Σ minimum·t           (shared/spec/ggml-quants.md, section 5)
//
// Both sums are integers and exact; each is one number per block before it meets a float.

#include "blocks.h"

namespace ggml {

using Halide::MemoryType;
using Halide::RDom;
using Halide::Stage;
using Halide::Target;
using Halide::VectorizeIn;

/// Where the 6-bit scales and minima of q4_K and q5_K are decoded.
enum class Decode {
    Scalar,       ///< one after the other
    SIMD,         ///< four bytes at a time, in vector registers
    SWAR,         ///< four bytes at a time, in general registers
    AcrossBlocks  ///< the words of four blocks side by side in a vector register
};

class KDot {
    static constexpr int width = 8;   ///< lanes of partial sums
    const Target target;
    const int group;                  ///< products that are added up first

public:
    Blocks weights, activations;
    Var u{"u"}, p{"p"}, r{"r"}, b{"b"}, j{"j"}, c{"c"}, k{"k"};
    Func scale{"scale"}, minimum{"minimum"};
    Func part{"part"};    ///< (p, j, b, r, c): sums of a few adjacent products
    Func sums{"sums"};    ///< (b, r, c): Σ scale·s
    Func mins{"mins"};    ///< (b, r, c): Σ minimum·t
    Func result{"result"};
    RDom t, q, m, n;

    KDot(const std::string &format_name, const Target &target)
        : target(target), group(adds_four_products(target) ? 4 : 2), weights(format_name, "weights"),
          activations("q8_K", "activations"), t(0, group, "t"),
          q(0, weights.format.run / group / width, 0, width, 0, weights.format.runs(), "q"),
          m(0, 2, 0, weights.format.runs(), "m"), n(0, weights.bytes.dim(1).extent(), "n") {
        if (weights.format.run != 32 || !weights.minimum.defined()) {
            throw std::runtime_error("KDot is for formats with eight runs of 32 values");
        }
        activations.bytes.dim(1).set_extent(weights.bytes.dim(1).extent());
        const int run = weights.format.run;

        // Sums of pairs of products fit 16 bits: codes are below 64, activations above −128.
        const Halide::Type t_part = Int(group == 4 ? 32 : 16);
        const Expr l = group * p + t;
        part(p, j, b, r, c) = cast(t_part, 0);
        part(p, j, b, r, c) += cast(t_part, weights.code(l, j, b, r)) * cast(t_part, activations.quant(run * j + l, 0, b, c));

        // As they are multiplied: what is decoded in bytes is widened once.
        scale(j, b, r) = cast<int16_t>(weights.scale(j, b, r));
        minimum(j, b, r) = cast<int16_t>(weights.minimum(j, b, r));

        const Expr which = q.x + q.y * (run / group / width);
        sums(b, r, c) = 0;
        sums(b, r, c) += cast<int>(scale(q.z, b, r)) * cast<int>(part(which, q.z, b, r, c));
        mins(b, r, c) = 0;
        mins(b, r, c) += cast<int>(minimum(m.y, b, r)) * cast<int>(activations.sums(2 * m.y + m.x, b, c));

        const Expr d8 = activations.d(n, c);
        result(r, c) = 0.0f;
        result(r, c) += (weights.d(n, r) * d8) * cast<float>(sums(n, r, c)) -
                        (weights.dmin(n, r) * d8) * cast<float>(mins(n, r, c));
    }

    std::vector<Halide::Argument> arguments() const {
        return {weights.bytes, activations.bytes};
    }

    /// Blocks one after the other; everything of a block in registers.
    void schedule(Decode decode) {
        if (decode == Decode::AcrossBlocks) {
            RVar group_of_4("group_of_4"), block("block");
            result.update().split(n, group_of_4, block, 4);
            schedule_block(Halide::LoopLevel(result, block));
            for (Func *f : {&weights.scale, &weights.minimum}) {
                decode_words(*f, Halide::LoopLevel(result, group_of_4))
                    .vectorize(weights.j, VectorizeIn::SWAR)
                    .vectorize(weights.b, 4, Halide::TailStrategy::GuardWithIf);
            }
            return;
        }
        const Halide::LoopLevel block(result, RVar(n.x));
        schedule_block(block);
        for (Func *f : {&weights.scale, &weights.minimum}) {
            if (decode == Decode::Scalar) {
                f->compute_at(block).bound(weights.j, 0, weights.format.runs()).unroll(weights.j);
            } else if (decode == Decode::SIMD) {
                decode_words(*f, block).vectorize(weights.j);
            } else {
                decode_words(*f, block).store_in(MemoryType::GPR).vectorize(weights.j, VectorizeIn::SWAR);
            }
        }
    }

    /// The integers of each block, by the same code: for tests.
    Func integers() {
        Func f("integers");
        f(b, r, c) = Halide::Tuple(sums(b, r, c), mins(b, r, c));
        schedule_block(Halide::LoopLevel(f, b));
        for (Func *d : {&weights.scale, &weights.minimum}) {
            decode_words(*d, Halide::LoopLevel(f, b)).store_in(MemoryType::GPR).vectorize(weights.j, VectorizeIn::SWAR);
        }
        return f;
    }

private:
    using RVar = Halide::RVar;

    /// sdot adds four products to 32 bits, pmaddubsw two to 16.
    static bool adds_four_products(const Target &target) {
        return target.arch == Target::ARM;
    }

    /// Two words of four bytes, one after the other.
    Func &decode_words(Func &f, const Halide::LoopLevel &here) {
        const Var &j = weights.j;
        Var word("word");
        return f.compute_at(here).bound(j, 0, weights.format.runs()).split(j, word, j, 4).unroll(word);
    }

    /// All but the decoding.
    void schedule_block(const Halide::LoopLevel &here) {
        // Lanes are added up at the end of a block, not of each run.
        Func lanes = sums.update().rfactor(q.y, u);
        lanes.compute_at(here).vectorize(u);
        lanes.update().reorder(q.x, u, q.z).unroll(q.z).vectorize(u);
        if (weights.format.run / group / width > 1) {
            lanes.update().atomic().vectorize(q.x);
        }
        sums.compute_at(here).update().atomic().vectorize(q.y);
        part.compute_at(lanes, q.z).bound(p, 0, weights.format.run / group).vectorize(p);
        part.update().reorder(t, p).vectorize(p).atomic().vectorize(t);
        mins.compute_at(here).update().atomic().vectorize(m.y).vectorize(m.x);
        for (Func *f : {&scale, &minimum}) {
            f->compute_at(here).bound(j, 0, weights.format.runs()).vectorize(j);
        }
    }
};

}  // namespace ggml
