/* src/cover/extract_cac.c - rows for CAC: means of input channels, and their window sums
 *
 * A dense layer behind a flattened picture has the picture's channels as its input channels: each
 * is a neuron of the layer before. Layers that read the network's input have no neurons in front
 * and no edges.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/cac.h"
#include <internal/gemm.h>
#include <internal/program.h>
#include <internal/sample_plan.h>

#include <inttypes.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

typedef struct cac_extractor {
    px_extractor base;
    px_probe *probe;
    pxi_cac_net net;
    px_row_layer *layers;
    int *observe;
    char *key, *definition;
} cac_extractor;

static void cac_free(px_extractor *base)
{
    cac_extractor *e = (cac_extractor *)(void *)base;
    if (!e)
        return;
    for (size_t l = 0; e->net.layers && l < e->net.count; l++) {
        free(e->net.layers[l].weights);
        free(e->net.layers[l].bias);
        pxi_window_sums_done(&e->net.layers[l].sums);
    }
    free(e->net.layers);
    free(e->layers);
    free(e->observe);
    free(e->key);
    free(e->definition);
    px_probe_free(e->probe);
    free(e);
}

/* --- rows ------------------------------------------------------------------------------------ */

static px_status cac_scratch_new(const px_extractor *base, int64_t batch, void **scratch,
                                 px_error *err)
{
    (void)batch;
    const cac_extractor *e = (const cac_extractor *)(const void *)base;
    size_t bytes = 0;
    for (size_t l = 0; l < e->net.count; l++)
        if (e->net.layers[l].conv)
            bytes = PX_MAX(bytes, pxi_window_sums_scratch(&e->net.layers[l].sums, 1));
    *scratch = pxi_alloc_aligned(bytes);
    return *scratch ? PX_OK : pxi_no_memory(err);
}

/* Means of the channels of [N, C, ...], in double and in logical order. */
static void conv_means(const pxi_cac_layer *layer, const px_view *view, int64_t s, float *v)
{
    const px_shape *shape = &view->shape;
    const int64_t width = shape->dim[shape->rank - 1];
    const int64_t height = shape->rank == 4 ? shape->dim[2] : 1;
    const int64_t down = shape->rank == 4 ? view->stride[2] : 0;
    const int64_t right = view->stride[shape->rank - 1];
    for (int64_t c = 0; c < layer->inputs; c++) {
        const float *at = view->data + s * view->stride[0] + c * view->stride[1];
        double sum = 0.0;
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++)
                sum += (double)at[y * down + x * right];
        v[c] = (float)(sum / (double)(height * width));
    }
}

static void dense_means(const pxi_cac_layer *layer, const px_view *view, int64_t s, float *v,
                        float *terms)
{
    for (int64_t c = 0; c < layer->inputs; c++) {
        double sum = 0.0;
        for (int64_t t = 0; t < layer->terms; t++) {
            const int64_t column = c * layer->channel_step + t * layer->term_step;
            const float x = view->data[s * view->stride[0] + column * view->stride[1]];
            terms[column] = x;
            sum += (double)x;
        }
        v[c] = (float)(sum / (double)layer->terms);
    }
}

static px_status cac_look(const px_extractor *base, void *scratch, int value, const px_view *view,
                          int64_t samples, float *rows, px_error *err)
{
    (void)err;
    const cac_extractor *e = (const cac_extractor *)(const void *)base;
    for (size_t l = 0; l < e->net.count; l++) {
        const pxi_cac_layer *layer = &e->net.layers[l];
        if (layer->input != value)
            continue;
        for (int64_t s = 0; s < samples; s++) {
            float *row = rows + s * base->width;
            if (layer->conv)
                conv_means(layer, view, s, row + layer->v);
            else
                dense_means(layer, view, s, row + layer->v, row + layer->s);
        }
        if (layer->conv)
            pxi_window_sums_terms(&layer->sums, view, samples, scratch, rows + layer->s,
                                  base->width);
    }
    return PX_OK;
}

static const px_extractor_kind cac_kind = {
    .scratch_new = cac_scratch_new,
    .scratch_free = free,
    .look = cac_look,
    .free = cac_free,
};

const pxi_cac_net *pxi_cac_net_of(const px_extractor *extractor)
{
    return extractor->kind == &cac_kind ? &((const cac_extractor *)(const void *)extractor)->net
                                        : NULL;
}

/* --- layers ---------------------------------------------------------------------------------- */

static px_status layer_conv(pxi_cac_layer *layer, const px_op_ctx *ctx, bool *takes, px_error *err)
{
    const pxi_conv_params *p = ctx->params;
    *takes = !p->transposed && p->window.spatial <= 2 && p->batch == 1 && ctx->in[1].data &&
             (!p->has_bias || ctx->in[2].data);
    for (int d = 0; d < p->window.spatial; d++)
        *takes &= p->window.kernel[d] <= 64;
    if (!*takes)
        return PX_OK;
    const float *bias = p->has_bias ? ctx->in[2].data : NULL;
    PX_TRY(pxi_window_sums_init(&layer->sums, p, ctx->in[1].data, bias, err));
    layer->conv = true;
    layer->inputs = p->in_channels;
    layer->outputs = p->out_channels;
    layer->group = p->group;
    layer->terms = pxi_window_kernel_count(&p->window);
    layer->term_step = layer->inputs;
    layer->channel_step = 1;
    const int64_t pg = layer->inputs / layer->group, qg = layer->outputs / layer->group;
    const float *w = ctx->in[1].data; /* [Q][P/group][T] */
    layer->weights = pxi_calloc((size_t)(layer->inputs * layer->terms * qg), sizeof(float));
    layer->bias = pxi_calloc((size_t)layer->outputs, sizeof(float));
    if (!layer->weights || !layer->bias)
        return pxi_no_memory(err);
    const double places = (double)pxi_window_out_count(&p->window);
    for (int64_t i = 0; i < layer->inputs; i++)
        for (int64_t t = 0; t < layer->terms; t++)
            for (int64_t m = 0; m < qg; m++)
                layer->weights[(i * layer->terms + t) * qg + m] =
                    (float)((double)w[((i / pg * qg + m) * pg + i % pg) * layer->terms + t] /
                            places);
    for (int64_t m = 0; bias && m < layer->outputs; m++)
        layer->bias[m] = bias[m];
    return PX_OK;
}

/* Whether the tensor was made channels-last from channels-first by a Transpose. */
static bool is_channels_last(const pxi_program *program, int value)
{
    const int producer = program->slots[value].producer;
    const px_node *node = producer < 0 ? NULL : program->steps[producer].ctx.node;
    const px_attr *perm =
        node && strcmp(node->type, "Transpose") == 0 ? px_node_attr(node, "perm") : NULL;
    if (!perm || perm->count < 3 || perm->ints[0] != 0 || perm->ints[perm->count - 1] != 1)
        return false;
    for (size_t d = 1; d + 1 < perm->count; d++)
        if (perm->ints[d] != (int64_t)d + 1)
            return false;
    return true;
}

/* The channels of `columns` values that were a picture before they were flattened, and where they
 * lie: column = i * channel_step + t * term_step. Without a picture each column is a channel. */
static void channels_behind(const pxi_program *program, int value, int64_t columns,
                            pxi_cac_layer *layer)
{
    static const char *const moves[] = {"Flatten", "Reshape", "Dropout", "Identity", "Squeeze"};
    layer->inputs = columns;
    layer->terms = layer->channel_step = layer->term_step = 1;
    for (;;) {
        const px_shape *shape = &program->slots[value].tensor.shape;
        const int producer = program->slots[value].producer;
        const px_node *node = producer < 0 ? NULL : program->steps[producer].ctx.node;
        if (shape->rank >= 3 && shape->dim[0] == 1 && px_shape_count(shape) == columns) {
            const bool last = is_channels_last(program, value);
            if (!last && node && strcmp(node->type, "Transpose") == 0)
                return; /* no telling */
            layer->inputs = shape->dim[last ? shape->rank - 1 : 1];
            layer->terms = columns / layer->inputs;
            layer->channel_step = last ? 1 : layer->terms;
            layer->term_step = last ? layer->inputs : 1;
            return;
        }
        bool moved = false;
        for (size_t i = 0; node && i < PX_LEN(moves) && !moved; i++)
            moved = strcmp(node->type, moves[i]) == 0;
        if (!moved || node->inputs[0] < 0)
            return;
        value = node->inputs[0];
    }
}

static px_status layer_dense(pxi_cac_layer *layer, const pxi_program *program, const px_op_ctx *ctx,
                             bool *takes, px_error *err)
{
    const bool gemm = strcmp(ctx->node->type, "Gemm") == 0;
    const pxi_gemm_params *g = ctx->params;
    const px_shape *x = &ctx->in[0].shape, *b = &ctx->in[1].shape;
    *takes = ctx->in[1].data && !ctx->in[0].data && x->rank == 2 && x->dim[0] == 1 &&
             b->rank == 2 && !(gemm && (g->trans_a || (g->has_c && !ctx->in[2].data)));
    if (!*takes)
        return PX_OK;
    const bool transposed = gemm && g->trans_b;
    const int64_t columns = x->dim[1], outputs = transposed ? b->dim[0] : b->dim[1];
    channels_behind(program, ctx->node->inputs[0], columns, layer);
    layer->outputs = outputs;
    layer->group = 1;
    layer->weights = pxi_calloc((size_t)(columns * outputs), sizeof(float));
    layer->bias = pxi_calloc((size_t)outputs, sizeof(float));
    if (!layer->weights || !layer->bias)
        return pxi_no_memory(err);
    const float *w = ctx->in[1].data;
    const double alpha = gemm ? g->alpha : 1.0;
    for (int64_t i = 0; i < columns; i++) {
        const int64_t column =
            i / layer->terms * layer->channel_step + i % layer->terms * layer->term_step;
        for (int64_t m = 0; m < outputs; m++)
            layer->weights[i * outputs + m] =
                (float)(alpha *
                        (double)w[transposed ? m * columns + column : column * outputs + m]);
    }
    for (int64_t m = 0; gemm && g->has_c && m < outputs; m++)
        layer->bias[m] =
            (float)(g->beta * (double)((const float *)ctx->in[2].data)[m * g->c_column]);
    return PX_OK;
}

static bool is_linear(const px_node *node)
{
    return !node->domain[0] &&
           (strcmp(node->type, "Conv") == 0 || strcmp(node->type, "Gemm") == 0 ||
            strcmp(node->type, "MatMul") == 0);
}

/* deep[v]: a linear operator is behind it. */
static void find_deep(const pxi_program *program, bool *deep)
{
    for (int s = 0; s < program->step_count; s++) {
        const px_node *node = program->steps[s].ctx.node;
        bool found = is_linear(node) || strcmp(node->type, "ConvTranspose") == 0;
        for (int i = 0; i < node->input_count; i++)
            found |= node->inputs[i] >= 0 && deep[node->inputs[i]];
        for (int o = 0; o < node->output_count; o++)
            if (node->outputs[o] >= 0)
                deep[node->outputs[o]] = found;
    }
}

static px_status net_layer(pxi_cac_net *net, const px_layer *from, const pxi_program *program,
                           const bool *deep, px_error *err)
{
    const int producer = program->slots[from->pre].producer;
    if (producer < 0 || !is_linear(program->steps[producer].ctx.node))
        return PX_OK;
    const px_op_ctx *ctx = &program->steps[producer].ctx;
    const int input = ctx->node->inputs[0];
    if (!deep[input] || ctx->in[0].dtype != PX_FLOAT32 || ctx->in[1].dtype != PX_FLOAT32)
        return PX_OK;
    bool takes = false;
    pxi_cac_layer *layer = &net->layers[net->count++]; /* freed by its count, whatever happens */
    *layer = (pxi_cac_layer){.name = from->name, .input = input};
    PX_TRY(strcmp(ctx->node->type, "Conv") == 0 ? layer_conv(layer, ctx, &takes, err)
                                                : layer_dense(layer, program, ctx, &takes, err));
    if (!takes)
        net->count--;
    return PX_OK;
}

static void net_number(pxi_cac_net *net, int64_t *width)
{
    for (size_t l = 0; l < net->count; l++) {
        pxi_cac_layer *layer = &net->layers[l];
        const int64_t pg = layer->inputs / layer->group, qg = layer->outputs / layer->group;
        layer->v = net->channels;
        layer->out = net->outputs;
        layer->edge = net->edges;
        net->channels += layer->inputs;
        net->outputs += layer->outputs;
        net->edges += layer->inputs * qg;
        net->widest = PX_MAX(net->widest, pg * qg);
    }
    *width = net->channels;
    for (size_t l = 0; l < net->count; l++) {
        net->layers[l].s = *width;
        *width += net->layers[l].inputs * net->layers[l].terms;
    }
}

static px_status cac_fill(cac_extractor *e, const px_model *model, const px_probe_options *options,
                          px_error *err)
{
    const size_t most = px_probe_layer_count(e->probe);
    pxi_program *program = NULL;
    bool *deep = pxi_calloc((size_t)px_model_graph(model)->value_count, sizeof *deep);
    e->net.layers = pxi_calloc(most, sizeof *e->net.layers);
    e->layers = pxi_calloc(most, sizeof *e->layers);
    e->observe = pxi_calloc(most, sizeof *e->observe);
    px_status status = deep && e->net.layers && e->layers && e->observe
                           ? pxi_program_sized(model, options->feeds, options->feed_count, 1, NULL,
                                               0, &program, err)
                           : pxi_no_memory(err);
    if (status == PX_OK)
        find_deep(program, deep);
    for (size_t l = 0; status == PX_OK && l < most; l++)
        status = net_layer(&e->net, px_probe_layer(e->probe, l), program, deep, err);
    pxi_program_free(program);
    free(deep);
    PX_TRY(status);
    if (e->net.count == 0)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "cac: none of the chosen layers (%.150s) is a convolution or a dense layer "
                       "behind another one; choose others with --layers",
                       px_probe_describe(e->probe));
    net_number(&e->net, &e->base.width);
    for (size_t l = 0; l < e->net.count; l++) {
        const pxi_cac_layer *layer = &e->net.layers[l];
        e->layers[l] =
            (px_row_layer){.name = layer->name, .offset = layer->v, .count = layer->inputs};
        size_t at = 0;
        while (at < e->base.observe_count && e->observe[at] != layer->input)
            at++;
        if (at == e->base.observe_count)
            e->observe[e->base.observe_count++] = layer->input;
    }
    return PX_OK;
}

px_status pxi_extractor_cac(const px_model *model, const px_probe_options *options, int bins,
                            px_extractor **out, px_error *err)
{
    cac_extractor *e = NULL;
    PX_TRY(PX_NEW(e, 1, err));
    e->base.kind = &cac_kind;
    px_status status = px_probe_new(model, options, &e->probe, err);
    PX_THEN(status, cac_fill(e, model, options, err));
    if (status == PX_OK) {
        px_text text = {0};
        px_text_format(&text, "contributions %s", px_probe_describe(e->probe));
        e->key = px_text_take(&text);
        px_text_format(&text, "edges into %zu layers of %s: %" PRId64 " edges, %.1f MiB of tables",
                       e->net.count, px_probe_describe(e->probe), e->net.edges,
                       (double)e->net.edges * bins * bins * 4.0 / 1048576.0);
        e->definition = px_text_take(&text);
        if (!e->key || !e->definition)
            status = pxi_no_memory(err);
    }
    if (status != PX_OK) {
        cac_free(&e->base);
        return status;
    }
    e->base.key = e->key;
    e->base.definition = e->definition;
    e->base.layers = e->layers;
    e->base.layer_count = e->net.count;
    e->base.observe = e->observe;
    *out = &e->base;
    return PX_OK;
}
