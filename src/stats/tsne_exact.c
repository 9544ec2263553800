/* src/stats/tsne_exact.c - the gradient of t-SNE over all pairs
 *
 * dC/dy_i = 4 sum_j (p_ij - q_ij) w_ij (y_i - y_j), w_ij = 1 / (1 + |y_i - y_j|^2), q_ij = w_ij / Z
 * (van der Maaten and Hinton 2008, equation 5). Z is known only when all pairs have been seen, so
 * attraction and repulsion are summed apart. A tile serves both of its sides, and its sums go to a
 * place of their own: they are joined in the order of blocks, whoever made them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/wide.h"
#include "stats/exp_log.h"
#include "stats/tsne_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PULL_X, PULL_Y, PUSH_X, PUSH_Y, FORCES };
enum { PART = 2 * FORCES * PXI_TILE, TILES_ALONE = 6 };

px_status pxi_exact_map_init(pxi_exact_map *map, const pxi_dense *dense, px_error *err)
{
    const size_t tiles = pxi_tile(dense->blocks, 0);
    *map = (pxi_exact_map){.dense = dense};
    map->part = pxi_calloc(tiles, PART * sizeof *map->part);
    map->sums = pxi_calloc(tiles, 2 * sizeof *map->sums);
    map->total = pxi_calloc(dense->n, FORCES * sizeof *map->total);
    if (map->part && map->sums && map->total)
        return PX_OK;
    pxi_exact_map_done(map);
    return pxi_no_memory_for(err, "forces between %zu points", dense->n);
}

void pxi_exact_map_done(pxi_exact_map *map)
{
    free(map->part);
    free(map->sums);
    free(map->total);
    *map = (pxi_exact_map){0};
}

typedef struct tile_side {
    const double *x, *y;
    size_t count;
} tile_side;

/* Forces of a tile on its rows and, from below the diagonal, on its columns; returns the sum of w.
 */
PXI_WIDE static double tile_forces(const float *tile, tile_side rows, tile_side columns,
                                   double *restrict on_rows, double *restrict on_columns)
{
    double *restrict pull_x = on_columns + PULL_X * PXI_TILE;
    double *restrict pull_y = on_columns + PULL_Y * PXI_TILE;
    double *restrict push_x = on_columns + PUSH_X * PXI_TILE;
    double *restrict push_y = on_columns + PUSH_Y * PXI_TILE;
    const double *restrict xs = columns.x, *restrict ys = columns.y;
    double z = 0.0;
    memset(on_columns, 0, FORCES * PXI_TILE * sizeof *on_columns);
    for (size_t i = 0; i < rows.count; i++) {
        const float *restrict p = tile + i * PXI_TILE;
        const double x = rows.x[i], y = rows.y[i];
        double row_z = 0.0, a = 0.0, b = 0.0, c = 0.0, d = 0.0;
#pragma omp simd reduction(+ : row_z, a, b, c, d)
        for (size_t j = 0; j < columns.count; j++) {
            const double dx = x - xs[j], dy = y - ys[j];
            const double w = 1.0 / (1.0 + dx * dx + dy * dy);
            const double pull = (double)p[j] * w, push = w * w;
            row_z += w;
            a += pull * dx;
            b += pull * dy;
            c += push * dx;
            d += push * dy;
            pull_x[j] -= pull * dx;
            pull_y[j] -= pull * dy;
            push_x[j] -= push * dx;
            push_y[j] -= push * dy;
        }
        z += row_z;
        on_rows[PULL_X * PXI_TILE + i] = a;
        on_rows[PULL_Y * PXI_TILE + i] = b;
        on_rows[PUSH_X * PXI_TILE + i] = c;
        on_rows[PUSH_Y * PXI_TILE + i] = d;
    }
    return z;
}

/* The sum of p log(1 / w). */
PXI_WIDE static double tile_divergence(const float *tile, tile_side rows, tile_side columns)
{
    double sum = 0.0;
    for (size_t i = 0; i < rows.count; i++) {
        const float *restrict p = tile + i * PXI_TILE;
        double row = 0.0;
#pragma omp simd reduction(+ : row)
        for (size_t j = 0; j < columns.count; j++) {
            const double dx = rows.x[i] - columns.x[j], dy = rows.y[i] - columns.y[j];
            row += (double)p[j] * pxi_log(1.0 + dx * dx + dy * dy);
        }
        sum += row;
    }
    return sum;
}

static tile_side side_of(const pxi_exact_map *map, size_t block)
{
    const size_t n = map->dense->n, first = block * PXI_TILE;
    return (tile_side){map->y + first, map->y + n + first, PX_MIN(n - first, (size_t)PXI_TILE)};
}

static px_status tile_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    (void)err;
    const pxi_exact_map *map = context;
    size_t a = 0;
    while (pxi_tile(a + 1, 0) <= (size_t)index)
        a++;
    const size_t b = (size_t)index - pxi_tile(a, 0);
    const tile_side rows = side_of(map, a), columns = side_of(map, b);
    const float *tile = map->dense->p + (size_t)index * PXI_TILE * PXI_TILE;
    double *part = map->part + (size_t)index * PART;
    const double share = a == b ? 1.0 : 2.0;
    map->sums[2 * index] = share * tile_forces(tile, rows, columns, part, part + FORCES * PXI_TILE);
    map->sums[2 * index + 1] = map->with_kl ? share * tile_divergence(tile, rows, columns) : 0.0;
    return PX_OK;
}

/* All forces on the points of a block, tile by tile. */
static void block_join(const pxi_exact_map *map, size_t own)
{
    const size_t n = map->dense->n, first = own * PXI_TILE;
    const size_t count = PX_MIN(n - first, (size_t)PXI_TILE);
    for (size_t f = 0; f < FORCES; f++) {
        double *total = map->total + f * n + first;
        memset(total, 0, count * sizeof *total);
        for (size_t other = 0; other < map->dense->blocks; other++) {
            const double *part = other <= own
                                     ? map->part + pxi_tile(own, other) * PART
                                     : map->part + pxi_tile(other, own) * PART + FORCES * PXI_TILE;
            for (size_t i = 0; i < count; i++)
                total[i] += part[f * PXI_TILE + i];
        }
    }
}

px_status pxi_exact_gradient(pxi_exact_map *map, const double *y, double exaggeration,
                             px_pool *pool, double *gradient, double *kl, px_error *err)
{
    const size_t n = map->dense->n, tiles = pxi_tile(map->dense->blocks, 0);
    map->y = y;
    map->with_kl = kl != NULL;
    /* a handful of tiles is done before a thread has woken up, and joining them always is */
    PX_TRY(pxi_rows_run(tiles > TILES_ALONE ? pool : NULL, (int64_t)tiles, tile_run, map, err));
    for (size_t block = 0; block < map->dense->blocks; block++)
        block_join(map, block);
    double z = -(double)n, divergence = 0.0; /* no point repels itself */
    for (size_t t = 0; t < tiles; t++) {
        z += map->sums[2 * t];
        divergence += map->sums[2 * t + 1];
    }
    z = fmax(z, DBL_MIN); /* points too far apart for any w */
    for (size_t i = 0; i < 2 * n; i++)
        gradient[i] = 4.0 * (exaggeration * map->total[i] - map->total[2 * n + i] / z);
    if (kl) /* sum of p (log p - log w + log Z), the p adding up to 1 */
        *kl = map->dense->entropy + divergence + log(z);
    return PX_OK;
}
