/* src/localize/spectrum.c - hit spectra: how often neurons were active while a network was wrong
 *
 * Eniser, Gerasimou, Sen: DeepFault, FASE 2019, section 3.1. A neuron is active on an input when
 * its value is above theta, strictly.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize/spectrum.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <internal/probe.h>
#include <internal/profile.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* --- counters -------------------------------------------------------------------------------- */

px_status pxi_counts_init(pxi_counts *counts, int classes, int64_t width, px_error *err)
{
    *counts = (pxi_counts){.classes = classes, .width = width};
    return PX_NEW(counts->of, (size_t)PX_MAX(classes, 1), err);
}

void pxi_counts_done(pxi_counts *counts)
{
    for (int c = 0; counts->of && c < counts->classes; c++)
        free(counts->of[c].active[PXI_FAIL]); /* one allocation for both */
    free(counts->of);
    *counts = (pxi_counts){0};
}

px_status pxi_counts_open(pxi_counts *counts, int c, px_error *err)
{
    pxi_class_hits *of = &counts->of[c];
    if (of->active[PXI_FAIL])
        return PX_OK;
    uint32_t *both = pxi_calloc((size_t)counts->width, 2 * sizeof *both);
    if (!both)
        return pxi_no_memory_for(err,
                                 "the hit spectrum of class %d: %" PRId64
                                 " neurons; fewer --layers, or --neurons chan, need less",
                                 c, counts->width);
    of->active[PXI_FAIL] = both;
    of->active[PXI_PASS] = both + counts->width;
    return PX_OK;
}

/* The largest float that is not above theta: floats above it are exactly those above theta. */
static float counts_cut(double theta)
{
    const float near = (float)theta;
    return (double)near > theta ? nextafterf(near, -INFINITY) : near;
}

px_status pxi_counts_observe(pxi_counts *counts, const px_rows *rows, double theta, px_error *err)
{
    const float cut = counts_cut(theta);
    for (int64_t i = 0; i < rows->count; i++) {
        const px_input_facts *facts = &rows->facts[i];
        const int outcome = facts->predicted == facts->label ? PXI_PASS : PXI_FAIL;
        PX_TRY(pxi_counts_open(counts, (int)facts->label, err));
        pxi_class_hits *of = &counts->of[facts->label];
        const float *value = rows->values + i * rows->width;
        uint32_t *active = of->active[outcome];
        of->inputs[outcome]++;
#pragma omp simd
        for (int64_t n = 0; n < rows->width; n++)
            active[n] += value[n] > cut;
    }
    return PX_OK;
}

px_status pxi_counts_merge(pxi_counts *counts, const pxi_counts *other, px_error *err)
{
    for (int c = 0; c < other->classes; c++) /* first, so that a failure changes nothing */
        if (other->of[c].active[PXI_FAIL])
            PX_TRY(pxi_counts_open(counts, c, err));
    for (int c = 0; c < other->classes; c++) {
        const pxi_class_hits *from = &other->of[c];
        pxi_class_hits *to = &counts->of[c];
        for (int o = 0; o < 2 && from->active[o]; o++) {
            to->inputs[o] += from->inputs[o];
            for (int64_t n = 0; n < counts->width; n++)
                to->active[o][n] += from->active[o][n];
        }
    }
    return PX_OK;
}

/* --- making one ------------------------------------------------------------------------------ */

px_spectrum_options px_spectrum_options_default(void)
{
    return (px_spectrum_options){.theta = 0.0};
}

px_status pxi_spectrum_make(const px_spectrum_layer *layers, size_t layer_count, int classes,
                            double theta, px_spectrum **out, px_error *err)
{
    px_spectrum *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    s->theta = theta;
    px_status status = PX_NEW(s->layers, PX_MAX(layer_count, 1), err);
    int64_t width = 0;
    for (size_t i = 0; i < layer_count && status == PX_OK; i++) {
        s->layers[i] = layers[i];
        s->layers[i].offset = width;
        s->layers[i].name = pxi_strdup(layers[i].name);
        s->layer_count = i + 1;
        width += layers[i].count;
        if (!s->layers[i].name)
            status = pxi_no_memory(err);
    }
    PX_THEN(status, pxi_counts_init(&s->counts, classes, width, err));
    return PX_GIVE(status, s, out, px_spectrum_free);
}

void px_spectrum_free(px_spectrum *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->layer_count; i++)
        free((char *)s->layers[i].name);
    free(s->layers);
    free(s->definition);
    pxi_row_set_done(&s->rows);
    px_extractor_free(s->extractor);
    pxi_counts_done(&s->counts);
    pxi_seen_done(&s->seen);
    free(s);
}

static px_status spectrum_neurons(const px_spectrum_options *options, px_probe_options *neurons,
                                  px_error *err)
{
    *neurons = px_probe_options_default();
    return px_probe_options_parse(neurons, options->layers, options->tap, options->neurons, err);
}

/* The layers as the probe has them, in a spectrum of its own. */
static px_status spectrum_of_probe(const px_probe *probe, int classes, double theta,
                                   px_spectrum **out, px_error *err)
{
    const size_t count = px_probe_layer_count(probe);
    px_spectrum_layer *layers = NULL;
    PX_TRY(PX_NEW(layers, PX_MAX(count, 1), err));
    for (size_t i = 0; i < count; i++) {
        const px_layer *layer = px_probe_layer(probe, i);
        layers[i] = (px_spectrum_layer){
            .name = layer->name, .position = layer->position, .count = layer->neuron_count};
    }
    const px_status status = pxi_spectrum_make(layers, count, classes, theta, out, err);
    free(layers);
    return status;
}

px_status px_spectrum_new(const px_model *model, const px_shape *input_shape,
                          const px_spectrum_options *options, px_spectrum **out, px_error *err)
{
    px_probe_options neurons;
    px_scores scores;
    px_extractor *extractor = NULL;
    px_spectrum *s = NULL;
    if (!isfinite(options->theta))
        return px_fail(err, PX_E_USAGE, "theta, above which a neuron is active, must be a number");
    PX_TRY(px_model_scores(model, &scores, err));
    PX_TRY(spectrum_neurons(options, &neurons, err));
    const px_graph *graph = px_model_graph(model);
    px_feed feed;
    if (input_shape && graph->input_count > 0) {
        feed = (px_feed){.value = graph->inputs[0], .shape = *input_shape};
        feed.shape.dim[0] = 1;
        neurons.feeds = &feed;
        neurons.feed_count = 1;
    }
    PX_TRY(px_extractor_probe(model, &neurons, &extractor, err));
    px_status status = spectrum_of_probe(extractor->probe, scores.classes, options->theta, &s, err);
    if (status != PX_OK) {
        px_extractor_free(extractor);
        return status;
    }
    s->model = model;
    s->model_hash = px_model_hash(model);
    s->extractor = extractor;
    s->tap = neurons.tap;
    s->neurons = neurons.neurons;
    s->deepxplore = neurons.deepxplore;
    s->threads = options->threads;
    s->rows_hash =
        XXH3_64bits_withSeed(extractor->key, strlen(extractor->key), (uint64_t)extractor->width);
    s->definition = pxi_strdup(extractor->definition);
    status = s->definition ? pxi_row_set_init(&s->rows, model, &s->extractor, 1, err)
                           : pxi_no_memory(err);
    return PX_GIVE(status, s, out, px_spectrum_free);
}

px_status px_spectrum_merge(px_spectrum *s, const px_spectrum *other, px_error *err)
{
    if (s->model_hash != other->model_hash)
        return px_fail(err, PX_E_MISMATCH, "the spectra are of different networks");
    if (s->rows_hash != other->rows_hash || s->counts.width != other->counts.width ||
        s->counts.classes != other->counts.classes)
        return px_fail(err, PX_E_MISMATCH,
                       "the spectra are of different neurons: %.120s, and %.120s", s->definition,
                       other->definition);
    if (s->theta != other->theta)
        return px_fail(err, PX_E_MISMATCH,
                       "the spectra have different thresholds: theta is %g in one and %g in the "
                       "other",
                       s->theta, other->theta);
    PX_TRY(pxi_seen_apart(&s->seen, &other->seen, err));
    if (px_spectrum_passed(s, PX_POOLED) + px_spectrum_failed(s, PX_POOLED) +
            px_spectrum_passed(other, PX_POOLED) + px_spectrum_failed(other, PX_POOLED) >
        PXI_SPECTRUM_MOST_INPUTS)
        return px_fail(err, PX_E_UNSUPPORTED, "a spectrum counts at most %" PRId64 " inputs",
                       PXI_SPECTRUM_MOST_INPUTS);
    PX_TRY(pxi_counts_merge(&s->counts, &other->counts, err));
    return pxi_seen_join(&s->seen, &other->seen, err);
}

/* --- looking at one -------------------------------------------------------------------------- */

px_status px_spectrum_check(const px_spectrum *s, const px_model *model, px_error *err)
{
    if (s->model_hash == px_model_hash(model))
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   "the spectrum was made from another network (%016" PRIx64 ") than '%.200s' "
                   "(%016" PRIx64 "); make one with 'plexor localize --state'",
                   s->model_hash, px_model_path(model), px_model_hash(model));
}

size_t px_spectrum_layer_count(const px_spectrum *s)
{
    return s->layer_count;
}

const px_spectrum_layer *px_spectrum_layer_get(const px_spectrum *s, size_t i)
{
    return i < s->layer_count ? &s->layers[i] : NULL;
}

int64_t px_spectrum_neuron_count(const px_spectrum *s)
{
    return s->counts.width;
}

int px_spectrum_classes(const px_spectrum *s)
{
    return s->counts.classes;
}

double px_spectrum_theta(const px_spectrum *s)
{
    return s->theta;
}

const char *px_spectrum_definition(const px_spectrum *s)
{
    return s->definition ? s->definition : "";
}

static int64_t spectrum_inputs(const px_spectrum *s, int c, int outcome)
{
    int64_t sum = 0;
    if (c >= 0)
        return c < s->counts.classes ? s->counts.of[c].inputs[outcome] : 0;
    for (int i = 0; i < s->counts.classes; i++)
        sum += s->counts.of[i].inputs[outcome];
    return sum;
}

int64_t px_spectrum_passed(const px_spectrum *s, int c)
{
    return spectrum_inputs(s, c, PXI_PASS);
}

int64_t px_spectrum_failed(const px_spectrum *s, int c)
{
    return spectrum_inputs(s, c, PXI_FAIL);
}

bool px_spectrum_ranks(const px_spectrum *s, int c)
{
    return px_spectrum_passed(s, c) > 0 && px_spectrum_failed(s, c) > 0;
}

px_hits px_spectrum_hits(const px_spectrum *s, int c, int64_t neuron)
{
    px_hits hits = {0};
    if (neuron < 0 || neuron >= s->counts.width || c >= s->counts.classes)
        return hits;
    for (int i = PX_MAX(c, 0); i < (c < 0 ? s->counts.classes : c + 1); i++) {
        const pxi_class_hits *of = &s->counts.of[i];
        if (!of->active[PXI_FAIL])
            continue;
        hits.af += of->active[PXI_FAIL][neuron];
        hits.as += of->active[PXI_PASS][neuron];
        hits.nf += of->inputs[PXI_FAIL] - of->active[PXI_FAIL][neuron];
        hits.ns += of->inputs[PXI_PASS] - of->active[PXI_PASS][neuron];
    }
    return hits;
}

size_t pxi_spectrum_layer_of(const px_spectrum *s, int64_t neuron)
{
    size_t low = 0, high = s->layer_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (s->layers[middle].offset <= neuron)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void px_spectrum_extremes(const px_spectrum *s, int64_t *always, int64_t *never)
{
    const int64_t inputs = px_spectrum_passed(s, PX_POOLED) + px_spectrum_failed(s, PX_POOLED);
    *always = *never = 0;
    for (int64_t n = 0; n < s->counts.width && inputs > 0; n++) {
        const px_hits hits = px_spectrum_hits(s, PX_POOLED, n);
        *always += hits.as + hits.af == inputs;
        *never += hits.as + hits.af == 0;
    }
}
