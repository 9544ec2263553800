/* src/generate/synthesis_suspects.c - a ranking of neurons as lists to raise */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/localize.h>
#include <internal/probe.h>
#include <internal/synthesize.h>

#include "base/memory.h"

#include <stdlib.h>

static px_status targets_list(px_synthesis_list *list, const px_suspect *suspects, size_t count,
                              const px_probe *probe, px_error *err)
{
    px_synthesis_neuron *neurons = NULL;
    PX_TRY(PX_NEW(neurons, count, err));
    list->neurons = neurons; /* freed with the targets from here on */
    list->count = count;
    for (size_t i = 0; i < count; i++) {
        PX_TRY(px_suspect_find(&suspects[i], probe, &neurons[i].layer, err));
        neurons[i].unit = suspects[i].unit;
    }
    return PX_OK;
}

static px_status targets_fill(px_synthesis_targets *t, const px_suspicious *suspects,
                              const px_probe *probe, int64_t k, int64_t watched, px_error *err)
{
    PX_TRY(PX_NEW(t->lists, (size_t)PX_MAX(t->classes, 1), err));
    PX_TRY(PX_NEW(t->of_class, (size_t)PX_MAX(t->classes, 1), err));
    const px_suspect *last = NULL; /* a list over all classes is the same for each */
    for (int c = 0; c < t->classes; c++) {
        size_t count = 0;
        const px_suspect *first = px_suspicious_class(suspects, c, &count);
        t->of_class[c] = -1;
        if (count == 0)
            continue;
        if (first != last) {
            px_synthesis_list *list = &t->lists[t->count];
            const size_t seeded = PX_MIN(count, (size_t)k);
            t->count++;
            PX_TRY(
                targets_list(list, first, PX_MIN(count, (size_t)PX_MAX(watched, k)), probe, err));
            list->seeded = seeded;
            last = first;
        }
        t->of_class[c] = (int64_t)t->count - 1;
    }
    return PX_OK;
}

px_status px_synthesis_targets_init(px_synthesis_targets *targets, const px_suspicious *suspects,
                                    const px_probe *probe, int classes, int64_t k, int64_t watched,
                                    px_error *err)
{
    if (k < 1)
        return px_fail(err, PX_E_USAGE, "%lld neurons: at least one is needed", (long long)k);
    *targets = (px_synthesis_targets){.classes = classes};
    const px_status status = targets_fill(targets, suspects, probe, k, watched, err);
    if (status != PX_OK)
        px_synthesis_targets_done(targets);
    return status;
}

void px_synthesis_targets_done(px_synthesis_targets *targets)
{
    for (size_t i = 0; targets->lists && i < targets->count; i++)
        free((px_synthesis_neuron *)targets->lists[i].neurons);
    free(targets->lists);
    free(targets->of_class);
    *targets = (px_synthesis_targets){0};
}

px_status px_synthesis_targets_open(px_synthesis_targets *targets, const px_suspicious *suspects,
                                    const px_model *model, const px_shape *shape, const char *tap,
                                    int classes, int64_t k, px_probe **probe, px_error *err)
{
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(model)->inputs[0], .shape = *shape};
    char *layers = px_suspicious_layers(suspects);
    if (!layers)
        return pxi_no_memory(err);
    options.tap = PX_TAP_PRE;
    px_status status = px_probe_options_parse(&options, layers, tap, NULL, err);
    options.neurons = suspects->neurons;
    options.deepxplore = suspects->deepxplore;
    options.feeds = &feed;
    options.feed_count = 1;
    PX_THEN(status, px_probe_new(model, &options, probe, err));
    free(layers);
    PX_TRY(status);
    return px_synthesis_targets_init(targets, suspects, *probe, classes, k, 0, err);
}

px_status px_synthesis_targets_choose(const px_synthesis_targets *t, const px_dataset *set,
                                      px_synthesis_choice choice, int64_t **inputs,
                                      size_t **list_of, int64_t *count, px_error *err)
{
    bool *wanted = NULL;
    PX_TRY(PX_NEW(wanted, t->classes, err));
    for (int c = 0; c < t->classes; c++)
        wanted[c] = t->of_class[c] >= 0;
    choice.classes = t->classes;
    choice.wanted = wanted;
    const px_status status = px_synthesis_choose(set, &choice, inputs, count, err);
    free(wanted);
    PX_TRY(status);
    if (*count == 0)
        return px_fail(err, PX_E_INPUT,
                       "the network gets none of the inputs right whose class has suspicious "
                       "neurons, so there is nothing to begin from");
    PX_TRY(PX_NEW(*list_of, *count, err));
    for (int64_t i = 0; i < *count; i++)
        (*list_of)[i] = (size_t)t->of_class[px_dataset_label(set, (*inputs)[i])];
    return PX_OK;
}
