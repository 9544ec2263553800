/* src/ops/sequence.c - sequences of tensors, which are gone when a program is made
 *
 * A sequence is a list of values whose length is known. What makes one only notes them, and what
 * reads one becomes a node that reads the element: exporters write split, chunk, unbind and lists
 * in loops that way.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/program_internal.h"

#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

px_status pxi_program_sequence(program_builder *b, int value, const int *items, int64_t count,
                               px_error *err)
{
    int *kept = NULL;
    if (value < 0)
        return PX_OK;
    PX_TRY(PX_ARENA_NEW(kept, b->program->arena, count + 1, err));
    if (count > 0)
        memcpy(kept, items, (size_t)count * sizeof *kept);
    pxi_slot *slot = &b->program->slots[value];
    slot->tensor = (px_tensor){.dtype = PX_SEQUENCE, .shape = {.rank = 1, .dim = {count}}};
    slot->items = kept;
    return PX_OK;
}

px_status pxi_program_feed_sequence(program_builder *b, const pxi_feed *feed, px_error *err)
{
    const int64_t count = feed->tensor.shape.dim[0];
    const px_tensor *given = feed->tensor.data;
    int *items = NULL;
    PX_TRY(PX_ARENA_NEW(items, b->program->arena, count + 1, err));
    for (int64_t i = 0; i < count; i++)
        PX_TRY(pxi_program_constant(b, &given[i], &items[i], err));
    PX_TRY(pxi_program_sequence(b, feed->value, items, count, err));
    b->program->slots[feed->value].is_feed = true;
    return PX_OK;
}

/* --- reading a node -------------------------------------------------------------------------- */

typedef struct sequence_node {
    program_builder *b;
    const px_node *node;
    px_op_ctx ctx; /* for messages */
    int out;       /* output 0 */
} sequence_node;

static bool sequence_has(const sequence_node *s, int i)
{
    return i < s->node->input_count && s->node->inputs[i] >= 0;
}

static const pxi_slot *sequence_slot(const sequence_node *s, int i)
{
    return &s->b->program->slots[s->node->inputs[i]];
}

/* Input i, which must be a sequence. */
static px_status sequence_items(const sequence_node *s, int i, const int **items, int64_t *count,
                                px_error *err)
{
    if (!sequence_has(s, i) || sequence_slot(s, i)->tensor.dtype != PX_SEQUENCE)
        return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED,
                           "its input %d is no sequence whose length is known, which is not "
                           "supported",
                           i);
    *items = sequence_slot(s, i)->items;
    *count = sequence_slot(s, i)->tensor.shape.dim[0];
    return PX_OK;
}

/* Input i, a place in `count` entries; negative ones count from the end. */
static px_status sequence_place(const sequence_node *s, int i, int64_t count, int64_t *out,
                                px_error *err)
{
    const px_tensor *t = &sequence_slot(s, i)->tensor;
    if (!t->data || sequence_slot(s, i)->varies || (t->dtype != PX_INT64 && t->dtype != PX_INT32) ||
        px_shape_count(&t->shape) != 1)
        return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED,
                           "a place that is known at run time only is not supported");
    *out = t->dtype == PX_INT64 ? *(const int64_t *)t->data : *(const int32_t *)t->data;
    const int64_t at = *out;
    *out += at < 0 ? count : 0;
    if (*out < 0 || *out >= count)
        return pxi_op_fail(&s->ctx, err, PX_E_INPUT, "place %" PRId64 " is outside of %" PRId64, at,
                           count);
    return PX_OK;
}

static px_status sequence_room(const sequence_node *s, int64_t count, int **out, px_error *err)
{
    return PX_ARENA_NEW(*out, s->b->program->arena, count + 1, err);
}

/* --- operators ------------------------------------------------------------------------------- */

static px_status sequence_construct(const sequence_node *s, px_error *err)
{
    for (int i = 0; i < s->node->input_count; i++)
        if (!sequence_has(s, i) || sequence_slot(s, i)->tensor.dtype == PX_SEQUENCE)
            return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED,
                               "an element that is no tensor is not supported");
    return pxi_program_sequence(s->b, s->out, s->node->inputs, s->node->input_count, err);
}

static px_status sequence_empty(const sequence_node *s, px_error *err)
{
    return pxi_program_sequence(s->b, s->out, NULL, 0, err);
}

static px_status sequence_at(const sequence_node *s, px_error *err)
{
    const int *items = NULL;
    int64_t count = 0, at = 0;
    PX_TRY(sequence_items(s, 0, &items, &count, err));
    PX_TRY(sequence_place(s, 1, count, &at, err));
    return pxi_program_alias(s->b, items[at], s->out, err);
}

static px_status sequence_length(const sequence_node *s, px_error *err)
{
    const int *items = NULL;
    int64_t count = 0;
    int made = -1;
    PX_TRY(sequence_items(s, 0, &items, &count, err));
    PX_TRY(pxi_program_number(s->b, PX_INT64, count, &made, err));
    return pxi_program_alias(s->b, made, s->out, err);
}

static px_status sequence_insert(const sequence_node *s, px_error *err)
{
    const int *items = NULL;
    int64_t count = 0, at = 0;
    int *more = NULL;
    PX_TRY(sequence_items(s, 0, &items, &count, err));
    at = count;
    if (sequence_has(s, 2))
        PX_TRY(sequence_place(s, 2, count + 1, &at, err));
    PX_TRY(sequence_room(s, count + 1, &more, err));
    for (int64_t i = 0; i < count; i++)
        more[i < at ? i : i + 1] = items[i];
    more[at] = s->node->inputs[1];
    return pxi_program_sequence(s->b, s->out, more, count + 1, err);
}

static px_status sequence_erase(const sequence_node *s, px_error *err)
{
    const int *items = NULL;
    int64_t count = 0, at = 0;
    int *less = NULL;
    PX_TRY(sequence_items(s, 0, &items, &count, err));
    at = count - 1;
    if (sequence_has(s, 1) || count == 0)
        PX_TRY(sequence_place(s, 1, count, &at, err));
    PX_TRY(sequence_room(s, count, &less, err));
    for (int64_t i = 0; i < count - 1; i++)
        less[i] = items[i < at ? i : i + 1];
    return pxi_program_sequence(s->b, s->out, less, count - 1, err);
}

static px_status sequence_concat(const sequence_node *s, px_error *err)
{
    const int *items = NULL;
    int64_t count = 0;
    PX_TRY(sequence_items(s, 0, &items, &count, err));
    if (count == 0)
        return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED,
                           "joining the elements of an empty sequence is not supported");
    return pxi_program_join(s->b, s->node, items, (int)count, px_node_int(s->node, "axis", 0),
                            px_node_int(s->node, "new_axis", 0) != 0, s->out, err);
}

/* Where the parts of a split end: given, as long as each other, or one entry each. */
static px_status split_ends(const sequence_node *s, int64_t extent, const int64_t **ends,
                            int64_t *count, px_error *err)
{
    const px_tensor *split = sequence_has(s, 1) ? &sequence_slot(s, 1)->tensor : NULL;
    int64_t *made = NULL, each = 1;
    if (split && (!split->data || (split->dtype != PX_INT64 && split->dtype != PX_INT32)))
        return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED,
                           "lengths that are known at run time only are not supported");
    const bool listed = split && split->shape.rank == 1;
    if (split && !listed)
        each = split->dtype == PX_INT64 ? *(const int64_t *)split->data
                                        : *(const int32_t *)split->data;
    if (each < 1)
        return pxi_op_fail(&s->ctx, err, PX_E_INPUT, "splits into parts of %" PRId64, each);
    *count = listed ? px_shape_count(&split->shape) : (extent + each - 1) / each;
    PX_TRY(PX_ARENA_NEW(made, s->b->program->arena, *count + 1, err));
    int64_t end = 0;
    for (int64_t i = 0; i < *count; i++) {
        const int64_t part = !listed                    ? each
                             : split->dtype == PX_INT64 ? ((const int64_t *)split->data)[i]
                                                        : ((const int32_t *)split->data)[i];
        if (part < 0 || part > extent)
            return pxi_op_fail(&s->ctx, err, PX_E_INPUT, "splits off %" PRId64 " of %" PRId64, part,
                               extent);
        end = PX_MIN(end + part, extent);
        made[i] = end;
    }
    if (end != extent)
        return pxi_op_fail(&s->ctx, err, PX_E_INPUT, "splits %" PRId64 " of %" PRId64, end, extent);
    *ends = made;
    return PX_OK;
}

static px_status sequence_split(const sequence_node *s, px_error *err)
{
    const int64_t *ends = NULL;
    int64_t count = 0;
    int axis, *parts = NULL;
    if (!sequence_has(s, 0) || sequence_slot(s, 0)->tensor.dtype == PX_SEQUENCE)
        return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED, "splitting a sequence is not supported");
    const px_shape shape = sequence_slot(s, 0)->tensor.shape;
    PX_TRY(pxi_op_axis(&s->ctx, px_node_int(s->node, "axis", 0), shape.rank, &axis, err));
    PX_TRY(split_ends(s, shape.dim[axis], &ends, &count, err));
    PX_TRY(sequence_room(s, count, &parts, err));
    const bool keep = sequence_has(s, 1) || px_node_int(s->node, "keepdims", 1) != 0;
    for (int64_t i = 0; i < count; i++) {
        parts[i] = -1;
        if (!keep) {
            PX_TRY(pxi_program_entry(s->b, s->node, s->node->inputs[0], axis, i, &parts[i], err));
            continue;
        }
        int64_t *numbers = NULL;
        PX_TRY(PX_ARENA_NEW(numbers, s->b->program->arena, 3, err));
        numbers[0] = i > 0 ? ends[i - 1] : 0;
        numbers[1] = ends[i];
        numbers[2] = axis;
        const px_attr attrs[] = {
            {.name = "starts", .kind = PX_ATTR_INTS, .count = 1, .ints = numbers},
            {.name = "ends", .kind = PX_ATTR_INTS, .count = 1, .ints = numbers + 1},
            {.name = "axes", .kind = PX_ATTR_INTS, .count = 1, .ints = numbers + 2}};
        PX_TRY(
            pxi_program_emit(s->b, s->node, "Slice", s->node->inputs, 1, attrs, 3, &parts[i], err));
    }
    return pxi_program_sequence(s->b, s->out, parts, count, err);
}

/* The body once per element; other inputs are sequences as long, or tensors for all turns. */
static px_status sequence_map(const sequence_node *s, px_error *err)
{
    const px_attr *body = px_node_attr(s->node, "body");
    const int *items = NULL;
    int64_t count = 0;
    if (!body || body->kind != PX_ATTR_GRAPH)
        return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED,
                           "its body cannot be had; inside of "
                           "functions it is not supported");
    PX_TRY(sequence_items(s, 0, &items, &count, err));
    const int declared = (int)body->i, outputs = body->graph->output_count;
    if (body->graph->input_count - (int)body->count != declared || outputs < s->node->output_count)
        return pxi_op_fail(&s->ctx, err, PX_E_INPUT, "its body has other inputs or outputs");
    int *given = NULL, *results = NULL, *made = NULL;
    PX_TRY(sequence_room(s, declared, &given, err));
    PX_TRY(sequence_room(s, outputs, &results, err));
    PX_TRY(sequence_room(s, count * outputs, &made, err)); /* [output][turn] */
    for (int64_t t = 0; t < count; t++) {
        for (int i = 0; i < declared; i++) {
            const int value = s->node->inputs[i];
            given[i] = value;
            if (value < 0 || s->b->program->slots[value].tensor.dtype != PX_SEQUENCE)
                continue;
            const pxi_slot *slot = &s->b->program->slots[value];
            if (slot->tensor.shape.dim[0] != count)
                return pxi_op_fail(&s->ctx, err, PX_E_MISMATCH,
                                   "its sequences have %" PRId64 " and %" PRId64 " elements", count,
                                   slot->tensor.shape.dim[0]);
            given[i] = slot->items[t];
        }
        PX_TRY(pxi_program_inline(s->b, s->node, body, given, t, results, err));
        for (int i = 0; i < outputs; i++)
            made[i * count + t] = results[i];
    }
    for (int i = 0; i < s->node->output_count; i++)
        PX_TRY(pxi_program_sequence(s->b, s->node->outputs[i], made + i * count, count, err));
    return PX_OK;
}

/* Optional values that are there are what is in them; empty ones are known at once. */
static px_status optional_get(const sequence_node *s, px_error *err)
{
    if (!sequence_has(s, 0))
        return pxi_op_fail(&s->ctx, err, PX_E_UNSUPPORTED, "an empty optional is not supported");
    return pxi_program_alias(s->b, s->node->inputs[0], s->out, err);
}

static px_status optional_has(const sequence_node *s, px_error *err)
{
    int made = -1;
    PX_TRY(pxi_program_number(s->b, PX_BOOL, sequence_has(s, 0), &made, err));
    return pxi_program_alias(s->b, made, s->out, err);
}

px_status pxi_program_expand_sequence(program_builder *b, const px_node *node, px_error *err)
{
    static const struct {
        const char *type;
        int inputs; /* at least */
        px_status (*expand)(const sequence_node *s, px_error *err);
    } operators[] = {
        {"ConcatFromSequence", 1, sequence_concat},
        {"Optional", 0, optional_get},
        {"OptionalGetElement", 0, optional_get},
        {"OptionalHasElement", 0, optional_has},
        {"SequenceAt", 2, sequence_at},
        {"SequenceConstruct", 0, sequence_construct},
        {"SequenceEmpty", 0, sequence_empty},
        {"SequenceErase", 1, sequence_erase},
        {"SequenceInsert", 2, sequence_insert},
        {"SequenceLength", 1, sequence_length},
        {"SequenceMap", 1, sequence_map},
        {"SplitToSequence", 1, sequence_split},
    };
    const sequence_node s = {.b = b,
                             .node = node,
                             .ctx = {.node = node},
                             .out = node->output_count > 0 ? node->outputs[0] : -1};
    for (size_t i = 0; i < PX_LEN(operators); i++)
        if (strcmp(operators[i].type, node->type) == 0) {
            for (int k = 0; k < operators[i].inputs; k++)
                if (!sequence_has(&s, k))
                    return pxi_op_fail(&s.ctx, err, PX_E_INPUT, "lacks its input %d", k);
            return operators[i].expand(&s, err);
        }
    return pxi_op_fail(&s.ctx, err, PX_E_INTERNAL, "is said to be taken apart");
}
