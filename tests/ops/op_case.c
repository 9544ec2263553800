/* tests/ops/op_case.c - see op_case.h */
/* SPDX-License-Identifier: Apache-2.0 */
#include "op_case.h"

#include "base/memory.h"

#include <ctype.h>
#include <internal/tensor.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *op_case_name(const op_case *test)
{
    return test->name ? test->name : test->type;
}

/* X(dtype, C type): what tests may hold in a tensor. */
#define CASE_TYPES(X)      \
    X(PX_FLOAT32, px_real) \
    X(PX_FLOAT64, double)  \
    X(PX_INT8, int8_t)     \
    X(PX_INT16, int16_t)   \
    X(PX_INT32, int32_t)   \
    X(PX_INT64, int64_t)   \
    X(PX_UINT8, uint8_t)   \
    X(PX_UINT16, uint16_t) \
    X(PX_UINT32, uint32_t) \
    X(PX_UINT64, uint64_t) \
    X(PX_INT4, int8_t)     \
    X(PX_UINT4, uint8_t)   \
    X(PX_BOOL, uint8_t)

double op_get(const px_tensor *tensor, int64_t i)
{
    switch (tensor->dtype) {
#define CASE_GET(dtype, T) \
    case dtype:            \
        return (double)((const T *)tensor->data)[i];
        CASE_TYPES(CASE_GET)
    default:
        abort();
    }
}

void op_set(px_tensor *tensor, int64_t i, double value)
{
    switch (tensor->dtype) {
#define CASE_SET(dtype, T)                   \
    case dtype:                              \
        ((T *)tensor->data)[i] = (T)(value); \
        return;
        CASE_TYPES(CASE_SET)
    default:
        abort();
    }
}

size_t op_numbers(const char *text, double *numbers, size_t max)
{
    size_t count = 0;
    while (count < max) {
        char *end = NULL;
        const double number = strtod(text, &end);
        if (end == text)
            break;
        numbers[count++] = number;
        for (text = end; *text == ',' || isspace((unsigned char)*text);)
            text++;
    }
    return count;
}

/* A number in [0, 1) from a linear congruential generator; good enough to avoid coincidences. */
static double case_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* "[Tanh,Relu]" */
static px_status case_strings(px_arena *arena, char *value, px_attr *attr, px_error *err)
{
    const char **strings = pxi_arena_alloc(arena, strlen(value), sizeof *strings);
    if (!strings)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    char *rest = NULL;
    for (char *word = strtok_r(value, "[],", &rest); word; word = strtok_r(NULL, "[],", &rest))
        strings[attr->count++] = word;
    attr->kind = PX_ATTR_STRINGS;
    attr->strings = strings;
    return PX_OK;
}

static px_status case_attr(px_arena *arena, const char *word, size_t length, px_attr *attr,
                           px_error *err)
{
    const char *equals = memchr(word, '=', length);
    if (!equals)
        return px_fail(err, PX_E_INTERNAL, "the case's attribute '%s' has no value", word);
    char *value = pxi_arena_strndup(arena, equals + 1, length - (size_t)(equals + 1 - word));
    attr->name = pxi_arena_strndup(arena, word, (size_t)(equals - word));
    double numbers[64];
    const bool list = value[0] == '[';
    const bool real = strchr(value, '.') != NULL;
    const bool digits = strspn(value, "[]-+.,e0123456789") == strlen(value) && value[0];
    if (!digits && list)
        return case_strings(arena, value, attr, err);
    if (!digits) {
        attr->kind = PX_ATTR_STRING;
        attr->s = value;
        return PX_OK;
    }
    const size_t count = op_numbers(value + list, numbers, PX_LEN(numbers));
    if (!list) {
        attr->kind = real ? PX_ATTR_FLOAT : PX_ATTR_INT;
        attr->i = (int64_t)numbers[0];
        attr->f = (float)numbers[0];
        return PX_OK;
    }
    float *floats = pxi_arena_alloc(arena, count, sizeof *floats);
    int64_t *ints = pxi_arena_alloc(arena, count, sizeof *ints);
    for (size_t i = 0; i < count; i++) {
        floats[i] = (float)numbers[i];
        ints[i] = (int64_t)numbers[i];
    }
    attr->kind = real ? PX_ATTR_FLOATS : PX_ATTR_INTS;
    attr->count = count;
    attr->floats = floats;
    attr->ints = ints;
    return PX_OK;
}

static px_status case_attrs(op_run *run, px_error *err)
{
    const char *text = run->test->attrs ? run->test->attrs : "";
    int count = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        const size_t length = strcspn(text, " ");
        if ((size_t)count == PX_LEN(run->attrs))
            return px_fail(err, PX_E_INTERNAL, "the case has too many attributes");
        PX_TRY(case_attr(run->ctx.arena, text, length, &run->attrs[count++], err));
        text += length;
    }
    run->node.attr_count = count;
    run->node.attrs = run->attrs;
    return PX_OK;
}

/* Evenly spread over [low, high], shuffled. */
static void case_distinct(px_tensor *tensor, int64_t count, double low, double high,
                          uint64_t *state)
{
    for (int64_t i = 0; i < count; i++)
        op_set(tensor, i, low + (high - low) * ((double)i + 0.5) / (double)count);
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = (int64_t)(case_random(state) * (double)(i + 1));
        const double swap = op_get(tensor, i);
        op_set(tensor, i, op_get(tensor, j));
        op_set(tensor, j, swap);
    }
}

static px_status case_input(px_tensor *tensor, const op_input *input, uint64_t *state,
                            px_error *err)
{
    double numbers[256];
    px_shape shape = {0};
    shape.rank = (int)op_numbers(input->shape, numbers, PX_MAX_RANK);
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = (int64_t)numbers[i];
    PX_TRY(px_tensor_init(tensor, input->dtype ? input->dtype : PX_FLOAT32, &shape, err));
    const int64_t count = px_shape_count(&shape);
    if (input->values) {
        const size_t given = op_numbers(input->values, numbers, PX_LEN(numbers));
        if (given != 1 && (int64_t)given != count)
            return px_fail(err, PX_E_INTERNAL, "the case gives %d values for an input of %d",
                           (int)given, (int)count);
        for (int64_t i = 0; i < count; i++)
            op_set(tensor, i, numbers[given == 1 ? 0 : i]);
        return PX_OK;
    }
    const bool unset = input->low == 0 && input->high == 0;
    const double low = unset ? -1 : input->low, high = unset ? 1 : input->high;
    if (input->distinct) {
        case_distinct(tensor, count, low, high, state);
        return PX_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        double value = low + (high - low) * case_random(state);
        if (fabs(value) < input->gap)
            value = value < 0 || high < input->gap ? -input->gap : input->gap;
        op_set(tensor, i, value);
    }
    return PX_OK;
}

static void *case_garbage(size_t bytes)
{
    void *memory = pxi_alloc_aligned(bytes);
    if (memory)
        memset(memory, 0xff, bytes); /* NaN, -1 or 255 */
    return memory;
}

px_status op_run_init(op_run *run, const op_case *test, unsigned seed, px_error *err)
{
    *run = (op_run){.test = test};
    px_op_ctx *ctx = &run->ctx;
    *ctx = (px_op_ctx){.node = &run->node,
                       .in = run->in,
                       .out = run->out,
                       .in_grad = run->in_grad,
                       .out_grad = run->out_grad,
                       .arena = pxi_arena_new(),
                       .out_count = test->outputs ? test->outputs : 1};
    run->node = (px_node){.name = op_case_name(test),
                          .type = test->type,
                          .domain = test->domain ? test->domain : "",
                          .opset = test->opset};
    if (!ctx->arena)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    PX_TRY(case_attrs(run, err));
    run->op = pxi_op_find(run->node.domain, test->type, test->opset, NULL);
    if (!run->op)
        return px_fail(err, PX_E_UNSUPPORTED, "there is no operator '%s' in opset %d", test->type,
                       test->opset);

    uint64_t state = seed * 7919u + 12345u;
    void *data[OP_CASE_INPUTS];
    for (; ctx->in_count < OP_CASE_INPUTS && test->in[ctx->in_count].shape; ctx->in_count++) {
        const op_input *input = &test->in[ctx->in_count];
        if (strcmp(input->shape, "-") != 0)
            PX_TRY(case_input(&run->in[ctx->in_count], input, &state, err));
    }
    run->node.input_count = ctx->in_count;
    run->node.output_count = ctx->out_count;
    int indices[OP_CASE_OUTPUTS], inputs[OP_CASE_INPUTS];
    for (int i = 0; i < ctx->in_count; i++) { /* setup() sees constants only */
        inputs[i] = ctx->in[i].dtype ? i : -1;
        data[i] = run->in[i].data;
        if (!test->in[i].constant)
            run->in[i].data = NULL;
    }
    for (int i = 0; i < ctx->out_count; i++)
        indices[i] = test->left_out >> i & 1u ? -1 : ctx->in_count + i;
    int *kept = pxi_arena_alloc(ctx->arena, OP_CASE_INPUTS + OP_CASE_OUTPUTS, sizeof *kept);
    if (!kept)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    memcpy(kept, inputs, (size_t)ctx->in_count * sizeof *kept);
    memcpy(kept + OP_CASE_INPUTS, indices, (size_t)ctx->out_count * sizeof *kept);
    run->node.inputs = kept;
    run->node.outputs = kept + OP_CASE_INPUTS;
    const px_status status = run->op->setup(ctx, err);
    for (int i = 0; i < ctx->in_count; i++)
        run->in[i].data = data[i];
    PX_TRY(status);

    for (int i = 0; i < ctx->out_count; i++) {
        PX_TRY(px_shape_check(&run->out[i].shape, err));
        if (!(test->left_out >> i & 1u))
            run->out[i].data = case_garbage(px_tensor_bytes(&run->out[i]));
        run->out_grad[i] = run->out[i];
        run->out_grad[i].data = NULL;
    }
    for (int i = 0; i < ctx->in_count; i++) {
        run->in_grad[i] = run->in[i];
        run->in_grad[i].data = NULL;
    }
    ctx->saved = case_garbage(ctx->saved_bytes);
    ctx->scratch = case_garbage(ctx->scratch_bytes);
    return PX_OK;
}

px_status op_run_forward(op_run *run, px_error *err)
{
    memset(run->ctx.scratch, 0xff, run->ctx.scratch_bytes);
    return run->op->forward(&run->ctx, err);
}

void op_run_backward(op_run *run, unsigned seed)
{
    uint64_t state = seed * 104729u + 1u;
    for (int i = 0; i < run->ctx.out_count; i++) {
        px_tensor *grad = &run->out_grad[i];
        if ((grad->dtype != PX_FLOAT32 && grad->dtype != PX_FLOAT64) || !run->out[i].data)
            continue;
        if (!grad->data)
            grad->data = case_garbage(px_tensor_bytes(grad));
        for (int64_t k = 0; k < px_shape_count(&grad->shape); k++)
            op_set(grad, k, 2 * case_random(&state) - 1);
    }
    memset(run->ctx.scratch, 0xff, run->ctx.scratch_bytes);
    run->op->backward(&run->ctx);
}

void op_run_done(op_run *run)
{
    for (int i = 0; i < OP_CASE_INPUTS; i++) {
        px_tensor_done(&run->in[i]);
        px_tensor_done(&run->in_grad[i]);
    }
    for (int i = 0; i < OP_CASE_OUTPUTS; i++) {
        px_tensor_done(&run->out[i]);
        px_tensor_done(&run->out_grad[i]);
    }
    free(run->ctx.saved);
    free(run->ctx.scratch);
    if (run->ctx.arena)
        pxi_arena_free(run->ctx.arena);
}
