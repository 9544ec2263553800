/* include/internal/closeness.h - <plexor/closeness.h>, and what only plexor itself uses of it
 *
 *     px_closeness near;
 *     PX_TRY(px_closeness_measure(links, count, &shape, PX_UINT8, original, changed, &near, err));
 *     if (px_is_close(&near)) ...                  // a person would still see the same in it
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_CLOSENESS_H
#define PXI_INTERNAL_CLOSENESS_H

#include <plexor/closeness.h>

PX_BEGIN_DECLS

bool px_is_close(const px_closeness *closeness); /* false where it is not known */

/* For sorting: below 0 where `a` is nearer than `b`, which those that are close are; then by
 * similarity times inside, in hundredths: what resampling alone decides is no order. */
int px_closeness_compare(const px_closeness *a, const px_closeness *b);

/* `links` is how `changed` came from `original`, as px_chain_parse() gives it; only those that move
 * content are looked at, and none is fine. Both are planes of `shape` [C,H,W] in type `dtype`,
 * PX_UINT8 or PX_FLOAT32. Recordings are compared by their features. Any number of threads; memory
 * is taken for the call only. The result depends on nothing but the arguments. */
px_status px_closeness_measure(const px_drawn *links, size_t count, const px_shape *shape,
                               px_dtype dtype, const void *original, const void *changed,
                               px_closeness *out, px_error *err);

PX_END_DECLS
#endif
