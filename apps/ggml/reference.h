#pragma once

// ggml's block formats in plain C++, written from their description (shared/spec/ggml-quants.md, sections 3 and 5) without
// a look at blocks.h: what the compiled pipelines are compared with.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace reference {

inline int u8(const uint8_t *p) {
    return *p;
}
inline int s8(const uint8_t *p) {
    return (int8_t)*p;
}
inline int u16(const uint8_t *p) {
    return p[0] | p[1] << 8;
}
inline int s16(const uint8_t *p) {
    return (int16_t)u16(p);
}
inline uint32_t u32(const uint8_t *p) {
    return (uint32_t)u16(p) | (uint32_t)u16(p + 2) << 16;
}
inline int nib(int byte, int h) {
    return h ? byte >> 4 : byte & 15;
}
inline int bit(uint32_t word, int k) {
    return (word >> k) & 1;
}

/// IEEE binary16, subnormals included.
inline float f16(const uint8_t *p) {
    const int h = u16(p), exponent = (h >> 10) & 31, mantissa = h & 1023;
    float v;
    if (exponent == 0) {
        v = std::ldexp((float)mantissa, -24);
    } else if (exponent == 31) {
        v = mantissa ? NAN : INFINITY;
    } else {
        v = std::ldexp((float)(mantissa + 1024), exponent - 25);
    }
    return h >> 15 ? -v : v;
}

inline float f32(const uint8_t *p) {
    float v;
    memcpy(&v, p, 4);
    return v;
}

const int NL[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
const int FP4[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// The twelve bytes of scales and minima of q4_K and q5_K.
inline void six_bits(const uint8_t *s, int j, int *sc, int *m) {
    if (j < 4) {
        *sc = s[j] & 63;
        *m = s[j + 4] & 63;
    } else {
        *sc = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
        *m = (s[j + 4] >> 4) | (s[j] >> 6) << 4;
    }
}

inline int trit(int v, int n) {
    static const int power[] = {1, 3, 9, 27, 81};
    return ((v * power[n]) % 256 * 3) >> 8;
}

/// One value of a block, as float32 arithmetic gives it, one rounding per operation.
inline float value(const std::string &f, const uint8_t *b, int i) {
    auto code = [&](int at) { return nib(b[at + i % 16], i / 16 % 2); };
    if (f == "q4_0") {
        return (float)(code(2) - 8) * f16(b);
    }
    if (f == "q4_1") {
        volatile float p = (float)code(4) * f16(b);
        return p + f16(b + 2);
    }
    if (f == "q5_0") {
        return (float)((code(6) | bit(u32(b + 2), i) << 4) - 16) * f16(b);
    }
    if (f == "q5_1") {
        volatile float p = (float)(code(8) | bit(u32(b + 4), i) << 4) * f16(b);
        return p + f16(b + 2);
    }
    if (f == "q8_0") {
        return (float)s8(b + 2 + i) * f16(b);
    }
    if (f == "q8_1") {
        return (float)s8(b + 4 + i) * f16(b);
    }
    if (f == "iq4_nl") {
        return f16(b) * (float)NL[code(2)];
    }
    if (f == "mxfp4") {
        return std::ldexp((float)FP4[code(1)], b[0] - 128);
    }
    if (f == "q1_0") {
        return bit(b[2 + i / 8], i % 8) ? f16(b) : -f16(b);
    }
    if (f == "q2_0") {
        return (float)(((b[2 + i / 4] >> 2 * (i % 4)) & 3) - 1) * f16(b);
    }
    if (f == "nvfp4") {
        const int g = i / 16, l = i % 16, x = b[g], e = (x >> 3) & 15, man = x & 7;
        const double s = x == 0 || x == 127 ? 0 : e == 0 ? std::ldexp(man, -9) : std::ldexp(1 + man / 8.0, e - 7);
        return (float)(s / 2) * (float)FP4[nib(b[4 + 8 * g + l % 8], l / 8)];
    }
    if (f == "tq2_0") {
        const int c = (b[32 * (i / 128) + i % 32] >> 2 * ((i % 128) / 32)) & 3;
        return (float)(c - 1) * f16(b + 64);
    }
    if (f == "tq1_0") {
        const int t = i < 160 ? trit(b[i % 32], i / 32) :
                      i < 240 ? trit(b[32 + (i - 160) % 16], (i - 160) / 16) :
                                trit(b[48 + (i - 240) % 4], (i - 240) / 4);
        return (float)(t - 1) * f16(b + 52);
    }
    if (f == "q4_K" || f == "q5_K") {
        const bool five = f == "q5_K";
        const int j = i / 32;
        int sc, m;
        six_bits(b + 4, j, &sc, &m);
        int c = nib(b[(five ? 48 : 16) + 32 * (i / 64) + i % 32], j % 2);
        if (five) {
            c |= bit(b[16 + i % 32], j) << 4;
        }
        volatile float scale = f16(b) * (float)sc, min = f16(b + 2) * (float)m, x = scale * (float)c;
        return x - min;
    }
    if (f == "q6_K") {
        const int h = i / 128, g = i % 128 / 32, l = i % 32;
        const int low = nib(b[64 * h + 32 * (g % 2) + l], g / 2), high = (b[128 + 32 * h + l] >> 2 * g) & 3;
        volatile float scale = f16(b + 208) * (float)s8(b + 192 + i / 16);
        return scale * (float)((low | high << 4) - 32);
    }
    auto order_q = [&](int at) { return (b[at + 32 * (i / 128) + i % 32] >> 2 * ((i % 128) / 32)) & 3; };
    if (f == "q3_K") {
        const int j = i / 16;
        const uint8_t *s = b + 96;
        const int low = j < 8 ? s[j] & 15 : s[j - 8] >> 4, high = (s[8 + j % 4] >> 2 * (j / 4)) & 3;
        volatile float scale = f16(b + 108) * (float)((low | high << 4) - 32);
        return scale * (float)(order_q(32) - (bit(b[i % 32], i / 32) ? 0 : 4));
    }
    if (f == "q2_K") {
        const int s = b[i / 16];
        volatile float scale = f16(b + 80) * (float)(s & 15), min = f16(b + 82) * (float)(s >> 4);
        volatile float x = scale * (float)order_q(16);
        return x - min;
    }
    if (f == "iq4_xs") {
        const int j = i / 32;
        const int ls = nib(b[4 + j / 2], j % 2) | ((u16(b + 2) >> 2 * j) & 3) << 4;
        volatile float scale = f16(b) * (float)(ls - 32);
        return scale * (float)NL[nib(b[8 + 16 * j + i % 16], i % 32 / 16)];
    }
    if (f == "q8_K") {
        return f32(b) * (float)s8(b + 4 + i);
    }
    return NAN;
}

/// Where the scale and the minimum of a K format's block are; −1 for none.
inline void places(const std::string &f, int *d, int *dmin) {
    *d = f == "q2_K" ? 80 : f == "q3_K" ? 108 : f == "q6_K" ? 208 : 0;
    *dmin = f == "q2_K" ? 82 : f == "q4_K" || f == "q5_K" ? 2 : -1;
}

/// The integers of the product of a K format's block with a q8_K block: Σ sc·(Σ q·a) and Σ m·bsums.
inline void integers(const std::string &f, const uint8_t *w, const uint8_t *a, int *s1, int *s2) {
    *s1 = *s2 = 0;
    for (int i = 0; i < 256; i++) {
        const int x = s8(a + 4 + i), bsum = i % 16 == 0 ? s16(a + 260 + 2 * (i / 16)) : 0;
        int sc = 0, m = 0, q = 0;
        if (f == "q4_K" || f == "q5_K") {
            const bool five = f == "q5_K";
            const int j = i / 32;
            six_bits(w + 4, j, &sc, &m);
            q = nib(w[(five ? 48 : 16) + 32 * (j / 2) + i % 32], j % 2);
            if (five) {
                q |= bit(w[16 + i % 32], j) << 4;
            }
        } else {
            const int low = (w[(f == "q2_K" ? 16 : 32) + 32 * (i / 128) + i % 32] >> 2 * ((i % 128) / 32)) & 3;
            const int j = i / 16;
            if (f == "q2_K") {
                sc = w[j] & 15;
                m = w[j] >> 4;
                q = low;
            } else if (f == "q3_K") {
                const uint8_t *s = w + 96;
                sc = ((j < 8 ? s[j] & 15 : s[j - 8] >> 4) | ((s[8 + j % 4] >> 2 * (j / 4)) & 3) << 4) - 32;
                q = low - (bit(w[i % 32], i / 32) ? 0 : 4);
            } else {
                const int h = i / 128, g = i % 128 / 32, l = i % 32;
                sc = s8(w + 192 + j);
                q = (nib(w[64 * h + 32 * (g % 2) + l], g / 2) | ((w[128 + 32 * h + l] >> 2 * g) & 3) << 4) - 32;
            }
        }
        *s1 += sc * q * x;
        *s2 += m * bsum;
    }
}

/// The product of rows of `blocks` blocks in double precision; `terms` is the sum of the absolute values of what is added.
inline double dot(const std::string &f, int blocks, int block_bytes, const uint8_t *w, const uint8_t *a, double *terms) {
    double result = 0;
    *terms = 0;
    int d, dmin;
    places(f, &d, &dmin);
    for (int b = 0; b < blocks; b++, w += block_bytes, a += 292) {
        int s1, s2;
        integers(f, w, a, &s1, &s2);
        const double d8 = f32(a), x = (double)f16(w + d) * d8 * s1, y = dmin < 0 ? 0 : (double)f16(w + dmin) * d8 * s2;
        result += x - y;
        *terms += std::fabs(x) + std::fabs(y);
    }
    return result;
}

/// 256 floats as a q8_K block. The sums of a block of zeros are zero.
inline void quantize_q8_K(const float *x, uint8_t *block) {
    float largest = 0, magnitude = 0;
    for (int i = 0; i < 256; i++) {
        if (std::fabs(x[i]) > magnitude) {
            magnitude = std::fabs(x[i]);
            largest = x[i];
        }
    }
    memset(block, 0, 292);
    if (magnitude == 0) {
        return;
    }
    const float k = -127.0f / largest, d = 1.0f / k;
    memcpy(block, &d, 4);
    for (int j = 0; j < 16; j++) {
        int sum = 0;
        for (int i = 0; i < 16; i++) {
            volatile float scaled = k * x[16 * j + i];
            const int q = std::min(127, (int)std::nearbyintf(scaled));
            block[4 + 16 * j + i] = (uint8_t)q;
            sum += q;
        }
        block[260 + 2 * j] = (uint8_t)sum;
        block[261 + 2 * j] = (uint8_t)(sum >> 8);
    }
}

}  // namespace reference
