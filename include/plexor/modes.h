/* include/plexor/modes.h - failure modes: which mutations, how strong, break which classes
 *
 *     px_mode *modes = NULL;
 *     size_t count = 0;
 *     PX_TRY(px_campaign_modes(campaign, &modes, &count, err));    // by mutation, band and class
 *     count = px_modes_rank(modes, count);                         // over all classes, worst first
 *     printf("%s: %.0f%% of tries fail", px_mode_text(&modes[0], text), 100 * px_mode_rate(...));
 *
 * A try is a mutant that the network judged. It counts for its last mutation, the one that was
 * added to an input whose answer was right, and for the label of its seed.
 */
#ifndef PLEXOR_MODES_H
#define PLEXOR_MODES_H

#include <plexor/json.h>
#include <plexor/store.h>

PX_BEGIN_DECLS

typedef struct px_mode {
    const px_mutation *mutation;
    int band;      /* of px_drawn_band() */
    int64_t label; /* of the seed; -1: all of them together */
    int64_t tries, faults;
    int64_t close; /* of the faults, those that are close to their originals */
} px_mode;

PX_API double px_mode_rate(const px_mode *mode); /* faults / tries; NaN without tries */
/* "rotation beyond 40 degrees" */
PX_API const char *px_mode_text(const px_mode *mode, char buffer[PX_BAND_TEXT]);

/* Into the batch, in place of what was there for that mutation, band and label. */
PX_API px_status px_campaign_put_mode(px_campaign *campaign, const px_mode *mode, px_error *err);
/* All of them, by mutation, band and label; the caller frees *out. None: the campaign was not made
 * by mutations, or by an older plexor. */
PX_API px_status px_campaign_modes(px_campaign *campaign, px_mode **out, size_t *count,
                                   px_error *err);

/* Sums over labels, in place, and sorts: the highest rate first, of those with at least
 * PX_MODE_TRIES tries, then the others by tries. Returns how many are left. */
#define PX_MODE_TRIES 20 /* fewer say little about a rate */
PX_API size_t px_modes_rank(px_mode *modes, size_t count);

/* An array `modes` into an open object: a row per mutation and band as px_modes_rank() sorts them,
 * with `cells`, one per label that it was tried on. `modes` is as px_campaign_modes() gives it. */
PX_API px_status px_modes_json(const px_mode *modes, size_t count, px_json *json, px_error *err);

PX_END_DECLS
#endif
