#include "KernelCases.h"

namespace bromide {

using namespace Halide;

namespace {

KernelCase::Arg in(const std::string &name, Type t, int n, const std::string &fill = "", int limit = 0) {
    return {name, t, n, false, 0, fill, limit};
}
KernelCase::Arg out(const std::string &name, Type t, int n) {
    return {name, t, n, true, 0, "", 0};
}
KernelCase::Arg scalar(const std::string &name, Type t, double value) {
    return {name, t, 0, false, value, "", 0};
}

}  // namespace

std::vector<KernelCase> kernel_cases() {
    std::vector<KernelCase> cases;
    const Type f32 = Float(32), i32 = Int(32), u8 = UInt(8);
    for (int n : {1, 63, 64, 65, 127, 300, 4096}) {
        const std::string last = std::to_string(n - 1);
        cases.push_back({"axpy_" + std::to_string(n),
                         {in("x", f32, n), in("y", f32, n), out("o", f32, n), scalar("alpha", f32, 1.5)},
                         "vectorized i in [0, " + last + "] { o.ub[i] = x.ub[i]:f32 * alpha:f32 + y.ub[i]:f32 }"});
    }
    cases.push_back({"axpy_n", {in("x", f32, 300), out("o", f32, 300), scalar("n", i32, 200)},
                     "vectorized i in [0, n - 1] { o.ub[i] = x.ub[i]:f32 + 1.0 }\n"
                     "vectorized j in [256, 299] { o.ub[j] = 0.0 }\n"
                     "vectorized k in [200, 255] { o.ub[k] = 5.0 }"});
    cases.push_back({"to_u8", {in("x", f32, 300), out("o", u8, 300)},
                     "vectorized i in [0, 299] { o.ub[i] = saturating_cast(round(x.ub[i]:f32):f32):u8 }"});
    cases.push_back({"select_cut", {out("o", f32, 300), scalar("cut", i32, 77)},
                     "vectorized i in [0, 299] { o.ub[i] = select(i < cut, f32(i), -1.0) }"});
    cases.push_back({"sum", {in("x", f32, 300), out("o", f32, 1)},
                     "o.ub[0] = 0.0\natomic o, `` { vectorized i in [0, 299] { o.ub[0] = o.ub[0]:f32 + x.ub[i]:f32 } }",
                     0, 1e-5});
    return cases;
}

}  // namespace bromide
