/* src/base/exact.c - sums that do not depend on the order */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/exact.h"

#include <math.h>
#include <string.h>

enum { EXACT_UNIT = -96 }; /* exponent of the lowest bit */

static bool exact_negative(const pxi_exact *a)
{
    return a->limb[2] >> 63;
}

/* a += b; `lost` if the sign shows that it did not fit. */
static void exact_plus(pxi_exact *a, const uint64_t b[3], bool *lost)
{
    const bool signs_equal = (a->limb[2] >> 63) == (b[2] >> 63);
    const uint64_t sign = a->limb[2] >> 63;
    unsigned __int128 t = (unsigned __int128)a->limb[0] + b[0];
    a->limb[0] = (uint64_t)t;
    t = (unsigned __int128)a->limb[1] + b[1] + (uint64_t)(t >> 64);
    a->limb[1] = (uint64_t)t;
    a->limb[2] = a->limb[2] + b[2] + (uint64_t)(t >> 64);
    if (signs_equal && a->limb[2] >> 63 != sign)
        *lost = true;
}

static void exact_negate(uint64_t a[3])
{
    uint64_t carry = 1;
    for (int i = 0; i < 3; i++) {
        a[i] = ~a[i] + carry;
        carry = carry && a[i] == 0;
    }
}

void pxi_exact_add(pxi_exact *sum, double x, bool *lost)
{
    if (!(fabs(x) < PXI_EXACT_MOST)) { /* NaN too */
        *lost = true;
        return;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0)
        exponent = 1; /* subnormal: no hidden bit */
    else
        mantissa |= UINT64_C(1) << 52;
    int shift = exponent - 1075 - EXACT_UNIT; /* of the mantissa's lowest bit, in units */
    if (shift < 0) {
        if (shift < -54)
            return; /* below half a unit */
        const uint64_t rest = mantissa & ((UINT64_C(1) << -shift) - 1);
        const uint64_t half = UINT64_C(1) << (-shift - 1);
        mantissa >>= -shift;
        mantissa += rest > half || (rest == half && (mantissa & 1));
        shift = 0;
    }
    uint64_t wide[3] = {0};
    const int at = shift / 64, by = shift % 64; /* at <= 1: x < 2^71 */
    wide[at] = mantissa << by;
    if (by > 0)
        wide[at + 1] = mantissa >> (64 - by);
    if (bits >> 63)
        exact_negate(wide);
    exact_plus(sum, wide, lost);
}

void pxi_exact_join(pxi_exact *sum, const pxi_exact *other, bool *lost)
{
    exact_plus(sum, other->limb, lost);
}

static int exact_bit_count(const uint64_t a[3])
{
    for (int i = 2; i >= 0; i--)
        if (a[i])
            return 64 * i + 64 - __builtin_clzll(a[i]);
    return 0;
}

static bool exact_bit(const uint64_t a[3], int i)
{
    return a[i / 64] >> i % 64 & 1;
}

double pxi_exact_value(const pxi_exact *sum)
{
    uint64_t a[3];
    memcpy(a, sum->limb, sizeof a);
    const bool negative = exact_negative(sum);
    if (negative)
        exact_negate(a);
    const int count = exact_bit_count(a);
    uint64_t mantissa = 0;
    int low = count - 53; /* the mantissa's lowest bit; below 0: everything fits */
    if (low <= 0) {
        mantissa = a[0];
        low = 0;
    } else {
        const int at = low / 64, by = low % 64;
        mantissa = a[at] >> by;
        if (by > 0 && at < 2)
            mantissa |= a[at + 1] << (64 - by);
        mantissa &= (UINT64_C(1) << 53) - 1;
        bool more = false; /* anything below the half */
        for (int i = 0; i < low - 1 && !more; i++)
            more = exact_bit(a, i);
        if (exact_bit(a, low - 1) && (more || (mantissa & 1)))
            mantissa++; /* 2^53 is exact too */
    }
    const double value = ldexp((double)mantissa, low + EXACT_UNIT);
    return negative ? -value : value;
}

double pxi_exact_rest(const pxi_exact *sum)
{
    pxi_exact rest = *sum;
    uint64_t wide[3] = {0};
    const double value = pxi_exact_value(sum);
    /* The value has at most 53 bits from some bit on: turn it back into an integer. */
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);
    if (value != 0.0) {
        const uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
        const int shift = exponent - 53 - EXACT_UNIT;
        if (shift < 0)
            wide[0] = mantissa >> -shift; /* the bits below are 0 */
        else {
            const int at = shift / 64, by = shift % 64;
            wide[at] = mantissa << by;
            if (by > 0 && at < 2)
                wide[at + 1] = mantissa >> (64 - by);
        }
        if (value > 0.0)
            exact_negate(wide);
        bool lost = false; /* a difference of neighbours fits */
        exact_plus(&rest, wide, &lost);
    }
    return pxi_exact_value(&rest);
}

void pxi_exact_add_all(pxi_exact *sums, const double *x, size_t count, bool *lost)
{
    for (size_t i = 0; i < count; i++)
        pxi_exact_add(&sums[i], x[i], lost);
}

void pxi_exact_join_all(pxi_exact *sums, const pxi_exact *others, size_t count, bool *lost)
{
    for (size_t i = 0; i < count; i++)
        pxi_exact_join(&sums[i], &others[i], lost);
}
