/* include/internal/view_row.h - one sample of a view, in logical order */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_VIEW_ROW_H
#define PXI_INTERNAL_VIEW_ROW_H

#include <plexor/engine.h>

/* `count` is the number of values of one sample. */
void pxi_view_row(const px_view *view, int64_t row, float *out, size_t count);

#endif
