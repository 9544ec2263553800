/* src/engine/winograd.c - Winograd: 3x3 convolutions at stride 1 by F(4x4, 3x3)
 *
 * Y = A^T [ (G g G^T) . (B^T d B) ] A, where d is a 6x6 block of data, g the kernel and . the
 * product per place, summed over input channels. A block of tiles at a time: data to the 36 places
 * (V), 36 small products with the transformed weights (U), back to 4x4 results. Everything of a
 * block stays in the first two levels of cache. The order of additions for one result is fixed, and
 * does not depend on the tiles beside it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/winograd.h"

#include "base/memory.h"
#include "engine/panel.h"

#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

struct pxi_winograd {
    pxi_conv_shape shape;
    pxi_act act;
    size_t block;   /* tiles at a time */
    float *weights; /* U: [place], each (in channel, out channel) packed as panel.h has it */
    float *bias;    /* per out channel, zeros if there is none */
};

#if defined(__x86_64__)

#include "engine/winograd_tiles.h"

/* U takes four times the memory of the weights, and comes from far away where it is large: enough
 * tiles have to share it. */
static const int64_t wino_near = 128 * 128, wino_weights_limit = 256 * 256;
enum { WINO_FEW_TILES = 16, WINO_MOST_TILES = 64 };

static size_t wino_block(const pxi_conv_shape *s)
{
    return s->in_channels * s->out_channels <= wino_near ? WINO_FEW_TILES : WINO_MOST_TILES;
}

bool pxi_winograd_takes(const pxi_conv_shape *s, const pxi_act *act)
{
    const pxi_act_kind kind = act ? act->kind : PXI_ACT_NONE;
    for (int i = 0; i < 2; i++)
        if (s->kernel[i] != 3 || s->stride[i] != 1 || s->dilation[i] != 1 || s->pad_begin[i] < 0 ||
            s->pad_begin[i] > 1)
            return false;
    return !s->direct && s->group == 1 && s->in_channels % WINO_LANES == 0 &&
           s->out_channels % WINO_LANES == 0 &&
           s->in_channels * s->out_channels <= wino_weights_limit && s->out[0] >= 3 &&
           s->out[1] >= 3 &&
           (kind == PXI_ACT_NONE || kind == PXI_ACT_RELU || kind == PXI_ACT_CLIP) &&
           pxi_prim_has_avx512();
}

typedef double wide __attribute__((vector_size(128))); /* as many as there are lanes */

/* G g for one line of sixteen kernels. */
WINO_INLINE void wino_spread_weights(const wide g[3], wide out[WINO_SIDE])
{
    static const double root_two = 1.41421356237309504880;
    const wide near = g[0] + g[2] * 0.5, far = g[0] + g[2] * 2.0, odd = g[1] * root_two;
    out[0] = g[0];
    out[1] = (near + odd * 0.5) * (-2.0 / 3.0);
    out[2] = (near - odd * 0.5) * (-2.0 / 3.0);
    out[3] = (far + odd) * (1.0 / 6.0);
    out[4] = (far - odd) * (1.0 / 6.0);
    out[5] = g[2];
}

/* G g G^T for sixteen kernels, which lie `apart`, in double; `to` has a place every `stride`. */
WINO_TARGET static void wino_weights(const float *from, size_t apart, float *to, size_t stride)
{
    wide half[3][WINO_SIDE]; /* [column][row] */
    for (int j = 0; j < 3; j++) {
        wide g[3];
        for (int k = 0; k < 3; k++)
            for (size_t l = 0; l < WINO_LANES; l++)
                g[k][l] = (double)from[l * apart + (size_t)(k * 3 + j)];
        wino_spread_weights(g, half[j]);
    }
    for (int i = 0; i < WINO_SIDE; i++) {
        wide u[WINO_SIDE];
        wino_spread_weights((const wide[]){half[0][i], half[1][i], half[2][i]}, u);
        for (int j = 0; j < WINO_SIDE; j++)
            *(lanes *)(void *)(to + (size_t)(i * WINO_SIDE + j) * stride) =
                __builtin_convertvector(u[j], lanes);
    }
}

pxi_winograd *pxi_winograd_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                               const float *bias, const pxi_act *act)
{
    const size_t ic = (size_t)shape->in_channels, oc = (size_t)shape->out_channels;
    pxi_winograd *made = pxi_arena_alloc(arena, 1, sizeof *made);
    float *u = pxi_arena_alloc(arena, WINO_PLACES * ic * oc, sizeof *u);
    float *b = pxi_arena_alloc(arena, oc, sizeof *b);
    if (!made || !u || !b)
        return NULL;
    *made = (pxi_winograd){.shape = *shape,
                           .act = act ? *act : (pxi_act){0},
                           .block = wino_block(shape),
                           .weights = u,
                           .bias = b};
    pxi_winograd_repack(made, weights, bias);
    return made;
}

void pxi_winograd_repack(pxi_winograd *winograd, const float *weights, const float *bias)
{
    const size_t ic = (size_t)winograd->shape.in_channels;
    const size_t oc = (size_t)winograd->shape.out_channels;
    for (size_t o = 0; o < oc; o += WINO_LANES) {
        const pxi_panel_place place = pxi_panel_find((int64_t)ic, (int64_t)oc, (int64_t)o);
        float *to = winograd->weights + place.offset;
        for (size_t i = 0; i < ic; i++)
            wino_weights(weights + (o * ic + i) * 9, ic * 9, to + i * place.row, ic * oc);
    }
    if (bias)
        memcpy(winograd->bias, bias, oc * sizeof *bias);
}

size_t pxi_winograd_scratch(const pxi_winograd *w)
{
    return WINO_PLACES *
           (wino_stride(w->block, (size_t)w->shape.in_channels) +
            wino_stride(w->block, (size_t)w->shape.out_channels)) *
           sizeof(float);
}

/* The products of a block, of which `tiles` are there. */
static void wino_products(const pxi_winograd *w, const float *v, float *m, size_t tiles)
{
    const size_t ic = (size_t)w->shape.in_channels, oc = (size_t)w->shape.out_channels;
    const size_t columns = PXI_PANEL_COLUMNS;
    for (size_t p = 0; p < WINO_PLACES; p++)
        pxi_panel_run(&(pxi_panel_job){.rows = (int64_t)tiles,
                                       .k = (int64_t)ic,
                                       .n = (int64_t)oc,
                                       .a = v + p * wino_stride(w->block, ic),
                                       .a_row = (int64_t)ic,
                                       .packed = w->weights + p * ic * oc,
                                       .c = m + p * wino_stride(w->block, oc),
                                       .c_row = (int64_t)oc,
                                       .next = w->weights + (p + 1) % WINO_PLACES * ic * oc,
                                       .next_floats = (int64_t)(ic * PX_MIN(oc, columns))});
}

WINO_INLINE void wino_store(const pxi_act *act, float *to, const lanes *value, bool adds)
{
    lanes v = *value;
    if (adds)
        v += *(const lanes *)(const void *)to;
    if (act->kind == PXI_ACT_RELU) {
        const lanes_mask low = v < 0.0f;
        v = (lanes)(((lanes_mask)(v * act->alpha) & low) | ((lanes_mask)v & ~low));
    } else if (act->kind == PXI_ACT_CLIP) {
        const lanes_mask low = v<act->alpha, high = v> act->beta;
        v = (lanes)(((lanes_mask)(wino_zero + act->alpha) & low) | ((lanes_mask)v & ~low));
        v = (lanes)(((lanes_mask)(wino_zero + act->beta) & high) | ((lanes_mask)v & ~high));
    }
    *(lanes *)(void *)to = v;
}

/* A^T m for one line of places. */
WINO_INLINE void wino_gather(const lanes m[WINO_SIDE], lanes out[WINO_TILE])
{
    const lanes near = m[1] + m[2], near_odd = m[1] - m[2];
    const lanes far = m[3] + m[4], far_odd = m[3] - m[4];
    out[0] = m[0] + near + far;
    out[1] = near_odd * WINO_ROOT_HALF + far_odd * WINO_ROOT_TWO;
    out[2] = near * 0.5f + far * 2.0f;
    out[3] = m[5] + near_odd * (0.5f * WINO_ROOT_HALF) + far_odd * (2.0f * WINO_ROOT_TWO);
}

/* A^T M A, bias, what is added, activation: the results of a run of tiles. */
WINO_TARGET static void wino_results(const pxi_winograd *w, const float *m, const wino_run *run,
                                     float *destination, bool adds)
{
    const pxi_conv_shape *s = &w->shape;
    const size_t oc = (size_t)s->out_channels, stride = wino_stride(w->block, oc);
    const int64_t y = WINO_TILE * run->ty, rows = PX_MIN(s->out[0] - y, WINO_TILE);
    destination += (size_t)((run->sample * s->out[0] + y) * s->out[1]) * oc;
    for (size_t t = 0; t < run->count; t++) {
        const int64_t x = WINO_TILE * (run->tx + (int64_t)t);
        const int64_t columns = PX_MIN(s->out[1] - x, WINO_TILE);
        for (size_t o = 0; o < oc; o += WINO_LANES) {
            const float *from = m + (run->slot + t) * oc + o;
            const lanes bias = wino_load(w->bias + o);
            lanes half[WINO_SIDE][WINO_TILE]; /* [column][row] */
            for (int j = 0; j < WINO_SIDE; j++) {
                lanes d[WINO_SIDE];
                for (int i = 0; i < WINO_SIDE; i++)
                    d[i] = wino_load(from + (size_t)(i * WINO_SIDE + j) * stride);
                wino_gather(d, half[j]);
            }
            for (int64_t i = 0; i < rows; i++) {
                lanes d[WINO_SIDE], made[WINO_TILE];
                for (int j = 0; j < WINO_SIDE; j++)
                    d[j] = half[j][i];
                wino_gather(d, made);
                float *to = destination + (size_t)(i * s->out[1] + x) * oc + o;
                for (int64_t j = 0; j < columns; j++) {
                    const lanes value = made[j] + bias;
                    wino_store(&w->act, to + (size_t)j * oc, &value, adds);
                }
            }
        }
    }
}

int64_t pxi_winograd_group(const pxi_winograd *w)
{
    return PX_MAX((int64_t)w->block / wino_tiles(&w->shape), (int64_t)1);
}

void pxi_winograd_run(const pxi_winograd *w, int64_t samples, const float *source,
                      float *destination, bool adds, float *scratch)
{
    const pxi_conv_shape *s = &w->shape;
    const int64_t total = samples * wino_tiles(s);
    const int64_t block = (int64_t)w->block;
    float *v = scratch, *m = v + WINO_PLACES * wino_stride(w->block, (size_t)s->in_channels);
    for (int64_t first = 0; first < total; first += block) {
        wino_run runs[WINO_MOST_TILES];
        const size_t count = wino_runs(s, first, total, w->block, runs);
        for (size_t r = 0; r < count; r++)
            wino_data(s, source, &runs[r], w->block, v);
        wino_products(w, v, m, (size_t)PX_MIN(total - first, block));
        for (size_t r = 0; r < count; r++)
            wino_results(w, m, &runs[r], destination, adds);
    }
}

#else /* no AVX-512 to be had */

bool pxi_winograd_takes(const pxi_conv_shape *shape, const pxi_act *act)
{
    (void)shape, (void)act;
    return false;
}

pxi_winograd *pxi_winograd_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                               const float *bias, const pxi_act *act)
{
    (void)arena, (void)shape, (void)weights, (void)bias, (void)act;
    return NULL;
}

void pxi_winograd_repack(pxi_winograd *winograd, const float *weights, const float *bias)
{
    (void)winograd, (void)weights, (void)bias;
}

size_t pxi_winograd_scratch(const pxi_winograd *winograd)
{
    (void)winograd;
    return 0;
}

int64_t pxi_winograd_group(const pxi_winograd *winograd)
{
    (void)winograd;
    return 1;
}

void pxi_winograd_run(const pxi_winograd *winograd, int64_t samples, const float *source,
                      float *destination, bool adds, float *scratch)
{
    (void)winograd, (void)samples, (void)source, (void)destination, (void)adds, (void)scratch;
}

#endif
