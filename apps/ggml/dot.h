#pragma once

// Products of rows of 256-value blocks with rows of q8_K activations: result(r, c) = Σ weights(·, r) · activations(·, c).
//
// Per block, with s the sums of products of a run's codes and t the sums of the activations that they belong to:
//
//     d·d8·Σ scale·(s − bias·t) − dmin·d8·Σ minimum·t           (shared/spec/ggml-quants.md, section 5)
//
// The sums are integers and exact; each is one number per block before it meets a float.

#include "blocks.h"

namespace ggml {

using Halide::MemoryType;
using Halide::RDom;
using Halide::Stage;
using Halide::Target;
using Halide::VectorizeIn;

/// Where the 6-bit scales and minima of q4_K and q5_K are decoded. Other formats decode theirs in vectors.
enum class Decode {
    Scalar,       ///< one after the other
    SIMD,         ///< four bytes at a time, in vector registers
    SWAR,         ///< four bytes at a time, in general registers
    AcrossBlocks  ///< the words of four blocks side by side in a vector register
};

class KDot {
    const Target target;
    const int group;      ///< products that are added up first
    const int run;        ///< values of a run
    const int together;   ///< runs whose 32 values fill vectors together
    const int width;      ///< lanes of int32 for each of them

public:
    Blocks weights, activations;
    Var u{"u"}, p{"p"}, h{"h"}, r{"r"}, b{"b"}, j{"j"}, c{"c"};
    Func scale{"scale"}, minimum{"minimum"};
    Func part{"part"};    ///< (p, h, j, b, r, c): sums of a few adjacent products, of run h of the j-th that go together
    Func sums{"sums"};    ///< (b, r, c): Σ scale·s
    Func biases{"biases"};   ///< (b, r, c): Σ scale·t, if codes have a bias
    Func mins{"mins"};    ///< (b, r, c): Σ minimum·t, if the format has minima
    Func result{"result"};
    RDom t, q, m, n;

    KDot(const std::string &format_name, const Target &target)
        : target(target), group(adds_four_products(target) ? 4 : 2), run(ggml::format(format_name).run),
          together(32 / run), width(8 / together), weights(format_name, "weights"), activations("q8_K", "activations"),
          t(0, group, "t"), q(0, run / group / width, 0, width, 0, together, 0, 8, "q"),
          m(0, run / 16, 0, weights.format.runs(), "m"), n(0, weights.bytes.dim(1).extent(), "n") {
        if (weights.format.values != 256 || !weights.code.defined() || !weights.scale.defined()) {
            throw std::runtime_error("KDot is for formats of 256 values with codes and a scale for each run");
        }
        activations.bytes.dim(1).set_extent(weights.bytes.dim(1).extent());

        // Sums of pairs of products fit 16 bits: codes are below 64, activations above −128.
        const Halide::Type t_part = Int(group == 4 ? 32 : 16);
        const Expr l = group * p + t, which = together * j + h;
        part(p, h, j, b, r, c) = cast(t_part, 0);
        part(p, h, j, b, r, c) += cast(t_part, weights.code(l, which, b, r)) *
                                  cast(t_part, activations.quant(32 * j + run * h + l, 0, b, c));

        // As they are multiplied: what is decoded in bytes is widened once.
        scale(j, b, r) = cast<int16_t>(weights.scale(j, b, r));
        sums(b, r, c) = 0;
        sums(b, r, c) += cast<int>(scale(together * q.w + q.z, b, r)) *
                         cast<int>(part(q.x + q.y * (run / group / width), q.z, q.w, b, r, c));
        const Expr sum16 = activations.sums(run / 16 * m.y + m.x, b, c);
        Expr d8 = activations.d(n, c), total = sums(n, r, c);
        if (weights.format.bias) {
            biases(b, r, c) = 0;
            biases(b, r, c) += cast<int>(scale(m.y, b, r)) * cast<int>(sum16);
            total -= weights.format.bias * biases(n, r, c);
        }
        Expr value = (weights.d(n, r) * d8) * cast<float>(total);
        if (weights.minimum.defined()) {
            minimum(j, b, r) = cast<int16_t>(weights.minimum(j, b, r));
            mins(b, r, c) = 0;
            mins(b, r, c) += cast<int>(minimum(m.y, b, r)) * cast<int>(sum16);
            value -= (weights.dmin(n, r) * d8) * cast<float>(mins(n, r, c));
        }
        result(r, c) = 0.0f;
        result(r, c) += value;
    }

    std::vector<Halide::Argument> arguments() const {
        return {weights.bytes, activations.bytes};
    }

    /// Blocks one after the other; everything of a block in registers.
    void schedule(Decode decode) {
        if (decode == Decode::AcrossBlocks && six_bits()) {
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
        schedule_scales(block, decode);
    }

    /// The integers of each block, by the same code: for tests.
    Func integers() {
        Func f("integers");
        Expr total = sums(b, r, c);
        if (biases.defined()) {
            total -= weights.format.bias * biases(b, r, c);
        }
        f(b, r, c) = Halide::Tuple(total, mins.defined() ? Expr(mins(b, r, c)) : Expr(0));
        schedule_block(Halide::LoopLevel(f, b));
        schedule_scales(Halide::LoopLevel(f, b), Decode::SWAR);
        return f;
    }

private:
    using RVar = Halide::RVar;

    /// sdot adds four products to 32 bits, pmaddubsw two to 16.
    static bool adds_four_products(const Target &target) {
        return target.arch == Target::ARM;
    }

    /// Scales and minima that are worth decoding in words.
    bool six_bits() const {
        return weights.format.name == std::string("q4_K") || weights.format.name == std::string("q5_K");
    }

    /// Two words of four bytes, one after the other.
    Func &decode_words(Func &f, const Halide::LoopLevel &here) {
        const Var &w = weights.j;
        Var word("word");
        return f.compute_at(here).bound(w, 0, weights.format.runs()).split(w, word, w, 4).unroll(word);
    }

    void schedule_scales(const Halide::LoopLevel &here, Decode decode) {
        if (!six_bits()) {
            return;
        }
        for (Func *f : {&weights.scale, &weights.minimum}) {
            if (decode == Decode::Scalar) {
                f->compute_at(here).bound(weights.j, 0, weights.format.runs()).unroll(weights.j);
            } else if (decode == Decode::SIMD) {
                decode_words(*f, here).vectorize(weights.j);
            } else {
                decode_words(*f, here).store_in(MemoryType::GPR).vectorize(weights.j, VectorizeIn::SWAR);
            }
        }
    }

    /// All but the decoding.
    void schedule_block(const Halide::LoopLevel &here) {
        // Lanes are added up at the end of a block, not of each run.
        Func lanes = sums.update().rfactor({{q.y, u}, {q.z, h}});
        lanes.compute_at(here).reorder(u, h).vectorize(u).vectorize(h);
        lanes.update().reorder(q.x, u, h, q.w).unroll(q.w).vectorize(u).vectorize(h);
        if (run / group / width > 1) {
            lanes.update().atomic().vectorize(q.x);
        }
        sums.compute_at(here).update().atomic().vectorize(q.y).vectorize(q.z);
        part.compute_at(lanes, q.w).bound(p, 0, run / group).bound(h, 0, together).vectorize(p).vectorize(h);
        part.update().reorder(t, p, h).vectorize(p).vectorize(h).atomic().vectorize(t);
        for (Func *f : {&mins, &biases}) {
            if (f->defined()) {
                f->compute_at(here).update().atomic().vectorize(m.y).vectorize(m.x);
            }
        }
        for (Func *f : {&scale, &minimum}) {
            if (f->defined()) {
                f->compute_at(here).bound(j, 0, weights.format.runs()).vectorize(j);
            }
        }
    }
};

}  // namespace ggml
