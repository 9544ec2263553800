/* src/cover/cover.c - criteria for a network: chosen, prepared, asked */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <ctype.h>
#include <internal/block_run.h>
#include <internal/cover.h>
#include <internal/engine.h>
#include <internal/profile.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

px_cover_options px_cover_options_default(void)
{
    return (px_cover_options){.criteria = "all"};
}

static void cover_done(px_cover *cover)
{
    for (size_t i = 0; i < cover->count; i++) {
        pxi_cover_slot *slot = &cover->slots[i];
        if (slot->state)
            slot->criterion->close(slot->state);
        if (slot->prepared && slot->criterion->release)
            slot->criterion->release(slot->prepared);
        free(slot->config);
        free(slot->settings_text);
        free(slot->definition);
    }
    free(cover->slots);
    pxi_row_set_done(&cover->rows);
    pxi_extractors_done(&cover->extractors);
    pxi_seen_done(&cover->seen);
    pxi_cover_forget_curve(cover);
}

void px_cover_free(px_cover *cover)
{
    if (!cover)
        return;
    cover_done(cover);
    free(cover);
}

/* --- choosing -------------------------------------------------------------------------------- */

static px_status slot_extractor(px_cover *cover, pxi_cover_slot *slot, const px_shape *input_shape,
                                const px_cover_options *options, px_error *err)
{
    const px_criterion *c = slot->criterion;
    const px_graph *graph = px_model_graph(cover->model);
    const pxi_reading reading = {c->layers, c->tap,     c->neurons,
                                 c->choose, c->extract, slot->config};
    pxi_reader_wish wish = {options->layers, options->tap, options->neurons, NULL};
    px_feed feed;
    if (input_shape && graph->input_count == 1) {
        feed = (px_feed){.value = graph->inputs[0], .shape = *input_shape};
        feed.shape.dim[0] = 1;
        wish.feed = &feed;
    }
    PX_TRY(pxi_extractors_add(&cover->extractors, cover->model, &reading, &wish, &slot->extractor,
                              err));
    const px_extractor *x = cover->extractors.item[slot->extractor];
    slot->rows_hash = XXH3_64bits(x->key, strlen(x->key)) ^ (uint64_t)x->width;
    return PX_DUP(slot->definition, x->definition, err);
}

static px_status cover_add(px_cover *cover, const px_criterion *criterion,
                           const px_shape *input_shape, const px_cover_options *options,
                           px_error *err)
{
    px_scores scores;
    if (criterion->classes) {
        const px_status found = px_model_classes(cover->model, &scores, err);
        if (found != PX_OK)
            return px_fail_in(err, found, "criterion '%s' needs a classifier", criterion->entry.id);
    }
    PX_TRY(PX_GROW(cover->slots, cover->capacity, cover->count + 1, err));
    pxi_cover_slot *slot = &cover->slots[cover->count++];
    *slot = (pxi_cover_slot){.criterion = criterion};
    PX_TRY(px_criterion_configure(criterion, options->preset, options->settings,
                                  options->setting_count, &slot->config, err));
    slot->settings_text = px_params_text(criterion->entry.params, slot->config);
    if (!slot->settings_text)
        return pxi_no_memory(err);
    const px_status status = slot_extractor(cover, slot, input_shape, options, err);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "criterion '%s'", criterion->entry.id);
}

px_status pxi_cover_choose(px_cover *cover, const px_shape *input_shape,
                           const px_cover_options *options, px_error *err)
{
    if (strcmp(options->criteria, "all") == 0) {
        for (size_t i = 0; i < px_criterion_count(); i++)
            PX_TRY(cover_add(cover, px_criterion_get(i), input_shape, options, err));
        return PX_OK;
    }
    char *copy = pxi_strdup(options->criteria), *rest = copy;
    px_status status = copy ? PX_OK : pxi_no_memory(err);
    for (char *id; status == PX_OK && (id = strsep(&rest, ","));) {
        while (isspace((unsigned char)*id))
            id++;
        for (char *end = id + strlen(id); end > id && isspace((unsigned char)end[-1]);)
            *--end = '\0';
        const px_criterion *criterion = px_criterion_find(id);
        bool twice = false;
        for (size_t i = 0; i < cover->count; i++)
            twice |= cover->slots[i].criterion == criterion;
        if (!criterion)
            status = px_registry_unknown(&px_criteria, id, strlen(id), err);
        else if (!twice)
            status = cover_add(cover, criterion, input_shape, options, err);
    }
    free(copy);
    return status;
}

px_status px_cover_lessons(const px_model *model, const px_shape *input_shape,
                           const px_cover_options *options, px_lessons *out, px_error *err)
{
    px_cover cover = {.model = model};
    px_lessons lessons = {0};
    px_status status = pxi_cover_choose(&cover, input_shape, options, err);
    bool *given = pxi_calloc(PX_MAX(cover.extractors.count, 1), sizeof *given);
    if (status == PX_OK && !given)
        status = pxi_no_memory(err);
    for (size_t i = 0; i < cover.count && status == PX_OK; i++) {
        const pxi_cover_slot *slot = &cover.slots[i];
        status = pxi_lessons_of(&lessons, slot->criterion->learners,
                                cover.extractors.item[slot->extractor], slot->config,
                                slot->criterion->entry.config_size, &given[slot->extractor], err);
    }
    for (size_t e = 0; e < cover.extractors.count; e++)
        if (given && given[e])
            cover.extractors.item[e] = NULL;
    free(given);
    cover_done(&cover);
    if (status == PX_OK)
        *out = lessons;
    else
        px_lessons_free(&lessons);
    return status;
}

/* --- preparing ------------------------------------------------------------------------------- */

static px_status slot_prepare(px_cover *cover, pxi_cover_slot *slot, const px_profile *profile,
                              px_error *err)
{
    const px_criterion *c = slot->criterion;
    const px_extractor *extractor = cover->extractors.item[slot->extractor];
    const char **learned = NULL;
    px_status status =
        pxi_learned_find(profile, c->learners, extractor, slot->config, &learned, err);
    if (status == PX_OK) {
        const px_criterion_request request = {
            .model = cover->model,
            .extractor = extractor,
            .config = slot->config,
            .profile = profile,
            .learned = learned,
            .classes = cover->rows.classes,
            .seed = cover->seed,
            .threads = cover->threads > 0 ? cover->threads : px_cpu_count(),
        };
        const double start = px_clock_s();
        if (c->prepare)
            status = c->prepare(&request, &slot->prepared, err);
        slot->prepare_seconds = px_clock_s() - start;
    }
    free(learned);
    PX_THEN(status, pxi_cover_slot_open(slot, err));
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "criterion '%s'", c->entry.id);
}

px_status pxi_cover_slot_open(pxi_cover_slot *slot, px_error *err)
{
    return slot->state ? PX_OK : slot->criterion->open(slot->prepared, &slot->state, err);
}

px_status px_cover_new(const px_model *model, const px_shape *input_shape,
                       const px_cover_options *options, px_cover **out, px_error *err)
{
    px_cover *cover = NULL;
    PX_TRY(PX_NEW(cover, 1, err));
    cover->model = model;
    cover->model_hash = px_model_hash(model);
    cover->seed = options->seed;
    cover->threads = options->threads;
    px_status status = options->profile ? px_profile_check(options->profile, model, err) : PX_OK;
    PX_THEN(status, pxi_cover_choose(cover, input_shape, options, err));
    PX_THEN(status, pxi_row_set_init(&cover->rows, model, cover->extractors.item,
                                     cover->extractors.count, err));
    for (size_t i = 0; i < cover->count && status == PX_OK; i++) {
        const px_criterion *c = cover->slots[i].criterion;
        if (options->profile && c->learners && c->learners[0]) {
            cover->has_profile = true;
            cover->profile_hash = px_profile_hash(options->profile);
        }
        status = slot_prepare(cover, &cover->slots[i], options->profile, err);
    }
    return PX_GIVE(status, cover, out, px_cover_free);
}

void pxi_cover_forget_curve(px_cover *cover)
{
    for (size_t i = 0; i < cover->point_count; i++)
        free(cover->points[i].values);
    free(cover->points);
    cover->points = NULL;
    cover->point_count = cover->point_capacity = 0;
}

px_status px_cover_reset(px_cover *cover, px_error *err)
{
    for (size_t i = 0; i < cover->count; i++) {
        pxi_cover_slot *slot = &cover->slots[i];
        void *fresh = NULL;
        PX_TRY(slot->criterion->open(slot->prepared, &fresh, err));
        slot->criterion->close(slot->state);
        slot->state = fresh;
        slot->observed = slot->rejected = 0;
        slot->seconds = 0.0;
    }
    cover->seen.count = 0;
    pxi_cover_forget_curve(cover);
    return PX_OK;
}

/* --- asking ---------------------------------------------------------------------------------- */

size_t px_cover_count(const px_cover *cover)
{
    return cover->count;
}

static const pxi_cover_slot *slot_at(const px_cover *cover, size_t i)
{
    assert(i < cover->count);
    return &cover->slots[i];
}

const px_criterion *px_cover_criterion(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->criterion;
}

const char *px_cover_settings_text(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->settings_text;
}

int64_t px_cover_first(const px_cover *cover)
{
    return cover->seen.count ? cover->seen.range[0].first : -1;
}

const char *px_cover_definition(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->definition;
}

const px_extractor *px_cover_extractor(const px_cover *cover, size_t i)
{
    return cover->model ? cover->extractors.item[slot_at(cover, i)->extractor] : NULL;
}

const pxi_row_set *pxi_cover_rows(const px_cover *cover)
{
    return &cover->rows;
}

const void *pxi_cover_prepared(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->prepared;
}

void *px_cover_state(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->state;
}

px_coverage px_cover_value(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->criterion->value(slot_at(cover, i)->state);
}

int64_t px_cover_observed(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->observed;
}

int64_t px_cover_rejected(const px_cover *cover, size_t i)
{
    return slot_at(cover, i)->rejected;
}

double px_cover_seconds(const px_cover *cover, size_t i, double *prepare)
{
    if (prepare)
        *prepare = slot_at(cover, i)->prepare_seconds;
    return slot_at(cover, i)->seconds;
}

const px_cover_point *px_cover_curve(const px_cover *cover, size_t *count)
{
    *count = cover->point_count;
    return cover->points;
}

/* --- for those who run networks themselves --------------------------------------------------- */

const int *px_cover_observe_values(const px_cover *cover, size_t *count)
{
    *count = cover->rows.observe_count;
    return cover->rows.observe;
}

const int *px_cover_keep_values(const px_cover *cover, size_t *count)
{
    *count = cover->rows.keep_count;
    return cover->rows.keep;
}

px_status px_reader_new(const px_cover *cover, const px_plan *plan, px_reader **out, px_error *err)
{
    if (!cover->model)
        return px_fail(err, PX_E_USAGE, "a state without its network cannot read inputs");
    return pxi_reader_new(&cover->rows, px_plan_batch(plan), false, out, err);
}

double px_cover_gain(const px_cover *cover, size_t i, const px_reader *reader, int64_t row)
{
    const pxi_cover_slot *slot = slot_at(cover, i);
    const px_rows rows = pxi_reader_rows(reader, slot->extractor, 0, reader->filled);
    return rows.rejected[row] ? 0.0 : slot->criterion->gain(slot->state, &rows, row);
}

px_status px_cover_observe(px_cover *cover, const px_reader *reader, int64_t first, int64_t count,
                           px_error *err)
{
    if (first < 0 || count < 0 || first + count > reader->filled)
        return px_fail(err, PX_E_USAGE, "the reader has %lld rows", (long long)reader->filled);
    for (size_t i = 0; i < cover->count; i++) {
        pxi_cover_slot *slot = &cover->slots[i];
        const px_rows rows = pxi_reader_rows(reader, slot->extractor, first, count);
        PX_TRY(slot->criterion->observe(slot->state, &rows, err));
        for (int64_t r = 0; r < count; r++) {
            slot->observed += !rows.rejected[r];
            slot->rejected += rows.rejected[r];
        }
    }
    return PX_OK;
}
