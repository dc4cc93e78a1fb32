// Random pipelines under random schedules. A legal schedule gives the bits of the program with every Func at the root;
// an illegal one gives a CompileError; nothing crashes, hangs or raises an InternalError.
//
// BROMIDE_FUZZ_PAIRS sets the number of pairs (default 1000; 20000 under BROMIDE_FULL), BROMIDE_FUZZ_SEED the first
// seed. BROMIDE_FUZZ_REFUSALS prints why schedules are refused. A failure is reduced and printed as a C++ program.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>

#include "FuzzJudge.h"
#include "ProgramGenerator.h"
#include "support/Error.h"

using namespace fuzz;

namespace {

int setting(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

/// What became of one program under one schedule.
struct Outcome {
    enum Kind { Same, Refused, Invalid, Different, Broken } kind = Same;
    std::string what;
    bool failed() const { return kind == Different || kind == Broken; }
};

Outcome run(const Program &program, const Schedule &schedule, const Result &expected, bool compile) {
    try {
        Built built = build(program, schedule);
        Result got = interpret(built, program.width, program.height);
        if (std::string d = difference(expected, got); !d.empty()) {
            return {Outcome::Different, "interpreted after lowering: " + d};
        }
        const bool hints = std::any_of(schedule.directives.begin(), schedule.directives.end(),
                                       [](const Directive &d) { return d.kind == "unroll_hint"; });
        if (hints) {
            // The same as for a target whose compiler takes no hints.
            setenv("BROMIDE_NATIVE_UNROLL", "1", 1);
            try {
                got = interpret(built, program.width, program.height);
            } catch (...) {
                unsetenv("BROMIDE_NATIVE_UNROLL");
                throw;
            }
            unsetenv("BROMIDE_NATIVE_UNROLL");
            if (std::string d = difference(expected, got); !d.empty()) {
                return {Outcome::Different, "interpreted with loops unrolled as hinted: " + d};
            }
        }
        if (compile) {
            got = compile_and_run(built, program.width, program.height);
            if (std::string d = difference(expected, got); !d.empty()) {
                return {Outcome::Different, "compiled: " + d};
            }
        }
    } catch (const Halide::CompileError &e) {
        return {Outcome::Refused, e.what()};
    } catch (const Halide::RuntimeError &e) {
        // A region smaller than a tile that is shifted inwards, or a bound that a tail exceeds: documented, and checked at
        // entry.
        if (std::string(e.what()).find("is accessed at") != std::string::npos ||
            std::string(e.what()).find("access_out_of_bounds") != std::string::npos ||
            std::string(e.what()).find("explicit_bounds_too_small") != std::string::npos) {
            return {Outcome::Refused, e.what()};
        }
        return {Outcome::Broken, e.what()};
    } catch (const Halide::InternalError &e) {
        return {Outcome::Broken, e.what()};
    }
    return {};
}

std::optional<Result> reference(const Program &program) {
    try {
        return interpret(build(program, plain_schedule(program)), program.width, program.height);
    } catch (const Halide::CompileError &e) {
        // Signed overflow, found when constants fold: the program has no meaning.
        return std::nullopt;
    } catch (const Halide::Error &e) {
        ADD_FAILURE() << "unscheduled: " << e.what() << "\n" << print(program, plain_schedule(program));
        return std::nullopt;
    }
}

/// Drops directives, then Funcs' updates, while the failure stays.
void reduce(Program &program, Schedule &schedule, bool compile) {
    auto still_fails = [&](const Program &p, const Schedule &s) {
        std::optional<Result> expected = reference(p);
        return expected && run(p, s, *expected, compile).failed();
    };
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = schedule.directives.size(); i > 0; i--) {
            Schedule smaller = schedule;
            smaller.directives.erase(smaller.directives.begin() + (std::ptrdiff_t)i - 1);
            if (still_fails(program, smaller)) {
                schedule = smaller;
                changed = true;
            }
        }
        for (size_t f = 0; f < program.funcs.size(); f++) {
            for (size_t v = 0; v < program.funcs[f].values.size(); v++) {
                // An operand instead of the whole expression, if it has the same type.
                for (const NodePtr &child : program.funcs[f].values[v]->children) {
                    if (child->type != program.funcs[f].values[v]->type) {
                        continue;
                    }
                    Program smaller = program;
                    smaller.funcs[f].values[v] = child;
                    if (still_fails(smaller, schedule)) {
                        program = smaller;
                        changed = true;
                        break;
                    }
                }
            }
        }
        for (int *extent : {&program.width, &program.height}) {
            if (*extent > 3) {
                const int before = *extent;
                *extent = (before + 1) / 2;
                if (still_fails(program, schedule)) {
                    changed = true;
                } else {
                    *extent = before;
                }
            }
        }
    }
}

/// Random schedules leave updates unscheduled on purpose: warnings of that would drown everything else.
class QuietReporter : public Halide::CompileTimeErrorReporter {
public:
    void warning(const char *) override {}
    void error(const char *message) override { throw Halide::CompileError(message); }
};

/// Pairs `first` … `first + pairs` − 1, four schedules for each program.
void run_pairs(Values values, int first, int pairs) {
    QuietReporter quiet;
    Halide::set_custom_compile_time_error_reporter(&quiet);
    struct Restore {
        ~Restore() { Halide::set_custom_compile_time_error_reporter(nullptr); }
    } restore;
    const int schedules_per_program = 4;
    int same = 0, refused = 0, invalid = 0, failures = 0;
    std::optional<Result> expected;
    Program program;
    for (int i = first; i < first + pairs; i++) {
        if (i == first || i % schedules_per_program == 0) {
            program = make_program((uint64_t)i / schedules_per_program, values);
            expected = reference(program);
        }
        if (!expected) {
            invalid++;
            continue;
        }
        const bool compile = i % 4 == 0;
        Schedule schedule = make_schedule(program, (uint64_t)i);
        Outcome outcome = run(program, schedule, *expected, compile);
        if (outcome.failed()) {
            failures++;
            Program small = program;
            reduce(small, schedule, compile);
            ADD_FAILURE() << "pair " << i << ": " << outcome.what << "\n" << print(small, schedule);
            if (failures >= 5) {
                break;
            }
        }
        if (outcome.kind == Outcome::Refused && getenv("BROMIDE_FUZZ_REFUSALS")) {
            std::cerr << "pair " << i << ": " << outcome.what;
        }
        (outcome.kind == Outcome::Refused ? refused : same)++;
        if ((i - first) % 500 == 499) {
            std::cerr << i - first + 1 << " pairs: " << same << " same, " << refused << " refused, " << invalid
                      << " invalid\n";
        }
    }
    std::cerr << "fuzz: " << same << " same, " << refused << " refused, " << invalid << " invalid, " << failures
              << " failures\n";
    EXPECT_GE(same, pairs / 2) << "too few legal schedules to mean anything";
}

const bool full = getenv("BROMIDE_FULL") != nullptr;

TEST(Fuzz, RandomSchedules) {
    run_pairs(Values::Any, setting("BROMIDE_FUZZ_SEED", 0), setting("BROMIDE_FUZZ_PAIRS", full ? 20000 : 1000));
}

// SWAR loops, alone and in SIMD loops, and storage in registers.
TEST(Fuzz, RandomWords) {
    run_pairs(Values::LaneWise, setting("BROMIDE_FUZZ_SEED", 0), setting("BROMIDE_FUZZ_PAIRS", full ? 20000 : 1000));
}

}  // namespace
