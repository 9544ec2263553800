/* src/describe/caption_decoder.h - p(d|R): the LSTM that attends and tells
 *
 *     abar = mean of a_j;  h0 = tanh(Wh abar + bh);  c0 = tanh(Wc abar + bc)
 *     z = gated attention of h over a_j;  (h, c) = LSTM([E_w ; z], (h, c))
 *     log p = log softmax(Wo dropout(h) + bo)
 *
 * Xu et al., Show, Attend and Tell, ICML 2015.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTION_DECODER_H
#define PXI_DESCRIBE_CAPTION_DECODER_H

#include "describe/caption_net.h"

typedef struct pxi_decoder_room { /* where blocks are computed; one per worker */
    size_t rows, steps;           /* that it has room for */
    float *mean;                  /* [rows][F] */
    float *h0, *c0;               /* [rows][H] */
    float *keys;                  /* [rows][k][A] */
    float *joint;                 /* [N][A + F + 4H]: query, gate, LSTM gates */
    float *x;                     /* [N][D + F] */
    float *z;                     /* [N][F] */
    float *tanhs, *alpha;         /* [N][k][A], [N][k] */
    float *h_in;                  /* [N][H]: states as steps read them */
    float *c, *tanh_c, *h;        /* [N][H] */
    float *out;                   /* [N][H]: states after dropout */
    float *scores;                /* [N][words] */
    float *sums, *push;           /* [rows][k] */
    float *dkeys;                 /* [rows][k][A] */
    float *dh, *dc, *dgated;      /* [rows][H], [rows][H], [rows][F] */
    double *losses;               /* [N] */
    void *memory;
} pxi_decoder_room;

/* For steps only (beams), or with `learns` for gradients. */
px_status pxi_decoder_room_init(pxi_decoder_room *room, const pxi_net *net, size_t rows,
                                size_t steps, bool learns, px_error *err);
void pxi_decoder_room_done(pxi_decoder_room *room);

/* Losses of a block: losses[r] gets -log p of row r's words, penalties[r] its sum over vectors of
 * (1 - sum over its own steps of alpha)^2. With `gradients`, those of
 *
 *     word_scale * sum of losses + unit_scale * sum of penalties
 *
 * by every number of the network are written. */
typedef struct pxi_decoder_task {
    const pxi_net *net;
    const float *weights;
    const pxi_block *block;
    double word_scale, unit_scale;
    float *gradients;           /* NULL: losses only */
    double *losses, *penalties; /* [rows] */
} pxi_decoder_task;
px_status pxi_decoder_run(const pxi_decoder_task *task, pxi_decoder_room *room, px_error *err);

/* --- step by step, for decoding --- */

/* Looks at `units` times k standardised vectors: fills keys, h0 and c0 for as many rows. */
px_status pxi_decoder_look(const pxi_net *net, const float *weights, const float *features,
                           size_t units, pxi_decoder_room *room, px_error *err);

typedef struct pxi_decoder_step {
    size_t rows;
    const int32_t *words;  /* [rows]: said last */
    const float *features; /* per row, as they were looked at */
    bool shared;           /* all rows tell about the first unit */
    const float *h, *c;    /* [rows][H]: the state before */
    float *h_new, *c_new;
    float *scores; /* [rows][words] */
} pxi_decoder_step;
px_status pxi_decoder_say(const pxi_net *net, const float *weights, const pxi_decoder_step *step,
                          pxi_decoder_room *room, px_error *err);

#endif
