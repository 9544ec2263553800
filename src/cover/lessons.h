/* src/cover/lessons.h - what is to be learned, by key */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_LESSONS_H
#define PXI_COVER_LESSONS_H

#include <plexor/profile.h>

/* "ranges of tap=post neurons=chan layers=..."; the caller frees it. NULL: out of memory. */
char *pxi_lesson_key(const px_learner *learner, const px_extractor *extractor, const void *config);

#endif
