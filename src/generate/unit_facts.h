/* src/generate/unit_facts.h - what is known of neurons before anything runs, and how often they
 * fired
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_UNIT_FACTS_H
#define PXI_GENERATE_UNIT_FACTS_H

#include <plexor/probe.h>

/* Kinds of layers that ADAPT tells apart (LGR D.11). */
typedef enum pxi_unit_kind {
    PXI_UNIT_NORM,
    PXI_UNIT_POOL,
    PXI_UNIT_CONV,
    PXI_UNIT_DENSE,
    PXI_UNIT_ACTIVATION,
    PXI_UNIT_JOIN, /* several inputs */
    PXI_UNIT_OTHER,
    PXI_UNIT_KINDS,
} pxi_unit_kind;

typedef struct pxi_unit_facts {
    int64_t count;
    int layers;
    int *layer;     /* of each neuron: place among the layers */
    uint8_t *kind;  /* pxi_unit_kind */
    double *weight; /* mean incoming one; 0 for those without */
} pxi_unit_facts;

/* `sample` is the network's input with a batch of 1. */
px_status pxi_unit_facts_init(pxi_unit_facts *facts, const px_model *model, const px_probe *probe,
                              const px_feed *sample, px_error *err);
void pxi_unit_facts_done(pxi_unit_facts *facts);

/* Units by falling weight, the lower of equals first; out[count]. False: out of memory. */
bool pxi_unit_facts_by_weight(const pxi_unit_facts *facts, int64_t *out);

/* --- how often each was above the threshold -------------------------------------------------- */

typedef struct pxi_unit_tally {
    int64_t count, covered;
    int64_t *times;
} pxi_unit_tally;

px_status pxi_unit_tally_init(pxi_unit_tally *tally, int64_t count, px_error *err);
void pxi_unit_tally_done(pxi_unit_tally *tally);
/* One input's values. Returns how many neurons fired for the first time. */
int64_t pxi_unit_tally_add(pxi_unit_tally *tally, const float *values, double threshold);

#endif
