#include "ir/Intrinsics.h"

#include <climits>
#include <map>

#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

struct Arity {
    int min, max;
    constexpr Arity(int n)
        : min(n), max(n) {
    }
    constexpr Arity(int min, int max)
        : min(min), max(max) {
    }
};

constexpr Arity at_least(int n) {
    return {n, INT_MAX};
}

constexpr bool pure = true, effect = false;
constexpr bool elementwise = true, across = false;
constexpr bool expands = true, primitive = false;

constexpr IntrinsicInfo make_info(const char *name, Call::IntrinsicOp op, Arity arity, bool purity, bool lanes,
                                  bool expansion) {
    return {name, op, arity.min, arity.max, purity, lanes, expansion};
}

constexpr IntrinsicInfo intrinsics[] = {
#define HALIDE_INTRINSIC(name, arity, purity, lanes, expansion) make_info(#name, Call::name, arity, purity, lanes, expansion),
#include "ir/Intrinsics.def"
#undef HALIDE_INTRINSIC
};

constexpr bool table_is_in_order() {
    for (int i = 0; i < Call::IntrinsicOpCount; i++) {
        if (intrinsics[i].op != i) {
            return false;
        }
    }
    return sizeof(intrinsics) / sizeof(intrinsics[0]) == Call::IntrinsicOpCount;
}
static_assert(table_is_in_order(), "Intrinsics.def has one row for each Call::IntrinsicOp, in its order");

}  // namespace

const IntrinsicInfo &intrinsic_info(Call::IntrinsicOp op) {
    internal_assert(op >= 0 && op < Call::IntrinsicOpCount) << "There is no intrinsic number " << (int)op;
    return intrinsics[op];
}

const IntrinsicInfo *find_intrinsic(const std::string &name) {
    static const std::map<std::string, const IntrinsicInfo *> by_name = [] {
        std::map<std::string, const IntrinsicInfo *> table;
        for (const IntrinsicInfo &i : intrinsics) {
            table[i.name] = &i;
        }
        return table;
    }();
    const auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : it->second;
}

}  // namespace Internal
}  // namespace Halide
