/* include/internal/modes.h - <plexor/modes.h>, and what only plexor itself uses of it
 *
 *     px_mode *modes = NULL;
 *     size_t count = 0;
 *     PX_TRY(px_campaign_modes(campaign, &modes, &count, err));    // by mutation, band and class
 *     count = px_modes_rank(modes, count);                         // over all classes, worst first
 *     printf("%s: %.0f%% of tries fail", px_mode_text(&modes[0], text),
 *            100 * px_mode_rate(&modes[0]));
 */
#ifndef PXI_INTERNAL_MODES_H
#define PXI_INTERNAL_MODES_H

#include <plexor/modes.h>

PX_BEGIN_DECLS

double px_mode_rate(const px_mode *mode); /* faults / tries; NaN without tries */

/* "rotation beyond 40 degrees" */
const char *px_mode_text(const px_mode *mode, char buffer[PX_BAND_TEXT]);

/* Into the batch, in place of what was there for that mutation, band and label. */
px_status px_campaign_put_mode(px_campaign *campaign, const px_mode *mode, px_error *err);

/* All of them, by mutation, band and label; the caller frees *out. None: the campaign was not made
 * by mutations, or by an older plexor. */
px_status px_campaign_modes(px_campaign *campaign, px_mode **out, size_t *count, px_error *err);

size_t px_modes_rank(px_mode *modes, size_t count);

/* An array `modes` into an open object: a row per mutation and band as px_modes_rank() sorts them,
 * with `cells`, one per label that it was tried on. `modes` is as px_campaign_modes() gives it. */
px_status px_modes_json(const px_mode *modes, size_t count, px_json *json, px_error *err);

PX_END_DECLS
#endif
