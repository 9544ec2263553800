/* src/stats/product.c - matrix products in double, the same bits however they are cut up
 *
 * A tile of a few rows times one panel stays in registers while k runs. Long chains are cut every
 * PRODUCT_DEPTH elements and go on from what is in c, which changes no bit: c is a double like the
 * registers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/product.h"

#include "base/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    PRODUCT_DEPTH = 512, /* a panel's piece then takes 64 KiB: half of an L2 at the least */
    PRODUCT_ROWS = 8,    /* most rows of a tile */
};

px_status pxi_panels_init(pxi_panels *panels, size_t count, size_t k, px_error *err)
{
    const size_t padded = (count + PXI_PANEL - 1) / PXI_PANEL * PXI_PANEL;
    size_t elements, bytes;
    if (padded < count || __builtin_mul_overflow(padded, k, &elements) ||
        __builtin_mul_overflow(elements, sizeof(double), &bytes))
        return px_fail(err, PX_E_NOMEM, "%zu x %zu values do not fit into memory", count, k);
    double *data = pxi_alloc_aligned(bytes);
    if (!data)
        return pxi_no_memory_for(err, "%zu x %zu values", count, k);
    if (padded > count) /* the last panel's rest */
        memset(data + (padded - PXI_PANEL) * k, 0, PXI_PANEL * k * sizeof *data);
    *panels = (pxi_panels){.count = count, .k = k, .data = data};
    return PX_OK;
}

void pxi_panels_done(pxi_panels *panels)
{
    free(panels->data);
    *panels = (pxi_panels){0};
}

void pxi_panels_fill(pxi_panels *panels, size_t first, size_t count, const double *values,
                     size_t stride)
{
    const size_t k = panels->k;
    for (size_t i = 0; i < count; i++) {
        const size_t row = first + i;
        double *to = panels->data + row / PXI_PANEL * PXI_PANEL * k + row % PXI_PANEL;
        const double *from = values + i * stride;
        for (size_t j = 0; j < k; j++)
            to[j * PXI_PANEL] = from[j];
    }
}

/* One tile: out[r][16] += a[r][0..depth) . panel, for r < ROWS. The three versions differ in
 * rounding (fused or not), never in order. */
#define PRODUCT_TILE(NAME, TARGET, ROWS, VECTOR, LANES, LOAD, STORE, SPREAD, FUSED)              \
    TARGET static void NAME(const double *panel, const double *a, size_t a_stride, size_t depth, \
                            double *out)                                                         \
    {                                                                                            \
        enum { PARTS = PXI_PANEL / LANES };                                                      \
        VECTOR sum[ROWS][PARTS];                                                                 \
        for (int r = 0; r < ROWS; r++)                                                           \
            for (int p = 0; p < PARTS; p++)                                                      \
                sum[r][p] = LOAD(out + r * PXI_PANEL + p * LANES);                               \
        for (size_t k = 0; k < depth; k++) {                                                     \
            const double *b = panel + k * PXI_PANEL;                                             \
            for (int p = 0; p < PARTS; p++) {                                                    \
                const VECTOR column = LOAD(b + p * LANES);                                       \
                for (int r = 0; r < ROWS; r++)                                                   \
                    sum[r][p] = FUSED(SPREAD(a[(size_t)r * a_stride + k]), column, sum[r][p]);   \
            }                                                                                    \
        }                                                                                        \
        for (int r = 0; r < ROWS; r++)                                                           \
            for (int p = 0; p < PARTS; p++)                                                      \
                STORE(out + r * PXI_PANEL + p * LANES, sum[r][p]);                               \
    }

typedef double plain_pair __attribute__((vector_size(16)));

static inline plain_pair plain_load(const double *from)
{
    plain_pair pair;
    memcpy(&pair, from, sizeof pair);
    return pair;
}

static inline void plain_store(double *to, plain_pair pair)
{
    memcpy(to, &pair, sizeof pair);
}

static inline plain_pair plain_spread(double value)
{
    return (plain_pair){value, value};
}

#define PLAIN_FUSED(x, y, z) ((x) * (y) + (z))
PRODUCT_TILE(tile_plain_1, , 1, plain_pair, 2, plain_load, plain_store, plain_spread, PLAIN_FUSED)

#if defined(__x86_64__)
#define AVX512_TARGET __attribute__((target("avx512f")))
#define AVX2_TARGET __attribute__((target("avx2,fma")))
PRODUCT_TILE(tile_avx512_8, AVX512_TARGET, 8, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd,
             _mm512_set1_pd, _mm512_fmadd_pd)
PRODUCT_TILE(tile_avx512_1, AVX512_TARGET, 1, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd,
             _mm512_set1_pd, _mm512_fmadd_pd)
PRODUCT_TILE(tile_avx2_2, AVX2_TARGET, 2, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd,
             _mm256_set1_pd, _mm256_fmadd_pd)
PRODUCT_TILE(tile_avx2_1, AVX2_TARGET, 1, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd,
             _mm256_set1_pd, _mm256_fmadd_pd)
#endif

typedef void (*product_tile)(const double *panel, const double *a, size_t a_stride, size_t depth,
                             double *out);

typedef struct product_kernel {
    size_t rows; /* of `many` */
    product_tile many, one;
} product_kernel;

static product_kernel product_choose(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return (product_kernel){8, tile_avx512_8, tile_avx512_1};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (product_kernel){2, tile_avx2_2, tile_avx2_1};
#endif
    return (product_kernel){1, tile_plain_1, tile_plain_1};
}

/* Rows of c to and from a tile; `columns` of them exist. */
static void tile_read(const double *c, size_t c_stride, size_t rows, size_t columns, bool negate,
                      double *tile)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < columns; j++)
            tile[r * PXI_PANEL + j] = negate ? -c[r * c_stride + j] : c[r * c_stride + j];
}

static void tile_write(const double *tile, size_t rows, size_t columns, bool negate, double *c,
                       size_t c_stride)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < columns; j++)
            c[r * c_stride + j] = negate ? -tile[r * PXI_PANEL + j] : tile[r * PXI_PANEL + j];
}

void pxi_product(const pxi_panels *b, size_t first, size_t count, const double *a, size_t a_stride,
                 size_t rows, double *c, size_t c_stride, pxi_product_mode mode)
{
    assert(first % PXI_PANEL == 0);
    const product_kernel kernel = product_choose();
    const bool negate = mode == PXI_TAKE; /* c - ab is -(-c + ab), exactly */
    for (size_t k0 = 0; k0 < b->k || k0 == 0; k0 += PRODUCT_DEPTH) {
        const size_t depth = PX_MIN(b->k - k0, (size_t)PRODUCT_DEPTH);
        for (size_t j = 0; j < count; j += PXI_PANEL) {
            const double *panel = b->data + (first + j) * b->k + k0 * PXI_PANEL;
            const size_t columns = PX_MIN(count - j, (size_t)PXI_PANEL);
            for (size_t i = 0, n; i < rows; i += n) {
                n = rows - i >= kernel.rows ? kernel.rows : 1;
                double tile[PRODUCT_ROWS * PXI_PANEL] = {0};
                if (mode != PXI_PUT || k0 > 0)
                    tile_read(c + i * c_stride + j, c_stride, n, columns, negate, tile);
                (n > 1 ? kernel.many : kernel.one)(panel, a + i * a_stride + k0, a_stride, depth,
                                                   tile);
                tile_write(tile, n, columns, negate, c + i * c_stride + j, c_stride);
            }
        }
    }
}

double pxi_dot(const double *x, const double *y, size_t count)
{
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; k++)
            sum[k] += x[i + k] * y[i + k];
    for (size_t k = 0; i + k < count; k++)
        sum[k] += x[i + k] * y[i + k];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}
