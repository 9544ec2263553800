/* src/engine/view_row.c - one sample of a view, in logical order */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/view_row.h>

#include <string.h>

static bool row_is_dense(const px_view *view)
{
    int64_t stride = 1;
    for (int d = view->shape.rank - 1; d > 0; d--) {
        if (view->stride[d] != stride && view->shape.dim[d] != 1)
            return false;
        stride *= view->shape.dim[d];
    }
    return true;
}

void pxi_view_row(const px_view *view, int64_t row, float *out, size_t count)
{
    int64_t at[PX_MAX_RANK] = {0}, offset = row * view->stride[0];
    if (row_is_dense(view)) {
        memcpy(out, view->data + offset, count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = view->data[offset];
        for (int d = view->shape.rank - 1; d > 0; d--) {
            offset += view->stride[d];
            if (++at[d] < view->shape.dim[d])
                break;
            offset -= at[d] * view->stride[d];
            at[d] = 0;
        }
    }
}
