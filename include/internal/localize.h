/* include/internal/localize.h - <plexor/localize.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_LOCALIZE_H
#define PXI_INTERNAL_LOCALIZE_H

#include <plexor/localize.h>

PX_BEGIN_DECLS

/* Whether a file is a spectrum rather than another kind of state. */
bool px_spectrum_is_file(const char *path);

/* PX_E_MISMATCH, in plain words, if it was made from another network. */
px_status px_spectrum_check(const px_spectrum *spectrum, const px_model *model, px_error *err);

size_t px_spectrum_layer_count(const px_spectrum *spectrum);

const px_spectrum_layer *px_spectrum_layer_get(const px_spectrum *spectrum, size_t i);

double px_spectrum_theta(const px_spectrum *spectrum);

/* "layers=hidden tap=post neurons=chan: 4 layers, 226 neurons"; printed with every number. */
const char *px_spectrum_definition(const px_spectrum *spectrum);

/* A class without right or without wrong answers has no ranking. */
bool px_spectrum_ranks(const px_spectrum *spectrum, int c);

/* How many neurons were active on every input seen, and on none; 0 and 0 before the first. */
void px_spectrum_extremes(const px_spectrum *spectrum, int64_t *always, int64_t *never);

px_activity px_hits_activity(const px_hits *hits);

px_activity_counts px_spectrum_activity(const px_spectrum *spectrum, int c);

bool px_hits_suspect(const px_hits *hits);

/* The scores of all neurons for class c (or PX_POOLED), 0/0 being 0 and x/0 +infinity. NaN
 * throughout where the class has no ranking. */
void px_measure_scores(const px_measure *measure, double star, const px_spectrum *spectrum, int c,
                       double *scores);

/* Whether a neuron with these counts has a place in a ranking without the uninformative ones. */
bool px_hits_ranked(const px_hits *hits);

/* The same beside the paper's three measures, ranked by `rank`; PX_E_INPUT where they leave none.
 */
px_status px_suspicious_random_beside(const px_spectrum *spectrum, const px_rank_options *rank,
                                      const px_baseline_options *options, px_suspicious **out,
                                      px_error *err);

/* How many of the list's neurons are in the layer. */
int64_t px_suspicious_in_layer(const px_suspicious *list, const px_spectrum_layer *layer);

/* The neurons of one class: a part of items. A list over all classes has them under PX_POOLED, and
 * gives those for every class. *count is 0 where there are none. */
const px_suspect *px_suspicious_class(const px_suspicious *list, int c, size_t *count);

/* PX_E_MISMATCH, in plain words, if it was made from another network. */
px_status px_suspicious_check(const px_suspicious *list, const px_model *model, px_error *err);

/* The layers that the list has neurons in, as a text for px_probe_options.layers ("#1,#4"); the
 * caller frees it, NULL when out of memory. */
char *px_suspicious_layers(const px_suspicious *list);

/* A neuron among the chosen layers of a probe, which may have another tap: *layer for
 * px_probe_layer() and px_probe_seed(), whose neuron is suspect->unit. PX_E_MISMATCH where the
 * probe has no such layer or the layer no such neuron. */
px_status px_suspect_find(const px_suspect *suspect, const px_probe *probe, size_t *layer,
                          px_error *err);

/* Spearman's rank correlation of all pairs of measures over the neurons of class c, infinite scores
 * by the rule of the ranking: matrix[i * px_measure_count() + j]. NaN where it is undefined: the
 * class has no ranking, or a measure gives all neurons the same score. */
px_status px_measures_spearman(const px_spectrum *spectrum, int c, double star, double *matrix,
                               px_error *err);

/* Ranks by every measure (options->measure is not read). On PX_OK the caller ends *out with
 * px_rankings_done(); it is untouched otherwise. */
px_status px_rankings_compare(const px_spectrum *spectrum, const px_rank_options *options,
                              const px_suspicious *list, px_rankings *out, px_error *err);

void px_rankings_done(px_rankings *rankings); /* {0} is fine */

PX_END_DECLS
#endif
