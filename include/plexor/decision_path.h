/* include/plexor/decision_path.h - what decided, layer by layer: critical units, and their words
 *
 *     px_paths_options options = px_paths_options_default();     // layers "stages", 50 steps
 *     options.bank = bank;                                       // only described units compete
 *     px_paths_new(model, &sample, &pre, &options, &paths, &err);
 *     px_paths_run(paths, inputs, labels, count, found, NULL, &err);      // many inputs at once
 *     px_path_text(paths, &found[0], names, 10, NULL, PX_PATH_FULL, &text, &err);
 *     puts(px_text_get(&text));   // "a photo of a cat with orange regions, fine texture, cat"
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

PX_API const char *px_path_rule_name(px_path_rule rule);
PX_API const char *px_path_target_name(px_path_target target);
PX_API const char *px_path_baseline_name(px_path_baseline baseline);
/* PX_E_USAGE, naming those there are. */
PX_API px_status px_path_rule_parse(const char *text, px_path_rule *out, px_error *err);
PX_API px_status px_path_target_parse(const char *text, px_path_target *out, px_error *err);
PX_API px_status px_path_baseline_parse(const char *text, px_path_baseline *out, px_error *err);

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
PX_API px_paths_options px_paths_options_default(void); /* 50 steps, up to 400, 0.05, balanced */

/* `sample` is the shape of one input as px_dataset_shape() has it. `pre` says what black is; it may
 * be NULL with PX_PATH_ZERO. `model` is borrowed and must outlive the object. PX_E_MISMATCH for a
 * bank of another network, or one that knows nothing of a layer; PX_E_UNSUPPORTED where gradients
 * do not come to a layer. */
PX_API px_status px_paths_new(const px_model *model, const px_shape *sample,
                              const px_preprocess *pre, const px_paths_options *options,
                              px_paths **out, px_error *err);
PX_API void px_paths_free(px_paths *paths); /* NULL is fine */

typedef struct px_path_layer {
    const char *name;
    int position;          /* px_layer.position */
    int64_t offset, units; /* of its units among all */
    int64_t height, width; /* of a unit's map; 1, places for what is no picture; 1, 1: dense */
    int64_t described;     /* units that compete */
    bool cut;              /* every way from the input to the scores leads through it */
} px_path_layer;
PX_API size_t px_paths_layer_count(const px_paths *paths);
PX_API const px_path_layer *px_paths_layer(const px_paths *paths, size_t i);
PX_API int64_t px_paths_unit_count(const px_paths *paths);
PX_API int64_t px_paths_input_size(const px_paths *paths); /* numbers per input */
PX_API const px_scores *px_paths_scores(const px_paths *paths);
PX_API const px_model *px_paths_model(const px_paths *paths);
PX_API const px_probe *px_paths_probe(const px_paths *paths);
PX_API const px_bank *px_paths_bank(const px_paths *paths); /* NULL: none */
/* "layers=stages tap=post: 3 layers, 112 units; trapezoid, 50 steps, target label, baseline zero"
 */
PX_API const char *px_paths_describe(const px_paths *paths);
/* Of all that paths depend on but the network and the bank: two objects of one id find the same. */
PX_API uint64_t px_paths_id(const px_paths *paths);

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

/* labels may be NULL (then, and where one is negative, the target is the predicted class).
 * contributions is NULL or [count][units]: the mean of each unit. progress may be NULL; it is
 * called with inputs done. */
PX_API px_status px_paths_run(px_paths *paths, const float *inputs, const int64_t *labels,
                              int64_t count, px_path *out, double *contributions, px_error *err);
/* The classes and the target alone, one forward row an input: all that the modes need whose text
 * does not depend on critical units (px_path_mode_needs_units()). Steps are 0, units -1. */
PX_API px_status px_paths_classes(px_paths *paths, const float *inputs, const int64_t *labels,
                                  int64_t count, px_path *out, px_error *err);
PX_API void px_paths_progress(px_paths *paths, px_progress_fn progress, void *context);

typedef struct px_paths_sums { /* of all runs so far */
    int64_t inputs;
    int64_t doubled;    /* inputs that took more steps than asked for */
    int64_t incomplete; /* and were still off by more than the tolerance */
    int64_t odd;        /* inputs with a score that is no number */
    int64_t rows;       /* that were run through the network */
} px_paths_sums;
PX_API px_paths_sums px_paths_get_sums(const px_paths *paths);

/* --- in words ------------------------------------------------------------------------------------
 */

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
PX_API const char *px_path_mode_name(px_path_mode mode);
PX_API const char *px_path_mode_help(px_path_mode mode);
PX_API bool px_path_mode_needs_units(px_path_mode mode); /* false: label-only, no-cns */
PX_API px_status px_path_mode_parse(const char *text, px_path_mode *out, px_error *err);

typedef struct px_path_words { /* of the template */
    int classes;               /* how many predicted classes are named, at most
                                  PX_PATH_CLASSES_MOST; the paper has 3 for ImageNet */
    bool repeat;               /* keep the same words of a later layer */
    bool shuffle;              /* the classes in random order, as the paper has them */
    uint64_t seed;
    uint32_t item; /* the image's number, which addresses that order with the seed */
} px_path_words;
PX_API px_path_words px_path_words_default(void); /* one class, no repetition, by score */

/* Adds "a photo of a <classes joined by ' or '> with <words in layer order, later duplicates left
 * out>" to `out`; what a mode leaves out takes its "of a" or "with" along. `names` (may be NULL)
 * are the class names as the files have them: px_class_words() makes words of them, and a class
 * without a name is "class 7". Without a bank a unit is called by layer and number. PX_PATH_NO_NLDG
 * has no text: PX_E_USAGE. */
PX_API px_status px_path_text(const px_paths *paths, const px_path *path, const char *const *names,
                              size_t name_count, const px_path_words *words, px_path_mode mode,
                              px_text *out, px_error *err);

/* |A and B| / |A or B| of the critical units of two paths; 1 where both have none. */
PX_API double px_path_jaccard(const px_path *a, const px_path *b);

/* Eq 12. Equal texts: 1. Where a vector is all zeros: else 0. PX_E_INPUT where a vector
 * has a number that is not finite. */
PX_API px_status px_path_cosine(const float *a, const float *b, size_t size, bool texts_are_equal,
                                double *out, px_error *err);

/* A text encoder for a bank's phrases and these classes: what `options` say (NULL: the default),
 * with both as what it learns from. `bank` and `names` may be NULL. */
PX_API px_status px_path_encoder_open(const px_bank *bank, const char *const *names,
                                      size_t name_count, const px_text_encoder_options *options,
                                      px_text_encoder **out, px_error *err);

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

/* `paths` and `encoder` are borrowed. encoder NULL: PX_PATH_NO_NLDG alone can be asked for. */
PX_API px_status px_path_judge_new(const px_paths *paths, px_text_encoder *encoder,
                                   const char *const *names, size_t name_count,
                                   const px_path_words *words, px_path_judge **out, px_error *err);
PX_API void px_path_judge_free(px_path_judge *judge); /* NULL is fine */
PX_API px_status px_path_judge_similarity(px_path_judge *judge, px_path_mode mode, const px_path *a,
                                          const px_path *b, double *out, px_error *err);
/* PX_E_USAGE where a mode needs words and there is no encoder, or no bank. */
PX_API px_status px_path_judge_check(const px_path_judge *judge, px_path_mode mode, px_error *err);

typedef struct px_path_judge_sums {   /* of all texts so far */
    int64_t texts, embedded;          /* compared, and had to be embedded */
    int64_t tokens, unknown, dropped; /* of those embedded */
} px_path_judge_sums;
PX_API px_path_judge_sums px_path_judge_get_sums(const px_path_judge *judge);

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
PX_API px_calibration px_calibration_default(void); /* 50 images */

/* 8-bit pictures, or floats between 0 and 1. Each mode that the judge can compare in gets its tau
 * from the same paths. similarities is NULL, or gets [PX_PATH_MODE_COUNT][pairs] in an array that
 * the caller frees. */
PX_API px_status px_calibrate(px_paths *paths, px_path_judge *judge, const px_dataset *set,
                              const px_preprocess *pre, const px_calibration *options,
                              px_threshold *out, double **similarities, px_error *err);

/* Whether a pair of that similarity is kept: below tau, and not where the paths are the same (1),
 * whatever tau is. */
PX_API bool px_tau_keeps(const px_tau *tau, double similarity);

/* PX_E_MISMATCH, saying what is another one's: network, bank, encoder, way of finding paths; or no
 * tau of that mode. */
PX_API px_status px_threshold_check(const px_threshold *threshold, const px_paths *paths,
                                    const px_text_encoder *encoder, px_path_mode mode,
                                    px_error *err);
PX_API px_status px_threshold_save(const px_threshold *threshold, const char *path, px_error *err);
PX_API px_status px_threshold_load(const char *path, px_threshold *out, px_error *err);
/* Where the threshold of these is kept between runs: a file in the user's cache folder
 * ($PLEXOR_CACHE, else plexor/ in $XDG_CACHE_HOME or ~/.cache). The caller frees it; NULL: there is
 * no such folder. */
PX_API char *px_threshold_path(const px_paths *paths, const px_text_encoder *encoder);
PX_API void px_threshold_json(const px_threshold *threshold, px_json *json); /* members */

/* --- maps ----------------------------------------------------------------------------------------
 */

/* X(enumerator, id, help) */
#define PX_PATH_MAPS(X)                                              \
    X(PX_PATH_MAP_UNIT, "unit", "where the critical unit is active") \
    X(PX_PATH_MAP_GRAD_CAM, "grad-cam", "where the layer speaks for the class (Grad-CAM)")

typedef enum px_path_map {
#define PX_PATH_MAP_ENUM(enumerator, id, help) enumerator,
    PX_PATH_MAPS(PX_PATH_MAP_ENUM)
#undef PX_PATH_MAP_ENUM
} px_path_map;
PX_API const char *px_path_map_name(px_path_map kind);
PX_API px_status px_path_map_parse(const char *text, px_path_map *out, px_error *err);

/* The map of layer `layer` (px_path_layer.height x width) for one input and the path found for it.
 * A unit map of a layer that the path leaves out is all zeros. */
PX_API px_status px_paths_map(px_paths *paths, const float *input, const px_path *path,
                              size_t layer, px_path_map kind, float *map, px_error *err);

/* Grad-CAM (Selvaraju et al., ICCV 2017): relu(sum over units of mean gradient times activation);
 * both are [units][places]. */
PX_API void px_grad_cam(const float *activations, const float *gradients, int64_t units,
                        int64_t places, float *map);
/* CAM (Zhou et al., CVPR 2016), of networks that end in global average pooling and a dense layer:
 * sum over units of weight times activation. */
PX_API void px_cam(const float *activations, const float *weights, int64_t units, int64_t places,
                   float *map);

/* Lays a map over a picture: bilinear to its size, its least value 0 and its largest 1 (a constant
 * map: 0 everywhere), colours from blue over green and yellow to red, half and half. `picture` has
 * 1 or 3 channels together, `out` gets RGB. */
PX_API px_status px_path_map_render(const float *map, int64_t map_height, int64_t map_width,
                                    const uint8_t *picture, int height, int width, int channels,
                                    uint8_t *out, px_error *err);

PX_END_DECLS
#endif
