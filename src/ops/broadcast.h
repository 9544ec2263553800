/* src/ops/broadcast.h - numpy broadcasting for kernels, and operators of two operands
 *
 * Axes of extent 1 are dropped and neighbours along which every operand behaves alike are merged,
 * so that same shapes become one run, a bias in NCHW becomes (N, C, HW), in NHWC (NHW, C). Kernels
 * get the last two merged axes, rows of `columns` elements, where an operand's column stride is 1
 * or 0; the walk goes over the axes before them:
 *
 *     pxi_broadcast w;
 *     for (bool more = pxi_broadcast_start(&w, &out->shape, 2, shapes); more;
 *          more = pxi_broadcast_next(&w))
 *         kernel(&w, a + w.at[0], b + w.at[1], y + w.out);
 *
 * Shapes are read anew in each run: a plan may store the axes in another order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_OPS_BROADCAST_H
#define PXI_OPS_BROADCAST_H

#include "ops/op_types.h"

#define PXI_OPERANDS 3

typedef struct pxi_broadcast {
    size_t rows, columns;               /* the block a kernel works on; dense in the output */
    size_t row_stride[PXI_OPERANDS];    /* in elements */
    size_t column_stride[PXI_OPERANDS]; /* 1 or 0 */
    size_t out, at[PXI_OPERANDS]; /* where the block starts in the output and in each operand */
    /* the walk over the outer axes */
    int operands, outer;
    size_t dim[PX_MAX_RANK], index[PX_MAX_RANK];
    size_t stride[PXI_OPERANDS][PX_MAX_RANK];
} pxi_broadcast;

/* False if there is nothing to do (an empty output). Every shape broadcasts to `out`. */
bool pxi_broadcast_start(pxi_broadcast *w, const px_shape *out, int operands,
                         const px_shape *const *shapes);
bool pxi_broadcast_next(pxi_broadcast *w);

/* y = f(a, b) for one block; the data are those of whole tensors. */
typedef void pxi_binary_fn(const pxi_broadcast *w, const void *a, const void *b, void *y);

/* da += f(a, b, y, dy), summed over the axes along which `a` is broadcast. */
typedef void pxi_gradient_fn(const pxi_broadcast *w, const void *a, const void *b, const void *y,
                             const void *dy, void *da);

/* --- operators of two operands --------------------------------------------------------------- */

typedef struct pxi_binary_params {
    int trailing; /* axes of extent 1 to append to the second shape: the old `axis` attribute */
    int mode;     /* the operator's own */
} pxi_binary_params;

/* setup() of two inputs whose types are in `types` and equal: pxi_binary_params and output 0, of
 * input 0's type. `old`: as before opset 7, where there is no broadcasting without `broadcast`, and
 * then the second shape lies inside the first one from `axis` on (default: at its end); such
 * operators need axes in logical order. */
px_status pxi_binary_setup(px_op_ctx *ctx, unsigned types, bool old, px_error *err);

/* The same without a look at the types. */
px_status pxi_binary_shape(px_op_ctx *ctx, bool old, px_error *err);

/* Lays input 1 along input 0 from `axis` on, whatever the attributes say. */
px_status pxi_binary_align(px_op_ctx *ctx, int64_t axis, px_error *err);

/* A walk over the two inputs: with swap, input 1 is operand 0. */
bool pxi_binary_start(pxi_broadcast *w, const px_op_ctx *ctx, bool swap);

/* Runs `kernel` over the whole output. `a` and `b` are the inputs' data, or what they were
 * converted to. */
void pxi_binary_forward(const px_op_ctx *ctx, pxi_binary_fn *kernel, const void *a, const void *b);

/* The same for whichever gradients are wanted: `da` differentiates by input 0, `db` by input 1, for
 * which the operands change places: in its kernel `a` is input 1 and `b` input 0. NULL: not that
 * one. */
void pxi_binary_backward(const px_op_ctx *ctx, pxi_gradient_fn *da, pxi_gradient_fn *db,
                         const void *a, const void *b);

/* --- kernels --------------------------------------------------------------------------------- */

/* A pxi_binary_fn called `name`: VALUE in terms of a and b, and of ys[i] before it is written. y
 * may be a. */
#define PXI_BINARY_KERNEL(name, TA, TB, TY, VALUE)                                            \
    static inline __attribute__((always_inline)) void name##_rows(                            \
        const pxi_broadcast *w, const TA *as, const TB *bs, TY *ys, bool a_runs, bool b_runs) \
    {                                                                                         \
        for (size_t r = 0; r < w->rows; r++) {                                                \
            const TA a_fixed = *as;                                                           \
            const TB b_fixed = *bs;                                                           \
            _Pragma("omp simd") for (size_t i = 0; i < w->columns; i++)                       \
            {                                                                                 \
                const TA a = a_runs ? as[i] : a_fixed;                                        \
                const TB b = b_runs ? bs[i] : b_fixed;                                        \
                (void)a, (void)b;                                                             \
                ys[i] = (VALUE);                                                              \
            }                                                                                 \
            as += w->row_stride[0], bs += w->row_stride[1], ys += w->columns;                 \
        }                                                                                     \
    }                                                                                         \
    static void name(const pxi_broadcast *w, const void *a, const void *b, void *y)           \
    {                                                                                         \
        const TA *as = (const TA *)a + w->at[0];                                              \
        const TB *bs = (const TB *)b + w->at[1];                                              \
        TY *ys = (TY *)y + w->out;                                                            \
        if (w->column_stride[0] && w->column_stride[1])                                       \
            name##_rows(w, as, bs, ys, true, true);                                           \
        else if (w->column_stride[0])                                                         \
            name##_rows(w, as, bs, ys, true, false);                                          \
        else if (w->column_stride[1])                                                         \
            name##_rows(w, as, bs, ys, false, true);                                          \
        else                                                                                  \
            name##_rows(w, as, bs, ys, false, false);                                         \
    }

/* A pxi_gradient_fn called `name`: GRADIENT in terms of a, b, y and dy; TA is px_real or double.
 * Sums inside a block are in double; a walk adds its blocks' sums one after the other. */
#define PXI_GRADIENT_COLUMNS 64
#define PXI_GRADIENT_KERNEL(name, TA, TB, GRADIENT)                                               \
    static inline __attribute__((always_inline)) void name##_rows(                                \
        const pxi_broadcast *w, const TA *as, const TB *bs, const TA *ys, const TA *dys, TA *das, \
        bool a_runs, bool b_runs)                                                                 \
    {                                                                                             \
        typedef TA T;                                                                             \
        const size_t columns = w->columns, a_step = w->row_stride[0], b_step = w->row_stride[1];  \
        if (a_runs && a_step == 0 && w->rows > 1) { /* over rows, some columns at a time */       \
            for (size_t first = 0; first < columns; first += PXI_GRADIENT_COLUMNS) {              \
                const size_t left = columns - first;                                              \
                const size_t n = left < PXI_GRADIENT_COLUMNS ? left : PXI_GRADIENT_COLUMNS;       \
                double sums[PXI_GRADIENT_COLUMNS] = {0};                                          \
                for (size_t r = 0; r < w->rows; r++) {                                            \
                    const size_t at = r * columns + first;                                        \
                    const TB *br = bs + r * b_step, b_fixed = *br;                                \
                    _Pragma("omp simd") for (size_t i = 0; i < n; i++)                            \
                    {                                                                             \
                        const T a = as[first + i], y = ys[at + i], dy = dys[at + i];              \
                        const TB b = b_runs ? br[first + i] : b_fixed;                            \
                        (void)a, (void)b, (void)y;                                                \
                        sums[i] += (double)(GRADIENT);                                            \
                    }                                                                             \
                }                                                                                 \
                for (size_t i = 0; i < n; i++)                                                    \
                    das[first + i] += (T)sums[i];                                                 \
            }                                                                                     \
            return;                                                                               \
        }                                                                                         \
        for (size_t r = 0; r < w->rows; r++) {                                                    \
            const TB b_fixed = *bs;                                                               \
            if (a_runs) {                                                                         \
                _Pragma("omp simd") for (size_t i = 0; i < columns; i++)                          \
                {                                                                                 \
                    const T a = as[i], y = ys[i], dy = dys[i];                                    \
                    const TB b = b_runs ? bs[i] : b_fixed;                                        \
                    (void)a, (void)b, (void)y;                                                    \
                    das[i] += (GRADIENT);                                                         \
                }                                                                                 \
            } else {                                                                              \
                const T a = *as;                                                                  \
                double sum = 0;                                                                   \
                _Pragma("omp simd reduction(+ : sum)") for (size_t i = 0; i < columns; i++)       \
                {                                                                                 \
                    const T y = ys[i], dy = dys[i];                                               \
                    const TB b = b_runs ? bs[i] : b_fixed;                                        \
                    (void)a, (void)b, (void)y;                                                    \
                    sum += (double)(GRADIENT);                                                    \
                }                                                                                 \
                *das += (T)sum;                                                                   \
            }                                                                                     \
            as += a_step, das += a_step, bs += b_step, ys += columns, dys += columns;             \
        }                                                                                         \
    }                                                                                             \
    static void name(const pxi_broadcast *w, const void *a, const void *b, const void *y,         \
                     const void *dy, void *da)                                                    \
    {                                                                                             \
        const TA *as = (const TA *)a + w->at[0], *ys = (const TA *)y + w->out;                    \
        const TA *dys = (const TA *)dy + w->out;                                                  \
        const TB *bs = (const TB *)b + w->at[1];                                                  \
        TA *das = (TA *)da + w->at[0];                                                            \
        if (w->column_stride[0] && w->column_stride[1])                                           \
            name##_rows(w, as, bs, ys, dys, das, true, true);                                     \
        else if (w->column_stride[0])                                                             \
            name##_rows(w, as, bs, ys, dys, das, true, false);                                    \
        else if (w->column_stride[1])                                                             \
            name##_rows(w, as, bs, ys, dys, das, false, true);                                    \
        else                                                                                      \
            name##_rows(w, as, bs, ys, dys, das, false, false);                                   \
    }

/* For tables from the lists of op_types.h: [PX_INT8] = add_i8, ... */
#define PXI_KERNEL_ENTRY(op, dtype, T, tag) [dtype] = op##_##tag,

#endif
