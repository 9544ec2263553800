/* src/select/select.c - selectors for a network and candidates: chosen, prepared, asked */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/select_internal.h"

#include "base/memory.h"
#include <internal/engine.h>
#include <internal/graph.h>
#include <internal/sample_plan.h>

#include <assert.h>
#include <ctype.h>
#include <internal/data.h>
#include <internal/select.h>
#include <inttypes.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

px_select_options px_select_options_default(void)
{
    return (px_select_options){.selectors = "all"};
}

static void slot_done(pxi_select_slot *slot)
{
    if (slot->prepared && slot->selector->release)
        slot->selector->release(slot->prepared);
    free(slot->config);
    free(slot->settings_text);
    free(slot->scores);
    free(slot->ranked);
    pxi_ranking_done(&slot->ranking);
}

static void select_done(px_select *s)
{
    for (size_t i = 0; i < s->slot_count; i++)
        slot_done(&s->slots[i]);
    free(s->slots);
    pxi_row_set_done(&s->rows);
    free(s->read);
    pxi_extractors_done(&s->extractors);
    px_text_done(&s->left_out);
    free(s->predicted);
    free(s->confidence);
}

void px_select_free(px_select *select)
{
    if (!select)
        return;
    select_done(select);
    free(select);
}

/* --- choosing -------------------------------------------------------------------------------- */

/* What a selector cannot do without and is not there. */
static px_status select_needs(const px_select *s, const px_selector *selector, px_error *err)
{
    px_scores scores;
    if (selector->needs & PX_NEEDS_CLASSES)
        PX_TRY(px_model_classes(s->model, &scores, err));
    if (selector->needs & PX_NEEDS_LABELLED) {
        if (!s->options.labelled)
            return px_fail(err, PX_E_INPUT,
                           "learns from labelled inputs that the network was not trained on; give "
                           "--labelled SPEC");
        PX_TRY(px_model_scores(s->model, &scores, err));
        PX_TRY(px_dataset_check_labels(s->options.labelled, scores.classes, err));
    }
    const px_shape sample = px_dataset_shape(s->set);
    if ((selector->needs & PX_NEEDS_PICTURES) && sample.rank != 3)
        return px_fail(err, PX_E_INPUT, "changes pictures; the data are %s",
                       px_dataset_describe(s->set));
    return PX_OK;
}

static px_status slot_extractor(px_select *s, pxi_select_slot *slot, px_error *err)
{
    const px_selector *x = slot->selector;
    const pxi_reading reading = {x->layers, x->tap,     x->neurons,
                                 x->choose, x->extract, slot->config};
    const px_shape sample = px_dataset_shape(s->set);
    px_feed feed;
    if (x->no_rows)
        return PX_OK;
    PX_TRY(pxi_sample_feed(s->model, &sample, s->pre->channels_last, &feed, err));
    const pxi_reader_wish wish = {s->options.layers, s->options.tap, s->options.neurons, &feed};
    PX_TRY(pxi_extractors_add(&s->extractors, s->model, &reading, &wish, &slot->extractor, err));
    slot->has_extractor = true;
    return PX_OK;
}

/* A reason why "all" may go on without a selector: it does not suit this network or these data. */
static bool select_may_leave_out(px_status status)
{
    return status == PX_E_INPUT || status == PX_E_UNSUPPORTED || status == PX_E_MISMATCH;
}

/* Takes the last slot out again, and says why. */
static void select_leave_out(px_select *s, const px_error *why)
{
    pxi_select_slot *slot = &s->slots[--s->slot_count];
    px_text_format(&s->left_out, "%s is left out: it %s\n", slot->selector->entry.id, why->message);
    slot_done(slot);
}

static px_status select_add(px_select *s, const px_selector *selector, bool named, px_error *err)
{
    PX_TRY(PX_GROW(s->slots, s->slot_capacity, s->slot_count + 1, err));
    pxi_select_slot *slot = &s->slots[s->slot_count++];
    *slot = (pxi_select_slot){.selector = selector};
    PX_TRY(px_entry_configure(&px_selectors, &selector->entry, s->options.settings,
                              s->options.setting_count, &slot->config, err));
    slot->settings_text = px_params_text(selector->entry.params, slot->config);
    if (!slot->settings_text)
        return pxi_no_memory(err);
    px_error why = {0};
    px_status status = select_needs(s, selector, &why);
    PX_THEN(status, slot_extractor(s, slot, &why));
    if (status == PX_OK)
        return PX_OK;
    if (!named && select_may_leave_out(status)) {
        select_leave_out(s, &why);
        return PX_OK;
    }
    return px_fail(err, status, "selector '%s': %.400s", selector->entry.id, why.message);
}

/* Criteria that selectors of another name have as a setting. */
static const struct {
    const char *id, *instead;
} select_known_as[] = {
    {"nc", "nac"},
    {"nbc", "kmnc with --set kmnc.elements=nbc"},
    {"snac", "kmnc with --set kmnc.elements=snac"},
    {"tknc", "nac with --set nac.elements=tknc"},
};

static px_status select_unknown(const char *id, px_error *err)
{
    for (size_t i = 0; i < PX_LEN(select_known_as); i++)
        if (strcmp(select_known_as[i].id, id) == 0)
            return px_fail(err, PX_E_USAGE, "there is no selector '%s'; it is %s", id,
                           select_known_as[i].instead);
    return px_registry_unknown(&px_selectors, id, strlen(id), err);
}

static px_status select_choose(px_select *s, px_error *err)
{
    if (strcmp(s->options.selectors, "all") == 0) {
        for (size_t i = 0; i < px_selector_count(); i++)
            PX_TRY(select_add(s, px_selector_get(i), false, err));
        return PX_OK;
    }
    char *copy = pxi_strdup(s->options.selectors), *rest = copy;
    px_status status = copy ? PX_OK : pxi_no_memory(err);
    for (char *id; status == PX_OK && (id = strsep(&rest, ","));) {
        while (isspace((unsigned char)*id))
            id++;
        for (char *end = id + strlen(id); end > id && isspace((unsigned char)end[-1]);)
            *--end = '\0';
        const px_selector *selector = px_selector_find(id);
        bool twice = false;
        for (size_t i = 0; i < s->slot_count; i++)
            twice |= s->slots[i].selector == selector;
        if (!selector)
            status = select_unknown(id, err);
        else if (!twice)
            status = select_add(s, selector, true, err);
    }
    free(copy);
    return status;
}

static px_status select_init(px_select *s, const px_model *model, const px_dataset *candidates,
                             const px_preprocess *pre, const px_select_options *options,
                             px_error *err)
{
    s->model = model;
    s->set = candidates;
    s->pre = pre;
    s->options = *options;
    s->count = px_dataset_count(candidates);
    s->keep = options->keep > 0 ? PX_MIN(options->keep, s->count) : s->count;
    s->threads = options->threads > 0 ? options->threads : px_cpu_count();
    if (options->originals && px_dataset_count(options->originals) != s->count)
        return px_fail(err, PX_E_MISMATCH,
                       "there are %" PRId64 " candidates and %" PRId64 " originals", s->count,
                       px_dataset_count(options->originals));
    const px_status scores = px_model_scores(model, &s->scores, err);
    if (scores == PX_E_NOMEM)
        return scores;
    s->has_scores = scores == PX_OK; /* without them it is no classifier */
    s->classes = s->has_scores && !px_model_regression(model) ? s->scores.classes : 0;
    return select_choose(s, err);
}

px_status px_select_lessons(const px_model *model, const px_dataset *candidates,
                            const px_preprocess *pre, const px_select_options *options,
                            px_lessons *out, px_error *err)
{
    px_select s = {0};
    px_lessons lessons = {0};
    px_status status = select_init(&s, model, candidates, pre, options, err);
    bool *given = pxi_calloc(PX_MAX(s.extractors.count, 1), sizeof *given);
    if (status == PX_OK && !given)
        status = pxi_no_memory(err);
    for (size_t i = 0; i < s.slot_count && status == PX_OK; i++) {
        const pxi_select_slot *slot = &s.slots[i];
        if (slot->has_extractor)
            status = pxi_lessons_of(
                &lessons, slot->selector->learners, s.extractors.item[slot->extractor],
                slot->config, slot->selector->entry.config_size, &given[slot->extractor], err);
    }
    for (size_t e = 0; e < s.extractors.count; e++)
        if (given && given[e])
            s.extractors.item[e] = NULL;
    free(given);
    select_done(&s);
    if (status == PX_OK)
        *out = lessons;
    else
        px_lessons_free(&lessons);
    return status;
}

/* --- preparing ------------------------------------------------------------------------------- */

static px_status slot_prepare(px_select *s, pxi_select_slot *slot, int64_t *held, px_error *err)
{
    const px_selector *x = slot->selector;
    const px_extractor *extractor =
        slot->has_extractor ? s->extractors.item[slot->extractor] : NULL;
    const char **learned = NULL;
    if (extractor)
        PX_TRY(pxi_learned_find(s->options.profile, x->learners, extractor, slot->config, &learned,
                                err));
    const px_selector_request request = {.model = s->model,
                                         .extractor = extractor,
                                         .config = slot->config,
                                         .profile = s->options.profile,
                                         .learned = learned,
                                         .classes = s->classes,
                                         .scores = s->scores,
                                         .count = s->count,
                                         .set = s->set,
                                         .pre = s->pre,
                                         .originals = s->options.originals,
                                         .seed = s->options.seed,
                                         .threads = s->threads};
    px_status status = PX_OK;
    const int64_t bytes = x->bytes ? x->bytes(&request) : 0;
    if (s->options.memory_bytes > 0 && bytes > s->options.memory_bytes - *held)
        status = px_fail(err, PX_E_UNSUPPORTED,
                         "would keep %.0f MiB of %" PRId64
                         " candidates, which is too much beside the others; allow more (--mem), "
                         "take fewer candidates (--limit) or fewer neurons (--layers, --neurons)",
                         (double)bytes / 0x1p20, s->count);
    const double start = px_clock_s();
    PX_THEN_IF(status, x->prepare, x->prepare(&request, &slot->prepared, err));
    slot->facts.times.prepare = px_clock_s() - start;
    if (status == PX_OK)
        *held += bytes;
    free(learned);
    return status;
}

/* All slots, one after the other; those that "all" can do without are taken out. */
static px_status select_prepare(px_select *s, px_error *err)
{
    const bool named = strcmp(s->options.selectors, "all") != 0;
    const size_t chosen = s->slot_count;
    int64_t held = 0;
    for (size_t i = 0, at = 0; i < chosen; i++) {
        pxi_select_slot *slot = &s->slots[at];
        px_error why = {0};
        px_status status = slot_prepare(s, slot, &held, &why);
        if (status == PX_E_USAGE && !s->options.profile && slot->selector->learners)
            status = named ? status : PX_E_INPUT; /* lacks a profile */
        if (status == PX_OK) {
            at++;
        } else if (!named && select_may_leave_out(status)) {
            const pxi_select_slot out = *slot; /* last, to be taken out */
            memmove(slot, slot + 1, (s->slot_count - at - 1) * sizeof *slot);
            s->slots[s->slot_count - 1] = out;
            select_leave_out(s, &why);
        } else {
            return px_fail(err, status, "selector '%s': %.400s", slot->selector->entry.id,
                           why.message);
        }
    }
    return s->slot_count > 0 ? PX_OK
                             : px_fail(err, PX_E_INPUT, "no selector suits this: %.400s",
                                       px_text_get(&s->left_out));
}

/* The extractors of those that read rows. */
static px_status select_read(px_select *s, px_error *err)
{
    PX_TRY(PX_NEW(s->read, s->extractors.count + 1, err));
    for (size_t i = 0; i < s->slot_count; i++) {
        pxi_select_slot *slot = &s->slots[i];
        if (!slot->selector->score)
            continue;
        px_extractor *x = s->extractors.item[slot->extractor];
        slot->row = 0;
        while (slot->row < s->read_count && s->read[slot->row] != x)
            slot->row++;
        if (slot->row == s->read_count)
            s->read[s->read_count++] = x;
    }
    PX_TRY(pxi_row_set_init(&s->rows, s->model, s->read, s->read_count, err));
    s->rows.confidence = true;
    return PX_OK;
}

px_status px_select_new(const px_model *model, const px_dataset *candidates,
                        const px_preprocess *pre, const px_select_options *options, px_select **out,
                        px_error *err)
{
    px_select *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    px_status status = options->profile ? px_profile_check(options->profile, model, err) : PX_OK;
    PX_THEN(status, select_init(s, model, candidates, pre, options, err));
    PX_THEN(status, select_prepare(s, err));
    PX_THEN(status, select_read(s, err));
    return PX_GIVE(status, s, out, px_select_free);
}

/* --- asking ---------------------------------------------------------------------------------- */

size_t px_select_count(const px_select *select)
{
    return select->slot_count;
}

static const pxi_select_slot *slot_at(const px_select *select, size_t i)
{
    assert(i < select->slot_count);
    return &select->slots[i];
}

const px_selector *px_select_selector(const px_select *select, size_t i)
{
    return slot_at(select, i)->selector;
}

const char *px_select_settings_text(const px_select *select, size_t i)
{
    return slot_at(select, i)->settings_text;
}

const char *px_select_definition(const px_select *select, size_t i)
{
    const pxi_select_slot *slot = slot_at(select, i);
    return slot->has_extractor ? select->extractors.item[slot->extractor]->definition : NULL;
}

const void *px_select_prepared(const px_select *select, size_t i)
{
    return slot_at(select, i)->prepared;
}

const char *px_select_left_out(const px_select *select)
{
    return px_text_get(&select->left_out);
}

const px_ranked *px_select_ranked(const px_select *select, size_t i, int64_t *count)
{
    *count = slot_at(select, i)->ranked_count;
    return slot_at(select, i)->ranked;
}

px_select_facts px_select_facts_of(const px_select *select, size_t i)
{
    return slot_at(select, i)->facts;
}
