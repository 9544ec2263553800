/* src/select/select_files.c - a ranking as a table */
#include "base/csv_rows.h"
#include "base/file.h"
#include "select/select_inside.h"

#include <inttypes.h>
#include <plexor/classes.h>

/* As the network calls it, or as the data do; empty where neither has names. */
static const char *class_name(const px_select *s, int c)
{
    const char *name = px_model_class_name(s->model, c);
    if (!name)
        name = px_dataset_class_name(s->set, c);
    return name ? name : "";
}

px_status px_select_save(const px_select *s, size_t i, int64_t count, const char *path,
                         px_error *err)
{
    int64_t ranked_count = 0;
    const px_ranked *ranked = px_select_ranked(s, i, &ranked_count);
    px_file_writer writer = {0};
    PX_TRY(pxi_file_create(path, &writer, err));
    px_text line = {0};
    fputs("rank,index,name,score,predicted,confidence,predicted_name\n", writer.stream);
    for (int64_t k = 0; k < count && k < ranked_count; k++) {
        const px_ranked *r = &ranked[k];
        char name[4096], number[PX_REAL_TEXT];
        px_text_clear(&line);
        px_text_format(&line, "%" PRId64 ",%" PRId64 ",", k + 1,
                       px_dataset_index(s->set, r->index));
        pxi_csv_put(&line, px_dataset_name(s->set, r->index, name, sizeof name));
        px_text_format(&line, ",%s,", px_real_text(r->score, number));
        if (r->predicted >= 0) { /* else there is no class: empty */
            px_text_format(&line, "%d,%.9g,", r->predicted, (double)r->confidence);
            pxi_csv_put(&line, class_name(s, r->predicted));
        } else {
            px_text_add(&line, ",,");
        }
        px_text_add(&line, "\n");
        if (px_text_failed(&line))
            break;
        fwrite(line.data, 1, line.length, writer.stream);
    }
    const bool failed = px_text_failed(&line);
    px_text_done(&line);
    if (!failed)
        return pxi_file_commit(&writer, err);
    pxi_file_abandon(&writer);
    return px_fail(err, PX_E_NOMEM, "out of memory for the ranking");
}
