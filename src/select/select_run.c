/* src/select/select_run.c - candidates scored: one shared pass, then the selectors' own */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/select_internal.h"
#include <internal/block_run.h>

#include "base/memory.h"

#include <internal/cover.h>
#include <internal/data.h>
#include <internal/profile.h>
#include <internal/select.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

/* Only for selectors that order the candidates by their scores, while those are being made: then
 * whatever is not among the best can be forgotten. */
static bool slot_is_bounded(const px_select *s, const pxi_select_slot *slot)
{
    return slot->selector->score && !slot->selector->arrange && s->keep < s->count;
}

/* --- the shared pass ------------------------------------------------------------------------- */

typedef struct row_state { /* of one slot, private to a worker */
    pxi_ranking ranking;
    void *scratch;
    double *scores; /* of a piece of a block */
} row_state;

typedef struct row_consumer {
    px_select *select;
    pxi_select_slot *slot; /* NULL: notes the predictions only */
} row_consumer;

static void row_close(void *context, void *state)
{
    const row_consumer *c = context;
    row_state *r = state;
    if (!r)
        return;
    if (r->scratch)
        c->slot->selector->close(r->scratch);
    pxi_ranking_done(&r->ranking);
    free(r->scores);
    free(r);
}

static px_status row_open(void *context, void **state, px_error *err)
{
    const row_consumer *c = context;
    const px_select *s = c->select;
    row_state *r = NULL;
    PX_TRY(PX_NEW(r, 1, err));
    px_status status = PX_NEW(r->scores, PX_COVER_BLOCK, err);
    PX_THEN_IF(status, c->slot && slot_is_bounded(s, c->slot),
               pxi_ranking_init(&r->ranking, s->keep, s->options.stratify ? s->classes : 0, err));
    PX_THEN_IF(status, c->slot && c->slot->selector->open,
               c->slot->selector->open(c->slot->prepared, &r->scratch, err));
    if (status == PX_OK)
        *state = r;
    else
        row_close(context, r);
    return status;
}

static px_status row_observe(void *context, void *state, const px_rows *rows, px_error *err)
{
    const row_consumer *c = context;
    px_select *s = c->select;
    row_state *r = state;
    for (int64_t i = 0; s->predicted && i < rows->count; i++) {
        s->predicted[rows->facts[i].index] = rows->facts[i].predicted;
        s->confidence[rows->facts[i].index] = rows->facts[i].confidence;
    }
    if (!c->slot)
        return PX_OK;
    const px_selector *x = c->slot->selector;
    const px_status status = x->score(c->slot->prepared, r->scratch, rows, r->scores, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "selector '%s'", x->entry.id);
    for (int64_t i = 0; i < rows->count; i++) {
        const px_input_facts *f = &rows->facts[i];
        const px_ranked entry = {.index = f->index,
                                 .score = rows->rejected[i] ? NAN : r->scores[i],
                                 .predicted = f->predicted,
                                 .confidence = f->confidence};
        if (c->slot->scores)
            c->slot->scores[f->index] = entry.score;
        else
            PX_TRY(pxi_ranking_add(&r->ranking, &entry, err));
    }
    return PX_OK;
}

static px_status row_merge(void *context, void *state, void *other, px_error *err)
{
    const row_consumer *c = context;
    row_state *to = state, *from = other;
    return to->ranking.heap && c->slot ? pxi_ranking_merge(&to->ranking, &from->ranking, err)
                                       : PX_OK;
}

/* The best so far; what selectors work with holds nothing between rows. */
static px_status row_save(void *context, const void *state, px_npz_writer *to, const char *prefix,
                          px_error *err)
{
    const row_state *r = state;
    px_ranked *best = NULL;
    int64_t count = 0;
    (void)context;
    if (!r->ranking.heap)
        return PX_OK;
    PX_TRY(pxi_ranking_take(&r->ranking, &best, &count, err));
    const px_shape entries = {.rank = 2, .dim = {count, (int64_t)sizeof *best}};
    const px_shape pair = {.rank = 1, .dim = {2}};
    const int64_t numbers[] = {r->ranking.added, r->ranking.unscored};
    const double range[] = {r->ranking.least, r->ranking.most};
    px_status status = px_npz_put(to, prefix, "best", PX_UINT8, &entries, best, err);
    free(best);
    if (status == PX_OK)
        status = px_npz_put(to, prefix, "numbers", PX_INT64, &pair, numbers, err);
    return status == PX_OK ? px_npz_put(to, prefix, "range", PX_FLOAT64, &pair, range, err)
                           : status;
}

static px_status row_load(void *context, void *state, const px_npz *from, const char *prefix,
                          px_error *err)
{
    row_state *r = state;
    const px_shape entries = {.rank = 2, .dim = {-1, (int64_t)sizeof(px_ranked)}};
    const px_shape pair = {.rank = 1, .dim = {2}};
    const void *best, *numbers, *range;
    px_shape found;
    (void)context;
    if (!r->ranking.heap)
        return PX_OK;
    PX_TRY(px_npz_take(from, prefix, "best", PX_UINT8, &entries, &best, &found, err));
    PX_TRY(px_npz_take(from, prefix, "numbers", PX_INT64, &pair, &numbers, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "range", PX_FLOAT64, &pair, &range, NULL, err));
    for (int64_t i = 0; i < found.dim[0]; i++) {
        px_ranked entry;
        memcpy(&entry, (const char *)best + (size_t)i * sizeof entry, sizeof entry);
        PX_TRY(pxi_ranking_add(&r->ranking, &entry, err));
    }
    r->ranking.added = ((const int64_t *)numbers)[0];
    r->ranking.unscored = ((const int64_t *)numbers)[1];
    r->ranking.least = ((const double *)range)[0];
    r->ranking.most = ((const double *)range)[1];
    return PX_OK;
}

static const pxi_consumer_kind row_kind = {.open = row_open,
                                           .close = row_close,
                                           .observe = row_observe,
                                           .merge = row_merge,
                                           .save = row_save,
                                           .load = row_load};

static bool left_add(pxi_left *left, size_t *used, void *base, size_t size)
{
    if (*used == PXI_LEFT_ARRAYS)
        return false;
    left->array[*used].base = base;
    left->array[(*used)++].size = size;
    return true;
}

/* What row_observe() writes by input; false: that is too much to be told. */
static bool run_left(const px_select *s, const row_consumer *consumers, size_t count,
                     pxi_left *left)
{
    size_t used = 0;
    bool fits = true;
    if (s->predicted) {
        fits = left_add(left, &used, s->predicted, sizeof *s->predicted);
        fits &= left_add(left, &used, s->confidence, sizeof *s->confidence);
    }
    for (size_t c = 0; c < count; c++) {
        const pxi_select_slot *slot = consumers[c].slot;
        void *array;
        size_t size;
        if (slot && slot->scores)
            fits &= left_add(left, &used, slot->scores, sizeof *slot->scores);
        for (size_t i = 0; slot && slot->selector->kept &&
                           (size = slot->selector->kept(slot->prepared, i, &array)) > 0;
             i++)
            fits &= left_add(left, &used, array, size);
    }
    return fits;
}

/* --- progress over all passes ---------------------------------------------------------------- */

typedef struct run_progress {
    px_progress_fn tell;
    void *context;
    int64_t count; /* candidates: one pass counts as that many */
    int64_t pass, passes;
} run_progress;

static bool run_tick(void *context, int64_t done, int64_t total)
{
    const run_progress *p = context;
    const double share = total > 0 ? (double)done / (double)total : 1.0;
    const int64_t inputs = (int64_t)((double)p->count * fmin(share, 1.0));
    return !p->tell || p->tell(p->context, p->pass * p->count + inputs, p->passes * p->count);
}

/* --- the run --------------------------------------------------------------------------------- */

static px_status run_shared(px_select *s, run_progress *progress, px_error *err)
{
    size_t readers = 0, used = 0;
    for (size_t i = 0; i < s->slot_count; i++)
        readers += s->slots[i].selector->score != NULL;
    const bool notes = s->predicted && readers == 0; /* only predictions are wanted */
    const size_t room = readers + 1;
    px_extractor *scores = NULL;
    pxi_consumer *consumers = pxi_calloc(room, sizeof *consumers);
    row_consumer *contexts = pxi_calloc(room, sizeof *contexts);
    pxi_tally tally = {.extract_seconds = pxi_calloc(s->read_count + 1, sizeof(double))};
    px_status status = consumers && contexts && tally.extract_seconds ? PX_OK : pxi_no_memory(err);
    pxi_row_set only_scores = {0};
    if (status == PX_OK && notes) {
        status = px_extractor_scores(s->model, &scores, err);
        PX_THEN(status, pxi_row_set_init(&only_scores, s->model, &scores, 1, err));
        only_scores.confidence = true;
        contexts[used++] = (row_consumer){.select = s};
    }
    for (size_t i = 0; i < s->slot_count; i++)
        if (status == PX_OK && s->slots[i].selector->score)
            contexts[used++] = (row_consumer){.select = s, .slot = &s->slots[i]};
    for (size_t c = 0; c < used && status == PX_OK; c++) {
        consumers[c] = (pxi_consumer){.kind = &row_kind,
                                      .context = &contexts[c],
                                      .extractor = contexts[c].slot ? contexts[c].slot->row : 0};
        status = row_open(&contexts[c], &consumers[c].state, err);
    }
    if (status == PX_OK) {
        pxi_block_job job = {.rows = notes ? &only_scores : &s->rows,
                             .set = s->set,
                             .pre = s->pre,
                             .batch = s->options.batch,
                             .threads = s->threads,
                             .end = s->count,
                             .consumers = consumers,
                             .consumer_count = used,
                             .progress = run_tick,
                             .progress_context = progress,
                             .tally = &tally};
        job.undivided = !run_left(s, contexts, used, &job.left);
        status = pxi_block_run(&job, NULL, err);
        progress->pass++;
    }
    const int64_t blocks = (s->count + PX_COVER_BLOCK - 1) / PX_COVER_BLOCK;
    const double workers = (double)PX_MIN((int64_t)s->threads, blocks);
    for (size_t c = 0; c < used && status == PX_OK; c++) {
        pxi_select_slot *slot = contexts[c].slot;
        if (!slot)
            continue;
        slot->facts.times.pass =
            (tally.sum.forward_seconds + tally.extract_seconds[slot->row]) / workers;
        slot->facts.times.score = consumers[c].seconds / workers;
        row_state *state = consumers[c].state;
        slot->ranking = state->ranking;
        state->ranking = (pxi_ranking){0};
    }
    for (size_t c = 0; c < used; c++)
        row_close(&contexts[c], consumers[c].state);
    s->predicts |= status == PX_OK && s->predicted;
    pxi_row_set_done(&only_scores);
    px_extractor_free(scores);
    free(consumers);
    free(contexts);
    free(tally.extract_seconds);
    return status;
}

static px_status run_own(px_select *s, pxi_select_slot *slot, run_progress *progress, px_error *err)
{
    const px_selector *x = slot->selector;
    px_select_times *times = &slot->facts.times;
    const px_selector_job job = {.model = s->model,
                                 .set = s->set,
                                 .pre = s->pre,
                                 .originals = s->options.originals,
                                 .labelled = s->options.labelled,
                                 .labelled_pre = s->options.labelled_pre,
                                 .count = s->count,
                                 .batch = s->options.batch,
                                 .threads = s->threads,
                                 .seed = s->options.seed,
                                 .progress = run_tick,
                                 .progress_context = progress,
                                 .predicted = s->predicts ? NULL : s->predicted,
                                 .confidence = s->predicts ? NULL : s->confidence,
                                 .predicts = &s->predicts,
                                 .times = times};
    const double start = px_clock_s();
    const px_status status = x->run(slot->prepared, &job, slot->scores, err);
    const double told = times->learn + times->pass + times->score + times->check;
    times->score += fmax(px_clock_s() - start - told, 0.0);
    progress->pass++;
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "selector '%s'", x->entry.id);
}

/* --- ranking --------------------------------------------------------------------------------- */

static px_status rank_bounded(const px_select *s, pxi_select_slot *slot, px_error *err)
{
    PX_TRY(pxi_ranking_take(&slot->ranking, &slot->ranked, &slot->ranked_count, err));
    slot->facts.unscored = slot->ranking.unscored;
    slot->facts.constant = slot->ranking.least == slot->ranking.most && s->count > 1;
    pxi_ranking_done(&slot->ranking);
    return PX_OK;
}

static px_ranked rank_entry(const px_select *s, const pxi_select_slot *slot, int64_t i)
{
    return (px_ranked){.index = i,
                       .score = slot->scores[i],
                       .predicted = s->predicts ? s->predicted[i] : -1,
                       .confidence = s->predicts ? s->confidence[i] : NAN};
}

static px_status rank_whole(const px_select *s, pxi_select_slot *slot, px_error *err)
{
    const px_selector *x = slot->selector;
    px_status status = PX_OK;
    int64_t *order = NULL;
    PX_TRY(PX_NEW(slot->ranked, s->count, err));
    if (x->arrange) {
        order = pxi_calloc((size_t)s->count, sizeof *order);
        status = order ? x->arrange(slot->prepared, slot->scores, s->count, order, err)
                       : pxi_no_memory(err);
    }
    if (status == PX_OK) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < s->count; i++) {
            slot->ranked[i] = rank_entry(s, slot, order ? order[i] : i);
            const double score = slot->ranked[i].score;
            slot->facts.unscored += isnan(score);
            least = fmin(least, score);
            most = fmax(most, score);
        }
        slot->facts.constant = least == most && s->count > 1;
        if (!order)
            pxi_ranked_sort(slot->ranked, s->count);
        slot->ranked_count = s->count;
    }
    free(order);
    free(slot->scores);
    slot->scores = NULL;
    return status;
}

static px_status run_rank(const px_select *s, pxi_select_slot *slot, px_error *err)
{
    const double start = px_clock_s();
    PX_TRY(slot->scores ? rank_whole(s, slot, err) : rank_bounded(s, slot, err));
    if (s->options.stratify)
        PX_TRY(pxi_ranked_stratify(slot->ranked, slot->ranked_count, s->classes, err));
    slot->ranked_count = PX_MIN(slot->ranked_count, s->keep);
    slot->facts.times.order = px_clock_s() - start;
    return PX_OK;
}

px_status px_select_run(px_select *s, px_progress_fn progress, void *progress_context,
                        px_error *err)
{
    run_progress p = {
        .tell = progress, .context = progress_context, .count = s->count, .passes = 0};
    bool whole = false, readers = false;
    if (s->ran)
        return px_fail(err, PX_E_USAGE, "a selection runs once");
    s->ran = true;
    for (size_t i = 0; i < s->slot_count; i++) {
        pxi_select_slot *slot = &s->slots[i];
        readers |= slot->selector->score != NULL;
        p.passes += slot->selector->run != NULL;
        if (slot_is_bounded(s, slot))
            continue;
        whole = true;
        PX_TRY(PX_NEW(slot->scores, s->count, err));
    }
    if (whole && s->has_scores) {
        PX_TRY(PX_NEW(s->predicted, s->count, err));
        PX_TRY(PX_NEW(s->confidence, s->count, err));
    }
    p.passes += readers || s->predicted;
    if (readers)
        PX_TRY(run_shared(s, &p, err));
    for (size_t i = 0; i < s->slot_count; i++)
        if (s->slots[i].selector->run)
            PX_TRY(run_own(s, &s->slots[i], &p, err));
    if (s->predicted && !s->predicts) /* nobody had use for them but the reader of the result */
        PX_TRY(run_shared(s, &p, err));
    for (size_t i = 0; i < s->slot_count; i++)
        PX_TRY(run_rank(s, &s->slots[i], err));
    return PX_OK;
}
