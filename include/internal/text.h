/* include/internal/text.h - <plexor/text.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_TEXT_H
#define PXI_INTERNAL_TEXT_H

#include <plexor/text.h>

PX_BEGIN_DECLS

/* Writes it to a file, which appears whole or not at all. */
px_status px_text_save(const px_text *text, const char *path, px_error *err);

const char *px_real_text(double value, char buffer[PX_REAL_TEXT]);

const char *px_number_text(int64_t value, char buffer[PX_NUMBER_TEXT]);

/* The nearest of the names, if it is near enough to be a slip of the hand; NULL otherwise. Names of
 * more than 31 bytes are near nothing. */
const char *px_nearest_word(const char *word, const char *const *names, size_t count);

PX_END_DECLS
#endif
