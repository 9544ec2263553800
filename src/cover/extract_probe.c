/* src/cover/extract_probe.c - rows that are the neuron values of a probe */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/profile.h>

#include "base/memory.h"

#include <stdlib.h>

typedef struct probe_extractor {
    px_extractor base;
    px_probe *probe;
    px_row_layer *layers;
    char *key;
} probe_extractor;

static px_status probe_look(const px_extractor *self, void *scratch, int value, const px_view *view,
                            int64_t samples, float *rows, px_error *err)
{
    (void)scratch;
    px_probe_watch watch = {.probe = self->probe, .samples = samples, .trace = rows};
    return px_probe_observer(&watch, value, view, err);
}

static void probe_free(px_extractor *self)
{
    probe_extractor *e = (probe_extractor *)self;
    px_probe_free(e->probe);
    free(e->layers);
    free(e->key);
    free(e);
}

static const px_extractor_kind probe_kind = {.look = probe_look, .free = probe_free};

/* The layers by name, not as they were asked for: "hidden" and a list of all hidden ones are the
 * same neurons. */
static char *probe_key(const px_probe *probe, const px_probe_options *options)
{
    px_text text = {0};
    px_text_format(&text, "tap=%s neurons=%s layers=", px_tap_name(options->tap),
                   options->deepxplore ? "deepxplore" : px_neurons_name(options->neurons));
    for (size_t i = 0; i < px_probe_layer_count(probe); i++)
        px_text_format(&text, "%s%s", i ? "," : "", px_probe_layer(probe, i)->name);
    return px_text_take(&text);
}

px_status px_extractor_probe(const px_model *model, const px_probe_options *options,
                             px_extractor **out, px_error *err)
{
    probe_extractor *e = NULL;
    PX_TRY(PX_NEW(e, 1, err));
    e->base.kind = &probe_kind;
    px_status status = px_probe_new(model, options, &e->probe, err);
    if (status == PX_OK) {
        const size_t count = px_probe_layer_count(e->probe);
        e->layers = pxi_calloc(count, sizeof *e->layers);
        e->key = probe_key(e->probe, options);
        if (!e->layers || !e->key)
            status = pxi_no_memory(err);
        for (size_t i = 0; i < count && status == PX_OK; i++) {
            const px_layer *layer = px_probe_layer(e->probe, i);
            e->layers[i] = (px_row_layer){
                .name = layer->name, .offset = layer->neuron_offset, .count = layer->neuron_count};
        }
        e->base.key = e->key;
        e->base.definition = px_probe_describe(e->probe);
        e->base.width = px_probe_neuron_count(e->probe);
        e->base.layers = e->layers;
        e->base.layer_count = count;
        e->base.observe = px_probe_values(e->probe, &e->base.observe_count);
        e->base.probe = e->probe;
    }
    if (status == PX_OK)
        *out = &e->base;
    else
        probe_free(&e->base);
    return status;
}

void px_extractor_free(px_extractor *extractor)
{
    if (extractor)
        extractor->kind->free(extractor);
}
