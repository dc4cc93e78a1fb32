// Compiles the ggml kernels ahead of time: ggml_compile OUTPUT_PREFIX [TARGET] writes OUTPUT_PREFIX.a and .h with, for each
// format F of q2_K to q6_K,
//
//     dequantize_F(blocks, values)                 values [values of a row, rows], float
//     dot_F_q8_K(weights, activations, result)     result [rows of weights, rows of activations], float
//     integers_F_q8_K(weights, activations, s1, s2)    the exact sums of each block, for tests
//
//     quantize_q8_K(values, blocks)
//
// where all blocks are UInt(8) [bytes of a block, blocks of a row, rows]; and, for q4_K and q5_K, dot_F_q8_K_<decode>, the
// same with the 6-bit scales decoded in other places, for the bench, which also times
//
//     scales_q4_K_<decode>(blocks, scales)    scales [8 scales or 8 minima, 2, blocks of a row, rows]

#include <cstdio>

#include "dot.h"
#include "quantize.h"

using namespace Halide;

namespace {

/// Row r of blocks as floats; a run is a few vectors.
Module dequantize(const std::string &format, const Target &target) {
    ggml::Blocks blocks(format, "blocks");
    Var i("i"), r("r"), l("l"), j("j"), b("b"), run("run");
    Func values("values");
    // Value i of the row is value i mod B of block i / B.
    const int per_block = blocks.format.values;
    values(i, r) = blocks.at(blocks.value, i % per_block, i / per_block, r);
    values.output_buffer().dim(0).set_bounds(0, blocks.bytes.dim(1).extent() * per_block);
    values.split(i, b, i, per_block, TailStrategy::RoundUp).split(i, j, l, blocks.format.run).vectorize(l).unroll(j);
    return values.compile_to_module({blocks.bytes}, "dequantize_" + format, target);
}

Module dot(const std::string &format, const Target &target, ggml::Decode decode, const std::string &suffix) {
    ggml::KDot d(format, target);
    d.schedule(decode);
    return d.result.compile_to_module(d.arguments(), "dot_" + format + "_q8_K" + suffix, target);
}

Module integers(const std::string &format, const Target &target) {
    ggml::KDot d(format, target);
    return d.integers().compile_to_module(d.arguments(), "integers_" + format + "_q8_K", target);
}

/// The scales and minima of blocks, and nothing else.
Module scales(const std::string &format, const Target &target, ggml::Decode decode, const std::string &suffix) {
    ggml::Blocks blocks(format, "blocks");
    Var j("j"), word("word"), part("part"), b("b"), r("r");
    Func decoded("decoded");
    decoded(j, part, b, r) = select(part == 0, blocks.scale(j, b, r), blocks.minimum(j, b, r));
    const int runs = blocks.format.runs();
    decoded.output_buffer().dim(0).set_bounds(0, runs);
    decoded.output_buffer().dim(1).set_bounds(0, 2).set_stride(runs);
    decoded.output_buffer().dim(2).set_min(0).set_stride(2 * runs);
    decoded.bound(j, 0, runs).bound(part, 0, 2).unroll(part);
    if (decode == ggml::Decode::Scalar) {
        decoded.unroll(j);
    } else {
        decoded.split(j, word, j, 4).unroll(word);
        decoded.vectorize(j, decode == ggml::Decode::SIMD ? VectorizeIn::SIMD : VectorizeIn::SWAR);
    }
    if (decode == ggml::Decode::AcrossBlocks) {
        decoded.vectorize(b, 4, TailStrategy::GuardWithIf);
    }
    return decoded.compile_to_module({blocks.bytes}, "scales_" + format + suffix, target);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s OUTPUT_PREFIX [TARGET]\n", argv[0]);
        return 1;
    }
    try {
        const std::string prefix = argv[1];
        const Target target = argc > 2 ? Target(argv[2]) : get_host_target();
        std::vector<Module> modules;
        for (const std::string format : {"q2_K", "q3_K", "q4_K", "q5_K", "q6_K"}) {
            modules.push_back(dequantize(format, target));
            modules.push_back(integers(format, target));
            modules.push_back(dot(format, target, ggml::Decode::SWAR, ""));
        }
        modules.push_back(scales("q4_K", target, ggml::Decode::SWAR, "_swar"));
        const std::pair<const char *, ggml::Decode> others[] = {{"_simd", ggml::Decode::SIMD},
                                                                {"_scalar", ggml::Decode::Scalar},
                                                                {"_across", ggml::Decode::AcrossBlocks}};
        for (const auto &[suffix, decode] : others) {
            modules.push_back(dot("q4_K", target, decode, suffix));
            modules.push_back(dot("q5_K", target, decode, suffix));
            modules.push_back(scales("q4_K", target, decode, suffix));
        }
        ggml::QuantizeQ8K quantize;
        quantize.schedule();
        modules.push_back(quantize.blocks.compile_to_module({quantize.values}, "quantize_q8_K", target));
        link_modules("ggml", modules)
            .compile({{OutputFileType::static_library, prefix + ".a"},
                      {OutputFileType::c_header, prefix + ".h"},
                      {OutputFileType::assembly, prefix + ".s"}});
    } catch (const Error &e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    } catch (const std::exception &e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
