/* src/cli/cli_fields.c - results by the tables of their fields: as JSON and as tables for people */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"

#include <internal/field.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void cli_result_json(const px_field *fields, const void *record, px_json *json)
{
    cli_json_open(json);
    px_fields_json(fields, record, json);
    px_json_end(json);
}

int cli_print_result(const cli_command *self, const px_field *fields, const void *record)
{
    px_json json = {0};
    cli_result_json(fields, record, &json);
    return cli_print_json(self, &json);
}

int cli_show(const cli_command *self, const px_field *fields, const void *record,
             cli_print_fn *print)
{
    if (cli_now()->json)
        return cli_print_result(self, fields, record);
    print(record);
    return CLI_DONE;
}

int cli_answer(const cli_command *self, px_status status, const px_error *err, const void *record,
               cli_print_fn *print)
{
    return status == PX_OK ? cli_show(self, self->result, record, print) : cli_fail(self, err);
}

typedef struct grid { /* rows of cells; the first one has the titles */
    char **cells;     /* NULL: left out */
    size_t count, capacity, columns;
    px_text aligns; /* a letter per column */
    bool titles, failed;
} grid;

static void grid_cell(void *context, const px_field *field, const char *title, const char *text)
{
    grid *g = context;
    const bool words = field->kind == PX_FIELD_TEXT || field->kind == PX_FIELD_CHARS ||
                       field->kind == PX_FIELD_CHOICE;
    const char align = field->align ? field->align : words ? 'l' : 'r';
    if (g->count == g->capacity) {
        const size_t capacity = g->capacity ? 2 * g->capacity : 64;
        char **cells = reallocarray(g->cells, capacity, sizeof *cells);
        if (!cells) {
            g->failed = true;
            return;
        }
        g->cells = cells;
        g->capacity = capacity;
    }
    if (g->titles)
        px_text_add_bytes(&g->aligns, &align, 1);
    const char *said = g->titles ? title : text;
    char *cell = said ? strdup(said) : NULL;
    g->failed = g->failed || (said && !cell);
    g->cells[g->count++] = cell;
}

/* Before the first row; of none, with `record` NULL. */
static void grid_titles(grid *g, const px_field *fields, const void *record)
{
    g->titles = true;
    px_fields_cells(fields, record, grid_cell, g);
    g->titles = false;
    g->columns = g->count;
}

static bool grid_shows(const grid *g, size_t column)
{
    bool shows = g->count == g->columns;
    for (size_t i = g->columns + column; i < g->count; i += g->columns)
        shows = shows || g->cells[i];
    return shows;
}

static void grid_print(const grid *g, const char *indent)
{
    char *letters = calloc(g->columns + 1, 1);
    cli_table *table = letters ? cli_table_new(letters) : NULL;
    bool heads = false;
    size_t shown = 0;
    for (size_t k = 0; letters && k < g->columns; k++)
        if (grid_shows(g, k)) {
            letters[shown++] = px_text_get(&g->aligns)[k];
            heads = heads || *g->cells[k];
        }
    for (size_t i = heads ? 0 : g->columns; i < g->count; i++)
        if (grid_shows(g, i % g->columns))
            cli_table_cell(table, "%s", g->cells[i] ? g->cells[i] : "-");
    cli_table_print_free(table, indent);
    free(letters);
}

/* A line per column. */
static void grid_print_turned(const grid *g, const char *const *heads, size_t records)
{
    char *letters = calloc(records + 2, 1);
    cli_table *table = letters ? cli_table_new(letters) : NULL;
    for (size_t r = 0; letters && r <= records; r++)
        letters[r] = r ? 'r' : 'l';
    for (size_t r = 0; heads && r <= records; r++)
        cli_table_cell(table, "%s", r ? heads[r - 1] : "");
    for (size_t k = 0; k < g->columns; k++)
        for (size_t i = k; i < g->count && grid_shows(g, k); i += g->columns)
            cli_table_cell(table, "%s", g->cells[i] ? g->cells[i] : "-");
    cli_table_print_free(table, "");
    free(letters);
}

static void grid_done(grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->cells[i]);
    free(g->cells);
    px_text_done(&g->aligns);
}

int64_t cli_print_list(const px_field *fields, const char *key, const void *record,
                       const char *indent, int64_t most)
{
    max_align_t row[PX_FIELD_ROW_MOST / sizeof(max_align_t)];
    grid g = {0};
    int64_t count = 0;
    const void *item;
    const px_field *list = px_field_find(fields, key, &record);
    if (!list)
        return 0;
    for (; (item = px_field_item(list, record, (size_t)count, row)); count++)
        if (most == 0 || count < most) {
            if (count == 0)
                grid_titles(&g, list->fields, item);
            px_fields_cells(list->fields, item, grid_cell, &g);
        }
    if (count == 0)
        grid_titles(&g, list->fields, NULL);
    if (!g.failed && !px_text_failed(&g.aligns))
        grid_print(&g, indent);
    grid_done(&g);
    return count;
}

void cli_print_beside(const px_field *fields, const char *const *heads, const void *const *records,
                      size_t count)
{
    grid g = {0};
    grid_titles(&g, fields, records[0]);
    for (size_t i = 0; i < count; i++)
        px_fields_cells(fields, records[i], grid_cell, &g);
    if (!g.failed && !px_text_failed(&g.aligns))
        grid_print_turned(&g, heads, count);
    grid_done(&g);
}
