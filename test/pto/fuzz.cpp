// Random pipelines under random schedules for PTO devices. What the compiler takes gives the bits of the unscheduled program, from
// the interpreter and from the emulator; what it does not take is refused with a CompileError.
//
// BROMIDE_FUZZ_PAIRS sets the number of pairs (500), BROMIDE_FUZZ_SEED the first; BROMIDE_FUZZ_REFUSALS prints why schedules are refused.

#include "Suite.h"

#include "fuzz/ProgramGenerator.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace {

using namespace fuzz;
using Halide::TailStrategy;

int setting(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

class PTOScheduler {
    const Program &program;
    Random random;
    Schedule schedule;
    std::vector<std::vector<std::string>> loops;   // of each Func, innermost first
    std::vector<size_t> blocks;                    // the first loop of each that is on the grid
    int fresh = 0;

    void add(const std::string &kind, int func, int stage, std::vector<std::string> vars, std::vector<int> numbers = {},
             TailStrategy tail = TailStrategy::Auto, int other = 0) {
        Directive d;
        d.kind = kind;
        d.func = func;
        d.stage = stage;
        d.vars = std::move(vars);
        d.numbers = std::move(numbers);
        d.tail = tail;
        d.other = other;
        schedule.directives.push_back(d);
    }

    static bool calls(const Node &n, int func) {
        return ((n.op == Node::Call || n.op == Node::CallUpdated) && n.value == func) ||
               std::any_of(n.children.begin(), n.children.end(), [&](const NodePtr &c) { return calls(*c, func); });
    }

    /// The only Func that calls `func`, in its pure definition only; −1 otherwise.
    int only_consumer(int func) const {
        int result = -1;
        for (int i = func + 1; i < (int)program.funcs.size(); i++) {
            bool pure = false, update = false;
            for (const NodePtr &v : program.funcs[(size_t)i].values) {
                pure = pure || calls(*v, func);
            }
            for (const UpdateSpec &u : program.funcs[(size_t)i].updates) {
                for (const NodePtr &v : u.values) {
                    update = update || calls(*v, func);
                }
                update = update || (u.index && calls(*u.index, func));
            }
            if (update || (pure && result >= 0)) {
                return -1;
            }
            result = pure ? i : result;
        }
        return result;
    }

    TailStrategy tail() {
        return random.pick(std::vector<TailStrategy>{TailStrategy::Auto, TailStrategy::Auto, TailStrategy::GuardWithIf,
                                                     TailStrategy::ShiftInwards, TailStrategy::Predicate});
    }

    /// Loops of a pure definition: lanes within tiles, and blocks if the Func is at the root.
    void pure_loops(int f, bool root) {
        std::vector<std::string> &dims = loops[(size_t)f];
        dims = {"x", "y"};
        if (!random.one_in(3)) {
            const std::string n = std::to_string(fresh++);
            add("split", f, -1, {"x", "xo" + n, "xi" + n}, {random.pick(std::vector<int>{16, 64, 100, 256})}, tail());
            dims = {"xi" + n, "xo" + n, "y"};
            if (random.one_in(3)) {
                dims = {"xi" + n, "y", "xo" + n};
                add("reorder", f, -1, dims);
            }
        } else if (random.one_in(3)) {
            const std::string n = std::to_string(fresh++);
            add("split", f, -1, {"y", "yo" + n, "yi" + n}, {random.between(2, 4)}, TailStrategy::GuardWithIf);
            dims = {"x", "yi" + n, "yo" + n};
        }
        if (!random.one_in(6)) {
            add("vectorize", f, -1, {dims[0]}, {random.pick(std::vector<int>{64, 64, 128, 256})}, TailStrategy::GuardWithIf);
        }
        blocks[(size_t)f] = dims.size();
        if (root && !random.one_in(4)) {
            const size_t first = (size_t)random.between(1, (int)dims.size() - 1);
            for (size_t i = first; i < dims.size(); i++) {
                add("pto_blocks", f, -1, {dims[i]});
            }
            blocks[(size_t)f] = first;
        }
        for (size_t i = 1; i < blocks[(size_t)f]; i++) {
            if (random.one_in(6)) {
                add("unroll_hint", f, -1, {dims[i]}, {random.between(2, 4)});
            }
        }
    }

    void update_loops(int f, int u, bool root) {
        const UpdateSpec::Kind kind = program.funcs[(size_t)f].updates[(size_t)u].kind;
        if (kind == UpdateSpec::PureAdd || kind == UpdateSpec::ReduceAdd || kind == UpdateSpec::ReduceMax) {
            if (kind != UpdateSpec::PureAdd && random.one_in(2)) {
                const std::string r = "r" + std::to_string(f) + std::to_string(u);
                add("reorder", f, u, {"x", r + "$x", r + "$y", "y"});
            }
            if (!random.one_in(4)) {
                add("vectorize", f, u, {"x"}, {64}, TailStrategy::GuardWithIf);
            }
            if (root && random.one_in(2)) {
                add("pto_blocks", f, u, {"y"});
            }
        } else if (kind == UpdateSpec::ScanY && !random.one_in(4)) {
            add("vectorize", f, u, {"x"}, {64}, TailStrategy::GuardWithIf);
        }
    }

public:
    PTOScheduler(const Program &p, uint64_t seed) : program(p), random(seed) {
        const int count = (int)program.funcs.size();
        loops.resize((size_t)count);
        blocks.resize((size_t)count);
        std::vector<bool> inlined((size_t)count, false);
        for (int f = count - 1; f >= 0; f--) {
            bool root = true;
            if (f < count - 1) {
                const int consumer = only_consumer(f);
                const bool simple = program.funcs[(size_t)f].updates.empty();
                if (simple && random.one_in(4)) {
                    inlined[(size_t)f] = true;
                    continue;
                }
                const bool tiled = consumer >= 0 && !inlined[(size_t)consumer] && loops[(size_t)consumer].size() > 2 &&
                                   loops[(size_t)consumer][0] != "x";
                if (tiled && !random.one_in(3)) {
                    // Inside the work of a block, outside of the lanes, and inside of the loop over tiles of a row.
                    const std::vector<std::string> &at = loops[(size_t)consumer];
                    const size_t level = 1;
                    add("compute_at", f, -1, {at[level]}, {}, TailStrategy::Auto, consumer);
                    root = false;
                    if (random.one_in(2)) {
                        add("store_in_ub", f, -1, {});
                    }
                } else {
                    add("compute_root", f, -1, {});
                }
            }
            pure_loops(f, root);
            for (size_t u = 0; u < program.funcs[(size_t)f].updates.size(); u++) {
                update_loops(f, (int)u, root);
            }
        }
    }

    const Schedule &result() const {
        return schedule;
    }
};

class QuietReporter : public Halide::CompileTimeErrorReporter {
public:
    void warning(const char *) override {}
    void error(const char *message) override { throw Halide::CompileError(message); }
};

TEST(PTOFuzz, RandomSchedules) {
    QuietReporter quiet;
    Halide::set_custom_compile_time_error_reporter(&quiet);
    const int pairs = setting("BROMIDE_FUZZ_PAIRS", 500), first = setting("BROMIDE_FUZZ_SEED", 0);
    int same = 0, refused = 0, invalid = 0, failures = 0;
    for (int i = first; i < first + pairs && failures < 8; i++) {
        Program program = make_program((uint64_t)i);
        program.parameters = true;
        // Rows longer than a vector, now and then.
        program.width = program.width * (1 + i % 5);
        if (program.funcs.back().types.size() != 1) {
            invalid++;
            continue;
        }
        const Schedule schedule = PTOScheduler(program, (uint64_t)i).result();
        try {
            const Built plain = build(program, plain_schedule(program)), scheduled = build(program, schedule);
            std::map<std::string, Halide::Buffer<>> inputs;
            for (const Halide::Buffer<> &b : plain.inputs) {
                inputs[b.name()] = b;
            }
            const std::string difference = bromide::run_both("fuzz_" + std::to_string(i), plain.output(), scheduled.output(), inputs,
                                                             {program.width, program.height});
            if (difference.empty()) {
                same++;
            } else {
                failures++;
                ADD_FAILURE() << "pair " << i << ": " << difference << "\n" << print(program, schedule);
            }
        } catch (const Halide::CompileError &e) {
            refused++;
            if (getenv("BROMIDE_FUZZ_REFUSALS")) {
                std::cerr << "pair " << i << ": " << e.what();
            }
        } catch (const Halide::Error &e) {
            if (std::string(e.what()).find("access_out_of_bounds") != std::string::npos) {
                invalid++;   // an update that reaches beyond the output
                continue;
            }
            failures++;
            ADD_FAILURE() << "pair " << i << ": " << e.what() << "\n" << print(program, schedule);
        }
        if (i % 100 == 99) {
            std::cerr << i - first + 1 << " pairs: " << same << " same, " << refused << " refused\n";
        }
    }
    Halide::set_custom_compile_time_error_reporter(nullptr);
    std::cerr << "PTO fuzz: " << same << " same, " << refused << " refused, " << invalid << " invalid, " << failures << " failures\n";
    EXPECT_LE(refused, same) << "too many schedules are refused";
}

}  // namespace
