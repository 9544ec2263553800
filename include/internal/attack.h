/* include/internal/attack.h - <plexor/attack.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_ATTACK_H
#define PXI_INTERNAL_ATTACK_H

#include <plexor/attack.h>

PX_BEGIN_DECLS

/* "theta=1 gamma=0.1" of the method with those options; the caller frees it. */
px_status px_attack_settings_text(const px_attack_options *options, char **out, px_error *err);

/* The options with which it ran, complete. */
const px_attack_options *px_attack_used(const px_attack *attack);

/* Whether 8-bit pixels are what is stored. */
bool px_attack_rounds(const px_attack *attack);

PX_END_DECLS
#endif
