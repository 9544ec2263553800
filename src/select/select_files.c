/* src/select/select_files.c - a ranking as a table */
#include "base/file.h"
#include "base/memory.h"
#include "select/select_inside.h"

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

typedef struct file_row {
    int64_t rank, index;
    char name[4096];
    double score, confidence;
    int predicted; /* -1: there is no class */
    const char *predicted_name;
    bool has_class;
} file_row;

static const px_field file_columns[] = {
    PX_FIELD(file_row, rank, "rank", "from 1"),
    PX_FIELD(file_row, index, "index", "in the data"),
    PX_CHARS(file_row, name, "name", "of the input"),
    PX_FIELD(file_row, score, "score", "by the selector"),
    PX_INDEX(file_row, predicted, "predicted", "class; empty: none"),
    PX_FIELD(file_row, confidence, "confidence", "its probability", .format = "%.9g",
             PX_IF(file_row, has_class)),
    PX_FIELD(file_row, predicted_name, "predicted_name", "of the class"),
    PX_FIELDS_END,
};

px_status px_select_save(const px_select *s, size_t i, int64_t count, const char *path,
                         px_error *err)
{
    int64_t ranked_count = 0;
    const px_ranked *ranked = px_select_ranked(s, i, &ranked_count);
    px_file_writer writer = {0};
    PX_TRY(pxi_file_create(path, &writer, err));
    px_text line = {0};
    px_fields_csv(file_columns, NULL, &line);
    for (int64_t k = 0; k < count && k < ranked_count && !px_text_failed(&line); k++) {
        const px_ranked *r = &ranked[k];
        file_row row = {.rank = k + 1,
                        .index = px_dataset_index(s->set, r->index),
                        .score = r->score,
                        .confidence = (double)r->confidence,
                        .predicted = r->predicted,
                        .predicted_name = r->predicted < 0 ? NULL : class_name(s, r->predicted),
                        .has_class = r->predicted >= 0};
        px_dataset_name(s->set, r->index, row.name, sizeof row.name);
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
