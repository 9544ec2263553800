/* src/engine/session.c - one worker's private state for a plan */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"
#include "base/one_thread.h"
#include "engine/prim.h"

#include <internal/engine.h>
#include <internal/system.h>
#include <stdlib.h>
#include <string.h>

px_status px_session_new(const px_plan *plan, px_session **out, px_error *err)
{
    px_session *session = pxi_calloc(1, sizeof *session);
    px_status status = PX_OK;
    if (!session)
        return pxi_no_memory(err);
    if (px_cancelled()) { /* of a large network they take their time */
        free(session);
        return px_fail(err, PX_E_CANCELLED, "cancelled");
    }
    session->plan = plan;
    session->samples = plan->batch;
    session->at = -1;
    session->memory = pxi_alloc_aligned(plan->arena_bytes);
    session->states = pxi_calloc((size_t)plan->unit_count, sizeof *session->states);
    session->grad_set = pxi_calloc((size_t)plan->cell_count, sizeof *session->grad_set);
    if (!session->memory || !session->states || !session->grad_set) {
        status = pxi_no_memory_for(err, "a session of %zu MiB", plan->arena_bytes >> 20);
        goto done;
    }
    status = pxi_stream_new(&session->stream, err);
    memset(session->memory, 0, plan->arena_bytes); /* padding rows of a short batch are zeros */
    for (int u = 0; u < plan->unit_count && status == PX_OK; u++)
        if (plan->units[u].kind->attach)
            status =
                plan->units[u].kind->attach(&plan->units[u], session, &session->states[u], err);
done:
    return PX_GIVE(status, session, out, px_session_free);
}

void px_session_free(px_session *session)
{
    if (!session)
        return;
    for (int u = 0; session->states && u < session->plan->unit_count; u++)
        if (session->plan->units[u].kind->detach)
            session->plan->units[u].kind->detach(session->states[u]);
    pxi_stream_free(session->stream);
    free(session->states);
    free(session->grad_set);
    free(session->memory);
    free(session);
}

void *px_session_input(px_session *session, size_t feed)
{
    return feed < session->plan->feed_count ? pxi_cell_data(session, session->plan->feeds[feed])
                                            : NULL;
}

float *px_session_gate(px_session *session, size_t gate)
{
    return gate < session->plan->gate_count ? pxi_cell_data(session, session->plan->factors[gate])
                                            : NULL;
}

const float *px_session_gate_grad(const px_session *session, size_t gate)
{
    const px_plan *plan = session->plan;
    return gate < plan->gate_count && plan->cells[plan->factors[gate]].is_wrt
               ? pxi_cell_grad(session, plan->factors[gate])
               : NULL;
}

void px_session_draw(px_session *session, uint64_t seed, int64_t first, int64_t iteration)
{
    session->seed = seed;
    session->first = first;
    session->iteration = iteration;
}

void px_session_observe(px_session *session, px_observer observer, void *context)
{
    session->observer = observer;
    session->observer_context = context;
}

void pxi_cell_strides(const pxi_cell *cell, int64_t stride[PX_MAX_RANK])
{
    const px_shape *shape = &cell->tensor.shape;
    if (cell->layout == PXI_NHWC) {
        stride[0] = shape->dim[1] * pxi_shape_pixels(shape);
        stride[1] = 1;
        stride[shape->rank - 1] = shape->dim[1];
        if (shape->rank == 4)
            stride[2] = shape->dim[3] * shape->dim[1];
        return;
    }
    int64_t step = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape->dim[i];
    }
}

static px_view session_view(const px_session *session, int cell)
{
    const pxi_cell *c = &session->plan->cells[cell];
    px_view view = {.data = pxi_cell_data(session, cell), .shape = c->tensor.shape};
    pxi_cell_strides(c, view.stride);
    return view;
}

static px_status session_show(px_session *session, const int *cells, size_t count, px_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (cells[i] < 0 || !session->plan->cells[cells[i]].observed)
            continue;
        const px_view view = session_view(session, cells[i]);
        PX_TRY(session->observer(session->observer_context, session->plan->cells[cells[i]].value,
                                 &view, err));
    }
    return PX_OK;
}

static px_status session_unit_forward(px_session *session, int u, bool rest, px_error *err)
{
    const pxi_unit *unit = &session->plan->units[u];
    if (px_cancelled())
        return px_fail(err, PX_E_CANCELLED, "cancelled");
    if (rest)
        PX_TRY(unit->kind->forward_rest(unit, session, session->states[u], err));
    else if (unit->kind->forward)
        PX_TRY(unit->kind->forward(unit, session, session->states[u], err));
    if (session->observer && (rest || !unit->kind->meet))
        return session_show(session, unit->out, (size_t)unit->out_count, err);
    return PX_OK;
}

px_status pxi_session_forward_on(px_session *session, px_error *err)
{
    const px_plan *plan = session->plan;
    px_status status = PX_OK;
    int u = 0;
    if (session->at >= 0) {
        status = session_unit_forward(session, session->at, /* rest= */ true, err);
        u = session->at + 1;
    } else {
        session->wild = false;
        if (session->observer)
            status = session_show(session, plan->given, plan->given_count, err);
    }
    session->at = -1;
    for (; u < plan->unit_count && status == PX_OK && session->at < 0; u++) {
        status = session_unit_forward(session, u, /* rest= */ false, err);
        if (status == PX_OK && plan->units[u].kind->meet)
            session->at = u;
    }
    return status;
}

px_status px_session_forward(px_session *session, px_error *err)
{
    const int threads = pxi_one_thread_begin();
    session->at = -1;
    px_status status = pxi_session_forward_on(session, err);
    while (status == PX_OK && session->at >= 0) { /* it meets no one but itself */
        const pxi_unit *unit = &session->plan->units[session->at];
        unit->kind->meet(unit, &session->states[session->at], 1, /* backward= */ false);
        status = pxi_session_forward_on(session, err);
    }
    pxi_one_thread_end(threads);
    return status;
}

px_view px_session_view(const px_session *session, int value)
{
    const px_plan *plan = session->plan;
    if (value < 0 || value >= px_model_graph(plan->model)->value_count)
        return (px_view){0};
    const pxi_cell *cell = &plan->cells[value];
    if (cell->tensor.dtype != PX_FLOAT32 || (!cell->pinned && !cell->tensor.data))
        return (px_view){0};
    return session_view(session, value);
}

px_status px_session_read(const px_session *session, int value, int64_t samples, void *out,
                          px_error *err)
{
    const px_plan *plan = session->plan;
    const px_graph *graph = px_model_graph(plan->model);
    if (value < 0 || value >= graph->value_count)
        return px_fail(err, PX_E_USAGE, "there is no value %d, the graph has %d", value,
                       graph->value_count);
    const pxi_cell *cell = &plan->cells[value];
    if (!cell->pinned && !cell->tensor.data)
        return px_fail(err, PX_E_USAGE, "the plan does not keep the value '%s'",
                       graph->values[value].name);
    px_tensor t = {.dtype = cell->tensor.dtype, .shape = cell->tensor.shape};
    if (samples >= 0 && t.shape.rank > 0 && samples < t.shape.dim[0])
        t.shape.dim[0] = samples;
    if (cell->layout == PXI_PLAIN)
        memcpy(out, pxi_cell_data(session, value), px_tensor_bytes(&t));
    else
        pxi_copy_layout(&t, pxi_cell_data(session, value), out, /* to_nhwc= */ false);
    return PX_OK;
}

px_status px_session_seed_clear(px_session *session, px_error *err)
{
    (void)err;
    memset(session->grad_set, 0, (size_t)session->plan->cell_count * sizeof *session->grad_set);
    return PX_OK;
}

static px_place session_grad_place(const px_session *session, int value)
{
    const px_plan *plan = session->plan;
    const pxi_cell *cell = &plan->cells[value];
    px_place place = {.data = pxi_cell_grad(session, value), .shape = cell->tensor.shape};
    pxi_cell_strides(cell, place.stride);
    return place;
}

px_place px_session_seed(px_session *session, int value)
{
    const px_plan *plan = session->plan;
    if (value < 0 || value >= px_model_graph(plan->model)->value_count ||
        !plan->cells[value].is_seed || !pxi_cell_root(plan, value)->has_grad)
        return (px_place){0};
    const px_place place = session_grad_place(session, value);
    if (!pxi_grad_adds(session, value))
        memset(place.data, 0, px_tensor_bytes(&pxi_cell_root(plan, value)->tensor));
    return place;
}

static bool session_flows(const px_session *session, const pxi_unit *unit)
{
    for (int i = 0; unit->backward && i < unit->out_count; i++)
        if (unit->out[i] >= 0 && session->grad_set[session->plan->cells[unit->out[i]].root])
            return true;
    return false; /* nothing came back to this unit: it has nothing to add */
}

px_status pxi_session_backward_on(px_session *session, px_error *err)
{
    const px_plan *plan = session->plan;
    int u = plan->unit_count - 1;
    if (session->at >= 0) {
        const pxi_unit *unit = &plan->units[session->at];
        PX_TRY(unit->kind->backward_rest(unit, session, session->states[session->at], err));
        u = session->at - 1;
    }
    session->at = -1;
    for (; u >= 0; u--) {
        const pxi_unit *unit = &plan->units[u];
        if (!session_flows(session, unit))
            continue;
        if (px_cancelled())
            return px_fail(err, PX_E_CANCELLED, "cancelled");
        PX_TRY(unit->kind->backward(unit, session, session->states[u], err));
        if (unit->kind->meet) {
            session->at = u;
            return PX_OK;
        }
    }
    for (int c = 0; c < plan->cell_count; c++) { /* wanted, but no seed reached it: zero */
        const pxi_cell *cell = &plan->cells[c];
        if (cell->is_wrt && !session->grad_set[cell->root])
            memset(pxi_cell_grad(session, c), 0, px_tensor_bytes(&cell->tensor));
    }
    return PX_OK;
}

px_status px_session_backward(px_session *session, px_error *err)
{
    const int threads = pxi_one_thread_begin();
    session->at = -1;
    px_status status = pxi_session_backward_on(session, err);
    while (status == PX_OK && session->at >= 0) {
        const pxi_unit *unit = &session->plan->units[session->at];
        unit->kind->meet(unit, &session->states[session->at], 1, /* backward= */ true);
        status = pxi_session_backward_on(session, err);
    }
    pxi_one_thread_end(threads);
    return status;
}

px_view px_session_grad(const px_session *session, int value)
{
    const px_plan *plan = session->plan;
    if (value < 0 || value >= px_model_graph(plan->model)->value_count ||
        !plan->cells[value].is_wrt)
        return (px_view){0};
    const px_place place = session_grad_place(session, value);
    px_view view = {.data = place.data, .shape = place.shape};
    memcpy(view.stride, place.stride, sizeof view.stride);
    return view;
}
