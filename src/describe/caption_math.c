/* src/describe/caption_math.c - linear layers, words and their losses, on the engine's GEMM */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/caption_math.h"

#include "base/memory.h"
#include "base/vector_math.h"
#include "engine/prim.h"

#include <assert.h>
#include <math.h>
#include <string.h>

pxi_linear pxi_net_linear(const pxi_net *net, const float *weights, int tensor, int bias)
{
    const pxi_net_tensor *t = &net->tensors[tensor];
    return (pxi_linear){
        .inputs = (size_t)t->shape.dim[1],
        .outputs = (size_t)t->shape.dim[0],
        .weights = weights + t->first,
        .weights_row = (size_t)t->shape.dim[1],
        .bias = bias >= 0 ? weights + net->tensors[bias].first : NULL,
    };
}

px_status pxi_linear_run(const pxi_linear *linear, size_t rows, const float *x, size_t x_row,
                         float *y, size_t y_row, px_error *err)
{
    assert(!(linear->bias && linear->adds));
    if (rows == 0)
        return PX_OK;
    for (size_t i = 0; linear->bias && i < rows; i++)
        memcpy(y + i * y_row, linear->bias, linear->outputs * sizeof *y);
    const float beta = linear->bias || linear->adds ? 1.0f : 0.0f;
    return pxi_sgemm_rows(false, true, (int64_t)rows, (int64_t)linear->outputs,
                          (int64_t)linear->inputs, x, (int64_t)x_row, linear->weights,
                          (int64_t)linear->weights_row, beta, y, (int64_t)y_row, err);
}

px_status pxi_linear_back(const pxi_linear *linear, size_t rows, const float *dy, size_t dy_row,
                          float *dx, size_t dx_row, px_error *err)
{
    if (rows == 0)
        return PX_OK;
    return pxi_sgemm_rows(false, false, (int64_t)rows, (int64_t)linear->inputs,
                          (int64_t)linear->outputs, dy, (int64_t)dy_row, linear->weights,
                          (int64_t)linear->weights_row, linear->adds ? 1.0f : 0.0f, dx,
                          (int64_t)dx_row, err);
}

px_status pxi_linear_weights(size_t inputs, size_t outputs, size_t rows, const float *dy,
                             size_t dy_row, const float *x, size_t x_row, float *dw, px_error *err)
{
    if (rows == 0) {
        memset(dw, 0, inputs * outputs * sizeof *dw);
        return PX_OK;
    }
    return pxi_sgemm_rows(true, false, (int64_t)outputs, (int64_t)inputs, (int64_t)rows, dy,
                          (int64_t)dy_row, x, (int64_t)x_row, 0.0f, dw, (int64_t)inputs, err);
}

PXI_WIDE static void column_sums(size_t rows, size_t columns, const float *x, size_t x_row,
                                 float *sums)
{
    memset(sums, 0, columns * sizeof *sums);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            sums[j] += x[i * x_row + j];
}

void pxi_column_sums(size_t rows, size_t columns, const float *x, size_t x_row, float *sums)
{
    column_sums(rows, columns, x, x_row, sums);
}

static float most_of(const float *x, size_t count)
{
    float most = x[0];
    for (size_t i = 1; i < count; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

PXI_WIDE static void exps(const float *x, float less, size_t count, float *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = pxi_exp(x[i] - less);
}

double pxi_log_sum_exp(const float *x, size_t count)
{
    assert(count > 0);
    enum { PIECE = 256 };
    const float most = most_of(x, count);
    double sum = 0.0; /* at least 1, or NaN */
    float piece[PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        const size_t n = count - first < PIECE ? count - first : PIECE;
        exps(x + first, most, n, piece);
        for (size_t i = 0; i < n; i++)
            sum += (double)piece[i];
    }
    return (double)most + log(sum);
}

void pxi_word_losses(size_t rows, size_t words, float *scores, const int32_t *targets, double scale,
                     double *losses)
{
    assert(words > 0);
    for (size_t i = 0; i < rows; i++) {
        float *row = scores + i * words;
        const size_t target = (size_t)targets[i];
        const float most = most_of(row, words), at_target = row[target];
        if (scale == 0.0) {
            losses[i] += pxi_log_sum_exp(row, words) - (double)at_target;
            continue;
        }
        exps(row, most, words, row);
        double others = 0.0;
        for (size_t j = 0; j < words; j++)
            others += j == target ? 0.0 : (double)row[j];
        const double sum = others + (double)row[target]; /* at least 1, or NaN */
        losses[i] += (double)most + log(sum) - (double)at_target;
        const float share = (float)(scale / sum);
        for (size_t j = 0; j < words; j++)
            row[j] *= share;
        row[target] = (float)(-scale * others / sum);
    }
}

void pxi_embed(size_t rows, size_t size, const float *embedding, const int32_t *words, float *x,
               size_t x_row)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(x + i * x_row, embedding + (size_t)words[i] * size, size * sizeof *x);
}

PXI_WIDE static void embed_back(size_t rows, size_t size, const int32_t *words, const float *dx,
                                size_t dx_row, float *gradient)
{
    for (size_t i = 0; i < rows; i++) {
        float *to = gradient + (size_t)words[i] * size;
        for (size_t j = 0; j < size; j++)
            to[j] += dx[i * dx_row + j];
    }
}

PXI_WIDE static void times(size_t count, const float *x, const float *factors, float *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] * factors[i];
}

void pxi_embed_back(size_t rows, size_t size, const int32_t *words, const float *dx, size_t dx_row,
                    float *gradient)
{
    embed_back(rows, size, words, dx, dx_row, gradient);
}

void pxi_times(size_t count, const float *x, const float *factors, float *y)
{
    times(count, x, factors, y);
}

static size_t whole_lines(size_t count)
{
    return (count + 15) / 16 * 16;
}

void *pxi_room_make(const pxi_room_part *parts, size_t count, size_t *bytes)
{
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++)
        numbers += whole_lines(parts[i].count);
    *bytes = numbers * sizeof(float);
    float *at = pxi_alloc_aligned(*bytes);
    for (size_t i = 0; at && i < count; i++)
        *parts[i].at = i ? *parts[i - 1].at + whole_lines(parts[i - 1].count) : at;
    return at;
}
