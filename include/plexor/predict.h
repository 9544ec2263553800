/* include/plexor/predict.h - what a classifier says about every input of a data set
 *
 *     px_predict_options options = px_predict_options_default();
 *     px_predictions said = {0};
 *     if (px_predict(model, set, &pre, &options, &said, &err) == PX_OK)
 *         printf("input 0 is class %lld\n", (long long)said.predicted[0]);
 *     px_predictions_done(&said);
 *
 * Labels are not needed; where inputs have them, losses come too. The numbers are the same for any
 * number of threads. <plexor/eval.h> says how right it all is.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_PREDICT_H
#define PLEXOR_PREDICT_H

#include <plexor/data.h>
#include <plexor/engine.h>
#include <plexor/text.h>
#include <plexor/weights.h>

PX_BEGIN_DECLS

typedef struct px_predict_options {
    const int64_t *indices; /* which inputs of the set; NULL: all */
    int64_t index_count;
    bool probabilities;  /* keep those of every class, not only of the predicted one */
    bool any_labels;     /* labels that are no classes of the network are as none */
    px_weights *weights; /* of a network in training, read anew by every run; NULL: the model's */
    int threads;         /* <= 0: one per core */
    int64_t batch;       /* micro-batch; 0: chosen */
    px_progress_fn progress;
    void *context;
} px_predict_options;
PX_API px_predict_options px_predict_options_default(void);

typedef struct px_predictions { /* {0}: empty; arrays have `count` entries */
    px_scores scores;
    int64_t count;
    int64_t *label;       /* -1: none */
    int64_t *predicted;   /* -1: the scores are not numbers */
    float *confidence;    /* probability of the predicted class; NaN where there is none */
    float *given;         /* probability of the label; NaN where there is none */
    double *loss;         /* cross-entropy; NaN without a label */
    uint8_t *near;        /* the label is among the five highest scores */
    uint8_t *not_finite;  /* the input has values that are not finite */
    float *probabilities; /* [count][classes]; NULL: not asked for */
    int outputs;          /* numbers of a network of regression; 0: it classifies */
    float *output;        /* [count][outputs]: what it gave */
    float *target;        /* [count][outputs]: what it was to give; NaN: not known */
    int64_t batch;        /* of the plan that ran, */
    bool batch_baked;     /* whether the file forced it, */
    int64_t flops;        /* and what one input costs */
} px_predictions;

/* `pre` is how px_dataset_open_for() left it. PX_E_MISMATCH names the first input whose label is no
 * class of the network, unless `any_labels`. After PX_E_CANCELLED the message counts inputs. On
 * PX_OK the caller owns what is in *out. */
PX_API px_status px_predict(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                            const px_predict_options *options, px_predictions *out, px_error *err);
PX_API void px_predictions_done(px_predictions *predictions);

/* The same in two steps, for a network in training: the plan is made once, and every run of it is
 * told of by `progress`. All that it is given is borrowed; *out of a run is the predictor's, and
 * good until the next one. */
typedef struct px_predictor px_predictor;
PX_API px_status px_predictor_new(const px_model *model, const px_dataset *set,
                                  const px_preprocess *pre, const px_predict_options *options,
                                  px_predictor **out, px_error *err);
PX_API px_status px_predictor_run(px_predictor *predictor, const px_predictions **out,
                                  px_error *err);
PX_API void px_predictor_free(px_predictor *predictor); /* NULL is fine */

/* The classes in order of probability, the lower of equals first, of input i (which needs
 * `probabilities`); top[0 .. most-1] are filled as far as there are classes. Returns how many. */
PX_API int px_predictions_top(const px_predictions *predictions, int64_t i, int *top, int most);

/* What a class is called: by the network, else by the data (may be NULL), else its number. */
#define PX_CLASS_NUMBER 24
PX_API const char *px_predict_class_name(const px_model *model, const px_dataset *set, int c,
                                         char buffer[PX_CLASS_NUMBER]);

/* Predictions of all of a set, with `probabilities`, as CSV: name, label, predicted, confidence,
 * and a column for each class; labels that are unknown stay empty. PX_E_NOMEM: memory ran out. */
PX_API px_status px_predictions_csv(const px_predictions *predictions, const px_model *model,
                                    const px_dataset *set, bool head, px_text *text);
/* The same as arrays: probabilities [N, classes], predicted and label [N] (-1: none), and names
 * [N, width], bytes filled up with 0 (in NumPy: names.view(f"S{names.shape[1]}")). */
PX_API px_status px_predictions_npz(const px_predictions *predictions, const px_dataset *set,
                                    const char *path, px_error *err);

PX_END_DECLS
#endif
