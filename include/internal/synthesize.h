/* include/internal/synthesize.h - inputs that excite chosen neurons
 *
 *     px_synthesis_job job = {.model = model, .probe = probe, .set = set, .pre = &pre,
 *                             .lists = &list, .list_count = 1, .inputs = index, .count = n};
 *     px_synthesis_options options = px_synthesis_options_default();   // step 1, distance 10%
 *     px_synthesize(&job, &options, &synthesis, &err);
 *     px_synthesis_summary sum = px_synthesis_sum(synthesis);          // loss, accuracy, distances
 *
 * Algorithm 2 of DeepFault (Eniser, Gerasimou, Sen, FASE 2019): from an input t that the network
 * gets right, with g the mean gradient of some neurons,
 *
 *     t' = clip(t + clip(step * g, -distance, distance), low, high)
 *
 * The mean gradient of all of an input's neurons is one backward pass, and inputs with different
 * neurons share batches. Steps, distances and ranges are in scaled pixel units (after `scale`,
 * before mean and std). Every input is judged twice: as computed, and as it is stored, which for
 * 8-bit data is rounded to whole levels towards the original. docs/synthesize.md has the rules.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SYNTHESIZE_H
#define PXI_INTERNAL_SYNTHESIZE_H

#include <internal/localize.h>
#include <plexor/data.h>
#include <plexor/probe.h>

PX_BEGIN_DECLS

/* --- what to raise, and from which inputs ---------------------------------------------------- */

typedef struct px_synthesis_neuron {
    size_t layer; /* among the probe's chosen layers */
    int64_t unit;
} px_synthesis_neuron;

typedef struct px_synthesis_list {
    const px_synthesis_neuron *neurons;
    size_t count;  /* at least 1: whether each of them rises is told */
    size_t seeded; /* the first so many are raised, 1..count; 0: all */
} px_synthesis_list;

typedef struct px_synthesis_row px_synthesis_row;

typedef struct px_synthesis_job { /* everything is borrowed while px_synthesize() runs */
    const px_model *model;
    const px_probe *probe; /* where neurons are read and their gradients start; LGR A.6: tap pre */
    const px_dataset *set; /* with labels */
    const px_preprocess *pre;
    const px_synthesis_list *lists;
    size_t list_count;
    const int64_t *inputs; /* indices into the data set; may repeat */
    const size_t *list_of; /* per input, into `lists`; NULL: the first list for all */
    int64_t count;
    /* Results of the first so many inputs, from a run that did not get further: they are not made
     * again, nor handed out, and count like the others; which of their neurons rose is not told. */
    const px_synthesis_row *known;
    int64_t known_count;
} px_synthesis_job;

typedef struct px_synthesis_made { /* one input, as it is handed out */
    const px_synthesis_row *row;
    int64_t place;         /* 0..count-1 */
    const float *original; /* raw values as px_dataset_pixels() gives them, CHW */
    const float *exact;    /* the same kind of values, before rounding */
    const uint8_t *bytes;  /* rounded; NULL where nothing is */
} px_synthesis_made;

typedef struct px_synthesis_options {
    double step, distance; /* distance NaN: a tenth of the range */
    double low, high;      /* what a value may be; both NaN: px_dataset_range() */
    int64_t iterations;    /* more than 1: the gradient is taken anew, and the sum of steps stays
                              within the distance */
    bool keep_float;       /* what is stored is not rounded, whatever the data */
    int64_t batch;         /* micro-batch; 0: chosen */
    int threads;           /* <= 0: one per core */
    /* Gets every input in order, on the calling thread, while its pixels are there; NULL: nobody
     * wants them. */
    px_status (*emit)(void *context, const px_synthesis_made *made, px_error *err);
    void *emit_context;
    px_progress_fn progress;
    void *progress_context;
} px_synthesis_options;
px_synthesis_options px_synthesis_options_default(void);

/* Fills in distance and range where they are left to the data; PX_E_USAGE for what cannot be. */
px_status px_synthesis_complete(px_synthesis_options *options, const px_dataset *set,
                                const px_preprocess *pre, px_error *err);

/* --- what came of it ------------------------------------------------------------------------- */

typedef struct px_synthesis_form {
    int64_t predicted;
    double loss;         /* cross-entropy; probabilities cut to [1e-7, 1 - 1e-7] as Keras does */
    double l1, l2, linf; /* from the original, in scaled units */
    int64_t rose;        /* of the neurons that were raised */
} px_synthesis_form;

struct px_synthesis_row {
    int64_t input, label;
    size_t list;
    int64_t neurons; /* that were raised */
    int64_t before;  /* predicted for the original */
    double loss_before;
    px_synthesis_form exact, stored; /* the same where nothing is rounded */
    bool unchanged;                  /* every gradient was 0, or nothing of the step is left */
    bool unchanged_stored;           /* rounding took what there was */
};

/* Bits of px_synthesis_rose(). */
enum { PX_ROSE_EXACT = 1, PX_ROSE_STORED = 2 };

typedef struct px_synthesis px_synthesis;

/* Runs all inputs on all workers. A neuron value, class score or gradient that is not finite ends
 * it with PX_E_INPUT and names the layer and the input; so does a value outside low..high. After
 * any failure *out is untouched. The result does not depend on threads or batch. */
px_status px_synthesize(const px_synthesis_job *job, const px_synthesis_options *options,
                        px_synthesis **out, px_error *err);
void px_synthesis_free(px_synthesis *synthesis); /* NULL is fine */
int64_t px_synthesis_count(const px_synthesis *synthesis);
const px_synthesis_row *px_synthesis_rows(const px_synthesis *synthesis);
/* One byte for each neuron of the input's list, watched ones too. */
const uint8_t *px_synthesis_rose(const px_synthesis *synthesis, int64_t place);
/* The options with which it ran, complete; whether 8-bit pixels are what is stored. */
const px_synthesis_options *px_synthesis_used(const px_synthesis *synthesis);
bool px_synthesis_rounds(const px_synthesis *synthesis);

typedef struct px_synthesis_mean { /* over inputs */
    double accuracy, loss;         /* against the original's label */
    double l1, l2, linf;
    double linf_most; /* the largest */
    double raised;    /* share of all (input, raised neuron) pairs */
} px_synthesis_mean;

typedef struct px_synthesis_summary {
    int64_t count, classes; /* classes: of which there are inputs */
    px_synthesis_mean exact, stored;
    int64_t unchanged, unchanged_stored;
    int64_t wrong_before; /* inputs that the network did not get right to begin with */
    double loss_before;
    /* Of all workers together: the passes that make inputs, those that judge them, the rest. */
    double forward_seconds, backward_seconds, judge_seconds, other_seconds;
    double seconds, emit_seconds; /* on the clock: all of that, and handing inputs out */
} px_synthesis_summary;
px_synthesis_summary px_synthesis_sum(const px_synthesis *synthesis); /* NaN where no rows */

/* --- which inputs ---------------------------------------------------------------------------- */

typedef struct px_synthesis_choice {
    const int64_t *predictions; /* per input of the data set */
    int classes;
    const bool *wanted; /* per class; NULL: all */
    int64_t limit;      /* the first so many, in the data's order; 0: all */
    int64_t per_class;  /* so many of each class, drawn without replacement; 0: not drawn */
    uint64_t seed;
    uint32_t run; /* which repetition of the draw */
} px_synthesis_choice;

/* Inputs that the network gets right. A class with fewer than per_class gives all it has. *out is
 * the caller's; *count may be 0. */
px_status px_synthesis_choose(const px_dataset *set, const px_synthesis_choice *choice,
                              int64_t **out, int64_t *count, px_error *err);

/* --- neurons that were localized ------------------------------------------------------------- */

typedef struct px_synthesis_targets { /* lists for a job; open to read */
    px_synthesis_list *lists;
    size_t count;
    int64_t *of_class; /* per class: which list; -1: none */
    int classes;
} px_synthesis_targets;

/* The first k neurons of each class of a ranking are raised, the first `watched` are watched (at
 * least k; 0: k); a class that has fewer gives all it has. `probe` has the layers that
 * px_suspicious_layers() names, and the list's own view of neurons. */
px_status px_synthesis_targets_init(px_synthesis_targets *targets, const px_suspicious *suspects,
                                    const px_probe *probe, int classes, int64_t k, int64_t watched,
                                    px_error *err);
void px_synthesis_targets_done(px_synthesis_targets *targets); /* {0} is fine */

/* The same, with that probe: at `tap` (NULL: pre, another place than spectra are taken at), for
 * inputs of this shape. *probe is the caller's. */
px_status px_synthesis_targets_open(px_synthesis_targets *targets, const px_suspicious *suspects,
                                    const px_model *model, const px_shape *shape, const char *tap,
                                    int classes, int64_t k, px_probe **probe, px_error *err);

/* px_synthesis_choose() of inputs whose class has a list, and which list each goes with. *inputs
 * and *list_of are the caller's. PX_E_INPUT: there are none. */
px_status px_synthesis_targets_choose(const px_synthesis_targets *targets, const px_dataset *set,
                                      px_synthesis_choice choice, int64_t **inputs,
                                      size_t **list_of, int64_t *count, px_error *err);

/* --- a folder of results ------------------------------------------------------------------------
 *
 *     inputs.npz     x, y (the original's label), indices, predictions: a data SPEC
 *     originals.npz  the same of the originals
 *     index.csv      a row per input
 *     report.json    what the caller gives
 *     sheet.png      some originals, what became of them, and ten times the difference
 *     inputs/ originals/ perturbations/   PNG files, for pictures of 1 or 3 channels
 *
 * It is made under a temporary name and appears whole, or not at all.
 */

typedef struct px_synthesis_folder px_synthesis_folder;

typedef struct px_synthesis_folder_options {
    int64_t pictures;  /* PNG files of each kind, at most; below 0: of all */
    int64_t sheet;     /* inputs on the contact sheet, at most; below 0: none */
    const char *title; /* of the sheet; NULL: none */
    bool absolute;     /* perturbations as 10 |x' - x|; else 0.5 + 10 (x' - x) */
    bool fresh;        /* in place of what an earlier run made there */
} px_synthesis_folder_options;

/* PX_E_USAGE where px_folder_begin() refuses `path`. `count` is how many inputs will
 * come. The data set is borrowed until the end. */
px_status px_synthesis_folder_new(const char *path, const px_dataset *set, const px_preprocess *pre,
                                  const px_synthesis_options *options, int64_t count,
                                  const px_synthesis_folder_options *how, px_synthesis_folder **out,
                                  px_error *err);
/* For px_synthesis_options.emit, with the folder as its context. */
px_status px_synthesis_folder_add(void *folder, const px_synthesis_made *made, px_error *err);
/* Writes what is left, and `report` (may be NULL), and renames. Frees the folder in any case. */
px_status px_synthesis_folder_commit(px_synthesis_folder *folder, const px_synthesis *synthesis,
                                     const char *report, px_error *err);
/* Removes what was written; NULL is fine. */
void px_synthesis_folder_abandon(px_synthesis_folder *folder);

/* Ten times a difference as 8-bit pixels: 0.5 + 10 (changed - original) / range, or 10 |...| /
 * range where `absolute`, cut to 0..1. Grey is no change, black where `absolute`. */
void px_perturbation_bytes(const float *original, const float *changed, size_t count, double range,
                           bool absolute, uint8_t *out);

PX_END_DECLS
#endif
