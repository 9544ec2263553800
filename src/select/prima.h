/* src/select/prima.h - PRIMA's mutants: changed networks and changed pictures (CSM B.6) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_PRIMA_H
#define PXI_SELECT_PRIMA_H

#include "select/prima_features.h"

#include <plexor/data.h>
#include <plexor/select.h>
#include <plexor/weights.h>

typedef enum pxi_prima_rule {
    PXI_PRIMA_GF,  /* Gauss fuzzing of weights */
    PXI_PRIMA_NEB, /* neuron effect block */
    PXI_PRIMA_NAI, /* neuron activation inverse */
    PXI_PRIMA_WS,  /* weights shuffling */
    PXI_PRIMA_GAUSS,
    PXI_PRIMA_REVERSE,
    PXI_PRIMA_BLACK,
    PXI_PRIMA_WHITE,
    PXI_PRIMA_SHUFFLE,
    PXI_PRIMA_RULES,
    PXI_PRIMA_MODEL_RULES = PXI_PRIMA_GAUSS,
    PXI_PRIMA_INPUT_RULES = PXI_PRIMA_RULES - PXI_PRIMA_MODEL_RULES,
    PXI_PRIMA_WIDTH = PXI_PRIMA_RULES * PXI_PRIMA_FEATURES,
} pxi_prima_rule;
extern const char *const pxi_prima_rule_names[PXI_PRIMA_RULES];

/* --- networks (prima_models.c) --------------------------------------------------------------- */

typedef struct pxi_prima_net pxi_prima_net;

/* Finds the neurons and their weights: output channels of Conv, output units of Gemm and MatMul,
 * where their weights are constants. `model` is borrowed; PX_E_UNSUPPORTED where there are none. */
px_status pxi_prima_net_new(const px_model *model, pxi_prima_net **out, px_error *err);
void pxi_prima_net_free(pxi_prima_net *net); /* NULL is fine */

/* The network that plans are made from, with the same values as the one it was made of. */
const px_model *pxi_prima_net_model(const pxi_prima_net *net);
px_weights *pxi_prima_net_weights(pxi_prima_net *net); /* as they are now */
/* How many neurons (NEB: that feed weights; GF: weights) a rule chooses from. */
int64_t pxi_prima_net_units(const pxi_prima_net *net, pxi_prima_rule rule);

/* Makes the weights those of mutant `number` of `rule`: the network's own, with count(ratio) units
 * changed, chosen among all of them alike. */
void pxi_prima_net_mutate(pxi_prima_net *net, pxi_prima_rule rule, double ratio, double gf_scale,
                          uint64_t seed, uint32_t number);

/* --- pictures (prima_inputs.c) --------------------------------------------------------------- */

typedef struct pxi_prima_patch {
    int top, left, height, width;
} pxi_prima_patch;

/* The grid of patches of `size` pixels (those at the edge may be smaller), or `most` of them, the
 * same for all pictures; in the order of the grid. The caller frees *out. */
px_status pxi_prima_patches(const px_shape *shape, int size, int64_t most, uint64_t seed,
                            pxi_prima_patch **out, int64_t *count, px_error *err);

/* One whole picture per rule, each of its patches changed as the rule says: a mutant takes one
 * patch from there. pixels is (C, H, W), 0..`white`; with `whole` results are rounded to whole
 * numbers. variants[PXI_PRIMA_INPUT_RULES][C H W]. `item` addresses the random numbers. */
void pxi_prima_variants(const px_shape *shape, const float *pixels, int size, double noise,
                        float white, bool whole, uint64_t seed, uint32_t item, float *variants);

/* Copies one patch between network inputs, (C, H, W) or (H, W, C). */
void pxi_prima_patch_copy(const px_shape *shape, bool channels_last, const pxi_prima_patch *patch,
                          const float *from, float *to);
/* Whether two network inputs have the same numbers there. */
bool pxi_prima_patch_same(const px_shape *shape, bool channels_last, const pxi_prima_patch *patch,
                          const float *a, const float *b);

/* --- features of a data set (prima_pass.c) --------------------------------------------------- */

typedef struct pxi_prima_settings {
    int mutants; /* networks per rule */
    double ratio, gf_scale;
    int patch;
    int64_t patches; /* pictures per rule, at most */
    double noise;    /* of Gauss on pictures, as a share of white */
    uint64_t seed;
} pxi_prima_settings;

typedef struct pxi_prima_row { /* of one input */
    int64_t index;
    int predicted; /* -1: its scores are not numbers, and there are no features */
    float confidence;
    const float *features; /* [PXI_PRIMA_WIDTH] */
} pxi_prima_row;

typedef struct pxi_prima_pass {
    pxi_prima_net *net;
    const pxi_prima_settings *settings;
    px_scores scores;
    const px_dataset *set;
    const px_preprocess *pre;
    const int64_t *index; /* inputs; NULL: 0..count-1 */
    int64_t count;
    int64_t batch;
    int threads;
    /* In the order of the inputs, on the calling thread. */
    px_status (*visit)(void *context, const pxi_prima_row *row, px_error *err);
    void *context;
    px_progress_fn progress; /* in runs of a network on one input */
    void *progress_context;
} pxi_prima_pass;

/* Runs of a network that each input takes. */
px_status pxi_prima_cost(const px_shape *shape, const pxi_prima_settings *settings, int64_t *runs,
                         px_error *err);
px_status pxi_prima_run(const pxi_prima_pass *pass, px_error *err);

#endif
