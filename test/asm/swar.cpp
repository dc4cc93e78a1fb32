// SWAR loops and GPR storage as machine code, for x86-64 and AArch64, compiled on any host: which registers are named,
// and how many instructions there are (test/asm/swar_counts.txt, docs/swar.md).

#include "Halide.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace Halide;
using namespace Halide::ConciseCasts;

namespace {

const std::string x86 = "x86-64-linux-sse41", arm = "arm-64-linux";
const std::string x86_with_pext = "x86-64-linux-avx2-avx512_skylake";

/// The instructions of function f, one per line, operands included; labels end in a colon.
std::vector<std::string> instructions_of(Func f, const std::vector<Argument> &args, const std::string &target) {
    const Internal::TemporaryFile file("swar", ".s");
    f.compile_to_assembly(file.pathname(), args, "f", Target(target + "-no_asserts-no_bounds_query-no_runtime"));
    const std::vector<char> text = Internal::read_entire_file(file.pathname());
    std::istringstream lines(std::string(text.begin(), text.end()));
    std::vector<std::string> result;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        inside = inside || line.rfind("f:", 0) == 0;
        if (inside && line.rfind(".Lfunc_end", 0) == 0) {
            break;
        }
        const bool label = line.rfind(".LBB", 0) == 0;
        const bool instruction =
            line.size() > 1 && line[0] == '\t' && line[1] != '.' && line[1] != '#' && line[1] != '/';
        if (inside && (label || instruction)) {
            result.push_back(label ? line.substr(0, line.find(':') + 1) : line.substr(1));
        }
    }
    return result;
}

/// The instructions of the loop: from the label that the last jump back goes to, up to that jump.
std::vector<std::string> loop_of(const std::vector<std::string> &function) {
    std::map<std::string, size_t> labels;
    size_t begin = 0, end = 0;
    for (size_t i = 0; i < function.size(); i++) {
        if (function[i].back() == ':') {
            labels[function[i].substr(0, function[i].size() - 1)] = i;
        }
        const size_t at = function[i].find(".LBB");
        const auto target = at == std::string::npos || at == 0 ? labels.end() : labels.find(function[i].substr(at));
        if (target != labels.end()) {
            begin = target->second + 1, end = i + 1;
        }
    }
    return {function.begin() + begin, function.begin() + end};
}

int matching(const std::vector<std::string> &instructions, const std::string &pattern) {
    const std::regex r(pattern);
    int n = 0;
    for (const std::string &i : instructions) {
        n += std::regex_search(i, r) ? 1 : 0;
    }
    return n;
}

std::string joined(const std::vector<std::string> &instructions) {
    std::string s;
    for (const std::string &i : instructions) {
        s += i + "\n";
    }
    return s;
}

/// Any vector register.
std::string simd_register(const std::string &target) {
    return target == x86 ? "%[xyz]mm" : "\\b[vqdsh][0-9]+\\b";
}
/// An instruction that takes an integer out of a vector register.
std::string vector_to_scalar(const std::string &target) {
    return target == x86 ? "^(movd|movq|pextr[bwdq])\\s+.*%xmm[0-9]+, %[re]" : "^([us]mov\\s|fmov\\s+[wx])";
}

/// One line "name target: n instructions, of those …" per program, in swar_counts.txt.
class Counts {
public:
    void add(const std::string &name, const std::string &target, const std::vector<std::string> &loop) {
        std::map<std::string, int> by_mnemonic;
        for (const std::string &i : loop) {
            by_mnemonic[i.substr(0, i.find_first_of(" \t"))]++;
        }
        text << name << ", " << target << ": " << loop.size() << " instructions in the loop:";
        for (const auto &[mnemonic, n] : by_mnemonic) {
            text << " " << mnemonic << " " << n;
        }
        text << "\n";
    }
    std::string str() const { return text.str(); }

private:
    std::ostringstream text;
};

std::string read_file(const std::string &path) {
    std::ifstream in(path);
    std::ostringstream s;
    s << in.rdbuf();
    return s.str();
}

/// Compares with a file in the tree; writes it if BROMIDE_UPDATE_COUNTS is set.
void expect_file(const std::string &path, const std::string &text) {
    if (std::getenv("BROMIDE_UPDATE_COUNTS")) {
        std::ofstream(path) << text;
    }
    EXPECT_EQ(read_file(path), text) << path;
}

// ---- ggml's 6-bit scales and mins (q4_K and q5_K: twelve bytes per block of 256 weights)
// ------------------------------
//
// Bytes 0 … 3 hold the scales 0 … 3 in six bits and the top bits of the scales 4 … 7; bytes 4 … 7 the same for mins;
// bytes 8 … 11 the lower four bits of scales and mins 4 … 7.

struct Scales {
    ImageParam q{UInt(8), 2, "q"};  // [12, blocks]
    Var i{"i"}, part{"part"}, block{"block"};
    Func f{"f"};

    Scales() { q.dim(0).set_min(0).dim(1).set_min(0).set_stride(144); }

    /// [4, 4, blocks]: scales 0 … 3, scales 4 … 7, mins 0 … 3, mins 4 … 7.
    Func &in_words_of_4() {
        const Expr scale = q(i, block), min = q(i + 4, block), low = q(i + 8, block);
        f(i, part, block) =
            mux(part, {scale & 63, (low & 15) | ((scale >> 6) << 4), min & 63, (low >> 4) | ((min >> 6) << 4)});
        f.bound(i, 0, 4).bound(part, 0, 4).unroll(part).vectorize(i, VectorizeIn::SWAR);
        dense_output(4, 4);
        return f;
    }

    /// [8, 2, blocks]: scales 0 … 3 and mins 0 … 3; scales 4 … 7 and mins 4 … 7.
    Func &in_words_of_8() {
        const Expr both = q(i, block), low = q(i % 4 + 8, block);
        f(i, part, block) = mux(part, {both & 63, select(i < 4, low & 15, low >> 4) | ((both >> 6) << 4)});
        f.bound(i, 0, 8).bound(part, 0, 2).unroll(part).vectorize(i, VectorizeIn::SWAR);
        dense_output(8, 2);
        return f;
    }

    void dense_output(int lanes, int parts) {
        f.output_buffer().dim(0).set_bounds(0, lanes);
        f.output_buffer().dim(1).set_bounds(0, parts).set_stride(lanes);
        f.output_buffer().dim(2).set_min(0).set_stride(lanes * parts);
    }
};

TEST(SWARCode, scales) {
    Counts counts;
    for (const std::string &target : {x86, arm}) {
        {
            Scales s;
            const auto loop = loop_of(instructions_of(s.in_words_of_4(), {s.q}, target));
            EXPECT_EQ(matching(loop, simd_register(target)), 0) << joined(loop);
            counts.add("four lanes", target, loop);
        }
        {
            Scales s;
            const auto loop = loop_of(instructions_of(s.in_words_of_8(), {s.q}, target));
            EXPECT_EQ(matching(loop, simd_register(target)), 0) << joined(loop);
            counts.add("eight lanes", target, loop);
        }
        {
            // Across four blocks: the same arithmetic on vectors of four words, from rows of four bytes.
            Scales s;
            s.in_words_of_4().vectorize(s.block, 4, TailStrategy::RoundUp);
            const auto loop = loop_of(instructions_of(s.f, {s.q}, target));
            if (target == x86) {
                EXPECT_EQ(matching(loop, "^movd\\s+.*\\(.*%xmm"), 3) << joined(loop);
                EXPECT_EQ(matching(loop, "^pinsrd\\s+.*\\("), 9) << joined(loop);
                EXPECT_EQ(matching(loop, "^pand\\s"), 6) << joined(loop);
                EXPECT_EQ(matching(loop, "^psrld\\s"), 3) << joined(loop);
                EXPECT_EQ(matching(loop, "^por\\s"), 2) << joined(loop);
                EXPECT_EQ(matching(loop, "^(pinsrb|pextrb|pshufb|punpck|pack)"), 0) << joined(loop);
            } else {
                EXPECT_EQ(matching(loop, "^(ldr\\s+s|ld1\\s+\\{ v[0-9]+\\.s \\})"), 12) << joined(loop);
                EXPECT_EQ(matching(loop, "^and\\s+v"), 6) << joined(loop);
                EXPECT_EQ(matching(loop, "^ushr\\s+v.*4s"), 3) << joined(loop);
                EXPECT_EQ(matching(loop, "\\.(8b|8h|4h)\\b"), 0) << joined(loop);
            }
            counts.add("four lanes, four blocks", target, loop);
        }
    }
    expect_file(std::string(BROMIDE_SOURCE_DIR) + "/test/asm/swar_counts.txt", counts.str());
}

// LLVM's vectorizers would make vectors of words that lie next to each other.
TEST(SWARCode, words_stay_words) {
    for (const std::string &features : {std::string(), std::string("-enable_llvm_loop_opt")}) {
        for (const std::string &target : {x86, arm}) {
            for (int words : {4, 8}) {
                for (int lanes : {4, 8}) {
                    for (bool unrolled : {true, false}) {
                        ImageParam a(UInt(8), 2, "a");
                        Func f("f");
                        Var x("x"), xo("xo"), xi("xi"), y("y");
                        f(x, y) = ((a(x, y) >> 2) & 63) + (a(x, y) & 63);
                        f.bound(x, 0, words * lanes).split(x, xo, xi, lanes).vectorize(xi, VectorizeIn::SWAR);
                        if (unrolled) {
                            f.unroll(xo);
                        }
                        const auto code = instructions_of(f, {a}, target + features);
                        EXPECT_EQ(matching(code, simd_register(target)), 0)
                            << words << " words of " << lanes << " lanes, " << target << features << "\n"
                            << joined(code);
                    }
                }
            }
        }
    }
}

// A block of indices in general-purpose registers: each index is shifted out of its word.
TEST(SWARCode, index_block) {
    for (const std::string &target : {x86, arm}) {
        for (VectorizeIn where : {VectorizeIn::SIMD, VectorizeIn::SWAR}) {
            for (int size : {8, 16}) {
                ImageParam q(UInt(8), 2, "q"), table(UInt(32), 1, "table");
                Var k("k"), ko("ko"), ki("ki"), b("b");
                Func idx("idx"), g("f");
                idx(k, b) = q(k, b);
                g(k, b) = table(idx(k, b));
                g.bound(k, 0, size).unroll(k);
                idx.compute_at(g, b).store_in(MemoryType::GPR).split(k, ko, ki, 8).unroll(ko).vectorize(ki, where);
                const auto code = instructions_of(g, {q, table}, target);
                const auto loop = loop_of(code);
                EXPECT_EQ(matching(code, vector_to_scalar(target)), 0) << joined(code);
                EXPECT_EQ(matching(loop, simd_register(target)), 0) << joined(loop);
                // One load for eight bytes of indices; x86 has an instruction for bits 8 … 15.
                const std::string shifts = target == x86 ? "^(shr[lq]|movzbl\\s+%[a-d]h)" : "^(ubfx|lsr)";
                EXPECT_GE(matching(loop, shifts), size / 8 * 6) << joined(loop);
                EXPECT_EQ(matching(loop, target == x86 ? "^movzbl?\\s+.*\\(" : "^ldrb"), 0) << joined(loop);
            }
        }
    }
}

// A producer in words feeds vectors and scalars without a trip through memory.
TEST(SWARCode, hand_off) {
    for (const std::string &target : {x86, arm}) {
        ImageParam a(UInt(8), 2, "a");
        Func f("w"), g("f");
        Var x("x"), y("y");
        f(x, y) = (a(x, y) & 15) + (a(x, y) >> 4);
        g(x, y) = u16(f(x, y)) * 77;
        g.bound(x, 0, 8).vectorize(x, 8);
        f.compute_at(g, y).store_in(MemoryType::Register).vectorize(x, 8, VectorizeIn::SWAR);
        const auto loop = loop_of(instructions_of(g, {a}, target));
        EXPECT_EQ(matching(loop, target == x86 ? "\\(%r[sb]p" : "\\[(sp|x29)"), 0) << joined(loop);
        EXPECT_EQ(matching(loop, target == x86 ? "^movq\\s+%r.*, %xmm" : "^fmov\\s+d[0-9]+, x"), 1) << joined(loop);
    }
}

// Lanes change their width in one instruction where that is fast, unless words are lanes of vectors.
TEST(SWARCode, bits_move_at_once) {
    const std::vector<std::pair<std::string, bool>> targets = {{x86, false},
                                                               {"x86-64-linux-sse41-avx-avx2-f16c-fma", false},
                                                               {"x86-64-linux-avx2-tune_znver2", false},
                                                               {"x86-64-linux-sse41-tune_znver3", false},
                                                               {"x86-64-linux-avx2-tune_znver3", true},
                                                               {"x86-64-linux-avx2-avx512_zen4-tune_znver4", true},
                                                               {x86_with_pext, true},
                                                               {arm, false}};
    for (const auto &[target, fast] : targets) {
        for (bool inside_simd : {false, true}) {
            ImageParam a(UInt(8), 2, "a"), w(UInt(16), 2, "w");
            Var x("x"), y("y");
            Func wider("f"), narrower("f");
            wider(x, y) = u16(a(x, y)) + 3;
            narrower(x, y) = u8(w(x, y) >> 4);
            for (Func *f : {&wider, &narrower}) {
                f->bound(x, 0, 4).vectorize(x, VectorizeIn::SWAR);
                if (inside_simd) {
                    f->vectorize(y, 4);
                }
            }
            const auto to_wide = instructions_of(wider, {a}, target),
                       to_narrow = instructions_of(narrower, {w}, target);
            const auto expect_used = [&](const std::vector<std::string> &code, const char *instruction) {
                EXPECT_EQ(matching(code, instruction) > 0, fast && !inside_simd)
                    << instruction << ", " << target << "\n"
                    << joined(code);
            };
            expect_used(to_wide, "^pdep");
            expect_used(to_narrow, "^pext[lq]");
        }
    }
}

// ---- Instructions per operation (docs/swar.md)
// ------------------------------------------------------------------------

struct Row {
    const char *name;
    int operands;  ///< words that are loaded
    std::function<Expr(Type, Expr, Expr)> make;
};

const std::vector<Row> &rows() {
    const auto c = [](Type t, int v) { return cast(t, v); };
    static const std::vector<Row> all = {
        {"a & b", 2, [](Type, Expr a, Expr b) { return a & b; }},
        {"~a", 1, [](Type, Expr a, Expr) { return ~a; }},
        {"a << 3", 1, [](Type, Expr a, Expr) { return a << 3; }},
        {"a >> 3, unsigned", 1, [](Type, Expr a, Expr) { return a >> 3; }},
        {"a >> 3, signed", 1, [](Type t, Expr a, Expr) { return reinterpret(Int(8), a) >> 3; }},
        {"a << b", 2, [](Type t, Expr a, Expr b) { return a << (b & 7); }},
        {"a >> b, unsigned", 2, [](Type t, Expr a, Expr b) { return a >> (b & 7); }},
        {"a + b", 2, [](Type, Expr a, Expr b) { return a + b; }},
        {"a + b without carry", 2, [](Type, Expr a, Expr b) { return (a & 63) + (b & 63); }},
        {"a + 77", 1, [c](Type t, Expr a, Expr) { return a + c(t, 77); }},
        {"a - b", 2, [](Type, Expr a, Expr b) { return a - b; }},
        {"0 - a", 1, [c](Type t, Expr a, Expr) { return c(t, 0) - a; }},
        {"a * 3", 1, [](Type, Expr a, Expr) { return a * 3; }},
        {"a / 8, signed", 1, [](Type, Expr a, Expr) { return reinterpret(Int(8), a) / 8; }},
        {"a % 8", 1, [](Type, Expr a, Expr) { return a % 8; }},
        {"a / 3, unsigned", 1, [](Type, Expr a, Expr) { return a / 3; }},
        {"a / 7, signed", 1, [](Type, Expr a, Expr) { return reinterpret(Int(8), a) / 7; }},
        {"a == b, as 0 or 1", 2, [](Type t, Expr a, Expr b) { return cast(t, a == b); }},
        {"a < b, unsigned", 2, [](Type t, Expr a, Expr b) { return cast(t, a < b); }},
        {"a < b, signed", 2,
         [](Type t, Expr a, Expr b) { return cast(t, reinterpret(Int(8), a) < reinterpret(Int(8), b)); }},
        {"select(a < b, a, 7)", 2, [c](Type t, Expr a, Expr b) { return select(a < b, a, c(t, 7)); }},
        {"min, unsigned", 2, [](Type, Expr a, Expr b) { return min(a, b); }},
        {"max, signed", 2, [](Type, Expr a, Expr b) { return max(reinterpret(Int(8), a), reinterpret(Int(8), b)); }},
        {"clamp(a, 5, 99), unsigned", 1, [c](Type t, Expr a, Expr) { return clamp(a, c(t, 5), c(t, 99)); }},
        {"abs", 1, [](Type, Expr a, Expr) { return abs(reinterpret(Int(8), a)); }},
        {"absd, unsigned", 2, [](Type, Expr a, Expr b) { return absd(a, b); }},
        {"saturating_add, unsigned", 2, [](Type, Expr a, Expr b) { return saturating_add(a, b); }},
        {"saturating_add, signed", 2,
         [](Type, Expr a, Expr b) { return saturating_add(reinterpret(Int(8), a), reinterpret(Int(8), b)); }},
        {"saturating_sub, unsigned", 2, [](Type, Expr a, Expr b) { return saturating_sub(a, b); }},
        {"saturating_sub, signed", 2,
         [](Type, Expr a, Expr b) { return saturating_sub(reinterpret(Int(8), a), reinterpret(Int(8), b)); }},
        {"halving_add, unsigned", 2, [](Type, Expr a, Expr b) { return halving_add(a, b); }},
        {"halving_add, signed", 2,
         [](Type, Expr a, Expr b) { return halving_add(reinterpret(Int(8), a), reinterpret(Int(8), b)); }},
        {"rounding_halving_add, unsigned", 2, [](Type, Expr a, Expr b) { return rounding_halving_add(a, b); }},
        {"halving_sub, unsigned", 2, [](Type, Expr a, Expr b) { return halving_sub(a, b); }},
        {"popcount", 1, [](Type, Expr a, Expr) { return popcount(a); }},
        {"count_leading_zeros", 1, [](Type, Expr a, Expr) { return count_leading_zeros(a); }},
        {"count_trailing_zeros", 1, [](Type, Expr a, Expr) { return count_trailing_zeros(a); }},
    };
    return all;
}

/// Instructions of a function that computes one word.
int instructions_for(const Row &row, int lanes, const std::string &target) {
    ImageParam a(UInt(8), 1, "a"), b(UInt(8), 1, "b");
    a.dim(0).set_min(0);
    b.dim(0).set_min(0);
    Func f("f");
    Var x("x");
    f(x) = row.make(UInt(8), a(x), b(x));
    f.bound(x, 0, lanes).vectorize(x, VectorizeIn::SWAR);
    f.output_buffer().dim(0).set_bounds(0, lanes);
    const auto code = instructions_of(f, {a, b}, target);
    return (int)code.size() - matching(code, ":$");
}

/// Compares the table after a marker in docs/swar.md; writes it if BROMIDE_UPDATE_COUNTS is set.
void expect_table(const std::string &marker, const std::string &table) {
    const std::string path = std::string(BROMIDE_SOURCE_DIR) + "/docs/swar.md";
    const std::string begin = "<!-- " + marker + " -->\n", end = "<!-- end of " + marker + " -->\n";
    std::string text = read_file(path);
    const size_t from = text.find(begin), to = text.find(end);
    ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << "no table of " << marker << " in " << path;
    if (std::getenv("BROMIDE_UPDATE_COUNTS")) {
        text.replace(from + begin.size(), to - from - begin.size(), table);
        std::ofstream(path) << text;
        return;
    }
    EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()), table);
}

// What an operation adds to a function that only loads its operands and stores.
TEST(SWARCode, instructions_per_operation) {
    std::ostringstream table;
    table << "| operation | x86-64, 4 lanes | x86-64, 8 lanes | AArch64, 4 lanes | AArch64, 8 lanes "
             "|\n|---|---|---|---|---|\n";
    const Row complement = {"", 1, [](Type, Expr a, Expr) { return ~a; }};
    const Row copy_both = {"", 2, [](Type, Expr a, Expr b) { return a ^ b; }};
    struct Machine {
        std::string target;
        int lanes, one, two;
    };
    std::vector<Machine> machines = {{x86, 4, 0, 0}, {x86, 8, 0, 0}, {arm, 4, 0, 0}, {arm, 8, 0, 0}};
    for (Machine &m : machines) {
        // ~a and a ^ b are one instruction, whether it loads by itself or not.
        m.one = instructions_for(complement, m.lanes, m.target) - 1;
        m.two = instructions_for(copy_both, m.lanes, m.target) - 1;
    }
    for (const Row &row : rows()) {
        table << "| " << row.name << " |";
        for (const Machine &m : machines) {
            table << " " << instructions_for(row, m.lanes, m.target) - (row.operands == 1 ? m.one : m.two) << " |";
        }
        table << "\n";
    }
    expect_table("counts", table.str());
}

// Four lanes of 8 and 16 bits.
TEST(SWARCode, instructions_per_change_of_width) {
    struct Change {
        const char *name;
        Type from;
        std::function<Expr(Expr)> make;
    };
    const std::vector<Change> changes = {
        {"8 to 16 bits, unsigned", UInt(8), [](Expr a) { return u16(a); }},
        {"8 to 16 bits, signed", Int(8), [](Expr a) { return i16(a); }},
        {"16 to 8 bits", UInt(16), [](Expr a) { return u8(a); }},
        {"16 to 8 bits, saturating", UInt(16), [](Expr a) { return u8_sat(a); }},
    };
    std::ostringstream table;
    table << "| from, to | x86-64 | x86-64 with pext and pdep | AArch64 |\n|---|---|---|---|\n";
    for (const Change &c : changes) {
        table << "| " << c.name << " |";
        for (const std::string &target : {x86, x86_with_pext, arm}) {
            const auto instructions = [&](const Type &t, const std::function<Expr(Expr)> &make) {
                ImageParam a(t, 1, "a");
                a.dim(0).set_min(0);
                Func f("f");
                Var x("x");
                f(x) = make(a(x));
                f.bound(x, 0, 4).vectorize(x, VectorizeIn::SWAR);
                f.output_buffer().dim(0).set_bounds(0, 4);
                const auto code = instructions_of(f, {a}, target);
                return (int)code.size() - matching(code, ":$");
            };
            table << " " << instructions(c.from, c.make) - instructions(UInt(8), [](Expr a) { return a; }) << " |";
        }
        table << "\n";
    }
    expect_table("counts of width changes", table.str());
}

}  // namespace
