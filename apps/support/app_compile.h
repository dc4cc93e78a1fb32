#pragma once

// The ahead-of-time side of an app: a program that writes <name>.a, <name>.h and readable intermediate forms.

#include <cstdio>
#include <cstring>
#include <string>

#include "Halide.h"

/// What an app defines in its header: the pipeline and its inputs, with or without a schedule.
struct AppPipeline {
    Halide::Pipeline pipeline;
    std::vector<Halide::Argument> args;
    Halide::Func output;
};

/// usage: <app>_compile OUTPUT_PREFIX [TARGET]
inline int compile_app(int argc, char **argv, const std::string &name, AppPipeline (*make)(bool scheduled)) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s OUTPUT_PREFIX [TARGET]\n", argv[0]);
        return 1;
    }
    try {
        const std::string prefix = argv[1];
        const Halide::Target target = argc > 2 ? Halide::Target(argv[2]) : Halide::get_host_target();
        AppPipeline app = make(true);
        app.pipeline.compile_to(
            {
                {Halide::OutputFileType::static_library, prefix + ".a"},
                {Halide::OutputFileType::c_header, prefix + ".h"},
                {Halide::OutputFileType::stmt, prefix + ".stmt"},
                {Halide::OutputFileType::assembly, prefix + ".s"},
            },
            app.args, name, target);
    } catch (const Halide::Error &e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
