/* src/cover/extract_relevance.c - rows of relevance and activations, for NPC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/extract_relevance.h"

#include "attribute/lrp.h"
#include "base/memory.h"
#include "probe/probe_internal.h"

#include <internal/probe.h>
#include <internal/text.h>
#include <math.h>
#include <stdlib.h>

typedef struct relevance {
    px_extractor base;
    px_probe *own_probe;
    pxi_lrp *lrp;
    int64_t neurons; /* half a row */
    px_row_layer *layers;
    char *key, *definition;
} relevance;

typedef struct relevance_sums { /* of one micro-batch */
    const relevance *self;
    int64_t samples;
    float *rows;
} relevance_sums;

static px_status relevance_scratch_new(const px_extractor *base, int64_t batch, void **scratch,
                                       px_error *err)
{
    pxi_lrp_run *run = NULL;
    PX_TRY(pxi_lrp_run_new(((const relevance *)(const void *)base)->lrp, batch, &run, err));
    *scratch = run;
    return PX_OK;
}

static void relevance_scratch_free(void *scratch)
{
    pxi_lrp_run_free(scratch);
}

static px_status relevance_look(const px_extractor *base, void *scratch, int value,
                                const px_view *view, int64_t samples, float *rows, px_error *err)
{
    (void)scratch;
    const relevance *self = (const relevance *)(const void *)base;
    const px_probe *probe = self->own_probe;
    for (size_t i = probe->layer_at[value]; i; i = probe->layer_next[i - 1])
        PX_TRY(px_probe_trace_layer(probe, i - 1, view, samples,
                                    rows + self->neurons + probe->layers[i - 1].neuron_offset,
                                    base->width, err));
    return PX_OK;
}

/* Sums over the places of each channel, in double and in the graph's order. */
static void layer_sums(const pxi_neuron_layout *layout, const float *data, float *row)
{
    for (int64_t c = 0; c < layout->channels; c++) {
        const float *at = data + pxi_extent_offset(layout->channel, layout->channel_rank, c);
        double sum = 0.0;
        if (layout->space_rank <= 1) {
            const int64_t stride = layout->space_rank ? layout->space[0].stride : 0;
            for (int64_t p = 0; p < layout->places; p++)
                sum += (double)at[p * stride];
        } else {
            for (int64_t p = 0; p < layout->places; p++)
                sum += (double)at[pxi_extent_offset(layout->space, layout->space_rank, p)];
        }
        row[c] = (float)sum;
    }
}

static px_status relevance_sink(void *context, int value, const px_view *view, px_error *err)
{
    const relevance_sums *sums = context;
    const relevance *self = sums->self;
    const px_probe *probe = self->own_probe;
    for (size_t i = probe->layer_at[value]; i; i = probe->layer_next[i - 1]) {
        const px_layer *layer = &probe->layers[i - 1];
        float *row = sums->rows + layer->neuron_offset;
        if (probe->neurons == PX_VIEW_UNIT) {
            PX_TRY(px_probe_trace_layer(probe, i - 1, view, sums->samples, row, self->base.width,
                                        err));
            continue;
        }
        pxi_neuron_layout layout;
        PX_TRY(pxi_neuron_layout_init(&layout, layer, &view->shape, view->stride, err));
        for (int64_t s = 0; s < sums->samples; s++)
            layer_sums(&layout, view->data + layout.offset + s * layout.sample_stride,
                       row + s * self->base.width);
    }
    return PX_OK;
}

static px_status relevance_finish(const px_extractor *base, void *scratch,
                                  const px_session *session, int64_t samples,
                                  const px_input_facts *facts, float *rows, px_error *err)
{
    const relevance *self = (const relevance *)(const void *)base;
    relevance_sums sums = {.self = self, .samples = samples, .rows = rows};
    PX_TRY(pxi_lrp_run_go(scratch, session, samples, facts, relevance_sink, &sums, err));
    for (int64_t s = 0; s < samples; s++)
        for (int64_t n = 0; facts[s].predicted < 0 && n < self->neurons; n++)
            rows[s * base->width + n] = NAN;
    return PX_OK;
}

static void relevance_free(px_extractor *base)
{
    relevance *self = (relevance *)(void *)base;
    if (!self)
        return;
    pxi_lrp_free(self->lrp);
    px_probe_free(self->own_probe);
    free(self->layers);
    free(self->key);
    free(self->definition);
    free(self);
}

static const px_extractor_kind relevance_kind = {
    .scratch_new = relevance_scratch_new,
    .scratch_free = relevance_scratch_free,
    .look = relevance_look,
    .finish = relevance_finish,
    .free = relevance_free,
};

static px_status relevance_words(relevance *self, double beta, px_error *err)
{
    char number[PX_REAL_TEXT];
    px_text text = {0};
    px_text_format(&text, "relevance beta=%s %s", px_real_text(beta, number),
                   px_probe_describe(self->own_probe));
    self->key = px_text_take(&text);
    px_text_format(&text, "relevance (LRP, beta %s) of %s", number,
                   px_probe_describe(self->own_probe));
    self->definition = px_text_take(&text);
    return self->key && self->definition ? PX_OK : pxi_no_memory(err);
}

px_status pxi_extractor_relevance(const px_model *model, const px_probe_options *options,
                                  double beta, px_extractor **out, px_error *err)
{
    relevance *self = NULL;
    px_status status = PX_NEW(self, 1, err);
    if (status != PX_OK)
        return status;
    self->base.kind = &relevance_kind;
    status = px_probe_new(model, options, &self->own_probe, err);
    if (status != PX_OK)
        goto done;
    const px_probe *probe = self->own_probe;
    self->neurons = probe->neuron_count;
    status = relevance_words(self, beta, err);
    PX_THEN(status, pxi_lrp_new(model, options->feeds, options->feed_count, probe->values,
                                probe->value_count, beta, &self->lrp, err));
    PX_THEN(status, PX_NEW(self->layers, probe->layer_count, err));
    if (status != PX_OK)
        goto done;
    for (size_t i = 0; i < probe->layer_count; i++)
        self->layers[i] = (px_row_layer){.name = probe->layers[i].name,
                                         .offset = probe->layers[i].neuron_offset,
                                         .count = probe->layers[i].neuron_count};
    self->base.key = self->key;
    self->base.definition = self->definition;
    self->base.width = 2 * self->neurons;
    self->base.layers = self->layers;
    self->base.layer_count = probe->layer_count;
    self->base.observe = probe->values;
    self->base.observe_count = probe->value_count;
    self->base.keep = self->lrp->keep;
    self->base.keep_count = self->lrp->keep_count;
done:
    if (status == PX_OK)
        *out = &self->base;
    else
        relevance_free(&self->base);
    return status;
}
