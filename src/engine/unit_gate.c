/* src/engine/unit_gate.c - a value multiplied by a factor per sample and channel
 *
 * y = x * m, m being [samples][channels]; dx = dy * m and dm = the sum of dy * x over the places of
 * a channel, in double. Cells: in[0] x, in[1] m; out[0] y.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "engine/plan.h"

#include "base/wide.h"

#include <string.h>

typedef struct gate_impl {
    size_t samples, outer, channels, inner; /* as x lies in memory, row-major */
} gate_impl;

/* The extents before and behind the gate's axis, in the order in which the cell has its axes. */
static gate_impl gate_extents(const pxi_cell *cell, int axis)
{
    const px_shape *shape = &cell->tensor.shape;
    gate_impl made = {.samples = (size_t)shape->dim[0],
                      .outer = 1,
                      .channels = (size_t)shape->dim[axis],
                      .inner = 1};
    int64_t stride[PX_MAX_RANK];
    pxi_cell_strides(cell, stride);
    for (int d = 1; d < shape->rank; d++)
        if (d != axis)
            *(stride[d] > stride[axis] ? &made.outer : &made.inner) *= (size_t)shape->dim[d];
    return made;
}

/* What the units before made under the name of the value becomes a cell of its own. */
static int gate_split(px_plan *plan, int value)
{
    pxi_cell raw = plan->cells[value];
    const int made = plan->cell_count;
    raw.value = -1;
    raw.gate = 0;
    raw.pinned = raw.observed = raw.is_wrt = raw.is_seed = false;
    raw.root = raw.root == value ? made : raw.root;
    if (pxi_plan_add_cell(plan, raw) < 0)
        return -1;
    for (int c = 0; c < made; c++) {
        pxi_cell *cell = &plan->cells[c];
        cell->root = cell->root == value ? made : cell->root;
        cell->twin = cell->twin == value ? made : cell->twin;
    }
    plan->cells[value].root = value;
    plan->cells[value].twin = -1;
    for (int u = 0; u < plan->unit_count; u++)
        for (int i = 0; i < plan->units[u].out_count; i++)
            if (plan->units[u].out[i] == value)
                plan->units[u].out[i] = made;
    return made;
}

px_status pxi_emit_gate(px_plan *plan, int step, int value, px_error *err)
{
    const int gate = plan->cells[value].gate - 1, raw = gate_split(plan, value);
    pxi_unit *unit = pxi_plan_add_unit(plan, &pxi_unit_gate, step, 2, 1);
    gate_impl *impl = pxi_arena_alloc(plan->arena, 1, sizeof *impl);
    if (raw < 0 || !unit || !impl)
        return pxi_no_memory(err);
    *impl = gate_extents(&plan->cells[value], plan->gates[gate].axis);
    unit->in[0] = raw;
    unit->in[1] = plan->factors[gate];
    unit->out[0] = value;
    unit->impl = impl;
    unit->kernel = "gate";
    unit->flops = px_shape_count(&plan->cells[value].tensor.shape);
    return PX_OK;
}

static px_status gate_build(px_plan *plan, pxi_unit *unit, px_error *err)
{
    (void)err;
    const gate_impl *impl = unit->impl;
    unit->backward_reads_in = true;
    unit->scratch_bytes =
        pxi_cell_wants_grad(plan, unit->in[1]) ? impl->channels * sizeof(double) : 0;
    return PX_OK;
}

/* y (+)= x * m of one sample. */
PXI_WIDE static void gate_multiply(const gate_impl *impl, const float *x, const float *m, float *y,
                                   bool adds)
{
    const size_t channels = impl->channels, inner = impl->inner;
    for (size_t o = 0; o < impl->outer; o++, x += channels * inner, y += channels * inner) {
        if (inner == 1) {
            for (size_t c = 0; c < channels; c++)
                y[c] = (adds ? y[c] : 0.0f) + x[c] * m[c];
            continue;
        }
        for (size_t c = 0; c < channels; c++)
            for (size_t i = 0; i < inner; i++)
                y[c * inner + i] = (adds ? y[c * inner + i] : 0.0f) + x[c * inner + i] * m[c];
    }
}

/* sums[c] = the sum of dy * x over the places of channel c of one sample. */
PXI_WIDE static void gate_sum(const gate_impl *impl, const float *x, const float *dy, double *sums)
{
    const size_t channels = impl->channels, inner = impl->inner;
    memset(sums, 0, channels * sizeof *sums);
    for (size_t o = 0; o < impl->outer; o++, x += channels * inner, dy += channels * inner) {
        if (inner == 1) {
            for (size_t c = 0; c < channels; c++)
                sums[c] += (double)x[c] * (double)dy[c];
            continue;
        }
        for (size_t c = 0; c < channels; c++)
            for (size_t i = 0; i < inner; i++)
                sums[c] += (double)x[c * inner + i] * (double)dy[c * inner + i];
    }
}

static px_status gate_forward(const pxi_unit *unit, px_session *session, void *state, px_error *err)
{
    (void)state, (void)err;
    const gate_impl *impl = unit->impl;
    const size_t size = impl->outer * impl->channels * impl->inner;
    const float *x = pxi_cell_data(session, unit->in[0]), *m = pxi_cell_data(session, unit->in[1]);
    float *y = pxi_cell_data(session, unit->out[0]);
    for (size_t n = 0; n < impl->samples; n++)
        gate_multiply(impl, x + n * size, m + n * impl->channels, y + n * size, /* adds= */ false);
    return PX_OK;
}

static px_status gate_backward(const pxi_unit *unit, px_session *session, void *state,
                               px_error *err)
{
    (void)state, (void)err;
    const gate_impl *impl = unit->impl;
    const size_t channels = impl->channels, size = impl->outer * channels * impl->inner;
    const float *x = pxi_cell_data(session, unit->in[0]), *m = pxi_cell_data(session, unit->in[1]);
    const float *dy = pxi_cell_grad(session, unit->out[0]);
    if (pxi_cell_wants_grad(session->plan, unit->in[1])) {
        double *sums = pxi_session_scratch(session);
        float *dm = pxi_cell_grad(session, unit->in[1]);
        pxi_grad_adds(session, unit->in[1]); /* a factor has one reader */
        for (size_t n = 0; n < impl->samples; n++) {
            gate_sum(impl, x + n * size, dy + n * size, sums);
            for (size_t c = 0; c < channels; c++)
                dm[n * channels + c] = (float)sums[c];
        }
    }
    if (pxi_cell_wants_grad(session->plan, unit->in[0])) {
        const bool adds = pxi_grad_adds(session, unit->in[0]);
        float *dx = pxi_cell_grad(session, unit->in[0]);
        for (size_t n = 0; n < impl->samples; n++)
            gate_multiply(impl, dy + n * size, m + n * channels, dx + n * size, adds);
    }
    return PX_OK;
}

const pxi_unit_kind pxi_unit_gate = {
    .name = "gate",
    .build = gate_build,
    .forward = gate_forward,
    .backward = gate_backward,
};
