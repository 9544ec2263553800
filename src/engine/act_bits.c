/* src/engine/act_bits.c - where an activation lets the gradient through, one bit per element */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/act_bits.h"

#include "engine/prim.h"

enum { BITS_LANES = 16 };

size_t pxi_act_bits_words(size_t count)
{
    return (count + BITS_LANES - 1) / BITS_LANES;
}

#if defined(__x86_64__)

#include <immintrin.h>

#define BITS_TARGET __attribute__((target("avx512f")))
#define BITS_INLINE static inline __attribute__((always_inline, target("avx512f")))

bool pxi_act_bits_take(const pxi_act *act)
{
    return (act->kind == PXI_ACT_RELU || act->kind == PXI_ACT_CLIP) && pxi_prim_has_avx512();
}

/* The elements of the last word. */
BITS_INLINE __mmask16 bits_last(size_t count)
{
    const size_t left = count % BITS_LANES;
    if (left == 0)
        return 0xffff;
    return (__mmask16)((1u << left) - 1);
}

/* What does not lie on or beyond one of two bounds; NaN does not. */
BITS_INLINE uint16_t bits_between(__mmask16 there, __m512 v, __m512 low, __m512 high)
{
    return (uint16_t)_mm512_mask_cmp_ps_mask(_mm512_mask_cmp_ps_mask(there, v, low, _CMP_NLE_UQ), v,
                                             high, _CMP_NGE_UQ);
}

BITS_TARGET void pxi_act_bits_pack(const pxi_act *act, const float *y, uint16_t *bits, size_t count)
{
    const bool clip = act->kind == PXI_ACT_CLIP;
    const __m512 low = _mm512_set1_ps(clip ? act->alpha : 0.0f);
    const __m512 high = _mm512_set1_ps(act->beta);
    size_t w = 0;
    for (; (w + 1) * BITS_LANES <= count; w++) {
        const __m512 v = _mm512_loadu_ps(y + w * BITS_LANES);
        bits[w] = clip ? bits_between(0xffff, v, low, high)
                       : (uint16_t)_mm512_cmp_ps_mask(v, low, _CMP_NLE_UQ);
    }
    if (w * BITS_LANES < count) {
        const __mmask16 there = bits_last(count);
        const __m512 v = _mm512_maskz_loadu_ps(there, y + w * BITS_LANES);
        bits[w] = clip ? bits_between(there, v, low, high)
                       : (uint16_t)_mm512_mask_cmp_ps_mask(there, v, low, _CMP_NLE_UQ);
    }
}

BITS_INLINE __m512 bits_gradient(__m512 dy, uint16_t word, bool leaky, __m512 alpha)
{
    return leaky ? _mm512_mask_mul_ps(dy, (__mmask16)~word, dy, alpha)
                 : _mm512_maskz_mov_ps((__mmask16)word, dy);
}

BITS_TARGET void pxi_act_bits_backward(const pxi_act *act, const uint16_t *bits, const float *dy,
                                       float *g, float *residual, bool residual_adds, size_t count)
{
    const bool leaky = act->kind == PXI_ACT_RELU && act->alpha != 0.0f;
    const __m512 alpha = _mm512_set1_ps(act->alpha);
    size_t w = 0, i = 0;
    for (; i + BITS_LANES <= count; w++, i += BITS_LANES) { /* masked stores are slow */
        __m512 v = bits_gradient(_mm512_loadu_ps(dy + i), bits[w], leaky, alpha);
        _mm512_storeu_ps(g + i, v);
        if (!residual)
            continue;
        if (residual_adds)
            v = _mm512_add_ps(v, _mm512_loadu_ps(residual + i));
        _mm512_storeu_ps(residual + i, v);
    }
    if (i < count) {
        const __mmask16 there = bits_last(count);
        __m512 v = bits_gradient(_mm512_maskz_loadu_ps(there, dy + i), bits[w], leaky, alpha);
        _mm512_mask_storeu_ps(g + i, there, v);
        if (residual_adds)
            v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(there, residual + i));
        if (residual)
            _mm512_mask_storeu_ps(residual + i, there, v);
    }
}

#else /* no AVX-512 to be had */

bool pxi_act_bits_take(const pxi_act *act)
{
    (void)act;
    return false;
}

void pxi_act_bits_pack(const pxi_act *act, const float *y, uint16_t *bits, size_t count)
{
    (void)act, (void)y, (void)bits, (void)count;
}

void pxi_act_bits_backward(const pxi_act *act, const uint16_t *bits, const float *dy, float *g,
                           float *residual, bool residual_adds, size_t count)
{
    (void)act, (void)bits, (void)dy, (void)g, (void)residual, (void)residual_adds, (void)count;
}

#endif
