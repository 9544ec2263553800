/* src/semantics/glove.h - word vectors by weighted least squares
 *
 * Pennington, Socher, Manning, GloVe: Global Vectors for Word Representation, EMNLP 2014:
 *
 *     sum f(C_ij) (w_i . w~_j + b_i + b~_j - ln C_ij)^2,    f(c) = min(1, (c / x_max)^0.75)
 *
 * by AdaGrad, pair after pair in an order of its own in each epoch; a word's vector is w + w~.
 */
#ifndef PXI_SEMANTICS_GLOVE_H
#define PXI_SEMANTICS_GLOVE_H

#include <plexor/error.h>
#include <stdint.h>

typedef struct pxi_glove_options {
    int epochs;
    double rate, x_max, power;
    uint64_t seed;
} pxi_glove_options;
pxi_glove_options pxi_glove_options_default(uint64_t seed); /* x_max of small corpora */

/* counts [v][v]; vectors [v][size]. */
px_status pxi_glove_train(const double *counts, size_t v, size_t size,
                          const pxi_glove_options *options, float *vectors, px_error *err);

#endif
