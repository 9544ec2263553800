/* src/localize/suspicious_random.c - random neurons, to compare suspicious ones with
 *
 * DeepFault, section 5.4: the layers of the random neurons are distributed as those of the
 * measures'. Here exactly so: a layer gets its share of the k neurons by largest remainder, ties to
 * the deeper one. With compat_code it is only so on average, as in the published code: a layer is
 * drawn from those of the first list, each as often as it is there, and the different ones of each
 * further list; then any of its units; what is chosen already is drawn again.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize/suspicious.h"

#include "base/arena.h"
#include "base/memory.h"

#include <internal/localize.h>
#include <internal/rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FREE, LISTED, DRAWN };

typedef struct baseline {
    const px_spectrum *spectrum;
    const px_suspicious *const *lists;
    size_t list_count;
    int64_t k;
    /* of the class at hand */
    px_arena *memory;     /* of all arrays */
    uint8_t *mark;        /* [neurons]: FREE, LISTED or DRAWN */
    int64_t *free_units;  /* [layers] */
    int64_t *share;       /* [layers] neurons in the lists; then how many are wanted */
    size_t *layers;       /* of compat_code: what is drawn from */
    size_t layer_count;   /* of those */
    int64_t *pick, *from; /* [neurons] */
    int64_t *drawn;       /* [k] */
    int64_t drawn_count;
    int64_t borrowed;
} baseline;

static px_status baseline_init(baseline *b, px_error *err)
{
    const size_t layers = PX_MAX(b->spectrum->layer_count, 1);
    const size_t neurons = PX_MAX((size_t)b->spectrum->counts.width, layers);
    size_t room = layers * PX_MAX(b->list_count, 1);
    if (b->list_count > 0)
        room += b->lists[0]->count;
    b->memory = pxi_arena_new();
    b->mark = pxi_arena_alloc(b->memory, neurons, sizeof *b->mark);
    b->free_units = pxi_arena_alloc(b->memory, layers, sizeof *b->free_units);
    b->share = pxi_arena_alloc(b->memory, layers, sizeof *b->share);
    b->layers = pxi_arena_alloc(b->memory, room, sizeof *b->layers);
    b->pick = pxi_arena_alloc(b->memory, neurons, sizeof *b->pick);
    b->from = pxi_arena_alloc(b->memory, neurons, sizeof *b->from);
    b->drawn = pxi_arena_alloc(b->memory, neurons, sizeof *b->drawn);
    return pxi_arena_whole(b->memory) ? PX_OK : pxi_no_memory(err);
}

/* The spectrum's layer of a listed neuron. */
static px_status baseline_find(const px_spectrum *s, const px_suspect *suspect, size_t *layer,
                               px_error *err)
{
    for (size_t l = 0; l < s->layer_count; l++)
        if (s->layers[l].position == suspect->position && suspect->unit >= 0 &&
            suspect->unit < s->layers[l].count) {
            *layer = l;
            return PX_OK;
        }
    return px_fail(err, PX_E_MISMATCH,
                   "neuron %" PRId64 " of layer '%.100s' is in a list, and not in the spectrum",
                   suspect->unit, suspect->layer);
}

/* Looks at what the lists have for the class; *any: at least one neuron. */
static px_status baseline_class(baseline *b, int c, bool *any, px_error *err)
{
    const px_spectrum *s = b->spectrum;
    memset(b->mark, FREE, (size_t)s->counts.width * sizeof *b->mark);
    for (size_t l = 0; l < s->layer_count; l++) {
        b->free_units[l] = s->layers[l].count;
        b->share[l] = 0;
    }
    b->layer_count = 0;
    b->drawn_count = 0;
    *any = false;
    for (size_t i = 0; i < b->list_count; i++) {
        size_t count = 0;
        const size_t start = b->layer_count;
        const px_suspect *listed = px_suspicious_class(b->lists[i], c, &count);
        for (size_t j = 0; j < count; j++) {
            size_t l = 0;
            if (listed[j].class_index != c)
                break; /* neurons of all classes, under this class too */
            PX_TRY(baseline_find(s, &listed[j], &l, err));
            uint8_t *mark = &b->mark[s->layers[l].offset + listed[j].unit];
            b->free_units[l] -= *mark == FREE;
            *mark = LISTED;
            b->share[l]++;
            bool known = false;
            for (size_t m = start; i > 0 && m < b->layer_count; m++)
                known |= b->layers[m] == l;
            if (!known)
                b->layers[b->layer_count++] = l;
            *any = true;
        }
    }
    return PX_OK;
}

static void baseline_take(baseline *b, size_t layer, int64_t unit)
{
    const int64_t neuron = b->spectrum->layers[layer].offset + unit;
    b->free_units[layer] -= b->mark[neuron] == FREE;
    b->mark[neuron] = DRAWN;
    b->drawn[b->drawn_count++] = neuron;
}

/* Shares of k by largest remainder: share[l] becomes the layer's number of neurons. */
static void baseline_quota(baseline *b)
{
    const px_spectrum *s = b->spectrum;
    int64_t total = 0, left = b->k;
    for (size_t l = 0; l < s->layer_count; l++)
        total += b->share[l];
    for (size_t l = 0; l < s->layer_count; l++) {
        b->from[l] = b->k * b->share[l] % total; /* the remainder */
        b->share[l] = b->k * b->share[l] / total;
        left -= b->share[l];
    }
    for (; left > 0; left--) {
        size_t best = 0;
        for (size_t l = 0; l < s->layer_count; l++)
            if (b->from[l] >= b->from[best]) /* ties: the deeper one */
                best = l;
        b->from[best] = -1;
        b->share[best]++;
    }
}

/* Draws up to `wanted` units of a layer among those with the mark. */
static int64_t baseline_layer(baseline *b, size_t l, uint8_t mark, int64_t wanted, px_random *rng)
{
    const px_spectrum_layer *layer = &b->spectrum->layers[l];
    uint32_t count = 0;
    for (int64_t u = 0; u < layer->count; u++)
        if (b->mark[layer->offset + u] == mark)
            b->from[count++] = u;
    px_rng_permutation(rng, b->pick, count);
    const int64_t got = PX_MIN(wanted, (int64_t)count);
    for (int64_t i = 0; i < got; i++)
        baseline_take(b, l, b->from[b->pick[i]]);
    return got;
}

static void baseline_exact(baseline *b, px_random *rng)
{
    baseline_quota(b);
    for (size_t l = 0; l < b->spectrum->layer_count; l++) {
        const int64_t wanted = b->share[l];
        const int64_t got = wanted > 0 ? baseline_layer(b, l, FREE, wanted, rng) : 0;
        if (got < wanted)
            b->borrowed += baseline_layer(b, l, LISTED, wanted - got, rng);
    }
}

static void baseline_code(baseline *b, px_random *rng)
{
    while (b->drawn_count < b->k) {
        bool any = false;
        for (size_t i = 0; i < b->layer_count && !any; i++)
            any = b->free_units[b->layers[i]] > 0;
        if (!any)
            return;
        const size_t l = b->layers[px_rng_below(rng, (uint32_t)b->layer_count)];
        const px_spectrum_layer *layer = &b->spectrum->layers[l];
        const int64_t unit = px_rng_below(rng, (uint32_t)layer->count);
        if (b->mark[layer->offset + unit] == FREE)
            baseline_take(b, l, unit);
    }
}

static px_status baseline_draw(baseline *b, const px_baseline_options *options, px_suspicious *list,
                               const char *const *names, px_error *err)
{
    for (int c = PX_POOLED; c < b->spectrum->counts.classes; c++) {
        bool any = false;
        PX_TRY(baseline_class(b, c, &any, err));
        if (!any)
            continue;
        px_random rng =
            px_rng(options->seed, PX_RNG_BASELINE, (uint32_t)(c - PX_POOLED), options->run);
        if (options->compat_code)
            baseline_code(b, &rng);
        else
            baseline_exact(b, &rng);
        for (int64_t i = 0; i < b->drawn_count; i++)
            pxi_suspicious_add(list, b->spectrum, names, c, i + 1, b->drawn[i], (double)NAN);
        list->missing += b->k - b->drawn_count;
    }
    list->borrowed = b->borrowed;
    return PX_OK;
}

px_status px_suspicious_random(const px_spectrum *spectrum, const px_suspicious *const *lists,
                               size_t list_count, const px_baseline_options *options,
                               px_suspicious **out, px_error *err)
{
    const char **names = NULL;
    px_suspicious *list = NULL;
    if (options->k < 1)
        return px_fail(err, PX_E_USAGE, "k, the number of neurons, must be at least 1");
    if (spectrum->counts.width > INT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "random neurons are drawn from at most %d of them",
                       INT32_MAX);
    size_t neurons = 0;
    for (size_t i = 0; i < list_count; i++)
        neurons += lists[i]->count;
    if (neurons == 0)
        return px_fail(err, PX_E_USAGE, "random neurons need lists to be compared with");
    baseline b = {.spectrum = spectrum,
                  .lists = lists,
                  .list_count = list_count,
                  .k = PX_MIN(options->k, spectrum->counts.width)};
    size_t classes = 0; /* at most: a class per listed neuron */
    for (size_t i = 0; i < list_count; i++)
        for (size_t j = 0; j < lists[i]->count; j++)
            classes +=
                j == 0 || lists[i]->items[j].class_index != lists[i]->items[j - 1].class_index;
    px_status status = baseline_init(&b, err);
    PX_THEN(status, pxi_suspicious_start(spectrum, PXI_RANDOM, lists[0]->star,
                                         classes * (size_t)b.k, &list, &names, err));
    PX_THEN(status, baseline_draw(&b, options, list, names, err));
    pxi_arena_free(b.memory);
    free(names);
    return PX_GIVE(status, list, out, px_suspicious_free);
}

px_status px_suspicious_random_beside(const px_spectrum *spectrum, const px_rank_options *rank,
                                      const px_baseline_options *options, px_suspicious **out,
                                      px_error *err)
{
    static const char *const measures[] = {"tarantula", "ochiai", "dstar"};
    px_suspicious *lists[PX_LEN(measures)] = {NULL}, *list = NULL;
    px_rank_options by = *rank;
    px_status status = PX_OK;
    for (size_t i = 0; i < PX_LEN(measures) && status == PX_OK; i++) {
        by.measure = measures[i];
        status = px_suspicious_rank(spectrum, &by, &lists[i], err);
    }
    PX_THEN(status, px_suspicious_random(spectrum, (const px_suspicious *const *)lists,
                                         PX_LEN(measures), options, &list, err));
    for (size_t i = 0; i < PX_LEN(measures); i++)
        px_suspicious_free(lists[i]);
    if (status == PX_OK && list->count == 0) {
        px_suspicious_free(list);
        return px_fail(err, PX_E_INPUT,
                       "the measures choose every neuron of their layers, and none is left for "
                       "random ones; a smaller -k leaves some");
    }
    if (status == PX_OK)
        *out = list;
    return status;
}
