/* include/internal/preprocess.h - <plexor/preprocess.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PREPROCESS_H
#define PXI_INTERNAL_PREPROCESS_H

#include <internal/field.h>
#include <plexor/preprocess.h>

PX_BEGIN_DECLS

PX_REGISTRY(pxi_preprocess_presets, px_preprocess_preset, px_preprocess_preset)
const px_preprocess_preset *px_preprocess_preset_named(const char *name); /* by an alias, too */

/* The numbers of a preset instead of those there are. */
void px_preprocess_set(px_preprocess *pre, const px_preprocess_preset *preset, bool is_8bit);

/* Changes the settings of audio features by an option text ("resample=1"); NULL: nothing. */
px_status px_preprocess_audio(px_preprocess *pre, const char *text, px_error *err);

/* Scale, mean, std and channel order: for settings of campaigns, where they say with which numbers
 * inputs were judged. */
extern const px_field px_preprocess_fields[];

/* A length in scaled units as pixel levels: 0.1 is 25.5 for 8-bit data at scale 1/255. */
double px_length_levels(const px_preprocess *pre, double length);

PX_END_DECLS
#endif
