/* src/engine/fuse.c - what can be computed together with a convolution or a dense product
 *
 * head, then optionally BatchNormalization (inference), Add (of a residual, or of a constant bias),
 * and an activation, as long as nobody else reads or asked for what lies between. In training a
 * BatchNormalization is a head itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include "base/memory.h"
#include <internal/norm.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuse_state {
    const px_plan *plan;
    const pxi_program *program;
    int *uses;     /* per value: how many step inputs read it */
    int *consumer; /* per value: the last step that reads it */
} fuse_state;

typedef enum fuse_kind { FUSE_NOTHING, FUSE_CONV, FUSE_DENSE, FUSE_NORM } fuse_kind;

static fuse_kind fuse_kind_of(const px_plan *plan, const pxi_step *step)
{
    return pxi_norm_takes(plan, step)    ? FUSE_NORM
           : plan->reference             ? FUSE_NOTHING
           : pxi_conv_takes(plan, step)  ? FUSE_CONV
           : pxi_dense_takes(plan, step) ? FUSE_DENSE
                                         : FUSE_NOTHING;
}

static bool fuse_is(const pxi_step *step, const char *type)
{
    return strcmp(step->ctx.node->type, type) == 0 && step->ctx.node->domain[0] == '\0';
}

/* The only step that reads `value`, if nobody asked for the value itself; -1 otherwise. */
static int fuse_next(const fuse_state *f, int value)
{
    if (f->program->slots[value].is_wanted || f->uses[value] != 1)
        return -1;
    return f->consumer[value];
}

/* The channels of a normalisation are axis 1, which is what a product's columns are in rank 2. */
static bool fuse_norm(const pxi_step *step, int value, fuse_kind kind)
{
    if (!fuse_is(step, "BatchNormalization") || step->ctx.node->inputs[0] != value ||
        (kind == FUSE_DENSE && step->ctx.in[0].shape.rank != 2))
        return false;
    const pxi_batch_norm_params *params = step->ctx.params;
    for (int i = 1; i < 5; i++)
        if (i >= step->ctx.in_count || !step->ctx.in[i].data)
            return false;
    for (int i = 1; i < step->ctx.out_count; i++)
        if (step->ctx.node->outputs[i] >= 0)
            return false;
    return !params->training && step->ctx.in[0].dtype == PX_FLOAT32;
}

/* A constant that adds one number per output channel: [M] or [1,M] behind a product (rows, M). */
static bool fuse_is_bias(const px_tensor *t, const px_shape *out)
{
    const int64_t last = out->dim[out->rank - 1];
    return t->data && t->dtype == PX_FLOAT32 && t->shape.rank >= 1 && t->shape.rank <= out->rank &&
           px_shape_count(&t->shape) == last && t->shape.dim[t->shape.rank - 1] == last;
}

static bool fuse_add(const fuse_state *f, const pxi_step *step, int value, fuse_kind kind,
                     bool has_bias, pxi_group *group)
{
    if (!fuse_is(step, "Add") || step->ctx.node->opset < 7 || step->ctx.in_count != 2)
        return false;
    const int side = step->ctx.node->inputs[0] == value ? 1 : 0;
    const int other = step->ctx.node->inputs[side];
    const px_tensor *t = &step->ctx.in[side], *out = &step->ctx.out[0];
    if (other == value || !px_shape_equal(&out->shape, &f->program->slots[value].tensor.shape))
        return false;
    if (kind != FUSE_DENSE && !t->data && px_shape_equal(&t->shape, &out->shape)) {
        group->residual = other;
        return true;
    }
    if (kind == FUSE_DENSE && !has_bias && !f->plan->weight_grads && fuse_is_bias(t, &out->shape)) {
        group->bias = other;
        return true;
    }
    return false;
}

/* The step that makes `value`, if it is of the type and nobody but one reader knows the value. */
static int fuse_made_by(const fuse_state *f, int value, const char *type, const int *group_of)
{
    const int step = value < 0 ? -1 : f->program->slots[value].producer;
    return step >= 0 && fuse_is(&f->program->steps[step], type) && f->uses[value] == 1 &&
                   !f->program->slots[value].is_wanted && group_of[step] < 0
               ? step
               : -1;
}

/* The other operand of a step with two; -1: `value` is none of them. */
static int fuse_other(const pxi_step *step, int value)
{
    const int *in = step->ctx.node->inputs;
    return step->ctx.in_count != 2 ? -1 : in[0] == value ? in[1] : in[1] == value ? in[0] : -1;
}

/* Whether the step combines `value` and a constant, which is about `wanted`. */
static bool fuse_constant(const fuse_state *f, const pxi_step *step, int value, double wanted)
{
    const int other = fuse_other(step, value);
    const px_tensor *t = other < 0 ? NULL : &f->program->slots[other].tensor;
    return t && t->data && t->dtype == PX_FLOAT32 && px_shape_count(&t->shape) == 1 &&
           t->shape.rank <= step->ctx.out[0].shape.rank &&
           fabs((double)((const float *)t->data)[0] - wanted) < 1e-5;
}

/* Activations that are made up of several operators: SiLU, x sigmoid(x), and GELU as PyTorch writes
 * it, x (1 + erf(x / sqrt(2))) / 2. The value has two readers, the last of which joins them. */
static bool fuse_made_up(const fuse_state *f, int value, const int *group_of, pxi_group *group)
{
    const int join = f->consumer[value];
    const pxi_step *steps = f->program->steps;
    if (f->uses[value] != 2 || f->program->slots[value].is_wanted || f->plan->wants_gradients ||
        !fuse_is(&steps[join], "Mul") || group_of[join] >= 0)
        return false;
    const int factor = fuse_other(&steps[join], value);
    const int sigmoid = fuse_made_by(f, factor, "Sigmoid", group_of);
    if (sigmoid >= 0 && steps[sigmoid].ctx.node->inputs[0] == value) {
        group->fused = (pxi_act){.kind = PXI_ACT_SILU};
        group->parts[0] = sigmoid;
        group->act = group->last = group->parts[1] = join;
        return true;
    }
    const int plus = fuse_made_by(f, factor, "Add", group_of);
    const int product = steps[join].ctx.node->outputs[0], half = fuse_next(f, product);
    if (plus < 0 || half < 0 || group_of[half] >= 0 || !fuse_is(&steps[half], "Mul") ||
        !fuse_constant(f, &steps[half], product, 0.5))
        return false;
    for (int i = 0; i < 2; i++) {
        const int made = steps[plus].ctx.node->inputs[i];
        const int erf = fuse_made_by(f, made, "Erf", group_of);
        const int scaled = erf < 0 ? -1 : steps[erf].ctx.node->inputs[0];
        const int scale = erf < 0 ? -1 : fuse_made_by(f, scaled, "Div", group_of);
        if (scale < 0 || steps[scale].ctx.node->inputs[0] != value ||
            !fuse_constant(f, &steps[scale], value, sqrt(2.0)) ||
            !fuse_constant(f, &steps[plus], made, 1.0))
            continue;
        group->fused = (pxi_act){.kind = PXI_ACT_GELU};
        memcpy(group->parts, (const int[]){scale, erf, plus, join, half}, sizeof group->parts);
        group->act = group->last = half;
        return true;
    }
    return false;
}

/* Whether the activation can follow the head's kernel. Where the batch is normalised it masks the
 * gradient in place, which must not be one that was asked for. */
static bool fuse_act(const fuse_state *f, const pxi_step *step, fuse_kind kind, pxi_act *out)
{
    pxi_act act;
    if (!pxi_act_from_step(step, f->plan->wants_gradients, &act))
        return false;
    *out = act;
    return kind != FUSE_NORM || ((act.kind == PXI_ACT_RELU || act.kind == PXI_ACT_CLIP) &&
                                 !f->plan->cells[step->ctx.node->outputs[0]].is_wrt);
}

static void fuse_head(const fuse_state *f, int head, fuse_kind kind, const int *group_of,
                      pxi_group *group)
{
    const pxi_step *step = &f->program->steps[head];
    *group = (pxi_group){
        .head = head, .norm = -1, .add = -1, .act = -1, .last = head, .residual = -1, .bias = -1};
    for (int i = 0; i < PXI_ACT_PARTS; i++)
        group->parts[i] = -1;
    int value = step->ctx.node->outputs[0];
    int next = fuse_next(f, value);
    if (next >= 0 && group_of[next] < 0 && kind != FUSE_NORM && !f->plan->weight_grads &&
        !f->plan->batch_norms && fuse_norm(&f->program->steps[next], value, kind)) {
        group->norm = group->last = next;
        value = f->program->steps[next].ctx.node->outputs[0];
        next = fuse_next(f, value);
    }
    /* a bias behind a normalisation is not the one that was normalised */
    const bool has_bias = pxi_op_has_in(&step->ctx, 2) || group->norm >= 0;
    if (next >= 0 && group_of[next] < 0 &&
        fuse_add(f, &f->program->steps[next], value, kind, has_bias, group)) {
        group->add = group->last = next;
        value = f->program->steps[next].ctx.node->outputs[0];
        next = fuse_next(f, value);
    }
    pxi_act act;
    if (next >= 0 && group_of[next] < 0 && f->program->steps[next].ctx.node->inputs[0] == value &&
        fuse_act(f, &f->program->steps[next], kind, &act)) {
        group->fused = act;
        group->act = group->last = group->parts[0] = next;
    } else if (next < 0 && kind != FUSE_NORM) {
        fuse_made_up(f, value, group_of, group);
    }
}

px_status pxi_fuse(const px_plan *plan, pxi_group *groups, int *group_of, px_error *err)
{
    const pxi_program *program = plan->program;
    const size_t values = (size_t)program->graph.value_count;
    fuse_state f = {.plan = plan,
                    .program = program,
                    .uses = pxi_calloc(values, sizeof *f.uses),
                    .consumer = pxi_calloc(values, sizeof *f.consumer)};
    px_status status = PX_OK;
    if (!f.uses || !f.consumer) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (int s = 0; s < program->step_count; s++) {
        const px_node *node = program->steps[s].ctx.node;
        group_of[s] = -1;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0) {
                f.uses[node->inputs[i]]++;
                f.consumer[node->inputs[i]] = s;
            }
    }
    for (int s = 0; s < program->step_count; s++) {
        const fuse_kind kind = fuse_kind_of(plan, &program->steps[s]);
        if (group_of[s] >= 0 || kind == FUSE_NOTHING)
            continue;
        fuse_head(&f, s, kind, group_of, &groups[s]);
        group_of[s] = s;
        const int members[] = {groups[s].norm, groups[s].add};
        for (size_t i = 0; i < PX_LEN(members); i++)
            if (members[i] >= 0)
                group_of[members[i]] = s;
        for (int i = 0; i < PXI_ACT_PARTS; i++)
            if (groups[s].parts[i] >= 0)
                group_of[groups[s].parts[i]] = s;
    }
done:
    free(f.uses);
    free(f.consumer);
    return status;
}
