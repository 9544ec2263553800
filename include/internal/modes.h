/* include/internal/modes.h - <plexor/modes.h>, and what only plexor itself uses of it
 *
 *     px_modes modes;
 *     PX_TRY(px_modes_read(campaign, &modes, err));
 *     if (modes.count)
 *         printf("%s: %.0f%% of tries fail", px_mode_text(&modes.sums[0].all, text),
 *                100 * px_mode_rate(&modes.sums[0].all));
 *     px_modes_done(&modes);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_MODES_H
#define PXI_INTERNAL_MODES_H

#include <plexor/field.h>
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

typedef struct px_mode_sum { /* of a mutation and band over all labels */
    px_mode all;             /* with the label -1 */
    const px_mode *cells;    /* by label */
    size_t cell_count;
} px_mode_sum;

typedef struct px_modes { /* {0}: none */
    px_mode *cells;
    px_mode_sum *sums; /* the highest rate first, of those with at least PX_MODE_TRIES tries, then
                          the others by tries */
    size_t count;
} px_modes;
px_status px_modes_read(px_campaign *campaign, px_modes *out, px_error *err);
void px_modes_done(px_modes *modes);
extern const px_field px_modes_fields[];

PX_END_DECLS
#endif
