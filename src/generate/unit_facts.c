/* src/generate/unit_facts.c - incoming weights and kinds of neurons; counting when they fire */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/unit_facts.h"

#include "base/memory.h"
#include <internal/gemm.h>
#include <internal/program.h>

#include <stdlib.h>
#include <string.h>

/* Adds up the weights that lead to each output of a linear operator. `outputs` is how many the
 * layer has; other numbers mean a layout that is none of these, and weights of 0. */
static void facts_weights(const px_op_ctx *ctx, int64_t outputs, double *weight)
{
    const px_tensor *w = &ctx->in[1];
    const char *type = ctx->node->type;
    if (ctx->node->input_count < 2 || !w->data || w->dtype != PX_FLOAT32 || outputs < 1)
        return;
    const float *values = w->data;
    const int64_t count = px_shape_count(&w->shape), each = count / outputs;
    const bool conv = strcmp(type, "Conv") == 0, gemm = strcmp(type, "Gemm") == 0;
    const bool rows = conv || (gemm && ((const pxi_gemm_params *)ctx->params)->trans_b);
    const int axis = rows ? 0 : w->shape.rank - 1; /* of the outputs */
    if (strcmp(type, "ConvTranspose") == 0) {      /* [in, out / groups, ...] */
        const int64_t per = w->shape.dim[1], inputs = w->shape.dim[0];
        const int64_t groups = outputs / PX_MAX(per, 1), space = count / PX_MAX(inputs * per, 1);
        if (per < 1 || groups < 1 || groups * per != outputs || inputs % groups != 0)
            return;
        for (int64_t i = 0; i < count; i++) {
            const int64_t in = i / (per * space), out = i / space % per;
            weight[in / (inputs / groups) * per + out] += (double)values[i];
        }
        for (int64_t o = 0; o < outputs; o++)
            weight[o] /= (double)(inputs / groups * space);
        return;
    }
    if (w->shape.rank < 2 || w->shape.dim[axis] != outputs)
        return;
    for (int64_t i = 0; i < count; i++)
        weight[rows ? i / each : i % outputs] += (double)values[i];
    for (int64_t o = 0; o < outputs; o++)
        weight[o] /= (double)each;
}

static bool facts_linear(const px_node *node)
{
    static const char *const types[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
    for (size_t i = 0; i < PX_LEN(types); i++)
        if (!node->domain[0] && strcmp(node->type, types[i]) == 0)
            return true;
    return false;
}

static pxi_unit_kind facts_kind(const px_layer *layer, const px_node *maker)
{
    static const struct {
        const char *type;
        pxi_unit_kind kind;
    } kinds[] = {
        {"Add", PXI_UNIT_JOIN},
        {"Sum", PXI_UNIT_JOIN},
        {"Concat", PXI_UNIT_JOIN},
        {"BatchNormalization", PXI_UNIT_NORM},
        {"InstanceNormalization", PXI_UNIT_NORM},
        {"LayerNormalization", PXI_UNIT_NORM},
        {"Pad", PXI_UNIT_CONV},
    };
    if (layer->kind == PX_LAYER_POOL)
        return PXI_UNIT_POOL;
    if (layer->kind == PX_LAYER_SOFTMAX)
        return PXI_UNIT_ACTIVATION;
    if (layer->kind == PX_LAYER_RECURRENT)
        return PXI_UNIT_OTHER;
    if (maker && facts_linear(maker))
        return layer->kind == PX_LAYER_CONV ? PXI_UNIT_CONV : PXI_UNIT_DENSE;
    for (size_t i = 0; maker && i < PX_LEN(kinds); i++)
        if (strcmp(maker->type, kinds[i].type) == 0)
            return kinds[i].kind;
    return PXI_UNIT_ACTIVATION;
}

static void facts_fill(pxi_unit_facts *facts, const pxi_program *program, const px_probe *probe)
{
    for (size_t l = 0; l < px_probe_layer_count(probe); l++) {
        const px_layer *layer = px_probe_layer(probe, l);
        const int step = layer->pre < 0 ? -1 : program->slots[layer->pre].producer;
        const px_op_ctx *ctx = step < 0 ? NULL : &program->steps[step].ctx;
        const bool weighs = layer->kind == PX_LAYER_CONV || layer->kind == PX_LAYER_DENSE;
        if (ctx && weighs && facts_linear(ctx->node))
            facts_weights(ctx, layer->neuron_count, facts->weight + layer->neuron_offset);
        for (int64_t n = 0; n < layer->neuron_count; n++) {
            facts->layer[layer->neuron_offset + n] = (int)l;
            facts->kind[layer->neuron_offset + n] =
                (uint8_t)facts_kind(layer, ctx ? ctx->node : NULL);
        }
    }
}

px_status pxi_unit_facts_init(pxi_unit_facts *facts, const px_model *model, const px_probe *probe,
                              const px_feed *sample, px_error *err)
{
    const size_t count = (size_t)px_probe_neuron_count(probe);
    *facts = (pxi_unit_facts){
        .count = (int64_t)count,
        .layers = (int)px_probe_layer_count(probe),
        .layer = pxi_calloc(count, sizeof *facts->layer),
        .kind = pxi_calloc(count, sizeof *facts->kind),
        .weight = pxi_calloc(count, sizeof *facts->weight),
    };
    px_status status = facts->layer && facts->kind && facts->weight
                           ? PX_OK
                           : pxi_no_memory_for(err, "%zu neurons", count);
    pxi_program *program = NULL;
    const pxi_feed feed = {.value = sample->value,
                           .tensor = {.dtype = PX_FLOAT32, .shape = sample->shape}};
    PX_THEN(status, pxi_program_new(model, &feed, 1, NULL, 0, &program, err));
    if (status == PX_OK)
        facts_fill(facts, program, probe);
    pxi_program_free(program);
    if (status != PX_OK)
        pxi_unit_facts_done(facts);
    return status;
}

void pxi_unit_facts_done(pxi_unit_facts *facts)
{
    free(facts->layer);
    free(facts->kind);
    free(facts->weight);
    *facts = (pxi_unit_facts){0};
}

typedef struct weighed {
    double weight;
    int64_t unit;
} weighed;

static int weighed_order(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->unit < y->unit ? -1 : 1;
}

bool pxi_unit_facts_by_weight(const pxi_unit_facts *facts, int64_t *out)
{
    weighed *list = pxi_calloc((size_t)facts->count, sizeof *list);
    if (!list)
        return false;
    for (int64_t i = 0; i < facts->count; i++) {
        const double w = facts->weight[i];
        list[i] = (weighed){w == w ? w : 0.0, i}; /* NaN has no place in an order */
    }
    qsort(list, (size_t)facts->count, sizeof *list, weighed_order);
    for (int64_t i = 0; i < facts->count; i++)
        out[i] = list[i].unit;
    free(list);
    return true;
}

px_status pxi_unit_tally_init(pxi_unit_tally *tally, int64_t count, px_error *err)
{
    *tally =
        (pxi_unit_tally){.count = count, .times = pxi_calloc((size_t)count, sizeof *tally->times)};
    return tally->times ? PX_OK : pxi_no_memory(err);
}

void pxi_unit_tally_done(pxi_unit_tally *tally)
{
    free(tally->times);
    *tally = (pxi_unit_tally){0};
}

int64_t pxi_unit_tally_add(pxi_unit_tally *tally, const float *values, double threshold)
{
    int64_t fresh = 0;
    for (int64_t i = 0; i < tally->count; i++)
        if ((double)values[i] > threshold) /* false for NaN */
            fresh += tally->times[i]++ == 0;
    tally->covered += fresh;
    return fresh;
}
