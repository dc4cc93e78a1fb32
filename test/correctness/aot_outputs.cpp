// Files made ahead of time: what they contain, and programs linked with them.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <string>

#include "func/Module.h"
#include "ir/IR.h"
#include "ir/IROperator.h"
#include "support/Util.h"

using namespace Halide;
using namespace Halide::Internal;

namespace {

Expr buffer(const std::string &name) {
    return Variable::make(type_of<halide_buffer_t *>(), name + ".buffer");
}

Expr host_of(const std::string &name) {
    return Call::make(Handle(), Call::buffer_get_host, {buffer(name)}, Call::Extern);
}

/// out(i) = in(i) * factor + offset for all i of out; an error if factor is 0.
Module scale_module(const std::string &name, const Target &t, int version = 0) {
    std::vector<LoweredArgument> args;
    if (t.has_feature(Target::UserContext)) {
        args.emplace_back("__user_context", Argument::InputScalar, type_of<const void *>(), 0, ArgumentEstimates());
    }
    args.emplace_back("in", Argument::InputBuffer, UInt(16), 1, ArgumentEstimates());
    ArgumentEstimates range;
    range.scalar_min = Expr((uint8_t)1);
    args.emplace_back("factor", Argument::InputScalar, UInt(8), 0, range);
    args.emplace_back("offset", Argument::InputScalar, Float(32), 0, ArgumentEstimates());
    args.emplace_back("out", Argument::OutputBuffer, Float(32), 1, ArgumentEstimates());
    Expr i = Variable::make(Int(32), "i"), factor = Variable::make(UInt(8), "factor");
    Expr value = cast<float>(Load::make(UInt(16), "in", i)) * cast<float>(factor) + Variable::make(Float(32), "offset") +
                 (float)version;
    Expr n = Call::make(Int(32), Call::buffer_get_extent, {buffer("out"), 0}, Call::Extern);
    Stmt s = For::make("i", 0, n - 1, ForType::Serial, Partition::Never, DeviceAPI::None,
                       Store::make("out", value, i));
    Expr report = Call::make(Int(32), "halide_error_requirement_failed", {Expr("factor != 0"), Expr("no factor")},
                             Call::Extern);
    s = Block::make(AssertStmt::make(factor != cast<uint8_t>(0), report), s);
    s = LetStmt::make("in", host_of("in"), LetStmt::make("out", host_of("out"), s));
    Module m(name, t);
    m.append(LoweredFunc(name, args, s, LinkageType::ExternalPlusMetadata));
    return m;
}

const char *const program = R"(
#include "scale.h"
#include <cstdio>
#include <cstring>
#define CHECK(c) if (!(c)) { printf("failed: %s\n", #c); return 1; }
static int errors = 0;
extern "C" void halide_error(void *, const char *message) { errors++; }
int main() {
    uint16_t in[16];
    float out[16];
    for (int i = 0; i < 16; i++) in[i] = i;
    halide_dimension_t shape = {0, 16, 1};
    halide_buffer_t a = {}, b = {};
    a.host = (uint8_t *)in; a.type = halide_type_t(halide_type_uint, 16); a.dimensions = 1; a.dim = &shape;
    b.host = (uint8_t *)out; b.type = halide_type_t(halide_type_float, 32); b.dimensions = 1; b.dim = &shape;
    CHECK(scale(&a, 3, 0.5f, &b) == 0);
    for (int i = 0; i < 16; i++) CHECK(out[i] == i * 3 + 0.5f + ADDED);
    uint8_t factor = 7; float offset = 1;
    void *args[] = {&a, &factor, &offset, &b};
    CHECK(scale_argv(args) == 0);
    CHECK(out[5] == 36 + ADDED);
    CHECK(scale(&a, 0, 0.5f, &b) == halide_error_code_requirement_failed);
    CHECK(errors == 1);
    const halide_filter_metadata_t *m = scale_metadata();
    CHECK(m->version == 1 && m->num_arguments == 4 && !strcmp(m->name, "scale"));
    CHECK(!strcmp(m->arguments[0].name, "in") && m->arguments[0].kind == halide_argument_kind_input_buffer);
    CHECK(m->arguments[0].dimensions == 1 && m->arguments[0].type == halide_type_t(halide_type_uint, 16));
    CHECK(m->arguments[1].scalar_min->u.u8 == 1 && !m->arguments[1].scalar_max);
    CHECK(m->arguments[3].kind == halide_argument_kind_output_buffer);
    printf("ok\n");
}
)";

class Directory {
public:
    const std::string path = dir_make_temp();
    ~Directory() {
        for (const std::string &f : files) {
            if (file_exists(f)) {
                file_unlink(f);
            }
        }
        dir_rmdir(path);
    }
    std::string file(const std::string &name) {
        files.push_back(path + "/" + name);
        return files.back();
    }

private:
    std::vector<std::string> files;
};

std::string text_of(const std::string &path) {
    const std::vector<char> bytes = read_entire_file(path);
    return std::string(bytes.begin(), bytes.end());
}

/// Compiles the program with the library's header and runs it; returns what it prints.
std::string run_program(Directory &dir, const std::vector<std::string> &libraries, int version,
                        const std::string &compiler = "c++", const std::vector<std::string> &emulator = {}) {
    const std::string source = dir.file("main.cpp"), binary = dir.file("main");
    write_entire_file(source, program, strlen(program));
    std::vector<std::string> command = {compiler, "-std=c++17", "-DADDED=" + std::to_string(version), "-I" + dir.path,
                                        source};
    command.insert(command.end(), libraries.begin(), libraries.end());
    for (const char *option : {"-lpthread", "-ldl", "-lm", "-o"}) {
        command.emplace_back(option);
    }
    command.push_back(binary);
    std::string out, err;
    const int compiled = run_process(command, &out, &err);
    EXPECT_EQ(0, compiled) << err;
    std::vector<std::string> run = emulator;
    run.push_back(binary);
    out.clear();
    run_process(run, &out, &err);
    return out + err;
}

Target host() {
    return get_host_target();
}

TEST(AOTOutputs, object_and_header) {
    Directory dir;
    const std::string object = dir.file("scale.o");
    scale_module("scale", host()).compile({{OutputFileType::object, object},
                                           {OutputFileType::c_header, dir.file("scale.h")}});
    EXPECT_EQ("ok\n", run_program(dir, {object}, 0));
}

TEST(AOTOutputs, static_library) {
    Directory dir;
    const std::string library = dir.file("scale.a");
    scale_module("scale", host()).compile({{OutputFileType::static_library, library},
                                           {OutputFileType::c_header, dir.file("scale.h")}});
    EXPECT_EQ("!<arch>\n", text_of(library).substr(0, 8));
    EXPECT_EQ("ok\n", run_program(dir, {library}, 0));
}

TEST(AOTOutputs, runtime_by_itself) {
    Directory dir;
    const std::string object = dir.file("scale.o"), runtime = dir.file("runtime.o");
    scale_module("scale", host().with_feature(Target::NoRuntime)).compile({{OutputFileType::object, object}});
    scale_module("scale", host()).compile({{OutputFileType::c_header, dir.file("scale.h")}});
    compile_standalone_runtime(runtime, host());
    EXPECT_EQ("ok\n", run_program(dir, {object, runtime}, 0));
}

TEST(AOTOutputs, aarch64_runs_under_emulation) {
    std::string out;
    if (run_process({"aarch64-linux-gnu-g++", "--version"}, &out, &out) != 0 ||
        run_process({"qemu-aarch64", "--version"}, &out, &out) != 0) {
        GTEST_SKIP() << "needs aarch64-linux-gnu-g++ and qemu-aarch64";
    }
    Directory dir;
    const std::string library = dir.file("scale.a");
    scale_module("scale", Target("arm-64-linux")).compile({{OutputFileType::static_library, library},
                                                          {OutputFileType::c_header, dir.file("scale.h")}});
    EXPECT_EQ("ok\n", run_program(dir, {library}, 0, "aarch64-linux-gnu-g++", {"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}));
}

TEST(AOTOutputs, several_targets_choose_at_run_time) {
    Directory dir;
    Target base(host().os, host().arch, host().bits);
    Target better = host();
    // A target that no machine has comes first and must not be chosen.
    Target impossible = base.with_feature(host().arch == Target::X86 ? Target::AVX512_KNL : Target::SME2);
    const std::string library = dir.file("scale.a");
    std::map<std::string, int> versions;
    compile_multitarget("scale",
                        {{OutputFileType::static_library, library}, {OutputFileType::c_header, dir.file("scale.h")},
                         {OutputFileType::assembly, dir.path + "/scale.s"}},
                        {impossible, better, base}, {"-impossible", "-better", "-base"},
                        [&](const std::string &name, const Target &t) {
                            const int version = ends_with(name, "impossible") ? 100 : ends_with(name, "better") ? 10 : 20;
                            return scale_module(name, t, version);
                        });
    for (const char *suffix : {"-impossible", "-better", "-base"}) {
        EXPECT_TRUE(file_exists(dir.file(std::string("scale") + suffix + ".s"))) << suffix;
    }
    EXPECT_EQ("ok\n", run_program(dir, {library}, 10));
}

TEST(AOTOutputs, texts) {
    Directory dir;
    const Module m = scale_module("ns::scale", Target("x86-64-linux-sse41-user_context-no_runtime"));
    const std::string assembly = dir.file("a.s"), ll = dir.file("a.ll"), bc = dir.file("a.bc"), h = dir.file("a.h"),
                      html = dir.file("a.html"), info = dir.file("a.function_info.h"),
                      registration = dir.file("a.registration.cpp");
    m.compile({{OutputFileType::assembly, assembly}, {OutputFileType::llvm_assembly, ll},
               {OutputFileType::bitcode, bc}, {OutputFileType::c_header, h}, {OutputFileType::stmt_html, html},
               {OutputFileType::function_info_header, info}, {OutputFileType::registration, registration}});
    EXPECT_NE(std::string::npos, text_of(assembly).find("scale_argv:"));
    EXPECT_NE(std::string::npos, text_of(ll).find("define i32 @scale("));
    EXPECT_EQ("BC", text_of(bc).substr(0, 2));
    const std::string header = text_of(h);
    EXPECT_NE(std::string::npos,
              header.find("int scale(void const *__user_context, struct halide_buffer_t *_in_buffer, uint8_t _factor, "
                          "float _offset, struct halide_buffer_t *_out_buffer);"))
        << header;
    EXPECT_NE(std::string::npos, header.find("namespace ns {"));
    EXPECT_NE(std::string::npos, text_of(info).find("scale_argument_info()"));
    EXPECT_NE(std::string::npos, text_of(registration).find("halide_register_argv_and_metadata(::scale_argv"));
    EXPECT_NE(std::string::npos, text_of(html).find("<details open>"));
}

TEST(AOTOutputs, embedded_buffers) {
    Directory dir;
    Buffer<uint16_t> data(16, "table");
    for (int i = 0; i < 16; i++) {
        data.data()[i] = (uint16_t)(i + 100);
    }
    Module m = scale_module("scale", host());
    LoweredFunc f = m.get_function_by_name("scale");
    f.body = LetStmt::make("in", host_of("table"), f.body.as<LetStmt>()->body);
    Module with_table("scale", host());
    with_table.append(Buffer<>(data));
    with_table.append(f);
    const std::string object = dir.file("scale.o");
    with_table.compile({{OutputFileType::object, object}, {OutputFileType::c_header, dir.file("scale.h")}});
    // The values come from the table, 100 higher than those of the input: 3 · 100 more.
    const std::string out = run_program(dir, {object}, 300);
    EXPECT_NE(std::string::npos, out.find("out[5] == 36 + ADDED")) << out;
}

TEST(AOTOutputs, errors) {
    EXPECT_THROW(scale_module("scale", Target("x86-64-linux")).compile({{OutputFileType::hlpipe, "/nowhere/x"}}),
                 CompileError);
    EXPECT_THROW(compile_multitarget("f", {{OutputFileType::object, "x.o"}},
                                     {Target("x86-64-linux"), Target("arm-64-linux")}, {},
                                     [](const std::string &n, const Target &t) { return scale_module(n, t); }),
                 CompileError);
    EXPECT_THROW(scale_module("scale", Target("hexagon-32-qurt-no_runtime")).compile({{OutputFileType::object, "x.o"}}),
                 CompileError);
}

}  // namespace
