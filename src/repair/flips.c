/* src/repair/flips.c - every input that changed sides, as CSV (RFC 4180) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "repair/repair_state.h"

#include "base/csv_rows.h"
#include "base/file.h"

#include <inttypes.h>

/* Regressions first; then what was fixed. */
static bool write_set(FILE *to, const char *what, const px_repair_set *set)
{
    char name[4096];
    px_text field = {0};
    for (int pass = 0; pass < 2 && !px_text_failed(&field); pass++)
        for (int64_t i = 0; i < set->count; i++) {
            const px_predictions *was = &set->said[PX_BEFORE], *is = &set->said[PX_AFTER];
            if (px_repair_flip(set, i) != (pass == 0 ? -1 : 1))
                continue;
            fprintf(to, "%s,%s,%" PRId64 ",", what, pass ? "fixed" : "regressed",
                    px_dataset_index(set->set, set->index[i]));
            px_text_clear(&field);
            pxi_csv_put(&field, px_dataset_name(set->set, set->index[i], name, sizeof name));
            if (px_text_failed(&field))
                break;
            fputs(px_text_get(&field), to);
            fprintf(to, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.6f,%.6f\n", is->label[i],
                    was->predicted[i], is->predicted[i], (double)was->confidence[i],
                    (double)is->confidence[i]);
        }
    const bool good = !px_text_failed(&field);
    px_text_done(&field);
    return good;
}

px_status px_repair_save_flips(const px_repair *repair, const char *path, px_error *err)
{
    px_file_writer writer = {0};
    PX_TRY(pxi_file_create(path, &writer, err));
    fputs("set,flip,index,name,label,before,after,confidence_before,confidence_after\n",
          writer.stream);
    if (write_set(writer.stream, "clean", &repair->report.clean) &&
        write_set(writer.stream, "failing", &repair->report.failing) &&
        write_set(writer.stream, "robust", &repair->report.robust))
        return pxi_file_commit(&writer, err);
    pxi_file_abandon(&writer);
    return px_fail_in(err, pxi_no_memory(err), "'%.200s'", path);
}
