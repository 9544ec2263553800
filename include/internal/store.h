/* include/internal/store.h - <plexor/store.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_STORE_H
#define PXI_INTERNAL_STORE_H

#include <plexor/graph.h>
#include <plexor/store.h>

PX_BEGIN_DECLS

/* The same for a campaign in the folder of another command, which has marked it as its own. */
px_status px_campaign_open_as(const char *folder, px_campaign_mode mode, const char *owner,
                              px_campaign **out, px_error *err);

/* Tells of every failure, right behind the commit that makes it permanent; the function may read
 * the campaign. What it returns is what px_campaign_commit() does. NULL: nobody hears of them. */
typedef px_status (*px_campaign_told)(void *context, px_campaign *campaign, int64_t id,
                                      px_error *err);
void px_campaign_watch(px_campaign *campaign, px_campaign_told told, void *context);

/* Whether this part of it, as a data set, is inputs that some network got wrong; false where
 * `folder` is no campaign. */
bool px_campaign_part_fails(const char *folder, const char *split);

/* The process that writes it now; 0: none. */
long px_campaign_writer(const px_campaign *campaign);

const char *px_input_kind_name(px_input_kind kind); /* "seed", "kept", "fault" */

/* What the network's classes are called, for those who read the campaign; NULL for any of them:
 * it has no name. Replaces what is there. */
px_status px_campaign_put_classes(px_campaign *campaign, const char *const *names, int count,
                                  px_error *err);

px_status px_campaign_put_neuron(px_campaign *campaign, const char *measure, int cls,
                                 const char *layer, int64_t index, double score, px_error *err);

px_status px_campaign_set(px_campaign *campaign, const char *key, const char *value, px_error *err);

px_status px_campaign_set_int(px_campaign *campaign, const char *key, int64_t value, px_error *err);

px_status px_campaign_set_real(px_campaign *campaign, const char *key, double value, px_error *err);

px_status px_campaign_put_blob(px_campaign *campaign, const char *name, const void *bytes,
                               size_t size, px_error *err);

void px_campaign_rollback(px_campaign *campaign); /* forgets the batch */

px_status px_campaign_get_blob(px_campaign *campaign, const char *name, void **out, size_t *size,
                               px_error *err); /* the same */

/* How near fault `id` is to its root: as stored, or measured now where it was written by an older
 * plexor. */
px_status px_campaign_measure(px_campaign *campaign, int64_t id, px_closeness *out, px_error *err);

/* The same for all faults that lack it, into the batch. */
px_status px_campaign_measure_all(px_campaign *campaign, px_error *err);

/* What class c is called; NULL: unknown. Borrowed from the campaign. */
const char *px_campaign_class_name(px_campaign *campaign, int64_t c);

/* Points of a criterion in order of steps; the caller frees *out. */
px_status px_campaign_coverage(px_campaign *campaign, const char *criterion,
                               px_coverage_point **out, size_t *count, px_error *err);

/* Criteria that have points; each and the list are freed by px_class_names_free(). */
px_status px_campaign_criteria(px_campaign *campaign, char ***names, int *count, px_error *err);

px_status px_campaign_count_errors(px_campaign *campaign, int64_t polluted_class,
                                   px_error_counts *out, px_error *err);

/* SQLite's integrity_check, keys between tables, and every input read back. PX_E_INPUT with the
 * first finding. */
px_status px_campaign_check(px_campaign *campaign, px_error *err);

/* Of all content that two equal runs have in common: every table but `run`, every column but those
 * that end in _s or _at. */
px_status px_campaign_digest(px_campaign *campaign, uint64_t *out, px_error *err);

/* Where `spec` (may be NULL) names a campaign that was made with this model: the scale, mean and
 * std that it was made with, for those that were not given and that the model's metadata do not
 * have either. Anything else leaves `pre` alone; a campaign that cannot be read is told when it is
 * opened. */
void px_campaign_preprocess(const char *spec, const px_model *model, px_preprocess *pre);

/* Whose original is which: partners[i] is the input of `originals` that input i of `set`, which the
 * campaign is opened as, was made from. `own`: originals are the campaign's seeds; else they are
 * looked up by their place in the data that it was made from, and must have the root's pixels. */
px_status px_campaign_pair(const char *folder, const px_dataset *set, const px_dataset *originals,
                           const px_preprocess *pre, bool own, int64_t *partners, px_error *err);

/* A JSON array of px_drawn_text(); the caller frees it. NULL when out of memory. */
char *px_chain_text(const px_drawn *links, size_t count);

/* The caller frees *links (NULL with none). `text` NULL or "" is an empty chain. *replayable is
 * false, and *count 0, where it is JSON of another kind. Links have no `styles`: those of the
 * campaign are px_campaign_get_styles(). */
px_status px_chain_parse(const char *text, px_drawn **links, size_t *count, bool *replayable,
                         px_error *err);

/* The styles of a user's pictures that chains of the campaign take, a blob ("styles") in the batch:
 * with it chains can be replayed without the pictures. Reading: the caller owns *out, NULL where
 * there are none. */
px_status px_campaign_put_styles(px_campaign *campaign, const px_styles *styles, px_error *err);

px_status px_campaign_get_styles(px_campaign *campaign, px_styles **out, px_error *err);

/* Makes the input again from the stored pixels of its root. `pixels` (may be NULL) gets what came
 * out. */
px_status px_campaign_replay(px_campaign *campaign, int64_t id, void *pixels, px_replayed *out,
                             px_error *err);

/* Writes `fuzzer_stats` anew (by renaming) and adds a line to `plot_data`. Those tools divide by
 * executions and entries: nothing is written while either is 0. For the writer only. */
px_status px_campaign_write_stats(px_campaign *campaign, const px_campaign_figures *figures,
                                  px_error *err);

PX_END_DECLS
#endif
