/* include/internal/cover.h - <plexor/cover.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_COVER_H
#define PXI_INTERNAL_COVER_H

#include <plexor/cover.h>

PX_BEGIN_DECLS

/* Writes an array PREFIX/NAME; 8-byte types and below, row-major. */
px_status px_npz_put(px_npz_writer *to, const char *prefix, const char *name, px_dtype dtype,
                     const px_shape *shape, const void *values, px_error *err);

/* The array PREFIX/NAME if it has this type and shape (dimensions of -1: any); PX_E_INPUT else.
 * `found` (may be NULL) gets its shape. The values are borrowed from the file. */
px_status px_npz_take(const px_npz *from, const char *prefix, const char *name, px_dtype dtype,
                      const px_shape *shape, const void **values, px_shape *found, px_error *err);

/* px_entry_configure() for a criterion, with what the preset (NULL: none) says before the texts. */
px_status px_criterion_configure(const px_criterion *criterion, const char *preset,
                                 const char *const *texts, size_t text_count, void **out,
                                 px_error *err);

const px_extractor *px_cover_extractor(const px_cover *cover, size_t i); /* NULL: a file's */

void *px_cover_state(const px_cover *cover, size_t i);

int64_t px_cover_rejected(const px_cover *cover, size_t i);

/* The growth curve of the last run. Borrowed until the next one. */
const px_cover_point *px_cover_curve(const px_cover *cover, size_t *count);

/* Writes it as a table (.csv) or a chart (.svg), by the end of the name; the other tells
 * beforehand whether that is one of them. */
px_status px_cover_save_curve(const px_cover *cover, const char *path, px_error *err);

px_status px_cover_curve_check(const char *path, px_error *err);

/* The caller ends *out with px_cover_gaps_free(), before the cover; NULL where *count is 0. */
px_status px_cover_gaps(px_cover *cover, px_cover_gap **out, size_t *count, px_error *err);

void px_cover_gaps_free(px_cover_gap *gaps, size_t count);

const int *px_cover_keep_values(const px_cover *cover, size_t *count); /* with the scores */

PX_END_DECLS
#endif
