/* src/repair/flips.c - every input that changed sides, as CSV (RFC 4180) */
#include "repair/repair_state.h"

#include "base/file.h"

#include <inttypes.h>
#include <string.h>

static void write_field(FILE *to, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, to);
        return;
    }
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', to);
        putc(*text, to);
    }
    putc('"', to);
}

/* Regressions first; then what was fixed. */
static void write_set(FILE *to, const char *what, const px_repair_set *set)
{
    char name[4096];
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < set->count; i++) {
            const int64_t before = set->predictions[PX_BEFORE][i];
            const int64_t after = set->predictions[PX_AFTER][i];
            const bool was = before == set->labels[i], is = after == set->labels[i];
            if (was == is || is != (pass == 1))
                continue;
            fprintf(to, "%s,%s,%" PRId64 ",", what, is ? "fixed" : "regressed",
                    px_dataset_index(set->set, set->index[i]));
            write_field(to, px_dataset_name(set->set, set->index[i], name, sizeof name));
            fprintf(to, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.6f,%.6f\n", set->labels[i], before,
                    after, (double)set->confidences[PX_BEFORE][i],
                    (double)set->confidences[PX_AFTER][i]);
        }
}

px_status px_repair_save_flips(const px_repair *repair, const char *path, px_error *err)
{
    px_file_writer writer = {0};
    PX_TRY(pxi_file_create(path, &writer, err));
    fputs("set,flip,index,name,label,before,after,confidence_before,confidence_after\n",
          writer.stream);
    write_set(writer.stream, "clean", &repair->report.clean);
    write_set(writer.stream, "failing", &repair->report.failing);
    write_set(writer.stream, "robust", &repair->report.robust);
    return pxi_file_commit(&writer, err);
}
