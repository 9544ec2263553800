/* src/ops/scatter.c - Scatter, ScatterElements, ScatterND: data with updates at indexed places
 *
 * reduction: none (where places repeat, the last update wins), add, mul, max, min. Backward shares
 * the gradient of a tied max or min evenly, as torch.scatter_reduce does; with `none`, repeated
 * places give every update the gradient of the place.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/locate.h"

#include "base/memory.h"

#include <string.h>

typedef enum scatter_reduction {
    SCATTER_NONE,
    SCATTER_ADD,
    SCATTER_MUL,
    SCATTER_MAX,
    SCATTER_MIN
} scatter_reduction;

typedef struct scatter_params {
    bool tuples;
    int axis;
    scatter_reduction reduction;
} scatter_params;

static px_status scatter_common(px_op_ctx *ctx, px_error *err)
{
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    PX_TRY(pxi_op_arity(ctx, 3, 3, 1, 1, err));
    if (ctx->in[0].dtype != ctx->in[2].dtype)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its data is %s, its updates are %s",
                           px_dtype_name(ctx->in[0].dtype), px_dtype_name(ctx->in[2].dtype));
    PX_TRY(pxi_op_params(ctx, sizeof(scatter_params), err));
    scatter_params *params = ctx->params;
    const char *reduction = px_node_string(ctx->node, "reduction", "none");
    size_t kind = 0;
    while (kind < PX_LEN(names) && strcmp(reduction, names[kind]) != 0)
        kind++;
    if (kind == PX_LEN(names))
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "its reduction '%.40s' is not supported",
                           reduction);
    params->reduction = (scatter_reduction)kind;
    ctx->out[0].dtype = ctx->in[0].dtype;
    ctx->out[0].shape = ctx->in[0].shape;
    return pxi_op_scratch(ctx, px_shape_count(&ctx->in[0].shape), 2 * sizeof(double), err);
}

static px_status scatter_check_updates(const px_op_ctx *ctx, const px_shape *wanted, px_error *err)
{
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    if (px_shape_equal(wanted, &ctx->in[2].shape))
        return PX_OK;
    return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its updates are %s, expected %s",
                       px_shape_text(&ctx->in[2].shape, a), px_shape_text(wanted, b));
}

static px_status scatterelements_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(scatter_common(ctx, err));
    PX_TRY(pxi_locate_check_elements(ctx, &((scatter_params *)ctx->params)->axis, err));
    return scatter_check_updates(ctx, &ctx->in[1].shape, err);
}

static px_status scatternd_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(scatter_common(ctx, err));
    ((scatter_params *)ctx->params)->tuples = true;
    PX_TRY(pxi_locate_check_tuples(ctx, 0, err));
    const px_shape *data = &ctx->in[0].shape, *indices = &ctx->in[1].shape;
    const int depth = (int)indices->dim[indices->rank - 1];
    px_shape wanted = {0};
    if (indices->rank - 1 + data->rank - depth > PX_MAX_RANK)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "updates of more than %d axes are not supported", PX_MAX_RANK);
    for (int i = 0; i < indices->rank - 1; i++)
        wanted.dim[wanted.rank++] = indices->dim[i];
    for (int i = depth; i < data->rank; i++)
        wanted.dim[wanted.rank++] = data->dim[i];
    return scatter_check_updates(ctx, &wanted, err);
}

static void scatter_locate(pxi_locator *loc, const px_op_ctx *ctx)
{
    const scatter_params *params = ctx->params;
    if (params->tuples)
        pxi_locate_tuples(loc, ctx, 0);
    else
        pxi_locate_elements(loc, ctx, params->axis);
}

static double join_reals(scatter_reduction reduction, double a, double b)
{
    switch (reduction) {
    case SCATTER_ADD:
        return a + b;
    case SCATTER_MUL:
        return a * b;
    case SCATTER_MAX:
        return a > b || a != a ? a : b;
    case SCATTER_MIN:
        return a < b || a != a ? a : b;
    default:
        return b;
    }
}

static int64_t join_integers(scatter_reduction reduction, int64_t a, int64_t b, bool wide)
{
    const bool above = wide ? (uint64_t)a > (uint64_t)b : a > b;
    switch (reduction) {
    case SCATTER_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case SCATTER_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case SCATTER_MAX:
        return above ? a : b;
    case SCATTER_MIN:
        return above ? b : a;
    default:
        return b;
    }
}

static px_status scatter_forward(const px_op_ctx *ctx, px_error *err)
{
    const scatter_params *params = ctx->params;
    const scatter_reduction reduction = params->reduction;
    const px_dtype dtype = ctx->in[0].dtype;
    const size_t element = px_dtype_size(dtype);
    pxi_locator loc;
    scatter_locate(&loc, ctx);
    memcpy(ctx->out[0].data, ctx->in[0].data, px_tensor_bytes(&ctx->in[0]));
    for (int64_t from = 0;; from += loc.slice) {
        int64_t place;
        PX_TRY(pxi_locate(&loc, &place, err));
        if (place < 0)
            return PX_OK;
        if (reduction == SCATTER_NONE) {
            memcpy((char *)ctx->out[0].data + (size_t)place * element,
                   (const char *)ctx->in[2].data + (size_t)from * element,
                   (size_t)loc.slice * element);
            continue;
        }
        for (int64_t i = 0; i < loc.slice; i++)
            if (pxi_is_real(dtype))
                pxi_store_number(&ctx->out[0], place + i,
                                 join_reals(reduction, pxi_number(&ctx->out[0], place + i),
                                            pxi_number(&ctx->in[2], from + i)));
            else
                pxi_store_integer(&ctx->out[0], place + i,
                                  join_integers(reduction, pxi_integer(&ctx->out[0], place + i),
                                                pxi_integer(&ctx->in[2], from + i),
                                                dtype == PX_UINT64));
    }
}

/* --- backward -------------------------------------------------------------------------------- */

/* Two notes per place of the output. none: [0] whether it was overwritten. mul: [0] the product of
 * its non-zero factors, [1] the number of zero factors. max, min: [0] how many tie. */
static void note_value(scatter_reduction reduction, double note[2], px_real value, px_real result)
{
    if (reduction == SCATTER_MUL && value == 0)
        note[1] += 1.0;
    else if (reduction == SCATTER_MUL)
        note[0] *= (double)value;
    else if (reduction != SCATTER_NONE)
        note[0] += value == result;
}

static double slope(scatter_reduction reduction, const double note[2], px_real value,
                    px_real result)
{
    switch (reduction) {
    case SCATTER_MUL:
        if (note[1] == 0.0)
            return note[0] / (double)value;
        return value == 0 && note[1] == 1.0 ? note[0] : 0.0;
    case SCATTER_MAX:
    case SCATTER_MIN:
        return value == result ? 1.0 / note[0] : 0.0;
    default:
        return 1.0;
    }
}

static void scatter_note(const px_op_ctx *ctx, double *notes)
{
    const scatter_reduction reduction = ((const scatter_params *)ctx->params)->reduction;
    const px_real *data = PXI_F32(ctx->in[0]), *updates = PXI_F32(ctx->in[2]);
    const px_real *y = PXI_F32(ctx->out[0]);
    const int64_t count = px_shape_count(&ctx->in[0].shape);
    for (int64_t i = 0; i < count; i++) {
        notes[2 * i] = reduction == SCATTER_MUL ? 1.0 : 0.0;
        notes[2 * i + 1] = 0.0;
        note_value(reduction, notes + 2 * i, data[i], y[i]);
    }
    pxi_locator loc;
    scatter_locate(&loc, ctx);
    int64_t place;
    for (int64_t from = 0; pxi_locate(&loc, &place, NULL) == PX_OK && place >= 0; from += loc.slice)
        for (int64_t i = 0; i < loc.slice; i++)
            if (reduction == SCATTER_NONE)
                notes[2 * (place + i)] = 1.0;
            else
                note_value(reduction, notes + 2 * (place + i), updates[from + i], y[place + i]);
}

static void scatter_backward(const px_op_ctx *ctx)
{
    const scatter_reduction reduction = ((const scatter_params *)ctx->params)->reduction;
    const px_real *dy = PXI_F32(ctx->out_grad[0]), *y = PXI_F32(ctx->out[0]);
    const px_real *data = PXI_F32(ctx->in[0]), *updates = PXI_F32(ctx->in[2]);
    double *notes = ctx->scratch;
    if (!dy)
        return;
    scatter_note(ctx, notes);
    if (pxi_op_wants_grad(ctx, 0)) {
        px_real *dx = PXI_F32(ctx->in_grad[0]);
        const int64_t count = px_shape_count(&ctx->in[0].shape);
        for (int64_t i = 0; i < count; i++) {
            const bool lost = reduction == SCATTER_NONE && notes[2 * i] != 0.0;
            if (!lost)
                dx[i] += (px_real)((double)dy[i] * slope(reduction, notes + 2 * i, data[i], y[i]));
        }
    }
    if (!pxi_op_wants_grad(ctx, 2))
        return;
    px_real *du = PXI_F32(ctx->in_grad[2]);
    pxi_locator loc;
    scatter_locate(&loc, ctx);
    int64_t place;
    for (int64_t from = 0; pxi_locate(&loc, &place, NULL) == PX_OK && place >= 0; from += loc.slice)
        for (int64_t i = 0; i < loc.slice; i++) {
            const int64_t at = place + i;
            du[from + i] += (px_real)((double)dy[at] *
                                      slope(reduction, notes + 2 * at, updates[from + i], y[at]));
        }
}

#define SCATTER_OP(id, op_name, version, rule) \
    const px_op px_op_##id = {                 \
        .name = op_name,                       \
        .since = version,                      \
        .diff = PX_DIFF_YES,                   \
        .setup = rule,                         \
        .forward = scatter_forward,            \
        .backward = scatter_backward,          \
    };

SCATTER_OP(scatter_9, "Scatter", 9, scatterelements_setup)
SCATTER_OP(scatterelements_11, "ScatterElements", 11, scatterelements_setup)
SCATTER_OP(scatternd_11, "ScatterND", 11, scatternd_setup)
