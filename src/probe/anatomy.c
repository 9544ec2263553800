/* src/probe/anatomy.c - what each node of a network is there for
 *
 * Activations come in pieces: exporters write SiLU as Sigmoid and Mul, GELU as Div, Erf, Add, Mul,
 * Mul, hard-swish as Add, Clip, Mul, Div. So the question is not "which node is an activation" but
 * "which value is a function of one tensor, element by element, with an activation in it". `root`
 * answers it: arithmetic on values of one root and single numbers keeps the root; anything else
 * starts a new one. A squeeze-and-excitation gate, feature * Sigmoid(other), has two roots: there
 * the Sigmoid itself is the layer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/anatomy.h"

#include "base/memory.h"

#include <string.h>

static const struct {
    const char *type;
    pxi_part part;
} part_names[] = {
    {"Conv", PXI_PART_LINEAR},
    {"ConvTranspose", PXI_PART_LINEAR},
    {"Gemm", PXI_PART_LINEAR},
    {"MatMul", PXI_PART_LINEAR},
    {"RNN", PXI_PART_RECURRENT},
    {"GRU", PXI_PART_RECURRENT},
    {"LSTM", PXI_PART_RECURRENT},
    {"Relu", PXI_PART_ACTIVATION},
    {"LeakyRelu", PXI_PART_ACTIVATION},
    {"PRelu", PXI_PART_ACTIVATION},
    {"Elu", PXI_PART_ACTIVATION},
    {"Selu", PXI_PART_ACTIVATION},
    {"Celu", PXI_PART_ACTIVATION},
    {"Sigmoid", PXI_PART_ACTIVATION},
    {"HardSigmoid", PXI_PART_ACTIVATION},
    {"HardSwish", PXI_PART_ACTIVATION},
    {"Softplus", PXI_PART_ACTIVATION},
    {"Softsign", PXI_PART_ACTIVATION},
    {"ThresholdedRelu", PXI_PART_ACTIVATION},
    {"Tanh", PXI_PART_ACTIVATION},
    {"Erf", PXI_PART_ACTIVATION},
    {"Clip", PXI_PART_ACTIVATION},
    {"Mish", PXI_PART_ACTIVATION},
    {"Swish", PXI_PART_ACTIVATION},
    {"Gelu", PXI_PART_ACTIVATION},
    {"Shrink", PXI_PART_ACTIVATION},
    {"Max", PXI_PART_ACTIVATION},
    {"Min", PXI_PART_ACTIVATION},
    {"Add", PXI_PART_POINTWISE},
    {"Sub", PXI_PART_POINTWISE},
    {"Mul", PXI_PART_POINTWISE},
    {"Div", PXI_PART_POINTWISE},
    {"Sum", PXI_PART_POINTWISE},
    {"Pow", PXI_PART_POINTWISE},
    {"Neg", PXI_PART_POINTWISE},
    {"Abs", PXI_PART_POINTWISE},
    {"Exp", PXI_PART_POINTWISE},
    {"Log", PXI_PART_POINTWISE},
    {"Sqrt", PXI_PART_POINTWISE},
    {"Reciprocal", PXI_PART_POINTWISE},
    {"BatchNormalization", PXI_PART_NORM},
    {"InstanceNormalization", PXI_PART_NORM},
    {"LayerNormalization", PXI_PART_NORM},
    {"GroupNormalization", PXI_PART_NORM},
    {"RMSNormalization", PXI_PART_NORM},
    {"Identity", PXI_PART_PASS},
    {"Dropout", PXI_PART_PASS},
    {"Cast", PXI_PART_PASS},
    {"Transpose", PXI_PART_AXES},
    {"Squeeze", PXI_PART_AXES},
    {"Unsqueeze", PXI_PART_AXES},
    {"Reshape", PXI_PART_RESHAPE},
    {"Flatten", PXI_PART_RESHAPE},
    {"MaxPool", PXI_PART_POOL},
    {"AveragePool", PXI_PART_POOL},
    {"LpPool", PXI_PART_POOL},
    {"GlobalMaxPool", PXI_PART_POOL},
    {"GlobalAveragePool", PXI_PART_POOL},
    {"GlobalLpPool", PXI_PART_POOL},
    {"ReduceMean", PXI_PART_POOL},
    {"ReduceMax", PXI_PART_POOL},
    {"Pad", PXI_PART_SAME_AXES},
    {"LRN", PXI_PART_SAME_AXES},
    {"Concat", PXI_PART_SAME_AXES},
    {"Slice", PXI_PART_SAME_AXES},
    {"Resize", PXI_PART_SAME_AXES},
    {"Upsample", PXI_PART_SAME_AXES},
    {"Softmax", PXI_PART_SOFTMAX},
    {"LogSoftmax", PXI_PART_SOFTMAX},
};

int pxi_anatomy_only_use(const pxi_anatomy *a, int value)
{
    return !a->is_output[value] && a->use_start[value + 1] - a->use_start[value] == 1
               ? a->uses[a->use_start[value]]
               : -1;
}

int pxi_anatomy_operand(const pxi_anatomy *a, const pxi_step *step, int i)
{
    const px_node *node = step->ctx.node;
    for (int k = 0; k < node->input_count; k++)
        if (node->inputs[k] >= 0 && !pxi_anatomy_constant(a, node->inputs[k]) && i-- == 0)
            return node->inputs[k];
    return -1;
}

/* Whether every constant input is a single number: then the step treats all elements alike. */
static bool step_takes_numbers(const pxi_anatomy *a, const pxi_step *step)
{
    const px_node *node = step->ctx.node;
    for (int k = 0; k < node->input_count; k++)
        if (node->inputs[k] >= 0 && pxi_anatomy_constant(a, node->inputs[k]) &&
            px_shape_count(&pxi_anatomy_tensor(a, node->inputs[k])->shape) != 1)
            return false;
    return true;
}

static bool step_is_any(const pxi_step *step, const char *one, const char *two, const char *three,
                        const char *four)
{
    const char *type = step->ctx.node->type;
    return strcmp(type, one) == 0 || strcmp(type, two) == 0 || strcmp(type, three) == 0 ||
           strcmp(type, four) == 0;
}

/* ReduceMean and ReduceMax pool where batch and channels of an image-like tensor stay. */
static bool step_pools(const px_tensor *in, const px_tensor *out)
{
    return in->shape.rank >= 3 && out->shape.rank >= 2 && out->shape.dim[0] == in->shape.dim[0] &&
           out->shape.dim[1] == in->shape.dim[1];
}

static pxi_part step_part(const pxi_anatomy *a, const pxi_step *step)
{
    pxi_part part = PXI_PART_OTHER;
    for (size_t i = 0; i < PX_LEN(part_names); i++)
        if (strcmp(part_names[i].type, step->ctx.node->type) == 0)
            part = part_names[i].part;
    if (part == PXI_PART_OTHER || step->ctx.out_count < 1 || step->ctx.node->outputs[0] < 0)
        return part == PXI_PART_RECURRENT ? part : PXI_PART_OTHER;
    if (pxi_anatomy_tensor(a, step->ctx.node->outputs[0])->dtype != PX_FLOAT32)
        return PXI_PART_OTHER;

    const bool one_operand = pxi_anatomy_operand(a, step, 1) < 0;
    switch (part) {
    case PXI_PART_LINEAR: /* the product of two activations, as in attention, has no weights */
        return one_operand || strcmp(step->ctx.node->type, "Conv") == 0 ? part : PXI_PART_OTHER;
    case PXI_PART_ACTIVATION:
        if (step_is_any(step, "Max", "Min", "", ""))
            return one_operand && step_takes_numbers(a, step) ? part : PXI_PART_OTHER;
        return one_operand ? part : PXI_PART_OTHER; /* PRelu with a computed slope */
    case PXI_PART_POINTWISE:
        if (one_operand && !step_takes_numbers(a, step))
            return step_is_any(step, "Add", "Sub", "Mul", "Div") ? PXI_PART_AFFINE : PXI_PART_OTHER;
        return part;
    case PXI_PART_POOL:
        if (strncmp(step->ctx.node->type, "Reduce", 6) == 0 &&
            !step_pools(&step->ctx.in[0], &step->ctx.out[0]))
            return PXI_PART_OTHER;
        return part;
    default:
        return part;
    }
}

static px_status anatomy_link(pxi_anatomy *a, px_arena *arena, px_error *err)
{
    const pxi_program *program = a->program;
    const size_t values = (size_t)a->graph->value_count;
    PX_TRY(PX_ARENA_NEW(a->use_start, arena, values + 2, err));
    int *start = a->use_start + 1; /* shifted by one, so that filling moves it into place */
    int total = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int s = 0; s < program->step_count; s++) {
            const px_node *node = program->steps[s].ctx.node;
            for (int k = 0; k < node->input_count; k++) {
                const int v = node->inputs[k];
                bool seen = v < 0;
                for (int j = 0; j < k; j++)
                    seen = seen || node->inputs[j] == v;
                if (seen)
                    continue;
                if (pass == 0)
                    start[v + 1]++, total++;
                else
                    a->uses[start[v]++] = s;
            }
        }
        if (pass == 0) {
            for (size_t v = 1; v <= values; v++)
                start[v] += start[v - 1];
            PX_TRY(PX_ARENA_NEW(a->uses, arena, total, err));
        }
    }
    for (int i = 0; i < a->graph->output_count; i++)
        a->is_output[a->graph->outputs[i]] = true;
    return PX_OK;
}

/* Where the channel axis of `in` ends up after Transpose, Squeeze or Unsqueeze: those keep the
 * order of the elements of every axis, so for the latter two the axis is found by counting extents.
 */
static int axes_channel(const pxi_step *step, int channel)
{
    const px_shape *in = &step->ctx.in[0].shape, *out = &step->ctx.out[0].shape;
    if (channel < 0)
        return -1;
    if (strcmp(step->ctx.node->type, "Transpose") == 0) {
        const px_attr *perm = px_node_attr(step->ctx.node, "perm");
        for (int i = 0; i < out->rank; i++)
            if ((perm ? (int)perm->ints[i] : in->rank - 1 - i) == channel)
                return i;
        return -1;
    }
    if (in->dim[channel] == 1)
        return -1;
    int nth = 0; /* among the axes longer than one, which neither operator adds or removes */
    for (int i = 0; i < channel; i++)
        nth += in->dim[i] != 1;
    for (int i = 0; i < out->rank; i++)
        if (out->dim[i] != 1 && nth-- == 0)
            return i;
    return -1;
}

static int step_channel(const pxi_anatomy *a, int s, int out_value)
{
    const pxi_step *step = &a->program->steps[s];
    const px_shape *out = &pxi_anatomy_tensor(a, out_value)->shape;
    const int first = pxi_anatomy_operand(a, step, 0);
    switch (a->part[s]) {
    case PXI_PART_LINEAR:
        return strncmp(step->ctx.node->type, "Conv", 4) == 0 ? 1 : out->rank - 1;
    case PXI_PART_RECURRENT:
        return out->rank - 1;
    case PXI_PART_AXES:
        return axes_channel(step, first < 0 ? -1 : a->channel[first]);
    case PXI_PART_POOL:
        if (out->rank == 2)
            return 1;
        break;
    case PXI_PART_OTHER:
    case PXI_PART_RESHAPE:
        if (!step->op->elementwise)
            return -1;
        break;
    default:
        break;
    }
    for (int i = 0;; i++) { /* the first operand that says something about this rank */
        const int v = pxi_anatomy_operand(a, step, i);
        if (v < 0)
            return -1;
        if (a->channel[v] >= 0 && pxi_anatomy_tensor(a, v)->shape.rank == out->rank)
            return a->channel[v];
    }
}

/* The one root of a step's operands, if the step treats all elements alike; -1 otherwise. */
static int step_root(const pxi_anatomy *a, int s)
{
    const pxi_step *step = &a->program->steps[s];
    const pxi_part part = a->part[s];
    if (part != PXI_PART_ACTIVATION && part != PXI_PART_POINTWISE)
        return -1;
    int root = -1;
    for (int i = 0;; i++) {
        const int v = pxi_anatomy_operand(a, step, i);
        if (v < 0)
            break;
        if (root >= 0 && a->root[v] != root)
            return -1;
        root = a->root[v];
    }
    if (root < 0 || !px_shape_equal(&pxi_anatomy_tensor(a, root)->shape, &step->ctx.out[0].shape))
        return -1;
    return root;
}

/* An activation's value counts where something other than the same activation reads it. What goes
 * on from there (1 - sigmoid of a gate) is not a second layer. */
static void anatomy_find_posts(pxi_anatomy *a)
{
    for (int s = 0; s < a->program->step_count; s++) {
        const pxi_step *step = &a->program->steps[s];
        const int v = step->ctx.out_count > 0 ? step->ctx.node->outputs[0] : -1;
        if (v < 0 || a->root[v] == v)
            continue;
        a->active[v] = a->part[s] == PXI_PART_ACTIVATION;
        for (int i = 0; !a->active[v]; i++) {
            const int u = pxi_anatomy_operand(a, step, i);
            if (u < 0)
                break;
            a->active[v] = a->active[u] && !a->post[u];
        }
        bool leaves = a->is_output[v];
        for (int u = a->use_start[v]; u < a->use_start[v + 1]; u++) {
            const px_node *reader = a->program->steps[a->uses[u]].ctx.node;
            leaves = leaves || reader->output_count < 1 || reader->outputs[0] < 0 ||
                     a->root[reader->outputs[0]] != a->root[v];
        }
        a->post[v] = a->active[v] && leaves;
    }
}

/* Steps that a path from a linear operator to its activation may take. Max pooling is one: it
 * commutes with every activation that rises, and relu(max_pool(conv)) is a common way to write it.
 */
static bool step_is_transparent(const pxi_anatomy *a, int s)
{
    const pxi_part part = a->part[s];
    return part == PXI_PART_NORM || part == PXI_PART_AFFINE || part == PXI_PART_JOIN ||
           part == PXI_PART_PASS || part == PXI_PART_AXES ||
           (part == PXI_PART_POOL && strcmp(a->program->steps[s].ctx.node->type, "MaxPool") == 0);
}

static void anatomy_find_reach(pxi_anatomy *a)
{
    for (int s = a->program->step_count - 1; s >= 0; s--) {
        const px_node *maker = a->program->steps[s].ctx.node;
        const int v = maker->output_count > 0 ? maker->outputs[0] : -1;
        if (v < 0)
            continue;
        for (int u = a->use_start[v]; u < a->use_start[v + 1]; u++) {
            const int reader = a->uses[u];
            const px_node *node = a->program->steps[reader].ctx.node;
            const int w = node->output_count > 0 ? node->outputs[0] : -1;
            if (w < 0)
                continue;
            const bool same = a->root[w] == a->root[v] && a->root[w] != w;
            if ((same && a->active[w]) || ((same || step_is_transparent(a, reader)) && a->reach[w]))
                a->reach[v] = true;
        }
    }
}

static void anatomy_find_own(pxi_anatomy *a)
{
    for (int s = 0; s < a->program->step_count; s++) {
        const pxi_step *step = &a->program->steps[s];
        const int v = step->ctx.out_count > 0 ? step->ctx.node->outputs[0] : -1;
        if (v < 0)
            continue;
        if (a->part[s] == PXI_PART_LINEAR)
            a->own[v] = v;
        else if (!a->active[v] && (step_is_transparent(a, s) || a->root[v] != v))
            for (int i = 0;; i++) { /* of several, the deepest: a block's path, not its shortcut */
                const int u = pxi_anatomy_operand(a, step, i);
                if (u < 0)
                    break;
                if (a->own[u] >= 0 && (a->own[v] < 0 || a->depth[a->own[u]] > a->depth[a->own[v]]))
                    a->own[v] = a->own[u];
            }
    }
}

px_status pxi_anatomy_init(pxi_anatomy *a, const pxi_program *program, px_arena *arena,
                           px_error *err)
{
    const px_graph *graph = &program->graph;
    const size_t values = (size_t)graph->value_count;
    *a = (pxi_anatomy){.graph = graph, .program = program};
    bool *flags = NULL;
    int *numbers = NULL;
    PX_TRY(PX_ARENA_NEW(a->part, arena, program->step_count, err));
    PX_TRY(PX_ARENA_NEW(flags, arena, 4 * values, err));
    PX_TRY(PX_ARENA_NEW(numbers, arena, 4 * values, err));
    a->is_output = flags, a->active = flags + values;
    a->post = flags + 2 * values, a->reach = flags + 3 * values;
    a->depth = numbers, a->channel = numbers + values;
    a->root = numbers + 2 * values, a->own = numbers + 3 * values;
    for (int v = 0; v < graph->value_count; v++) {
        a->channel[v] = -1;
        a->root[v] = v;
        a->own[v] = -1;
    }
    PX_TRY(anatomy_link(a, arena, err));

    for (int s = 0; s < program->step_count; s++) {
        const pxi_step *step = &program->steps[s];
        a->part[s] = step_part(a, step);
        const int root = step_root(a, s);
        if (a->part[s] == PXI_PART_POINTWISE && root < 0 && step_is_any(step, "Add", "Sum", "", ""))
            a->part[s] = PXI_PART_JOIN;
        int depth = 0;
        for (int i = 0, v; (v = pxi_anatomy_operand(a, step, i)) >= 0; i++)
            depth = PX_MAX(depth, a->depth[v]);
        for (int i = 0; i < step->ctx.out_count; i++) {
            const int v = step->ctx.node->outputs[i];
            if (v < 0)
                continue;
            a->depth[v] = depth + 1;
            a->channel[v] = step_channel(a, s, v);
            if (i == 0 && root >= 0)
                a->root[v] = root;
        }
    }
    anatomy_find_posts(a);
    anatomy_find_reach(a);
    anatomy_find_own(a);
    return PX_OK;
}
