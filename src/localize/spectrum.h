/* src/localize/spectrum.h - the inside of px_spectrum
 *
 * F and P are the same for all neurons of a class, so two counters per neuron and class are enough:
 * on how many failing and passing inputs it was active. Rows of a class are allocated when its
 * first input comes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_LOCALIZE_SPECTRUM_H
#define PXI_LOCALIZE_SPECTRUM_H

#include "cover/seen.h"
#include <internal/row_reader.h>

#include <plexor/localize.h>

enum { PXI_FAIL = 0, PXI_PASS = 1 };

typedef struct pxi_class_hits {
    int64_t inputs[2];   /* by PXI_FAIL and PXI_PASS */
    uint32_t *active[2]; /* [width]; NULL: no input yet */
} pxi_class_hits;

typedef struct pxi_counts { /* what one worker counts; in the end, all */
    int classes;
    int64_t width;
    pxi_class_hits *of; /* [classes] */
} pxi_counts;

struct px_spectrum {
    const px_model *model; /* NULL: from a file alone */
    uint64_t model_hash, rows_hash;
    px_tap tap;
    px_neurons neurons;
    bool deepxplore;
    double theta;
    int threads;
    char *definition;
    px_spectrum_layer *layers; /* names are owned */
    size_t layer_count;
    px_extractor *extractor; /* of a spectrum with a network, as is what follows */
    pxi_row_set rows;
    pxi_counts counts;
    pxi_seen seen;
};

px_status pxi_counts_init(pxi_counts *counts, int classes, int64_t width, px_error *err);
void pxi_counts_done(pxi_counts *counts);
/* The class's two rows of counters. */
px_status pxi_counts_open(pxi_counts *counts, int c, px_error *err);
/* Rows of finite values with labels below `classes`. */
px_status pxi_counts_observe(pxi_counts *counts, const px_rows *rows, double theta, px_error *err);
px_status pxi_counts_merge(pxi_counts *counts, const pxi_counts *other, px_error *err);

/* A spectrum of these layers without a network; names are copied. */
px_status pxi_spectrum_make(const px_spectrum_layer *layers, size_t layer_count, int classes,
                            double theta, px_spectrum **out, px_error *err);
/* The layer of a neuron. */
size_t pxi_spectrum_layer_of(const px_spectrum *spectrum, int64_t neuron);

/* px_spectrum_open() without its file (spectrum_file.c). */
px_status pxi_spectrum_read(const px_npz *npz, px_spectrum **out, px_error *err);

/* Counters are 32 bits wide. */
#define PXI_SPECTRUM_MOST_INPUTS ((int64_t)UINT32_MAX)

#endif
