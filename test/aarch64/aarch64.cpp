// A few of the pipelines by default, all with BROMIDE_FULL.
//
// Compiles pipelines for AArch64, links all of them into one program, runs it in the emulator, and compares with what the
// interpreter computes from the same pipelines without a schedule.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "../fuzz/FuzzJudge.h"
#include "../fuzz/ProgramGenerator.h"
#include "api/Pipeline.h"
#include "cases.h"
#include "func/Module.h"
#include "interp/Interpreter.h"
#include "lower/Pipeline.h"
#include "support/Util.h"

using namespace Halide;
using namespace Halide::Internal;

namespace {

const char *const emulator = "qemu-aarch64";
const char *const cross_compiler = "aarch64-linux-gnu-g++";

bool exists(const std::string &program) {
    return system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// Writes what the driver reads.
class CaseFile {
public:
    explicit CaseFile(const std::string &path)
        : out(path, std::ios::binary) {
    }

    void begin(int inputs, int outputs, int ulps) {
        number(inputs);
        number(outputs);
        number(ulps);
    }

    /// Dense, innermost dimension first.
    void buffer(const Buffer<> &b) {
        const Type t = b.type();
        out.put((char)t.code());
        out.put((char)t.bits());
        number(b.dimensions());
        for (int d = 0; d < b.dimensions(); d++) {
            number(b.dim(d).min());
            number(b.dim(d).extent());
        }
        std::vector<int> position;
        for (int d = 0; d < b.dimensions(); d++) {
            position.push_back(b.dim(d).min());
        }
        for (size_t i = 0; i < b.number_of_elements(); i++) {
            out.write((const char *)b.raw_buffer()->address_of(position.data()), t.bytes());
            for (int d = 0; d < b.dimensions(); d++) {
                if (++position[d] <= b.dim(d).max()) {
                    break;
                }
                position[d] = b.dim(d).min();
            }
        }
    }

    void close() { out.close(); }

private:
    std::ofstream out;
    void number(int32_t v) { out.write((const char *)&v, sizeof(v)); }
};

/// A directory of objects to be linked and run.
class CrossProgram {
public:
    CrossProgram()
        : directory(dir_make_temp()), file(directory + "/cases.bin"), list(directory + "/pipelines.inc") {
    }
    ~CrossProgram() {
        if (!testing::Test::HasFailure()) {
            for (const std::string &path : objects) {
                file_unlink(path);
            }
            for (const char *name : {"/cases.bin", "/pipelines.inc", "/driver", "/log"}) {
                if (file_exists(directory + name)) {
                    file_unlink(directory + name);
                }
            }
            dir_rmdir(directory);
        }
    }

    CaseFile &cases() { return file; }

    void add(Func f, const std::string &name, const std::vector<Argument> &args, const Target &t) {
        const std::string object = directory + "/" + name + ".o";
        f.compile_to_module(args, name, t.with_feature(Target::NoRuntime)).compile({{OutputFileType::object, object}});
        objects.push_back(object);
        list << "PIPELINE(" << name << ")\n";
        count++;
    }

    /// Links and runs, and reports what went wrong.
    void run(const Target &t) {
        list.close();
        file.close();
        const std::string runtime = directory + "/runtime.o";
        compile_standalone_runtime(runtime, t);
        objects.push_back(runtime);
        std::string link = std::string(cross_compiler) + " -std=c++17 -O1 -static -I " + directory + " -I " +
                           BROMIDE_BUILD_DIR "/include " BROMIDE_SOURCE_DIR "/test/aarch64/driver.cpp";
        for (const std::string &o : objects) {
            link += " " + o;
        }
        const std::string log = directory + "/log";
        link += " -o " + directory + "/driver -lpthread -ldl >" + log + " 2>&1";
        ASSERT_EQ(system(link.c_str()), 0) << text(log);
        // -cpu max: all optional instructions.
        const std::string command = std::string("timeout 600 ") + emulator + " -cpu max " + directory + "/driver " + directory +
                                    "/cases.bin >" + log + " 2>&1";
        const int code = system(command.c_str());
        std::istringstream lines(text(log));
        std::string line, last;
        while (std::getline(lines, line)) {
            if (line.rfind("FAIL", 0) == 0) {
                ADD_FAILURE() << line;
            }
            last = line;
        }
        EXPECT_EQ(code, 0) << "in " << directory << "; the last line is: " << last;
        EXPECT_EQ(last, "DONE " + std::to_string(count) + " passed, 0 failed");
    }

private:
    const std::string directory;
    CaseFile file;
    std::ofstream list;
    std::vector<std::string> objects;
    int count = 0;

    static std::string text(const std::string &path) {
        std::ifstream in(path);
        std::stringstream all;
        all << in.rdbuf();
        return all.str();
    }
};

/// Sizes that are enough for every case.
std::vector<int> input_extents(const Argument &a) {
    return a.dimensions == 1 ? std::vector<int>{1100} : std::vector<int>{120, 60};
}

Buffer<> interpret(Func f, const std::vector<int> &extents, const std::vector<Buffer<>> &inputs) {
    const Stmt s = lower_main_stmt({f.function()}, "reference", get_host_target());
    Interpreter interpreter;
    for (const Buffer<> &b : inputs) {
        interpreter.set_buffer(b.name(), b);
    }
    Buffer<> out(f.types()[0], extents);
    interpreter.set_buffer(f.function().output_buffers()[0].name(), out);
    const int code = interpreter.run(s);
    EXPECT_EQ(code, 0) << interpreter.error_message();
    return out;
}

void add_case(CrossProgram &program, const cross::Case &c, const Target &t) {
    SCOPED_TRACE(c.name);
    try {
        Func reference = c.make(false);
        std::vector<Buffer<>> inputs;
        for (const Argument &a : Pipeline(reference).infer_arguments()) {
            inputs.push_back(cross::input_values(a.type, input_extents(a), a.name));
        }
        const Buffer<> expected = interpret(reference, c.extents, inputs);
        Func f = c.make(true);
        program.add(f, c.name, Pipeline(f).infer_arguments(), t);
        program.cases().begin((int)inputs.size(), 1, c.ulps);
        for (const Buffer<> &b : inputs) {
            program.cases().buffer(b);
        }
        program.cases().buffer(expected);
    } catch (const std::exception &e) {
        ADD_FAILURE() << e.what();
    }
}

class AArch64 : public testing::Test {
protected:
    void SetUp() override {
        if (!exists(emulator) || !exists(cross_compiler)) {
            GTEST_SKIP() << "needs " << emulator << " and " << cross_compiler;
        }
    }
};

bool full() {
    return getenv("BROMIDE_FULL") != nullptr;
}

/// All cases, or by default one in seven: with a number that divides neither that of types nor of schedules, so that each kind
/// is among them.
void run_cases(const std::vector<cross::Case> &cases) {
    const Target base("arm-64-linux");
    CrossProgram program;
    for (size_t i = 0; i < cases.size(); i += full() ? 1 : 7) {
        const cross::Case &c = cases[i];
        add_case(program, c, c.features.empty() ? base : Target("arm-64-linux-" + c.features));
    }
    program.run(base);
}

TEST_F(AArch64, arithmetic) {
    run_cases(cross::arithmetic_cases());
}

TEST_F(AArch64, memory) {
    run_cases(cross::memory_cases());
}

// Everything with all instructions that the back end knows.
TEST_F(AArch64, all_with_features) {
    if (!full()) {
        GTEST_SKIP() << "only with BROMIDE_FULL";
    }
    std::vector<cross::Case> cases = cross::arithmetic_cases();
    for (const cross::Case &c : cross::memory_cases()) {
        cases.push_back(c);
    }
    for (cross::Case &c : cases) {
        c.features = "arm_dot_prod-arm_fp16";
    }
    run_cases(cases);
}

/// Random schedules leave updates unscheduled on purpose: warnings of that would drown everything else.
class QuietReporter : public CompileTimeErrorReporter {
public:
    QuietReporter() { set_custom_compile_time_error_reporter(this); }
    ~QuietReporter() { set_custom_compile_time_error_reporter(nullptr); }
    void warning(const char *) override {}
    void error(const char *message) override { throw CompileError(message); }
};

TEST_F(AArch64, random_schedules) {
    QuietReporter quiet;
    const Target t("arm-64-linux");
    CrossProgram program;
    const int wanted = full() ? 300 : 8;
    int added = 0, refused = 0;
    for (uint64_t seed = 1; added < wanted && seed < 20u * wanted; seed++) {
        const fuzz::Program p = fuzz::make_program(seed);
        try {
            const fuzz::Result expected = fuzz::interpret(fuzz::build(p, fuzz::plain_schedule(p)), p.width, p.height);
            const fuzz::Built built = fuzz::build(p, fuzz::make_schedule(p, seed));
            const std::string name = "random_" + std::to_string(seed);
            std::vector<Argument> args;
            for (const Buffer<> &b : built.inputs) {
                args.emplace_back(b);
            }
            program.add(built.output(), name, args, t);
            program.cases().begin((int)built.inputs.size(), (int)expected.size(), 0);
            for (const Buffer<> &b : built.inputs) {
                program.cases().buffer(b);
            }
            for (const Buffer<> &b : expected) {
                program.cases().buffer(b);
            }
            added++;
        } catch (const CompileError &) {
            refused++;
        } catch (const std::exception &e) {
            ADD_FAILURE() << "seed " << seed << ": " << e.what();
        }
    }
    EXPECT_EQ(added, wanted) << refused << " refused";
    program.run(t);
}

}  // namespace
