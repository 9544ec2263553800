/* tests/select/sel_helpers.c - selectors on rows that a test writes down */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sel_helpers.h"

#include "base/memory.h"
#include "cover/profile_internal.h"

#include <math.h>
#include <stdlib.h>

static px_rows rows_of(const table *t, int64_t width, float *values, px_input_facts *facts,
                       bool *rejected)
{
    for (int64_t i = 0; i < t->count; i++) {
        facts[i] = (px_input_facts){.index = i, .label = -1, .predicted = t->predicted[i]};
        rejected[i] = false;
        for (int64_t n = 0; n < width; n++) {
            values[i * width + n] = t->rows[i][n];
            rejected[i] |= !isfinite(t->rows[i][n]);
        }
    }
    return (px_rows){
        .count = t->count, .width = width, .values = values, .facts = facts, .rejected = rejected};
}

static const char *learn(sel *s, const table *train, int classes)
{
    float values[MOST * WIDE];
    px_input_facts facts[MOST];
    bool rejected[MOST];
    px_error err = {0};
    const px_learner *learner = s->selector->learners[0];
    const px_learner_request request = {.extractor = &s->extractor,
                                        .config = s->config,
                                        .classes = classes,
                                        .count = train->count,
                                        .threads = 1};
    const px_rows rows = rows_of(train, s->extractor.width, values, facts, rejected);
    const char *section = NULL;
    void *state = NULL;
    s->profile = calloc(1, sizeof *s->profile);
    assert_non_null(s->profile);
    s->profile->count = train->count;
    s->profile->classes = classes;
    if (learner->open(&request, &state, &err) != PX_OK ||
        learner->observe(state, &rows, &err) != PX_OK ||
        pxi_profile_add_section(s->profile, learner->id, "test", "test", &section, &err) != PX_OK ||
        learner->finish(state, s->profile, section, &err) != PX_OK)
        fail_msg("%s: %s", s->selector->entry.id, err.message);
    learner->close(state);
    return section;
}

void sel_new(sel *s, const char *id, const char *const *settings, int64_t width, const table *train,
             int64_t count, int classes, bool same)
{
    px_error err = {0};
    size_t texts = 0;
    *s = (sel){.selector = px_selector_find(id), .count = count, .classes = classes};
    if (!s->selector)
        fail_msg("there is no selector '%s'", id);
    while (settings && settings[texts])
        texts++;
    if (px_entry_configure(&px_selectors, &s->selector->entry, settings, texts, &s->config, &err) !=
        PX_OK)
        fail_msg("%s: %s", id, err.message);
    s->layer = (px_row_layer){.name = "layer", .count = width};
    s->extractor = (px_extractor){
        .key = "test", .definition = "test", .width = width, .layers = &s->layer, .layer_count = 1};
    s->model = small_net(1, 2);
    s->data = small_digits(s->model, "test", count, 0);
    if (s->selector->learners)
        s->section = learn(s, train, classes);
    if (s->profile && same)
        s->profile->data_hash = px_dataset_hash(s->data.set);
}

px_status sel_prepare(sel *s, px_error *err)
{
    const px_selector_request request = {.model = s->model,
                                         .extractor = &s->extractor,
                                         .config = s->config,
                                         .profile = s->profile,
                                         .learned = &s->section,
                                         .classes = s->classes,
                                         .scores = {.classes = s->classes, .probabilities = true},
                                         .count = s->count,
                                         .set = s->data.set,
                                         .pre = &s->data.pre,
                                         .seed = 1,
                                         .threads = 1};
    if (s->selector->bytes)
        assert_true(s->selector->bytes(&request) >= 0);
    PX_TRY(s->selector->prepare(&request, &s->prepared, err));
    return s->selector->open ? s->selector->open(s->prepared, &s->worker, err) : PX_OK;
}

void sel_release(sel *s)
{
    if (s->worker)
        s->selector->close(s->worker);
    s->selector->release(s->prepared);
    s->worker = s->prepared = NULL;
}

void sel_done(sel *s)
{
    sel_release(s);
    px_profile_free(s->profile);
    free(s->config);
    small_close(&s->data);
    px_model_free(s->model);
}

px_status sel_run(sel *s, const table *t, double *scores, int64_t *order, px_error *err)
{
    float values[MOST * WIDE];
    px_input_facts facts[MOST];
    bool rejected[MOST];
    const px_rows rows = rows_of(t, s->extractor.width, values, facts, rejected);
    PX_TRY(s->selector->score(s->prepared, s->worker, &rows, scores, err));
    for (int64_t i = 0; i < t->count; i++)
        scores[i] = rejected[i] ? NAN : scores[i];
    return s->selector->arrange ? s->selector->arrange(s->prepared, scores, t->count, order, err)
                                : PX_OK;
}
