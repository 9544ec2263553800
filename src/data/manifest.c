/* src/data/manifest.c - CSV manifests: path,label[,split]
 *
 * Fields may be quoted as in RFC 4180. The first row is a header if it names the columns; then they
 * may be in any order, among others. Labels are class indices if all of them are whole numbers,
 * otherwise class names, numbered in byte order. Paths are relative to the manifest's folder. On
 * disk they may lead out of it: only regular files of a limited size are read, and only as
 * pictures or recordings.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/manifest.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/ascending.h"
#include "data/picture_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMN_PATH, COLUMN_LABEL, COLUMN_SPLIT, COLUMNS };

/* --- columns --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int column;
} column_names[] = {
    {"path", COLUMN_PATH},    {"file", COLUMN_PATH},   {"filename", COLUMN_PATH},
    {"image", COLUMN_PATH},   {"label", COLUMN_LABEL}, {"class", COLUMN_LABEL},
    {"target", COLUMN_LABEL}, {"split", COLUMN_SPLIT}, {"set", COLUMN_SPLIT},
};

/* True if the row is a header; where[c] is the position of column c, or -1. */
static bool csv_header(const pxi_csv *csv, int where[COLUMNS])
{
    int found[COLUMNS] = {-1, -1, -1};
    for (size_t i = 0; i < csv->count; i++)
        for (size_t k = 0; k < PX_LEN(column_names); k++)
            if (strcasecmp(csv->fields[i], column_names[k].name) == 0 &&
                found[column_names[k].column] < 0)
                found[column_names[k].column] = (int)i;
    if (found[COLUMN_PATH] < 0)
        return false;
    memcpy(where, found, sizeof found);
    return true;
}

static const char *csv_field(const pxi_csv *csv, int position)
{
    return position >= 0 && (size_t)position < csv->count ? csv->fields[position] : "";
}

px_status pxi_manifest_parse(char *text, size_t size, const char *name, pxi_manifest_row **rows,
                             size_t *count, px_error *err)
{
    pxi_csv csv = {.at = text, .end = text + size, .name = name, .line = 1};
    int where[COLUMNS] = {0, 1, 2};
    pxi_manifest_row *made = NULL;
    size_t used = 0, capacity = 0;
    px_status status = PX_OK;
    text[size] = '\0';
    if (memchr(text, 0, size))
        return px_fail(err, PX_E_INPUT, "'%s': not a text file", name);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        csv.at += 3;
    for (bool first = true;; first = false) {
        if ((status = pxi_csv_row(&csv, err)) != PX_OK || csv.count == 0)
            break;
        if (first && csv_header(&csv, where))
            continue;
        const pxi_manifest_row row = {csv_field(&csv, where[COLUMN_PATH]),
                                      csv_field(&csv, where[COLUMN_LABEL]),
                                      csv_field(&csv, where[COLUMN_SPLIT]), (uint32_t)csv.row_line};
        if (row.path[0] == '\0') {
            csv.line = csv.row_line;
            status = pxi_csv_fail(&csv, "no path", err);
            break;
        }
        if (used && (row.label[0] == '\0') != (made[0].label[0] == '\0')) {
            csv.line = csv.row_line;
            char what[128];
            snprintf(what, sizeof what,
                     row.label[0] ? "has a label, '%.60s', and those before have none"
                                  : "'%.60s' has no label, and those before have one",
                     row.label[0] ? row.label : row.path);
            status = pxi_csv_fail(&csv, what, err);
            break;
        }
        if (pxi_grow(&made, &capacity, used + 1, sizeof *made) != 0) {
            status = px_fail_in(err, pxi_no_memory(err), "'%s'", name);
            break;
        }
        made[used++] = row;
    }
    PX_THEN_IF(
        status, used == 0,
        px_fail(err, PX_E_INPUT, "'%s': holds no samples; expected rows of path,label", name));
    if (status != PX_OK) {
        free(made);
        return status;
    }
    *rows = made;
    *count = used;
    return PX_OK;
}

/* --- labels and splits ----------------------------------------------------------------------- */

/* The different texts of a column, sorted; the caller frees the list. */
static px_status manifest_unique(const pxi_manifest_row *rows, size_t count, bool split,
                                 const char ***out, size_t *out_count, px_error *err)
{
    const char **texts = NULL;
    PX_TRY(PX_NEW(texts, count, err));
    for (size_t i = 0; i < count; i++)
        texts[i] = split ? rows[i].split : rows[i].label;
    qsort(texts, count, sizeof *texts, pxi_order_text);
    size_t used = 1;
    for (size_t i = 1; i < count; i++)
        if (strcmp(texts[i], texts[used - 1]) != 0)
            texts[used++] = texts[i];
    *out = texts;
    *out_count = used;
    return PX_OK;
}

/* A class number; "3.0", as a spreadsheet may write it, is one too. */
static bool label_is_number(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const char *rest = text + digits;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0");
    return digits > 0 && *rest == '\0';
}

/* Something that was meant as a number and is none that counts a class: "-5", "2.5". */
static bool label_is_bad_number(const char *text)
{
    char *end = NULL;
    (void)strtod(text, &end);
    return end != text && *end == '\0' && strpbrk(text, "0123456789") && !label_is_number(text);
}

static px_status label_fail(const pxi_picture_source *source, const pxi_manifest_row *row,
                            const char *what, px_error *err)
{
    if (row->line)
        return px_fail(err, PX_E_INPUT, "'%.200s': line %u: label '%.60s' %s", source->manifest,
                       row->line, row->label, what);
    return px_fail(err, PX_E_INPUT, "'%.120s/%.120s': label '%.60s' %s",
                   pxi_tree_name(source->tree), row->path, row->label, what);
}

/* Whether labels are class numbers or names. One that is no number among many that are is a slip,
 * not the name of a class. */
static px_status manifest_numbers(const pxi_picture_source *source, const pxi_manifest_row *rows,
                                  size_t count, bool *out, px_error *err)
{
    enum { FEW = 10 }; /* one in so many */
    const pxi_manifest_row *odd = NULL;
    size_t numbers = 0, bad = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_bad = label_is_bad_number(rows[i].label);
        numbers += label_is_number(rows[i].label);
        if ((is_bad && !bad) || (!odd && !label_is_number(rows[i].label)))
            odd = &rows[i];
        bad += is_bad;
    }
    *out = numbers == count;
    if (numbers == count || (numbers == 0 && bad < count) || !odd->label[0])
        return PX_OK;
    if (bad || (count - numbers) * FEW <= numbers)
        return label_fail(source, odd, "is not a class number such as 0, 1, 2", err);
    return PX_OK;
}

static px_status manifest_label(const pxi_picture_source *source, const char *const *classes,
                                size_t count, bool numbers, const pxi_manifest_row *row,
                                int32_t *label, px_error *err)
{
    *label = -1;
    if (row->label[0] == '\0')
        return PX_OK;
    if (numbers) {
        const long value =
            strcspn(row->label, ".") < 10 ? strtol(row->label, NULL, 10) : PXI_CLASSES_MAX;
        if (value >= PXI_CLASSES_MAX)
            return label_fail(source, row, "is out of range", err);
        *label = (int32_t)value;
        return PX_OK;
    }
    const char *const *found =
        bsearch(&row->label, classes, count, sizeof *classes, pxi_order_text);
    *label = (int32_t)(found - classes);
    return PX_OK;
}

/* Numbers with blanks or semicolons between. */
static px_status manifest_target(pxi_picture_source *source, const pxi_manifest_row *row,
                                 float **out, px_error *err)
{
    const int count = source->base.target_count;
    const char *at = row->label;
    float *target = NULL;
    PX_TRY(PX_ARENA_NEW(target, source->arena, count, err));
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        target[i] = strtof(at, &end);
        if (end == at || !isfinite(target[i]))
            return label_fail(source, row, "is not a target: a number for each of the network's",
                              err);
        at = end + strspn(end, " ;");
    }
    if (*at)
        return label_fail(source, row, "has more numbers than the network gives", err);
    *out = target;
    return PX_OK;
}

/* The path in the tree: below the manifest's own folder, unless it is absolute. */
static const char *manifest_path(pxi_picture_source *source, const char *folder, size_t length,
                                 const char *path)
{
    if (source->coder.own)
        return path; /* a text, and not one's place */
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (length == 0 || path[0] == '/')
        return path;
    char *joined = pxi_arena_alloc(source->arena, length + strlen(path) + 1, 1);
    if (joined) {
        memcpy(joined, folder, length);
        strcpy(joined + length, path);
    }
    return joined;
}

px_status pxi_manifest_fill(pxi_picture_source *source, const char *manifest,
                            const pxi_manifest_row *rows, size_t count, const char *split,
                            px_error *err)
{
    const char **classes = NULL, **splits = NULL;
    size_t class_count = 0, split_count = 0;
    const char *slash = strrchr(manifest, '/');
    const size_t folder = slash ? (size_t)(slash - manifest) + 1 : 0;
    px_status status = manifest_unique(rows, count, false, &classes, &class_count, err);
    PX_THEN(status, manifest_unique(rows, count, true, &splits, &split_count, err));
    if (status != PX_OK)
        goto done;
    const bool has_splits = split_count > 1 || splits[0][0];
    const int chosen = has_splits ? pxi_split_find(splits, split_count, split) : -1;
    if (chosen < 0 && (has_splits || split)) {
        status = pxi_split_fail(pxi_tree_name(source->tree), splits, has_splits ? split_count : 0,
                                split, err);
        goto done;
    }
    bool numbers = false;
    int64_t most = -1;
    const int targets = source->base.target_count;
    if (!targets)
        status = manifest_numbers(source, rows, count, &numbers, err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        int32_t label = 0;
        float *target = NULL;
        status = targets
                     ? manifest_target(source, &rows[i], &target, err)
                     : manifest_label(source, classes, class_count, numbers, &rows[i], &label, err);
        most = PX_MAX(most, (int64_t)label); /* over all splits: they share their classes */
        if (status != PX_OK || (chosen >= 0 && strcmp(rows[i].split, splits[chosen]) != 0))
            continue;
        const char *path = manifest_path(source, manifest, folder, rows[i].path);
        const pxi_picture_item item = {
            .path = path, .label = label, .line = rows[i].line, .target = target};
        status = path ? pxi_picture_source_add(source, item, err) : pxi_no_memory(err);
    }
    if (!targets)
        source->base.class_count = (int)(most + 1);
    PX_THEN_IF(status, !targets && !numbers && most >= 0,
               pxi_picture_source_set_classes(source, classes, class_count, err));
    PX_THEN(status, pxi_picture_source_finish(source, err));
done:
    free(classes);
    free(splits);
    return status;
}

/* --- opening --------------------------------------------------------------------------------- */

px_status pxi_manifest_open_file(pxi_tree *tree, const char *path, const char *split, int targets,
                                 pxi_source **out, px_error *err)
{
    char name[PXI_TREE_TEXT];
    pxi_picture_source *source = NULL;
    pxi_manifest_row *rows = NULL;
    size_t count = 0;
    pxi_bytes bytes = {0};
    PX_TRY(pxi_picture_source_new("manifest", tree, &source, err));
    if (targets)
        pxi_source_set_verdicts(&source->base, targets);
    pxi_tree_text(tree, path, name);
    px_status status = pxi_tree_bytes_at(tree, path, &bytes, err);
    PX_THEN(status, pxi_bytes_load(&bytes, PXI_MANIFEST_MAX, name, err));
    if (status != PX_OK)
        goto done;
    char *text = pxi_arena_alloc(source->arena, (size_t)bytes.size + 1, 1);
    if (!text) {
        status = px_fail_in(err, pxi_no_memory(err), "'%s'", name);
        goto done;
    }
    if (!(source->manifest = pxi_arena_strdup(source->arena, name))) {
        status = px_fail_in(err, pxi_no_memory(err), "'%s'", name);
        goto done;
    }
    if (bytes.size)
        memcpy(text, pxi_bytes_data(&bytes), (size_t)bytes.size);
    status = pxi_manifest_parse(text, (size_t)bytes.size, name, &rows, &count, err);
    PX_THEN(status, pxi_manifest_fill(source, path, rows, count, split, err));
    if (status == PX_OK) {
        *out = &source->base;
        source = NULL;
    }
done:
    free(rows);
    pxi_bytes_done(&bytes);
    if (source)
        pxi_source_free(&source->base);
    return status;
}

/* A manifest that is named as one, or the only .csv where no pictures or recordings lie in class
 * folders. */
static const pxi_entry *manifest_in(const pxi_tree *tree, const char *root)
{
    static const char *const usual[] = {"manifest.csv", "labels.csv"};
    const pxi_entry *found = NULL;
    size_t first, end;
    bool folders = false;
    pxi_tree_range(tree, root, &first, &end);
    for (size_t i = first; i < end; i++) {
        const pxi_entry *entry = pxi_tree_entry(tree, i);
        const char *path = entry->path + strlen(root);
        folders = folders || (strchr(path, '/') && pxi_sample_is_name(path));
        if (strchr(path, '/') || !pxi_has_suffix(path, ".csv"))
            continue;
        for (size_t k = 0; k < PX_LEN(usual); k++)
            if (strcasecmp(path, usual[k]) == 0)
                return entry;
        found = entry;
    }
    return folders ? NULL : found;
}

bool pxi_manifest_claims(const pxi_tree *tree, const char *root)
{
    return manifest_in(tree, root) != NULL;
}

px_status pxi_manifest_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                            px_error *err)
{
    return pxi_manifest_open_file(tree, manifest_in(tree, root)->path, split, /* targets= */ 0, out,
                                  err);
}
