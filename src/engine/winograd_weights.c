/* src/engine/winograd_weights.c - the weight gradient of 3x3 convolutions by F(2x2, 3x3)
 *
 * The result's Y = A^T [ (G g G^T) . V ] A with V = B^T d B makes the gradient of the weights
 *
 *     dg = G^T [ sum over tiles of V . (A dY A^T) ] G
 *
 * with 16 products per tile and pair of channels instead of 36. The sums over tiles are 16 products
 * of matrices, (in, tiles) x (tiles, out), a block of tiles at a time; their order is fixed.
 */
#include "engine/winograd.h"

#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

#if defined(__x86_64__)

#include "engine/winograd_tiles.h"

enum { WGRAD_BLOCK = 32 }; /* tiles at a time */

bool pxi_winograd_weights_takes(const pxi_conv_shape *shape)
{
    return pxi_winograd_takes(shape, NULL);
}

/* Three pieces: V, the gradient's places, and the sums. */
static size_t wgrad_data(const pxi_conv_shape *s)
{
    return WINO_PLACES * wino_stride(WGRAD_BLOCK, (size_t)s->in_channels);
}

static size_t wgrad_results(const pxi_conv_shape *s)
{
    return WINO_PLACES * wino_stride(WGRAD_BLOCK, (size_t)s->out_channels);
}

static size_t wgrad_sums(const pxi_conv_shape *s)
{
    return (size_t)(WINO_PLACES * s->in_channels * s->out_channels);
}

size_t pxi_winograd_weights_scratch(const pxi_conv_shape *shape)
{
    return (wgrad_data(shape) + wgrad_results(shape) + wgrad_sums(shape)) * sizeof(float);
}

/* A dY A^T of `count` neighbouring tiles, to [place][WGRAD_BLOCK][out_channels]. */
WINO_TARGET static void wgrad_places(const pxi_conv_shape *s, const float *dy, int64_t ty,
                                     int64_t tx, size_t count, size_t slot, float *to)
{
    const size_t oc = (size_t)s->out_channels, stride = wino_stride(WGRAD_BLOCK, oc);
    const int64_t y = 2 * ty;
    const bool below = y + 1 < s->out[0];
    for (size_t t = 0; t < count; t++) {
        const int64_t x = 2 * (tx + (int64_t)t);
        const bool right = x + 1 < s->out[1];
        const float *from = dy + (size_t)(y * s->out[1] + x) * oc;
        const size_t down = (size_t)s->out[1] * oc;
        for (size_t o = 0; o < oc; o += WINO_LANES) {
            const lanes a = wino_load(from + o), b = right ? wino_load(from + oc + o) : wino_zero;
            const lanes c = below ? wino_load(from + down + o) : wino_zero;
            const lanes d = below && right ? wino_load(from + down + oc + o) : wino_zero;
            const lanes left[4] = {a, a + c, a - c, -c}, side[4] = {b, b + d, b - d, -d};
            float *place = to + (slot + t) * oc + o;
            for (int i = 0; i < 4; i++) {
                const lanes made[4] = {left[i], left[i] + side[i], left[i] - side[i], -side[i]};
                for (int j = 0; j < 4; j++)
                    *(lanes *)(void *)(place + (size_t)(i * 4 + j) * stride) = made[j];
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
        const float *data = v + p * wino_stride(WGRAD_BLOCK, ic);
        const float *result = g + p * wino_stride(WGRAD_BLOCK, oc);
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

/* G^T column: (a, b, c, d) to (a + (b + c) / 2, (b - c) / 2, (b + c) / 2 + d). */
WINO_INLINE void wgrad_fold(const lanes in[4], lanes out[3])
{
    const lanes sum = (in[1] + in[2]) * 0.5f;
    out[0] = in[0] + sum;
    out[1] = (in[1] - in[2]) * 0.5f;
    out[2] = sum + in[3];
}

/* G^T S G for every pair of channels, to (out, in, 3, 3). */
WINO_TARGET static void wgrad_finish(const pxi_conv_shape *s, const float *sums, float *gradient)
{
    const size_t ic = (size_t)s->in_channels, oc = (size_t)s->out_channels;
    for (size_t i = 0; i < ic; i++)
        for (size_t o = 0; o < oc; o += WINO_LANES) {
            lanes rows[3][4];
            for (int j = 0; j < 4; j++) {
                lanes in[4], out[3];
                for (int k = 0; k < 4; k++)
                    in[k] = wino_load(sums + ((size_t)(k * 4 + j) * ic + i) * oc + o);
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
    const int64_t across = (s->out[1] + 1) / 2, down = (s->out[0] + 1) / 2;
    const int64_t rows = s->batch * down; /* rows of tiles, of all samples */
    const size_t source_size = (size_t)(s->in_channels * s->in[0] * s->in[1]);
    const size_t result_size = (size_t)(s->out_channels * s->out[0] * s->out[1]);
    float *v = scratch, *g = v + wgrad_data(s), *sums = g + wgrad_results(s);
    memset(sums, 0, wgrad_sums(s) * sizeof *sums);
    size_t slot = 0;
    for (int64_t row = 0; row < rows; row++) {
        const float *from = source + (size_t)(row / down) * source_size;
        const float *back = dy + (size_t)(row / down) * result_size;
        for (int64_t tx = 0; tx < across;) {
            const size_t n = PX_MIN((size_t)(across - tx), WGRAD_BLOCK - slot);
            wino_data(s, from, row % down, tx, n, slot, WGRAD_BLOCK, v);
            wgrad_places(s, back, row % down, tx, n, slot, g);
            slot += n;
            tx += (int64_t)n;
            if (slot == WGRAD_BLOCK || (row == rows - 1 && tx == across)) {
                wgrad_products(s, v, g, sums, slot);
                slot = 0;
            }
        }
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
