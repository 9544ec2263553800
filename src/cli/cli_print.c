/* src/cli/cli_print.c - numbers and tables for people */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *cli_out(void)
{
    cli_bar_end();
    return cli_now()->out;
}

void cli_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(cli_out(), format, args);
    va_end(args);
}

const char *cli_number(int64_t value, char buffer[CLI_NUMBER_TEXT])
{
    return px_number_text(value, buffer);
}

const char *cli_metric(double value, char buffer[CLI_NUMBER_TEXT])
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T", " P"};
    size_t i = 0;
    while (fabs(value) >= 999.5 && i < 5) {
        value /= 1000;
        i++;
    }
    snprintf(buffer, CLI_NUMBER_TEXT, "%.3g%s", value, prefixes[i]);
    return buffer;
}

struct cli_table {
    const char *columns;
    char **cells;
    size_t count, capacity;
};

cli_table *cli_table_new(const char *columns)
{
    cli_table *table = calloc(1, sizeof *table);
    if (table)
        table->columns = columns;
    return table;
}

void cli_table_cell(cli_table *table, const char *format, ...)
{
    if (!table)
        return;
    if (table->count == table->capacity) {
        const size_t capacity = table->capacity ? 2 * table->capacity : 64;
        char **cells = reallocarray(table->cells, capacity, sizeof *cells);
        if (!cells)
            return;
        table->cells = cells;
        table->capacity = capacity;
    }
    va_list args;
    va_start(args, format);
    if (vasprintf(&table->cells[table->count], format, args) >= 0)
        table->count++;
    va_end(args);
}

/* Columns on a terminal, not bytes: UTF-8 continuation bytes take none. */
static int table_width(const char *cell)
{
    int width = 0;
    for (; *cell; cell++)
        width += ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

void cli_table_print_free(cli_table *table, const char *indent)
{
    if (!table)
        return;
    const size_t columns = strlen(table->columns);
    for (size_t i = 0; i < table->count; i++) {
        const size_t column = i % columns;
        int width = 0;
        for (size_t k = column; k < table->count; k += columns) {
            const int cell = table_width(table->cells[k]);
            width = cell > width ? cell : width;
        }
        const int pad = width - table_width(table->cells[i]);
        const bool right = table->columns[column] == 'r', last = column + 1 == columns;
        cli_print("%s%*s%s%*s%s", column ? "  " : indent, right ? pad : 0, "", table->cells[i],
                  right || last ? 0 : pad, "", last ? "\n" : "");
    }
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

bool cli_seconds(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end = NULL;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (end != text && strcmp(end, units[i].unit) == 0 && number > 0.0 && number < 1e9) {
            *seconds = number * units[i].seconds;
            return true;
        }
    return false;
}

void cli_command_line(px_text *text, int argc, char **argv)
{
    px_text_add(text, "plexor");
    for (int i = 0; i < argc; i++) {
        const bool plain =
            argv[i][0] &&
            argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789-_=,.:/+%@")] == '\0';
        px_text_format(text, plain ? " %s" : " '%s'", argv[i]);
    }
}
