/* src/generate/dlfuzz_neurons.h - which neurons DLFuzz raises (LGR D.10) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_DLFUZZ_NEURONS_H
#define PXI_GENERATE_DLFUZZ_NEURONS_H

#include "generate/ascent.h"
#include "generate/unit_facts.h"

#include <plexor/rng.h>

enum {                        /* strategies, summed */
       PXI_DLFUZZ_NONE = 0,   /* uniformly among those that never fired */
       PXI_DLFUZZ_OFTEN = 1,  /* as likely as they fired often */
       PXI_DLFUZZ_RARE = 2,   /* as likely as they fired less often than the most frequent one */
       PXI_DLFUZZ_WEIGHT = 4, /* uniformly among those with the largest incoming weights */
       PXI_DLFUZZ_NEAR = 8,   /* values near the threshold: above it to rise, below it to fall */
};

/* Weights of a draw: times / sum, and (max - times) / sum of those; all zero where the sum is. */
void pxi_dlfuzz_often(const int64_t *times, int64_t count, double *out);
void pxi_dlfuzz_rare(const int64_t *times, int64_t count, double *out);

/* The tenth of all units that has the largest mean incoming weights, less those whose weight is not
 * positive; *count of them in *out, which the caller frees. */
px_status pxi_dlfuzz_heavy(const pxi_unit_facts *facts, int64_t **out, int64_t *count,
                           px_error *err);

typedef struct pxi_dlfuzz_choice {
    int strategies; /* a sum of the above */
    int neurons;    /* how many in all, split evenly; the first strategies get what is left over */
    double threshold;
    const pxi_unit_tally *tally;
    const float *values; /* of the input at hand */
    const int64_t *heavy;
    int64_t heavy_count;
    double *weights; /* scratch, [units] */
    int64_t *places; /* scratch, [units] */
} pxi_dlfuzz_choice;

/* Writes at most `neurons` terms of weight +-`weight` and returns how many. Within a strategy no
 * unit comes twice. Where nothing has fired yet it is one unit at random. */
size_t pxi_dlfuzz_choose(const pxi_dlfuzz_choice *choice, float weight, px_random *random,
                         pxi_term *out);

#endif
