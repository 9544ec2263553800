/* src/describe/caption_language.h - p(d): a language model of captions
 *
 * Two LSTM layers from a state of zeros, dropout between them, and a softmax over words.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTION_LANGUAGE_H
#define PXI_DESCRIBE_CAPTION_LANGUAGE_H

#include "describe/caption_net.h"

typedef struct pxi_language_layer { /* [N] times */
    float *x;                       /* inputs: word vectors, or what the first layer lets through */
    float *gates;                   /* 4H */
    float *h_in, *c, *tanh_c, *h;   /* H */
} pxi_language_layer;

typedef struct pxi_language_room {
    pxi_language_layer layers[2];
    float *scores;  /* [N][words] */
    float *dout;    /* [N][H]: gradients of a layer's states by what is above it */
    float *dh, *dc; /* [rows][H] */
    double *losses; /* [N] */
    void *memory;
} pxi_language_room;

px_status pxi_language_room_init(pxi_language_room *room, const pxi_net *net, size_t rows,
                                 size_t steps, bool learns, px_error *err);
void pxi_language_room_done(pxi_language_room *room);

/* losses[r] gets -log p of row r's words. With `gradients`, those of scale * sum of losses by every
 * number of the network are written. */
typedef struct pxi_language_task {
    const pxi_net *net;
    const float *weights;
    const pxi_block *block;
    double scale;
    float *gradients; /* NULL: losses only */
    double *losses;   /* [rows] */
} pxi_language_task;
px_status pxi_language_run(const pxi_language_task *task, pxi_language_room *room, px_error *err);

#endif
