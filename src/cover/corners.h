/* src/cover/corners.h - the regions outside a neuron's profiled range: what NBC and SNAC share
 *
 * Ma et al., DeepGauge (ASE 2018); CSM A.3, A.4. A value is in the upper corner if it is above
 * high + s * sd, in the lower one if it is below low - s * sd.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_CORNERS_H
#define PXI_COVER_CORNERS_H

#include "cover/slots.h"

typedef enum pxi_corner_rule {
    PXI_CORNER_STRICT,
    PXI_CORNER_GE,      /* the bound itself is outside: dnn-tip */
    PXI_CORNER_BUCKETS, /* DeepHunter: 11 buckets outwards, the same ones for both corners */
} pxi_corner_rule;

typedef struct pxi_corners {
    pxi_slots_plan plan;
    pxi_corner_rule rule;
    bool lower;         /* whether the lower corner counts */
    double *low, *high; /* per neuron: the bounds */
    double *width;      /* per neuron: of a bucket; NULL: there are none */
} pxi_corners;

typedef struct pxi_corner_config { /* settings of nbc and snac */
    double s;
    pxi_corner_rule variant;
} pxi_corner_config;

/* Slots of a neuron: upper corner, lower corner; or the buckets. */
px_status pxi_corners_new(const char *id, const px_extractor *extractor, const px_ranges *ranges,
                          const pxi_corner_config *config, bool lower, pxi_corners **out,
                          px_error *err);
void pxi_corners_free(void *corners); /* NULL is fine */

/* The slots that value v of neuron n is in, as a mask. */
unsigned pxi_corner_hits(const pxi_corners *corners, int64_t n, double v);

/* --- for the descriptors of nbc and snac ----------------------------------------------------- */
extern const px_param pxi_corner_params[];
extern const px_learner *const pxi_corner_learners[];
px_status pxi_corners_prepare(const char *id, const px_criterion_request *request, bool lower,
                              void **out, px_error *err);
px_status pxi_corners_observe(void *state, const px_rows *rows, px_error *err);
double pxi_corners_gain(const void *state, const px_rows *rows, int64_t i);

#endif
