/* src/engine/winograd_weights.c - the weight gradient of 3x3 convolutions by F(4x4, 3x3)
 *
 * The result's Y = A^T [ (G g G^T) . V ] A with V = B^T d B makes the gradient of the weights
 *
 *     dg = G^T [ sum over tiles of V . (A dY A^T) ] G
 *
 * with 36 products per tile and pair of channels instead of 144. The sums over tiles are 36
 * products of matrices, (in, tiles) x (tiles, out), a block of tiles at a time; their order is
 * fixed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/winograd.h"

#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

#if defined(__x86_64__)

#include "engine/winograd_tiles.h"

enum { WGRAD_BLOCK = 32 }; /* tiles at a time, at most */

/* A block and the sums stay in the second-level cache together. */
static size_t wgrad_block(const pxi_conv_shape *s)
{
    return s->in_channels * s->out_channels <= 32 * 32 ? WGRAD_BLOCK : WGRAD_BLOCK / 2;
}

bool pxi_winograd_weights_takes(const pxi_conv_shape *shape)
{
    return pxi_winograd_takes(shape, NULL);
}

/* Three pieces: V, the gradient's places, and the sums. */
static size_t wgrad_data(const pxi_conv_shape *s)
{
    return WINO_PLACES * wino_stride(wgrad_block(s), (size_t)s->in_channels);
}

static size_t wgrad_results(const pxi_conv_shape *s)
{
    return WINO_PLACES * wino_stride(wgrad_block(s), (size_t)s->out_channels);
}

static size_t wgrad_sums(const pxi_conv_shape *s)
{
    return (size_t)(WINO_PLACES * s->in_channels * s->out_channels);
}

size_t pxi_winograd_weights_scratch(const pxi_conv_shape *shape)
{
    return (wgrad_data(shape) + wgrad_results(shape) + wgrad_sums(shape)) * sizeof(float);
}

/* A y for one line of a result's gradient. */
WINO_INLINE void wgrad_spread(const lanes y[WINO_TILE], lanes out[WINO_SIDE])
{
    const lanes near = y[0] + y[2] * 0.5f, far = y[0] + y[2] * 2.0f;
    const lanes near_odd = y[1] * WINO_ROOT_HALF + y[3] * (0.5f * WINO_ROOT_HALF);
    const lanes far_odd = y[1] * WINO_ROOT_TWO + y[3] * (2.0f * WINO_ROOT_TWO);
    out[0] = y[0];
    out[1] = near + near_odd;
    out[2] = near - near_odd;
    out[3] = far + far_odd;
    out[4] = far - far_odd;
    out[5] = y[3];
}

/* A dY A^T of a run of tiles, to [place][block][out_channels]. */
WINO_TARGET static void wgrad_places(const pxi_conv_shape *s, const float *dy, const wino_run *run,
                                     size_t block, float *to)
{
    const size_t oc = (size_t)s->out_channels, stride = wino_stride(block, oc);
    const int64_t y = WINO_TILE * run->ty, rows = s->out[0] - y;
    dy += (size_t)((run->sample * s->out[0] + y) * s->out[1]) * oc;
    for (size_t t = 0; t < run->count; t++) {
        const int64_t x = WINO_TILE * (run->tx + (int64_t)t), columns = s->out[1] - x;
        for (size_t o = 0; o < oc; o += WINO_LANES) {
            lanes half[WINO_TILE][WINO_SIDE]; /* [column][row] */
            for (int j = 0; j < WINO_TILE; j++) {
                lanes d[WINO_TILE];
                for (int i = 0; i < WINO_TILE; i++)
                    d[i] = i < rows && j < columns
                               ? wino_load(dy + (size_t)(i * s->out[1] + x + j) * oc + o)
                               : wino_zero;
                wgrad_spread(d, half[j]);
            }
            float *place = to + (run->slot + t) * oc + o;
            for (int i = 0; i < WINO_SIDE; i++) {
                const lanes d[WINO_TILE] = {half[0][i], half[1][i], half[2][i], half[3][i]};
                lanes made[WINO_SIDE];
                wgrad_spread(d, made);
                for (int j = 0; j < WINO_SIDE; j++)
                    *(lanes *)(void *)(place + (size_t)(i * WINO_SIDE + j) * stride) = made[j];
            }
        }
    }
}

/* sum (rows, oc) += v^T g for `rows` input channels and a strip of result channels; rows * vectors
 * is 16, constants after inlining, so that all sums stay in registers. */
WINO_INLINE void wgrad_product(const float *v, const float *g, float *sum, size_t tiles, size_t ic,
                               size_t oc, const int rows, const int vectors)
{
    lanes acc[16];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < vectors; k++)
            acc[i * vectors + k] = wino_load(sum + (size_t)i * oc + (size_t)(k * WINO_LANES));
    for (size_t t = 0; t < tiles; t++, v += ic, g += oc)
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < vectors; k++)
                acc[i * vectors + k] += wino_load(g + k * WINO_LANES) * v[i];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < vectors; k++)
            *(lanes *)(void *)(sum + (size_t)i * oc + (size_t)(k * WINO_LANES)) =
                acc[i * vectors + k];
}

WINO_TARGET static void wgrad_products(const pxi_conv_shape *s, const float *v, const float *g,
                                       float *sums, size_t tiles)
{
    const size_t ic = (size_t)s->in_channels, oc = (size_t)s->out_channels;
    for (size_t p = 0; p < WINO_PLACES; p++) {
        const float *data = v + p * wino_stride(wgrad_block(s), ic);
        const float *result = g + p * wino_stride(wgrad_block(s), oc);
        float *sum = sums + p * ic * oc;
        size_t o = 0;
        for (; o + 2 * WINO_LANES <= oc; o += 2 * WINO_LANES)
            for (size_t i = 0; i < ic; i += 8)
                wgrad_product(data + i, result + o, sum + i * oc + o, tiles, ic, oc, 8, 2);
        for (; o < oc; o += WINO_LANES)
            for (size_t i = 0; i < ic; i += 16)
                wgrad_product(data + i, result + o, sum + i * oc + o, tiles, ic, oc, 16, 1);
    }
}

/* G^T s for one line of sums. */
WINO_INLINE void wgrad_fold(const lanes s[WINO_SIDE], lanes out[3])
{
    const lanes near = s[1] + s[2], far = s[3] + s[4];
    out[0] = s[0] - near * (2.0f / 3.0f) + far * (1.0f / 6.0f);
    out[1] = (s[3] - s[4]) * (WINO_ROOT_TWO / 6.0f) - (s[1] - s[2]) * (WINO_ROOT_TWO / 3.0f);
    out[2] = s[5] + (far - near) * (1.0f / 3.0f);
}

/* G^T S G for every pair of channels, to (out, in, 3, 3). */
WINO_TARGET static void wgrad_finish(const pxi_conv_shape *s, const float *sums, float *gradient)
{
    const size_t ic = (size_t)s->in_channels, oc = (size_t)s->out_channels;
    for (size_t i = 0; i < ic; i++)
        for (size_t o = 0; o < oc; o += WINO_LANES) {
            lanes rows[3][WINO_SIDE];
            for (int j = 0; j < WINO_SIDE; j++) {
                lanes in[WINO_SIDE], out[3];
                for (int k = 0; k < WINO_SIDE; k++)
                    in[k] = wino_load(sums + ((size_t)(k * WINO_SIDE + j) * ic + i) * oc + o);
                wgrad_fold(in, out);
                for (int k = 0; k < 3; k++)
                    rows[k][j] = out[k];
            }
            for (int k = 0; k < 3; k++) {
                lanes out[3];
                wgrad_fold(rows[k], out);
                for (int j = 0; j < 3; j++)
                    for (size_t l = 0; l < WINO_LANES; l++)
                        gradient[((o + l) * ic + i) * 9 + (size_t)(k * 3 + j)] = out[j][l];
            }
        }
}

void pxi_winograd_weights_run(const pxi_conv_shape *s, const float *source, const float *dy,
                              float *gradient, float *scratch)
{
    const size_t block = wgrad_block(s);
    const int64_t total = s->batch * wino_tiles(s);
    float *v = scratch, *g = v + wgrad_data(s), *sums = g + wgrad_results(s);
    memset(sums, 0, wgrad_sums(s) * sizeof *sums);
    for (int64_t first = 0; first < total; first += (int64_t)block) {
        wino_run runs[WGRAD_BLOCK];
        const size_t count = wino_runs(s, first, total, block, runs);
        for (size_t r = 0; r < count; r++) {
            wino_data(s, source, &runs[r], block, v);
            wgrad_places(s, dy, &runs[r], block, g);
        }
        wgrad_products(s, v, g, sums, PX_MIN((size_t)(total - first), block));
    }
    wgrad_finish(s, sums, gradient);
}

#else /* no AVX-512 to be had */

bool pxi_winograd_weights_takes(const pxi_conv_shape *shape)
{
    (void)shape;
    return false;
}

size_t pxi_winograd_weights_scratch(const pxi_conv_shape *shape)
{
    (void)shape;
    return 0;
}

void pxi_winograd_weights_run(const pxi_conv_shape *shape, const float *source, const float *dy,
                              float *gradient, float *scratch)
{
    (void)shape, (void)source, (void)dy, (void)gradient, (void)scratch;
}

#endif
