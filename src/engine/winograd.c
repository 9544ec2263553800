/* src/engine/winograd.c - 3x3 convolutions at stride 1 by F(2x2, 3x3)
 *
 * Y = A^T [ (G g G^T) . (B^T d B) ] A, where d is a 4x4 block of data, g the kernel and . the
 * product per place, summed over input channels. A block of tiles at a time: data to the 16 places
 * (V), 16 small products with the transformed weights (U), back to 2x2 results. Everything of a
 * block stays in the first two levels of cache. The order of additions for one result is fixed.
 */
#include "engine/winograd.h"

#include "base/memory.h"

#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

enum { PLACES = 16, BLOCK = 16 /* tiles at a time */ };

struct pxi_winograd {
    pxi_conv_shape shape;
    pxi_act act;
    float *weights; /* U: [place][in_channel][out_channel] */
    float *bias;    /* per out channel, zeros if there is none */
};

#if defined(__x86_64__)

#include "engine/winograd_tiles.h"

/* U for every pair of channels must stay in the second-level cache while blocks pass. */
static const int64_t wino_weights_limit = 96 * 96;

bool pxi_winograd_takes(const pxi_conv_shape *s, const pxi_act *act)
{
    const pxi_act_kind kind = act ? act->kind : PXI_ACT_NONE;
    for (int i = 0; i < 2; i++)
        if (s->kernel[i] != 3 || s->stride[i] != 1 || s->dilation[i] != 1 || s->pad_begin[i] < 0 ||
            s->pad_begin[i] > 1)
            return false;
    return !s->direct && s->group == 1 && s->in_channels % WINO_LANES == 0 &&
           s->out_channels % WINO_LANES == 0 &&
           s->in_channels * s->out_channels <= wino_weights_limit && s->out[0] >= 2 &&
           s->out[1] >= 2 &&
           (kind == PXI_ACT_NONE || kind == PXI_ACT_RELU || kind == PXI_ACT_CLIP) &&
           pxi_prim_has_avx512();
}

/* G g G^T for one kernel, in double: [place] */
static void wino_weights(const float *g, double u[PLACES])
{
    static const double G[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
    double half[4][3] = {{0}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                half[i][j] += G[i][k] * (double)g[k * 3 + j];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            u[i * 4 + j] = 0.0;
            for (int k = 0; k < 3; k++)
                u[i * 4 + j] += half[i][k] * G[j][k];
        }
}

pxi_winograd *pxi_winograd_new(px_arena *arena, const pxi_conv_shape *shape, const float *weights,
                               const float *bias, const pxi_act *act)
{
    const size_t ic = (size_t)shape->in_channels, oc = (size_t)shape->out_channels;
    pxi_winograd *made = pxi_arena_alloc(arena, 1, sizeof *made);
    float *u = pxi_arena_alloc(arena, PLACES * ic * oc, sizeof *u);
    float *b = pxi_arena_alloc(arena, oc, sizeof *b);
    if (!made || !u || !b)
        return NULL;
    *made =
        (pxi_winograd){.shape = *shape, .act = act ? *act : (pxi_act){0}, .weights = u, .bias = b};
    pxi_winograd_repack(made, weights, bias);
    return made;
}

void pxi_winograd_repack(pxi_winograd *winograd, const float *weights, const float *bias)
{
    const size_t ic = (size_t)winograd->shape.in_channels;
    const size_t oc = (size_t)winograd->shape.out_channels;
    float *u = winograd->weights;
    for (size_t o = 0; o < oc; o++)
        for (size_t i = 0; i < ic; i++) {
            double places[PLACES];
            wino_weights(weights + (o * ic + i) * 9, places);
            for (size_t p = 0; p < PLACES; p++)
                u[(p * ic + i) * oc + o] = (float)places[p];
        }
    if (bias)
        memcpy(winograd->bias, bias, oc * sizeof *bias);
}

size_t pxi_winograd_scratch(const pxi_winograd *w)
{
    return PLACES *
           (wino_stride(BLOCK, (size_t)w->shape.in_channels) +
            wino_stride(BLOCK, (size_t)w->shape.out_channels)) *
           sizeof(float);
}

/* m (tiles, oc) = v (tiles, ic) u (ic, oc) for a strip of result channels; `tiles` and `vectors`
 * are constants after inlining, so that all sums stay in registers. */
WINO_INLINE void wino_product(const float *v, const float *u, float *m, size_t ic, size_t oc,
                              const int tiles, const int vectors)
{
    lanes sum[16];
    for (int i = 0; i < tiles * vectors; i++)
        sum[i] = wino_zero;
    for (size_t c = 0; c < ic; c++, u += oc)
        for (int t = 0; t < tiles; t++)
            for (int k = 0; k < vectors; k++)
                sum[t * vectors + k] +=
                    *(const lanes *)(const void *)(u + k * WINO_LANES) * v[(size_t)t * ic + c];
    for (int t = 0; t < tiles; t++)
        for (int k = 0; k < vectors; k++)
            *(lanes *)(void *)(m + (size_t)t * oc + (size_t)(k * WINO_LANES)) =
                sum[t * vectors + k];
}

/* The 16 products of a block. */
WINO_TARGET static void wino_products(const pxi_winograd *w, const float *v, float *m)
{
    const size_t ic = (size_t)w->shape.in_channels, oc = (size_t)w->shape.out_channels;
    for (size_t p = 0; p < PLACES; p++) {
        const float *from = v + p * wino_stride(BLOCK, ic), *u = w->weights + p * ic * oc;
        float *to = m + p * wino_stride(BLOCK, oc);
        size_t o = 0;
        for (; o + 2 * WINO_LANES <= oc; o += 2 * WINO_LANES)
            for (size_t t = 0; t < BLOCK; t += 8)
                wino_product(from + t * ic, u + o, to + t * oc + o, ic, oc, 8, 2);
        for (; o < oc; o += WINO_LANES)
            wino_product(from, u + o, to + o, ic, oc, 16, 1);
    }
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

/* A^T M A, bias, what is added, activation: 2x2 results of `count` tiles of one row of tiles. */
WINO_TARGET static void wino_results(const pxi_winograd *w, const float *m, int64_t ty, int64_t tx,
                                     size_t count, size_t slot, float *destination, bool adds)
{
    const pxi_conv_shape *s = &w->shape;
    const size_t oc = (size_t)s->out_channels, stride = wino_stride(BLOCK, oc);
    for (size_t t = 0; t < count; t++) {
        const int64_t y = 2 * ty, x = 2 * (tx + (int64_t)t);
        for (size_t o = 0; o < oc; o += WINO_LANES) {
            const float *from = m + (slot + t) * oc + o;
            const lanes bias = *(const lanes *)(const void *)(w->bias + o);
            lanes half[2][4];
            for (int j = 0; j < 4; j++) {
                lanes d[4];
                for (int i = 0; i < 4; i++)
                    d[i] = *(const lanes *)(const void *)(from + (size_t)(i * 4 + j) * stride);
                half[0][j] = d[0] + d[1] + d[2];
                half[1][j] = d[1] - d[2] - d[3];
            }
            for (int i = 0; i < 2 && y + i < s->out[0]; i++) {
                const lanes left = half[i][0] + half[i][1] + half[i][2] + bias;
                const lanes right = half[i][1] - half[i][2] - half[i][3] + bias;
                float *to = destination + (size_t)((y + i) * s->out[1] + x) * oc + o;
                wino_store(&w->act, to, &left, adds);
                if (x + 1 < s->out[1])
                    wino_store(&w->act, to + oc, &right, adds);
            }
        }
    }
}

/* Runs of neighbouring tiles that make up the block of tiles from `first` on. */
typedef struct wino_run {
    int64_t ty, tx;
    size_t count, slot;
} wino_run;

static size_t wino_runs(int64_t first, int64_t total, int64_t across, wino_run runs[BLOCK])
{
    size_t count = 0, slot = 0;
    while (slot < BLOCK && first < total) {
        const int64_t tx = first % across;
        const size_t n = PX_MIN((size_t)PX_MIN(across - tx, total - first), BLOCK - slot);
        runs[count] = (wino_run){.ty = first / across, .tx = tx, .count = n, .slot = slot};
        count++;
        slot += n;
        first += (int64_t)n;
    }
    return count;
}

void pxi_winograd_run(const pxi_winograd *w, const float *source, float *destination, bool adds,
                      float *scratch)
{
    const pxi_conv_shape *s = &w->shape;
    const int64_t across = (s->out[1] + 1) / 2, total = across * ((s->out[0] + 1) / 2);
    float *v = scratch, *m = v + PLACES * wino_stride(BLOCK, (size_t)s->in_channels);
    for (int64_t n = 0; n < s->batch; n++) {
        for (int64_t first = 0; first < total; first += BLOCK) {
            wino_run runs[BLOCK];
            const size_t count = wino_runs(first, total, across, runs);
            for (size_t r = 0; r < count; r++)
                wino_data(s, source, runs[r].ty, runs[r].tx, runs[r].count, runs[r].slot, BLOCK, v);
            wino_products(w, v, m); /* slots behind the last tile hold leftovers, never read */
            for (size_t r = 0; r < count; r++)
                wino_results(w, m, runs[r].ty, runs[r].tx, runs[r].count, runs[r].slot, destination,
                             adds);
        }
        source += s->in_channels * s->in[0] * s->in[1];
        destination += s->out_channels * s->out[0] * s->out[1];
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

void pxi_winograd_run(const pxi_winograd *winograd, const float *source, float *destination,
                      bool adds, float *scratch)
{
    (void)winograd, (void)source, (void)destination, (void)adds, (void)scratch;
}

#endif
