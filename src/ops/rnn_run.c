/* src/ops/rnn_run.c - walks sequences forward and back for RNN, GRU and LSTM
 *
 * A sequence shorter than the longest ends where sequence_lens says: Y is 0 from there on, the last
 * states are those at its own end, and the reverse direction starts at its own end. An empty one
 * hands its initial states on.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/rnn.h"

#include <string.h>

void pxi_rnn_product(const px_real *matrix, int64_t rows, int64_t columns, const px_real *vector,
                     px_real *out)
{
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < columns; j++)
            sum += (double)matrix[i * columns + j] * (double)vector[j];
        out[i] += (px_real)sum;
    }
}

void pxi_rnn_product_pull(const px_real *matrix, int64_t rows, int64_t columns,
                          const px_real *vector, const px_real *dout, px_real *dvector,
                          px_real *dmatrix)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; dvector && j < columns; j++)
            dvector[j] += dout[i] * matrix[i * columns + j];
        for (int64_t j = 0; dmatrix && j < columns; j++)
            dmatrix[i * columns + j] += dout[i] * vector[j];
    }
}

void pxi_rnn_add(const px_real *from, int64_t count, px_real *out)
{
    for (int64_t i = 0; from && out && i < count; i++)
        out[i] += from[i];
}

void pxi_rnn_sums(const pxi_rnn_cell *cell, int gates, const px_real *x, const px_real *h,
                  px_real *z)
{
    const pxi_rnn_params *p = cell->params;
    const int64_t rows = gates * p->hidden;
    memset(z, 0, (size_t)rows * sizeof *z);
    pxi_rnn_add(cell->w_bias, rows, z);
    pxi_rnn_add(cell->r_bias, rows, z);
    pxi_rnn_product(cell->w, rows, p->input, x, z);
    pxi_rnn_product(cell->r, rows, p->hidden, h, z);
}

void pxi_rnn_sums_pull(const pxi_rnn_cell *cell, int gates, const px_real *x, const px_real *h,
                       const px_real *dz, px_real *dx, px_real *dh)
{
    const pxi_rnn_params *p = cell->params;
    const int64_t rows = gates * p->hidden, all = p->gates * p->hidden;
    pxi_rnn_add(dz, all, cell->dw_bias);
    pxi_rnn_add(dz, rows, cell->dr_bias);
    pxi_rnn_product_pull(cell->w, all, p->input, x, dz, dx, cell->dw);
    pxi_rnn_product_pull(cell->r, rows, p->hidden, h, dz, dh, cell->dr);
}

static const px_real *part(const px_op_ctx *ctx, int input, int64_t offset)
{
    return pxi_op_has_in(ctx, input) ? PXI_F32(ctx->in[input]) + offset : NULL;
}

static px_real *gradient_part(const px_op_ctx *ctx, bool backward, int input, int64_t offset)
{
    return backward && pxi_op_wants_grad(ctx, input) ? PXI_F32(ctx->in_grad[input]) + offset : NULL;
}

static pxi_rnn_cell cell_of(const px_op_ctx *ctx, int d, bool backward)
{
    const pxi_rnn_params *p = ctx->params;
    const int64_t rows = p->gates * p->hidden;
    const int64_t w = d * rows * p->input, r = d * rows * p->hidden;
    const int64_t b = d * 2 * rows, peephole = d * 3 * p->hidden;
    return (pxi_rnn_cell){
        .params = p,
        .f = &p->activation[d][0],
        .g = &p->activation[d][1],
        .h = &p->activation[d][2],
        .w = part(ctx, 1, w),
        .r = part(ctx, 2, r),
        .w_bias = part(ctx, 3, b),
        .r_bias = part(ctx, 3, b + rows),
        .peephole = part(ctx, 7, peephole),
        .dw = gradient_part(ctx, backward, 1, w),
        .dr = gradient_part(ctx, backward, 2, r),
        .dw_bias = gradient_part(ctx, backward, 3, b),
        .dr_bias = gradient_part(ctx, backward, 3, b + rows),
        .dpeephole = gradient_part(ctx, backward, 7, peephole),
        .work = ctx->scratch,
    };
}

/* One sample's walk in one direction: where things lie. */
typedef struct rnn_walk {
    const pxi_rnn_params *p;
    int d;
    int64_t b, length;
    int64_t state;            /* offset into states */
    int64_t slot, slot_size;  /* of the first step, of one */
    px_real *zeros, *dh, *dc; /* behind the cell's work in scratch */
} rnn_walk;

static rnn_walk walk_of(const px_op_ctx *ctx, int d, int64_t b)
{
    const pxi_rnn_params *p = ctx->params;
    px_real *behind = (px_real *)ctx->scratch + (p->gates + 2) * p->hidden;
    const int64_t size = (p->gates + 2) * p->hidden;
    return (rnn_walk){
        .p = p,
        .d = d,
        .b = b,
        .length = pxi_op_has_in(ctx, 4) ? ((const int32_t *)ctx->in[4].data)[b] : p->seq,
        .state = (p->batch_first ? b * p->directions + d : d * p->batch + b) * p->hidden,
        .slot = (d * p->batch + b) * p->seq * size,
        .slot_size = size,
        .zeros = behind,
        .dh = behind + p->hidden,
        .dc = behind + 2 * p->hidden,
    };
}

/* The time of step s. */
static int64_t walk_time(const rnn_walk *k, int64_t s)
{
    return k->p->reverse || k->d == 1 ? k->length - 1 - s : s;
}

static int64_t walk_x(const rnn_walk *k, int64_t t)
{
    return (k->p->batch_first ? k->b * k->p->seq + t : t * k->p->batch + k->b) * k->p->input;
}

static int64_t walk_y(const rnn_walk *k, int64_t t)
{
    const pxi_rnn_params *p = k->p;
    return (p->batch_first ? (k->b * p->seq + t) * p->directions + k->d
                           : (t * p->directions + k->d) * p->batch + k->b) *
           p->hidden;
}

/* The states before step s: the last slot's, or the initial ones. */
static void walk_states(const px_op_ctx *ctx, const pxi_rnn_kind *kind, const rnn_walk *k,
                        int64_t s, const px_real **h, const px_real **c)
{
    if (s > 0) {
        const px_real *slot = (const px_real *)ctx->saved + k->slot + (s - 1) * k->slot_size;
        *c = slot + k->p->gates * k->p->hidden;
        *h = *c + k->p->hidden;
        return;
    }
    *h = part(ctx, 5, k->state);
    *c = kind->has_cell ? part(ctx, 6, k->state) : NULL;
    *h = *h ? *h : k->zeros;
    *c = *c ? *c : k->zeros;
}

static void store(const px_op_ctx *ctx, int output, int64_t offset, const px_real *from)
{
    const pxi_rnn_params *p = ctx->params;
    if (output < ctx->out_count && ctx->out[output].data)
        memcpy(PXI_F32(ctx->out[output]) + offset, from, (size_t)p->hidden * sizeof *from);
}

px_status pxi_rnn_forward(const px_op_ctx *ctx, const pxi_rnn_kind *kind, px_error *err)
{
    const pxi_rnn_params *p = ctx->params;
    for (int64_t b = 0; pxi_op_has_in(ctx, 4) && b < p->batch; b++) {
        const int32_t length = ((const int32_t *)ctx->in[4].data)[b];
        if (length < 0 || length > p->seq)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "sequence %lld has length %d, expected 0 to %lld", (long long)b,
                               (int)length, (long long)p->seq);
    }
    for (int d = 0; d < p->directions; d++) {
        const pxi_rnn_cell cell = cell_of(ctx, d, /* backward= */ false);
        for (int64_t b = 0; b < p->batch; b++) {
            const rnn_walk k = walk_of(ctx, d, b);
            const px_real *h, *c;
            memset(k.zeros, 0, (size_t)p->hidden * sizeof *k.zeros);
            for (int64_t s = 0; s < k.length; s++) {
                const int64_t t = walk_time(&k, s);
                px_real *slot = (px_real *)ctx->saved + k.slot + s * k.slot_size;
                walk_states(ctx, kind, &k, s, &h, &c);
                kind->step(&cell, PXI_F32(ctx->in[0]) + walk_x(&k, t), h, c, slot);
                store(ctx, 0, walk_y(&k, t), slot + (p->gates + 1) * p->hidden);
            }
            for (int64_t t = k.length; t < p->seq; t++)
                store(ctx, 0, walk_y(&k, t), k.zeros);
            walk_states(ctx, kind, &k, k.length, &h, &c);
            store(ctx, 1, k.state, h);
            store(ctx, 2, k.state, c);
        }
    }
    return PX_OK;
}

static const px_real *out_gradient(const px_op_ctx *ctx, int output, int64_t offset)
{
    return output < ctx->out_count && ctx->out_grad[output].data
               ? PXI_F32(ctx->out_grad[output]) + offset
               : NULL;
}

void pxi_rnn_backward(const px_op_ctx *ctx, const pxi_rnn_kind *kind)
{
    const pxi_rnn_params *p = ctx->params;
    for (int d = 0; d < p->directions; d++) {
        const pxi_rnn_cell cell = cell_of(ctx, d, /* backward= */ true);
        for (int64_t b = 0; b < p->batch; b++) {
            const rnn_walk k = walk_of(ctx, d, b);
            memset(k.zeros, 0, 3 * (size_t)p->hidden * sizeof *k.zeros); /* and dh, dc */
            pxi_rnn_add(out_gradient(ctx, 1, k.state), p->hidden, k.dh);
            if (kind->has_cell)
                pxi_rnn_add(out_gradient(ctx, 2, k.state), p->hidden, k.dc);
            for (int64_t s = k.length - 1; s >= 0; s--) {
                const int64_t t = walk_time(&k, s), x = walk_x(&k, t);
                const px_real *slot = (const px_real *)ctx->saved + k.slot + s * k.slot_size;
                const px_real *h, *c;
                walk_states(ctx, kind, &k, s, &h, &c);
                pxi_rnn_add(out_gradient(ctx, 0, walk_y(&k, t)), p->hidden, k.dh);
                kind->pull(&cell, PXI_F32(ctx->in[0]) + x, h, c, slot,
                           gradient_part(ctx, true, 0, x), k.dh, k.dc);
            }
            pxi_rnn_add(k.dh, p->hidden, gradient_part(ctx, true, 5, k.state));
            if (kind->has_cell)
                pxi_rnn_add(k.dc, p->hidden, gradient_part(ctx, true, 6, k.state));
        }
    }
}
