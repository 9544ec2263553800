/* src/stats/tsne_tree.c - the gradient of t-SNE with Barnes and Hut's tree
 *
 * Near neighbours attract (P is 0 elsewhere); all points repel, and a cell of width r at distance d
 * does so as one where r / d < theta (van der Maaten 2014, sections 4.1 and 4.2). Points are sorted
 * along a Z-shaped curve, so a cell is a range of them; nodes lie in the order of a walk, each with
 * the one to go on with if it is not opened. Eight points that are neighbours on the curve walk
 * together, and open a cell if any of them would have to: never less exact than one by one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/memory.h"
#include "base/wide.h"
#include "stats/exp_log.h"
#include "stats/tsne_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { LANES = 8, GROUP = 32 * LANES, LEAF = 8, DEPTH_MOST = 32 };

struct pxi_tree_key {
    uint64_t code; /* bits of x and y in turn, the highest first */
    uint32_t index;
};

void pxi_tree_map_done(pxi_tree_map *map)
{
    pxi_arena_free(map->memory);
    free(map->node);
    *map = (pxi_tree_map){0};
}

static size_t tree_groups(size_t n)
{
    return (n + GROUP - 1) / GROUP;
}

px_status pxi_tree_map_init(pxi_tree_map *map, const pxi_sparse *sparse, double theta,
                            px_error *err)
{
    const size_t n = sparse->n, groups = tree_groups(n);
    *map = (pxi_tree_map){.sparse = sparse, .theta = theta};
    map->memory = pxi_arena_new();
    map->keys = pxi_arena_alloc(map->memory, n, sizeof *map->keys);
    map->spare = pxi_arena_alloc(map->memory, n, sizeof *map->spare);
    map->sorted = pxi_arena_alloc(map->memory, groups * GROUP, 2 * sizeof *map->sorted);
    map->repulsion = pxi_arena_alloc(map->memory, n, 2 * sizeof *map->repulsion);
    map->attraction = pxi_arena_alloc(map->memory, n, 2 * sizeof *map->attraction);
    map->normal = pxi_arena_alloc(map->memory, groups, sizeof *map->normal);
    map->divergence = pxi_arena_alloc(map->memory, groups, sizeof *map->divergence);
    if (pxi_arena_whole(map->memory))
        return PX_OK;
    pxi_tree_map_done(map);
    return pxi_no_memory_for(err, "a tree of %zu points", n);
}

/* --- the tree -------------------------------------------------------------------------------- */

static uint64_t spread_bits(uint64_t v) /* of 32 bits: a 0 between each two */
{
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
}

/* Byte by byte from the lowest: equal codes stay in the order of indices. */
static void sort_keys(pxi_tree_map *map, size_t n)
{
    static const int passes = 8;
    size_t count[8][256] = {{0}};
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < passes; b++)
            count[b][map->keys[i].code >> 8 * b & 255]++;
    for (int b = 0; b < passes; b++) {
        if (count[b][map->keys[0].code >> 8 * b & 255] == n)
            continue; /* all have the same byte here */
        size_t place = 0;
        for (int v = 0; v < 256; v++) {
            const size_t here = count[b][v];
            count[b][v] = place;
            place += here;
        }
        for (size_t i = 0; i < n; i++)
            map->spare[count[b][map->keys[i].code >> 8 * b & 255]++] = map->keys[i];
        struct pxi_tree_key *swap = map->keys;
        map->keys = map->spare;
        map->spare = swap;
    }
}

/* Sorts the points; returns the side of the square around them. */
static double tree_sort(pxi_tree_map *map)
{
    const size_t n = map->sparse->n, padded = tree_groups(n) * GROUP;
    const double *x = map->y, *y = map->y + n;
    double low_x = x[0], high_x = x[0], low_y = y[0], high_y = y[0];
    for (size_t i = 1; i < n; i++) {
        low_x = fmin(low_x, x[i]);
        high_x = fmax(high_x, x[i]);
        low_y = fmin(low_y, y[i]);
        high_y = fmax(high_y, y[i]);
    }
    const double side = fmax(high_x - low_x, high_y - low_y);
    const double scale = side > 0.0 ? 4294967295.0 / side : 0.0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t a = (uint64_t)fmin((x[i] - low_x) * scale, 4294967295.0);
        const uint64_t b = (uint64_t)fmin((y[i] - low_y) * scale, 4294967295.0);
        map->keys[i] = (struct pxi_tree_key){.code = spread_bits(a) << 1 | spread_bits(b),
                                             .index = (uint32_t)i};
    }
    sort_keys(map, n);
    for (size_t i = 0; i < n; i++) {
        map->sorted[i] = x[map->keys[i].index];
        map->sorted[padded + i] = y[map->keys[i].index];
    }
    return side;
}

/* The first key from `first` on whose two bits at `depth` are at least `quarter`. */
static size_t quarter_start(const struct pxi_tree_key *keys, size_t first, size_t end, int depth,
                            uint64_t quarter)
{
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if ((keys[middle].code >> (62 - 2 * depth) & 3) < quarter)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The cell that holds points first to end; depth counts halvings of the side. Recursion ends at
 * DEPTH_MOST. */
static px_status tree_build(pxi_tree_map *map, size_t first, size_t end, int depth, double side,
                            px_error *err)
{
    const size_t padded = tree_groups(map->sparse->n) * GROUP, self = map->nodes,
                 count = end - first;
    PX_TRY(PX_GROW(map->node, map->capacity, self + 1, err));
    map->nodes++;
    const bool together = depth == DEPTH_MOST && count > 1;
    const bool leaf = count <= LEAF || depth == DEPTH_MOST;
    pxi_tree_node node = {.count = (double)count,
                          .width2 = together ? -1.0 : side * side,
                          .first = (uint32_t)first,
                          .leaf = leaf ? (uint32_t)count : 0};
    if (leaf) {
        for (size_t i = first; i < end; i++) {
            node.x += map->sorted[i];
            node.y += map->sorted[padded + i];
        }
    } else {
        for (uint64_t quarter = 0; quarter < 4; quarter++) {
            const size_t stop = quarter_start(map->keys, first, end, depth, quarter + 1);
            if (stop == first)
                continue;
            const size_t child = map->nodes;
            PX_TRY(tree_build(map, first, stop, depth + 1, side / 2.0, err));
            node.x += map->node[child].x * map->node[child].count;
            node.y += map->node[child].y * map->node[child].count;
            first = stop;
        }
    }
    node.x /= node.count;
    node.y /= node.count;
    node.next = (uint32_t)map->nodes;
    map->node[self] = node;
    return PX_OK;
}

/* --- forces ---------------------------------------------------------------------------------- */

typedef struct lane_forces {
    double x[LANES], y[LANES], z[LANES];
} lane_forces;

/* What repels eight points, their own terms of z (1 each) included. */
PXI_WIDE static void lanes_walk(const pxi_tree_map *map, const double *restrict xs,
                                const double *restrict ys, size_t padded, lane_forces *restrict f)
{
    const double theta2 = map->theta * map->theta;
    const pxi_tree_node *nodes = map->node;
    double px[LANES], py[LANES], fx[LANES] = {0}, fy[LANES] = {0}, fz[LANES] = {0};
    for (int l = 0; l < LANES; l++) {
        px[l] = xs[l];
        py[l] = ys[l];
    }
    for (size_t i = 0; i < map->nodes;) {
        const pxi_tree_node *node = &nodes[i];
        double dx[LANES], dy[LANES], d2[LANES], least = INFINITY;
        for (int l = 0; l < LANES; l++) {
            dx[l] = px[l] - node->x;
            dy[l] = py[l] - node->y;
            d2[l] = dx[l] * dx[l] + dy[l] * dy[l];
        }
        for (int l = 0; l < LANES; l++)
            least = d2[l] < least ? d2[l] : least;
        if (node->width2 < theta2 * least) { /* as one */
            for (int l = 0; l < LANES; l++) {
                const double w = 1.0 / (1.0 + d2[l]), share = node->count * w;
                fz[l] += share;
                fx[l] += share * w * dx[l];
                fy[l] += share * w * dy[l];
            }
            i = node->next;
            continue;
        }
        const size_t end = node->first + node->leaf;
        for (size_t j = node->first; j < end; j++) { /* one by one */
            const double x = map->sorted[j], y = map->sorted[padded + j];
            for (int l = 0; l < LANES; l++) {
                const double ex = px[l] - x, ey = py[l] - y;
                const double w = 1.0 / (1.0 + ex * ex + ey * ey);
                fz[l] += w;
                fx[l] += w * w * ex;
                fy[l] += w * w * ey;
            }
        }
        i = node->leaf ? node->next : i + 1;
    }
    for (int l = 0; l < LANES; l++) {
        f->x[l] = fx[l];
        f->y[l] = fy[l];
        f->z[l] = fz[l];
    }
}

/* What attracts point i; returns its sum of p log(1 / w). */
static double point_pull(const pxi_tree_map *map, size_t i)
{
    const pxi_sparse *s = map->sparse;
    const double *x = map->y, *y = map->y + s->n;
    double fx = 0.0, fy = 0.0, divergence = 0.0;
    for (size_t e = s->row[i]; e < s->row[i + 1]; e++) {
        const size_t j = s->column[e];
        const double dx = x[i] - x[j], dy = y[i] - y[j];
        const double inverse = 1.0 + dx * dx + dy * dy, pull = s->p[e] / inverse;
        fx += pull * dx;
        fy += pull * dy;
        if (map->with_kl)
            divergence += s->p[e] * pxi_log(inverse);
    }
    map->attraction[i] = fx;
    map->attraction[s->n + i] = fy;
    return divergence;
}

static px_status group_run(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    (void)err;
    const pxi_tree_map *map = context;
    const size_t n = map->sparse->n, padded = tree_groups(n) * GROUP;
    const size_t first = (size_t)index * GROUP, end = PX_MIN(first + GROUP, n);
    double z = 0.0, divergence = 0.0;
    for (size_t at = first; at < end; at += LANES) {
        lane_forces f;
        lanes_walk(map, map->sorted + at, map->sorted + padded + at, padded, &f);
        for (size_t l = 0; l < LANES && at + l < n; l++) {
            const size_t i = map->keys[at + l].index;
            map->repulsion[i] = f.x[l];
            map->repulsion[n + i] = f.y[l];
            z += f.z[l] - 1.0; /* without itself */
            divergence += point_pull(map, i);
        }
    }
    map->normal[index] = z;
    map->divergence[index] = divergence;
    return PX_OK;
}

px_status pxi_tree_gradient(pxi_tree_map *map, const double *y, double exaggeration, px_pool *pool,
                            double *gradient, double *kl, px_error *err)
{
    const size_t n = map->sparse->n, groups = tree_groups(n), padded = groups * GROUP;
    map->y = y;
    map->with_kl = kl != NULL;
    const double side = tree_sort(map);
    for (size_t i = n; i < padded; i++) { /* the last group's rest walks with its last point */
        map->sorted[i] = map->sorted[n - 1];
        map->sorted[padded + i] = map->sorted[padded + n - 1];
    }
    map->nodes = 0;
    PX_TRY(tree_build(map, 0, n, 0, side, err));
    PX_TRY(pxi_rows_run(groups > 1 ? pool : NULL, (int64_t)groups, group_run, map, err));
    double z = 0.0, divergence = 0.0;
    for (size_t g = 0; g < groups; g++) {
        z += map->normal[g];
        divergence += map->divergence[g];
    }
    z = fmax(z, DBL_MIN); /* points too far apart for any w */
    for (size_t i = 0; i < 2 * n; i++)
        gradient[i] = 4.0 * (exaggeration * map->attraction[i] - map->repulsion[i] / z);
    if (kl)
        *kl = map->sparse->entropy + divergence + log(z);
    return PX_OK;
}
