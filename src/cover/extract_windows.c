/* src/cover/extract_windows.c - `pre` channel means without taking fused layers apart
 *
 * As px_extractor_probe(), but where a layer is a convolution its input is observed instead of its
 * output (window_sums.h). Layers of other kinds are observed as they are.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/extract_windows.h"

#include "base/memory.h"
#include "cover/window_sums.h"
#include <internal/program.h>
#include <internal/sample_plan.h>

#include <internal/probe.h>
#include <internal/profile.h>
#include <stdlib.h>
#include <string.h>

typedef struct window_layer {
    int input;            /* the value that is observed */
    bool direct;          /* it is the layer itself */
    pxi_window_sums sums; /* otherwise */
} window_layer;

typedef struct windows_extractor {
    px_extractor base;
    px_extractor *probe; /* whose layers and texts these are */
    char *key;
    window_layer *layers;
    size_t count;
    int *observe;
} windows_extractor;

static px_status windows_scratch_new(const px_extractor *self, int64_t batch, void **scratch,
                                     px_error *err)
{
    const windows_extractor *e = (const windows_extractor *)self;
    size_t bytes = 0;
    for (size_t l = 0; l < e->count; l++)
        if (!e->layers[l].direct)
            bytes = PX_MAX(bytes, pxi_window_sums_scratch(&e->layers[l].sums, batch));
    *scratch = pxi_alloc_aligned(bytes);
    return *scratch ? PX_OK : pxi_no_memory(err);
}

static px_status windows_look(const px_extractor *self, void *scratch, int value,
                              const px_view *view, int64_t samples, float *rows, px_error *err)
{
    const windows_extractor *e = (const windows_extractor *)self;
    for (size_t l = 0; l < e->count; l++) {
        float *out = rows + self->layers[l].offset;
        if (e->layers[l].input != value)
            continue;
        if (e->layers[l].direct)
            PX_TRY(px_probe_trace_layer(self->probe, l, view, samples, out, self->width, err));
        else
            pxi_window_sums_run(&e->layers[l].sums, view, samples, scratch, out, self->width);
    }
    return PX_OK;
}

static void windows_free(px_extractor *self)
{
    windows_extractor *e = (windows_extractor *)self;
    for (size_t l = 0; e->layers && l < e->count; l++)
        pxi_window_sums_done(&e->layers[l].sums);
    px_extractor_free(e->probe);
    free(e->layers);
    free(e->observe);
    free(e->key);
    free(e);
}

static const px_extractor_kind windows_kind = {.scratch_new = windows_scratch_new,
                                               .scratch_free = free,
                                               .look = windows_look,
                                               .free = windows_free};

/* The network for one sample, to see its convolutions as the engine does. */
/* Batch, channels, space: how the sums expect the input and the means their neurons. */
static bool layer_is_plain(const px_layer *layer)
{
    bool plain = layer->shape.rank >= 3 && layer->axis[0] == PX_AXIS_BATCH &&
                 layer->shape.dim[0] == 1 && layer->axis[1] == PX_AXIS_CHANNEL;
    for (int d = 2; plain && d < layer->shape.rank; d++)
        plain = layer->axis[d] == PX_AXIS_SPACE;
    return plain;
}

static px_status windows_layer(window_layer *to, const px_layer *layer, const pxi_program *program,
                               px_error *err)
{
    *to = (window_layer){.input = layer->tap_value, .direct = true};
    const int producer = program ? program->slots[layer->tap_value].producer : -1;
    if (producer < 0 || !layer_is_plain(layer))
        return PX_OK;
    const px_op_ctx *ctx = &program->steps[producer].ctx;
    const pxi_conv_params *conv = ctx->params;
    if (strcmp(ctx->node->type, "Conv") != 0 || ctx->node->domain[0] != '\0' ||
        !pxi_window_sums_fit(conv) || ctx->in[0].data || ctx->in[0].dtype != PX_FLOAT32 ||
        !ctx->in[1].data || ctx->in[1].dtype != PX_FLOAT32 ||
        (conv->has_bias && !ctx->in[2].data) || conv->batch != 1 ||
        conv->out_channels != layer->neuron_count)
        return PX_OK;
    PX_TRY(pxi_window_sums_init(&to->sums, conv, ctx->in[1].data,
                                conv->has_bias ? ctx->in[2].data : NULL, err));
    to->input = ctx->node->inputs[0];
    to->direct = false;
    return PX_OK;
}

static char *windows_key(const px_extractor *probe)
{
    px_text text = {0};
    px_text_format(&text, "windows %s", probe->key);
    return px_text_take(&text);
}

px_status pxi_extractor_windows(const px_model *model, const px_probe_options *options,
                                px_extractor **out, px_error *err)
{
    px_extractor *probe = NULL;
    PX_TRY(px_extractor_probe(model, options, &probe, err));
    if (options->tap != PX_TAP_PRE || options->neurons != PX_VIEW_CHAN || options->deepxplore) {
        *out = probe;
        return PX_OK;
    }
    windows_extractor *e = pxi_calloc(1, sizeof *e);
    if (!e) {
        px_extractor_free(probe);
        return pxi_no_memory(err);
    }
    e->base = *probe;
    e->base.kind = &windows_kind;
    e->probe = probe;
    e->count = probe->layer_count;
    e->layers = pxi_calloc(e->count, sizeof *e->layers);
    e->observe = pxi_calloc(e->count, sizeof *e->observe);
    e->key = windows_key(probe);
    px_status status = e->layers && e->observe && e->key ? PX_OK : pxi_no_memory(err);
    pxi_program *program = NULL;
    px_error ignored = {0};
    if (status == PX_OK && pxi_program_sized(model, options->feeds, options->feed_count, 1, NULL, 0,
                                             &program, &ignored) != PX_OK) {
        program = NULL; /* works with a batch of its own only: all layers are taken as they are */
        if (ignored.status == PX_E_NOMEM)
            status = pxi_no_memory(err);
    }
    size_t values = 0;
    for (size_t l = 0; status == PX_OK && l < e->count; l++) {
        status = windows_layer(&e->layers[l], px_probe_layer(probe->probe, l), program, err);
        size_t at = 0;
        while (at < values && e->observe[at] != e->layers[l].input)
            at++;
        if (at == values)
            e->observe[values++] = e->layers[l].input;
    }
    pxi_program_free(program);
    if (status != PX_OK) {
        windows_free(&e->base);
        return status;
    }
    e->base.key = e->key;
    e->base.observe = e->observe;
    e->base.observe_count = values;
    *out = &e->base;
    return PX_OK;
}
