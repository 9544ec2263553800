/* src/engine/unit_copy.c - copies between the plain and the channels-last layout, and views */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/wide.h"

#include <string.h>

/* A picture of three planes, what most networks begin with. */
PXI_WIDE static void copy_interleave(const float *restrict from, float *restrict to, int64_t pixels)
{
    for (int64_t p = 0; p < pixels; p++) {
        to[3 * p] = from[p];
        to[3 * p + 1] = from[pixels + p];
        to[3 * p + 2] = from[2 * pixels + p];
    }
}

/* to[n][p][c] (+)= from[n][c][p]: blocks of 16 keep both sides within a few cache lines. */
static void copy_transpose(const float *from, float *to, int64_t batch, int64_t rows, int64_t cols,
                           bool adds)
{
    enum { BLOCK = 16 };
    for (int64_t n = 0; n < batch; n++, from += rows * cols, to += rows * cols) {
        if (rows == 3 && !adds) {
            copy_interleave(from, to, cols);
            continue;
        }
        for (int64_t r0 = 0; r0 < rows; r0 += BLOCK)
            for (int64_t c0 = 0; c0 < cols; c0 += BLOCK) {
                const int64_t r1 = r0 + BLOCK < rows ? r0 + BLOCK : rows;
                const int64_t c1 = c0 + BLOCK < cols ? c0 + BLOCK : cols;
                for (int64_t c = c0; c < c1; c++)
                    for (int64_t r = r0; r < r1; r++)
                        to[c * rows + r] = (adds ? to[c * rows + r] : 0.0f) + from[r * cols + c];
            }
    }
}

/* The same for elements of any type. */
static void copy_elements(const char *from, char *to, int64_t batch, int64_t rows, int64_t cols,
                          size_t size)
{
    for (int64_t n = 0; n < batch; n++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++)
                memcpy(to + (size_t)((n * cols + c) * rows + r) * size,
                       from + (size_t)((n * rows + r) * cols + c) * size, size);
}

void pxi_copy_layout(const px_tensor *tensor, const void *from, void *to, bool to_nhwc)
{
    const int64_t c = tensor->shape.dim[1], hw = pxi_shape_pixels(&tensor->shape);
    const int64_t rows = to_nhwc ? c : hw, cols = to_nhwc ? hw : c;
    if (tensor->dtype == PX_FLOAT32)
        copy_transpose(from, to, tensor->shape.dim[0], rows, cols, /* adds= */ false);
    else
        copy_elements(from, to, tensor->shape.dim[0], rows, cols, px_dtype_size(tensor->dtype));
}

static px_status copy_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)plan, (void)err;
    unit->kernel = "copy";
    return PX_OK;
}

static px_status copy_forward(const pxi_unit *unit, px_session *session, void *state, px_error *err)
{
    (void)state, (void)err;
    const pxi_cell *from = &session->plan->cells[unit->in[0]];
    pxi_copy_layout(&from->tensor, pxi_cell_data(session, unit->in[0]),
                    pxi_cell_data(session, unit->out[0]), from->layout == PXI_PLAIN);
    return PX_OK;
}

static px_status copy_backward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    (void)state, (void)err;
    const pxi_cell *from = &session->plan->cells[unit->out[0]];
    const px_shape *s = &from->tensor.shape;
    const int64_t c = s->dim[1], hw = pxi_shape_pixels(s);
    const bool to_nhwc = from->layout == PXI_PLAIN;
    copy_transpose(pxi_cell_grad(session, unit->out[0]), pxi_cell_grad(session, unit->in[0]),
                   s->dim[0], to_nhwc ? c : hw, to_nhwc ? hw : c,
                   pxi_grad_adds(session, unit->in[0]));
    return PX_OK;
}

const pxi_unit_kind pxi_unit_copy = {
    .name = "copy",
    .build = copy_build,
    .bound = pxi_bound_same,
    .forward = copy_forward,
    .backward = copy_backward,
};

/* A view computes nothing; the unit exists only so that an observed alias is shown in its place. */
static px_status view_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)plan, (void)err;
    unit->kernel = "view";
    return PX_OK;
}

const pxi_unit_kind pxi_unit_view = {
    .name = "view",
    .build = view_build,
    .bound = pxi_bound_same,
};
