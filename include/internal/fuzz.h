/* include/internal/fuzz.h - <plexor/fuzz.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_FUZZ_H
#define PXI_INTERNAL_FUZZ_H

#include <plexor/fuzz.h>

PX_BEGIN_DECLS

extern const px_param px_fuzz_common_params[]; /* that every engine has */

/* "nsgen", or what the mode leaves out: "nsgen-label-only". */
const char *px_fuzz_paths_name(px_path_mode mode);

/* PX_E_USAGE, naming them; false, with PX_OK, for a text that does not begin with "nsgen". */
px_status px_fuzz_paths_parse(const char *guide, bool *is, px_path_mode *mode, px_error *err);

/* The profile that the campaign keeps, so that going on never needs the training data; the caller
 * owns it. *out is NULL where there is none. */
px_status px_fuzz_profile_load(px_campaign *campaign, px_profile **out, px_error *err);

PX_END_DECLS
#endif
