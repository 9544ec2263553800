/* src/stats/distances.c - squared distances between many points, a few rows at a time
 *
 * |a - b|^2 = |a|^2 + |b|^2 - 2 a.b, the products in blocks. Norms come from the same chain of
 * additions as the products, so that equal points have no distance at all.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/distances.h"

#include "base/memory.h"
#include "base/wide.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double value_most = 1e15; /* squares of it can be added up by far */

void pxi_points_done(pxi_points *points)
{
    free(points->norm2);
    pxi_panels_done(&points->panels);
    *points = (pxi_points){0};
}

px_status pxi_points_init(pxi_points *points, const double *x, size_t n, size_t d, px_error *err)
{
    *points = (pxi_points){.n = n, .d = d, .x = x};
    points->norm2 = pxi_calloc(n, sizeof *points->norm2);
    px_status status = points->norm2 ? pxi_panels_init(&points->panels, n, d, err)
                                     : pxi_no_memory_for(err, "%zu points", n);
    if (status != PX_OK) {
        pxi_points_done(points);
        return status;
    }
    pxi_panels_fill(&points->panels, 0, n, x, d);
    for (size_t i = 0; i < n; i++) {
        double row[PXI_PANEL];
        const size_t first = i / PXI_PANEL * PXI_PANEL;
        pxi_product(&points->panels, first, PX_MIN(n - first, (size_t)PXI_PANEL), x + i * d, d, 1,
                    row, PXI_PANEL, PXI_PUT);
        points->norm2[i] = row[i - first];
    }
    return PX_OK;
}

PXI_WIDE static void row_finish(double *restrict g, const double *restrict norm2, double own,
                                size_t count)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const double square = (own + norm2[j]) - 2.0 * g[j];
        g[j] = square > 0.0 ? square : 0.0;
    }
}

void pxi_distances(const pxi_points *points, size_t first, size_t rows, size_t from, size_t to,
                   double *out, size_t stride)
{
    assert(from % PXI_PANEL == 0 && from <= to);
    pxi_product(&points->panels, from, to - from, points->x + first * points->d, points->d, rows,
                out, stride, PXI_PUT);
    for (size_t r = 0; r < rows; r++)
        row_finish(out + r * stride, points->norm2 + from, points->norm2[first + r], to - from);
}

static bool near_before(pxi_near a, pxi_near b)
{
    return a.distance2 < b.distance2 || (a.distance2 == b.distance2 && a.index < b.index);
}

/* The heap has the farthest on top. */
static void heap_sink(pxi_near *heap, size_t count, size_t i)
{
    const pxi_near item = heap[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && near_before(heap[child], heap[child + 1]))
            child++;
        if (!near_before(item, heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

void pxi_nearest(const double *distances, size_t n, size_t self, size_t k, pxi_near *out)
{
    assert(k < n);
    size_t held = 0;
    for (size_t j = 0; j < n; j++) {
        if (j == self)
            continue;
        const pxi_near near = {distances[j], j};
        if (held < k) {
            out[held++] = near;
            if (held == k)
                for (size_t i = k / 2; i-- > 0;)
                    heap_sink(out, k, i);
        } else if (distances[j] < out[0].distance2) { /* equals: the lower index is in already */
            out[0] = near;
            heap_sink(out, k, 0);
        }
    }
    for (size_t last = held; last-- > 1;) {
        const pxi_near top = out[0];
        out[0] = out[last];
        out[last] = top;
        heap_sink(out, last, 0);
    }
}

px_status pxi_centred(const float *x, size_t n, size_t d, double **out, px_error *err)
{
    size_t count;
    double *values = NULL, *mean = NULL;
    if (!__builtin_mul_overflow(n, d, &count)) {
        values = pxi_calloc(count, sizeof *values);
        mean = pxi_calloc(d, sizeof *mean);
    }
    px_status status = PX_OK;
    if (!values || !mean) {
        status = pxi_no_memory_for(err, "%zu points of %zu values", n, d);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            const double value = (double)x[i * d + j];
            if (!(fabs(value) <= value_most)) {
                status = px_fail(err, PX_E_INPUT,
                                 "value %zu of point %zu is %g; points on a map need finite values "
                                 "of at most %g",
                                 j, i, value, value_most);
                goto done;
            }
            values[i * d + j] = value;
            mean[j] += value;
        }
    for (size_t j = 0; j < d; j++)
        mean[j] /= (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            values[i * d + j] -= mean[j];
    *out = values;
    values = NULL;
done:
    free(values);
    free(mean);
    return status;
}

px_status pxi_rows_run(px_pool *pool, int64_t count, pxi_pool_fn work, void *context, px_error *err)
{
    if (pool)
        return pxi_pool_run(pool, count, work, context, pxi_pool_unwatched, NULL, err);
    for (int64_t i = 0; i < count; i++)
        PX_TRY(work(context, 0, i, err));
    return PX_OK;
}
