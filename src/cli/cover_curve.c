/* src/cli/cover_curve.c - how coverage grew over the inputs */
#include "cli/cli_cover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static px_status curve_csv(const px_cover *cover, const char *path, px_error *err)
{
    char number[PX_REAL_TEXT];
    size_t count = 0;
    const px_cover_point *points = px_cover_curve(cover, &count);
    FILE *file = fopen(path, "w");
    if (!file)
        return px_fail(err, PX_E_IO, "'%s': cannot be written: %s", path, strerror(errno));
    fprintf(file, "inputs");
    for (size_t i = 0; i < px_cover_count(cover); i++)
        fprintf(file, ",%s", px_cover_criterion(cover, i)->id);
    fprintf(file, "\n");
    for (size_t p = 0; p < count; p++) {
        fprintf(file, "%" PRId64, points[p].inputs);
        for (size_t i = 0; i < px_cover_count(cover); i++)
            fprintf(file, ",%s", px_real_text(points[p].values[i], number));
        fprintf(file, "\n");
    }
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return px_fail(err, PX_E_IO, "'%s': cannot be written: %s", path, strerror(errno));
    return PX_OK;
}

px_status cover_check_curve(const char *path, px_error *err)
{
    if (ends_in(path, ".csv"))
        return PX_OK;
    return px_fail(err, PX_E_USAGE, "--curve '%.200s': expected a name that ends in .csv", path);
}

px_status cover_write_curve(const px_cover *cover, const char *path, px_error *err)
{
    PX_TRY(cover_check_curve(path, err));
    return curve_csv(cover, path, err);
}
