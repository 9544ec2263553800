/* src/describe/caption_math.h - what both networks of a captioner are made of
 *
 * Matrices are row-major; `x_row` and the like say how many elements lie between rows. Nothing here
 * depends on threads; the rounding of products may depend on how many rows they have.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTION_MATH_H
#define PXI_DESCRIBE_CAPTION_MATH_H

#include "describe/caption_net.h"

/* y[i] = W x[i] + bias, or += without a bias where `adds`. W is (outputs, inputs). */
typedef struct pxi_linear {
    size_t inputs, outputs;
    const float *weights;
    size_t weights_row;
    const float *bias; /* NULL: none */
    bool adds;         /* to what y holds; then there is no bias */
} pxi_linear;

/* A matrix of a network with a bias; `bias` < 0: without one. */
pxi_linear pxi_net_linear(const pxi_net *net, const float *weights, int tensor, int bias);

px_status pxi_linear_run(const pxi_linear *linear, size_t rows, const float *x, size_t x_row,
                         float *y, size_t y_row, px_error *err);
/* dx[i] = W^T dy[i]; += where `adds`. */
px_status pxi_linear_back(const pxi_linear *linear, size_t rows, const float *dy, size_t dy_row,
                          float *dx, size_t dx_row, px_error *err);
/* dW = sum of dy[i] x[i]^T, without gaps between rows of dW. */
px_status pxi_linear_weights(size_t inputs, size_t outputs, size_t rows, const float *dy,
                             size_t dy_row, const float *x, size_t x_row, float *dw, px_error *err);
void pxi_column_sums(size_t rows, size_t columns, const float *x, size_t x_row, float *sums);

/* log of the sum of exp(x), with x[0] .. x[count - 1], count >= 1. */
double pxi_log_sum_exp(const float *x, size_t count);

/* Losses and gradients of words. Row i adds -log softmax(scores[i])[targets[i]] to losses[i]; with
 * `scale` not 0 the scores are overwritten by that scale times their gradient. That of the target
 * is formed as less the sum of the others: p - 1 loses everything where p is near 1. */
void pxi_word_losses(size_t rows, size_t words, float *scores, const int32_t *targets, double scale,
                     double *losses);

/* Rows of an embedding, and their gradient, which is added to in the order of rows. */
void pxi_embed(size_t rows, size_t size, const float *embedding, const int32_t *words, float *x,
               size_t x_row);
void pxi_embed_back(size_t rows, size_t size, const int32_t *words, const float *dx, size_t dx_row,
                    float *gradient);

void pxi_times(size_t count, const float *x, const float *factors, float *y); /* y may be x */

typedef struct pxi_room_part { /* `count` numbers, which *at shall point to */
    float **at;
    size_t count;
} pxi_room_part;

/* All parts from one block of memory, each on cache lines of its own; the caller frees it. NULL
 * when out of memory: *bytes says how much was asked for. */
void *pxi_room_make(const pxi_room_part *parts, size_t count, size_t *bytes);

/* a . b in 16 lanes: the same bits for any width of vectors. */
static inline float pxi_dot_lanes(const float *a, const float *b, size_t count)
{
    float sum[16] = {0};
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        for (size_t lane = 0; lane < 16; lane++)
            sum[lane] += a[i + lane] * b[i + lane];
    for (size_t lane = 0; i + lane < count; lane++)
        sum[lane] += a[i + lane] * b[i + lane];
    for (size_t half = 8; half; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return sum[0];
}

#endif
