/* src/stats/product.h - matrix products in double, the same bits however they are cut up
 *
 *     pxi_panels b = {0};
 *     PX_TRY(pxi_panels_init(&b, columns, k, err));
 *     pxi_panels_fill(&b, 0, columns, values, k);            // b[j][.] is row j of `values`
 *     pxi_product(&b, 0, columns, a, k, rows, c, columns, PXI_PUT);   // c[i][j] = a[i] . b[j]
 *     pxi_panels_done(&b);
 *
 * Every c[i][j] is one chain of additions in ascending k, whatever the other rows and columns of
 * the call are. So a row's result does not depend on the block, thread or shard it came in, which
 * a BLAS does not promise. The right side is packed once and used often: whitened traces, factors.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STATS_PRODUCT_H
#define PXI_STATS_PRODUCT_H

#include <plexor/error.h>
#include <stddef.h>

#define PXI_PANEL 16 /* rows of the right side that lie together, element by element */

typedef struct pxi_panels { /* {0}: none */
    size_t count, k;        /* rows and their length */
    double *data;           /* [panels][k][PXI_PANEL]; rows beyond `count` are 0 */
} pxi_panels;

px_status pxi_panels_init(pxi_panels *panels, size_t count, size_t k, px_error *err);
void pxi_panels_done(pxi_panels *panels);
/* Rows first .. first + count - 1 from values[count][stride]. Different rows may be filled at once
 * by different threads. */
void pxi_panels_fill(pxi_panels *panels, size_t first, size_t count, const double *values,
                     size_t stride);

typedef enum pxi_product_mode { PXI_PUT, PXI_ADD, PXI_TAKE } pxi_product_mode; /* =, +=, -= */

/* c[i][j - first] for i < rows and columns first <= j < first + count; `first` is a multiple of
 * PXI_PANEL. a is [rows][a_stride], c is [rows][c_stride]. */
void pxi_product(const pxi_panels *b, size_t first, size_t count, const double *a, size_t a_stride,
                 size_t rows, double *c, size_t c_stride, pxi_product_mode mode);

/* The sum of x[i] * y[i], in ascending order within 8 lanes that are added at the end. */
double pxi_dot(const double *x, const double *y, size_t count);

#endif
