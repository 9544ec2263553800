/* studies/revisit/revisit_arm.c - what of the candidates is added to the training data
 *
 * Algorithm 1, line 9: a mutant is added where the network gets it wrong and
 *
 *     nc(M, D + x) > nc(M, D)     "coverage-improving"; <= for "coverage-remaining"
 *
 * with D the set as it has grown so far (the paper's second variant says D_0; its package compares
 * NC of the mutant alone with that of its original alone, of values that it scales per layer; here
 * they are raw by either rule). As an added mutant changes D, the
 * mutants are decided on one after the other: their values are computed on all workers first, which
 * is the work, and gain() then takes one comparison per neuron.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit.h"

#include "base/memory.h"
#include <internal/block_run.h>
#include <internal/cover.h>

#include <assert.h>
#include <internal/rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_VALUES = 1 << 24 }; /* neuron values of candidates that are held at a time */

/* --- what a set covers ------------------------------------------------------------------------ */

px_status rv_cover_new(const rv_bench *b, const px_model *model, rv_scale scale, px_cover **out,
                       px_error *err)
{
    const char *const settings[] = {"nc.t=0.75",
                                    scale == RV_RAW ? "nc.variant=raw" : "nc.variant=suite"};
    px_cover_options o = px_cover_options_default();
    o.criteria = "nc";
    o.neurons = RV_NEURONS;
    if (scale == RV_SCALED_IN) {
        o.layers = "all";
        o.tap = "pre";
    }
    o.settings = settings;
    o.setting_count = PX_LEN(settings);
    o.threads = b->study->options.threads;
    return px_cover_new(model, NULL, &o, out, err);
}

px_status rv_cover_add(const rv_bench *b, px_cover *cover, const rv_pictures *pictures,
                       const bool *only, px_error *err)
{
    px_cover_run_options o = px_cover_run_options_default();
    o.only = only;
    o.progress = b->study->options.progress;
    o.progress_context = b->study->options.context;
    return px_cover_run(cover, pictures->set, &pictures->pre, &o, NULL, err);
}

/* --- values of candidates --------------------------------------------------------------------- */

static px_status traces_open(void *context, void **state, px_error *err)
{
    (void)err;
    *state = context; /* one for all workers: each row has its place */
    return PX_OK;
}

static void traces_close(void *context, void *state)
{
    (void)context;
    (void)state;
}

static px_status traces_observe(void *context, void *state, const px_rows *rows, px_error *err)
{
    (void)context;
    (void)err;
    rv_traces *t = state;
    assert(rows->width == t->width);
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t at = rows->facts[i].index - t->first;
        if (at < 0 || at >= t->count)
            continue; /* of the block that the first one lies in */
        memcpy(t->values + at * t->width, rows->values + i * rows->width,
               (size_t)t->width * sizeof *t->values);
        t->facts[at] = rows->facts[i];
        t->rejected[at] = rows->rejected[i];
    }
    return PX_OK;
}

static px_status traces_merge(void *context, void *state, void *other, px_error *err)
{
    (void)context;
    (void)state;
    (void)other;
    (void)err;
    return PX_OK;
}

static const pxi_consumer_kind traces_kind = {
    .open = traces_open, .close = traces_close, .observe = traces_observe, .merge = traces_merge};

px_status rv_traces_make(const rv_bench *b, const px_cover *cover, const rv_pictures *pictures,
                         int64_t first, int64_t end, rv_traces *out, px_error *err)
{
    rv_traces t = {.first = first, .count = end - first};
    t.width = px_cover_extractor(cover, 0)->width; /* of nc, the only criterion */
    t.values = pxi_calloc((size_t)t.count, (size_t)t.width * sizeof *t.values);
    t.facts = pxi_calloc((size_t)t.count, sizeof *t.facts);
    t.rejected = pxi_calloc((size_t)t.count, sizeof *t.rejected);
    pxi_consumer consumer = {.kind = &traces_kind, .context = &t, .extractor = 0, .state = &t};
    const pxi_block_job job = {.rows = pxi_cover_rows(cover),
                               .set = pictures->set,
                               .pre = &pictures->pre,
                               .threads = b->study->options.threads,
                               .first = first / PX_COVER_BLOCK * PX_COVER_BLOCK,
                               .end = end,
                               .consumers = &consumer,
                               .consumer_count = 1,
                               .progress = b->study->options.progress,
                               .progress_context = b->study->options.context};
    const px_status status =
        t.values && t.facts && t.rejected ? pxi_block_run(&job, NULL, err) : pxi_no_memory(err);
    if (status == PX_OK)
        *out = t;
    else
        rv_traces_done(&t);
    return status;
}

void rv_traces_done(rv_traces *t)
{
    free(t->values);
    free(t->facts);
    free(t->rejected);
    *t = (rv_traces){.count = 0};
}

static px_rows traces_row(const rv_traces *t, int64_t i)
{
    return (px_rows){.count = 1,
                     .width = t->width,
                     .values = t->values + i * t->width,
                     .facts = t->facts + i,
                     .rejected = t->rejected + i};
}

/* --- choosing --------------------------------------------------------------------------------- */

px_status rv_chooser_open(rv_chooser *c, const px_cover *cover, rv_rule rule, bool improving,
                          px_error *err)
{
    const void *prepared = pxi_cover_prepared(cover, 0);
    *c = (rv_chooser){
        .rule = rule, .improving = improving, .criterion = px_cover_criterion(cover, 0)};
    PX_TRY(c->criterion->open(prepared, &c->now, err));
    PX_TRY(c->criterion->open(prepared, &c->empty, err));
    return c->criterion->merge(c->now, px_cover_state(cover, 0), err);
}

void rv_chooser_close(rv_chooser *c)
{
    if (c->now)
        c->criterion->close(c->now);
    if (c->empty)
        c->criterion->close(c->empty);
    rv_choice_done(&c->choice);
    *c = (rv_chooser){.now = NULL};
}

/* How many neurons of its criterion, which counts shares, the row adds to what is covered. */
static int64_t chooser_gain(const rv_chooser *c, const void *covered, const px_rows *row)
{
    return llround(c->criterion->gain(covered, row, 0) * (double)row->width);
}

/* How many more the candidate covers: than the set, or than its original alone. */
static int64_t chooser_lead(const rv_chooser *c, const rv_traces *candidates,
                            const rv_traces *originals, int64_t i)
{
    const px_rows candidate = traces_row(candidates, i);
    if (c->rule == RV_BY_SET)
        return chooser_gain(c, c->now, &candidate);
    const px_rows original = traces_row(originals, i);
    return chooser_gain(c, c->empty, &candidate) - chooser_gain(c, c->empty, &original);
}

px_status rv_chooser_take(rv_chooser *c, const rv_traces *candidates, const rv_traces *originals,
                          px_error *err)
{
    rv_choice *choice = &c->choice;
    for (int64_t i = 0; i < candidates->count; i++) {
        const px_input_facts *facts = &candidates->facts[i];
        if (facts->predicted == facts->label)
            continue;
        choice->wrong++;
        if ((chooser_lead(c, candidates, originals, i) > 0) != c->improving)
            continue;
        if (pxi_grow(&choice->items, &c->room, (size_t)choice->count + 1, sizeof *choice->items))
            return pxi_no_memory(err);
        choice->items[choice->count++] = facts->index;
        const px_rows row = traces_row(candidates, i);
        PX_TRY(c->criterion->observe(c->now, &row, err));
    }
    return PX_OK;
}

static int items_compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

px_status rv_choice_draw(rv_choice *choice, int64_t most, uint64_t seed, uint32_t item,
                         uint32_t iteration, px_error *err)
{
    if (choice->count <= most)
        return PX_OK;
    int64_t *order = NULL;
    PX_TRY(PX_NEW(order, choice->count, err));
    px_random random = px_rng(seed, PX_RNG_SELECT, item, iteration);
    px_rng_permutation(&random, order, (uint32_t)choice->count);
    for (int64_t i = 0; i < most; i++)
        order[i] = choice->items[order[i]];
    if (most > 0) {
        memcpy(choice->items, order, (size_t)most * sizeof *order);
        qsort(choice->items, (size_t)most, sizeof *choice->items, items_compare);
    }
    choice->count = most;
    free(order);
    return PX_OK;
}

void rv_choice_done(rv_choice *choice)
{
    free(choice->items);
    *choice = (rv_choice){.count = 0};
}

/* Candidates are taken in pieces that end where a block does. */
static int64_t piece_end(const px_cover *cover, int64_t first, int64_t end)
{
    const int64_t width = px_cover_extractor(cover, 0)->width;
    const int64_t rows = PX_MAX(PIECE_VALUES / width, PX_COVER_BLOCK);
    return PX_MIN((first + rows) / PX_COVER_BLOCK * PX_COVER_BLOCK, end);
}

px_status rv_choose_part(const rv_bench *b, const px_cover *cover, const rv_pictures *candidates,
                         int k, rv_rule rule, bool improving, rv_choice *out, px_error *err)
{
    const int64_t end = b->inputs.count * k / RV_STEPS;
    rv_chooser chooser = {.now = NULL};
    px_status status = rv_chooser_open(&chooser, cover, rule, improving, err);
    for (int64_t at = b->inputs.count * (k - 1) / RV_STEPS, next; at < end && status == PX_OK;
         at = next) {
        rv_traces traces = {.count = 0}, originals = {.count = 0};
        next = piece_end(cover, at, end);
        status = rv_traces_make(b, cover, candidates, at, next, &traces, err);
        if (status == PX_OK && rule == RV_BY_PAIR)
            status = rv_traces_make(b, cover, &b->inputs, at, next, &originals, err);
        if (status == PX_OK)
            status = rv_chooser_take(&chooser, &traces, &originals, err);
        rv_traces_done(&traces);
        rv_traces_done(&originals);
    }
    if (status == PX_OK) {
        *out = chooser.choice;
        chooser.choice = (rv_choice){.count = 0};
    }
    rv_chooser_close(&chooser);
    return status;
}

px_status rv_covers_more(const rv_bench *b, const px_cover *cover, const rv_pictures *pictures,
                         const rv_pictures *than, int64_t count, int64_t *lead, px_error *err)
{
    rv_chooser chooser = {.now = NULL};
    px_status status = rv_chooser_open(&chooser, cover, RV_BY_PAIR, true, err);
    for (int64_t at = 0, next; at < count && status == PX_OK; at = next) {
        rv_traces traces = {.count = 0}, others = {.count = 0};
        next = piece_end(cover, at, count);
        status = rv_traces_make(b, cover, pictures, at, next, &traces, err);
        if (status == PX_OK)
            status = rv_traces_make(b, cover, than, at, next, &others, err);
        for (int64_t i = at; i < next && status == PX_OK; i++)
            lead[i] += chooser_lead(&chooser, &traces, &others, i - at);
        rv_traces_done(&traces);
        rv_traces_done(&others);
    }
    rv_chooser_close(&chooser);
    return status;
}
