/* src/localize/suspicious_file.c - suspicious neurons as a table
 *
 * A row per neuron. What holds for the whole list (measure, star, theta, tap, neurons, model)
 * stands in every row, so that it is a plain table for any program; the rows must agree about it.
 * Columns may come in any order, and among others. Rows may be left out or moved: they are put in
 * order by class and rank.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize/suspicious.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <internal/localize.h>
#include <internal/probe.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST_BYTES ((size_t)1 << 28)
#define FILE_MOST_COUNT ((int64_t)1 << 50)

#define FILE_COLUMNS(X)     \
    X(CLASS, "class")       \
    X(RANK, "rank")         \
    X(LAYER, "layer")       \
    X(POSITION, "position") \
    X(UNIT, "unit")         \
    X(AS, "as")             \
    X(AF, "af")             \
    X(NS, "ns")             \
    X(NF, "nf")             \
    X(SCORE, "score")       \
    X(MEASURE, "measure")   \
    X(STAR, "star")         \
    X(THETA, "theta")       \
    X(TAP, "tap")           \
    X(NEURONS, "neurons")   \
    X(MODEL, "model")

enum {
#define FILE_ENUM(id, name) COLUMN_##id,
    FILE_COLUMNS(FILE_ENUM) COLUMN_COUNT
#undef FILE_ENUM
};

static const char *const column_names[COLUMN_COUNT] = {
#define FILE_NAME(id, name) name,
    FILE_COLUMNS(FILE_NAME)
#undef FILE_NAME
};

/* --- writing --------------------------------------------------------------------------------- */

typedef struct saved_row {
    const px_suspect *suspect;
    const px_suspicious *list;
    const char *tap, *neurons;
    double low, high;
    bool is_suspect;
} saved_row;

static const px_field suspect_columns[] = {
    PX_INDEX(px_suspect, class_index, "class", "all: of all together", .none = "all"),
    PX_FIELD(px_suspect, rank, "rank", "in its class, from 1"),
    PX_FIELD(px_suspect, layer, "layer", "its name"),
    PX_FIELD(px_suspect, position, "position", "of the layer"),
    PX_FIELD(px_suspect, unit, "unit", "in the layer"),
    PX_FIELD(px_suspect, hits.as, "as", "active, and the answer is right"),
    PX_FIELD(px_suspect, hits.af, "af", "active, and the answer is wrong"),
    PX_FIELD(px_suspect, hits.ns, "ns", "not active, and the answer is right"),
    PX_FIELD(px_suspect, hits.nf, "nf", "not active, and the answer is wrong"),
    PX_FIELD(px_suspect, score, "score", "by the measure"),
    PX_FIELDS_END,
};

static const px_field list_columns[] = {
    PX_FIELD(px_suspicious, measure, "measure", "its id"),
    PX_FIELD(px_suspicious, star, "star", "the exponent of dstar"),
    PX_FIELD(px_suspicious, theta, "theta", "a neuron is active above this"),
    PX_FIELDS_END,
};

static const px_field model_column[] = {
    PX_HASH(px_suspicious, model_hash, "model", "hash of the network"),
    PX_FIELDS_END,
};

static const px_field file_columns[] = {
    PX_OBJECT_AT(saved_row, suspect, suspect_columns, ""),
    PX_OBJECT_AT(saved_row, list, list_columns, ""),
    PX_FIELD(saved_row, tap, "tap", "where in the layer"),
    PX_FIELD(saved_row, neurons, "neurons", "what a neuron is"),
    PX_OBJECT_AT(saved_row, list, model_column, ""),
    PX_FIELDS_END,
};

/* What follows from the counts is not read; those of Shapley values are no hits of a spectrum. */
static const px_field hit_columns[] = {
    PX_OBJECT_OF(file_columns, ""),
    PX_FIELD(saved_row, low, "low", "end of the interval of af / (af + as)", .format = "%.4f"),
    PX_FIELD(saved_row, high, "high", "end of that", .format = "%.4f"),
    PX_FIELD(saved_row, is_suspect, "suspect", "beyond chance"),
    PX_FIELDS_END,
};

px_status px_suspicious_save(const px_suspicious *list, const char *path, px_error *err)
{
    px_text text = {0};
    const px_field *columns = strcmp(list->measure, PXI_SHAPLEY) != 0 ? hit_columns : file_columns;
    saved_row row = {.list = list,
                     .tap = px_tap_name(list->tap),
                     .neurons = list->deepxplore ? "deepxplore" : px_neurons_name(list->neurons)};
    px_fields_csv(columns, NULL, &text);
    for (size_t i = 0; i < list->count; i++) {
        row.suspect = &list->items[i];
        row.is_suspect = px_hits_suspect(&row.suspect->hits);
        px_hits_interval(&row.suspect->hits, &row.low, &row.high);
        px_fields_csv(columns, &row, &text);
    }
    const px_status status = px_text_failed(&text)
                                 ? pxi_no_memory_for(err, "'%s'", path)
                                 : pxi_file_write(path, text.data, text.length, err);
    px_text_done(&text);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct file_reader {
    pxi_csv csv;
    int where[COLUMN_COUNT]; /* of each column in a row */
    px_suspicious *list;
    size_t capacity;
    const char *tap, *neurons; /* of the first row */
} file_reader;

static const char *file_field(const file_reader *r, int column)
{
    return r->csv.fields[r->where[column]];
}

static px_status file_bad(const file_reader *r, int column, const char *wanted, px_error *err)
{
    return px_fail(err, PX_E_INPUT, "'%s': line %zu: %s is '%.60s' instead of %s", r->csv.name,
                   r->csv.line - 1, column_names[column], file_field(r, column), wanted);
}

static px_status file_int(const file_reader *r, int column, int64_t least, int64_t most,
                          int64_t *out, px_error *err)
{
    const char *text = file_field(r, column);
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        return file_bad(r, column, least > 0 ? "a positive number" : "a whole number", err);
    *out = value;
    return PX_OK;
}

static px_status file_real(const file_reader *r, int column, double *out, px_error *err)
{
    const char *text = file_field(r, column);
    char *end = NULL;
    *out = strtod(text, &end);
    return end != text && !*end ? PX_OK : file_bad(r, column, "a number", err);
}

static px_status file_hash(const file_reader *r, uint64_t *out, px_error *err)
{
    const char *text = file_field(r, COLUMN_MODEL);
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return file_bad(r, COLUMN_MODEL, "16 hexadecimal digits", err);
    *out = strtoull(text, NULL, 16);
    return PX_OK;
}

static px_status file_header(file_reader *r, px_error *err)
{
    PX_TRY(pxi_csv_row(&r->csv, err));
    for (int c = 0; c < COLUMN_COUNT; c++) {
        r->where[c] = -1;
        for (size_t i = 0; i < r->csv.count; i++)
            if (strcmp(r->csv.fields[i], column_names[c]) == 0 && r->where[c] < 0)
                r->where[c] = (int)i;
        if (r->where[c] < 0)
            return px_fail(err, PX_E_INPUT,
                           "'%s': there is no column '%s'; this is not a list that 'plexor "
                           "localize -o' wrote",
                           r->csv.name, column_names[c]);
    }
    return PX_OK;
}

/* What holds for the whole list; the first row says it, the others repeat it. */
static px_status file_common(file_reader *r, px_error *err)
{
    px_suspicious *list = r->list;
    double star = 0.0, theta = 0.0;
    uint64_t model = 0;
    const char *measure = file_field(r, COLUMN_MEASURE);
    const px_measure *known = px_measure_find(measure);
    const bool shapley = strcmp(measure, PXI_SHAPLEY) == 0;
    if (!known && !shapley && strcmp(measure, PXI_RANDOM) != 0)
        return file_bad(r, COLUMN_MEASURE, "a measure; 'plexor list measures' names them", err);
    PX_TRY(file_real(r, COLUMN_STAR, &star, err));
    PX_TRY(file_real(r, COLUMN_THETA, &theta, err));
    if (!(star > 0.0 && star <= PXI_STAR_MOST))
        return file_bad(r, COLUMN_STAR, "an exponent", err);
    if (!isfinite(theta))
        return file_bad(r, COLUMN_THETA, "a number", err);
    PX_TRY(file_hash(r, &model, err));
    if (list->count == 0) {
        px_probe_options options = px_probe_options_default();
        r->tap = file_field(r, COLUMN_TAP);
        r->neurons = file_field(r, COLUMN_NEURONS);
        const px_status status = px_probe_options_parse(&options, NULL, r->tap, r->neurons, err);
        if (status != PX_OK)
            return px_fail_in(err, PX_E_INPUT, "'%s': line %zu", r->csv.name, r->csv.line - 1);
        list->measure = known ? known->entry.id : shapley ? PXI_SHAPLEY : PXI_RANDOM;
        list->star = star;
        list->theta = theta;
        list->model_hash = model;
        list->tap = options.tap;
        list->neurons = options.neurons;
        list->deepxplore = options.deepxplore;
        return PX_OK;
    }
    if (model != list->model_hash)
        return file_bad(r, COLUMN_MODEL, "the network of the rows before", err);
    if (strcmp(measure, list->measure) != 0)
        return file_bad(r, COLUMN_MEASURE, "the measure of the rows before", err);
    if (star != list->star || theta != list->theta)
        return file_bad(r, star != list->star ? COLUMN_STAR : COLUMN_THETA,
                        "the same as in the rows before", err);
    if (strcmp(file_field(r, COLUMN_TAP), r->tap) != 0 ||
        strcmp(file_field(r, COLUMN_NEURONS), r->neurons) != 0)
        return file_bad(r, strcmp(file_field(r, COLUMN_TAP), r->tap) ? COLUMN_TAP : COLUMN_NEURONS,
                        "the same as in the rows before", err);
    return PX_OK;
}

static px_status file_suspect(const file_reader *r, px_suspect *s, px_error *err)
{
    int64_t class_index = PX_POOLED, position = 0;
    if (strcmp(file_field(r, COLUMN_CLASS), "all") != 0)
        PX_TRY(file_int(r, COLUMN_CLASS, 0, INT32_MAX - 1, &class_index, err));
    PX_TRY(file_int(r, COLUMN_RANK, 1, FILE_MOST_COUNT, &s->rank, err));
    PX_TRY(file_int(r, COLUMN_POSITION, 0, INT32_MAX, &position, err));
    PX_TRY(file_int(r, COLUMN_UNIT, 0, FILE_MOST_COUNT, &s->unit, err));
    PX_TRY(file_int(r, COLUMN_AS, 0, FILE_MOST_COUNT, &s->hits.as, err));
    PX_TRY(file_int(r, COLUMN_AF, 0, FILE_MOST_COUNT, &s->hits.af, err));
    PX_TRY(file_int(r, COLUMN_NS, 0, FILE_MOST_COUNT, &s->hits.ns, err));
    PX_TRY(file_int(r, COLUMN_NF, 0, FILE_MOST_COUNT, &s->hits.nf, err));
    PX_TRY(file_real(r, COLUMN_SCORE, &s->score, err));
    s->class_index = (int)class_index;
    s->position = (int)position;
    s->layer = pxi_csv_plain(file_field(r, COLUMN_LAYER)); /* in the text, which the list keeps */
    return PX_OK;
}

static px_status file_row(file_reader *r, px_error *err)
{
    for (int c = 0; c < COLUMN_COUNT; c++)
        if ((size_t)r->where[c] >= r->csv.count)
            return px_fail(err, PX_E_INPUT, "'%s': line %zu: has %zu columns, and no '%s'",
                           r->csv.name, r->csv.line - 1, r->csv.count, column_names[c]);
    PX_TRY(file_common(r, err));
    px_suspect suspect = {0};
    PX_TRY(file_suspect(r, &suspect, err));
    px_suspicious *list = r->list;
    if (list->count > 0 &&
        (suspect.class_index == PX_POOLED) != (list->items[0].class_index == PX_POOLED))
        return file_bad(r, COLUMN_CLASS, "of one kind: either all, or numbers", err);
    PX_TRY(PX_GROW(list->items, r->capacity, list->count + 1, err));
    list->items[list->count++] = suspect;
    return PX_OK;
}

static int file_by_neuron(const void *left, const void *right)
{
    const px_suspect *a = left, *b = right;
    if (a->class_index != b->class_index)
        return a->class_index < b->class_index ? -1 : 1;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

static int file_by_rank(const void *left, const void *right)
{
    const px_suspect *a = left, *b = right;
    if (a->class_index != b->class_index)
        return a->class_index < b->class_index ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return file_by_neuron(left, right);
}

static px_status file_order(px_suspicious *list, const char *path, px_error *err)
{
    qsort(list->items, list->count, sizeof *list->items, file_by_neuron);
    for (size_t i = 1; i < list->count; i++)
        if (file_by_neuron(&list->items[i - 1], &list->items[i]) == 0)
            return px_fail(err, PX_E_INPUT,
                           "'%s': neuron %" PRId64 " of layer '%.100s' is there twice", path,
                           list->items[i].unit, list->items[i].layer);
    qsort(list->items, list->count, sizeof *list->items, file_by_rank);
    return PX_OK;
}

px_status px_suspicious_open(const char *path, px_suspicious **out, px_error *err)
{
    char *text = NULL;
    size_t size = 0;
    file_reader r = {.list = pxi_calloc(1, sizeof *r.list)};
    if (!r.list)
        return pxi_no_memory_for(err, "'%s'", path);
    px_status status = pxi_file_read(path, FILE_MOST_BYTES, &text, &size, err);
    if (status != PX_OK) {
        px_suspicious_free(r.list);
        return status;
    }
    r.list->inside = text;
    r.csv = (pxi_csv){.at = text, .end = text + size, .name = path, .line = 1};
    if (memchr(text, 0, size))
        status = px_fail(err, PX_E_INPUT, "'%s': is not a text", path);
    PX_THEN(status, file_header(&r, err));
    while (status == PX_OK) {
        status = pxi_csv_row(&r.csv, err);
        if (status != PX_OK || r.csv.count == 0)
            break;
        status = file_row(&r, err);
    }
    if (status == PX_OK && r.list->count == 0)
        status = px_fail(err, PX_E_INPUT, "'%s': has no neurons", path);
    PX_THEN(status, file_order(r.list, path, err));
    if (status == PX_OK)
        *out = r.list;
    else
        px_suspicious_free(r.list);
    return status;
}
