/* src/probe/tokens.c - the residual stream, heads of attention, and what the classifier reads
 *
 * A residual sum is one of two tensors of one shape of which a normalisation over features reads
 * one (pre-norm: x + f(norm(x))) or the sum itself (post-norm: norm(x + f(x)), whose result is the
 * stream). A sum whose branch has a softmax is attention's and inside of a block; the others end
 * one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/tokens.h"

#include <string.h>

typedef struct token_finder {
    const pxi_anatomy *a;
    pxi_tokens *tokens;
    int *normed;  /* per value: 1 + the end of a normalisation that reads it; 0: none does */
    int *norm_of; /* per value: 1 + what was normalised to it; 0: it is no such end */
    int *seen, *stack;
    int stamp;
} token_finder;

static const px_node *token_node(const token_finder *f, int step)
{
    return f->a->program->steps[step].ctx.node;
}

static bool token_is(const token_finder *f, int step, const char *type)
{
    return step >= 0 && strcmp(token_node(f, step)->type, type) == 0;
}

static int token_maker(const token_finder *f, int value)
{
    return f->a->program->slots[value].producer;
}

static const px_shape *token_shape(const token_finder *f, int value)
{
    return &pxi_anatomy_tensor(f->a, value)->shape;
}

/* --- normalisations -------------------------------------------------------------------------- */

/* A step of this type that reads both values; -1. */
static int token_reader(const token_finder *f, int one, int other, const char *type)
{
    for (int u = f->a->use_start[one]; u < f->a->use_start[one + 1]; u++) {
        const int s = f->a->uses[u];
        const px_node *node = token_node(f, s);
        bool both = other < 0;
        for (int i = 0; i < node->input_count; i++)
            both = both || node->inputs[i] == other;
        if (both && token_is(f, s, type))
            return s;
    }
    return -1;
}

/* The end of one that exporters wrote out, x - mean, over the root of its square's mean; `mean` is
 * the step that begins it. -1: something else. */
static int norm_in_pieces(const token_finder *f, int x, int mean)
{
    const px_shape *shape = token_shape(f, x);
    const px_shape *row = token_shape(f, token_node(f, mean)->outputs[0]);
    if (row->rank != shape->rank || shape->rank < 2 || row->dim[shape->rank - 1] != 1 ||
        row->dim[0] != shape->dim[0])
        return -1;
    const int minus = token_reader(f, x, token_node(f, mean)->outputs[0], "Sub");
    if (minus < 0)
        return -1;
    const int centred = token_node(f, minus)->outputs[0];
    const int over = token_reader(f, centred, -1, "Div");
    if (over < 0 || token_node(f, over)->inputs[0] != centred ||
        !token_is(f, token_maker(f, token_node(f, over)->inputs[1]), "Sqrt"))
        return -1;
    int end = token_node(f, over)->outputs[0];
    for (int i = 0; i < 2; i++) { /* scale and bias */
        const int s = pxi_anatomy_only_use(f->a, end);
        if (s >= 0 && f->a->part[s] == PXI_PART_AFFINE)
            end = token_node(f, s)->outputs[0];
    }
    return end;
}

static void token_norms(token_finder *f)
{
    for (int s = 0; s < f->a->program->step_count; s++) {
        const px_node *node = token_node(f, s);
        const int x = node->input_count > 0 ? node->inputs[0] : -1;
        int end = -1;
        if (x < 0 || pxi_anatomy_constant(f->a, x) || node->outputs[0] < 0)
            continue;
        if (token_is(f, s, "LayerNormalization") || token_is(f, s, "RMSNormalization"))
            end = node->outputs[0];
        else if (token_is(f, s, "ReduceMean"))
            end = norm_in_pieces(f, x, s);
        if (end < 0)
            continue;
        f->normed[x] = end + 1;
        f->norm_of[end] = x + 1;
    }
}

/* --- the residual stream --------------------------------------------------------------------- */

/* Whether a softmax stands between `from` and what the stream was before. */
static bool token_attends(token_finder *f, int from, int before)
{
    int depth = 0;
    f->stamp++;
    f->seen[from] = f->stamp;
    f->stack[depth++] = from;
    while (depth > 0) {
        const int v = f->stack[--depth];
        const pxi_step *step = pxi_anatomy_maker(f->a, v);
        if (!step || v == before || f->tokens->role[v] != PXI_TOKEN_NONE)
            continue;
        if (pxi_anatomy_part(f->a, v) == PXI_PART_SOFTMAX ||
            strcmp(step->ctx.node->type, "Attention") == 0)
            return true;
        for (int i = 0, u; (u = pxi_anatomy_operand(f->a, step, i)) >= 0; i++)
            if (f->seen[u] != f->stamp) {
                f->seen[u] = f->stamp;
                f->stack[depth++] = u;
            }
    }
    return false;
}

static void token_streams(token_finder *f)
{
    bool any_block = false;
    for (int s = 0; s < f->a->program->step_count; s++) {
        const pxi_step *step = &f->a->program->steps[s];
        const int sum = step->ctx.node->outputs[0];
        const int one = pxi_anatomy_operand(f->a, step, 0),
                  two = pxi_anatomy_operand(f->a, step, 1);
        if (f->a->part[s] != PXI_PART_JOIN || sum < 0 || two < 0 || token_shape(f, sum)->rank < 3 ||
            !px_shape_equal(token_shape(f, one), token_shape(f, two)))
            continue;
        const bool pre = f->normed[one] || f->normed[two];
        if (!pre && !f->normed[sum])
            continue;
        const int stream = pre ? sum : f->normed[sum] - 1;
        /* The branch is deeper than what it is added to. */
        const bool first = f->a->depth[one] > f->a->depth[two];
        const bool attends = token_attends(f, first ? one : two, first ? two : one);
        f->tokens->role[stream] = attends ? PXI_TOKEN_STREAM : PXI_TOKEN_BLOCK;
        any_block = any_block || !attends;
    }
    for (int v = 0; v < f->a->graph->value_count && !any_block; v++)
        if (f->tokens->role[v] == PXI_TOKEN_STREAM)
            f->tokens->role[v] = PXI_TOKEN_BLOCK;
}

/* --- heads ----------------------------------------------------------------------------------- */

static void token_heads(token_finder *f)
{
    for (int s = 0; s < f->a->program->step_count; s++) {
        const pxi_step *step = &f->a->program->steps[s];
        const int out = step->ctx.node->outputs[0];
        if (out < 0 || token_shape(f, out)->rank < 3 || token_shape(f, out)->rank > 4)
            continue;
        if (token_is(f, s, "Attention") && token_shape(f, out)->rank == 4)
            f->tokens->role[out] = PXI_TOKEN_HEADS;
        if (!token_is(f, s, "MatMul") || pxi_anatomy_operand(f->a, step, 1) < 0)
            continue;
        int weights = pxi_anatomy_operand(f->a, step, 0);
        while (weights >= 0 && pxi_anatomy_part(f->a, weights) == PXI_PART_PASS)
            weights = pxi_anatomy_operand(f->a, pxi_anatomy_maker(f->a, weights), 0);
        if (weights >= 0 && pxi_anatomy_part(f->a, weights) == PXI_PART_SOFTMAX)
            f->tokens->role[out] = PXI_TOKEN_HEADS;
    }
}

/* --- what the classifier reads --------------------------------------------------------------- */

/* The token that a Gather or Slice takes: *place of *count. False: it takes something else. */
static bool token_taken(const token_finder *f, int step, int64_t *place, int64_t *count)
{
    const px_op_ctx *ctx = &f->a->program->steps[step].ctx;
    const px_shape *in = &ctx->in[0].shape, *out = &ctx->out[0].shape;
    if (token_is(f, step, "Gather")) {
        const px_tensor *index = &ctx->in[1];
        int64_t axis = px_node_int(ctx->node, "axis", 0);
        axis += axis < 0 ? in->rank : 0;
        if (!index->data || px_shape_count(&index->shape) != 1 || axis >= in->rank - 1 ||
            (index->dtype != PX_INT64 && index->dtype != PX_INT32))
            return false;
        *place = index->dtype == PX_INT64 ? *(const int64_t *)index->data
                                          : *(const int32_t *)index->data;
        *count = in->dim[axis];
        *place += *place < 0 ? *count : 0;
        return in->rank >= 3;
    }
    if (!token_is(f, step, "Slice") || in->rank < 3 || out->rank != in->rank)
        return false;
    int axis = -1;
    for (int d = 0; d < in->rank - 1; d++)
        if (in->dim[d] != out->dim[d])
            axis = axis < 0 && out->dim[d] == 1 ? d : in->rank;
    if (axis < 0 || axis == in->rank || ctx->in_count < 2 || !ctx->in[1].data ||
        px_shape_count(&ctx->in[1].shape) != 1 || ctx->in[1].dtype != PX_INT64)
        return false;
    *place = *(const int64_t *)ctx->in[1].data;
    *count = in->dim[axis];
    *place += *place < 0 ? *count : 0;
    return true;
}

static bool token_looks_through(pxi_part part)
{
    return part == PXI_PART_PASS || part == PXI_PART_AXES || part == PXI_PART_RESHAPE ||
           part == PXI_PART_POOL || part == PXI_PART_AFFINE || part == PXI_PART_POINTWISE ||
           part == PXI_PART_ACTIVATION || part == PXI_PART_LINEAR || part == PXI_PART_SOFTMAX;
}

/* Back from the class scores to the stream, past the head's own layers. */
static void token_head(token_finder *f, int scores)
{
    for (int v = scores; v >= 0 && f->tokens->role[v] == PXI_TOKEN_NONE;) {
        const pxi_step *step = pxi_anatomy_maker(f->a, v);
        const int s = token_maker(f, v);
        int64_t place, count;
        if (f->norm_of[v]) {
            f->tokens->role[v] = PXI_TOKEN_NORM;
            v = f->norm_of[v] - 1;
            continue;
        }
        if (!step)
            return;
        if (f->tokens->place < 0 && token_taken(f, s, &place, &count)) {
            f->tokens->role[v] = PXI_TOKEN_READ;
            f->tokens->place = place;
            f->tokens->count = count;
        } else if (!token_looks_through(f->a->part[s]) && !token_is(f, s, "Slice") &&
                   !token_is(f, s, "Gather")) {
            return;
        }
        if (pxi_anatomy_operand(f->a, step, 1) >= 0)
            return;
        v = pxi_anatomy_operand(f->a, step, 0);
    }
}

/* --- patches --------------------------------------------------------------------------------- */

/* What the last convolution before the stream makes of a picture. */
static void token_patches(token_finder *f)
{
    for (int s = 0; s < f->a->program->step_count; s++) {
        const int out = token_node(f, s)->outputs[0];
        if (out >= 0 && out < f->a->graph->value_count && f->tokens->role[out] != PXI_TOKEN_NONE)
            return;
        if (!token_is(f, s, "Conv") || out < 0 || token_shape(f, out)->rank != 4)
            continue;
        f->tokens->rows = token_shape(f, out)->dim[2];
        f->tokens->columns = token_shape(f, out)->dim[3];
    }
}

/* Without a stream there is no transformer, whatever else looks like a part of one. */
static void token_settle(token_finder *f)
{
    bool streams = false;
    for (int v = 0; v < f->a->graph->value_count; v++)
        streams = streams || f->tokens->role[v] == PXI_TOKEN_BLOCK;
    for (int v = 0; v < f->a->graph->value_count && !streams; v++)
        f->tokens->role[v] = PXI_TOKEN_NONE;
    if (!streams) {
        f->tokens->place = -1;
        f->tokens->rows = f->tokens->columns = 0;
    }
}

px_status pxi_tokens_find(const pxi_anatomy *anatomy, int scores, px_arena *arena, pxi_tokens *out,
                          px_error *err)
{
    token_finder f = {.a = anatomy, .tokens = out};
    const size_t values = (size_t)anatomy->graph->value_count;
    *out = (pxi_tokens){.place = -1};
    PX_TRY(PX_ARENA_NEW(out->role, arena, values, err));
    PX_TRY(PX_ARENA_NEW(f.normed, arena, values, err));
    PX_TRY(PX_ARENA_NEW(f.norm_of, arena, values, err));
    PX_TRY(PX_ARENA_NEW(f.seen, arena, values, err));
    PX_TRY(PX_ARENA_NEW(f.stack, arena, values, err));
    token_norms(&f);
    token_streams(&f);
    if (scores >= 0)
        token_head(&f, scores);
    token_heads(&f);
    token_patches(&f);
    token_settle(&f);
    return PX_OK;
}
