/* src/doctor/doctor_internal.h - what the parts of an examination share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DOCTOR_INTERNAL_H
#define PXI_DOCTOR_INTERNAL_H

#include "base/memory.h"

#include <internal/doctor.h>
#include <plexor/eval.h>
#include <plexor/text.h>

enum { PXI_DOCTOR_NAMES = 10 }; /* inputs that most findings name */

struct px_doctor {
    px_doctor_options o;
    px_finding *findings;
    size_t count, capacity;
    px_predictions own;         /* where the caller had none */
    const px_predictions *said; /* of inputs `sampled` */
    const int64_t *sampled;     /* indices in the set; NULL: all of it */
    int64_t *sample;            /* owner of `sampled` */
    px_eval eval;
    double low, high; /* of finite raw values of the inputs that were looked at */
    bool advised;
    px_preprocess advice;
};

/* Adds a finding with `count`; the texts are copied, advice may be NULL. */
px_status pxi_doctor_add(px_doctor *d, const char *id, px_finding_level level, int64_t count,
                         const char *advice, px_error *err, const char *sentence, ...)
    PX_PRINTF(7, 8);
px_status pxi_doctor_name(px_doctor *d, const char *name,
                          px_error *err);                /* adds it to the last finding's inputs */
int64_t pxi_doctor_index(const px_doctor *d, int64_t i); /* of prediction i in the set */
bool pxi_doctor_pictures(const px_doctor *d); /* grey or colour pictures, no recordings */
/* Up to `most` indices of `count`, ascending, one at random from each of as many equal pieces:
 * every class has its share in data that are sorted by class, and in data where classes take turns,
 * of which a fixed stride might see only one. */
int64_t *pxi_doctor_spread(int64_t count, int64_t most, int64_t *made);
/* Of inputs that all have labels, with `probabilities`: loss[count], by the temperature that makes
 * their sum the lowest. */
px_status pxi_calibrated_loss(const px_predictions *said, double *loss, px_error *err);

px_status pxi_doctor_classes(px_doctor *d, px_error *err);    /* do names and counts meet */
px_status pxi_doctor_values(px_doctor *d, px_error *err);     /* what the inputs hold */
px_status pxi_doctor_preprocess(px_doctor *d, px_error *err); /* would another way do better */
px_status pxi_doctor_answers(px_doctor *d, px_error *err);    /* what the network says */
px_status pxi_doctor_duplicates(px_doctor *d, px_error *err); /* what comes twice */

#endif
