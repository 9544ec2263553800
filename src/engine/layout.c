/* src/engine/layout.c - which cells have gradients, and where everything lies in a session's memory
 *
 * Time: unit u runs forward at time u and backward at 2U - u, where U is the number of units. A
 * piece of memory is in use from its first to its last such time; pieces whose times overlap get
 * different places, largest first.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static px_status gradients_forward(px_plan *plan, px_error *err)
{
    for (int c = 0; c < plan->cell_count; c++)
        if (plan->cells[c].is_wrt) {
            if (plan->cells[c].tensor.dtype != PX_FLOAT32)
                return px_fail(err, PX_E_USAGE,
                               "a gradient with respect to %s values is not possible",
                               px_dtype_name(plan->cells[c].tensor.dtype));
            plan->cells[plan->cells[c].root].depends = true;
        }
    for (int u = 0; u < plan->unit_count; u++) {
        const pxi_unit *unit = &plan->units[u];
        bool depends = false;
        for (int i = 0; i < unit->in_count; i++)
            depends = depends || (unit->in[i] >= 0 && pxi_cell_root(plan, unit->in[i])->depends);
        if (!depends || (unit->kind == &pxi_unit_plain &&
                         plan->program->steps[unit->step].op->diff == PX_DIFF_ZERO))
            continue;
        for (int i = 0; i < unit->out_count; i++)
            if (unit->out[i] >= 0 && plan->cells[unit->out[i]].tensor.dtype == PX_FLOAT32)
                plan->cells[plan->cells[unit->out[i]].root].depends = true;
    }
    return PX_OK;
}

static px_status gradients_backward(px_plan *plan, px_error *err)
{
    for (int c = 0; c < plan->cell_count; c++)
        if (plan->cells[c].is_seed)
            plan->cells[plan->cells[c].root].reached = true;
    for (int u = plan->unit_count - 1; u >= 0; u--) {
        pxi_unit *unit = &plan->units[u];
        if (unit->kind == &pxi_unit_view)
            continue;
        bool flows = false;
        for (int i = 0; i < unit->out_count; i++) {
            const pxi_cell *root = unit->out[i] < 0 ? NULL : pxi_cell_root(plan, unit->out[i]);
            flows = flows || (root && root->reached && root->depends);
        }
        for (int i = 0; flows && i < unit->in_count; i++) {
            pxi_cell *root = unit->in[i] < 0 ? NULL : &plan->cells[plan->cells[unit->in[i]].root];
            if (!root || !root->depends)
                continue;
            if (unit->kind == &pxi_unit_plain) {
                const pxi_step *step = &plan->program->steps[unit->step];
                if (step->op->diff != PX_DIFF_YES)
                    return pxi_op_fail(&step->ctx, err, PX_E_UNSUPPORTED,
                                       "is not differentiable, and the gradient has to pass it");
            }
            root->reached = true;
            unit->backward = true;
        }
    }
    return PX_OK;
}

px_status pxi_plan_gradients(px_plan *plan, px_error *err)
{
    PX_TRY(gradients_forward(plan, err));
    PX_TRY(gradients_backward(plan, err));
    for (int c = 0; c < plan->cell_count; c++) {
        pxi_cell *cell = &plan->cells[c], *root = &plan->cells[cell->root];
        if (cell->is_wrt || cell->is_seed || (root->reached && root->depends))
            root->has_grad = true;
    }
    return PX_OK;
}

static void span_include(pxi_span *span, int time)
{
    span->first = PX_MIN(span->first, time);
    span->last = PX_MAX(span->last, time);
}

static void memory_find_spans(px_plan *plan)
{
    const int units = plan->unit_count, end = 2 * units + 1;
    for (int c = 0; c < plan->cell_count; c++) {
        pxi_cell *cell = &plan->cells[c];
        cell->span = cell->grad_span = (pxi_span){.first = end + 1, .last = -1};
    }
    for (int c = 0; c < plan->cell_count; c++) {
        pxi_cell *cell = &plan->cells[c], *root = &plan->cells[cell->root];
        if (cell->root == c) {
            cell->span.bytes = cell->tensor.data ? 0 : px_tensor_bytes(&cell->tensor);
            cell->grad_span.bytes = cell->has_grad ? px_tensor_bytes(&cell->tensor) : 0;
        }
        if (cell->pinned)
            span_include(&root->span, end);
        if (cell->is_seed)
            span_include(&root->grad_span, units);
        if (cell->is_wrt)
            span_include(&root->grad_span, end);
    }
    for (size_t i = 0; i < plan->feed_count; i++)
        span_include(&plan->cells[plan->cells[plan->feeds[i]].root].span, 0);
    for (size_t i = 0; i < plan->gate_count; i++)
        span_include(&plan->cells[plan->factors[i]].span, 0);
    for (int u = 0; u < units; u++) {
        pxi_unit *unit = &plan->units[u];
        const int back = 2 * units - u;
        const int read = plan->repeat ? end : back; /* what backward reads stays so long */
        for (int side = 0; side < 2; side++) {
            const int count = side ? unit->out_count : unit->in_count;
            const int *cells = side ? unit->out : unit->in;
            const bool kept = side ? unit->backward_reads_out : unit->backward_reads_in;
            for (int i = 0; i < count; i++) {
                if (cells[i] < 0)
                    continue;
                pxi_cell *root = &plan->cells[plan->cells[cells[i]].root];
                span_include(&root->span, u);
                if (unit->backward && kept)
                    span_include(&root->span, read);
                if (unit->backward && root->has_grad)
                    span_include(&root->grad_span, back);
            }
        }
        unit->saved.first = u;
        unit->saved.last = unit->backward ? read : u;
    }
}

/* Where a unit's result may take over the memory of an input that dies there (a residual that a
 * convolution adds to in place), the two spans become one. */
static void memory_join_donors(px_plan *plan)
{
    for (int u = 0; u < plan->unit_count; u++) {
        const pxi_unit *unit = &plan->units[u];
        if (unit->donor < 0)
            continue;
        pxi_cell *donor = &plan->cells[plan->cells[unit->donor].root];
        pxi_cell *out = &plan->cells[plan->cells[unit->out[0]].root];
        if (donor == out || donor->tensor.data || donor->span.last != u || out->span.first != u ||
            donor->span.bytes != out->span.bytes)
            continue;
        pxi_span *place = donor->span.heir_of ? donor->span.heir_of : &donor->span;
        place->last = PX_MAX(place->last, out->span.last);
        out->span.heir_of = place;
    }
}

static int memory_by_size(const void *a, const void *b)
{
    const pxi_span *x = *(pxi_span *const *)a, *y = *(pxi_span *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1)
                                : (x->last > y->last) - (x->last < y->last);
}

static size_t memory_align(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

typedef struct memory_block { /* a span that has its place */
    size_t offset, end;
    int first, last;
} memory_block;

/* Places spans largest first, each in the lowest gap between those it overlaps in time. */
static px_status memory_place(pxi_span **spans, size_t count, size_t *total, px_error *err)
{
    memory_block *blocks = pxi_calloc(count, sizeof *blocks); /* by offset */
    if (!blocks)
        return pxi_no_memory(err);
    qsort(spans, count, sizeof *spans, memory_by_size);
    for (size_t i = 0; i < count; i++) {
        pxi_span *span = spans[i];
        const size_t bytes = memory_align(span->bytes);
        size_t offset = 0;
        for (size_t k = 0; k < i && blocks[k].offset < offset + bytes; k++)
            if (blocks[k].first <= span->last && span->first <= blocks[k].last)
                offset = PX_MAX(offset, blocks[k].end);
        span->offset = offset;
        *total = PX_MAX(*total, offset + bytes);
        size_t at = i;
        while (at > 0 && blocks[at - 1].offset > offset)
            at--;
        memmove(&blocks[at + 1], &blocks[at], (i - at) * sizeof *blocks);
        blocks[at] = (memory_block){offset, offset + bytes, span->first, span->last};
    }
    free(blocks);
    return PX_OK;
}

px_status pxi_plan_memory(px_plan *plan, px_error *err)
{
    memory_find_spans(plan);
    memory_join_donors(plan);
    const size_t most = 2 * (size_t)plan->cell_count + (size_t)plan->unit_count;
    pxi_span **spans = NULL;
    PX_TRY(PX_NEW(spans, most, err));
    size_t count = 0, scratch = 0, sum = 0;
    for (int c = 0; c < plan->cell_count; c++) {
        pxi_cell *cell = &plan->cells[c];
        if (cell->root != c)
            continue;
        if (cell->span.bytes && cell->span.last >= cell->span.first && !cell->span.heir_of)
            spans[count++] = &cell->span;
        if (cell->grad_span.bytes && cell->grad_span.last >= cell->grad_span.first)
            spans[count++] = &cell->grad_span;
    }
    for (int u = 0; u < plan->unit_count; u++) {
        if (plan->units[u].saved.bytes)
            spans[count++] = &plan->units[u].saved;
        scratch = PX_MAX(scratch, plan->units[u].scratch_bytes);
    }
    px_status status = PX_OK;
    for (size_t i = 0; i < count && status == PX_OK; i++)
        if (__builtin_add_overflow(sum, spans[i]->bytes, &sum) || sum > SIZE_MAX / 4)
            status = px_fail(err, PX_E_UNSUPPORTED, "the network's tensors do not fit memory");
    PX_THEN(status, memory_place(spans, count, &plan->scratch_offset, err));
    free(spans);
    for (int c = 0; c < plan->cell_count; c++)
        if (plan->cells[c].span.heir_of)
            plan->cells[c].span.offset = plan->cells[c].span.heir_of->offset;
    /* Vector loops may read one cache line past a tensor's end. */
    plan->arena_bytes = plan->scratch_offset + memory_align(scratch) + 64;
    return status;
}
