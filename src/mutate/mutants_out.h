/* src/mutate/mutants_out.h - where mutants go: a folder, an NPZ, a contact sheet */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_MUTATE_MUTANTS_OUT_H
#define PXI_MUTATE_MUTANTS_OUT_H

#include <internal/mutants.h>

typedef struct pxi_mutants_out pxi_mutants_out;

/* The input at hand: planes of 8-bit levels; of a recording 16-bit samples, with its features. */
typedef struct pxi_mutable {
    const void *values;
    size_t count;
    const float *features; /* [frames, n_mels]; NULL: a picture */
} pxi_mutable;

/* `each` mutants of every input; `chain` is what all of them went through, NULL: each its own.
 * Files and folders appear when all is done. */
px_status pxi_mutants_open(const px_mutants_options *options, int64_t each, const char *chain,
                           pxi_mutants_out **out, px_error *err);
/* Inputs in order, each before its mutants. */
px_status pxi_mutants_original(pxi_mutants_out *out, int64_t row, const pxi_mutable *input,
                               px_error *err);
px_status pxi_mutants_put(pxi_mutants_out *out, const px_mutant *mutant, const pxi_mutable *input,
                          px_error *err);
px_status pxi_mutants_finish(pxi_mutants_out *out, const px_mutants *mutants, px_error *err);
void pxi_mutants_close(pxi_mutants_out *out); /* NULL is fine; what is not finished is given up */

#endif
