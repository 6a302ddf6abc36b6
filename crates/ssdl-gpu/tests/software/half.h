// Numbers of half precision, which the processor does not have.
#pragma once
#include <string.h>

template <class To, class From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// To half precision, ties to even.
inline unsigned short half_of(float value) {
    unsigned bits = same_bits<unsigned>(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffffu;
    if (size >= 0x7f800000u) return (unsigned short)(sign | (size > 0x7f800000u ? 0x7fffu : 0x7c00u));
    if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    if (size < 0x38800000u) {
        // Below the smallest normal number the steps are even: rounding is the float addition's.
        float shifted = same_bits<float>(size) + 0.5f;
        return (unsigned short)(sign | (same_bits<unsigned>(shifted) - same_bits<unsigned>(0.5f)));
    }
    unsigned odd = size >> 13 & 1;
    return (unsigned short)(sign | ((size - 0x38000000u + 0xfff + odd) >> 13));
}

inline float of_half(unsigned short half) {
    unsigned sign = (unsigned)(half & 0x8000) << 16, exponent = (half >> 10) & 31, rest = half & 1023, bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000u | rest << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | rest << 13;
    } else {
        float small = (float)rest / 16777216.0f;
        return sign ? -small : small;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
