/* include/internal/pairs.h - originals and what became of them, written into a campaign
 *
 *     px_pairs *pairs = NULL;
 *     PX_TRY(px_pairs_new(campaign, set, &pre, &pairs, err));   // a campaign with an identity
 *     px_pairs_put_attack(pairs, &options, made, err);          // what options.emit hands out
 *     PX_TRY(px_pairs_finish(pairs, command, seconds, err));    // commits
 *     px_pairs_free(pairs);
 *
 * An original is a seed; what was made of it is a fault, or kept where the network still gets it
 * right. Pixels are stored in the campaign's type: whole levels, or numbers in scaled units.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PAIRS_H
#define PXI_INTERNAL_PAIRS_H

#include <internal/synthesize.h>
#include <plexor/attack.h>
#include <plexor/data.h>
#include <plexor/store.h>

PX_BEGIN_DECLS

typedef struct px_pairs px_pairs;

/* What decides the content, with complete options, as px_campaign_identity.settings has it; the
 * caller frees *out. `settings` is px_attack_settings_text(). */
px_status px_pairs_attack_settings(const px_attack_options *options, const char *settings,
                                   int64_t inputs, const px_preprocess *pre, char **out,
                                   px_error *err);
px_status px_pairs_synthesis_settings(const px_synthesis_options *options,
                                      const px_synthesis_job *job, const char *measure, int64_t k,
                                      char **out, px_error *err);

/* All but *out are borrowed for its lifetime. PX_E_USAGE: the campaign has no identity, or inputs
 * of another size. */
px_status px_pairs_new(px_campaign *campaign, const px_dataset *set, const px_preprocess *pre,
                       px_pairs **out, px_error *err);
void px_pairs_free(px_pairs *pairs); /* not the campaign; NULL is fine */

typedef struct px_pair {
    int64_t input; /* its place in the data set */
    int64_t label, before, predicted;
    double confidence_before, confidence; /* NaN: unknown */
    int64_t l0;
    double l2, linf;
    int64_t executions; /* of the network, that it took */
    const char *chain;  /* JSON: how it was made */
    /* Raw values, as px_dataset_pixels() gives them; `bytes` NULL where nothing is rounded. */
    const float *original, *exact;
    const uint8_t *bytes;
} px_pair;

/* For a run that can be gone on with: `planned` inputs are to come, or the rest of them where the
 * campaign has such a run already. From now on px_pairs_put_attack() or _put_synthesis() gets every
 * input in order, keeps its row, and commits after every PX_PAIRS_BATCH of them. Commits. */
#define PX_PAIRS_BATCH 64
px_status px_pairs_plan(px_pairs *pairs, int64_t planned, px_error *err);
/* Rows that an earlier run kept, for px_attack_job.known; the caller frees *rows. */
px_status px_pairs_attack_rows(const px_pairs *pairs, px_attack_row **rows, int64_t *count,
                               px_error *err);
px_status px_pairs_synthesis_rows(const px_pairs *pairs, px_synthesis_row **rows, int64_t *count,
                                  px_error *err);

/* Commits now and then. */
px_status px_pairs_put(px_pairs *pairs, const px_pair *pair, px_error *err);
/* What px_attack_run() made with these options, which are complete (px_attack_complete()). An input
 * that was wrong to begin with, or is of the target's class, is not stored. */
px_status px_pairs_put_attack(px_pairs *pairs, const px_attack_options *options,
                              const px_attack_made *made, px_error *err);
/* The same of px_synthesize(), which does not tell confidences. */
px_status px_pairs_put_synthesis(px_pairs *pairs, const px_synthesis_options *options,
                                 const px_synthesis_made *made, double confidence_before,
                                 double confidence, px_error *err);
/* Writes the first k neurons of every class into the campaign's table. */
px_status px_pairs_put_neurons(px_pairs *pairs, const px_suspicious *suspects, int64_t k,
                               px_error *err);
/* Notes what was run (NaN: seconds that are not to be told), and commits. */
px_status px_pairs_finish(px_pairs *pairs, const char *command, double seconds, px_error *err);

PX_END_DECLS

#endif
