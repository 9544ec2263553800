/* src/cli/cli_chart.c - bars on a terminal */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_chart.h"

#include "cli/cli.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <plexor/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    CHART_COLUMNS = 80, /* where there is no terminal */
    CHART_COLUMNS_MOST = 500,
    CHART_BAR_LEAST = 10,
    CHART_NAME_MOST = 40, /* columns */
    CHART_VALUE_TEXT = 32,
};

/* What the environment says, without changing this process' own locale (numbers stay as they are).
 */
bool cli_locale_is_utf8(void)
{
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    const char *codeset = nl_langinfo_l(CODESET, locale);
    const bool utf8 = strcasecmp(codeset, "UTF-8") == 0 || strcasecmp(codeset, "utf8") == 0;
    freelocale(locale);
    return utf8;
}

static int chart_columns(void)
{
    struct winsize size;
    if (!cli_now()->io && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return CHART_COLUMNS;
}

/* Columns of a text, one per character; what comes after `most` characters begins at *end. */
static int chart_width(const char *text, int most, const char **end)
{
    int width = 0;
    const char *at = text;
    for (; *at; at++) {
        const bool starts = ((unsigned char)*at & 0xc0) != 0x80;
        if (starts && width == most)
            break;
        width += starts;
    }
    *end = at;
    return width;
}

/* A name in its column; bytes that would move the cursor are not printed. */
static void chart_name(px_text *out, const char *name, int column)
{
    const char *end;
    const int width = chart_width(name, column, &end);
    for (const char *at = name; at < end; at++) {
        const unsigned char c = (unsigned char)*at;
        const char shown = c < 0x20 || c == 0x7f ? '?' : *at;
        px_text_add_bytes(out, &shown, 1);
    }
    px_text_format(out, "%*s", column - width, "");
}

static void chart_bar(px_text *out, double share, int columns, bool utf8)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double clipped = !(share > 0) ? 0 : share < 1 ? share : 1;
    const int parts = utf8 ? 8 : 1;
    int length = (int)lround(clipped * columns * parts);
    if (length == 0 && clipped > 0)
        length = 1; /* little is not nothing */
    for (int i = 0; i < length / parts; i++)
        px_text_add(out, utf8 ? "█" : "#");
    px_text_add(out, utf8 ? eighths[length % 8] : "");
}

static const char *chart_value(const cli_bar *bar, char text[CHART_VALUE_TEXT])
{
    if (bar->text)
        return bar->text;
    snprintf(text, CHART_VALUE_TEXT, "%.4g", bar->value);
    return text;
}

char *cli_chart_text(const cli_bar *bars, size_t count, const cli_chart_look *look)
{
    const cli_chart_look defaults = {0};
    if (!look)
        look = &defaults;
    const bool utf8 = look->charset == CLI_CHARSET_LOCALE ? cli_locale_is_utf8()
                                                          : look->charset == CLI_CHARSET_UTF8;
    const char *indent = look->indent ? look->indent : "", *end;
    double most = look->most;
    int name_column = 0, value_column = 0;
    char text[CHART_VALUE_TEXT];
    for (size_t i = 0; i < count; i++) {
        if (!(look->most > 0) && isfinite(bars[i].value))
            most = fmax(most, bars[i].value);
        const int name = chart_width(bars[i].name, CHART_NAME_MOST, &end);
        const int value = chart_width(chart_value(&bars[i], text), CHART_NAME_MOST, &end);
        name_column = name > name_column ? name : name_column;
        value_column = value > value_column ? value : value_column;
    }
    int columns = look->width > 0 ? look->width : chart_columns();
    columns = columns > CHART_COLUMNS_MOST ? CHART_COLUMNS_MOST : columns;
    columns -= chart_width(indent, CHART_COLUMNS_MOST, &end) + name_column + value_column + 4;
    columns = columns < CHART_BAR_LEAST ? CHART_BAR_LEAST : columns;

    px_text out = {0};
    for (size_t i = 0; i < count; i++) {
        const char *value = chart_value(&bars[i], text);
        const int blank = value_column - chart_width(value, CHART_NAME_MOST, &end);
        px_text_add(&out, indent);
        chart_name(&out, bars[i].name, name_column);
        px_text_format(&out, "  %*s%.*s", blank, "", (int)(end - value), value);
        const double share = most > 0 ? bars[i].value / most : 0;
        if (share > 0)
            px_text_add(&out, "  ");
        chart_bar(&out, share, columns, utf8);
        px_text_add(&out, "\n");
    }
    return px_text_take(&out);
}

void cli_chart_print(const cli_bar *bars, size_t count, const cli_chart_look *look)
{
    char *text = cli_chart_text(bars, count, look);
    if (text)
        fputs(text, cli_out());
    free(text);
}
