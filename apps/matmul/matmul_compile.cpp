#include "app_compile.h"
#include "matmul.h"

static AppPipeline make(bool scheduled) {
    Matmul m;
    if (scheduled) {
        m.schedule(8);
    }
    return {Halide::Pipeline(m.output), {m.a, m.b}, m.output};
}

int main(int argc, char **argv) {
    return compile_app(argc, argv, "matmul", make);
}
