/* src/ops/det.c - Det: determinants of square matrices, by LU decomposition in double
 *
 * Backward: d det / dA = cofactors of A, which for a regular matrix are det * inverse transposed.
 * For a singular one each cofactor is computed as a determinant of its own.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/nest.h"

#include <math.h>

static px_status det_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    PX_TRY(pxi_op_type(ctx, 0, PXI_TYPES_REAL, err));
    const px_shape *in = &ctx->in[0].shape;
    if (in->rank < 2 || in->dim[in->rank - 1] != in->dim[in->rank - 2]) {
        char text[PX_SHAPE_TEXT];
        return pxi_op_fail(ctx, err, PX_E_INPUT, "takes square matrices, not %s",
                           px_shape_text(in, text));
    }
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = *in;
    ctx->out[0].shape.rank = in->rank - 2;
    /* the matrix and its inverse */
    const int64_t n = in->dim[in->rank - 1];
    if (n > 1 << 24)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "matrices this large are not supported");
    return pxi_op_scratch(ctx, 2 * n * n, sizeof(double), err);
}

/* Eliminates with partial pivoting and returns the determinant; `other` (n x n, may be NULL) goes
 * through the same steps. */
static double det_eliminate(double *a, double *other, int64_t n)
{
    double det = 1.0;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t r = k + 1; r < n; r++)
            if (fabs(a[r * n + k]) > fabs(a[pivot * n + k]))
                pivot = r;
        if (a[pivot * n + k] == 0.0)
            return 0.0;
        for (int64_t c = 0; pivot != k && c < n; c++) {
            const double swap = a[k * n + c];
            a[k * n + c] = a[pivot * n + c];
            a[pivot * n + c] = swap;
            if (other) {
                const double swap_other = other[k * n + c];
                other[k * n + c] = other[pivot * n + c];
                other[pivot * n + c] = swap_other;
            }
        }
        det *= pivot == k ? a[k * n + k] : -a[k * n + k];
        for (int64_t r = k + 1; r < n; r++) {
            const double factor = a[r * n + k] / a[k * n + k];
            for (int64_t c = k; c < n; c++)
                a[r * n + c] -= factor * a[k * n + c];
            for (int64_t c = 0; other && c < n; c++)
                other[r * n + c] -= factor * other[k * n + c];
        }
    }
    return det;
}

static void det_load(double *a, const px_tensor *x, int64_t matrix, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        a[i] = pxi_number(x, matrix * n * n + i);
}

static px_status det_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const px_shape *in = &ctx->in[0].shape;
    const int64_t n = in->dim[in->rank - 1], count = px_shape_count(&ctx->out[0].shape);
    for (int64_t m = 0; m < count; m++) {
        det_load(ctx->scratch, &ctx->in[0], m, n);
        pxi_store_number(&ctx->out[0], m, det_eliminate(ctx->scratch, NULL, n));
    }
    return PX_OK;
}

/* The determinant without row `row` and column `col`, with its sign. */
static double cofactor(double *a, const px_tensor *x, int64_t matrix, int64_t n, int64_t row,
                       int64_t col)
{
    int64_t filled = 0;
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < n; c++)
            if (r != row && c != col)
                a[filled++] = pxi_number(x, (matrix * n + r) * n + c);
    const double minor = det_eliminate(a, NULL, n - 1);
    return (row + col) % 2 ? -minor : minor;
}

static void det_backward(const px_op_ctx *ctx)
{
    if (!pxi_op_wants_grad(ctx, 0) || !ctx->out_grad[0].data)
        return;
    const px_shape *in = &ctx->in[0].shape;
    const int64_t n = in->dim[in->rank - 1], count = px_shape_count(&ctx->out[0].shape);
    double *a = ctx->scratch, *inverse = a + n * n;
    for (int64_t m = 0; m < count; m++) {
        const double dy = (double)PXI_F32(ctx->out_grad[0])[m];
        px_real *dx = PXI_F32(ctx->in_grad[0]) + m * n * n;
        det_load(a, &ctx->in[0], m, n);
        for (int64_t i = 0; i < n * n; i++)
            inverse[i] = i / n == i % n ? 1.0 : 0.0;
        const double det = det_eliminate(a, inverse, n);
        if (det == 0.0) {
            for (int64_t i = 0; i < n * n; i++)
                dx[i] += (px_real)(dy * cofactor(a, &ctx->in[0], m, n, i / n, i % n));
            continue;
        }
        for (int64_t c = 0; c < n; c++) /* back substitution, column by column */
            for (int64_t r = n - 1; r >= 0; r--) {
                double sum = inverse[r * n + c];
                for (int64_t k = r + 1; k < n; k++)
                    sum -= a[r * n + k] * inverse[k * n + c];
                inverse[r * n + c] = sum / a[r * n + r];
            }
        for (int64_t r = 0; r < n; r++)
            for (int64_t c = 0; c < n; c++)
                dx[r * n + c] += (px_real)(dy * det * inverse[c * n + r]);
    }
}

const px_op px_op_det_11 = {
    .name = "Det",
    .since = 11,
    .diff = PX_DIFF_YES,
    .setup = det_setup,
    .forward = det_forward,
    .backward = det_backward,
};
