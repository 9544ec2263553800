/* src/describe/unit_stream.h - the maps of all units of some layers, input by input
 *
 *     PX_TRY(pxi_unit_stream_open(model, set, pre, &options, &stream, err));
 *     status = pxi_unit_stream_run(stream, NULL, px_dataset_count(set), visit, context, NULL, NULL,
 *                                  err);
 *     pxi_unit_stream_close(stream);
 *
 * A unit is a channel: its map is h x w, 1 x 1 in layers without extent. Tokens that are patches of
 * the picture lie as those do, without those that are none; others are h x 1. `visit` is called
 * once for each input and layer, from several threads, in no order: what it writes is keyed by
 * input, or kept per slot and joined by rules that do not depend on order.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_UNIT_STREAM_H
#define PXI_DESCRIBE_UNIT_STREAM_H

#include <plexor/data.h>
#include <plexor/probe.h>

typedef struct pxi_unit_stream pxi_unit_stream;

typedef struct pxi_unit_stream_options {
    const char *layers; /* as px_probe_options has them; NULL: the stage layers */
    int threads;        /* <= 0: one per core */
    int64_t batch;      /* 0: chosen */
} pxi_unit_stream_options;

typedef struct pxi_unit_layer {
    const px_layer *layer; /* of the probe */
    int64_t units;
    int h, w;
    int batch, channel, y, x; /* axes of the layer's tensor; -1: none */
    bool patches;             /* y and x are one axis of tokens, row by row from `first` on */
    int64_t first;
} pxi_unit_layer;

/* `model`, `set` and `pre` are borrowed and outlive the stream. PX_E_USAGE for layers without
 * units that have maps, naming the layer. */
px_status pxi_unit_stream_open(const px_model *model, const px_dataset *set,
                               const px_preprocess *pre, const pxi_unit_stream_options *options,
                               pxi_unit_stream **out, px_error *err);
/* For pxi_unit_stream_feed() alone: inputs of that shape, [C,H,W], in the order that `pre` says. */
px_status pxi_unit_stream_open_for(const px_model *model, const px_shape *sample,
                                   const px_preprocess *pre, int64_t count,
                                   const pxi_unit_stream_options *options, pxi_unit_stream **out,
                                   px_error *err);
void pxi_unit_stream_close(pxi_unit_stream *stream); /* NULL is fine */

size_t pxi_unit_stream_layer_count(const pxi_unit_stream *stream);
const pxi_unit_layer *pxi_unit_stream_layer(const pxi_unit_stream *stream, size_t layer);
int pxi_unit_stream_slots(const pxi_unit_stream *stream); /* most visits at a time */

/* The maps of one input in one layer, [units][h * w]; valid for the call. `slot` is one of
 * 0..slots-1 that nobody else has at the moment. */
typedef struct pxi_unit_visit {
    int slot;
    int64_t at;   /* which of the items */
    int64_t item; /* in the data set; -1: not of one */
    size_t layer;
    const float *maps;
} pxi_unit_visit;
typedef px_status (*pxi_unit_fn)(void *context, const pxi_unit_visit *visit, px_error *err);

/* The next run leaves nothing but what visits write by slot, and the caller joins that of all ranks
 * (internal/ranks.h): the run is divided, where this says so. */
bool pxi_unit_stream_divide(pxi_unit_stream *stream);

/* Runs items[0..count-1] of the data set (NULL: 0..count-1). */
px_status pxi_unit_stream_run(pxi_unit_stream *stream, const int64_t *items, int64_t count,
                              pxi_unit_fn visit, void *context, px_progress_fn progress,
                              void *progress_context, px_error *err);

/* The same with inputs from elsewhere: `fill` writes the network's input number `at`,
 * preprocessed. Any thread. */
typedef px_status (*pxi_unit_fill)(void *context, int64_t at, float *input, px_error *err);
px_status pxi_unit_stream_feed(pxi_unit_stream *stream, int64_t count, pxi_unit_fill fill,
                               pxi_unit_fn visit, void *context, px_progress_fn progress,
                               void *progress_context, px_error *err);

#endif
