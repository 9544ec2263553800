/* include/plexor/eval.h - how right a classifier is: accuracy, loss, confusion, calibration
 *
 *     px_predictions said = {0};                      // of px_predict()
 *     px_eval eval = {0};
 *     if (px_eval_make(&said, &eval, &err) == PX_OK)
 *         printf("%.2f%% right, class 3: %.2f%%\n", 100 * eval.all.accuracy,
 *                100 * eval.by_class[3].accuracy);
 *     px_eval_done(&eval);
 *
 * All figures are made from predictions, whoever made those: `eval`, `check`, `train` and `repair`
 * read the same ones. Shares are 0..1, and NaN where there is nothing to divide by. Sums run in the
 * order of the inputs.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_EVAL_H
#define PLEXOR_EVAL_H

#include <plexor/predict.h>

PX_BEGIN_DECLS

#define PX_EVAL_BINS 15 /* of confidence: (0, 1/15], (1/15, 2/15], ... */

typedef struct px_eval_bin { /* labelled inputs with a prediction of that confidence */
    double low, high;        /* low < confidence <= high */
    int64_t count, correct;
    double confidence, accuracy; /* means */
} px_eval_bin;

typedef struct px_eval_sum {         /* over all inputs, or those of a slice */
    int classes;                     /* of the network */
    int64_t count;                   /* inputs */
    int64_t labelled, correct, near; /* near: the label is among the five highest scores */
    int64_t lost;                    /* no prediction: the scores are not numbers */
    int64_t not_finite;              /* inputs with values that are not finite */
    double accuracy, near_share;     /* lost ones are not right */
    double low, high;                /* the 95% interval of the accuracy, of px_wilson() */
    double loss;                     /* mean cross-entropy; NaN where a score was not a number */
    double confidence;               /* mean probability of the predicted class, labels or not, */
    double confidence_right, confidence_wrong; /* and of labelled ones */
    /* Expected and largest calibration error (Guo et al., On Calibration of Modern Neural Networks,
     * ICML 2017, equations 3 and 4). */
    double ece, mce;
    px_eval_bin bins[PX_EVAL_BINS];
} px_eval_sum;

typedef struct px_eval_class {
    int64_t labelled, predicted, correct;
    double accuracy, precision; /* right ones of those labelled, and of those predicted */
    double confidence;          /* of whatever was predicted for those labelled */
} px_eval_class;

typedef struct px_eval_cell { /* inputs with that label and prediction */
    int label, predicted;
    int64_t count;
} px_eval_cell;

/* Of a network of regression: how far its numbers are from their targets. `accuracy` above is the
 * share of inputs within the tolerance. */
typedef struct px_eval_far { /* an input, and of its numbers the one that is furthest off */
    int64_t item;            /* of the predictions */
    double error, output, target;
} px_eval_far;

#define PX_EVAL_FAR 10

typedef struct px_eval_errors {
    int64_t count;       /* inputs with a target and an answer that are numbers */
    double mae, rmse;    /* over all their numbers */
    double r2;           /* 1 - squared errors by squared distances of targets from their mean;
                            NaN where those are 0 */
    double bias;         /* mean of output - target */
    double median, most; /* of the largest error of an input; most: the largest */
    double tolerance;
    px_eval_far far[PX_EVAL_FAR]; /* the largest errors, the first of equals first */
    size_t far_count;
} px_eval_errors;

typedef struct px_eval { /* {0}: empty */
    px_eval_sum all;
    px_eval_class *by_class; /* [all.classes] */
    px_eval_cell *confusion; /* cells above 0: the largest first, then by label and prediction */
    size_t confusion_count;
} px_eval;

/* Everything. On PX_OK the caller owns what is in *out; the predictions are not needed any more.
 * PX_E_NOMEM is the only failure. */
PX_API px_status px_eval_make(const px_predictions *predictions, px_eval *out, px_error *err);
PX_API void px_eval_done(px_eval *eval);

/* The sums alone, over a slice: predictions items[0 .. count-1]. items NULL: the first `count`. */
PX_API px_eval_sum px_eval_slice(const px_predictions *predictions, const int64_t *items,
                                 int64_t count);

/* Those of a network of regression with this tolerance; count 0 where there are no targets. */
PX_API px_status px_eval_regression(const px_predictions *predictions, double tolerance,
                                    px_eval_errors *out, px_error *err);

/* Whether accuracy is about that of guessing: within three standard deviations of 1/classes, or
 * less than a twentieth of the way up. Fewer than 50 inputs prove nothing. */
PX_API bool px_eval_is_guessing(const px_eval_sum *sum);

/* A row of the confusion matrix: counts[0 .. classes-1] of inputs with that label. */
PX_API void px_eval_row(const px_eval *eval, int label, int64_t *counts);
/* The class with labels whose accuracy is the lowest, the first of equals; -1: there are none. */
PX_API int px_eval_worst(const px_eval *eval);

PX_END_DECLS
#endif
