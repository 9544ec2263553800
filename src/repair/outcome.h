/* src/repair/outcome.h - what a network makes of some inputs of a data set */
#ifndef PXI_REPAIR_OUTCOME_H
#define PXI_REPAIR_OUTCOME_H

#include <plexor/repair.h>

typedef struct pxi_outcome {
    int64_t *predictions; /* -1: scores that are not numbers */
    float *confidences;   /* probability of the predicted class; NaN where there is none */
    double *losses;
} pxi_outcome;

/* Judges the inputs items[0..count-1] of the set; labels are those of the items. On PX_OK the
 * caller owns what is in *out. */
px_status pxi_outcome_make(const px_model *model, const px_judge_set *data, const int64_t *items,
                           const int64_t *labels, int64_t count, int threads,
                           px_progress_fn progress, void *context, pxi_outcome *out, px_error *err);
void pxi_outcome_done(pxi_outcome *outcome);

/* Sums in the order of the inputs. `class_correct` has one entry per class. */
px_repair_measure pxi_outcome_measure(const pxi_outcome *outcome, const int64_t *labels,
                                      int64_t count, int64_t *class_correct);

#endif
