/* src/cover/row_reader.c - rows of all extractors from one forward pass */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/graph.h>
#include <internal/ranks.h>
#include <internal/row_reader.h>

#include "base/arena.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

static const int64_t READER_PIECE_BYTES = (int64_t)32 << 20;

/* --- the extractors together ----------------------------------------------------------------- */

static px_status values_add(int **values, size_t *count, size_t *capacity, int value, px_error *err)
{
    for (size_t i = 0; i < *count; i++)
        if ((*values)[i] == value)
            return PX_OK;
    if (pxi_grow(values, capacity, *count + 1, sizeof **values) != 0)
        return pxi_no_memory(err);
    (*values)[(*count)++] = value;
    return PX_OK;
}

static px_status row_set_fill(pxi_row_set *set, px_error *err)
{
    size_t observe_room = 0, keep_room = 0;
    for (size_t e = 0; e < set->count; e++) {
        const px_extractor *x = set->extractors[e];
        for (size_t i = 0; i < x->observe_count; i++) {
            PX_TRY(
                values_add(&set->observe, &set->observe_count, &observe_room, x->observe[i], err));
            set->looks[e * set->value_count + (size_t)x->observe[i]] = true;
        }
        for (size_t i = 0; i < x->keep_count; i++)
            PX_TRY(values_add(&set->keep, &set->keep_count, &keep_room, x->keep[i], err));
    }
    if (set->regression)
        PX_TRY(values_add(&set->keep, &set->keep_count, &keep_room, set->regression->output, err));
    return set->has_scores
               ? values_add(&set->keep, &set->keep_count, &keep_room, set->scores.value, err)
               : PX_OK;
}

px_status pxi_row_set_init(pxi_row_set *set, const px_model *model, px_extractor *const *extractors,
                           size_t count, px_error *err)
{
    *set = (pxi_row_set){.model = model, .extractors = extractors, .count = count};
    const px_status scores = px_model_scores(model, &set->scores, err);
    if (scores == PX_E_NOMEM)
        return scores;
    set->has_scores = scores == PX_OK; /* without them it is no classifier */
    set->regression = px_model_regression(model);
    set->classes = set->has_scores && !set->regression ? set->scores.classes : 0;
    set->value_count = (size_t)px_model_graph(model)->value_count;
    set->looks = pxi_calloc(PX_MAX(count, 1) * set->value_count, sizeof *set->looks);
    const px_status status = set->looks ? row_set_fill(set, err) : pxi_no_memory(err);
    if (status != PX_OK)
        pxi_row_set_done(set);
    return status;
}

void pxi_row_set_done(pxi_row_set *set)
{
    free(set->observe);
    free(set->keep);
    free(set->looks);
    *set = (pxi_row_set){0};
}

int64_t pxi_row_piece(int64_t width)
{
    int64_t rows = PX_COVER_BLOCK;
    while (rows > 1 && width > READER_PIECE_BYTES / (int64_t)sizeof(float) / rows)
        rows /= 2;
    return rows;
}

/* --- a reader -------------------------------------------------------------------------------- */

px_status pxi_reader_new(const pxi_row_set *set, int64_t batch, bool block, px_reader **out,
                         px_error *err)
{
    px_reader *r = NULL;
    PX_TRY(PX_NEW(r, 1, err));
    const size_t count = PX_MAX(set->count, 1);
    r->set = set;
    r->batch = batch;
    r->room = block ? PX_COVER_BLOCK : batch;
    r->memory = pxi_arena_new();
    r->capacity = pxi_arena_alloc(r->memory, count, sizeof *r->capacity);
    r->rows = pxi_arena_alloc(r->memory, count, sizeof *r->rows);
    r->rejected = pxi_arena_alloc(r->memory, count, sizeof *r->rejected);
    r->scratch = pxi_arena_alloc(r->memory, count, sizeof *r->scratch);
    r->seconds = pxi_arena_alloc(r->memory, count, sizeof *r->seconds);
    r->facts = pxi_arena_alloc(r->memory, (size_t)r->room, sizeof *r->facts);
    r->predictions = pxi_arena_alloc(r->memory, (size_t)batch, sizeof *r->predictions);
    r->bad = pxi_arena_alloc(r->memory, (size_t)batch, sizeof *r->bad);
    r->losses = pxi_arena_alloc(r->memory, (size_t)batch, sizeof *r->losses);
    bool room = pxi_arena_whole(r->memory);
    px_status status = PX_OK;
    for (size_t e = 0; e < set->count && room && status == PX_OK; e++) {
        const px_extractor *x = set->extractors[e];
        const size_t rows = (size_t)(block ? pxi_row_piece(x->width) : batch);
        r->capacity[e] = (int64_t)rows;
        r->rejected[e] = pxi_calloc(rows, sizeof **r->rejected);
        r->rows[e] = pxi_calloc(rows, (size_t)x->width * sizeof **r->rows);
        room = r->rejected[e] && r->rows[e];
        if (room && x->kind->scratch_new)
            status = x->kind->scratch_new(x, batch, &r->scratch[e], err);
    }
    if (!room)
        status = pxi_no_memory(err);
    return PX_GIVE(status, r, out, px_reader_free);
}

void px_reader_free(px_reader *r)
{
    if (!r)
        return;
    for (size_t e = 0; e < r->set->count; e++) {
        if (r->rows)
            free(r->rows[e]);
        if (r->rejected)
            free(r->rejected[e]);
        if (r->scratch && r->scratch[e])
            r->set->extractors[e]->kind->scratch_free(r->scratch[e]);
    }
    pxi_arena_free(r->memory);
    free(r);
}

static float *reader_row(const px_reader *r, size_t e, int64_t at)
{
    return r->rows[e] + at % r->capacity[e] * r->set->extractors[e]->width;
}

static px_status reader_observer(void *context, int value, const px_view *view, px_error *err)
{
    px_reader *r = context;
    for (size_t e = 0; e < r->set->count; e++) {
        const px_extractor *x = r->set->extractors[e];
        if (!r->set->looks[e * r->set->value_count + (size_t)value])
            continue;
        const double start = px_clock_s();
        PX_TRY(
            x->kind->look(x, r->scratch[e], value, view, r->samples, reader_row(r, e, r->at), err));
        r->seconds[e] += px_clock_s() - start;
    }
    return PX_OK;
}

/* NaN and infinities are what is left of an exponent of ones; written so that it vectorises. */
static bool row_is_finite(const float *row, int64_t width)
{
    uint32_t bad = 0;
    for (int64_t i = 0; i < width; i++) {
        uint32_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

/* Marks inputs of which nothing can be said. A fused ReLU turns NaN into 0, so it is looked for at
 * both ends of the network: among the numbers that go in, and among the scores. There -inf may
 * stand for an impossible class. */
static void reader_mark_bad(px_reader *r, const px_session *session, int64_t samples)
{
    const px_graph *graph = px_model_graph(r->set->model);
    const px_view in =
        graph->input_count > 0 ? px_session_view(session, graph->inputs[0]) : (px_view){0};
    const int64_t width = in.data ? px_shape_count(&in.shape) / PX_MAX(in.shape.dim[0], 1) : 0;
    for (int64_t i = 0; i < samples; i++)
        r->bad[i] = in.data && !row_is_finite(in.data + i * width, width);
    if (!r->set->has_scores)
        return;
    const px_regression *regression = r->set->regression; /* a target may be unknown */
    const px_view scores =
        px_session_view(session, regression ? regression->output : r->set->scores.value);
    const int numbers = regression ? regression->count : r->set->scores.classes;
    for (int64_t i = 0; i < samples; i++)
        for (int c = 0; c < numbers; c++)
            r->bad[i] |= !(scores.data[i * scores.stride[0] + c * scores.stride[1]] < INFINITY);
}

px_status pxi_reader_read(px_reader *r, px_session *session, int64_t at, int64_t samples,
                          px_error *err)
{
    assert(samples > 0);
    r->at = at;
    r->samples = samples;
    const double start = px_clock_s();
    double extracting = 0.0;
    for (size_t e = 0; e < r->set->count; e++)
        extracting -= r->seconds[e];
    px_session_observe(session, reader_observer, r);
    px_status status = px_session_forward(session, err);
    px_session_observe(session, NULL, NULL);
    PX_THEN_IF(
        status, r->set->has_scores,
        px_session_judge(session, &r->set->scores, NULL, samples, r->predictions, NULL, err));
    const bool confident = r->set->confidence && r->set->has_scores;
    PX_THEN_IF(status, confident,
               px_session_judge(session, &r->set->scores, r->predictions, samples, r->predictions,
                                r->losses, err));
    if (status != PX_OK)
        return status;
    reader_mark_bad(r, session, samples);
    for (int64_t i = 0; i < samples; i++) {
        const bool scored = r->set->has_scores && !r->bad[i];
        r->facts[at + i].predicted = scored ? (int)r->predictions[i] : -1;
        r->facts[at + i].confidence = scored && confident ? (float)exp(-r->losses[i]) : NAN;
    }
    for (size_t e = 0; e < r->set->count; e++)
        extracting += r->seconds[e];
    r->forward_seconds += px_clock_s() - start - extracting;
    for (size_t e = 0; e < r->set->count; e++) {
        const px_extractor *x = r->set->extractors[e];
        const double began = px_clock_s();
        float *rows = reader_row(r, e, at);
        if (x->kind->finish)
            PX_TRY(x->kind->finish(x, r->scratch[e], session, samples, r->facts + at, rows, err));
        for (int64_t i = 0; i < samples; i++)
            r->rejected[e][(at + i) % r->capacity[e]] =
                r->bad[i] || !row_is_finite(rows + i * x->width, x->width);
        r->seconds[e] += px_clock_s() - began;
    }
    return PX_OK;
}

px_rows pxi_reader_rows(const px_reader *r, size_t e, int64_t first, int64_t count)
{
    assert(e < r->set->count && first >= 0 && count >= 0);
    return (px_rows){.count = count,
                     .width = r->set->extractors[e]->width,
                     .values = reader_row(r, e, first),
                     .facts = r->facts + first,
                     .rejected = r->rejected[e] + first % r->capacity[e]};
}

px_status px_reader_forward(px_reader *r, px_session *session, int64_t samples,
                            const int64_t *index, const int64_t *labels, px_error *err)
{
    if (samples < 0 || samples > r->room)
        return px_fail(err, PX_E_USAGE, "%lld samples do not fit a batch of %lld",
                       (long long)samples, (long long)r->room);
    for (int64_t i = 0; i < samples; i++)
        r->facts[i] = (px_input_facts){
            .index = index ? index[i] : i, .label = labels ? labels[i] : -1, .predicted = -1};
    r->filled = 0;
    PX_TRY(pxi_reader_read(r, session, 0, samples, err));
    r->filled = samples;
    return PX_OK;
}

/* --- between ranks --------------------------------------------------------------------------- */

void pxi_reader_pack(const px_reader *r, px_text *to)
{
    const size_t filled = (size_t)r->filled;
    px_text_add_bytes(to, (const char *)&r->filled, sizeof r->filled);
    px_text_add_bytes(to, (const char *)r->facts, filled * sizeof *r->facts);
    for (size_t e = 0; e < r->set->count; e++) {
        const size_t width = (size_t)r->set->extractors[e]->width;
        px_text_add_bytes(to, (const char *)r->rejected[e], filled * sizeof **r->rejected);
        px_text_add_bytes(to, (const char *)r->rows[e], filled * width * sizeof **r->rows);
    }
}

bool pxi_reader_unpack(px_reader *r, const char **bytes, size_t *size)
{
    if (!pxi_ranks_take(&r->filled, sizeof r->filled, bytes, size) || r->filled < 0 ||
        r->filled > r->batch)
        return false;
    const size_t filled = (size_t)r->filled;
    bool good = pxi_ranks_take(r->facts, filled * sizeof *r->facts, bytes, size);
    for (size_t e = 0; good && e < r->set->count; e++) {
        const size_t width = (size_t)r->set->extractors[e]->width;
        good = pxi_ranks_take(r->rejected[e], filled * sizeof **r->rejected, bytes, size) &&
               pxi_ranks_take(r->rows[e], filled * width * sizeof **r->rows, bytes, size);
    }
    return good;
}
