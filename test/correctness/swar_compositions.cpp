// SWAR loops and GPR storage together with everything else that a schedule can say. Each schedule must give what the
// program gives without one.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

using namespace Halide;
using namespace Halide::ConciseCasts;

namespace {

constexpr VectorizeIn swar = VectorizeIn::SWAR;

Buffer<uint8_t> noise(int w, int h, int seed) {
    Buffer<uint8_t> b(w, h);
    uint32_t state = seed * 7919 + 1;
    b.for_each_value([&](uint8_t &v) {
        state = state * 1664525 + 1013904223;
        v = (uint8_t)(state >> 23);
    });
    return b;
}

/// Runs a program without schedule and with one.
/// @param make  builds the program; schedules it if told so.
void compare(const std::string &what, int w, int h, const std::function<Func(bool scheduled)> &make) {
    try {
        Buffer<> expected = make(false).realize({w, h});
        Buffer<> got = make(true).realize({w, h});
        ASSERT_EQ(expected.type(), got.type());
        const size_t bytes = expected.type().bytes();
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                const char *pe = (const char *)expected.data() + ((size_t)y * w + x) * bytes;
                const char *pg = (const char *)got.data() + ((size_t)y * w + x) * bytes;
                ASSERT_EQ(std::string(pe, bytes), std::string(pg, bytes)) << what << ": differs at " << x << ", " << y;
            }
        }
    } catch (const Error &e) {
        FAIL() << what << ": " << e.what();
    }
}

struct Program {
    Buffer<uint8_t> in = noise(96, 40, 1);
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"}, u{"u"};

    Expr mix(const Expr &a, const Expr &b) const { return select(a < b, (a & 63) + b, rounding_halving_add(a, b) ^ 5); }
};

TEST(SWARCompositions, inside_simd_loop) {
    Program p;
    for (int lanes : {2, 4, 8}) {
        compare("one Func", 48, 16, [&](bool scheduled) {
            Func f("f");
            f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
            if (scheduled) {
                f.split(p.x, p.xo, p.xi, lanes).reorder(p.xi, p.xo, p.y).vectorize(p.xi, swar).vectorize(p.y, 4);
            }
            return f;
        });
        compare("rows next to each other", 48, 16, [&](bool scheduled) {
            Func f("f");
            f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
            if (scheduled) {
                f.split(p.x, p.xo, p.xi, lanes).vectorize(p.xi, swar).vectorize(p.xo, 4, TailStrategy::GuardWithIf);
            }
            return f;
        });
        for (MemoryType memory : {MemoryType::Auto, MemoryType::Stack}) {
            compare("a Func computed at the SIMD loop", 48, 16, [&](bool scheduled) {
                Func f("f"), g("g");
                f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
                g(p.x, p.y) = f(p.x, p.y) + f(47 - p.x, p.y);
                g.bound(p.x, 0, 48);
                if (scheduled) {
                    g.split(p.y, p.yo, p.yi, 4).reorder(p.x, p.yi, p.yo).vectorize(p.yi).unroll(p.x, 8);
                    f.compute_at(g, p.yi).store_in(memory).vectorize(p.x, lanes, swar);
                }
                return g;
            });
        }
    }
}

TEST(SWARCompositions, next_to_simd) {
    Program p;
    compare("stages", 48, 16, [&](bool scheduled) {
        Func f("f");
        f(p.x, p.y) = p.in(p.x, p.y);
        f(p.x, p.y) = p.mix(f(p.x, p.y), p.in(p.x + 3, p.y));
        f(p.x, p.y) += p.in(p.x + 5, p.y) >> 3;
        if (scheduled) {
            f.vectorize(p.x, 16);
            f.update(0).vectorize(p.x, 8, swar);
            f.update(1).vectorize(p.x, 4, swar);
        }
        return f;
    });
    for (MemoryType memory : {MemoryType::Auto, MemoryType::Stack, MemoryType::Register}) {
        compare("SWAR feeds SIMD and scalars", 48, 16, [&](bool scheduled) {
            Func f("f"), g("g");
            f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
            g(p.x, p.y) = i32(f(p.x, p.y)) * f(0, p.y) + f(3, p.y);
            g.bound(p.x, 0, 48);
            if (scheduled) {
                g.vectorize(p.x, 16);
                f.compute_at(g, p.y).store_in(memory).bound_extent(p.x, 48).vectorize(p.x, 8, swar).unroll(p.x);
            }
            return g;
        });
    }
}

TEST(SWARCompositions, gpr) {
    Program p;
    for (VectorizeIn where : {VectorizeIn::SIMD, VectorizeIn::SWAR}) {
        for (bool unrolled : {true, false}) {
            compare("an index block", 16, 16, [&](bool scheduled) {
                Func idx("idx"), g("g");
                idx(p.x, p.y) = p.in(p.x, p.y) & 31;
                g(p.x, p.y) = p.in(idx(p.x, p.y), p.y);
                g.bound(p.x, 0, 16);
                if (scheduled) {
                    idx.compute_at(g, p.y).store_in(MemoryType::GPR).vectorize(p.x, 8, where).unroll(p.x);
                    if (unrolled) {
                        g.unroll(p.x);
                    }
                }
                return g;
            });
            compare("one word at places known at run time", 8, 16, [&](bool scheduled) {
                Func idx("idx"), g("g");
                idx(p.x, p.y) = p.in(p.x, p.y) & 31;
                idx(p.in(3, p.y) & 7, p.y) += u8(77);
                g(p.x, p.y) = p.in(idx(p.x, p.y) & 63, p.y) + idx(p.in(p.x, p.y) & 7, p.y);
                g.bound(p.x, 0, 8);
                if (scheduled) {
                    idx.compute_at(g, p.y).store_in(MemoryType::GPR).bound_extent(p.x, 8).vectorize(p.x, 8, where);
                    if (unrolled) {
                        g.unroll(p.x);
                    }
                }
                return g;
            });
        }
    }
    for (Type t : {Bool(), UInt(16), Int(32), Float(32)}) {
        compare("elements of other types", 4, 8, [&](bool scheduled) {
            Func f("f"), g("g");
            f(p.x, p.y) = cast(t, p.in(p.x, p.y) & 1);
            g(p.x, p.y) = select(f(p.x, p.y) == f(p.in(p.x, p.y) & 3, p.y), u8(1), p.in(p.x + 1, p.y));
            g.bound(p.x, 0, 4);
            if (scheduled) {
                f.compute_at(g, p.y).store_in(MemoryType::GPR).bound_extent(p.x, 4).vectorize(p.x, 2);
            }
            return g;
        });
    }
}

TEST(SWARCompositions, parallel_unroll_async) {
    Program p;
    compare("parallel", 48, 16, [&](bool scheduled) {
        Func f("f");
        f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
        if (scheduled) {
            f.parallel(p.y).split(p.x, p.xo, p.xi, 8).vectorize(p.xi, swar).unroll(p.xo, 3);
        }
        return f;
    });
    compare("async", 48, 16, [&](bool scheduled) {
        Func f("f"), g("g");
        f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
        g(p.x, p.y) = f(p.x, p.y) + f(p.x + 1, p.y);
        if (scheduled) {
            f.compute_at(g, p.y).store_root().fold_storage(p.y, 4).async().vectorize(p.x, 8, swar);
            g.vectorize(p.x, 8, swar);
        }
        return g;
    });
    compare("sliding window", 48, 16, [&](bool scheduled) {
        Func f("f"), g("g");
        f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
        g(p.x, p.y) = max(f(p.x, p.y), f(p.x, p.y + 1), f(p.x, p.y + 2));
        if (scheduled) {
            f.compute_at(g, p.y).store_root().vectorize(p.x, 4, swar);
            g.vectorize(p.x, 4, swar);
        }
        return g;
    });
    compare("compute_with", 48, 16, [&](bool scheduled) {
        Func f("f"), g("g"), h("h");
        f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
        g(p.x, p.y) = p.in(p.x, p.y) * 3;
        h(p.x, p.y) = f(p.x, p.y) ^ g(p.x, p.y);
        if (scheduled) {
            f.compute_root().vectorize(p.x, 8, swar);
            g.compute_root().vectorize(p.x, 8, swar).compute_with(f, p.x);
        }
        return h;
    });
    compare("the producer of each lane", 48, 16, [&](bool scheduled) {
        Func f("f"), g("g");
        f(p.x, p.y) = p.in(p.x, p.y) ^ 9;
        f(p.x, p.y) += u8(3);
        g(p.x, p.y) = f(p.x, p.y) & 63;
        if (scheduled) {
            g.split(p.x, p.xo, p.xi, 8).vectorize(p.xi, swar);
            f.compute_at(g, p.xi);
        }
        return g;
    });
    compare("specialize", 48, 16, [&](bool scheduled) {
        Func f("f");
        f(p.x, p.y) = p.mix(p.in(p.x, p.y), p.in(p.x + 9, p.y));
        if (scheduled) {
            f.specialize(f.output_buffer().width() >= 24).vectorize(p.x, 8, swar);
        }
        return f;
    });
}

TEST(SWARCompositions, reductions) {
    Program p;
    RDom r(0, 16);
    const std::vector<std::pair<std::string, std::function<void(Func &)>>> sums = {
        {"sum", [&](Func &f) { f(p.x, p.y) += p.in(p.x + r, p.y); }},
        {"sum from elsewhere", [&](Func &f) { f(p.x, p.y) += (p.in(p.x + r, p.y) & 15) * 3; }},
        {"min", [&](Func &f) { f(p.x, p.y) = min(f(p.x, p.y), p.in(p.x + r, p.y)); }},
        {"max", [&](Func &f) { f(p.x, p.y) = max(f(p.x, p.y), p.in(p.x + r, p.y)); }},
    };
    for (int lanes : {2, 3, 4, 8}) {
        for (const auto &[name, define] : sums) {
            compare(name + " over lanes", 9, 9, [&, define = define](bool scheduled) {
                Func f("f");
                f(p.x, p.y) = u8(100);
                define(f);
                if (scheduled) {
                    f.update().atomic().vectorize(r, lanes, swar);
                }
                return f;
            });
            compare(name + " of words", 24, 9, [&, define = define](bool scheduled) {
                Func f("f");
                f(p.x, p.y) = u8(100);
                define(f);
                if (scheduled) {
                    f.vectorize(p.x, lanes, swar);
                    f.update().reorder(r, p.x).vectorize(p.x, lanes, swar);
                }
                return f;
            });
        }
        compare("wide sum", 9, 9, [&](bool scheduled) {
            Func f("f");
            f(p.x, p.y) = 0;
            f(p.x, p.y) += i32(p.in(p.x + r, p.y));
            if (scheduled) {
                f.update().atomic().vectorize(r, lanes, swar);
            }
            return f;
        });
        compare("wide signed sum", 9, 9, [&](bool scheduled) {
            Func f("f");
            f(p.x, p.y) = i16(0);
            f(p.x, p.y) += i16(i8(p.in(p.x + r, p.y)));
            if (scheduled) {
                f.update().atomic().vectorize(r, lanes, swar);
            }
            return f;
        });
        compare("any and all", 9, 9, [&](bool scheduled) {
            Func f("f"), g("g"), h("h");
            f(p.x, p.y) = cast<bool>(Expr(0));
            f(p.x, p.y) = f(p.x, p.y) || p.in(p.x + r, p.y) > 240;
            g(p.x, p.y) = cast<bool>(Expr(1));
            g(p.x, p.y) = g(p.x, p.y) && p.in(p.x + r, p.y) > 9;
            h(p.x, p.y) = select(f(p.x, p.y), 1, 0) + select(g(p.x, p.y), 2, 0);
            f.compute_root();
            g.compute_root();
            if (scheduled) {
                f.update().atomic().vectorize(r, lanes, swar);
                g.update().atomic().vectorize(r, lanes, swar);
            }
            return h;
        });
        compare("rfactor", 9, 9, [&](bool scheduled) {
            Func f("f");
            RVar ro("ro"), ri("ri");
            f(p.x, p.y) = u8(0);
            f(p.x, p.y) += p.in(p.x + r, p.y);
            if (scheduled) {
                Func partial = f.update().split(r, ro, ri, lanes).rfactor(ri, p.u);
                partial.compute_root().vectorize(p.u, lanes, swar);
                partial.update().vectorize(p.u, lanes, swar);
            }
            return f;
        });
        compare("sum inside a SIMD loop", 9, 8, [&](bool scheduled) {
            Func f("f");
            f(p.x, p.y) = u16(0);
            f(p.x, p.y) += u16(p.in(p.x + r, p.y));
            if (scheduled) {
                RVar ro("ro"), ri("ri");
                f.update().atomic().split(r, ro, ri, lanes).reorder(ri, p.y, ro, p.x).vectorize(ri, swar).vectorize(p.y, 4);
            }
            return f;
        });
    }
}

TEST(SWARCompositions, shapes_of_access) {
    Program p;
    const std::vector<std::pair<std::string, std::function<Expr()>>> indices = {
        {"reversed", [&] { return p.in(63 - p.x, p.y); }},
        {"strided", [&] { return p.in(2 * p.x, p.y); }},
        {"rotated", [&] { return p.in(p.x / 4 * 4 + (p.x + 1) % 4, p.y); }},
        {"swapped", [&] { return p.in(select(p.x % 2 == 0, p.x + 5, p.x + 3), p.y); }},
        {"repeated", [&] { return p.in(p.x % 4 + 20, p.y); }},
        {"half speed", [&] { return p.in(p.x / 2, p.y); }},
        {"transposed", [&] { return p.in(p.y, p.x); }},
        {"uniform", [&] { return p.in(p.y, 3) + p.in(p.x, p.y); }},
        {"clamped", [&] { return p.in(clamp(p.x - 3, 0, 20), p.y); }},
        {"repeat_edge", [&] { return BoundaryConditions::repeat_edge(p.in)(p.x * 1 + 80, p.y - 2) + u8(1); }},
        {"constant_exterior", [&] { return BoundaryConditions::constant_exterior(p.in, 7)(p.x - 3, p.y - 2); }},
        {"mirror_image", [&] { return BoundaryConditions::repeat_image(p.in, {{0, 96}, {0, 40}})(p.x, p.y); }},
    };
    for (int lanes : {3, 4, 8}) {
        for (const auto &[name, value] : indices) {
            compare(name, 32, 8, [&, value = value](bool scheduled) {
                Func f("f");
                f(p.x, p.y) = value() ^ u8(p.x);
                if (scheduled) {
                    f.bound(p.x, 0, 32).vectorize(p.x, lanes, swar, TailStrategy::GuardWithIf);
                }
                return f;
            });
        }
        compare("reversed store", 32, 8, [&](bool scheduled) {
            Func f("f");
            RDom r(0, 32);
            f(p.x, p.y) = u8(0);
            f(31 - r, p.y) = p.in(r, p.y);
            if (scheduled) {
                f.update().vectorize(r, lanes, swar);
            }
            return f;
        });
        compare("strided store", 64, 8, [&](bool scheduled) {
            Func f("f");
            RDom r(0, 32);
            f(p.x, p.y) = u8(0);
            f(2 * r, p.y) = p.in(r, p.y) + u8(3);
            if (scheduled) {
                f.update().vectorize(r, lanes, swar);
            }
            return f;
        });
        compare("tuple", 32, 8, [&](bool scheduled) {
            Func f("f"), g("g");
            f(p.x, p.y) = Tuple(p.in(p.x, p.y), u8(3));
            f(p.x, p.y) = Tuple(f(p.x, p.y)[1] + p.in(p.x, p.y), f(p.x, p.y)[0] ^ 3);
            g(p.x, p.y) = f(p.x, p.y)[0] - f(p.x, p.y)[1];
            f.compute_root();
            if (scheduled) {
                f.update().vectorize(p.x, lanes, swar);
            }
            return g;
        });
        compare("condition", 32, 8, [&](bool scheduled) {
            Func f("f");
            RDom r(0, 32);
            r.where(r < 20 || p.in(r, 0) > 99);
            f(p.x, p.y) = u8(0);
            f(r, p.y) = p.in(r, p.y) + u8(3);
            if (scheduled) {
                f.update().vectorize(r, lanes, swar);
            }
            return f;
        });
    }
}

}  // namespace
