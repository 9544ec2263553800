/* src/probe/probe.c - options, the chosen layers, and finding a neuron by name */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe_internal.h"

#include "base/memory.h"

#include <errno.h>
#include <internal/probe.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

/* --- names ----------------------------------------------------------------------------------- */

#define NAME_ENTRY(enumerator, id, help) [enumerator] = id,
static const char *const tap_names[] = {PX_TAPS(NAME_ENTRY)};
static const char *const view_names[] = {PX_VIEWS(NAME_ENTRY)};
static const char *const kind_names[] = {PX_LAYER_KINDS(NAME_ENTRY)};
#undef NAME_ENTRY

#define WORD_ENTRY(enumerator, id, help) {id, enumerator},
static const struct {
    const char *word;
    px_neurons view;
} view_words[] = {PX_VIEW_WORDS(WORD_ENTRY)};
#undef WORD_ENTRY

const char *px_tap_name(px_tap tap)
{
    return (size_t)tap < PX_LEN(tap_names) ? tap_names[tap] : "?";
}

const char *px_neurons_name(px_neurons neurons)
{
    return (size_t)neurons < PX_LEN(view_names) ? view_names[neurons] : "?";
}

const char *px_layer_kind_name(px_layer_kind kind)
{
    return (size_t)kind < PX_LEN(kind_names) ? kind_names[kind] : "?";
}

/* --- options --------------------------------------------------------------------------------- */

px_probe_options px_probe_options_default(void)
{
    return (px_probe_options){.tap = PX_TAP_POST, .neurons = PX_VIEW_CHAN};
}

/* Index of `text` in `names`; PX_E_USAGE listing them all if it is not there. */
static px_status parse_name(const char *option, const char *text, const char *const *names,
                            size_t count, const char *more, size_t *out, px_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return PX_OK;
        }
    px_text list = {0};
    for (size_t i = 0; i < count; i++)
        px_text_format(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    px_text_add(&list, more);
    const px_status status =
        px_fail(err, PX_E_USAGE, "--%s '%.60s' is not one of %s", option, text, px_text_get(&list));
    px_text_done(&list);
    return status;
}

px_status px_probe_options_parse(px_probe_options *options, const char *layers, const char *tap,
                                 const char *neurons, px_error *err)
{
    px_probe_options parsed = *options;
    size_t index = 0;
    if (layers)
        parsed.layers = layers;
    if (tap) {
        PX_TRY(parse_name("tap", tap, tap_names, PX_LEN(tap_names), "", &index, err));
        parsed.tap = (px_tap)index;
    }
    if (neurons && strcmp(neurons, "deepxplore") == 0) {
        parsed.deepxplore = true;
        parsed.neurons = PX_VIEW_CHAN;
        if (!tap)
            parsed.tap = PX_TAP_POST;
    } else if (neurons) {
        bool found = false;
        for (size_t i = 0; i < PX_LEN(view_words) && !found; i++) {
            found = strcmp(neurons, view_words[i].word) == 0;
            parsed.neurons = found ? view_words[i].view : parsed.neurons;
        }
        if (!found) {
            PX_TRY(parse_name("neurons", neurons, view_names, PX_LEN(view_names),
                              ", token-mean, token-max, deepxplore", &index, err));
            parsed.neurons = (px_neurons)index;
        }
        parsed.deepxplore = false;
    }
    if (parsed.deepxplore && parsed.tap != PX_TAP_POST)
        return px_fail(err, PX_E_USAGE,
                       "--neurons deepxplore counts every output, --tap %s does not go with it",
                       px_tap_name(parsed.tap));
    *options = parsed;
    return PX_OK;
}

/* --- the probe ------------------------------------------------------------------------------- */

static int64_t layer_neurons(const px_layer *layer, px_neurons neurons)
{
    int64_t count = 1;
    for (int d = 0; d < layer->shape.rank; d++)
        if (layer->axis[d] == PX_AXIS_CHANNEL || layer->axis[d] == PX_AXIS_HEADS ||
            (neurons == PX_VIEW_UNIT && layer->axis[d] != PX_AXIS_TIME))
            count *= layer->shape.dim[d];
    return count;
}

static px_status probe_fill(px_probe *probe, px_error *err)
{
    probe->layers = pxi_arena_alloc(probe->arena, probe->layer_count, sizeof *probe->layers);
    probe->values = pxi_arena_alloc(probe->arena, probe->layer_count, sizeof *probe->values);
    const size_t values = (size_t)px_model_graph(probe->model)->value_count;
    probe->layer_at = pxi_arena_alloc(probe->arena, values, sizeof *probe->layer_at);
    probe->layer_next =
        pxi_arena_alloc(probe->arena, probe->layer_count, sizeof *probe->layer_next);
    if (!probe->layers || !probe->values || !probe->layer_at || !probe->layer_next)
        return pxi_no_memory(err);
    for (size_t i = 0; i < probe->layer_count; i++) {
        px_layer *layer = &probe->layers[i];
        *layer = probe->all.layer[probe->chosen[i]];
        layer->token = -1;
        if (probe->neurons == PX_VIEW_CLASS_TOKEN && layer->kind != PX_LAYER_HEADS &&
            probe->all.places[probe->chosen[i]] == probe->token_count)
            layer->token = probe->token;
        layer->neuron_offset = probe->neuron_count;
        layer->neuron_count = layer_neurons(layer, probe->neurons);
        if (layer->neuron_count > INT64_MAX / 16 - probe->neuron_count)
            return px_fail(err, PX_E_UNSUPPORTED, "too many neurons to count");
        probe->neuron_count += layer->neuron_count;
    }
    for (size_t i = probe->layer_count; i-- > 0;) { /* time steps share one tensor */
        const int value = probe->layers[i].tap_value;
        probe->layer_next[i] = probe->layer_at[value];
        probe->layer_at[value] = i + 1;
    }
    for (size_t i = 0; i < probe->layer_count; i++)
        if (probe->layer_at[probe->layers[i].tap_value] == i + 1)
            probe->values[probe->value_count++] = probe->layers[i].tap_value;
    return PX_OK;
}

static px_status probe_describe(px_probe *probe, const px_probe_options *options,
                                const char *layers, px_error *err)
{
    px_text text = {0};
    const bool scaled = options->deepxplore && options->neurons == PX_VIEW_CHAN_SCALED;
    px_text_format(&text, "layers=%s tap=%s neurons=%s%s: %zu layer%s, %lld neurons", layers,
                   px_tap_name(options->tap),
                   options->deepxplore ? "deepxplore" : px_neurons_name(options->neurons),
                   scaled ? ", scaled" : "", probe->layer_count, probe->layer_count == 1 ? "" : "s",
                   (long long)probe->neuron_count);
    if (probe->alone)
        px_text_format(&text, "; one input at a time, for '%s' mixes those of a batch",
                       probe->layers[probe->alone - 1].name);
    probe->description =
        px_text_failed(&text) ? NULL : pxi_arena_strdup(probe->arena, px_text_get(&text));
    px_text_done(&text);
    return probe->description ? PX_OK : pxi_no_memory(err);
}

px_status px_probe_new(const px_model *model, const px_probe_options *options, px_probe **out,
                       px_error *err)
{
    px_probe_options chosen = *options;
    if (chosen.deepxplore) {
        chosen.tap = PX_TAP_POST;
        if (chosen.neurons != PX_VIEW_CHAN_SCALED)
            chosen.neurons = PX_VIEW_CHAN;
    }
    const char *layers = chosen.layers ? chosen.layers : chosen.deepxplore ? "all" : "hidden";
    px_probe *probe = pxi_calloc(1, sizeof *probe);
    px_status status = PX_OK;
    if (!probe || !(probe->arena = pxi_arena_new()))
        status = pxi_no_memory(err);
    if (status == PX_OK) {
        probe->model = model;
        probe->neurons = chosen.neurons;
        status = pxi_layers_find(probe, &chosen, err);
    }
    if (status == PX_OK && chosen.neurons == PX_VIEW_CLASS_TOKEN && probe->token < 0)
        status = px_fail(err, PX_E_USAGE,
                         "--neurons class-token: the class scores are not read from one token; use "
                         "token-mean or token-max");
    PX_THEN(status, pxi_layers_select(probe, layers, err));
    PX_THEN(status, probe_fill(probe, err));
    PX_THEN(status, pxi_layers_order(probe, &chosen, err));
    PX_THEN(status, probe_describe(probe, &chosen, layers, err));
    return PX_GIVE(status, probe, out, px_probe_free);
}

void px_probe_free(px_probe *probe)
{
    if (!probe)
        return;
    pxi_arena_free(probe->arena);
    free(probe);
}

size_t px_probe_layer_count(const px_probe *probe)
{
    return probe->layer_count;
}

const px_layer *px_probe_layer(const px_probe *probe, size_t i)
{
    return i < probe->layer_count ? &probe->layers[i] : NULL;
}

int64_t px_probe_neuron_count(const px_probe *probe)
{
    return probe->neuron_count;
}

const char *px_probe_describe(const px_probe *probe)
{
    return probe->description;
}

const int *px_probe_values(const px_probe *probe, size_t *count)
{
    *count = probe->value_count;
    return probe->values;
}

px_status px_probe_find(const px_probe *probe, const char *text, size_t *layer, int64_t *neuron,
                        px_error *err)
{
    const char *colon = strrchr(text, ':');
    char *end;
    errno = 0;
    const long long index = colon ? strtoll(colon + 1, &end, 10) : 0;
    if (!colon || end == colon + 1 || *end != '\0' || errno != 0)
        return px_fail(err, PX_E_USAGE, "'%.200s' does not name a neuron; write LAYER:INDEX", text);
    char *name = pxi_calloc((size_t)(colon - text) + 1, 1);
    if (!name)
        return pxi_no_memory(err);
    memcpy(name, text, (size_t)(colon - text));

    px_status status = PX_OK;
    size_t found = probe->layer_count;
    const size_t match = pxi_layers_match(&probe->all, name, 0);
    for (size_t i = 0; i < probe->layer_count; i++)
        if (probe->chosen[i] == match)
            found = i;
    char hint[PXI_HINT_TEXT];
    if (match == probe->all.count)
        status = px_fail(err, PX_E_USAGE, "no layer is called '%.100s'%s", name,
                         pxi_layers_hint(&probe->all, name, hint));
    else if (found == probe->layer_count)
        status = px_fail(err, PX_E_USAGE, "layer '%.100s' is not among the chosen ones (%.200s)",
                         name, probe->description);
    else if (index < 0 || index >= probe->layers[found].neuron_count)
        status = px_fail(err, PX_E_USAGE, "layer '%.100s' has neurons 0 to %lld, not %lld", name,
                         (long long)probe->layers[found].neuron_count - 1, index);
    free(name);
    if (status == PX_OK) {
        *layer = found;
        *neuron = index;
    }
    return status;
}

bool pxi_probe_patches(const px_probe *probe, int64_t tokens, int64_t *first, int *rows,
                       int *columns)
{
    int64_t h = probe->patch_rows, w = probe->patch_columns;
    if (h < 1 || w < 1 || h > INT16_MAX || w > INT16_MAX)
        return false;
    const int64_t more = tokens - h * w, read = probe->token_count == tokens ? probe->token : -1;
    while (tokens < h * w && h % 2 == 0 && w % 2 == 0) {
        h /= 2;
        w /= 2;
    }
    /* Which end the others stand at is known by the one that the classifier reads. */
    if (tokens != h * w && !(more > 0 && read >= 0 && (read < more || read >= h * w)))
        return false;
    *first = more > 0 && read < more ? more : 0;
    *rows = (int)h;
    *columns = (int)w;
    return true;
}
