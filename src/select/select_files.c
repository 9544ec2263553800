/* src/select/select_files.c - a ranking as a table */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/select_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "select/select_internal.h"

#include <internal/classes.h>
#include <plexor/field.h>

/* As the network calls it, or as the data do; empty where neither has names. */
static const char *class_name(const px_select *s, int c)
{
    const char *name = px_model_class_name(s->model, c);
    if (!name)
        name = px_dataset_class_name(s->set, c);
    return name ? name : "";
}

static const px_field file_columns[] = {
    PX_FIELD(pxi_select_row, rank, "rank", "from 1"),
    PX_FIELD(pxi_select_row, index, "index", "in the data"),
    PX_CHARS(pxi_select_row, name, "name", "of the input"),
    PX_FIELD(pxi_select_row, score, "score", "by the selector"),
    PX_INDEX(pxi_select_row, predicted, "predicted", "class; empty: none"),
    PX_FIELD(pxi_select_row, confidence, "confidence", "its probability", .format = "%.9g",
             PX_IF(pxi_select_row, has_class)),
    PX_FIELD(pxi_select_row, predicted_name, "predicted_name", "of the class"),
    PX_FIELDS_END,
};

px_status pxi_select_write(const char *path, int64_t count, pxi_select_row_fn *get,
                           const void *context, px_error *err)
{
    px_file_writer writer = {0};
    pxi_select_row row;
    px_text line = {0};
    PX_TRY(pxi_file_create(path, &writer, err));
    px_fields_csv(file_columns, NULL, &line);
    for (int64_t k = 0; k < count && !px_text_failed(&line); k++) {
        row = (pxi_select_row){.rank = k + 1};
        get(context, k, &row);
        row.has_class = row.predicted >= 0;
        fwrite(line.data, 1, line.length, writer.stream); /* the one before */
        px_text_clear(&line);
        px_fields_csv(file_columns, &row, &line);
    }
    const bool failed = px_text_failed(&line);
    if (!failed)
        fwrite(line.data, 1, line.length, writer.stream);
    px_text_done(&line);
    if (!failed)
        return pxi_file_commit(&writer, err);
    pxi_file_abandon(&writer);
    return pxi_no_memory(err);
}

typedef struct ranked_rows {
    const px_select *select;
    const px_ranked *ranked;
} ranked_rows;

static void ranked_row(const void *context, int64_t k, pxi_select_row *row)
{
    const ranked_rows *rows = context;
    pxi_select_row_of(rows->select, &rows->ranked[k], row);
}

void pxi_select_row_of(const px_select *s, const px_ranked *r, pxi_select_row *row)
{
    row->index = px_dataset_index(s->set, r->index);
    row->score = r->score;
    row->confidence = (double)r->confidence;
    row->predicted = r->predicted;
    row->predicted_name = r->predicted < 0 ? NULL : class_name(s, r->predicted);
    px_dataset_name(s->set, r->index, row->name, sizeof row->name);
}

px_status px_select_save(const px_select *s, size_t i, int64_t count, const char *path,
                         px_error *err)
{
    int64_t ranked_count = 0;
    const ranked_rows rows = {s, px_select_ranked(s, i, &ranked_count)};
    return pxi_select_write(path, PX_MIN(count, ranked_count), ranked_row, &rows, err);
}
