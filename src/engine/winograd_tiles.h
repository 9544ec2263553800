/* src/engine/winograd_tiles.h - what the result and the weight gradient of F(4x4, 3x3) share: the
 * transforms of a line of a tile, and data blocks
 *
 * AVX-512 only. The interpolation points are 0, +-sqrt(1/2), +-sqrt(2) and infinity. With Lavin and
 * Gray's 0, +-1, +-2 the error is twice this one's (measured: 9.1e-7 against 4.5e-7 of the results'
 * root mean square for 16 channels; 1.6e-7 without any transform).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_WINOGRAD_TILES_H
#define PXI_ENGINE_WINOGRAD_TILES_H

#include "engine/prim.h"

#include "base/memory.h"

enum {
    WINO_LANES = 16,
    WINO_TILE = 4, /* results of a tile, in each direction */
    WINO_SIDE = 6, /* data of a tile */
    WINO_PLACES = 36,
    WINO_RUN = 8 /* neighbouring tiles at a time */
};

#define WINO_ROOT_HALF 0.70710678118654752440f
#define WINO_ROOT_TWO 1.41421356237309504880f

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

/* Neighbouring tiles in one row of tiles of one sample, and where in a block they go. */
typedef struct wino_run {
    int64_t sample, ty, tx;
    size_t count, slot;
} wino_run;

static inline int64_t wino_across(const pxi_conv_shape *s)
{
    return (s->out[1] + WINO_TILE - 1) / WINO_TILE;
}

/* Tiles of a sample. */
static inline int64_t wino_tiles(const pxi_conv_shape *s)
{
    return wino_across(s) * ((s->out[0] + WINO_TILE - 1) / WINO_TILE);
}

/* The runs that make up a block of tiles, from tile `first` of all samples' on. `runs` has room for
 * `block`. */
static inline size_t wino_runs(const pxi_conv_shape *s, int64_t first, int64_t total, size_t block,
                               wino_run *runs)
{
    const int64_t across = wino_across(s), tiles = wino_tiles(s);
    size_t count = 0, slot = 0;
    while (slot < block && first < total) {
        const int64_t tile = first % tiles, tx = tile % across;
        const size_t n = PX_MIN((size_t)PX_MIN(across - tx, WINO_RUN), block - slot);
        runs[count++] = (wino_run){
            .sample = first / tiles, .ty = tile / across, .tx = tx, .count = n, .slot = slot};
        slot += n;
        first += (int64_t)n;
    }
    return count;
}

/* B^T d for one line of data. */
WINO_INLINE void wino_spread(const lanes d[WINO_SIDE], lanes out[WINO_SIDE])
{
    const lanes even = d[4] - d[2] * 2.0f, odd = d[3] - d[1] * 2.0f;
    const lanes even2 = d[4] - d[2] * 0.5f, odd2 = d[3] - d[1] * 0.5f;
    out[0] = d[0] + d[4] - d[2] * 2.5f;
    out[1] = even + odd * WINO_ROOT_HALF;
    out[2] = even - odd * WINO_ROOT_HALF;
    out[3] = even2 + odd2 * WINO_ROOT_TWO;
    out[4] = even2 - odd2 * WINO_ROOT_TWO;
    out[5] = d[1] + d[5] - d[3] * 2.5f;
}

/* B^T d B of a run of tiles; V is [place][block][in_channels] with wino_stride() between places.
 * Columns come first, once for both tiles that share them. */
WINO_TARGET static inline void wino_data(const pxi_conv_shape *s, const float *source,
                                         const wino_run *run, size_t block, float *v)
{
    static const float outside[WINO_LANES];
    const size_t ic = (size_t)s->in_channels, stride = wino_stride(block, ic);
    const int64_t y = WINO_TILE * run->ty - s->pad_begin[0];
    const int64_t x = WINO_TILE * run->tx - s->pad_begin[1];
    const size_t columns = WINO_TILE * run->count + WINO_SIDE - WINO_TILE;
    source += (size_t)(run->sample * s->in[0] * s->in[1]) * ic;
    for (size_t c = 0; c < ic; c += WINO_LANES) {
        lanes column[WINO_TILE * WINO_RUN + 2][WINO_SIDE];
        const float *row[WINO_SIDE];
        size_t step[WINO_SIDE];
        for (int i = 0; i < WINO_SIDE; i++) {
            const bool inside = y + i >= 0 && y + i < s->in[0];
            row[i] = inside ? source + (size_t)((y + i) * s->in[1]) * ic + c : outside;
            step[i] = inside ? ic : 0;
        }
        for (size_t j = 0; j < columns; j++) {
            const int64_t at = x + (int64_t)j;
            lanes d[WINO_SIDE];
            if (at < 0 || at >= s->in[1]) {
                for (int i = 0; i < WINO_SIDE; i++)
                    column[j][i] = wino_zero;
                continue;
            }
            for (int i = 0; i < WINO_SIDE; i++)
                d[i] = wino_load(row[i] + (size_t)at * step[i]);
            wino_spread(d, column[j]);
        }
        for (size_t t = 0; t < run->count; t++) {
            float *to = v + (run->slot + t) * ic + c;
            for (int i = 0; i < WINO_SIDE; i++) {
                lanes d[WINO_SIDE], made[WINO_SIDE];
                for (int j = 0; j < WINO_SIDE; j++)
                    d[j] = column[WINO_TILE * t + (size_t)j][i];
                wino_spread(d, made);
                for (int j = 0; j < WINO_SIDE; j++)
                    *(lanes *)(void *)(to + (size_t)(i * WINO_SIDE + j) * stride) = made[j];
            }
        }
    }
}

#endif
