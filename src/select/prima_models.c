/* src/select/prima_models.c - networks with some of their weights changed
 *
 * A neuron is an output channel or unit of a layer with weights. Where BatchNormalization follows,
 * the neuron's pre-activation is what leaves it, so NAI also negates its shift and its mean; and
 * the bias that an exporter wrote as an Add after MatMul is a bias too. NEB looks from the other
 * side: what feeds a layer is traced back, over everything that has one input (activations,
 * pooling, normalisation, flattening), to where it was computed; a neuron there is blocked by
 * zeroing its columns in all layers that read it. Pixels are no neurons.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/prima.h"

#include "base/memory.h"

#include <assert.h>
#include <internal/build.h>
#include <internal/rng.h>
#include <internal/weights.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pxi_prima_rule_names[PXI_PRIMA_RULES] = {
    "gf", "neb", "nai", "ws", "gauss", "reverse", "black", "white", "shuffle"};

typedef struct prima_layer {
    px_weight *weight;              /* changing */
    px_weight *bias, *shift, *mean; /* NULL: none; the last two of BatchNormalization */
    int64_t outs, ins;              /* weights per neuron: ins */
    int64_t out_stride, in_stride;
    bool conv;
    int64_t groups, taps; /* of a Conv: ins = channels per group * taps */
    double sd;
} prima_layer;

typedef struct prima_source { /* a layer's input, traced back */
    int value;
    int64_t channels;
    size_t layer;     /* that reads it */
    size_t same;      /* the first source with this value and as many channels */
    bool interleaved; /* a dense reader's columns: channels are the fast axis */
} prima_source;

struct pxi_prima_net {
    const px_model *model;
    px_model *owned; /* where weights had to be made initialisers first */
    px_weights *base, *now;
    prima_layer *layers;
    prima_source *sources; /* at most one per layer */
    size_t layer_count, source_count;
    int64_t units[PXI_PRIMA_MODEL_RULES];
    bool *blocked; /* scratch of NEB: per unit */
};

void pxi_prima_net_free(pxi_prima_net *net)
{
    if (!net)
        return;
    px_weights_free(net->base);
    px_weights_free(net->now);
    px_model_free(net->owned);
    free(net->layers);
    free(net->sources);
    free(net->blocked);
    free(net);
}

const px_model *pxi_prima_net_model(const pxi_prima_net *net)
{
    return net->model;
}

px_weights *pxi_prima_net_weights(pxi_prima_net *net)
{
    return net->now;
}

int64_t pxi_prima_net_units(const pxi_prima_net *net, pxi_prima_rule rule)
{
    assert((size_t)rule < PX_LEN(net->units));
    return net->units[rule];
}

/* --- finding neurons ------------------------------------------------------------------------- */

static bool is_type(const px_node *node, const char *type)
{
    return node->domain[0] == '\0' && strcmp(node->type, type) == 0;
}

static bool is_constant(const px_graph *g, int value)
{
    return g->values[value].constant || (g->values[value].producer >= 0 &&
                                         is_type(&g->nodes[g->values[value].producer], "Constant"));
}

/* The weight behind a value, over Identity and 2-d Transpose, which turns *flipped. */
static px_weight *weight_behind(const pxi_prima_net *net, int value, bool *flipped)
{
    const px_graph *g = px_model_graph(net->model);
    while (value >= 0) {
        px_weight *weight = px_weights_find(net->now, value);
        if (weight)
            return weight;
        if (g->values[value].producer < 0)
            return NULL;
        const px_node *node = &g->nodes[g->values[value].producer];
        const px_attr *perm = px_node_attr(node, "perm");
        if (is_type(node, "Transpose") &&
            (!perm || (perm->count == 2 && perm->ints[0] == 1 && perm->ints[1] == 0)))
            *flipped = !*flipped;
        else if (!is_type(node, "Identity"))
            return NULL;
        value = node->inputs[0];
    }
    return NULL;
}

/* The only reader of a value that is not an output of the graph; NULL: none or many. */
static const px_node *only_reader(const px_graph *g, int value)
{
    const px_node *found = NULL;
    for (int i = 0; i < g->output_count; i++)
        if (g->outputs[i] == value)
            return NULL;
    for (int n = 0; n < g->node_count; n++)
        for (int i = 0; i < g->nodes[n].input_count; i++)
            if (g->nodes[n].inputs[i] == value) {
                if (found)
                    return NULL;
                found = &g->nodes[n];
            }
    return found;
}

static px_weight *vector_of(const pxi_prima_net *net, const px_node *node, int input, int64_t outs)
{
    bool flipped = false;
    px_weight *weight =
        input < node->input_count ? weight_behind(net, node->inputs[input], &flipped) : NULL;
    return weight && px_shape_count(&weight->tensor.shape) == outs ? weight : NULL;
}

/* What else moves a neuron's pre-activation: bias, and what BatchNormalization adds. */
static void layer_shifts(const pxi_prima_net *net, const px_node *node, prima_layer *layer)
{
    const px_graph *g = px_model_graph(net->model);
    layer->bias = vector_of(net, node, 2, layer->outs);
    const px_node *next = only_reader(g, node->outputs[0]);
    if (next && !layer->bias && is_type(next, "Add") && next->input_count == 2) {
        layer->bias = vector_of(net, next, next->inputs[0] == node->outputs[0], layer->outs);
        if (layer->bias)
            next = only_reader(g, next->outputs[0]);
    }
    if (next && is_type(next, "BatchNormalization")) {
        layer->shift = vector_of(net, next, 2, layer->outs);
        layer->mean = vector_of(net, next, 3, layer->outs);
    }
}

/* Whether node is a layer with weights of its own, and which. */
static bool layer_of(const pxi_prima_net *net, const px_node *node, prima_layer *layer)
{
    const bool conv = is_type(node, "Conv"), gemm = is_type(node, "Gemm");
    bool flipped = gemm && px_node_int(node, "transB", 0) != 0;
    if ((!conv && !gemm && !is_type(node, "MatMul")) || node->input_count < 2 ||
        is_constant(px_model_graph(net->model), node->inputs[0]))
        return false;
    px_weight *weight = weight_behind(net, node->inputs[1], &flipped);
    if (!weight ||
        (conv ? weight->tensor.shape.rank < 3 || flipped : weight->tensor.shape.rank != 2))
        return false;
    const px_shape *shape = &weight->tensor.shape;
    const int64_t count = px_shape_count(shape);
    *layer = (prima_layer){.weight = weight, .conv = conv, .groups = 1, .taps = 1};
    layer->outs = shape->dim[conv || flipped ? 0 : 1];
    if (count == 0 || layer->outs == 0)
        return false;
    layer->ins = count / layer->outs;
    layer->out_stride = conv || flipped ? layer->ins : 1;
    layer->in_stride = conv || flipped ? 1 : layer->outs;
    if (conv) {
        layer->groups = px_node_int(node, "group", 1);
        layer->taps = count / (shape->dim[0] * shape->dim[1]);
        if (layer->groups < 1 || layer->outs % layer->groups != 0)
            return false;
    }
    layer_shifts(net, node, layer);
    return true;
}

/* The only input that is not constant; -1: there are several. */
static int only_input(const px_graph *g, const px_node *node)
{
    int found = -1;
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] < 0 || is_constant(g, node->inputs[i]))
            continue;
        if (found >= 0)
            return -1;
        found = node->inputs[i];
    }
    return found;
}

/* Output channels of the nearest layer behind a value; 0: there is none. */
static int64_t channels_behind(const pxi_prima_net *net, int value)
{
    const px_graph *g = px_model_graph(net->model);
    prima_layer layer;
    while (value >= 0 && g->values[value].producer >= 0) {
        const px_node *node = &g->nodes[g->values[value].producer];
        if (layer_of(net, node, &layer))
            return layer.outs;
        value = node->input_count > 0 ? node->inputs[0] : -1;
    }
    return 0;
}

/* Where the input of a layer's node was computed. False: it is the network's own input. */
static bool source_of(const pxi_prima_net *net, const px_node *node, const prima_layer *layer,
                      prima_source *source)
{
    const px_graph *g = px_model_graph(net->model);
    int value = node->inputs[0];
    prima_layer behind;
    for (;;) {
        if (g->values[value].producer < 0)
            return false;
        const px_node *from = &g->nodes[g->values[value].producer];
        const int before = only_input(g, from);
        if (before < 0 || layer_of(net, from, &behind))
            break;
        source->interleaved |= is_type(from, "Transpose");
        value = before;
    }
    source->value = value;
    source->channels = layer->ins / layer->taps * layer->groups;
    if (!layer->conv) {
        const int64_t channels = channels_behind(net, value);
        if (channels > 0 && source->channels % channels == 0)
            source->channels = channels;
    }
    return true;
}

/* --- making the net -------------------------------------------------------------------------- */

static double layer_sd(const px_tensor *tensor)
{
    const float *w = tensor->data;
    const int64_t count = px_shape_count(&tensor->shape);
    double mean = 0.0, sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        mean += (double)w[i] / (double)count;
    for (int64_t i = 0; i < count; i++)
        sum += ((double)w[i] - mean) * ((double)w[i] - mean);
    return sqrt(sum / (double)count);
}

static void net_add(pxi_prima_net *net, const px_node *node)
{
    prima_layer layer;
    if (!layer_of(net, node, &layer))
        return;
    for (size_t i = 0; i < net->layer_count; i++)
        if (net->layers[i].weight == layer.weight)
            return; /* read by several nodes */
    prima_source source = {.layer = net->layer_count, .same = net->source_count};
    if (source_of(net, node, &layer, &source)) {
        for (size_t s = 0; s < net->source_count && source.same == net->source_count; s++)
            if (net->sources[s].value == source.value &&
                net->sources[s].channels == source.channels)
                source.same = s;
        if (source.same == net->source_count)
            net->units[PXI_PRIMA_NEB] += source.channels;
        net->sources[net->source_count++] = source;
    }
    layer.sd = layer_sd(&layer.weight->tensor);
    net->layers[net->layer_count++] = layer;
    net->units[PXI_PRIMA_GF] += layer.outs * layer.ins;
    net->units[PXI_PRIMA_NAI] += layer.outs;
    net->units[PXI_PRIMA_WS] += layer.outs;
}

static px_status net_init(pxi_prima_net *net, const px_model *model, px_error *err)
{
    px_builder *builder = NULL;
    net->model = model;
    px_error why = {0};
    px_status status = px_weights_new(model, &net->base, &why);
    if (status == PX_E_UNSUPPORTED) { /* Constant nodes become initialisers */
        PX_TRY(px_builder_from_model(model, &builder, err));
        PX_TRY(px_builder_finish(builder, &net->owned, err));
        net->model = net->owned;
        status = px_weights_new(net->model, &net->base, &why);
    }
    if (status != PX_OK)
        return px_fail(err, status, "%s", why.message);
    PX_TRY(px_weights_new(net->model, &net->now, err));
    const px_graph *g = px_model_graph(net->model);
    PX_TRY(PX_NEW(net->layers, g->node_count, err));
    PX_TRY(PX_NEW(net->sources, g->node_count, err));
    for (int i = 0; i < g->node_count; i++)
        net_add(net, &g->nodes[i]);
    if (net->layer_count == 0)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "changes the weights of Conv, Gemm and MatMul, and the network has none");
    if (net->units[PXI_PRIMA_GF] >= (int64_t)UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "cannot change as many weights as the network has");
    return PX_NEW(net->blocked, (size_t)net->units[PXI_PRIMA_NEB], err);
}

px_status pxi_prima_net_new(const px_model *model, pxi_prima_net **out, px_error *err)
{
    pxi_prima_net *net = NULL;
    PX_TRY(PX_NEW(net, 1, err));
    const px_status status = net_init(net, model, err);
    return PX_GIVE(status, net, out, pxi_prima_net_free);
}

/* --- changing weights ------------------------------------------------------------------------ */

typedef struct prima_choice { /* `need` of the next `left` units, all alike */
    px_random random;
    int64_t left, need;
} prima_choice;

static bool choose_next(prima_choice *c)
{
    if (c->need == 0)
        return false;
    const bool hit = (int64_t)px_rng_below(&c->random, (uint32_t)c->left--) < c->need;
    c->need -= hit;
    return hit;
}

static void layer_fuzz(const prima_layer *layer, double sd, prima_choice *c)
{
    float *w = layer->weight->tensor.data;
    for (int64_t i = 0; i < layer->outs * layer->ins; i++)
        if (choose_next(c))
            w[i] = (float)((double)w[i] + sd * px_rng_normal(&c->random));
}

static void vector_negate(px_weight *vector, int64_t at)
{
    if (vector)
        ((float *)vector->tensor.data)[at] *= -1.0f;
}

static void layer_invert(const prima_layer *layer, prima_choice *c)
{
    for (int64_t o = 0; o < layer->outs; o++) {
        if (!choose_next(c))
            continue;
        float *w = (float *)layer->weight->tensor.data + o * layer->out_stride;
        for (int64_t i = 0; i < layer->ins; i++)
            w[i * layer->in_stride] *= -1.0f;
        vector_negate(layer->bias, o);
        vector_negate(layer->mean, o);
        vector_negate(layer->shift, o);
    }
}

static void layer_shuffle(const prima_layer *layer, prima_choice *c)
{
    for (int64_t o = 0; o < layer->outs; o++) {
        if (!choose_next(c))
            continue;
        float *w = (float *)layer->weight->tensor.data + o * layer->out_stride;
        for (int64_t i = layer->ins - 1; i > 0; i--) {
            const int64_t k = px_rng_below(&c->random, (uint32_t)i + 1);
            const float kept = w[i * layer->in_stride];
            w[i * layer->in_stride] = w[k * layer->in_stride];
            w[k * layer->in_stride] = kept;
        }
    }
}

/* Zeroes what a layer reads of one channel. */
static void layer_block(const prima_layer *layer, const prima_source *source, int64_t channel)
{
    float *w = layer->weight->tensor.data;
    if (layer->conv) {
        const int64_t per_group = layer->ins / layer->taps, outs = layer->outs / layer->groups;
        const int64_t group = channel / per_group;
        for (int64_t o = group * outs; o < (group + 1) * outs; o++)
            memset(w + o * layer->ins + channel % per_group * layer->taps, 0,
                   (size_t)layer->taps * sizeof *w);
        return;
    }
    const int64_t per = layer->ins / source->channels;
    for (int64_t k = 0; k < per; k++) {
        const int64_t column =
            source->interleaved ? k * source->channels + channel : channel * per + k;
        for (int64_t o = 0; o < layer->outs; o++)
            w[o * layer->out_stride + column * layer->in_stride] = 0.0f;
    }
}

static void net_block(pxi_prima_net *net, prima_choice *c)
{
    for (int64_t u = 0; u < net->units[PXI_PRIMA_NEB]; u++)
        net->blocked[u] = choose_next(c);
    for (size_t s = 0; s < net->source_count; s++) {
        const prima_source *source = &net->sources[s];
        int64_t first = 0; /* unit of channel 0 */
        for (size_t k = 0; k < source->same; k++)
            first += net->sources[k].same == k ? net->sources[k].channels : 0;
        for (int64_t channel = 0; channel < source->channels; channel++)
            if (net->blocked[first + channel])
                layer_block(&net->layers[source->layer], source, channel);
    }
}

void pxi_prima_net_mutate(pxi_prima_net *net, pxi_prima_rule rule, double ratio, double gf_scale,
                          uint64_t seed, uint32_t number)
{
    const int64_t units = net->units[rule];
    const double wanted = ceil(ratio * (double)units - 1e-9);
    prima_choice c = {.random = px_rng(seed, PX_RNG_PRIMA_MODEL, number, (uint32_t)rule),
                      .left = units,
                      .need = PX_MIN(units, PX_MAX((int64_t)wanted, 1))};
    (void)px_weights_copy(net->now, net->base, NULL); /* of the same model: cannot fail */
    if (rule == PXI_PRIMA_NEB)
        net_block(net, &c);
    for (size_t i = 0; i < net->layer_count; i++) {
        const prima_layer *layer = &net->layers[i];
        if (rule == PXI_PRIMA_GF)
            layer_fuzz(layer, gf_scale * layer->sd, &c);
        else if (rule == PXI_PRIMA_NAI)
            layer_invert(layer, &c);
        else if (rule == PXI_PRIMA_WS)
            layer_shuffle(layer, &c);
    }
}
