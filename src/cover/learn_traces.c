/* src/cover/learn_traces.c - the rows of training inputs themselves
 *
 * Workers keep the rows of the blocks they saw; in the end they are put into the order of the data
 * set. Rejected rows are left out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/profile_internal.h"

#include <internal/cover.h>
#include <internal/profile.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace_facts {
    int64_t index, label, predicted;
} trace_facts;

typedef struct traces_piece { /* rows of neighbouring inputs, in order */
    int64_t count;
    trace_facts *facts;
    float *rows;
} traces_piece;

typedef struct traces_state {
    int64_t width, count;
    traces_piece *pieces;
    size_t piece_count, piece_capacity;
} traces_state;

static void traces_close(void *state)
{
    traces_state *s = state;
    if (!s)
        return;
    for (size_t i = 0; i < s->piece_count; i++) {
        free(s->pieces[i].facts);
        free(s->pieces[i].rows);
    }
    free(s->pieces);
    free(s);
}

static int64_t traces_bytes(const px_learner_request *request)
{
    const int64_t row =
        request->extractor->width * (int64_t)sizeof(float) + (int64_t)sizeof(trace_facts);
    return request->count > INT64_MAX / 2 / row ? INT64_MAX / 2 : request->count * row;
}

static px_status traces_open(const px_learner_request *request, void **state, px_error *err)
{
    traces_state *s = NULL;
    PX_TRY(PX_NEW(s, 1, err));
    s->width = request->extractor->width;
    *state = s;
    return PX_OK;
}

static px_status traces_room(traces_state *s, px_error *err)
{
    return pxi_grow(&s->pieces, &s->piece_capacity, s->piece_count + 1, sizeof *s->pieces) == 0
               ? PX_OK
               : pxi_no_memory(err);
}

static px_status traces_observe(void *state, const px_rows *rows, px_error *err)
{
    traces_state *s = state;
    int64_t kept = 0;
    for (int64_t r = 0; r < rows->count; r++)
        kept += !rows->rejected[r];
    if (kept == 0)
        return PX_OK;
    PX_TRY(traces_room(s, err));
    traces_piece piece = {
        .facts = pxi_calloc((size_t)kept, sizeof *piece.facts),
        .rows = pxi_calloc((size_t)kept, (size_t)s->width * sizeof *piece.rows),
    };
    if (!piece.facts || !piece.rows) {
        free(piece.facts);
        free(piece.rows);
        return pxi_no_memory_for(
            err, "traces after %" PRId64 " inputs; take fewer of them or fewer layers", s->count);
    }
    for (int64_t r = 0; r < rows->count; r++) {
        if (rows->rejected[r])
            continue;
        const px_input_facts *f = &rows->facts[r];
        piece.facts[piece.count] =
            (trace_facts){.index = f->index, .label = f->label, .predicted = f->predicted};
        memcpy(piece.rows + piece.count++ * s->width, rows->values + r * rows->width,
               (size_t)s->width * sizeof *piece.rows);
    }
    s->pieces[s->piece_count++] = piece;
    s->count += kept;
    return PX_OK;
}

static px_status traces_merge(void *state, void *other, px_error *err)
{
    traces_state *s = state, *o = other;
    while (o->piece_count > 0) {
        PX_TRY(traces_room(s, err));
        s->pieces[s->piece_count++] = o->pieces[--o->piece_count];
    }
    s->count += o->count;
    o->count = 0;
    return PX_OK;
}

/* A piece is rows of neighbouring inputs: each stays one. */
static px_status traces_save(const void *state, px_npz_writer *to, const char *prefix,
                             px_error *err)
{
    const traces_state *s = state;
    for (size_t i = 0; i < s->piece_count; i++) {
        const traces_piece *piece = &s->pieces[i];
        const px_shape facts = {.rank = 2, .dim = {piece->count, 3}};
        const px_shape rows = {.rank = 2, .dim = {piece->count, s->width}};
        char name[32];
        snprintf(name, sizeof name, "facts%zu", i);
        PX_TRY(px_npz_put(to, prefix, name, PX_INT64, &facts, piece->facts, err));
        snprintf(name, sizeof name, "rows%zu", i);
        PX_TRY(px_npz_put(to, prefix, name, PX_FLOAT32, &rows, piece->rows, err));
    }
    const int64_t count = (int64_t)s->piece_count;
    return px_npz_put(to, prefix, "pieces", PX_INT64, &(px_shape){.rank = 1, .dim = {1}}, &count,
                      err);
}

static px_status traces_load_piece(traces_state *s, const px_npz *from, const char *prefix,
                                   int64_t i, px_error *err)
{
    const void *facts, *rows;
    px_shape found;
    char name[32];
    snprintf(name, sizeof name, "facts%" PRId64, i);
    PX_TRY(px_npz_take(from, prefix, name, PX_INT64, &(px_shape){.rank = 2, .dim = {-1, 3}}, &facts,
                       &found, err));
    const int64_t count = found.dim[0];
    snprintf(name, sizeof name, "rows%" PRId64, i);
    PX_TRY(px_npz_take(from, prefix, name, PX_FLOAT32,
                       &(px_shape){.rank = 2, .dim = {count, s->width}}, &rows, NULL, err));
    PX_TRY(traces_room(s, err));
    traces_piece piece = {.count = count};
    px_status status = PX_NEW(piece.facts, count, err);
    if (status == PX_OK)
        status = PX_NEW(piece.rows, count * s->width, err);
    if (status != PX_OK) {
        free(piece.facts);
        return status;
    }
    memcpy(piece.facts, facts, (size_t)count * sizeof *piece.facts);
    memcpy(piece.rows, rows, (size_t)(count * s->width) * sizeof *piece.rows);
    s->pieces[s->piece_count++] = piece;
    s->count += count;
    return PX_OK;
}

static px_status traces_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    const void *pieces;
    PX_TRY(px_npz_take(from, prefix, "pieces", PX_INT64, &(px_shape){.rank = 1, .dim = {1}},
                       &pieces, NULL, err));
    for (int64_t i = 0; i < *(const int64_t *)pieces; i++)
        PX_TRY(traces_load_piece(state, from, prefix, i, err));
    return PX_OK;
}

static int traces_order(const void *a, const void *b)
{
    const int64_t x = ((const traces_piece *)a)->facts[0].index,
                  y = ((const traces_piece *)b)->facts[0].index;
    return (x > y) - (x < y);
}

static px_status traces_finish(void *state, px_profile *to, const char *section, px_error *err)
{
    traces_state *s = state;
    const px_shape rows = {.rank = 2, .dim = {s->count, s->width}};
    const px_shape each = {.rank = 1, .dim = {s->count}};
    px_tensor traces = {0}, labels = {0}, predictions = {0};
    if (s->piece_count > 1)
        qsort(s->pieces, s->piece_count, sizeof *s->pieces, traces_order);
    px_status status = px_tensor_init(&traces, PX_FLOAT32, &rows, err);
    PX_THEN(status, px_tensor_init(&labels, PX_INT64, &each, err));
    PX_THEN(status, px_tensor_init(&predictions, PX_INT64, &each, err));
    int64_t at = 0;
    for (size_t p = 0; p < s->piece_count && status == PX_OK; p++) {
        traces_piece *piece = &s->pieces[p];
        memcpy((float *)traces.data + at * s->width, piece->rows,
               (size_t)(piece->count * s->width) * sizeof *piece->rows);
        for (int64_t i = 0; i < piece->count; i++, at++) {
            ((int64_t *)labels.data)[at] = piece->facts[i].label;
            ((int64_t *)predictions.data)[at] = piece->facts[i].predicted;
        }
        free(piece->rows); /* both are never held whole */
        piece->rows = NULL;
    }
    PX_THEN(status, px_profile_put(to, section, "traces", &traces, err));
    PX_THEN(status, px_profile_put(to, section, "labels", &labels, err));
    PX_THEN(status, px_profile_put(to, section, "predictions", &predictions, err));
    px_tensor_done(&traces);
    px_tensor_done(&labels);
    px_tensor_done(&predictions);
    return status;
}

const px_learner px_learner_traces = {
    .id = "traces",
    .help = "the neuron values of every training input, with labels and predictions",
    .bytes = traces_bytes,
    .open = traces_open,
    .close = traces_close,
    .observe = traces_observe,
    .merge = traces_merge,
    .save = traces_save,
    .load = traces_load,
    .finish = traces_finish,
};

px_status px_profile_traces(const px_profile *profile, const char *section,
                            const px_extractor *extractor, px_traces *out, px_error *err)
{
    const px_tensor *traces = NULL, *labels = NULL, *predictions = NULL;
    const px_shape rows = {.rank = 2, .dim = {-1, extractor->width}};
    PX_TRY(px_profile_get(profile, section, "traces", PX_FLOAT32, &rows, &traces, err));
    const px_shape each = {.rank = 1, .dim = {traces->shape.dim[0]}};
    PX_TRY(px_profile_get(profile, section, "labels", PX_INT64, &each, &labels, err));
    PX_TRY(px_profile_get(profile, section, "predictions", PX_INT64, &each, &predictions, err));
    const float *values = traces->data;
    for (int64_t i = 0; i < px_shape_count(&traces->shape); i++)
        if (!(values[i] - values[i] == 0.0f))
            return px_fail(err, PX_E_INPUT, "'%s': trace %" PRId64 " is not finite; make it again",
                           px_profile_name(profile), i / extractor->width);
    for (int64_t i = 0; i < each.dim[0]; i++)
        if (((const int64_t *)labels->data)[i] < -1 ||
            ((const int64_t *)predictions->data)[i] < -1 ||
            ((const int64_t *)predictions->data)[i] >= PX_MAX(px_profile_classes(profile), 1))
            return px_fail(err, PX_E_INPUT,
                           "'%s': trace %" PRId64 " has an impossible class; make it again",
                           px_profile_name(profile), i);
    *out = (px_traces){.count = each.dim[0],
                       .width = extractor->width,
                       .values = values,
                       .labels = labels->data,
                       .predictions = predictions->data};
    return PX_OK;
}
