#include "app_compile.h"
#include "unsharp.h"

static AppPipeline make(bool scheduled) {
    Unsharp unsharp;
    if (scheduled) {
        unsharp.schedule(8);
    }
    return {Halide::Pipeline(unsharp.output), {unsharp.input, unsharp.sigma}, unsharp.output};
}

int main(int argc, char **argv) {
    return compile_app(argc, argv, "unsharp", make);
}
