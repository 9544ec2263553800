/* tests/cover/crit_helpers.c - criteria on rows that a test writes down */
/* SPDX-License-Identifier: Apache-2.0 */
#include "crit_helpers.h"

#include "base/memory.h"
#include "cover/profile_internal.h"
#include <internal/cover.h>
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(px_status status, const px_error *err, const char *what)
{
    if (status != PX_OK)
        fail_msg("%s: %s", what, err->message);
}

px_rows crit_rows(const crit *c, crit_table table, int64_t first, int64_t count)
{
    const int64_t width = c->extractor.width;
    bool *rejected = calloc((size_t)(count ? count : 1), sizeof *rejected);
    px_input_facts *facts = calloc((size_t)(count ? count : 1), sizeof *facts);
    assert_non_null(rejected);
    assert_non_null(facts);
    const float *values = table.values + first * width;
    for (int64_t i = 0; i < count; i++) {
        const int class_of = c->criterion->classes ? (int)((first + i) % CRIT_CLASSES) : -1;
        facts[i] = (px_input_facts){.index = first + i, .label = class_of, .predicted = class_of};
        for (int64_t n = 0; n < width; n++)
            rejected[i] |= !isfinite(values[i * width + n]);
    }
    return (px_rows){
        .count = count, .width = width, .values = values, .facts = facts, .rejected = rejected};
}

void crit_rows_done(px_rows *rows)
{
    free((void *)rows->rejected);
    free((void *)rows->facts);
}

/* What the criterion wants of the rows, learned as `plexor profile` learns it. */
static const char *learn(crit *c, crit_table table)
{
    px_error err = {0};
    const px_learner *learner = c->criterion->learners[0];
    const px_learner_request request = {
        .extractor = &c->extractor, .config = c->config, .count = table.count, .threads = 1};
    void *state = NULL;
    const char *section = NULL;
    c->profile = calloc(1, sizeof *c->profile);
    assert_non_null(c->profile);
    c->profile->count = table.count;
    c->profile->classes = c->criterion->classes ? CRIT_CLASSES : 0;
    must(learner->open(&request, &state, &err), &err, "learner");
    px_rows rows = crit_rows(c, table, 0, table.count);
    must(learner->observe(state, &rows, &err), &err, "learner");
    crit_rows_done(&rows);
    must(pxi_profile_add_section(c->profile, learner->id, "test", "test", &section, &err), &err,
         "section");
    must(learner->finish(state, c->profile, section, &err), &err, "learner");
    learner->close(state);
    return section;
}

crit *crit_new(const char *id, const char *const *settings, crit_layout layout, crit_table profile)
{
    px_error err = {0};
    crit *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->criterion = px_criterion_find(id);
    if (!c->criterion)
        fail_msg("there is no criterion '%s'", id);
    static const char *const names[CRIT_LAYERS] = {"one", "two", "three", "four"};
    for (int l = 0; l < CRIT_LAYERS && layout.width[l] > 0; l++) {
        c->layers[l] = (px_row_layer){
            .name = names[l], .offset = c->extractor.width, .count = layout.width[l]};
        c->extractor.width += layout.width[l];
        c->extractor.layer_count++;
    }
    c->extractor.layers = c->layers;
    c->extractor.key = c->extractor.definition = "test";
    size_t count = 0;
    while (settings && settings[count])
        count++;
    must(px_criterion_configure(c->criterion, NULL, settings, count, &c->config, &err), &err, id);
    const char *learned[1] = {NULL};
    if (c->criterion->learners)
        learned[0] = c->section = learn(c, profile);
    const px_criterion_request request = {.extractor = &c->extractor,
                                          .config = c->config,
                                          .profile = c->profile,
                                          .learned = learned,
                                          .classes = c->criterion->classes ? CRIT_CLASSES : 0,
                                          .threads = 1};
    must(c->criterion->prepare(&request, &c->prepared, &err), &err, id);
    c->state = crit_state(c);
    return c;
}

void crit_free(crit *c)
{
    c->criterion->close(c->state);
    c->criterion->release(c->prepared);
    px_profile_free(c->profile);
    free(c->config);
    free(c);
}

void *crit_state(const crit *c)
{
    px_error err = {0};
    void *state = NULL;
    must(c->criterion->open(c->prepared, &state, &err), &err, c->criterion->entry.id);
    return state;
}

void crit_observe_into(const crit *c, void *state, crit_table table, int64_t first, int64_t count)
{
    px_error err = {0};
    px_rows rows = crit_rows(c, table, first, count);
    must(c->criterion->observe(state, &rows, &err), &err, c->criterion->entry.id);
    crit_rows_done(&rows);
}

void crit_observe(crit *c, crit_table table)
{
    crit_observe_into(c, c->state, table, 0, table.count);
}

px_coverage crit_value(const crit *c)
{
    return c->criterion->value(c->state);
}

const char *crit_file(void)
{
    static char path[64];
    snprintf(path, sizeof path, "test-crit-%ld.npz", (long)getpid());
    return path;
}

char *crit_save(const crit *c, const void *state, size_t *size)
{
    px_error err = {0};
    px_npz_writer *writer = NULL;
    must(px_npz_create(crit_file(), &writer, &err), &err, "file");
    must(c->criterion->save(state, writer, "x", &err), &err, "save");
    must(px_npz_commit(writer, &err), &err, "commit");
    FILE *file = fopen(crit_file(), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

float *crit_random(uint32_t seed, int64_t rows, int64_t width, bool broken)
{
    px_random r = px_rng(1, PX_RNG_TEST, seed, 77);
    float *x = calloc((size_t)(rows * width), sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < rows * width; i++) {
        const double value = px_rng_normal(&r);
        x[i] = (float)(px_rng_below(&r, 4) == 0 ? round(value) : value);
    }
    for (int64_t i = 0; broken && i < rows; i++)
        if (px_rng_below(&r, 16) == 0)
            x[i * width + px_rng_below(&r, (uint32_t)width)] = px_rng_below(&r, 2) ? NAN : INFINITY;
    return x;
}
