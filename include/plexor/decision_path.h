/* include/plexor/decision_path.h - what decided, layer by layer: critical units, and their words
 *
 * NSGen (neuron-semantic-guided generation). The contribution of unit i to the score f of a class
 * is its conductance along the straight way x(w) = x' + w (x - x') from a baseline x' to the input,
 *
 *     phi_i = integral over w of df/dh_i * dh_i/dw                          (Eq 9 and 10)
 *
 * averaged over the places of a channel (Eq 11). One forward run of all points and one backward run
 * from the class score give it for every unit of every layer. In each layer the unit with the
 * largest mean contribution is *critical*; their descriptions in the order of layers, behind the
 * predicted class, are the *decision path*. Two paths are compared by the cosine of their texts'
 * vectors (Eq 12).
 *
 * Where a layer is a cut of the graph, the sum over all its scalars of phi must be f(x) - f(x').
 * PX_PATH_BALANCED, the default, sees to it step by step, since the score is known at every point;
 * for the other rules px_path.gap says how far the sum is off, and inputs where it is off by more
 * than the tolerance are done again with twice the steps.
 *
 * The layers that paths take by default are those of the word `stages` of --layers (probe.h): the
 * last convolution of every spatial size.
 *
 * Inputs are rows of the network's own input, preprocessed. An object belongs to one thread and
 * keeps its workers and sessions from call to call. Results depend neither on the number of
 * workers nor on which inputs are handed over together.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_DECISION_PATH_H
#define PLEXOR_DECISION_PATH_H

#include <plexor/bank.h>
#include <plexor/data.h>
#include <plexor/probe.h>
#include <plexor/text.h>
#include <plexor/text_encoder.h>

PX_BEGIN_DECLS

typedef struct px_paths px_paths;

/* X(enumerator, id, help) */
#define PX_PATH_RULES(X)                                                                     \
    X(PX_PATH_TRAPEZOID, "trapezoid", "uniform points, mean of both ends' gradients")        \
    X(PX_PATH_LEFT, "left", "uniform points, the gradient at the beginning of each step")    \
    X(PX_PATH_CODE, "code", "the published code: differences between Gauss-Legendre points") \
    X(PX_PATH_BALANCED, "balanced", "trapezoid, and each step adds up to the score's change")

typedef enum px_path_rule {
#define PX_PATH_RULE_ENUM(enumerator, id, help) enumerator,
    PX_PATH_RULES(PX_PATH_RULE_ENUM)
#undef PX_PATH_RULE_ENUM
} px_path_rule;

#define PX_PATH_TARGETS(X)                                                               \
    X(PX_PATH_LABEL, "label", "the score of the true class; without one: the predicted") \
    X(PX_PATH_PREDICTED, "pred", "the score of the predicted class")

typedef enum px_path_target {
#define PX_PATH_TARGET_ENUM(enumerator, id, help) enumerator,
    PX_PATH_TARGETS(PX_PATH_TARGET_ENUM)
#undef PX_PATH_TARGET_ENUM
} px_path_target;

#define PX_PATH_BASELINES(X)                                                         \
    X(PX_PATH_ZERO, "zero", "zeros in the network's input: the mean colour, mostly") \
    X(PX_PATH_BLACK, "black", "a black picture")

typedef enum px_path_baseline {
#define PX_PATH_BASELINE_ENUM(enumerator, id, help) enumerator,
    PX_PATH_BASELINES(PX_PATH_BASELINE_ENUM)
#undef PX_PATH_BASELINE_ENUM
} px_path_baseline;

enum {
    PX_PATH_LAYERS_MOST = 64,
    PX_PATH_CLASSES_MOST = 5, /* that are kept, best first */
    PX_PATH_STEPS_MOST = 1000,
};

typedef struct px_paths_options {
    const char *layers, *tap; /* texts of the neuron options; NULL: stages, post */
    int least_layers;         /* PX_E_MISMATCH where the choice has fewer */
    int steps;
    int most_steps; /* where the sum is off, steps are doubled up to this; <= steps: never. Not with
                       PX_PATH_CODE */
    double tolerance;
    px_path_rule rule;
    px_path_target target;
    px_path_baseline baseline;
    const px_bank *bank; /* borrowed. NULL: all units compete */
    int threads;         /* <= 0: one per core */
    int64_t batch;       /* rows at a time; 0: chosen */
} px_paths_options;

typedef struct px_path_layer {
    const char *name;
    int position;          /* px_layer.position */
    int64_t offset, units; /* of its units among all */
    int64_t height, width; /* of a unit's map; 1, places for what is no picture; 1, 1: dense */
    int64_t described;     /* units that compete */
    bool cut;              /* every way from the input to the scores leads through it */
} px_path_layer;

typedef struct px_path_step { /* one layer */
    int32_t unit;             /* the critical one; -1: no contribution but zeros, or no unit that
                                 competes: the layer is left out of the path */
    double contribution;      /* mean over the places of the channel, as Eq 11 has it */
} px_path_step;

typedef struct px_path {                   /* a plain value, to be kept by whoever needs it again */
    int32_t classes[PX_PATH_CLASSES_MOST]; /* by score, best first; -1: there are no more */
    int32_t target;                        /* whose score contributions are to; -1: no number */
    int32_t steps;                         /* that were taken, after doubling */
    double score, baseline;                /* f(x) and f(x') */
    double gap;      /* largest over cut layers of |sum - (f(x) - f(x'))| / |f(x) - f(x')|; NaN:
                        there is no cut layer, or a number is not finite */
    bool incomplete; /* the gap is above the tolerance all the same */
    int32_t layers;
    px_path_step step[PX_PATH_LAYERS_MOST];
} px_path;

typedef struct px_paths_sums { /* of all runs so far */
    int64_t inputs;
    int64_t doubled;    /* inputs that took more steps than asked for */
    int64_t incomplete; /* and were still off by more than the tolerance */
    int64_t odd;        /* inputs with a score that is no number */
    int64_t rows;       /* that were run through the network */
} px_paths_sums;

/* --- in words -------------------------------------------------------------------------------- */

/* X(enumerator, id, help) */
#define PX_PATH_MODES(X)                                                                          \
    X(PX_PATH_FULL, "full", "the predicted class with the words of the critical units")           \
    X(PX_PATH_LABEL_ONLY, "label-only", "the predicted class alone: what words add, by contrast") \
    X(PX_PATH_DESCR_ONLY, "descr-only", "the words of the critical units alone")                  \
    X(PX_PATH_NO_CNS, "no-cns", "the words of all units of the layers, critical or not")          \
    X(PX_PATH_NO_NLDG, "no-nldg", "no words: which critical units two paths share (Jaccard)")

typedef enum px_path_mode {
#define PX_PATH_MODE_ENUM(enumerator, id, help) enumerator,
    PX_PATH_MODES(PX_PATH_MODE_ENUM)
#undef PX_PATH_MODE_ENUM
        PX_PATH_MODE_COUNT
} px_path_mode;

typedef struct px_path_words { /* of the template */
    int classes;               /* how many predicted classes are named, at most
                                  PX_PATH_CLASSES_MOST; the paper has 3 for ImageNet */
    bool repeat;               /* keep the same words of a later layer */
    bool shuffle;              /* the classes in random order, as the paper has them */
    uint64_t seed;
    uint32_t item; /* the image's number, which addresses that order with the seed */
} px_path_words;

/* --- comparing many ------------------------------------------------------------------------------
 *
 * A judge compares paths in any mode, and remembers the vectors of texts, which repeat massively.
 * Paths are plain values: a fuzzer keeps that of a parent with the parent.
 *
 *     px_path_judge_new(paths, encoder, names, 10, NULL, &judge, &err);
 *     px_paths_run(paths, mutants, labels, 16, seen, NULL, &err);
 *     for (i = 0; i < 16; i++)
 *         px_path_judge_similarity(judge, PX_PATH_FULL, &parent, &seen[i], &similarity, &err);
 */
typedef struct px_path_judge px_path_judge;

typedef struct px_path_judge_sums {   /* of all texts so far */
    int64_t texts, embedded;          /* compared, and had to be embedded */
    int64_t tokens, unknown, dropped; /* of those embedded */
} px_path_judge_sums;

/* --- all that paths take -------------------------------------------------------------------------
 * From settings to what paths are found and compared with:
 *
 *     px_path_tools tools;
 *     px_path_tools_options options = px_path_tools_options_default();
 *     options.bank = "words/bank.jsonl";
 *     if (px_path_tools_open(model, set, &pre, &options, &tools, &err) == PX_OK)
 *         ... tools.paths, tools.judge ...
 *     px_path_tools_close(&tools);
 */
typedef struct px_path_tools_options {
    px_paths_options paths; /* its bank is filled in */
    const char *bank;       /* a file of px_bank_load(); NULL: units are called by number */
    const char *encoder; /* of px_text_encoder_open(); NULL: the default, where there is a bank */
    int classes;         /* that the text of a path names */
    /* NULL, or told where units have no words, or words that were not validated. */
    void (*note)(void *context, const char *sentence);
    void *context;
} px_path_tools_options;

typedef struct px_path_tools {
    px_bank *bank; /* NULL: none */
    px_paths *paths;
    px_text_encoder *encoder; /* NULL: there are no words to compare */
    px_path_judge *judge;
    px_path_words words;
    char **names; /* of classes: the network's, else the data's; NULL: only a number */
    size_t name_count;
} px_path_tools;

/* --- the threshold -------------------------------------------------------------------------------
 *
 * A mutant is kept where its path is less similar to its parent's than tau. Tau is the lower
 * quartile of similarities of training images with all 95 of NSGen's pixel and affine mutations of
 * each, valid or not. It belongs to one network, one bank, one encoder and one way of finding
 * paths; another one's is refused.
 */
typedef struct px_tau { /* of one mode */
    bool known;
    double tau;                              /* the 0.25 quantile (type 7) */
    double least, median, upper, most, mean; /* of the similarities */
    bool at_most; /* tau is the least similarity seen: at tau counts as below, or nothing could */
} px_tau;

typedef struct px_threshold {
    uint64_t model, bank, encoder, paths; /* ids; bank and encoder 0: none */
    uint64_t data, seed;
    int64_t images, rules, pairs; /* pairs of image and mutant: images x rules, less odd ones */
    px_tau of[PX_PATH_MODE_COUNT];
} px_threshold;

typedef struct px_calibration {
    int64_t images;          /* of all classes alike, as far as there are labels */
    double per_class;        /* above 0: that share of each class instead, at least one */
    uint64_t seed;           /* which */
    px_progress_fn progress; /* NULL, or called with pairs done */
    void *progress_context;
} px_calibration;

/* --- maps ------------------------------------------------------------------------------------ */

/* X(enumerator, id, help) */
#define PX_PATH_MAPS(X)                                              \
    X(PX_PATH_MAP_UNIT, "unit", "where the critical unit is active") \
    X(PX_PATH_MAP_GRAD_CAM, "grad-cam", "where the layer speaks for the class (Grad-CAM)")

typedef enum px_path_map {
#define PX_PATH_MAP_ENUM(enumerator, id, help) enumerator,
    PX_PATH_MAPS(PX_PATH_MAP_ENUM)
#undef PX_PATH_MAP_ENUM
} px_path_map;

PX_END_DECLS
#endif
