/* src/engine/pointwise.c - 1x1 convolutions whose result channels are eight more than whole vectors
 *
 * A block of pixels at a time has its sums in registers: whole vectors of sixteen channels, and one
 * of eight. A result is the sum over input channels in their order, whatever block it falls into.
 */
#include "engine/pointwise.h"

#include "base/memory.h"

#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

struct pxi_pointwise {
    size_t pixels, in_channels, out_channels;
    pxi_act act;
    float *weights; /* [in_channel][out_channel] */
    float *bias;    /* per out channel, zeros if there is none */
};

pxi_pointwise *pxi_pointwise_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                                 const float *bias, const pxi_act *act)
{
    const size_t ic = (size_t)shape->in_channels, oc = (size_t)shape->out_channels;
    pxi_pointwise *made = pxi_arena_alloc(arena, 1, sizeof *made);
    float *w = pxi_arena_alloc(arena, ic * oc, sizeof *w);
    float *b = pxi_arena_alloc(arena, oc, sizeof *b);
    if (!made || !w || !b)
        return NULL;
    *made = (pxi_pointwise){.pixels = (size_t)(shape->out[0] * shape->out[1]),
                            .in_channels = ic,
                            .out_channels = oc,
                            .act = act ? *act : (pxi_act){0},
                            .weights = w,
                            .bias = b};
    pxi_pointwise_repack(made, weights, bias);
    return made;
}

void pxi_pointwise_repack(pxi_pointwise *pointwise, const float *weights, const float *bias)
{
    const size_t ic = pointwise->in_channels, oc = pointwise->out_channels;
    for (size_t o = 0; o < oc; o++)
        for (size_t i = 0; i < ic; i++)
            pointwise->weights[i * oc + o] = weights[o * ic + i];
    if (bias)
        memcpy(pointwise->bias, bias, oc * sizeof *bias);
}

#if defined(__x86_64__)

enum { LANES = 16, HALF = 8, MOST_WHOLE = 2, MOST_PIXELS = 12 };

#define POINT_TARGET __attribute__((target("avx512f,avx512vl,fma")))
#define POINT_INLINE static inline __attribute__((always_inline, target("avx512f,avx512vl,fma")))

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef float half_lanes __attribute__((vector_size(32), aligned(4), may_alias));

bool pxi_pointwise_takes(const pxi_conv_shape *s, const pxi_act *act)
{
    const pxi_act_kind kind = act ? act->kind : PXI_ACT_NONE;
    for (int i = 0; i < 2; i++)
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->pad_begin[i] != 0 || s->in[i] != s->out[i])
            return false;
    return !s->direct && s->group == 1 && s->out_channels % LANES == HALF &&
           s->out_channels / LANES <= MOST_WHOLE && s->in_channels >= LANES &&
           (kind == PXI_ACT_NONE || kind == PXI_ACT_RELU || kind == PXI_ACT_CLIP) &&
           pxi_prim_has_avx512();
}

/* `pixels` and `whole` (vectors) are constants after inlining. */
POINT_INLINE void point_block(const pxi_pointwise *p, const float *x, float *y, bool adds,
                              const int pixels, const int whole)
{
    const size_t ic = p->in_channels, oc = (size_t)(whole * LANES + HALF);
    lanes sum[MOST_PIXELS * MOST_WHOLE];
    half_lanes rest[MOST_PIXELS];
    for (int i = 0; i < pixels; i++) {
        for (int k = 0; k < whole; k++)
            sum[i * whole + k] = *(const lanes *)(const void *)(p->bias + k * LANES);
        rest[i] = *(const half_lanes *)(const void *)(p->bias + whole * LANES);
    }
    const float *w = p->weights;
    for (size_t c = 0; c < ic; c++, w += oc)
        for (int i = 0; i < pixels; i++) {
            const float value = x[(size_t)i * ic + c];
            for (int k = 0; k < whole; k++)
                sum[i * whole + k] += *(const lanes *)(const void *)(w + k * LANES) * value;
            rest[i] += *(const half_lanes *)(const void *)(w + whole * LANES) * value;
        }
    for (int i = 0; i < pixels; i++) {
        float *to = y + (size_t)i * oc;
        for (int k = 0; k < whole; k++) {
            lanes *at = (lanes *)(void *)(to + k * LANES);
            if (adds)
                sum[i * whole + k] += *at;
            *at = sum[i * whole + k];
        }
        half_lanes *at = (half_lanes *)(void *)(to + whole * LANES);
        if (adds)
            rest[i] += *at;
        *at = rest[i];
    }
}

POINT_TARGET static void point_activate(const pxi_act *act, float *y, size_t count)
{
    const float low = act->alpha, high = act->beta;
    if (act->kind == PXI_ACT_RELU && low == 0.0f) { /* -inf * 0 would be NaN */
        for (size_t i = 0; i < count; i++)
            y[i] = y[i] < 0.0f ? 0.0f : y[i];
    } else if (act->kind == PXI_ACT_RELU) {
        for (size_t i = 0; i < count; i++)
            y[i] = y[i] < 0.0f ? low * y[i] : y[i];
    } else if (act->kind == PXI_ACT_CLIP) {
        for (size_t i = 0; i < count; i++)
            y[i] = y[i] < low ? low : y[i] > high ? high : y[i];
    }
}

POINT_INLINE void point_sample(const pxi_pointwise *p, const float *x, float *y, bool adds,
                               const int pixels, const int whole)
{
    const size_t ic = p->in_channels, oc = p->out_channels, step = (size_t)pixels;
    size_t at = 0;
    for (; at + step <= p->pixels; at += step) {
        point_block(p, x + at * ic, y + at * oc, adds, pixels, whole);
        point_activate(&p->act, y + at * oc, step * oc);
    }
    for (; at + 4 <= p->pixels; at += 4) {
        point_block(p, x + at * ic, y + at * oc, adds, 4, whole);
        point_activate(&p->act, y + at * oc, 4 * oc);
    }
    for (; at < p->pixels; at++) {
        point_block(p, x + at * ic, y + at * oc, adds, 1, whole);
        point_activate(&p->act, y + at * oc, oc);
    }
}

POINT_TARGET void pxi_pointwise_run(const pxi_pointwise *p, const float *x, float *y, bool adds)
{
    switch (p->out_channels / LANES) {
    case 0:
        point_sample(p, x, y, adds, MOST_PIXELS, 0);
        break;
    case 1:
        point_sample(p, x, y, adds, MOST_PIXELS, 1);
        break;
    default:
        point_sample(p, x, y, adds, 8, MOST_WHOLE);
        break;
    }
}

#else /* no AVX-512 to be had */

bool pxi_pointwise_takes(const pxi_conv_shape *shape, const pxi_act *act)
{
    (void)shape, (void)act;
    return false;
}

void pxi_pointwise_run(const pxi_pointwise *pointwise, const float *source, float *destination,
                       bool adds)
{
    (void)pointwise, (void)source, (void)destination, (void)adds;
}

#endif
