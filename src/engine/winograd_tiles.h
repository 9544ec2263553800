/* src/engine/winograd_tiles.h - what the result and the weight gradient of F(2x2, 3x3) share: data
 * blocks
 *
 * AVX-512 only.
 */
#ifndef PXI_ENGINE_WINOGRAD_TILES_H
#define PXI_ENGINE_WINOGRAD_TILES_H

#include "engine/prim.h"

#include "base/memory.h"

enum { WINO_LANES = 16, WINO_PLACES = 16 };

#define WINO_TARGET __attribute__((target("avx512f")))
#define WINO_INLINE static inline __attribute__((always_inline, target("avx512f")))

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t lanes_mask __attribute__((vector_size(64)));

static const lanes wino_zero; /* what lies outside the data */

WINO_INLINE lanes wino_load(const float *from)
{
    return *(const lanes *)(const void *)from;
}

/* Floats from one place to the next: a block of tiles, and a cache line more, so that the places of
 * a tile do not fall into the same few sets of the first-level cache. */
static inline size_t wino_stride(size_t block, size_t channels)
{
    return block * channels + WINO_LANES;
}

/* A column of four data vectors starting at row y, with B^T applied along the column. */
WINO_INLINE void wino_column(const pxi_conv_shape *s, const float *source, int64_t y, int64_t x,
                             size_t c, lanes out[4])
{
    lanes d[4];
    const bool inside_x = x >= 0 && x < s->in[1];
    for (int i = 0; i < 4; i++) {
        const int64_t row = y + i;
        const bool inside = inside_x && row >= 0 && row < s->in[0];
        d[i] = inside
                   ? wino_load(source + (size_t)(row * s->in[1] + x) * (size_t)s->in_channels + c)
                   : wino_zero;
    }
    out[0] = d[0] - d[2];
    out[1] = d[1] + d[2];
    out[2] = d[2] - d[1];
    out[3] = d[1] - d[3];
}

/* B^T d B of `count` neighbouring tiles of one row of tiles, from tile (ty, tx) on; V is
 * [place][block][in_channels] with wino_stride() between places, written from tile `slot` on.
 * Neighbours share two columns. */
WINO_TARGET static inline void wino_data(const pxi_conv_shape *s, const float *source, int64_t ty,
                                         int64_t tx, size_t count, size_t slot, size_t block,
                                         float *v)
{
    const size_t ic = (size_t)s->in_channels, stride = wino_stride(block, ic);
    const int64_t y = 2 * ty - s->pad_begin[0], x0 = 2 * tx - s->pad_begin[1];
    for (size_t c = 0; c < ic; c += WINO_LANES) {
        lanes column[4][4]; /* [column][row] */
        wino_column(s, source, y, x0, c, column[0]);
        wino_column(s, source, y, x0 + 1, c, column[1]);
        for (size_t t = 0; t < count; t++) {
            wino_column(s, source, y, x0 + 2 * (int64_t)t + 2, c, column[2]);
            wino_column(s, source, y, x0 + 2 * (int64_t)t + 3, c, column[3]);
            float *to = v + (slot + t) * ic + c;
            for (int i = 0; i < 4; i++) {
                const lanes a = column[0][i], b = column[1][i], d = column[2][i], e = column[3][i];
                const lanes made[4] = {a - d, b + d, d - b, b - e};
                for (int j = 0; j < 4; j++)
                    *(lanes *)(void *)(to + (size_t)(i * 4 + j) * stride) = made[j];
                column[0][i] = d;
                column[1][i] = e;
            }
        }
    }
}

#endif
