#include "app_compile.h"
#include "histogram_equalize.h"

static AppPipeline make(bool scheduled) {
    HistogramEqualize h;
    if (scheduled) {
        h.schedule(8);
    }
    return {Halide::Pipeline(h.output), {h.input}, h.output};
}

int main(int argc, char **argv) {
    return compile_app(argc, argv, "histogram_equalize", make);
}
