/* src/text/ppmi.h - words by what stands near them
 *
 *     pxi_cooccur(&corpus, rank, v, 5, c);           // [v][v], weight 1/distance
 *     pxi_ppmi(c, v, 0.75, m, &err);
 *     pxi_ppmi_vectors(m, v, 64, vectors, &err);     // [v][64]
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_PPMI_H
#define PXI_TEXT_PPMI_H

#include "text/word_corpus.h"

/* Adds 1/distance to c[x][y] and c[y][x] for words x, y at most `window` places from each other in
 * a learnt sentence. rank[word] is its row, or -1: the word keeps its place but counts for
 * nothing. */
void pxi_cooccur(const px_corpus *corpus, const int32_t *rank, size_t v, size_t window, double *c);

/* m_ij = max(0, ln((c_ij / T) / ((r_i / T) * r_j^a / sum r^a))), r the sums of rows, T of all;
 * Levy, Goldberg, Dagan, TACL 3, 2015. 0 where c_ij is 0. */
px_status pxi_ppmi(const double *c, size_t v, double a, double *m, px_error *err);

/* Rows of U sqrt(S) for the `size` largest singular values, scaled to length 1 (rows of nothing
 * stay 0). m is spoiled. Where there are fewer words than dimensions the rest is 0. */
px_status pxi_ppmi_vectors(double *m, size_t v, size_t size, float *vectors, px_error *err);

#endif
