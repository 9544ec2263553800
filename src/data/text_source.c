/* src/data/text_source.c - texts: a CSV or TSV text,label[,split], or class folders of .txt files
 *
 * The rows and files are read as those of pictures are (manifest.c, folder.c); a sample is what the
 * network's tokeniser makes of its text, the tokens of every input behind each other.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/inputs_source.h"
#include "data/manifest.h"
#include "data/picture_source.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { TEXT_FILE_BYTES = 16 << 20, NAME_BYTES = 48 };

static pxi_text_opener coder_open;

void pxi_source_register_texts(pxi_text_opener open)
{
    coder_open = open;
}

/* --- samples --------------------------------------------------------------------------------- */

static px_status text_of(const pxi_source *source, int64_t index, char **out, px_error *err)
{
    const pxi_picture_source *texts = (const pxi_picture_source *)source;
    const pxi_picture_item *item = &texts->items[index];
    pxi_bytes bytes = {0};
    if (!texts->tree->texts)
        return PX_DUP(*out, item->path, err);
    PX_TRY(pxi_tree_load(texts->tree, item->path, TEXT_FILE_BYTES, &bytes, err));
    *out = strndup((const char *)pxi_bytes_data(&bytes), (size_t)bytes.size);
    pxi_bytes_done(&bytes);
    return *out ? PX_OK : pxi_no_memory(err);
}

static px_status text_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_picture_source *texts = (const pxi_picture_source *)source;
    char *text = NULL;
    PX_TRY(text_of(source, index, &text, err));
    const px_status status = texts->coder.encode(texts->coder.own, text, strlen(text), out, err);
    free(text);
    return status;
}

static px_status text_words(const pxi_source *source, const float *rows, char **out, px_error *err)
{
    const pxi_picture_source *texts = (const pxi_picture_source *)source;
    return texts->coder.decode(texts->coder.own, rows, out, err);
}

/* A file's path; else the row's line and its first words, which no path has to bear. */
static const char *text_name(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    const pxi_picture_source *texts = (const pxi_picture_source *)source;
    const pxi_picture_item *item = &texts->items[index];
    if (texts->tree->texts) {
        snprintf(buffer, size, "%s", item->path);
        return buffer;
    }
    int length = (int)strlen(item->path);
    if (length > NAME_BYTES) {
        length = NAME_BYTES;
        while (length > 0 && (item->path[length] & 0xc0) == 0x80) /* whole letters */
            length--;
    }
    const bool whole = item->path[length] == '\0';
    snprintf(buffer, size, "%u: %.*s%s", item->line, length, item->path, whole ? "" : "...");
    for (char *c = buffer; *c; c++)
        if (*c == '/' || (unsigned char)*c < ' ')
            *c = ' ';
    return buffer;
}

static uint64_t text_size(const pxi_source *source, int64_t index)
{
    const pxi_picture_source *texts = (const pxi_picture_source *)source;
    return texts->tree->texts ? pxi_picture_source_size(source, index)
                              : strlen(texts->items[index].path);
}

static px_status text_target(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    const pxi_picture_source *texts = (const pxi_picture_source *)source;
    (void)err;
    memcpy(out, texts->items[index].target, (size_t)source->target_count * sizeof *out);
    return PX_OK;
}

static const pxi_source_type text_type = {
    .values = text_values,
    .text = text_of,
    .words = text_words,
    .label = pxi_picture_source_label,
    .target = text_target,
    .name = text_name,
    .place = pxi_picture_source_place,
    .size = text_size,
    .free = pxi_picture_source_free,
};

/* Makes a source of files or rows one of texts. */
static px_status text_begin(pxi_picture_source *source, const px_inputs *inputs, px_error *err)
{
    if (!coder_open)
        return px_fail(err, PX_E_UNSUPPORTED, "this program was linked without tokenisers");
    PX_TRY(coder_open(inputs, &source->coder, err));
    source->base.type = &text_type;
    source->base.is_8bit = false;
    source->base.shape = inputs->count == 1
                             ? (px_shape){.rank = 1, .dim = {inputs->tokens}}
                             : (px_shape){.rank = 2, .dim = {inputs->count, inputs->tokens}};
    snprintf(source->base.kind, sizeof source->base.kind, "texts");
    return PX_OK;
}

/* --- tables ---------------------------------------------------------------------------------- */

enum { COLUMN_TEXT, COLUMN_LABEL, COLUMN_SPLIT, COLUMNS };

static const struct {
    const char *name;
    int column;
} columns[] = {
    {"text", COLUMN_TEXT},    {"sentence", COLUMN_TEXT},  {"content", COLUMN_TEXT},
    {"review", COLUMN_TEXT},  {"label", COLUMN_LABEL},    {"class", COLUMN_LABEL},
    {"target", COLUMN_LABEL}, {"category", COLUMN_LABEL}, {"split", COLUMN_SPLIT},
    {"set", COLUMN_SPLIT},
};

static bool table_header(const pxi_csv *csv, int where[COLUMNS])
{
    int found[COLUMNS] = {-1, -1, -1};
    for (size_t i = 0; i < csv->count; i++)
        for (size_t k = 0; k < PX_LEN(columns); k++)
            if (strcasecmp(csv->fields[i], columns[k].name) == 0 && found[columns[k].column] < 0)
                found[columns[k].column] = (int)i;
    if (found[COLUMN_TEXT] < 0)
        return false;
    memcpy(where, found, sizeof found);
    return true;
}

static const char *table_field(const pxi_csv *csv, int position)
{
    return position >= 0 && (size_t)position < csv->count ? csv->fields[position] : "";
}

static px_status table_rows(pxi_csv *csv, pxi_manifest_row **out, size_t *count, px_error *err)
{
    int where[COLUMNS] = {COLUMN_TEXT, COLUMN_LABEL, COLUMN_SPLIT};
    size_t capacity = 0;
    for (bool first = true;; first = false) {
        PX_TRY(pxi_csv_row(csv, err));
        if (csv->count == 0)
            break;
        if (first && table_header(csv, where))
            continue;
        const pxi_manifest_row row = {
            table_field(csv, where[COLUMN_TEXT]), table_field(csv, where[COLUMN_LABEL]),
            table_field(csv, where[COLUMN_SPLIT]), (uint32_t)csv->row_line};
        if (*count && (row.label[0] == '\0') != ((*out)[0].label[0] == '\0')) {
            csv->line = csv->row_line;
            return pxi_csv_fail(csv,
                                row.label[0] ? "has a label, and those before have none"
                                             : "has no label, and those before have one",
                                err);
        }
        PX_TRY(PX_GROW(*out, capacity, *count + 1, err));
        (*out)[(*count)++] = row;
    }
    return *count ? PX_OK
                  : px_fail(err, PX_E_INPUT, "'%s': holds no texts; expected rows of text,label",
                            csv->name);
}

static px_status table_read(pxi_picture_source *source, const char *path, const char *split,
                            px_error *err)
{
    pxi_bytes bytes = {0};
    pxi_manifest_row *rows = NULL;
    size_t count = 0;
    char *text = NULL;
    px_status status = pxi_bytes_open(&bytes, path, err);
    PX_THEN(status, pxi_bytes_load(&bytes, PXI_MANIFEST_MAX, path, err));
    PX_THEN(status, PX_ARENA_NEW(text, source->arena, bytes.size + 1, err));
    if (status == PX_OK && !(source->manifest = pxi_arena_strdup(source->arena, path)))
        status = pxi_no_memory(err);
    if (status == PX_OK && bytes.size)
        memcpy(text, pxi_bytes_data(&bytes), (size_t)bytes.size);
    if (status == PX_OK && memchr(text, 0, (size_t)bytes.size))
        status = px_fail(err, PX_E_INPUT, "'%s': not a text file", path);
    if (status == PX_OK) {
        const bool mark = bytes.size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
        pxi_csv csv = {.at = text + (mark ? 3 : 0),
                       .end = text + bytes.size,
                       .name = path,
                       .tabs = pxi_has_suffix(path, ".tsv"),
                       .line = 1};
        status = table_rows(&csv, &rows, &count, err);
    }
    PX_THEN(status, pxi_manifest_fill(source, "", rows, count, split, err));
    free(rows);
    pxi_bytes_done(&bytes);
    return status;
}

/* --- opening --------------------------------------------------------------------------------- */

static bool folder_has_texts(const char *spec)
{
    pxi_tree *tree = NULL;
    struct stat info;
    bool found = false;
    if (stat(spec, &info) != 0 || !S_ISDIR(info.st_mode) ||
        pxi_tree_open_folder(spec, NULL, &tree, NULL) != PX_OK)
        return false;
    for (size_t i = 0; i < pxi_tree_count(tree) && !found; i++)
        found = pxi_has_suffix(pxi_tree_entry(tree, i)->path, ".txt");
    pxi_tree_free(tree);
    return found;
}

bool pxi_texts_claims(const char *spec)
{
    return pxi_has_suffix(spec, ".csv") || pxi_has_suffix(spec, ".tsv") || folder_has_texts(spec);
}

px_status pxi_texts_open(const char *spec, const char *split, const px_inputs *inputs, int targets,
                         pxi_source **out, px_error *err)
{
    const bool table = pxi_has_suffix(spec, ".csv") || pxi_has_suffix(spec, ".tsv");
    pxi_picture_source *source = NULL;
    pxi_source *made = NULL;
    pxi_tree *tree = NULL;
    px_status status;
    PX_TRY(table ? pxi_tree_open_unlisted(".", &tree, err)
                 : pxi_tree_open_folder(spec, split, &tree, err));
    if (table) {
        PX_TRY(pxi_picture_source_new("texts", tree, &source, err));
        if (targets)
            pxi_source_set_verdicts(&source->base, targets);
        status = text_begin(source, inputs, err);
        if (status == PX_OK)
            status = table_read(source, spec, split, err);
    } else {
        tree->texts = true;
        PX_TRY(pxi_folder_open(tree, "", split, &made, err));
        source = (pxi_picture_source *)made;
        status = text_begin(source, inputs, err);
    }
    if (status == PX_OK)
        *out = &source->base;
    else
        pxi_source_free(&source->base);
    return status;
}
