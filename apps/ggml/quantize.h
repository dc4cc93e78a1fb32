#pragma once

// Rows of floats quantized to q8_K blocks (shared/spec/ggml-quants.md, section 4): with mx the value of largest magnitude,
// the first of equals, quant = min(127, RNE(−127/mx · x)) and d = 1/(−127/mx). A block of zeros is all zero, its sums too.

#include "blocks.h"

namespace ggml {

class QuantizeQ8K {
public:
    ImageParam values{Float(32), 2, "values"};   ///< [values of a row, rows]
    Var i{"i"}, b{"b"}, r{"r"}, k{"k"};
    Func magnitude{"magnitude"};   ///< (b, r): largest |x|
    Func place{"place"};           ///< (b, r): where it stands first
    Func inverse{"inverse"};       ///< (b, r): −127/mx
    Func quant{"quant"};           ///< Int(8) (i, b, r)
    Func sums{"sums"};             ///< Int(16) (k, b, r)
    Func block{"block"};           ///< UInt(8) (byte, b, r)
    Func blocks{"blocks"};         ///< the same, as output [292, blocks of a row, rows]

    QuantizeQ8K()
        : e(0, 256, "e"), s(0, 16, "s"), d_bytes(0, 4, "d_bytes"), q_bytes(0, 256, "q_bytes"), s_bytes(0, 32, "s_bytes") {
        const auto x = [&](const Expr &at) { return values(256 * b + at, r); };
        magnitude(b, r) = 0.0f;
        magnitude(b, r) = max(magnitude(b, r), abs(x(e)));
        place(b, r) = 255;
        place(b, r) = min(place(b, r), select(abs(x(e)) == magnitude(b, r), cast<int>(e), 255));
        const Expr largest = x(clamp(place(b, r), 0, 255));
        inverse(b, r) = select(magnitude(b, r) > 0, -127.0f / largest, 0.0f);
        quant(i, b, r) = cast<int8_t>(min(round(inverse(b, r) * x(i)), 127.0f));
        sums(k, b, r) = cast<int16_t>(0);
        sums(k, b, r) += cast<int16_t>(quant(16 * k + s, b, r));

        const Expr d = select(magnitude(b, r) > 0, 1.0f / inverse(b, r), 0.0f);
        const Expr d_bits = reinterpret(UInt(32), d);
        block(i, b, r) = cast<uint8_t>(0);
        block(d_bytes, b, r) = cast<uint8_t>(d_bits >> cast<uint32_t>(8 * d_bytes));
        block(4 + q_bytes, b, r) = reinterpret(UInt(8), quant(q_bytes, b, r));
        const Expr sum = reinterpret(UInt(16), sums(s_bytes / 2, b, r));
        block(260 + s_bytes, b, r) = cast<uint8_t>(sum >> cast<uint16_t>(8 * (s_bytes % 2)));
        blocks(i, b, r) = block(i, b, r);
    }

    /// A block at a time, in vectors of 8 floats.
    void schedule() {
        values.dim(0).set_min(0);
        values.dim(1).set_min(0);
        blocks.output_buffer().dim(0).set_bounds(0, 292).set_stride(1);
        blocks.output_buffer().dim(1).set_bounds(0, values.dim(0).extent() / 256).set_stride(292);
        blocks.output_buffer().dim(2).set_min(0);
        blocks.bound(i, 0, 292).vectorize(i, 4, Halide::TailStrategy::RoundUp);
        magnitude.compute_at(blocks, b).update().atomic().vectorize(e, 8);
        place.compute_at(blocks, b).update().atomic().vectorize(e, 8);
        inverse.compute_at(blocks, b);
        quant.compute_at(blocks, b).vectorize(i, 32, Halide::TailStrategy::RoundUp);
        sums.compute_at(blocks, b).vectorize(k, 16, Halide::TailStrategy::RoundUp);
        sums.update().reorder(s, k).vectorize(k, 8, Halide::TailStrategy::RoundUp).atomic().vectorize(s);
        block.compute_at(blocks, b).vectorize(i, 4);
        block.update(0).unroll(d_bytes);
        block.update(1).vectorize(q_bytes, 32);
        block.update(2).vectorize(s_bytes, 32);
    }

private:
    Halide::RDom e, s, d_bytes, q_bytes, s_bytes;
};

}  // namespace ggml
