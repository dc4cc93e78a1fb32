#include "app_compile.h"
#include "blur.h"

static AppPipeline make(bool scheduled) {
    Blur blur;
    if (scheduled) {
        blur.schedule(16);
    }
    return {Halide::Pipeline(blur.blur_y), {blur.input}, blur.blur_y};
}

int main(int argc, char **argv) {
    return compile_app(argc, argv, "blur", make);
}
