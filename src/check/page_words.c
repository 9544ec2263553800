/* src/check/page_words.c - numbers and paths as the page shows them
 *
 * A page is sent to others: paths on it are as the user gave them, and absolute ones, which say
 * where somebody's home is and hold on no other machine, from their last folder on.
 */
#include "check/page_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pxi_fraction_text(double value, char text[PXI_FRACTION_TEXT])
{
    const double inverse = 1.0 / value, levels = value * 255.0;
    if (value > 0.0 && fabs(levels - round(levels)) < 1e-4 && round(levels) >= 1.0 &&
        round(levels) < 255.0)
        snprintf(text, PXI_FRACTION_TEXT, "%.0f/255", round(levels));
    else if (inverse >= 1.5 && inverse < 1e6 && fabs(inverse - round(inverse)) < 1e-3)
        snprintf(text, PXI_FRACTION_TEXT, "1/%.0f", round(inverse));
    else
        snprintf(text, PXI_FRACTION_TEXT, "%.6g", value);
    return text;
}

const char *pxi_count_text(int64_t count, char text[PXI_COUNT_TEXT])
{
    char digits[PXI_COUNT_TEXT];
    const int length = snprintf(digits, sizeof digits, "%" PRId64, count);
    size_t to = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0)
            text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = '\0';
    return text;
}

const char *pxi_shown_path(const char *path)
{
    const char *end = strstr(path, "::"), *from = path;
    if (*path != '/')
        return path;
    if (!end)
        end = path + strlen(path);
    while (end > path && end[-1] == '/') /* a folder's last slash has nothing behind it */
        end--;
    for (const char *at = path; at < end; at++)
        if (*at == '/')
            from = at + 1;
    return from;
}

char *pxi_page_path(const px_check *c, const char *name)
{
    px_text path = {0};
    px_text_format(&path, "%s/%s", pxi_shown_path(c->folder), name);
    return px_text_take(&path);
}

/* Words of a command that are absolute paths, as pxi_shown_path() has them. */
char *pxi_shown_command(const char *command)
{
    px_text out = {0};
    px_text_add(&out, "");
    for (const char *at = command; *at;) {
        const bool starts = at == command || strchr(" '\"=,", at[-1]);
        const size_t word = strcspn(at, " '\"=,");
        if (word == 0) {
            px_text_add_bytes(&out, at++, 1);
            continue;
        }
        char *copy = strndup(at, word);
        px_text_add(&out, copy && starts ? pxi_shown_path(copy) : copy ? copy : "");
        free(copy);
        at += word;
    }
    return px_text_take(&out);
}
