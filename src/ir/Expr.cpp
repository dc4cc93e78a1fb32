#include "ir/Expr.h"

#include "ir/IRPrinter.h"

#include <vector>

namespace Halide {
namespace Internal {

const char *IRNodeType_string(IRNodeType t) {
    switch (t) {
#define HALIDE_IR_NAME(T) \
    case IRNodeType::T:   \
        return #T;
        HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_NAME)
#undef HALIDE_IR_NAME
    }
    internal_error << "not a node type: " << (int)t << "\n";
}

// The destructor of a node releases its children, and may so arrive here again. Down to some depth that is ordinary
// recursion; below it, nodes are put aside and deleted when the recursion has unwound.
template<>
void destroy<IRNode>(const IRNode *t) {
    constexpr int max_depth = 64;
    // Plain values, so that static objects may still be destroyed after the thread's own.
    thread_local int depth = 0;
    thread_local std::vector<const IRNode *> *put_aside = nullptr;

    if (depth >= max_depth) {
        if (!put_aside) {
            put_aside = new std::vector<const IRNode *>;
        }
        put_aside->push_back(t);
        return;
    }
    depth++;
    delete t;
    if (depth == 1) {
        while (put_aside) {
            std::vector<const IRNode *> *batch = put_aside;
            put_aside = nullptr;
            for (const IRNode *n : *batch) {
                delete n;
            }
            delete batch;
        }
    }
    depth--;
}

const IntImm *IntImm::make(Type t, int64_t value) {
    internal_assert(t.is_int() && t.is_scalar()) << "IntImm must be a scalar Int, not " << t << "\n";
    internal_assert(t.bits() >= 1 && t.bits() <= 64) << "IntImm must have between 1 and 64 bits\n";
    const int unused = 64 - t.bits();
    IntImm *node = new IntImm;
    node->type = t;
    node->value = (int64_t)((uint64_t)value << unused) >> unused;
    return node;
}

const UIntImm *UIntImm::make(Type t, uint64_t value) {
    internal_assert(t.is_uint() && t.is_scalar()) << "UIntImm must be a scalar UInt, not " << t << "\n";
    internal_assert(t.bits() >= 1 && t.bits() <= 64) << "UIntImm must have between 1 and 64 bits\n";
    const int unused = 64 - t.bits();
    UIntImm *node = new UIntImm;
    node->type = t;
    node->value = (value << unused) >> unused;
    return node;
}

const FloatImm *FloatImm::make(Type t, double value) {
    internal_assert(t.is_float() && t.is_scalar()) << "FloatImm must be a scalar Float, not " << t << "\n";
    if (t.is_bfloat()) {
        internal_assert(t.bits() == 16) << "BFloat must have 16 bits\n";
        value = (double)bfloat16_t(value);
    } else if (t.bits() == 16) {
        value = (double)float16_t(value);
    } else if (t.bits() == 32) {
        value = (double)(float)value;
    } else {
        internal_assert(t.bits() == 64) << "FloatImm must have 16, 32 or 64 bits\n";
    }
    FloatImm *node = new FloatImm;
    node->type = t;
    node->value = value;
    return node;
}

const StringImm *StringImm::make(const std::string &value) {
    StringImm *node = new StringImm;
    node->type = type_of<const char *>();
    node->value = value;
    return node;
}

}  // namespace Internal
}  // namespace Halide
