/* src/generate/minimize_inputs.c - set cover: the few inputs that cover what all of them do
 *
 * The rows that criteria read are kept for all inputs (one pass over the network), so that any
 * criterion can be asked for its gain again and again. The order is that of exact greedy
 * (select/lazy_greedy.h), over the elements of all criteria together and the fault types. Greedy
 * leaves inputs that later ones made superfluous; those are dropped one by one, so that in the end
 * every input covers something that no other does.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/cover_internal.h"
#include "select/lazy_greedy.h"
#include <internal/block_run.h>

#include <internal/minimize.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept_rows { /* of one extractor */
    int64_t width;
    float *values; /* [count][width] */
    bool *rejected;
    px_input_facts *facts;
} kept_rows;

typedef struct covered { /* by some inputs */
    void **states;       /* per criterion */
    bool *types;
} covered;

typedef struct minimize {
    px_cover *cover;      /* NULL: fault types only */
    int64_t count;        /* of inputs */
    int64_t *ids, *types; /* per input; of its fault, numbered from 0; -1: is none */
    int64_t type_count;
    bool wants_types; /* they are elements too */
    covered now;
    kept_rows *rows;  /* per extractor */
    double *elements; /* per criterion: a unit of its value is so many */
    int64_t *order, *gains;
    int64_t chosen;
} minimize;

px_minimize_options px_minimize_options_default(void)
{
    return (px_minimize_options){.fault_types = true};
}

/* --- what inputs are ------------------------------------------------------------------------- */

typedef struct fault_type {
    int64_t label, prediction, input;
} fault_type;

static int type_compare(const void *left, const void *right)
{
    const fault_type *a = left, *b = right;
    if (a->label != b->label)
        return a->label < b->label ? -1 : 1;
    if (a->prediction != b->prediction)
        return a->prediction < b->prediction ? -1 : 1;
    return a->input < b->input ? -1 : a->input > b->input;
}

/* Numbers the pairs (label, prediction) of faults. */
static px_status minimize_types(minimize *m, px_campaign *campaign, int64_t *faults, px_error *err)
{
    fault_type *list = NULL;
    PX_TRY(PX_NEW(list, (size_t)m->count + 1, err));
    px_status status = PX_OK;
    int64_t count = 0;
    for (int64_t i = 0; i < m->count && status == PX_OK; i++) {
        px_campaign_input in;
        status = px_campaign_read(campaign, m->ids[i], &in, NULL, err);
        m->types[i] = -1;
        if (status == PX_OK && in.kind == PX_INPUT_FAULT)
            list[count++] = (fault_type){in.label, in.prediction, i};
    }
    if (status == PX_OK && count)
        qsort(list, (size_t)count, sizeof *list, type_compare);
    for (int64_t i = 0; i < count && status == PX_OK; i++) {
        m->type_count += i == 0 || list[i].label != list[i - 1].label ||
                         list[i].prediction != list[i - 1].prediction;
        m->types[list[i].input] = m->type_count - 1;
    }
    free(list);
    *faults = count;
    return status;
}

static px_status minimize_ids(minimize *m, const px_campaign *campaign, const px_dataset *set,
                              px_error *err)
{
    m->count = px_dataset_count(set);
    PX_TRY(PX_NEW(m->ids, (size_t)m->count + 1, err));
    PX_TRY(PX_NEW(m->types, (size_t)m->count + 1, err));
    PX_TRY(PX_NEW(m->order, (size_t)m->count + 1, err));
    PX_TRY(PX_NEW(m->gains, (size_t)m->count + 1, err));
    for (int64_t i = 0; i < m->count; i++) {
        char name[32], *end = NULL;
        m->ids[i] = strtoll(px_dataset_name(set, i, name, sizeof name), &end, 10);
        if (m->ids[i] < 1 || *end || (i && m->ids[i] <= m->ids[i - 1]))
            return px_fail(err, PX_E_USAGE, "'%s': the data set is not this campaign",
                           px_campaign_folder(campaign));
    }
    return PX_OK;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* As a consumer of blocks: rows are put where their input's are, so workers need nothing of their
 * own. */
static px_status keep_open(void *context, void **state, px_error *err)
{
    (void)err;
    *state = context;
    return PX_OK;
}

static void keep_close(void *context, void *state)
{
    (void)context, (void)state;
}

static px_status keep_observe(void *context, void *state, const px_rows *rows, px_error *err)
{
    (void)state, (void)err;
    kept_rows *kept = context;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t at = rows->facts[i].index;
        memcpy(kept->values + at * kept->width, rows->values + i * rows->width,
               (size_t)kept->width * sizeof *kept->values);
        kept->rejected[at] = rows->rejected[i];
        kept->facts[at] = rows->facts[i];
    }
    return PX_OK;
}

static px_status keep_merge(void *context, void *state, void *other, px_error *err)
{
    (void)context, (void)state, (void)other, (void)err;
    return PX_OK;
}

static const pxi_consumer_kind keep_kind = {
    .open = keep_open, .close = keep_close, .observe = keep_observe, .merge = keep_merge};

static px_status rows_room(minimize *m, int64_t memory_bytes, px_error *err)
{
    const pxi_extractors *extractors = &m->cover->extractors;
    double bytes = 0;
    for (size_t e = 0; e < extractors->count; e++)
        bytes += (double)extractors->item[e]->width * (double)m->count * (double)sizeof(float);
    if (memory_bytes > 0 && bytes > (double)memory_bytes)
        return px_fail(err, PX_E_USAGE,
                       "what the criteria read of %" PRId64
                       " inputs needs %.0f MiB; choose fewer neurons (--layers, --neurons chan) or "
                       "criteria, or allow it with --mem",
                       m->count, bytes / 1048576);
    PX_TRY(PX_NEW(m->rows, extractors->count + 1, err));
    for (size_t e = 0; e < extractors->count; e++) {
        kept_rows *kept = &m->rows[e];
        kept->width = extractors->item[e]->width;
        kept->values = pxi_calloc((size_t)m->count, (size_t)kept->width * sizeof *kept->values);
        kept->rejected = pxi_calloc((size_t)m->count, sizeof *kept->rejected);
        kept->facts = pxi_calloc((size_t)m->count, sizeof *kept->facts);
        if (!kept->values || !kept->rejected || !kept->facts)
            return pxi_no_memory(err);
    }
    return PX_OK;
}

static px_status rows_read(minimize *m, const px_dataset *set, const px_preprocess *pre,
                           const px_minimize_options *options, px_error *err)
{
    const size_t extractors = m->cover->extractors.count;
    PX_TRY(rows_room(m, options->memory_bytes, err));
    pxi_consumer *consumers = pxi_calloc(extractors + 1, sizeof *consumers);
    pxi_tally tally = {.extract_seconds =
                           pxi_calloc(extractors + 1, sizeof *tally.extract_seconds)};
    for (size_t e = 0; consumers && e < extractors; e++)
        consumers[e] = (pxi_consumer){
            .kind = &keep_kind, .context = &m->rows[e], .extractor = e, .state = &m->rows[e]};
    const pxi_block_job job = {.rows = &m->cover->rows,
                               .set = set,
                               .pre = pre,
                               .batch = options->batch,
                               .threads = m->cover->threads,
                               .end = m->count,
                               .consumers = consumers,
                               .consumer_count = extractors,
                               .progress = options->progress,
                               .progress_context = options->progress_context,
                               .tally = &tally};
    const px_status status =
        consumers && tally.extract_seconds ? pxi_block_run(&job, NULL, err) : pxi_no_memory(err);
    free(consumers);
    free(tally.extract_seconds);
    return status;
}

/* --- what they add --------------------------------------------------------------------------- */

static px_rows row_of(const minimize *m, const pxi_cover_slot *slot, int64_t input, int64_t count)
{
    const kept_rows *kept = &m->rows[slot->extractor];
    return (px_rows){.count = count,
                     .width = kept->width,
                     .values = kept->values + input * kept->width,
                     .facts = kept->facts + input,
                     .rejected = kept->rejected + input};
}

static int64_t covered_gain(const minimize *m, const covered *by, int64_t input)
{
    const bool fault = m->wants_types && m->types[input] >= 0;
    int64_t gain = fault && !by->types[m->types[input]];
    for (size_t c = 0; m->cover && c < m->cover->count; c++) {
        const pxi_cover_slot *slot = &m->cover->slots[c];
        const px_rows row = row_of(m, slot, input, 1);
        const double more = slot->criterion->gain(by->states[c], &row, 0);
        if (more > 0) /* whatever rounding does, something is something */
            gain += PX_MAX((int64_t)llround(more * m->elements[c]), (int64_t)1);
    }
    return gain;
}

static px_status covered_take(const minimize *m, covered *by, int64_t input, px_error *err)
{
    if (m->types[input] >= 0)
        by->types[m->types[input]] = true;
    for (size_t c = 0; m->cover && c < m->cover->count; c++) {
        const pxi_cover_slot *slot = &m->cover->slots[c];
        const px_rows row = row_of(m, slot, input, 1);
        PX_TRY(slot->criterion->observe(by->states[c], &row, err));
    }
    return PX_OK;
}

static void covered_done(const minimize *m, covered *by)
{
    for (size_t c = 0; by->states && m->cover && c < m->cover->count; c++)
        m->cover->slots[c].criterion->close(by->states[c]);
    free(by->states);
    free(by->types);
    *by = (covered){0};
}

/* What `like` covers; NULL: nothing. */
static px_status covered_open(const minimize *m, const covered *like, covered *out, px_error *err)
{
    const size_t criteria = m->cover ? m->cover->count : 0;
    covered made = {.states = pxi_calloc(criteria + 1, sizeof *made.states),
                    .types = pxi_calloc((size_t)m->type_count + 1, sizeof *made.types)};
    px_status status = made.states && made.types ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK && like)
        memcpy(made.types, like->types, (size_t)m->type_count * sizeof *made.types);
    for (size_t c = 0; c < criteria && status == PX_OK; c++) {
        const pxi_cover_slot *slot = &m->cover->slots[c];
        status = slot->criterion->open(slot->prepared, &made.states[c], err);
        PX_THEN_IF(status, like, slot->criterion->merge(made.states[c], like->states[c], err));
    }
    if (status == PX_OK)
        *out = made;
    else
        covered_done(m, &made);
    return status;
}

static int64_t minimize_gain(const void *context, int64_t input)
{
    const minimize *m = context;
    return covered_gain(m, &m->now, input);
}

static px_status minimize_take(void *context, int64_t input, px_error *err)
{
    minimize *m = context;
    return covered_take(m, &m->now, input, err);
}

/* Coverage of all, and what an element is; refuses criteria that have none. */
static px_status minimize_measure(minimize *m, px_coverage *before, px_error *err)
{
    PX_TRY(px_cover_reset(m->cover, err));
    for (size_t c = 0; c < m->cover->count; c++) {
        const pxi_cover_slot *slot = &m->cover->slots[c];
        const int64_t piece = pxi_row_piece(m->rows[slot->extractor].width);
        for (int64_t i = 0; i < m->count; i += piece) {
            const px_rows rows = row_of(m, slot, i, PX_MIN(piece, m->count - i));
            PX_TRY(slot->criterion->observe(slot->state, &rows, err));
        }
        before[c] = slot->criterion->value(slot->state);
        if (before[c].value > 0 && before[c].covered <= 0)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "%s does not count elements, so no smaller set has the same; choose "
                           "criteria that do: nc, kmnc, nbc, snac, tknc, tknp",
                           slot->criterion->entry.id);
        m->elements[c] = before[c].value > 0 ? (double)before[c].covered / before[c].value : 0;
    }
    return PX_OK;
}

static px_status minimize_check_order(const px_cover *cover, px_error *err)
{
    for (size_t c = 0; c < cover->count; c++)
        if (cover->slots[c].criterion->ordered)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "%s depends on the order of inputs, so no smaller set has the same; "
                           "choose criteria that do not: nc, kmnc, nbc, snac, tknc, tknp",
                           cover->slots[c].criterion->entry.id);
    return PX_OK;
}

/* --- choosing -------------------------------------------------------------------------------- */

/* Drops those of order[first, end) that the others make superfluous, the first ones first: an input
 * stays if it covers something that neither those that stayed before it nor any after it cover.
 * `by` is what all outside the range cover. In halves, so that each input is taken log2(chosen)
 * times; a dropped one's order becomes -1. */
static px_status minimize_drop(minimize *m, const covered *by, int64_t first, int64_t end,
                               px_error *err)
{
    if (end - first == 1) {
        if (covered_gain(m, by, m->order[first]) == 0)
            m->order[first] = -1;
        return PX_OK;
    }
    const int64_t middle = first + (end - first) / 2;
    for (int half = 0; half < 2; half++) {
        covered with = {0};
        PX_TRY(covered_open(m, by, &with, err));
        px_status status = PX_OK;
        for (int64_t k = half ? first : middle; k < (half ? middle : end) && status == PX_OK; k++)
            if (m->order[k] >= 0)
                status = covered_take(m, &with, m->order[k], err);
        PX_THEN(status, minimize_drop(m, &with, half ? middle : first, half ? end : middle, err));
        covered_done(m, &with);
        PX_TRY(status);
    }
    return PX_OK;
}

static px_status minimize_choose(minimize *m, px_error *err)
{
    const pxi_lazy lazy = {.gain = minimize_gain, .take = minimize_take, .context = m};
    covered nothing = {0};
    PX_TRY(covered_open(m, NULL, &m->now, err));
    PX_TRY(pxi_lazy_run(&lazy, NULL, m->count, m->order, m->gains, &m->chosen, err));
    covered_done(m, &m->now);
    if (m->chosen > 1) {
        PX_TRY(covered_open(m, NULL, &nothing, err));
        const px_status status = minimize_drop(m, &nothing, 0, m->chosen, err);
        covered_done(m, &nothing);
        PX_TRY(status);
    }
    int64_t left = 0;
    for (int64_t k = 0; k < m->chosen; k++)
        if (m->order[k] >= 0) {
            m->order[left] = m->order[k];
            m->gains[left++] = m->gains[k];
        }
    m->chosen = left;
    return PX_OK;
}

/* The network again, with the chosen ones only. */
static px_status minimize_verify(const minimize *m, const px_dataset *set, const px_preprocess *pre,
                                 const px_minimize_options *options, px_minimized *out,
                                 px_error *err)
{
    bool *only = NULL;
    PX_TRY(PX_NEW(only, m->count, err));
    for (int64_t k = 0; k < m->chosen; k++)
        only[m->order[k]] = true;
    px_cover_run_options run = px_cover_run_options_default();
    run.batch = options->batch;
    run.only = only;
    px_status status = px_cover_reset(m->cover, err);
    PX_THEN_IF(status, m->chosen, px_cover_run(m->cover, set, pre, &run, NULL, err));
    free(only);
    for (size_t c = 0; status == PX_OK && c < m->cover->count; c++) {
        out->after[c] = px_cover_value(m->cover, c);
        if (out->after[c].covered != out->before[c].covered ||
            out->after[c].total != out->before[c].total)
            status = px_fail(
                err, PX_E_UNSUPPORTED,
                "%s (%s) of a part of the inputs does not add up to that of all "
                "(%" PRId64 " instead of %" PRId64 " covered); choose another variant or criterion",
                px_cover_criterion(m->cover, c)->entry.id, px_cover_settings_text(m->cover, c),
                out->after[c].covered, out->before[c].covered);
    }
    return status;
}

static void minimize_done(minimize *m)
{
    covered_done(m, &m->now);
    for (size_t e = 0; m->rows && e < m->cover->extractors.count; e++) {
        free(m->rows[e].values);
        free(m->rows[e].rejected);
        free(m->rows[e].facts);
    }
    free(m->rows);
    free(m->elements);
    free(m->ids);
    free(m->types);
    free(m->order);
    free(m->gains);
}

static px_status minimize_result(const minimize *m, px_minimized *out, px_error *err)
{
    if (!m->chosen)
        return px_fail(err, PX_E_INPUT,
                       "the inputs cover nothing of what is asked for, so none is worth keeping");
    bool *seen = pxi_calloc((size_t)m->type_count + 1, sizeof *seen);
    out->ids = pxi_calloc((size_t)m->chosen, sizeof *out->ids);
    out->gains = pxi_calloc((size_t)m->chosen, sizeof *out->gains);
    if (!seen || !out->ids || !out->gains) {
        free(seen);
        return pxi_no_memory(err);
    }
    for (int64_t k = 0; k < m->chosen; k++) {
        out->ids[k] = m->ids[m->order[k]];
        out->gains[k] = m->gains[k];
        const int64_t type = m->types[m->order[k]];
        if (type < 0)
            continue;
        out->faults++;
        out->fault_types_left += !seen[type];
        seen[type] = true;
    }
    free(seen);
    out->count = (size_t)m->chosen;
    out->from = m->count;
    return PX_OK;
}

static px_status minimize_work(minimize *m, px_campaign *campaign, const px_dataset *set,
                               const px_preprocess *pre, const px_minimize_options *options,
                               px_minimized *out, px_error *err)
{
    if (m->cover)
        PX_TRY(minimize_check_order(m->cover, err));
    PX_TRY(minimize_ids(m, campaign, set, err));
    PX_TRY(minimize_types(m, campaign, &out->from_faults, err));
    out->fault_types = m->type_count;
    out->criteria = m->cover ? m->cover->count : 0;
    PX_TRY(PX_NEW(m->elements, out->criteria + 1, err));
    PX_TRY(PX_NEW(out->before, out->criteria + 1, err));
    PX_TRY(PX_NEW(out->after, out->criteria + 1, err));
    if (m->cover) {
        PX_TRY(rows_read(m, set, pre, options, err));
        PX_TRY(minimize_measure(m, out->before, err));
    }
    PX_TRY(minimize_choose(m, err));
    PX_TRY(minimize_result(m, out, err));
    return m->cover ? minimize_verify(m, set, pre, options, out, err) : PX_OK;
}

px_status px_minimize_inputs(px_campaign *campaign, const px_dataset *set, const px_preprocess *pre,
                             const px_minimize_options *options, px_minimized *out, px_error *err)
{
    px_campaign_identity identity;
    minimize m = {.cover = options->cover, .wants_types = options->fault_types};
    px_minimized made = {0};
    if (!px_campaign_identity_get(campaign, &identity))
        return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", px_campaign_folder(campaign));
    if (m.cover && m.cover->model_hash != identity.model_hash)
        return px_fail(err, PX_E_MISMATCH, "'%s': was made with another model",
                       px_campaign_folder(campaign));
    const px_status status = minimize_work(&m, campaign, set, pre, options, &made, err);
    minimize_done(&m);
    if (status == PX_OK)
        *out = made;
    else
        px_minimized_done(&made);
    return status;
}

void px_minimized_done(px_minimized *minimized)
{
    free(minimized->ids);
    free(minimized->gains);
    free(minimized->before);
    free(minimized->after);
    *minimized = (px_minimized){0};
}
