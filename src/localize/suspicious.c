/* src/localize/suspicious.c - lists of suspicious neurons
 *
 * The order: score descending, infinite scores among themselves by af descending; then the deeper
 * layer (DeepFault, section 3.2), then the lower unit. So every ranking is one only.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize/suspicious.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_rank_options px_rank_options_default(void)
{
    return (px_rank_options){.measure = "ochiai", .star = PX_STAR_DEFAULT, .k = 10};
}

/* --- making one ------------------------------------------------------------------------------ */

px_status pxi_suspicious_start(const px_spectrum *spectrum, const char *measure, double star,
                               size_t room, px_suspicious **out, const char ***names, px_error *err)
{
    px_suspicious *list = pxi_calloc(1, sizeof *list);
    const char **name = pxi_calloc(PX_MAX(spectrum->layer_count, 1), sizeof *name);
    size_t length = 1;
    for (size_t i = 0; i < spectrum->layer_count; i++)
        length += strlen(spectrum->layers[i].name) + 1;
    char *text = pxi_calloc(length, 1);
    if (list)
        list->items = pxi_calloc(PX_MAX(room, 1), sizeof *list->items);
    if (!list || !name || !text || !list->items) {
        free(text);
        free(name);
        px_suspicious_free(list);
        return pxi_no_memory_for(err, "a list of %zu neurons", room);
    }
    list->inside = text;
    for (size_t i = 0; i < spectrum->layer_count; i++) {
        const size_t size = strlen(spectrum->layers[i].name) + 1;
        name[i] = memcpy(text, spectrum->layers[i].name, size);
        text += size;
    }
    list->measure = measure;
    list->star = star;
    list->theta = spectrum->theta;
    list->tap = spectrum->tap;
    list->neurons = spectrum->neurons;
    list->deepxplore = spectrum->deepxplore;
    list->model_hash = spectrum->model_hash;
    *out = list;
    *names = name;
    return PX_OK;
}

void pxi_suspicious_add(px_suspicious *list, const px_spectrum *spectrum, const char *const *names,
                        int c, int64_t rank, int64_t neuron, double score)
{
    const size_t l = pxi_spectrum_layer_of(spectrum, neuron);
    list->items[list->count++] = (px_suspect){.class_index = c,
                                              .rank = rank,
                                              .layer = names[l],
                                              .position = spectrum->layers[l].position,
                                              .unit = neuron - spectrum->layers[l].offset,
                                              .hits = px_spectrum_hits(spectrum, c, neuron),
                                              .score = score};
}

void px_suspicious_free(px_suspicious *list)
{
    if (!list)
        return;
    free(list->items);
    free(list->inside);
    free(list);
}

/* --- ranking --------------------------------------------------------------------------------- */

int pxi_scored_compare(const pxi_scored *a, const pxi_scored *b)
{
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (isinf(a->score) && a->score > 0.0 && a->af != b->af)
        return a->af > b->af ? -1 : 1;
    return 0;
}

static int ranking_order(const void *left, const void *right)
{
    const pxi_scored *a = left, *b = right;
    const int by_score = pxi_scored_compare(a, b);
    if (by_score != 0)
        return by_score;
    if (a->layer != b->layer)
        return a->layer > b->layer ? -1 : 1;
    return (a->neuron > b->neuron) - (a->neuron < b->neuron);
}

void pxi_ranking_sort(pxi_scored *scored, size_t count)
{
    qsort(scored, count, sizeof *scored, ranking_order);
}

void pxi_ranking(const px_spectrum *spectrum, const px_measure *measure, double star, int c,
                 pxi_scored *scored)
{
    for (size_t l = 0; l < spectrum->layer_count; l++) {
        const px_spectrum_layer *layer = &spectrum->layers[l];
        for (int64_t n = layer->offset; n < layer->offset + layer->count; n++) {
            const px_hits hits = px_spectrum_hits(spectrum, c, n);
            scored[n] = (pxi_scored){
                .score = measure->score(&hits, star), .af = hits.af, .layer = l, .neuron = n};
        }
    }
    pxi_ranking_sort(scored, (size_t)spectrum->counts.width);
}

/* What to do where there is nothing to rank. */
static px_status rank_refuse(const px_spectrum *spectrum, px_error *err)
{
    const int64_t passed = px_spectrum_passed(spectrum, PX_POOLED);
    const int64_t failed = px_spectrum_failed(spectrum, PX_POOLED);
    if (passed + failed == 0)
        return px_fail(err, PX_E_INPUT, "the spectrum has not seen any input");
    if (failed == 0)
        return px_fail(err, PX_E_INPUT,
                       "no failing input: the network is right on all %" PRId64 " inputs, so no "
                       "neuron can be suspected; give more inputs, or harder ones ('plexor mutate' "
                       "makes them)",
                       passed);
    if (passed == 0)
        return px_fail(err, PX_E_INPUT,
                       "no passing input: the network is wrong on all %" PRId64 " inputs; see what "
                       "'plexor eval' says about labels and preprocessing",
                       failed);
    return px_fail(err, PX_E_INPUT,
                   "no class has both failing and passing inputs (%" PRId64 " and %" PRId64
                   " in all); give more inputs, or rank over all classes (--pooled)",
                   failed, passed);
}

/* Neurons that tell nothing are moved out; how many are left, in the order they had. */
static int64_t ranking_informative(const px_spectrum *spectrum, int c, pxi_scored *scored)
{
    int64_t left = 0;
    for (int64_t i = 0; i < spectrum->counts.width; i++) {
        const px_hits hits = px_spectrum_hits(spectrum, c, scored[i].neuron);
        if (px_hits_ranked(&hits))
            scored[left++] = scored[i];
    }
    return left;
}

static px_status rank_all(const px_spectrum *spectrum, const px_measure *measure,
                          const px_rank_options *options, int first, int end, size_t room,
                          px_suspicious **out, px_error *err)
{
    pxi_scored *scored = pxi_calloc((size_t)PX_MAX(spectrum->counts.width, 1), sizeof *scored);
    const char **names = NULL;
    px_suspicious *list = NULL;
    px_status status = scored ? pxi_suspicious_start(spectrum, measure->entry.id, options->star,
                                                     room, &list, &names, err)
                              : pxi_no_memory(err);
    for (int c = first; c < end && status == PX_OK; c++) {
        if (!px_spectrum_ranks(spectrum, c))
            continue;
        pxi_ranking(spectrum, measure, options->star, c, scored);
        const int64_t ranked = options->include_uninformative
                                   ? spectrum->counts.width
                                   : ranking_informative(spectrum, c, scored);
        for (int64_t i = 0; i < PX_MIN(options->k, ranked); i++)
            pxi_suspicious_add(list, spectrum, names, c, i + 1, scored[i].neuron, scored[i].score);
    }
    free(scored);
    free(names);
    if (status == PX_OK && list->count == 0)
        status = px_fail(err, PX_E_INPUT,
                         "no neuron tells right answers from wrong ones: each is active on "
                         "(almost) all inputs, on (almost) none, or on too few; give more inputs, "
                         "another --theta or --tap, or rank them all the same "
                         "(--include-uninformative)");
    return PX_GIVE(status, list, out, px_suspicious_free);
}

px_status px_suspicious_rank(const px_spectrum *spectrum, const px_rank_options *options,
                             px_suspicious **out, px_error *err)
{
    const px_measure *measure = NULL;
    PX_TRY(px_measure_choose(options->measure, &measure, err));
    if (!(options->star > 0.0 && options->star <= PXI_STAR_MOST))
        return px_fail(err, PX_E_USAGE, "star, the exponent of D*, must be above 0 and at most %g",
                       PXI_STAR_MOST);
    if (options->k < 1)
        return px_fail(err, PX_E_USAGE, "k, the number of neurons, must be at least 1");
    const int first = options->pooled ? PX_POOLED : 0;
    const int end = options->pooled ? PX_POOLED + 1 : spectrum->counts.classes;
    size_t classes = 0;
    for (int c = first; c < end; c++)
        classes += px_spectrum_ranks(spectrum, c);
    if (classes == 0)
        return rank_refuse(spectrum, err);
    const size_t each = (size_t)PX_MIN(options->k, spectrum->counts.width);
    if (each > SIZE_MAX / sizeof(px_suspect) / classes)
        return pxi_no_memory(err);
    return rank_all(spectrum, measure, options, first, end, classes * each, out, err);
}

/* --- looking at one -------------------------------------------------------------------------- */

/* The first neuron of class c or of one behind it. */
static size_t suspicious_first(const px_suspicious *list, int64_t c)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->items[middle].class_index < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const px_suspect *px_suspicious_class(const px_suspicious *list, int c, size_t *count)
{
    const bool pooled = list->count > 0 && list->items[0].class_index == PX_POOLED;
    const int64_t wanted = pooled ? PX_POOLED : c;
    const size_t first = suspicious_first(list, wanted);
    *count = suspicious_first(list, wanted + 1) - first;
    return list->items + first;
}

px_status px_suspicious_check(const px_suspicious *list, const px_model *model, px_error *err)
{
    if (list->model_hash == px_model_hash(model))
        return PX_OK;
    return px_fail(err, PX_E_MISMATCH,
                   "the suspicious neurons are those of another network (%016" PRIx64
                   ") than '%.200s' (%016" PRIx64 "); find them with 'plexor localize'",
                   list->model_hash, px_model_path(model), px_model_hash(model));
}

static int position_order(const void *left, const void *right)
{
    const int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

char *px_suspicious_layers(const px_suspicious *list)
{
    int *positions = pxi_calloc(PX_MAX(list->count, 1), sizeof *positions);
    if (!positions)
        return NULL;
    for (size_t i = 0; i < list->count; i++)
        positions[i] = list->items[i].position;
    qsort(positions, list->count, sizeof *positions, position_order);
    px_text text = {0};
    px_text_add(&text, "");
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || positions[i] != positions[i - 1])
            px_text_format(&text, "%s#%d", i ? "," : "", positions[i]);
    free(positions);
    return px_text_take(&text);
}

int64_t px_suspicious_in_layer(const px_suspicious *list, const px_spectrum_layer *layer)
{
    int64_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->items[i].position == layer->position;
    return count;
}

px_status px_suspect_find(const px_suspect *suspect, const px_probe *probe, size_t *layer,
                          px_error *err)
{
    for (size_t i = 0; i < px_probe_layer_count(probe); i++) {
        const px_layer *l = px_probe_layer(probe, i);
        if (l->position != suspect->position)
            continue;
        if (strcmp(l->name, suspect->layer) != 0)
            return px_fail(err, PX_E_MISMATCH,
                           "layer #%d is '%.100s' here and '%.100s' in the list of suspicious "
                           "neurons: it was made for another network",
                           l->position, l->name, suspect->layer);
        if (suspect->unit < 0 || suspect->unit >= l->neuron_count)
            return px_fail(err, PX_E_MISMATCH,
                           "layer '%.100s' has %" PRId64 " neurons, there is no neuron %" PRId64
                           "; was the list made with other --neurons?",
                           l->name, l->neuron_count, suspect->unit);
        *layer = i;
        return PX_OK;
    }
    return px_fail(err, PX_E_MISMATCH,
                   "there is no layer '%.100s' (#%d) among those chosen; was the list of "
                   "suspicious neurons made with other --layers, or for another network?",
                   suspect->layer, suspect->position);
}
