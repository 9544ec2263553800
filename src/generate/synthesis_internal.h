/* src/generate/synthesis_internal.h - the inside of px_synthesize() */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_SYNTHESIS_INTERNAL_H
#define PXI_GENERATE_SYNTHESIS_INTERNAL_H

#include <internal/pass.h>
#include <internal/pixel_rule.h>

#include <internal/synthesize.h>

/* One step of Algorithm 2: `pixels` moves along `gradient` (of the network's input, in its own
 * order) and stays within the distance of `original` (synthesis_pixels.c). */
void pxi_pixels_step(const pxi_pixel_rule *rule, const float *original, const float *gradient,
                     float *pixels);
/* For pxi_pixel_rule_init(). */
pxi_pixel_bounds pxi_synthesis_bounds(const px_synthesis_options *options);

/* --- a run (synthesis.c, synthesis_batch.c) -------------------------------------------------- */

enum { SYNTHESIS_FORWARD, SYNTHESIS_BACKWARD, SYNTHESIS_JUDGE, SYNTHESIS_ALL, SYNTHESIS_TIMES };

struct px_synthesis {
    px_synthesis_options options; /* complete */
    bool rounds;                  /* 8-bit pixels are what is stored */
    int classes;
    int64_t count;
    px_synthesis_row *rows;
    size_t *rose_at; /* per row, and the end */
    uint8_t *rose;
    double seconds, emit_seconds, spent[SYNTHESIS_TIMES];
};

typedef struct pxi_synthesis_run {
    const px_synthesis_job *job;
    px_synthesis *out;
    pxi_pixel_rule rule;
    pxi_pass *pass;
    px_scores scores;
    int input;   /* value */
    int *values; /* that the neurons are in, each once; the class scores last */
    size_t value_count;
    bool *used;   /* per chosen layer of the probe: some list has neurons there */
    int64_t wide; /* neurons of the probe: a row of a trace */

    /* The inputs that are being made: rows `first` on, at most `room` of them. */
    int64_t first, room;
    float *original, *exact;
    uint8_t *bytes;                   /* NULL: nothing is rounded */
    double (*spent)[SYNTHESIS_TIMES]; /* per micro-batch of the chunk */
} pxi_synthesis_run;

/* Opens the pass, and makes `samples` rows from `first` on (synthesis_batch.c). */
px_status pxi_synthesis_open(pxi_synthesis_run *run, px_error *err);
px_status pxi_synthesis_work(pxi_synthesis_run *run, int64_t samples, px_error *err);

#endif
