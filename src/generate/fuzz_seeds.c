/* src/generate/fuzz_seeds.c - which inputs of the data a campaign starts from
 *
 * At random, of every class as many, and only those that the network gets right (LGR C.9). A
 * class that has too few leaves its share to the others.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_internal.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/graph.h>
#include <internal/rng.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_CHUNK = 256 };

typedef struct seed_search {
    px_fuzz *fuzz;
    int64_t *order; /* of the data set */
    int64_t count;  /* of the data set */
    int64_t wanted; /* at most the data set's */
    int64_t *quota; /* per class: still wanted */
    int64_t open;   /* their sum */
    pxi_fuzz_seed *found, *spare;
    uint8_t *found_pixels, *spare_pixels;
    int64_t found_count, spare_count;
    float *values; /* of one input */
    int16_t *samples;
    uint8_t *chunk;
    pxi_fuzz_verdict *verdicts;
} seed_search;

static px_status search_values(const seed_search *s, int64_t index, void *pixels, px_error *err)
{
    const px_fuzz *fuzz = s->fuzz;
    const bool whole = px_dataset_is_8bit(fuzz->options.set);
    if (fuzz->samples) {
        PX_TRY(pxi_fuzz_samples(fuzz, index, s->samples, err));
        return pxi_fuzz_features(fuzz, s->samples, pixels, err);
    }
    PX_TRY(px_dataset_pixels(fuzz->options.set, index, s->values, err));
    uint8_t *bytes = pixels;
    float *reals = pixels;
    for (size_t i = 0; i < fuzz->size; i++)
        if (fuzz->rounds)
            bytes[i] = (uint8_t)s->values[i];
        else
            reals[i] = whole ? s->values[i] / 255.0f : s->values[i];
    return PX_OK;
}

static void search_take(const seed_search *s, pxi_fuzz_seed *list, uint8_t *pixels, int64_t *count,
                        const pxi_fuzz_seed *seed, const uint8_t *from)
{
    memcpy(pixels + (size_t)*count * s->fuzz->pixel_bytes, from, s->fuzz->pixel_bytes);
    list[(*count)++] = *seed;
}

/* Looks at inputs first..first+count-1 of the order. */
static px_status search_chunk(seed_search *s, int64_t first, int64_t count, px_error *err)
{
    px_fuzz *fuzz = s->fuzz;
    for (int64_t i = 0; i < count; i++)
        PX_TRY(
            search_values(s, s->order[first + i], s->chunk + (size_t)i * fuzz->pixel_bytes, err));
    PX_TRY(pxi_fuzz_judge(fuzz, s->chunk, s->order + first, count, s->verdicts, err));
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = s->order[first + i];
        const int64_t label = px_dataset_label(fuzz->options.set, index);
        const uint8_t *pixels = s->chunk + (size_t)i * fuzz->pixel_bytes;
        if (label < 0 || s->open == 0)
            continue;
        const bool wanted = s->quota[label] > 0;
        const pxi_fuzz_seed seed = {.data_index = px_dataset_index(fuzz->options.set, index),
                                    .row = index,
                                    .label = label,
                                    .confidence = s->verdicts[i].confidence};
        if (s->verdicts[i].prediction != label) {
            fuzz->now.seeds_wrong += wanted;
        } else if (wanted) {
            s->quota[label]--;
            s->open--;
            search_take(s, s->found, s->found_pixels, &s->found_count, &seed, pixels);
        } else if (s->spare_count < s->wanted) {
            search_take(s, s->spare, s->spare_pixels, &s->spare_count, &seed, pixels);
        }
    }
    return PX_OK;
}

static px_status search_open(seed_search *s, px_error *err)
{
    const px_fuzz *fuzz = s->fuzz;
    const bool all = fuzz->options.seeds == 0;
    const size_t wanted = (size_t)s->wanted, classes = (size_t)fuzz->classes;
    s->order = pxi_calloc((size_t)s->count, sizeof *s->order);
    s->quota = pxi_calloc(classes, sizeof *s->quota);
    s->found = pxi_calloc(wanted, sizeof *s->found);
    s->spare = pxi_calloc(all ? 1 : wanted, sizeof *s->spare);
    s->found_pixels = pxi_calloc(wanted, fuzz->pixel_bytes);
    s->spare_pixels = pxi_calloc(all ? 1 : wanted, fuzz->pixel_bytes);
    s->values = pxi_calloc(fuzz->size, sizeof *s->values);
    s->samples = pxi_calloc(fuzz->samples + 1, sizeof *s->samples);
    s->chunk = pxi_calloc(SEEDS_CHUNK, fuzz->pixel_bytes);
    s->verdicts = pxi_calloc(SEEDS_CHUNK, sizeof *s->verdicts);
    if (!s->order || !s->quota || !s->found || !s->spare || !s->found_pixels || !s->spare_pixels ||
        !s->values || !s->samples || !s->chunk || !s->verdicts)
        return pxi_no_memory_for(err, "%" PRId64 " seeds", s->wanted);
    px_random random = px_rng(fuzz->seed, PX_RNG_FUZZ, 0, 0);
    if (all)
        for (int64_t i = 0; i < s->count; i++)
            s->order[i] = i;
    else
        px_rng_permutation(&random, s->order, (uint32_t)s->count);
    for (size_t c = 0; c < classes; c++)
        s->quota[c] =
            all ? s->count : s->wanted / fuzz->classes + ((int64_t)c < s->wanted % fuzz->classes);
    s->open = all ? INT64_MAX : s->wanted;
    return PX_OK;
}

static void search_done(seed_search *s)
{
    free(s->order);
    free(s->quota);
    free(s->found);
    free(s->spare);
    free(s->found_pixels);
    free(s->spare_pixels);
    free(s->values);
    free(s->samples);
    free(s->chunk);
    free(s->verdicts);
}

static void seeds_keep(px_fuzz *fuzz, pxi_fuzz_seed *seeds, uint8_t *pixels, int64_t count)
{
    fuzz->seeds = seeds;
    fuzz->seed_pixels = pixels;
    fuzz->seed_count = (size_t)count;
    for (size_t i = 0; i < fuzz->seed_count; i++)
        seeds[i].pixels = pixels + i * fuzz->pixel_bytes;
    fuzz->now.seeds = count;
}

px_status pxi_fuzz_seeds_choose(px_fuzz *fuzz, px_error *err)
{
    const px_dataset *set = fuzz->options.set;
    seed_search s = {.fuzz = fuzz, .count = px_dataset_count(set)};
    s.wanted = fuzz->options.seeds ? PX_MIN(fuzz->options.seeds, s.count) : s.count;
    if (s.count > UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "%" PRId64 " inputs to choose seeds from are too many", s.count);
    PX_TRY(px_dataset_check_labels(set, fuzz->classes, err));
    px_status status = search_open(&s, err);
    for (int64_t first = 0; first < s.count && s.open > 0 && status == PX_OK; first += SEEDS_CHUNK)
        status = search_chunk(&s, first, PX_MIN(SEEDS_CHUNK, s.count - first), err);
    for (int64_t i = 0; i < s.spare_count && s.found_count < s.wanted && status == PX_OK; i++)
        search_take(&s, s.found, s.found_pixels, &s.found_count, &s.spare[i],
                    s.spare_pixels + (size_t)i * fuzz->pixel_bytes);
    if (status == PX_OK && s.found_count == 0)
        status = px_fail(err, PX_E_INPUT,
                         "the network classifies none of the %" PRId64
                         " inputs correctly, so there is nothing to start from; check --scale, "
                         "--mean and --std with 'plexor eval'",
                         s.count);
    if (status == PX_OK) {
        seeds_keep(fuzz, s.found, s.found_pixels, s.found_count);
        s.found = NULL;
        s.found_pixels = NULL;
    }
    search_done(&s);
    return status;
}

/* Regression: where in the data the targets of seeds are that were loaded. */
static px_status seeds_find(const px_fuzz *fuzz, pxi_fuzz_seed *seeds, size_t count, px_error *err)
{
    const px_dataset *set = fuzz->options.set;
    if (!px_model_regression(fuzz->models[0]))
        return PX_OK;
    for (int64_t i = 0; i < px_dataset_count(set); i++)
        for (size_t k = 0; k < count; k++)
            if (seeds[k].data_index == px_dataset_index(set, i))
                seeds[k].row = i;
    for (size_t k = 0; k < count; k++)
        if (seeds[k].row < 0)
            return pxi_fuzz_bad_state(fuzz, err);
    return PX_OK;
}

px_status pxi_fuzz_seeds_load(px_fuzz *fuzz, px_error *err)
{
    px_campaign_input in = {0};
    pxi_fuzz_seed *seeds = NULL;
    uint8_t *pixels = NULL;
    size_t count = 0, room = 0, pixel_room = 0;
    px_status status = PX_OK;
    for (;;) {
        if (pxi_grow(&pixels, &pixel_room, count + 1, fuzz->pixel_bytes) != 0 ||
            pxi_grow(&seeds, &room, count + 1, sizeof *seeds) != 0)
            status = pxi_no_memory(err);
        PX_THEN(status, px_campaign_next(fuzz->campaign, in.id, PX_INPUT_SEED, &in,
                                         pixels + count * fuzz->pixel_bytes, NULL, err));
        if (status != PX_OK || !in.id)
            break;
        if (in.id != (int64_t)count + 1 || in.label < 0 || in.label >= fuzz->classes) {
            status = pxi_fuzz_bad_state(fuzz, err);
            break;
        }
        seeds[count++] = (pxi_fuzz_seed){.id = in.id,
                                         .row = -1,
                                         .data_index = in.data_index,
                                         .label = in.label,
                                         .confidence = in.confidence};
    }
    PX_THEN(status, seeds_find(fuzz, seeds, count, err));
    if (status == PX_OK) {
        seeds_keep(fuzz, seeds, pixels, (int64_t)count);
        return PX_OK;
    }
    free(seeds);
    free(pixels);
    return status;
}
