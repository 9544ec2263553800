/* src/cover/moments.c - sums and products of the neurons of each layer, for covariances */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/moments.h"

#include "base/memory.h"
#include "base/vector_math.h"
#include "cover/slots.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <stdlib.h>

enum { TILE_ROWS = 4, TILE_COLUMNS = 16 };

void pxi_moments_done(pxi_moments *moments)
{
    free(moments->layers);
    free(moments->sum);
    free(moments->product);
    free(moments->panel);
    *moments = (pxi_moments){0};
}

static int64_t panel_stride(int64_t width)
{
    return (width + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
}

px_status pxi_moments_init(pxi_moments *moments, const int64_t *widths, size_t layer_count,
                           bool scratch, px_error *err)
{
    *moments = (pxi_moments){.layer_count = layer_count};
    PX_TRY(PX_NEW(moments->layers, layer_count, err));
    for (size_t l = 0; l < layer_count; l++) {
        const int64_t m = widths[l];
        if (m < 1 || m > PXI_MOMENTS_WIDEST) {
            pxi_moments_done(moments);
            return px_fail(err, PX_E_USAGE,
                           "layer %zu has %" PRId64 " neurons; a covariance of more than %d is out "
                           "of reach: take --neurons chan, or leave the layer out (--layers)",
                           l, m, PXI_MOMENTS_WIDEST);
        }
        moments->layers[l] = (pxi_moments_layer){
            .width = m, .neuron = moments->neurons, .product = moments->products};
        moments->neurons += m;
        moments->products += m * (m + 1) / 2;
        moments->widest = PX_MAX(moments->widest, m);
    }
    moments->sum = pxi_calloc((size_t)moments->neurons, sizeof *moments->sum);
    moments->product = pxi_calloc((size_t)moments->products, sizeof *moments->product);
    if (scratch)
        moments->panel = pxi_alloc_aligned(
            (size_t)(PX_COVER_BLOCK * panel_stride(moments->widest)) * sizeof *moments->panel);
    if (!moments->sum || !moments->product || (scratch && !moments->panel)) {
        const int64_t products = moments->products;
        pxi_moments_done(moments);
        return pxi_no_memory_for(err, "%" PRId64 " products of neurons", products);
    }
    return PX_OK;
}

/* --- observing ------------------------------------------------------------------------------- */

/* Rows [first, end) of one layer in double; rejected ones are left out. Returns how many. */
static int64_t panel_fill(double *panel, int64_t stride, const px_rows *rows, int64_t first,
                          int64_t end, const pxi_moments_layer *layer)
{
    int64_t count = 0;
    for (int64_t i = first; i < end; i++) {
        if (rows->rejected[i])
            continue;
        const float *x = pxi_row(rows, i) + layer->neuron;
        double *row = panel + count++ * stride;
        for (int64_t n = 0; n < layer->width; n++)
            row[n] = (double)x[n];
        for (int64_t n = layer->width; n < stride; n++)
            row[n] = 0.0;
    }
    return count;
}

/* out[a][b] = sum over rows of panel[a] * panel[b], the rows in order. */
PXI_WIDE static void panel_tile(const double *restrict left, const double *restrict right,
                                int64_t rows, int64_t stride,
                                double out[restrict TILE_ROWS][TILE_COLUMNS])
{
    double sum[TILE_ROWS][TILE_COLUMNS] = {{0}};
    for (int64_t r = 0; r < rows; r++, left += stride, right += stride)
        for (int a = 0; a < TILE_ROWS; a++)
            for (int b = 0; b < TILE_COLUMNS; b++)
                sum[a][b] += left[a] * right[b];
    for (int a = 0; a < TILE_ROWS; a++)
        for (int b = 0; b < TILE_COLUMNS; b++)
            out[a][b] = sum[a][b];
}

static void moments_products(pxi_moments *moments, const pxi_moments_layer *layer,
                             const double *panel, int64_t rows, int64_t stride)
{
    double tile[TILE_ROWS][TILE_COLUMNS];
    for (int64_t i0 = 0; i0 < layer->width; i0 += TILE_ROWS)
        for (int64_t j0 = 0; j0 < PX_MIN(i0 + TILE_ROWS, layer->width); j0 += TILE_COLUMNS) {
            panel_tile(panel + i0, panel + j0, rows, stride, tile);
            for (int64_t i = i0; i < PX_MIN(i0 + TILE_ROWS, layer->width); i++) {
                const int64_t count = PX_MIN(i + 1 - j0, TILE_COLUMNS);
                if (count > 0)
                    pxi_exact_add_all(moments->product + layer->product + i * (i + 1) / 2 + j0,
                                      tile[i - i0], (size_t)count, &moments->lost);
            }
        }
}

PXI_WIDE static void panel_sums(const double *restrict panel, int64_t rows, int64_t stride,
                                int64_t columns, double *restrict out)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t n = 0; n < columns; n++)
            out[n] += panel[r * stride + n];
}

void pxi_moments_observe(pxi_moments *moments, const px_rows *rows)
{
    for (int64_t first = 0; first < rows->count; first += PX_COVER_BLOCK) {
        const int64_t end = PX_MIN(first + PX_COVER_BLOCK, rows->count);
        int64_t count = 0;
        for (size_t l = 0; l < moments->layer_count; l++) {
            const pxi_moments_layer *layer = &moments->layers[l];
            const int64_t stride = panel_stride(layer->width);
            count = panel_fill(moments->panel, stride, rows, first, end, layer);
            moments_products(moments, layer, moments->panel, count, stride);
            for (int64_t n = 0; n < layer->width; n += TILE_COLUMNS) {
                double sum[TILE_COLUMNS] = {0};
                panel_sums(moments->panel + n, count, stride, TILE_COLUMNS, sum);
                pxi_exact_add_all(moments->sum + layer->neuron + n, sum,
                                  (size_t)PX_MIN(layer->width - n, TILE_COLUMNS), &moments->lost);
            }
        }
        moments->count += count;
    }
}

px_status pxi_moments_merge(pxi_moments *moments, const pxi_moments *other, px_error *err)
{
    bool same = moments->layer_count == other->layer_count;
    for (size_t l = 0; same && l < moments->layer_count; l++)
        same = moments->layers[l].width == other->layers[l].width;
    if (!same)
        return px_fail(err, PX_E_MISMATCH, "the two states are of other layers");
    moments->count += other->count;
    moments->lost |= other->lost;
    pxi_exact_join_all(moments->sum, other->sum, (size_t)moments->neurons, &moments->lost);
    pxi_exact_join_all(moments->product, other->product, (size_t)moments->products, &moments->lost);
    return PX_OK;
}

/* --- files ----------------------------------------------------------------------------------- */

#define COUNT_MOST \
    ((int64_t)1 << 48) /* inputs: merges of as many files as one likes stay below 2^53 */

px_status pxi_moments_save(const pxi_moments *moments, px_npz_writer *to, const char *prefix,
                           px_error *err)
{
    const px_shape one = {.rank = 1, .dim = {1}};
    const px_shape layers = {.rank = 1, .dim = {(int64_t)moments->layer_count}};
    const px_shape sums = {.rank = 2, .dim = {moments->neurons, PXI_EXACT_LIMBS}};
    const px_shape products = {.rank = 2, .dim = {moments->products, PXI_EXACT_LIMBS}};
    const int64_t lost = moments->lost;
    int64_t *widths = NULL;
    PX_TRY(PX_NEW(widths, moments->layer_count, err));
    for (size_t l = 0; l < moments->layer_count; l++)
        widths[l] = moments->layers[l].width;
    px_status status = px_npz_put(to, prefix, "widths", PX_INT64, &layers, widths, err);
    free(widths);
    PX_THEN(status, px_npz_put(to, prefix, "count", PX_INT64, &one, &moments->count, err));
    PX_THEN(status, px_npz_put(to, prefix, "lost", PX_INT64, &one, &lost, err));
    PX_THEN(status, px_npz_put(to, prefix, "sums", PX_UINT64, &sums, moments->sum, err));
    PX_THEN(status,
            px_npz_put(to, prefix, "products", PX_UINT64, &products, moments->product, err));
    return status;
}

/* Whether widths add up to what the arrays of the file hold, before anything is allocated. */
static bool widths_fit(const int64_t *widths, int64_t layers, int64_t neurons, int64_t products)
{
    for (int64_t l = 0; l < layers; l++) {
        const int64_t m = widths[l];
        if (m < 1 || m > PXI_MOMENTS_WIDEST || m > neurons || m * (m + 1) / 2 > products)
            return false;
        neurons -= m;
        products -= m * (m + 1) / 2;
    }
    return layers > 0 && neurons == 0 && products == 0;
}

px_status pxi_moments_load(pxi_moments *moments, const px_npz *from, const char *prefix,
                           px_error *err)
{
    const px_shape one = {.rank = 1, .dim = {1}}, any = {.rank = 1, .dim = {-1}};
    const px_shape limbs = {.rank = 2, .dim = {-1, PXI_EXACT_LIMBS}};
    const void *widths, *count, *lost, *sums, *products;
    px_shape layers, of_sums, of_products;
    PX_TRY(px_npz_take(from, prefix, "widths", PX_INT64, &any, &widths, &layers, err));
    PX_TRY(px_npz_take(from, prefix, "count", PX_INT64, &one, &count, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "lost", PX_INT64, &one, &lost, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "sums", PX_UINT64, &limbs, &sums, &of_sums, err));
    PX_TRY(px_npz_take(from, prefix, "products", PX_UINT64, &limbs, &products, &of_products, err));
    const int64_t inputs = *(const int64_t *)count;
    if (inputs < 0 || inputs > COUNT_MOST ||
        !widths_fit(widths, layers.dim[0], of_sums.dim[0], of_products.dim[0]))
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: its sizes do not fit", prefix);
    bool same = moments->layers && (int64_t)moments->layer_count == layers.dim[0];
    for (size_t l = 0; same && l < moments->layer_count; l++)
        same = moments->layers[l].width == ((const int64_t *)widths)[l];
    if (moments->layers && !same)
        return px_fail(err, PX_E_MISMATCH, "'%.100s' is of other layers", prefix);
    if (!moments->layers)
        PX_TRY(pxi_moments_init(moments, widths, (size_t)layers.dim[0], false, err));
    moments->count = inputs;
    moments->lost = *(const int64_t *)lost != 0;
    memcpy(moments->sum, sums, (size_t)moments->neurons * sizeof *moments->sum);
    memcpy(moments->product, products, (size_t)moments->products * sizeof *moments->product);
    return PX_OK;
}
