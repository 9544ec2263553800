/* src/ops/nest.c - loops over strided axes */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include "base/memory.h"

#include <string.h>

void pxi_nest_axis(pxi_nest *nest, int64_t extent, int64_t to, int64_t from)
{
    nest->extent[nest->rank] = extent;
    nest->to[nest->rank] = to;
    nest->from[nest->rank] = from;
    nest->rank++;
}

void pxi_strides(const px_shape *shape, int64_t stride[PX_MAX_RANK])
{
    int64_t step = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape->dim[i];
    }
}

pxi_span pxi_span_at(const px_shape *shape, int axis)
{
    pxi_span span = {.outer = 1, .extent = shape->dim[axis], .inner = 1};
    for (int i = 0; i < axis; i++)
        span.outer *= shape->dim[i];
    for (int i = axis + 1; i < shape->rank; i++)
        span.inner *= shape->dim[i];
    return span;
}

/* Drops axes of extent 1 and joins neighbours that are walked like one axis. The result has at
 * least two axes, so that kernels see rows and columns. False: nothing to do. */
static bool nest_collapse(const pxi_nest *nest, pxi_nest *out)
{
    *out = (pxi_nest){0};
    for (int i = 0; i < nest->rank; i++) {
        if (nest->extent[i] <= 0)
            return false;
        if (nest->extent[i] == 1)
            continue;
        const int last = out->rank - 1;
        if (last >= 0 && out->to[last] == nest->to[i] * nest->extent[i] &&
            out->from[last] == nest->from[i] * nest->extent[i]) {
            out->extent[last] *= nest->extent[i];
            out->to[last] = nest->to[i];
            out->from[last] = nest->from[i];
        } else {
            pxi_nest_axis(out, nest->extent[i], nest->to[i], nest->from[i]);
        }
    }
    while (out->rank < 2) { /* put the missing axes outside */
        for (int i = out->rank; i > 0; i--) {
            out->extent[i] = out->extent[i - 1];
            out->to[i] = out->to[i - 1];
            out->from[i] = out->from[i - 1];
        }
        out->extent[0] = 1;
        out->to[0] = out->from[0] = 0;
        out->rank++;
    }
    return true;
}

static void nest_swap(pxi_nest *nest, int a, int b)
{
    const int64_t extent = nest->extent[a], to = nest->to[a], from = nest->from[a];
    nest->extent[a] = nest->extent[b];
    nest->to[a] = nest->to[b];
    nest->from[a] = nest->from[b];
    nest->extent[b] = extent;
    nest->to[b] = to;
    nest->from[b] = from;
}

/* Where the columns jump through the source, makes the axis that is contiguous there the rows: the
 * two are then walked in blocks. */
static void nest_order(pxi_nest *nest)
{
    if (nest->from[nest->rank - 1] == 1)
        return;
    for (int i = 0; i < nest->rank - 1; i++)
        if (nest->from[i] == 1) {
            nest_swap(nest, i, nest->rank - 2);
            return;
        }
}

/* Steps the outer axes (all but the last `inner`) like an odometer; false when it is through. */
static bool nest_next(const pxi_nest *nest, int inner, int64_t index[PXI_NEST_RANK], int64_t *to,
                      int64_t *from)
{
    for (int i = nest->rank - inner - 1; i >= 0; i--) {
        *to += nest->to[i];
        *from += nest->from[i];
        if (++index[i] < nest->extent[i])
            return true;
        *to -= nest->to[i] * nest->extent[i];
        *from -= nest->from[i] * nest->extent[i];
        index[i] = 0;
    }
    return false;
}

typedef struct nest_plane { /* the two inner axes */
    int64_t rows, cols, to_row, to_col, from_row, from_col;
} nest_plane;

enum { NEST_BLOCK = 16 };           /* a block's source lines stay in the first-level cache */
static const int64_t nest_run = 32; /* elements; below that a loop beats calling memcpy */

/* A full block is read line by line into a tile first: planes that lie a power of two apart would
 * otherwise push each other out of the cache between two rows. */
#define NEST_PLANE(type)                                                                          \
    static void block_##type(type *restrict to, int64_t to_row, const type *restrict from,        \
                             int64_t from_col)                                                    \
    {                                                                                             \
        type tile[NEST_BLOCK][NEST_BLOCK];                                                        \
        for (int c = 0; c < NEST_BLOCK; c++)                                                      \
            memcpy(tile[c], from + c * from_col, sizeof tile[c]);                                 \
        for (int r = 0; r < NEST_BLOCK; r++)                                                      \
            for (int c = 0; c < NEST_BLOCK; c++)                                                  \
                to[r * to_row + c] = tile[c][r];                                                  \
    }                                                                                             \
    static void transpose_##type(const nest_plane *p, type *restrict to,                          \
                                 const type *restrict from)                                       \
    {                                                                                             \
        for (int64_t r0 = 0; r0 < p->rows; r0 += NEST_BLOCK)                                      \
            for (int64_t c0 = 0; c0 < p->cols; c0 += NEST_BLOCK) {                                \
                const int64_t r1 = PX_MIN(r0 + NEST_BLOCK, p->rows);                              \
                const int64_t c1 = PX_MIN(c0 + NEST_BLOCK, p->cols);                              \
                if (p->to_col == 1 && r1 - r0 == NEST_BLOCK && c1 - c0 == NEST_BLOCK) {           \
                    block_##type(to + r0 * p->to_row + c0, p->to_row,                             \
                                 from + r0 + c0 * p->from_col, p->from_col);                      \
                    continue;                                                                     \
                }                                                                                 \
                for (int64_t r = r0; r < r1; r++)                                                 \
                    for (int64_t c = c0; c < c1; c++)                                             \
                        to[r * p->to_row + c * p->to_col] = from[r + c * p->from_col];            \
            }                                                                                     \
    }                                                                                             \
    static void plane_##type(const nest_plane *p, type *restrict to, const type *restrict from)   \
    {                                                                                             \
        const int64_t to_col = p->to_col, from_col = p->from_col;                                 \
        if (to_col == 1 && from_col == 1 && p->cols >= nest_run) {                                \
            for (int64_t r = 0; r < p->rows; r++)                                                 \
                memcpy(to + r * p->to_row, from + r * p->from_row, (size_t)p->cols * sizeof *to); \
        } else if (to_col == 1 && from_col == 1) {                                                \
            for (int64_t r = 0; r < p->rows; r++)                                                 \
                for (int64_t c = 0; c < p->cols; c++)                                             \
                    to[r * p->to_row + c] = from[r * p->from_row + c];                            \
        } else if (to_col == 1 && from_col == 0) {                                                \
            for (int64_t r = 0; r < p->rows; r++) {                                               \
                const type value = from[r * p->from_row];                                         \
                for (int64_t c = 0; c < p->cols; c++)                                             \
                    to[r * p->to_row + c] = value;                                                \
            }                                                                                     \
        } else if (p->from_row == 1) {                                                            \
            transpose_##type(p, to, from);                                                        \
        } else {                                                                                  \
            for (int64_t r = 0; r < p->rows; r++)                                                 \
                for (int64_t c = 0; c < p->cols; c++)                                             \
                    to[r * p->to_row + c * to_col] = from[r * p->from_row + c * from_col];        \
        }                                                                                         \
    }
NEST_PLANE(uint8_t)
NEST_PLANE(uint16_t)
NEST_PLANE(uint32_t)
NEST_PLANE(uint64_t)
#undef NEST_PLANE

static nest_plane nest_inner(const pxi_nest *nest)
{
    const int row = nest->rank - 2, col = nest->rank - 1;
    return (nest_plane){nest->extent[row], nest->extent[col], nest->to[row],
                        nest->to[col],     nest->from[row],   nest->from[col]};
}

void pxi_nest_copy(const pxi_nest *nest, size_t element, void *to, const void *from)
{
    pxi_nest lean;
    if (!nest_collapse(nest, &lean))
        return;
    nest_order(&lean);
    const nest_plane plane = nest_inner(&lean);
    int64_t index[PXI_NEST_RANK] = {0}, t = 0, f = 0;
    do {
        switch (element) {
        case 1:
            plane_uint8_t(&plane, (uint8_t *)to + t, (const uint8_t *)from + f);
            break;
        case 2:
            plane_uint16_t(&plane, (uint16_t *)to + t, (const uint16_t *)from + f);
            break;
        case 4:
            plane_uint32_t(&plane, (uint32_t *)to + t, (const uint32_t *)from + f);
            break;
        default:
            plane_uint64_t(&plane, (uint64_t *)to + t, (const uint64_t *)from + f);
            break;
        }
    } while (nest_next(&lean, 2, index, &t, &f));
}

static void plane_add(const nest_plane *p, px_real *to, const px_real *from)
{
    for (int64_t r = 0; r < p->rows; r++) {
        px_real *t = to + r * p->to_row;
        const px_real *f = from + r * p->from_row;
        if (p->to_col == 1 && p->from_col == 1) {
#pragma omp simd
            for (int64_t c = 0; c < p->cols; c++)
                t[c] += f[c];
        } else {
            for (int64_t c = 0; c < p->cols; c++)
                t[c * p->to_col] += f[c * p->from_col];
        }
    }
}

void pxi_nest_add(const pxi_nest *nest, px_real *to, const px_real *from)
{
    pxi_nest lean;
    if (!nest_collapse(nest, &lean))
        return;
    const nest_plane plane = nest_inner(&lean);
    int64_t index[PXI_NEST_RANK] = {0}, t = 0, f = 0;
    do
        plane_add(&plane, to + t, from + f);
    while (nest_next(&lean, 2, index, &t, &f));
}
