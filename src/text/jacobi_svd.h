/* src/text/jacobi_svd.h - singular values and left singular vectors */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_JACOBI_SVD_H
#define PXI_TEXT_JACOBI_SVD_H

#include <plexor/error.h>

/* Of a matrix with n rows, given by its columns: a [columns][n]. The k largest singular values,
 * descending, and their left singular vectors u [k][n]; of two directions the one whose largest
 * entry is positive (the first of equals). Where there are no k that are not zero, zeros follow.
 * One thread, always the same order of operations. */
px_status pxi_jacobi_svd(const double *a, size_t columns, size_t n, size_t k, double *values,
                         double *u, px_error *err);

#endif
