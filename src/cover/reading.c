/* src/cover/reading.c - what criteria and selectors read */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/reading.h"

#include "base/memory.h"
#include "cover/lessons.h"

#include <internal/probe.h>
#include <internal/profile.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_extractors_add(pxi_extractors *list, const px_model *model,
                             const pxi_reading *reading, const pxi_reader_wish *wish, size_t *at,
                             px_error *err)
{
    px_probe_options neurons = px_probe_options_default();
    px_extractor *extractor = NULL;
    neurons.layers = reading->layers;
    neurons.tap = reading->tap;
    neurons.neurons = reading->neurons;
    if (reading->choose)
        reading->choose(reading->config, &neurons);
    const px_neurons chosen = neurons.neurons;
    if (wish->neurons && strcmp(wish->neurons, "deepxplore") == 0 && !wish->layers)
        neurons.layers = NULL; /* that convention has layers of its own */
    PX_TRY(px_probe_options_parse(&neurons, wish->layers, wish->tap, wish->neurons, err));
    /* a variant that is nothing but its neurons is another one with others */
    if ((chosen == PX_VIEW_CHAN_SCALED || chosen == PX_VIEW_CHAN_RESCALED) &&
        neurons.neurons != chosen)
        return px_fail(err, PX_E_USAGE,
                       "reads neurons '%s' with this variant, but '%.40s' are asked for; leave "
                       "--neurons out, or choose variant=raw",
                       px_neurons_name(chosen), wish->neurons);
    if (wish->feed) {
        neurons.feeds = wish->feed;
        neurons.feed_count = 1;
    }
    PX_TRY(reading->extract ? reading->extract(model, &neurons, reading->config, &extractor, err)
                            : px_extractor_probe(model, &neurons, &extractor, err));
    size_t e = 0;
    while (e < list->count && strcmp(list->item[e]->key, extractor->key) != 0)
        e++;
    if (e < list->count) {
        px_extractor_free(extractor);
    } else if (pxi_grow(&list->item, &list->capacity, e + 1, sizeof *list->item) != 0) {
        px_extractor_free(extractor);
        return pxi_no_memory(err);
    } else {
        list->item[list->count++] = extractor;
    }
    *at = e;
    return PX_OK;
}

void pxi_extractors_done(pxi_extractors *list)
{
    for (size_t e = 0; e < list->count; e++)
        px_extractor_free(list->item[e]);
    free(list->item);
    *list = (pxi_extractors){0};
}

px_status pxi_learned_find(const px_profile *profile, const px_learner *const *learners,
                           const px_extractor *extractor, const void *config, const char ***learned,
                           px_error *err)
{
    size_t count = 0;
    while (learners && learners[count])
        count++;
    if (count > 0 && !profile)
        return px_fail(err, PX_E_USAGE,
                       "needs a profile of training data; give one, or the training data");
    const char **found = NULL;
    px_status status = PX_NEW(found, count + 1, err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        char *key = pxi_lesson_key(learners[i], extractor, config);
        status = key ? px_profile_find(profile, key, &found[i], err) : pxi_no_memory(err);
        free(key);
    }
    if (status == PX_OK)
        *learned = found;
    else
        free(found);
    return status;
}

px_status pxi_lessons_of(px_lessons *lessons, const px_learner *const *learners,
                         px_extractor *extractor, const void *config, size_t config_size,
                         bool *given, px_error *err)
{
    for (; learners && *learners; learners++) {
        *given = true;
        PX_TRY(px_lessons_add(lessons, *learners, extractor, config, config_size, err));
    }
    return PX_OK;
}
