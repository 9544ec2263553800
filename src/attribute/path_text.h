/* src/attribute/path_text.h - the parts of a path's sentence */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTRIBUTE_PATH_TEXT_H
#define PXI_ATTRIBUTE_PATH_TEXT_H

#include <plexor/decision_path.h>

/* "orange regions, fine texture": of the critical units, of all units. */
px_status pxi_path_critical_words(const px_paths *paths, const px_path *path, bool repeat,
                                  px_text *out, px_error *err);
px_status pxi_path_all_words(const px_paths *paths, bool repeat, px_text *out, px_error *err);
/* "cat or dog" */
px_status pxi_path_classes(const px_path *path, const char *const *names, size_t name_count,
                           const px_path_words *words, px_text *out, px_error *err);
/* "a photo of a cat with fine texture"; either part may be NULL. */
px_status pxi_path_sentence(const char *classes, const char *descriptions, px_text *out,
                            px_error *err);

#endif
