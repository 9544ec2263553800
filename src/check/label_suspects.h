/* src/check/label_suspects.h - inputs whose label may be wrong */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_CHECK_LABEL_SUSPECTS_H
#define PXI_CHECK_LABEL_SUSPECTS_H

#include "check/check_internal.h"

#define PXI_SUSPECTS_FILE "label_suspects.csv"

typedef struct pxi_judged { /* what a network says of an input that has a label */
    int64_t input, label, prediction;
    double confidence; /* probability of the prediction; NaN: it has none */
    double given;      /* probability of the label */
} pxi_judged;

/* Puts the suspects among `count` inputs first, the most likely ones before the others, and returns
 * how many there are. `thresholds` [classes] receives what each class's inputs are given on
 * average; NaN: there are none. */
size_t pxi_label_suspects(pxi_judged *inputs, size_t count, int classes, double *thresholds);

/* The member "label_suspects" of the evaluation, and the file with all of them. given[input] is the
 * probability of the label. */
px_status pxi_label_suspects_write(const px_check *c, const int64_t *predictions,
                                   const float *confidence, const float *given, px_json *out,
                                   px_error *err);

#endif
