/* src/select/selection_state.c - the best of a part of the candidates, to be joined with others
 *
 * A selector that scores every candidate by itself has a ranking that can be put together: the best
 * N of all are among the best N of each part, in turns over classes, too. An NPZ: `meta` (JSON:
 * format, version, network, which candidates of which data were ranked, selector and settings, how
 * many are to be selected) and, of the best ones, arrays.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cover/seen.h"
#include "select/select_files.h"
#include "select/select_internal.h"

#include <internal/cover.h>
#include <internal/data.h>
#include <internal/npz_meta.h>
#include <internal/select.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SELECTION_FORMAT "plexor selection"
#define SELECTION_ARRAYS "best"
#define SELECTION_MOST ((int64_t)1 << 40)
enum { SELECTION_VERSION = 1, SELECTION_MOST_CLASSES = 1 << 24 };

typedef struct best_row {
    px_ranked is; /* index: among the candidates of all parts */
    int64_t source;
    char *name, *class_name; /* class_name: "" where there is none */
} best_row;

struct px_selection {
    char *selector, *settings;
    uint64_t model;
    pxi_seen seen;
    int64_t all, budget, classes; /* all: candidates of all parts; budget: selected of these */
    bool stratified;
    best_row *rows; /* in order */
    size_t count, capacity;
};

void px_selection_free(px_selection *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        free(s->rows[i].name);
        free(s->rows[i].class_name);
    }
    free(s->rows);
    pxi_seen_done(&s->seen);
    free(s->selector);
    free(s->settings);
    free(s);
}

static px_status selection_add(px_selection *s, const px_ranked *is, int64_t source,
                               const char *name, const char *class_name, px_error *err)
{
    best_row row = {.is = *is, .source = source};
    PX_TRY(PX_GROW(s->rows, s->capacity, s->count + 1, err));
    px_status status = PX_DUP(row.name, name, err);
    PX_THEN(status, PX_DUP(row.class_name, class_name, err));
    if (status == PX_OK)
        s->rows[s->count++] = row;
    else
        free(row.name);
    return status;
}

px_status px_select_can_be_part(const px_select *select, px_error *err)
{
    for (size_t i = 0; i < select->slot_count; i++) {
        const px_selector *selector = select->slots[i].selector;
        if (!selector->score || selector->arrange || selector->kept)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "%s looks at all candidates at once: a part of them cannot be ranked "
                           "by itself",
                           selector->entry.id);
    }
    return PX_OK;
}

px_status px_select_part(const px_select *select, const px_select_share *share, px_selection **out,
                         px_error *err)
{
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(select, 0, &count);
    pxi_select_row *row = NULL;
    px_selection *s = NULL;
    px_status status = PX_NEW(s, 1, err);
    PX_THEN(status, PX_NEW(row, 1, err));
    PX_THEN(status, PX_DUP(s->selector, px_select_selector(select, 0)->entry.id, err));
    PX_THEN(status, PX_DUP(s->settings, px_select_settings_text(select, 0), err));
    const pxi_seen_range range = {share->data, share->first, share->first + select->count};
    PX_THEN(status, pxi_seen_add(&s->seen, range, err));
    if (status == PX_OK) {
        s->model = px_model_hash(select->model);
        s->all = share->all;
        s->budget = share->budget;
        s->classes = select->classes;
        s->stratified = select->options.stratify;
    }
    for (int64_t i = 0; i < PX_MIN(count, share->budget) && status == PX_OK; i++) {
        px_ranked is = ranked[i];
        *row = (pxi_select_row){.rank = i + 1};
        pxi_select_row_of(select, &ranked[i], row);
        is.index += share->first;
        status = selection_add(s, &is, row->index, row->name,
                               row->predicted_name ? row->predicted_name : "", err);
    }
    free(row);
    return PX_GIVE(status, s, out, px_selection_free);
}

/* --- joining --------------------------------------------------------------------------------- */

static px_status selection_same(const px_selection *a, const px_selection *b, px_error *err)
{
    if (strcmp(a->selector, b->selector) != 0 || strcmp(a->settings, b->settings) != 0)
        return px_fail(err, PX_E_MISMATCH, "one part is ranked by %s (%s), another by %s (%s)",
                       a->selector, a->settings, b->selector, b->settings);
    if (a->model != b->model || a->classes != b->classes)
        return px_fail(err, PX_E_MISMATCH, "the parts are of different networks");
    if (a->seen.count && b->seen.count && a->seen.range[0].data != b->seen.range[0].data)
        return px_fail(err, PX_E_MISMATCH, "the parts are of different data");
    if (a->all != b->all || a->budget != b->budget || a->stratified != b->stratified)
        return px_fail(err, PX_E_MISMATCH,
                       "the parts were made with different numbers of inputs, --budget or "
                       "--stratify");
    return pxi_seen_apart(&a->seen, &b->seen, err);
}

static int best_compare(const void *a, const void *b)
{
    const px_ranked *x = &((const best_row *)a)->is, *y = &((const best_row *)b)->is;
    return pxi_ranked_before(x, y) ? -1 : pxi_ranked_before(y, x);
}

/* In turns over the classes; each entry's index is its row until then. */
static px_status selection_stratify(px_selection *s, px_error *err)
{
    px_ranked *order = NULL;
    best_row *rows = NULL;
    px_status status = PX_NEW(order, s->count + 1, err);
    PX_THEN(status, PX_NEW(rows, s->count + 1, err));
    for (size_t i = 0; i < s->count && status == PX_OK; i++) {
        order[i] = s->rows[i].is;
        order[i].index = (int64_t)i;
        rows[i] = s->rows[i];
    }
    PX_THEN(status, pxi_ranked_stratify(order, (int64_t)s->count, (int)s->classes, err));
    for (size_t i = 0; i < s->count && status == PX_OK; i++)
        s->rows[i] = rows[order[i].index];
    free(order);
    free(rows);
    return status;
}

px_status px_selection_merge(px_selection *s, const px_selection *other, px_error *err)
{
    PX_TRY(selection_same(s, other, err));
    PX_TRY(pxi_seen_join(&s->seen, &other->seen, err));
    for (size_t i = 0; i < other->count; i++) {
        const best_row *row = &other->rows[i];
        PX_TRY(selection_add(s, &row->is, row->source, row->name, row->class_name, err));
    }
    if (s->count)
        qsort(s->rows, s->count, sizeof *s->rows, best_compare);
    if (s->stratified)
        PX_TRY(selection_stratify(s, err));
    for (; (int64_t)s->count > s->budget; s->count--) {
        free(s->rows[s->count - 1].name);
        free(s->rows[s->count - 1].class_name);
    }
    return PX_OK;
}

/* --- writing --------------------------------------------------------------------------------- */

static void selection_row(const void *context, int64_t k, pxi_select_row *row)
{
    const best_row *best = &((const px_selection *)context)->rows[k];
    row->index = best->source;
    row->score = best->is.score;
    row->confidence = (double)best->is.confidence;
    row->predicted = best->is.predicted;
    row->predicted_name = best->is.predicted < 0 ? NULL : best->class_name;
    snprintf(row->name, sizeof row->name, "%s", best->name);
}

static px_status selection_csv(const px_selection *s, const char *path, px_error *err)
{
    const pxi_seen *seen = &s->seen;
    if (seen->count != 1 || seen->range[0].first != 0 || seen->range[0].end != s->all)
        return px_fail(err, PX_E_INPUT,
                       "parts are missing: %" PRId64 " of %" PRId64
                       " candidates were ranked; give all parts, or a name that does not end in "
                       ".csv to join these",
                       px_selection_seen(s), s->all);
    return pxi_select_write(path, (int64_t)s->count, selection_row, s, err);
}

static px_status selection_meta(const px_selection *s, px_npz_writer *to, px_error *err)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "format", SELECTION_FORMAT);
    px_json_int(&json, "version", SELECTION_VERSION);
    pxi_meta_put_hash(&json, "model", s->model);
    pxi_seen_put(&s->seen, &json);
    px_json_string(&json, "selector", s->selector);
    px_json_string(&json, "settings", s->settings);
    px_json_int(&json, "all", s->all);
    px_json_int(&json, "budget", s->budget);
    px_json_int(&json, "classes", s->classes);
    px_json_int(&json, "stratified", s->stratified);
    px_json_end(&json);
    return pxi_meta_put(to, &json, err);
}

/* A column of numbers: `width` bytes of each row, from `at` on. */
static px_status selection_column(const px_selection *s, const char *name, px_dtype dtype,
                                  size_t at, size_t width, px_npz_writer *to, px_error *err)
{
    const px_shape shape = {.rank = 1, .dim = {(int64_t)s->count}};
    char *values = NULL;
    PX_TRY(PX_NEW(values, s->count * width + 1, err));
    for (size_t i = 0; i < s->count; i++)
        memcpy(values + i * width, (const char *)&s->rows[i] + at, width);
    const px_status status = px_npz_put(to, SELECTION_ARRAYS, name, dtype, &shape, values, err);
    free(values);
    return status;
}

/* A column of texts: bytes filled up with 0. */
static px_status selection_texts(const px_selection *s, const char *name, size_t at,
                                 px_npz_writer *to, px_error *err)
{
    size_t width = 1;
    char *bytes = NULL;
    for (size_t i = 0; i < s->count; i++)
        width = PX_MAX(width, strlen(*(char *const *)((const char *)&s->rows[i] + at)) + 1);
    const px_shape shape = {.rank = 2, .dim = {(int64_t)s->count, (int64_t)width}};
    PX_TRY(PX_NEW(bytes, s->count * width + 1, err));
    for (size_t i = 0; i < s->count; i++)
        strcpy(bytes + i * width, *(char *const *)((const char *)&s->rows[i] + at));
    const px_status status = px_npz_put(to, SELECTION_ARRAYS, name, PX_UINT8, &shape, bytes, err);
    free(bytes);
    return status;
}

static const struct {
    const char *name;
    px_dtype dtype;
    size_t at, width;
} columns[] = {
    {"index", PX_INT64, offsetof(best_row, is.index), sizeof(int64_t)},
    {"source", PX_INT64, offsetof(best_row, source), sizeof(int64_t)},
    {"score", PX_FLOAT64, offsetof(best_row, is.score), sizeof(double)},
    {"predicted", PX_INT32, offsetof(best_row, is.predicted), sizeof(int)},
    {"confidence", PX_FLOAT32, offsetof(best_row, is.confidence), sizeof(float)},
};

px_status px_selection_save(const px_selection *s, const char *path, px_error *err)
{
    px_npz_writer *to = NULL;
    if (pxi_has_suffix(path, ".csv"))
        return selection_csv(s, path, err);
    PX_TRY(px_npz_create(path, &to, err));
    px_status status = selection_meta(s, to, err);
    for (size_t i = 0; i < PX_LEN(columns); i++)
        PX_THEN(status, selection_column(s, columns[i].name, columns[i].dtype, columns[i].at,
                                         columns[i].width, to, err));
    PX_THEN(status, selection_texts(s, "name", offsetof(best_row, name), to, err));
    PX_THEN(status, selection_texts(s, "class", offsetof(best_row, class_name), to, err));
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

static px_status selection_describe(const px_json_value *root, px_selection *s, px_error *err)
{
    const char *selector = NULL, *settings = NULL;
    int64_t stratified = 0;
    PX_TRY(pxi_meta_string(root, "selector", &selector, err));
    PX_TRY(pxi_meta_string(root, "settings", &settings, err));
    PX_TRY(pxi_meta_hash(root, "model", &s->model, err));
    PX_TRY(pxi_meta_int(root, "all", SELECTION_MOST, &s->all, err));
    PX_TRY(pxi_meta_int(root, "budget", SELECTION_MOST, &s->budget, err));
    PX_TRY(pxi_meta_int(root, "classes", SELECTION_MOST_CLASSES, &s->classes, err));
    PX_TRY(pxi_meta_int(root, "stratified", 1, &stratified, err));
    s->stratified = stratified != 0;
    PX_TRY(pxi_seen_take(&s->seen, root, err));
    PX_TRY(PX_DUP(s->selector, selector, err));
    return PX_DUP(s->settings, settings, err);
}

static px_status selection_rows(const px_npz *npz, px_selection *s, px_error *err)
{
    const void *values[PX_LEN(columns)], *texts[2];
    static const char *const text_names[2] = {"name", "class"};
    px_shape one = {.rank = 1, .dim = {-1}}, found = {0}, sizes[2];
    for (size_t i = 0; i < PX_LEN(columns); i++) {
        PX_TRY(px_npz_take(npz, SELECTION_ARRAYS, columns[i].name, columns[i].dtype, &one,
                           &values[i], &found, err));
        one.dim[0] = found.dim[0];
    }
    for (size_t i = 0; i < 2; i++) {
        const px_shape two = {.rank = 2, .dim = {one.dim[0], -1}};
        PX_TRY(px_npz_take(npz, SELECTION_ARRAYS, text_names[i], PX_UINT8, &two, &texts[i],
                           &sizes[i], err));
    }
    for (int64_t k = 0; k < one.dim[0]; k++) {
        best_row row = {.source = 0};
        for (size_t i = 0; i < PX_LEN(columns); i++)
            memcpy((char *)&row + columns[i].at,
                   (const char *)values[i] + (size_t)k * columns[i].width, columns[i].width);
        const char *name = (const char *)texts[0] + k * sizes[0].dim[1],
                   *class_name = (const char *)texts[1] + k * sizes[1].dim[1];
        if (row.is.index < 0 || row.is.index >= s->all || row.source < 0 || row.is.predicted < -1 ||
            row.is.predicted >= s->classes || !memchr(name, 0, (size_t)sizes[0].dim[1]) ||
            !memchr(class_name, 0, (size_t)sizes[1].dim[1]))
            return px_fail(err, PX_E_INPUT, "candidate %" PRId64 " is damaged", k);
        PX_TRY(selection_add(s, &row.is, row.source, name, class_name, err));
    }
    return PX_OK;
}

px_status pxi_selection_read(const px_npz *npz, px_selection **out, px_error *err)
{
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    px_selection *s = NULL;
    PX_TRY(pxi_meta_take(npz, SELECTION_FORMAT, SELECTION_VERSION, &document, &root, err));
    px_status status = PX_NEW(s, 1, err);
    PX_THEN(status, selection_describe(root, s, err));
    PX_THEN(status, selection_rows(npz, s, err));
    px_json_free(document);
    return PX_GIVE(status, s, out, px_selection_free);
}

px_status px_selection_open(const char *path, px_selection **out, px_error *err)
{
    px_npz *npz = NULL;
    PX_TRY(px_npz_open(path, &npz, err));
    const px_status status = pxi_selection_read(npz, out, err);
    px_npz_close(npz);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", path);
}

bool px_selection_is_file(const char *path)
{
    px_npz *npz = NULL;
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    if (px_npz_open(path, &npz, NULL) != PX_OK)
        return false;
    const bool is =
        pxi_meta_take(npz, SELECTION_FORMAT, SELECTION_VERSION, &document, &root, NULL) == PX_OK;
    px_json_free(document);
    px_npz_close(npz);
    return is;
}

int64_t px_selection_count(const px_selection *s)
{
    return (int64_t)s->count;
}

int64_t px_selection_seen(const px_selection *s)
{
    int64_t seen = 0;
    for (size_t i = 0; i < s->seen.count; i++)
        seen += s->seen.range[i].end - s->seen.range[i].first;
    return seen;
}

const char *px_selection_selector(const px_selection *s)
{
    return s->selector;
}
