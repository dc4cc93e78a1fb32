#include "Halide.h"
#include "halide_image_io.h"

using namespace Halide;

int main(int, char **argv) {
    const std::string name = std::string(argv[0]) + ".png";
    Var x("x"), y("y");
    Func ramp("ramp");
    ramp(x, y) = cast<uint8_t>(x * 2 + y);
    Buffer<uint8_t> written = ramp.realize({8, 4});
    Tools::save_image(written, name);
    Buffer<uint8_t> read = Tools::load_image(name);
    return read.width() == 8 && read.height() == 4 && read(7, 3) == 17 ? 0 : 1;
}
