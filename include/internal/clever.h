/* include/internal/clever.h - CLEVER: how far an input is from being classified otherwise
 *
 *     px_clever_options options = px_clever_options_default();     // L2, 500 batches of 1,024
 *     px_clever_job job = {.model = model, .set = set, .pre = &pre};
 *     px_clever_run(&job, &options, &clever, &err);
 *     px_clever_summary sum;
 *     px_clever_sum(clever, &sum, &err);                           // the mean score
 *     px_clever_free(clever);
 *
 * Weng et al., Evaluating the robustness of neural networks: an extreme value theory approach, ICLR
 * 2018. For an input x of class c and another class j, g = z_c - z_j. If no gradient of g around x
 * is longer than L, g stays above 0 within g(x) / L. L is estimated: of many batches of random
 * points, the longest gradient each; of the distribution of these maxima, the right end. The score
 * of j is min(g(x) / L, radius), that of the input the smallest of them. It is an estimate: no
 * bound is proven. Lengths are in scaled units; docs/assess.md has the rules.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_CLEVER_H
#define PXI_INTERNAL_CLEVER_H

#include <internal/stats.h>
#include <plexor/data.h>
#include <plexor/engine.h>

PX_BEGIN_DECLS

/* What points are drawn from; gradients are measured by the dual norm. */
#define PX_BALLS(X)                           \
    X(PX_BALL_L2, "l2", "Euclidean")          \
    X(PX_BALL_LINF, "linf", "largest change") \
    X(PX_BALL_L1, "l1", "sum of changes")

typedef enum px_ball {
#define PX_BALL_ENUM(enumerator, id, help) enumerator,
    PX_BALLS(PX_BALL_ENUM)
#undef PX_BALL_ENUM
} px_ball;
const char *px_ball_name(px_ball ball);

enum { PX_CLEVER_ALL = -1, PX_CLEVER_SECOND = -2 }; /* instead of a class */

typedef struct px_clever_job { /* everything is borrowed while px_clever_run() runs */
    const px_model *model;
    const px_dataset *set; /* inputs without a label are taken as what the network says they are */
    const px_preprocess *pre;
} px_clever_job;

typedef struct px_clever_options {
    px_ball ball;
    double radius;   /* NaN: 3 of the range for L2, 0.1 for Linf, 30 for L1 */
    int64_t batches; /* N_b: maxima that the fit sees */
    int64_t samples; /* N_s: points that each is the maximum of */
    int64_t pool;   /* 0: all points are fresh; else batches are drawn from pool * samples points */
    bool penalised; /* the fit: see px_reverse_weibull_fit() */
    int64_t target; /* a class, PX_CLEVER_ALL others, or PX_CLEVER_SECOND: the runner-up */
    double low, high; /* what a value may be; both NaN: as px_attack_options has it */
    uint64_t seed;
    int64_t batch;           /* micro-batch; 0: chosen */
    int threads;             /* <= 0: one per core */
    px_progress_fn progress; /* counts points */
    void *progress_context;
} px_clever_options;
px_clever_options px_clever_options_default(void);

typedef struct px_clever_target { /* one other class of an input */
    int target;
    double margin;          /* g(x) */
    px_reverse_weibull fit; /* of the gradients; fit.location is L */
    double score;
} px_clever_target;

typedef struct px_clever_row {
    int64_t input, label; /* label -1: none */
    int64_t predicted;    /* -1: the scores are not numbers */
    bool wrong;           /* predicted is not the label: the score is 0, nothing was sampled */
    bool skipped;         /* it is of the target's class already: no score */
    double score;         /* NaN: skipped, or no numbers */
    int64_t first;        /* of its targets in px_clever_targets() */
    int64_t count;
    int64_t nearest;       /* place of the target with the smallest score; -1: none */
    int64_t odd_gradients; /* values that were no numbers, taken as 0 */
} px_clever_row;

typedef struct px_clever px_clever;

/* *out is the caller's on PX_OK and untouched otherwise. The result does not depend on threads or
 * batch. */
px_status px_clever_run(const px_clever_job *job, const px_clever_options *options, px_clever **out,
                        px_error *err);
void px_clever_free(px_clever *clever); /* NULL is fine */
int64_t px_clever_count(const px_clever *clever);
const px_clever_row *px_clever_rows(const px_clever *clever);
const px_clever_target *px_clever_targets(const px_clever *clever);
const px_clever_options *px_clever_used(const px_clever *clever); /* complete */

typedef struct px_clever_summary {
    int64_t count;               /* inputs that have a score by sampling */
    double mean, median, least;  /* of these; NaN without any */
    double mean_all;             /* with 0 for those that are wrong */
    int64_t wrong, skipped, odd; /* inputs: misclassified; of the target's class; no numbers */
    int64_t unlabelled;          /* the network's answer stands in */
    int64_t capped;              /* scores that are the radius */
    int64_t fits, constant, open, poor; /* targets, and those without a fit by px_end_note */
    double ks_median, ks_p_median;      /* of the fits */
    int64_t odd_gradients;
    double points; /* gradients that were taken */
    double seconds;
} px_clever_summary;
px_status px_clever_sum(const px_clever *clever, px_clever_summary *out, px_error *err);

PX_END_DECLS
#endif
