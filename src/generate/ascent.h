/* src/generate/ascent.h - inputs that climb: gradients of class scores and neurons, many at once
 *
 *     PX_TRY(pxi_ascent_new(&options, &ascent, err));             // one per network
 *     PX_TRY(pxi_ascent_gradients(ascent, climbers, count, err)); // adds to each one's gradient
 *     pxi_ascent_normalise(gradient, size);
 *     pxi_ascent_move(gradient, step, low, high, levels, size);
 *     ... round to what is stored ...
 *     PX_TRY(pxi_ascent_look(ascent, pixels, count, &seen, err)); // what the network makes of it
 *
 * What DeepXplore, DLFuzz and ADAPT have in common (LGR D.9 to D.11): the gradient of a weighted
 * sum of class scores and neurons, in one backward pass per network however many terms there are.
 * Inputs go in micro-batches on all workers, each with sessions of its own; a row's result does not
 * depend on its place, so neither does anything else.
 *
 * *Levels* are raw values as px_dataset_pixels() has them. Neurons are those of DeepXplore: every
 * output but the input's and flatten's, with pooling, logits and softmax; their values are channel
 * means of the layer scaled to 0..1 on each input, their gradients those of the plain means.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_ASCENT_H
#define PXI_GENERATE_ASCENT_H

#include "generate/unit_facts.h"
#include <internal/pass.h>

#include <plexor/data.h>

/* --- arithmetic (ascent_math.c) -------------------------------------------------------------- */

/* g / (rms(g) + 1e-5), rms over all of it. False: some value is no number, and nothing changed. */
bool pxi_ascent_normalise(float *gradient, size_t size);

/* levels += step * gradient, then cut to low..high (which may be infinite). */
void pxi_ascent_move(const float *gradient, double step, double low, double high, float *levels,
                     size_t size);

/* ||now - start|| / ||start||; infinite where the start is nothing but zeros. */
double pxi_ascent_distance(const float *start, const float *now, size_t size);

/* Classes by falling score, the lower of equals first: the first `count` of them. */
void pxi_ascent_ranking(const float *scores, int classes, int *out, int count);

/* --- one network ----------------------------------------------------------------------------- */

typedef struct pxi_ascent pxi_ascent;

typedef struct pxi_ascent_options {
    const px_model *model;    /* outlives the ascent, as do the others */
    const px_preprocess *pre; /* copied */
    px_shape shape;           /* of an input without the batch */
    bool bytes;               /* stored pixels are bytes; else float */
    pxi_workers *workers;     /* NULL: own ones, */
    int threads;              /* so many */
    int64_t batch;            /* 0: chosen */
    int64_t most;             /* rows that will come at a time: no micro-batch is larger */
} pxi_ascent_options;

/* PX_E_UNSUPPORTED where the network has operators without a gradient, naming them. */
px_status pxi_ascent_new(const pxi_ascent_options *options, pxi_ascent **out, px_error *err);
void pxi_ascent_free(pxi_ascent *ascent); /* NULL is fine */
const px_probe *pxi_ascent_probe(const pxi_ascent *ascent);
int64_t pxi_ascent_units(const pxi_ascent *ascent); /* neurons */
int pxi_ascent_classes(const pxi_ascent *ascent);
size_t pxi_ascent_layer(const pxi_ascent *ascent, int64_t unit); /* of the probe */
/* Of the neurons; the caller ends it with pxi_unit_facts_done(). */
px_status pxi_ascent_facts(const pxi_ascent *ascent, pxi_unit_facts *facts, px_error *err);
/* "conv1:3". Returns `buffer`. */
#define PXI_UNIT_TEXT 160
const char *pxi_ascent_unit_text(const pxi_ascent *ascent, int64_t unit, char text[PXI_UNIT_TEXT]);

typedef struct pxi_term { /* of an objective */
    int64_t at;           /* a class, or a neuron's place in a row of the probe */
    float weight;
} pxi_term;

typedef struct pxi_climber {
    const float *levels;
    const pxi_term *classes, *units;
    size_t class_count, unit_count;
    float *gradient; /* of the objective by scaled pixels, in the order of levels; is added to */
} pxi_climber;

px_status pxi_ascent_gradients(pxi_ascent *ascent, const pxi_climber *climbers, int64_t count,
                               px_error *err);

typedef struct pxi_seen { /* the caller's arrays, one row per input; NULL: not wanted */
    int64_t *predictions; /* -1: the scores are not numbers */
    double *confidences;  /* of the prediction */
    float *scores;        /* [classes] */
    float *values;        /* [units]; NaN where the network has it */
} pxi_seen;

/* `pixels` are stored forms, one behind the other. */
px_status pxi_ascent_look(pxi_ascent *ascent, const void *pixels, int64_t count,
                          const pxi_seen *seen, px_error *err);

#endif
