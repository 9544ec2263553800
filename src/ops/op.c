/* src/ops/op.c - the operator table and what operator files share */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/op.h>

#include "ops/op_list_math.h"
#include "ops/op_list_nn.h"
#include "ops/op_list_shape.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OP_DECLARE(id) extern const px_op px_op_##id;
PXI_OPS_MATH(OP_DECLARE)
PXI_OPS_NN(OP_DECLARE)
PXI_OPS_SHAPE(OP_DECLARE)

/* Those that a program takes apart (unroll.c, sequence.c): all there is is that they are there. */
#define EXPANDS(id, NAME, SINCE) \
    const px_op px_op_##id = {   \
        .name = NAME,            \
        .since = SINCE,          \
        .diff = PX_DIFF_YES,     \
        .expands = true,         \
    };

EXPANDS(if_1, "If", 1)
EXPANDS(loop_1, "Loop", 1)
EXPANDS(scan_9, "Scan", 9)
EXPANDS(concatfromsequence_11, "ConcatFromSequence", 11)
EXPANDS(optional_15, "Optional", 15)
EXPANDS(optionalgetelement_15, "OptionalGetElement", 15)
EXPANDS(optionalhaselement_15, "OptionalHasElement", 15)
EXPANDS(sequenceat_11, "SequenceAt", 11)
EXPANDS(sequenceconstruct_11, "SequenceConstruct", 11)
EXPANDS(sequenceempty_11, "SequenceEmpty", 11)
EXPANDS(sequenceerase_11, "SequenceErase", 11)
EXPANDS(sequenceinsert_11, "SequenceInsert", 11)
EXPANDS(sequencelength_11, "SequenceLength", 11)
EXPANDS(sequencemap_17, "SequenceMap", 17)
EXPANDS(splittosequence_11, "SplitToSequence", 11)
#undef EXPANDS

#define OP_ENTRY(id) &px_op_##id,
static const px_op *const op_table[] = {
    PXI_OPS_MATH(OP_ENTRY) PXI_OPS_NN(OP_ENTRY) PXI_OPS_SHAPE(OP_ENTRY) NULL,
};

const px_op *const *pxi_op_all(void)
{
    return op_table;
}

const px_op *pxi_op_find(const char *domain, const char *name, int opset, bool *known)
{
    const px_op *best = NULL;
    bool seen = false;
    if (strcmp(domain, "ai.onnx") == 0)
        domain = "";
    for (size_t i = 0; op_table[i]; i++) {
        const px_op *op = op_table[i];
        if (strcmp(op->name, name) != 0 || strcmp(op->domain ? op->domain : "", domain) != 0)
            continue;
        seen = true;
        if (op->since <= opset && (!best || op->since > best->since))
            best = op;
    }
    if (known)
        *known = seen;
    return best;
}

const char *pxi_node_text(const px_node *node, char buffer[PXI_NODE_TEXT])
{
    if (node->name[0])
        snprintf(buffer, PXI_NODE_TEXT, "node '%.100s' (%.60s)", node->name, node->type);
    else
        snprintf(buffer, PXI_NODE_TEXT, "a node without name (%.60s)", node->type);
    return buffer;
}

px_status pxi_op_fail(const px_op_ctx *ctx, px_error *err, px_status status, const char *format,
                      ...)
{
    if (err) {
        char node[PXI_NODE_TEXT], text[sizeof err->message - PXI_NODE_TEXT];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        return px_fail(err, status, "%s: %s", pxi_node_text(ctx->node, node), text);
    }
    return status;
}

px_status pxi_op_arity(const px_op_ctx *ctx, int min_in, int max_in, int min_out, int max_out,
                       px_error *err)
{
    if (ctx->in_count < min_in || ctx->in_count > max_in)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %d inputs, expected %d to %d", ctx->in_count,
                           min_in, max_in);
    if (ctx->out_count < min_out || ctx->out_count > max_out)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "has %d outputs, expected %d to %d",
                           ctx->out_count, min_out, max_out);
    for (int i = 0; i < min_in; i++)
        if (!pxi_op_has_in(ctx, i))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks its input %d", i);
    return PX_OK;
}

px_status pxi_op_axis(const px_op_ctx *ctx, int64_t axis, int rank, int *out, px_error *err)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "axis %lld is outside a tensor of rank %d",
                           (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return PX_OK;
}

px_status pxi_op_params(px_op_ctx *ctx, size_t bytes, px_error *err)
{
    ctx->params = pxi_arena_alloc(ctx->arena, 1, bytes);
    if (!ctx->params)
        return pxi_no_memory(err);
    return PX_OK;
}

px_status pxi_op_const_ints(px_op_ctx *ctx, int input, const int64_t **values, int64_t *count,
                            px_error *err)
{
    const px_tensor *in = &ctx->in[input];
    if (!in->data)
        return pxi_op_fail(
            ctx, err, PX_E_UNSUPPORTED,
            "its input %d decides a shape and must be constant; one that is known at "
            "run time only is not supported",
            input);
    if (in->dtype != PX_INT64 && in->dtype != PX_INT32)
        return pxi_op_fail(ctx, err, PX_E_INPUT, "its input %d is %s, expected int64", input,
                           px_dtype_name(in->dtype));
    const int64_t n = px_shape_count(&in->shape);
    int64_t *copy = NULL;
    PX_TRY(PX_ARENA_NEW(copy, ctx->arena, n, err));
    for (int64_t i = 0; i < n; i++)
        copy[i] =
            in->dtype == PX_INT64 ? ((const int64_t *)in->data)[i] : ((const int32_t *)in->data)[i];
    *values = copy;
    *count = n;
    return PX_OK;
}

px_status pxi_op_broadcast(const px_op_ctx *ctx, const px_shape *a, const px_shape *b,
                           px_shape *out, px_error *err)
{
    px_shape wide = {.rank = PX_MAX(a->rank, b->rank)};
    for (int i = 0; i < wide.rank; i++) {
        const int ia = i - (wide.rank - a->rank), ib = i - (wide.rank - b->rank);
        const int64_t da = ia < 0 ? 1 : a->dim[ia], db = ib < 0 ? 1 : b->dim[ib];
        if (da != db && da != 1 && db != 1) {
            char ta[PX_SHAPE_TEXT], tb[PX_SHAPE_TEXT];
            return pxi_op_fail(ctx, err, PX_E_MISMATCH, "shapes %s and %s do not broadcast",
                               px_shape_text(a, ta), px_shape_text(b, tb));
        }
        wide.dim[i] = da == 1 ? db : da;
    }
    *out = wide;
    return PX_OK;
}

px_status pxi_setup_same(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, 1, 1, 1, err));
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    return PX_OK;
}

px_status pxi_permute_nothing(px_op_ctx *ctx, const int *perm, int rank, px_error *err)
{
    (void)ctx, (void)perm, (void)rank, (void)err;
    return PX_OK;
}
