/* src/ops/einsum.c - Einsum (ONNX, since opset 12)
 *
 * Every letter, and every axis that an ellipsis stands for, is one axis of a loop nest. Each
 * operand has a stride per loop axis: the sum of its strides where a letter repeats (a diagonal), 0
 * where it lacks the letter or broadcasts. Then
 *
 *     target(its axes) = sum over the other axes of the product of the factors
 *
 * is forward with target y and the operands as factors, and the gradient of operand i with its
 * gradient as target and dy and the other operands as factors.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include <internal/nn_check.h>

#include <ctype.h>
#include <string.h>

enum {
    einsum_max_axes = 16,     /* of the loop nest */
    einsum_max_operands = 16, /* dy takes the place of one */
    einsum_ellipsis = '.',
};

typedef struct einsum_term {
    int64_t stride[einsum_max_axes];
    unsigned axes; /* bit i: loop axis i has an extent here (not a broadcast 1) */
} einsum_term;

typedef struct einsum_params {
    int axis_count, operand_count, ellipsis_rank;
    char label[einsum_max_axes]; /* letter, or '.' for the axes of the ellipsis, which come first */
    int64_t dim[einsum_max_axes];
    einsum_term operand[einsum_max_operands], out;
} einsum_params;

/* "...ij,jk" in pieces: one term without blanks, '.' for an ellipsis. */
static px_status einsum_term_text(const px_op_ctx *ctx, const char **text, char *term, size_t size,
                                  px_error *err)
{
    size_t used = 0;
    bool dots = false;
    const char *p = *text;
    for (; *p && *p != ',' && strncmp(p, "->", 2) != 0; p++) {
        if (*p == ' ')
            continue;
        if (used + 1 >= size)
            return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                               "an equation with a term of this many axes is not supported");
        if (isalpha((unsigned char)*p)) {
            term[used++] = *p;
        } else if (!dots && strncmp(p, "...", 3) == 0) {
            term[used++] = einsum_ellipsis;
            dots = true;
            p += 2;
        } else {
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its equation has an unexpected '%c'",
                               isprint((unsigned char)*p) ? *p : '?');
        }
    }
    term[used] = '\0';
    *text = p;
    return PX_OK;
}

/* The loop axis of a letter; made when it is new. -1 if there are too many. */
static int einsum_axis(einsum_params *e, char letter)
{
    for (int i = e->ellipsis_rank; i < e->axis_count; i++)
        if (e->label[i] == letter)
            return i;
    if (e->axis_count == einsum_max_axes)
        return -1;
    e->label[e->axis_count] = letter;
    e->dim[e->axis_count] = 1;
    return e->axis_count++;
}

/* How many axes of `shape` the ellipsis of `term` stands for; 0 without one; -1: does not fit. */
static int einsum_dots(const char *term, const px_shape *shape)
{
    const int letters = (int)strlen(term);
    if (!strchr(term, einsum_ellipsis))
        return letters == shape->rank ? 0 : -1;
    return shape->rank - (letters - 1) >= 0 ? shape->rank - (letters - 1) : -1;
}

/* Enters one term's extents and strides. */
static px_status einsum_enter(const px_op_ctx *ctx, einsum_params *e, const char *term,
                              const px_shape *shape, einsum_term *out, px_error *err)
{
    int64_t stride = 1;
    int at = shape->rank;
    for (int i = (int)strlen(term) - 1; i >= 0; i--) {
        const int span = term[i] == einsum_ellipsis ? einsum_dots(term, shape) : 1;
        for (int k = 0; k < span; k++) {
            const int axis =
                term[i] == einsum_ellipsis ? e->ellipsis_rank - 1 - k : einsum_axis(e, term[i]);
            const int64_t dim = shape->dim[--at];
            if (axis < 0)
                return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                                   "an equation of more than %d different axes is not supported",
                                   einsum_max_axes);
            if (dim != 1 && e->dim[axis] != 1 && e->dim[axis] != dim)
                return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                                   "axis '%c' of its equation is %lld and %lld", e->label[axis],
                                   (long long)e->dim[axis], (long long)dim);
            if (dim != 1) {
                e->dim[axis] = dim;
                out->stride[axis] += stride;
                out->axes |= 1u << axis;
            }
            stride *= dim;
        }
    }
    return PX_OK;
}

/* Without "->": the ellipsis, then the letters that occur once, in alphabetical order. */
static void einsum_implicit(const char *terms, bool dots, char *output)
{
    size_t used = 0;
    if (dots)
        output[used++] = einsum_ellipsis;
    for (int letter = 'A'; letter <= 'z'; letter++) {
        int seen = 0;
        for (const char *p = terms; isalpha(letter) && *p; p++)
            seen += *p == letter;
        if (seen == 1 && used < PX_MAX_RANK + 1)
            output[used++] = (char)letter;
    }
    output[used] = '\0';
}

/* Output axes in order; each letter once, and known from the operands. */
static px_status einsum_output(px_op_ctx *ctx, einsum_params *e, const char *output, px_error *err)
{
    px_shape shape = {0};
    int axes[einsum_max_axes + PX_MAX_RANK], count = 0;
    for (const char *p = output; *p; p++) {
        const int known = e->axis_count;
        if (*p == einsum_ellipsis) {
            for (int i = 0; i < e->ellipsis_rank; i++)
                axes[count++] = i;
            continue;
        }
        const int axis = einsum_axis(e, *p);
        if (axis < 0 || axis >= known)
            return pxi_op_fail(ctx, err, PX_E_INPUT,
                               "its equation's result has '%c', which no operand has", *p);
        axes[count++] = axis;
    }
    if (count > PX_MAX_RANK)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED,
                           "a result of more than %d dimensions is not supported", PX_MAX_RANK);
    shape.rank = count;
    int64_t stride = 1;
    for (int i = count - 1; i >= 0; i--) {
        if (e->out.axes >> axes[i] & 1u)
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its equation's result repeats '%c'",
                               e->label[axes[i]]);
        e->out.axes |= 1u << axes[i];
        e->out.stride[axes[i]] = stride;
        shape.dim[i] = e->dim[axes[i]];
        if (__builtin_mul_overflow(stride, shape.dim[i] ? shape.dim[i] : 1, &stride))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "its result is too large");
    }
    ctx->out[0].shape = shape;
    return PX_OK;
}

static px_status einsum_parse(px_op_ctx *ctx, einsum_params *e, const char *equation, px_error *err)
{
    char terms[einsum_max_operands][PX_MAX_RANK + 2], output[PX_MAX_RANK + 2];
    char all[einsum_max_operands * (PX_MAX_RANK + 2)] = "";
    size_t used = 0;
    bool dots = false;
    for (int i = 0; i < ctx->in_count; i++) {
        PX_TRY(einsum_term_text(ctx, &equation, terms[i], sizeof terms[i], err));
        const int span = einsum_dots(terms[i], &ctx->in[i].shape);
        char text[PX_SHAPE_TEXT];
        if (span < 0)
            return pxi_op_fail(ctx, err, PX_E_MISMATCH,
                               "term %d of its equation does not fit an input of shape %s", i,
                               px_shape_text(&ctx->in[i].shape, text));
        dots |= strchr(terms[i], einsum_ellipsis) != NULL;
        e->ellipsis_rank = PX_MAX(e->ellipsis_rank, span);
        memcpy(all + used, terms[i], strlen(terms[i]) + 1);
        used += strlen(terms[i]);
        if (i + 1 < ctx->in_count && *equation++ != ',')
            return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its equation has %d terms for %d inputs",
                               i + 1, ctx->in_count);
    }
    for (int i = 0; i < e->ellipsis_rank; i++) {
        e->label[i] = einsum_ellipsis;
        e->dim[i] = 1;
    }
    e->axis_count = e->ellipsis_rank;
    for (int i = 0; i < ctx->in_count; i++)
        PX_TRY(einsum_enter(ctx, e, terms[i], &ctx->in[i].shape, &e->operand[i], err));
    if (strncmp(equation, "->", 2) == 0) {
        equation += 2;
        PX_TRY(einsum_term_text(ctx, &equation, output, sizeof output, err));
    } else {
        einsum_implicit(all, dots, output);
    }
    if (*equation)
        return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its equation has more than %d terms",
                           ctx->in_count);
    return einsum_output(ctx, e, output, err);
}

static px_status einsum_setup(px_op_ctx *ctx, px_error *err)
{
    PX_TRY(pxi_op_arity(ctx, 1, einsum_max_operands, 1, 1, err));
    PX_TRY(pxi_op_params(ctx, sizeof(einsum_params), err));
    const px_dtype dtype = ctx->in[0].dtype;
    for (int i = 0; i < ctx->in_count; i++) {
        if (!pxi_op_has_in(ctx, i))
            return pxi_op_fail(ctx, err, PX_E_INPUT, "lacks its input %d", i);
        if (ctx->in[i].dtype != dtype)
            return pxi_op_fail(ctx, err, PX_E_MISMATCH, "its inputs are %s and %s",
                               px_dtype_name(dtype), px_dtype_name(ctx->in[i].dtype));
    }
    if (dtype != PX_FLOAT32 && dtype != PX_FLOAT64 && dtype != PX_INT32 && dtype != PX_INT64)
        return pxi_op_fail(ctx, err, PX_E_UNSUPPORTED, "multiplying %s tensors is not supported",
                           px_dtype_name(dtype));
    einsum_params *e = ctx->params;
    e->operand_count = ctx->in_count;
    ctx->out[0].dtype = dtype;
    return einsum_parse(ctx, e, px_node_string(ctx->node, "equation", ""), err);
}

/* One evaluation: which loop axes lie outside the sum, which inside, and the factors. The last of
 * the inner ones is the tight loop `run`. */
typedef struct einsum_job {
    int outer[einsum_max_axes], inner[einsum_max_axes], outer_count, inner_count;
    int64_t run, run_stride[einsum_max_operands + 1];
    int factor_count;
    const einsum_term *factor[einsum_max_operands + 1], *target;
    const void *data[einsum_max_operands + 1];
    void *result;
    bool add;
} einsum_job;

static void einsum_order(const einsum_params *e, einsum_job *job)
{
    for (int i = 0; i < e->axis_count; i++) {
        if (job->target->axes >> i & 1u)
            job->outer[job->outer_count++] = i;
        else
            job->inner[job->inner_count++] = i;
    }
    job->run = 1;
    if (job->inner_count == 0)
        return;
    const int last = job->inner[--job->inner_count];
    job->run = e->dim[last];
    for (int f = 0; f < job->factor_count; f++)
        job->run_stride[f] = job->factor[f]->stride[last];
}

/* Moves on to the next index of `axes` (the last one fastest); false when all have been. */
static bool einsum_step(const einsum_params *e, const einsum_job *job, const int *axes, int count,
                        int64_t *index, int64_t *offset, int64_t *target)
{
    for (int i = count - 1; i >= 0; i--) {
        const int axis = axes[i];
        const bool wraps = ++index[i] == e->dim[axis];
        const int64_t by = wraps ? 1 - e->dim[axis] : 1;
        for (int f = 0; f < job->factor_count; f++)
            offset[f] += by * job->factor[f]->stride[axis];
        *target += by * job->target->stride[axis];
        if (!wraps)
            return true;
        index[i] = 0;
    }
    return false;
}

static bool einsum_empty(const einsum_params *e, const int *axes, int count)
{
    for (int i = 0; i < count; i++)
        if (e->dim[axes[i]] == 0)
            return true;
    return false;
}

/* Defines einsum_TYPE(); `wide` is what products are summed in (unsigned lets integers wrap). */
#define EINSUM_EVALUATE(suffix, type, wide)                                                        \
    static wide einsum_run_##suffix(const einsum_job *job, const int64_t *offset)                  \
    {                                                                                              \
        wide sum = 0;                                                                              \
        if (job->factor_count == 2) {                                                              \
            const type *a = (const type *)job->data[0] + offset[0];                                \
            const type *b = (const type *)job->data[1] + offset[1];                                \
            for (int64_t i = 0; i < job->run; i++)                                                 \
                sum += (wide)a[i * job->run_stride[0]] * (wide)b[i * job->run_stride[1]];          \
            return sum;                                                                            \
        }                                                                                          \
        for (int64_t i = 0; i < job->run; i++) {                                                   \
            wide product = 1;                                                                      \
            for (int f = 0; f < job->factor_count; f++)                                            \
                product *= (wide)((const type *)job->data[f])[offset[f] + i * job->run_stride[f]]; \
            sum += product;                                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
                                                                                                   \
    static void einsum_##suffix(const einsum_params *e, const einsum_job *job)                     \
    {                                                                                              \
        int64_t outer[einsum_max_axes] = {0}, offset[einsum_max_operands + 1] = {0}, to = 0;       \
        const bool empty = einsum_empty(e, job->inner, job->inner_count);                          \
        if (einsum_empty(e, job->outer, job->outer_count))                                         \
            return;                                                                                \
        do {                                                                                       \
            int64_t inner[einsum_max_axes] = {0}, same = 0;                                        \
            wide sum = 0;                                                                          \
            do                                                                                     \
                sum += empty ? 0 : einsum_run_##suffix(job, offset);                               \
            while (!empty &&                                                                       \
                   einsum_step(e, job, job->inner, job->inner_count, inner, offset, &same));       \
            type *result = (type *)job->result + to;                                               \
            *result = (type)(job->add ? (wide)*result + sum : sum);                                \
        } while (einsum_step(e, job, job->outer, job->outer_count, outer, offset, &to));           \
    }

EINSUM_EVALUATE(real, px_real, double)
EINSUM_EVALUATE(double, double, double)
EINSUM_EVALUATE(int32, int32_t, uint32_t)
EINSUM_EVALUATE(int64, int64_t, uint64_t)

static px_status einsum_forward(const px_op_ctx *ctx, px_error *err)
{
    (void)err;
    const einsum_params *e = ctx->params;
    einsum_job job = {
        .factor_count = e->operand_count, .target = &e->out, .result = ctx->out[0].data};
    for (int i = 0; i < e->operand_count; i++) {
        job.factor[i] = &e->operand[i];
        job.data[i] = ctx->in[i].data;
    }
    einsum_order(e, &job);
    switch (ctx->in[0].dtype) {
    case PX_FLOAT64:
        einsum_double(e, &job);
        break;
    case PX_INT32:
        einsum_int32(e, &job);
        break;
    case PX_INT64:
        einsum_int64(e, &job);
        break;
    default:
        einsum_real(e, &job);
    }
    return PX_OK;
}

static void einsum_backward(const px_op_ctx *ctx)
{
    const einsum_params *e = ctx->params;
    if (!ctx->out_grad[0].data || ctx->in[0].dtype != PX_FLOAT32)
        return;
    for (int i = 0; i < e->operand_count; i++) {
        if (!pxi_op_wants_grad(ctx, i))
            continue;
        einsum_job job = {.target = &e->operand[i],
                          .result = ctx->in_grad[i].data,
                          .add = true,
                          .factor_count = e->operand_count,
                          .factor = {&e->out},
                          .data = {ctx->out_grad[0].data}};
        int f = 1;
        for (int k = 0; k < e->operand_count; k++)
            if (k != i) {
                job.factor[f] = &e->operand[k];
                job.data[f++] = ctx->in[k].data;
            }
        einsum_order(e, &job);
        einsum_real(e, &job);
    }
}

static int64_t einsum_flops(const px_op_ctx *ctx)
{
    const einsum_params *e = ctx->params;
    double flops = 2.0 * PX_MAX(e->operand_count - 1, 1);
    for (int i = 0; i < e->axis_count; i++)
        flops *= (double)e->dim[i];
    return pxi_nn_flops(flops);
}

const px_op px_op_einsum_12 = {
    .name = "Einsum",
    .since = 12,
    .diff = PX_DIFF_YES,
    .setup = einsum_setup,
    .forward = einsum_forward,
    .backward = einsum_backward,
    .flops = einsum_flops,
};
