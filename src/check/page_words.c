/* src/check/page_words.c - numbers, paths and commands as people read them
 *
 * A page is sent to others: paths on it are as the user gave them, and absolute ones, which say
 * where somebody's home is and hold on no other machine, from their last folder on.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

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

/* --- commands -------------------------------------------------------------------------------- */

/* As a shell reads it back. */
static void quoted(px_text *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./,:=+%@";
    if (*word && word[strspn(word, plain)] == '\0') {
        px_text_add(out, word);
        return;
    }
    px_text_add(out, "'");
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            px_text_add(out, "'\\''");
        else
            px_text_add_bytes(out, p, 1);
    }
    px_text_add(out, "'");
}

void pxi_command_option(px_text *out, const char *name, const char *value)
{
    if (!value)
        return;
    px_text_format(out, " --%s ", name);
    quoted(out, value);
}

void pxi_command_model(const px_check *c, const char *name, px_text *out)
{
    px_text_format(out, "plexor %s ", name);
    quoted(out, pxi_shown_path(c->model_path));
}

void pxi_command_data(const px_check *c, px_text *out)
{
    const px_data_options *read = &c->o.read;
    pxi_command_option(out, "data", pxi_shown_path(c->data_spec));
    pxi_command_option(out, "split", read->split);
    if (read->limit > 0)
        px_text_format(out, " --limit %" PRId64, read->limit);
    if (read->offset > 0)
        px_text_format(out, " --offset %" PRId64, read->offset);
    if (read->shuffle)
        px_text_add(out, " --shuffle");
    if (!isnan(c->o.tolerance))
        px_text_format(out, " --task regression --tolerance %.9g", c->o.tolerance);
    pxi_command_option(out, "tokenizer", c->o.tokenizer);
    if (c->o.tokens > 0)
        px_text_format(out, " --tokens %" PRId64, c->o.tokens);
}

void pxi_command_values(const px_check *c, bool range, px_text *out)
{
    pxi_command_option(out, "preprocess", c->o.pixels.preprocess);
    pxi_command_option(out, "scale", c->o.pixels.scale);
    pxi_command_option(out, "mean", c->o.pixels.mean);
    pxi_command_option(out, "std", c->o.pixels.std);
    pxi_command_option(out, "size", c->o.pixels.size);
    pxi_command_option(out, "audio", c->o.audio);
    if (c->o.seed)
        px_text_format(out, " --seed %" PRIu64, c->o.seed);
    if (range && !isnan(c->o.low))
        px_text_format(out, " --range %.9g,%.9g", c->o.low, c->o.high);
}

void pxi_command(const px_check *c, const char *name, bool range, px_text *out)
{
    pxi_command_model(c, name, out);
    pxi_command_data(c, out);
    pxi_command_values(c, range, out);
}
