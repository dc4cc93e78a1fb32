// Text of values, written into [dst, end). Each function returns the new dst, cuts off what does not fit, and leaves a
// NUL behind what it wrote, for which *end is reserved by the caller.
#include "runtime_internal.h"

namespace {

char *put(char *dst, char *end, char c) {
    if (dst < end) {
        *dst++ = c;
    }
    return dst;
}

char *finish(char *dst, char *end) {
    if (dst <= end) {
        *dst = 0;
    }
    return dst;
}

/// The exact decimal expansion of a finite double: digits[0 … count), the point standing after `point` digits.
struct Decimal {
    static constexpr int max_integer = 309, max_fraction = 1075 + 9;
    char digits[1 + max_integer + max_fraction];
    int count = 0;
    int point = 0;

    Decimal(uint64_t mantissa, int exponent) {
        // Slot 0 takes a carry from rounding.
        digits[count++] = 0;
        if (exponent >= 0) {
            integer(mantissa, exponent);
            point = count;
        } else {
            integer(exponent > -64 ? mantissa >> -exponent : 0, 0);
            point = count;
            fraction(mantissa, -exponent);
        }
    }

    void integer(uint64_t mantissa, int shift) {
        uint32_t words[36] = {0};
        const int w = shift / 32, s = shift % 32;
        words[w] = (uint32_t)(mantissa << s);
        words[w + 1] = (uint32_t)(mantissa >> (32 - s));
        words[w + 2] = s ? (uint32_t)(mantissa >> (64 - s)) : 0;
        char reversed[324];
        int n = 0, top = 35;
        for (;;) {
            while (top >= 0 && words[top] == 0) {
                top--;
            }
            if (top < 0) {
                break;
            }
            uint64_t rest = 0;
            for (int i = top; i >= 0; i--) {
                rest = (rest << 32) | words[i];
                words[i] = (uint32_t)(rest / 1000000000);
                rest %= 1000000000;
            }
            for (int i = 0; i < 9; i++) {
                reversed[n++] = (char)(rest % 10);
                rest /= 10;
            }
        }
        while (n > 0 && reversed[n - 1] == 0) {
            n--;
        }
        while (n > 0) {
            digits[count++] = reversed[--n];
        }
    }

    // The fraction mantissa / 2^bits, in words of 32 bits with the most significant first.
    void fraction(uint64_t mantissa, int bits) {
        uint32_t words[36] = {0};
        for (int i = 0; i < 64; i++) {
            const int weight = bits - i;  // This bit is worth 2^-weight.
            if (weight >= 1 && ((mantissa >> i) & 1)) {
                words[(weight - 1) / 32] |= 0x80000000u >> ((weight - 1) % 32);
            }
        }
        int used = 36;
        for (;;) {
            while (used > 0 && words[used - 1] == 0) {
                used--;
            }
            if (used == 0) {
                break;
            }
            uint64_t carry = 0;
            for (int i = used - 1; i >= 0; i--) {
                carry += (uint64_t)words[i] * 1000000000;
                words[i] = (uint32_t)carry;
                carry >>= 32;
            }
            for (int i = 8; i >= 0; i--) {
                digits[count + i] = (char)(carry % 10);
                carry /= 10;
            }
            count += 9;
        }
    }

    char digit(int i) const { return i < count ? digits[i] : 0; }

    /// Keeps the first n digits: to nearest, ties to even.
    void round_to(int n) {
        if (n >= count) {
            return;
        }
        bool up = digits[n] > 5;
        if (digits[n] == 5) {
            up = (digits[n - 1] & 1) != 0;
            for (int i = n + 1; i < count && !up; i++) {
                up = digits[i] != 0;
            }
        }
        count = n;
        for (int i = n - 1; up && i >= 0; i--) {
            up = digits[i] == 9;
            digits[i] = up ? 0 : digits[i] + 1;
        }
    }
};

constexpr int decimals = 6;

char *fixed_point(char *dst, char *end, Decimal &d) {
    d.round_to(d.point + decimals);
    int first = 0;
    while (first < d.point - 1 && d.digits[first] == 0) {
        first++;
    }
    for (int i = first; i < d.point; i++) {
        dst = put(dst, end, (char)('0' + d.digits[i]));
    }
    dst = put(dst, end, '.');
    for (int i = 0; i < decimals; i++) {
        dst = put(dst, end, (char)('0' + d.digit(d.point + i)));
    }
    return dst;
}

char *scientific_form(char *dst, char *end, Decimal &d) {
    const auto leading_zeros = [&]() {
        int n = 0;
        while (n < d.count && d.digits[n] == 0) {
            n++;
        }
        return n;
    };
    int first = leading_zeros();
    if (first < d.count) {
        d.round_to(first + 1 + decimals);
        first = leading_zeros();  // 9.9999999 became 10.
    }
    const bool zero = first >= d.count;
    int exponent = zero ? 0 : d.point - 1 - first;
    dst = put(dst, end, (char)('0' + (zero ? 0 : d.digits[first])));
    dst = put(dst, end, '.');
    for (int i = 1; i <= decimals; i++) {
        dst = put(dst, end, (char)('0' + (zero ? 0 : d.digit(first + i))));
    }
    dst = put(dst, end, 'e');
    dst = put(dst, end, exponent < 0 ? '-' : '+');
    return halide_int64_to_string(dst, end, exponent < 0 ? -exponent : exponent, 2);
}

}  // namespace

extern "C" {

WEAK char *halide_string_to_string(char *dst, char *end, const char *arg) {
    for (arg = arg ? arg : "<null>"; *arg; arg++) {
        dst = put(dst, end, *arg);
    }
    return finish(dst, end);
}

WEAK char *halide_uint64_to_string(char *dst, char *end, uint64_t arg, int min_digits) {
    char digits[32];
    int n = 0;
    while (n < 31 && (arg != 0 || n < min_digits)) {
        digits[n++] = (char)('0' + arg % 10);
        arg /= 10;
    }
    while (n > 0) {
        dst = put(dst, end, digits[--n]);
    }
    return finish(dst, end);
}

WEAK char *halide_int64_to_string(char *dst, char *end, int64_t arg, int min_digits) {
    if (arg < 0) {
        dst = put(dst, end, '-');
        return halide_uint64_to_string(dst, end, 0 - (uint64_t)arg, min_digits);
    }
    return halide_uint64_to_string(dst, end, (uint64_t)arg, min_digits);
}

WEAK char *halide_double_to_string(char *dst, char *end, double arg, int scientific) {
    uint64_t bits;
    memcpy(&bits, &arg, sizeof(bits));
    const uint64_t fraction = bits & 0xfffffffffffffull;
    const int exponent = (int)((bits >> 52) & 0x7ff);
    if (exponent == 0x7ff && fraction) {
        return halide_string_to_string(dst, end, bits >> 63 ? "-nan" : "nan");
    }
    if (bits >> 63) {
        dst = put(dst, end, '-');
    }
    if (exponent == 0x7ff) {
        return halide_string_to_string(dst, end, "inf");
    }
    Decimal d(exponent ? fraction | (1ull << 52) : fraction, (exponent ? exponent : 1) - 1075);
    return finish(scientific ? scientific_form(dst, end, d) : fixed_point(dst, end, d), end);
}

WEAK char *halide_pointer_to_string(char *dst, char *end, const void *arg) {
    uint64_t bits = (uint64_t)(uintptr_t)arg;
    char digits[16];
    int n = 0;
    do {
        digits[n++] = "0123456789abcdef"[bits & 15];
        bits >>= 4;
    } while (bits);
    dst = put(dst, end, '0');
    dst = put(dst, end, 'x');
    while (n > 0) {
        dst = put(dst, end, digits[--n]);
    }
    return finish(dst, end);
}

WEAK char *halide_type_to_string(char *dst, char *end, const halide_type_t *arg) {
    const char *name = "bad_type_code";
    switch (arg->code) {
    case halide_type_int:
        name = "int";
        break;
    case halide_type_uint:
        name = "uint";
        break;
    case halide_type_float:
        name = "float";
        break;
    case halide_type_handle:
        name = "handle";
        break;
    case halide_type_bfloat:
        name = "bfloat";
        break;
    }
    dst = halide_string_to_string(dst, end, name);
    return halide_uint64_to_string(dst, end, arg->bits, 1);
}

WEAK char *halide_buffer_to_string(char *dst, char *end, const halide_buffer_t *arg) {
    if (!arg) {
        return halide_string_to_string(dst, end, "nullptr");
    }
    dst = halide_string_to_string(dst, end, "buffer(");
    dst = halide_uint64_to_string(dst, end, arg->device, 1);
    dst = halide_string_to_string(dst, end, ", ");
    dst = halide_pointer_to_string(dst, end, arg->device_interface);
    dst = halide_string_to_string(dst, end, ", ");
    dst = halide_pointer_to_string(dst, end, arg->host);
    dst = halide_string_to_string(dst, end, ", ");
    dst = halide_uint64_to_string(dst, end, arg->flags, 1);
    dst = halide_string_to_string(dst, end, ", ");
    dst = halide_type_to_string(dst, end, &arg->type);
    for (int i = 0; i < arg->dimensions; i++) {
        dst = halide_string_to_string(dst, end, ", {");
        dst = halide_int64_to_string(dst, end, arg->dim[i].min, 1);
        dst = halide_string_to_string(dst, end, ", ");
        dst = halide_int64_to_string(dst, end, arg->dim[i].extent, 1);
        dst = halide_string_to_string(dst, end, ", ");
        dst = halide_int64_to_string(dst, end, arg->dim[i].stride, 1);
        dst = halide_string_to_string(dst, end, "}");
    }
    return halide_string_to_string(dst, end, ")");
}

}  // extern "C"
