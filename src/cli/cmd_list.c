/* src/cli/cmd_list.c - plexor list [WHAT] */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/list.h"

#include <assert.h>
#include <internal/field.h>
#include <internal/text.h>
#include <stddef.h>
#include <string.h>

/* One of the program comes `added_at` behind so many of the library. */
static const px_field *added;
static void (*added_print)(void);
static size_t added_at;

/* The list, or of those that are shown together the one that has the ids. */
static const px_field *list_first(const px_field *list)
{
    const px_field *f = list->kind == PX_FIELD_OBJECT ? list->fields : list;
    while (!f->key)
        f++;
    return f;
}

const char *list_key(const px_field *list)
{
    return list_first(list)->key;
}

static const px_field *list_at(size_t i)
{
    const px_field *list = list_tables;
    if (added && i == added_at)
        return added;
    for (size_t own = added && i > added_at ? i - 1 : i; own && list->kind != PX_FIELD_END; own--)
        list++;
    return list->kind == PX_FIELD_END ? NULL : list;
}

void list_add(const px_field *list, void (*print)(void), const char *before)
{
    assert(!added);
    while (list_name(added_at) && strcmp(list_name(added_at), before) != 0)
        added_at++;
    added_print = print;
    added = list;
}

const char *list_name(size_t i)
{
    const px_field *list = list_at(i);
    return list ? list_key(list) : NULL;
}

/* Words may say what form a word has, FOLDER or noise:CxHxW, and then they are no ids. */
static bool list_is_id(const px_field *list, const char *id)
{
    return list->fields != list_words ||
           strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id);
}

void list_add_ids(const char *list, const char *before, px_text *out)
{
    max_align_t row[PX_FIELD_ROW_MOST / sizeof(max_align_t)];
    const px_field *at = NULL;
    for (size_t l = 0; !at && list_at(l); l++)
        if (strcmp(list_name(l), list) == 0)
            at = list_first(list_at(l));
    const void *item;
    const char *last = "";
    for (size_t i = 0; at && at->kind == PX_FIELD_LIST && (item = px_field_item(at, at, i, row));
         i++) {
        const char *id = *(const char *const *)((const char *)item + at->fields->offset);
        if (list_is_id(at, id) && strcmp(id, last) != 0) /* an operator has versions */
            px_text_format(out, "%s%s", before, id);
        last = id;
    }
}

enum { LIST_MAX = 64 };

static int list_run(const cli_command *self, int argc, char **argv)
{
    const char *what = NULL;
    bool ids = false;
    const cli_option options[] = {
        CLI_FLAG(0, "ids", &ids, "only what may be given as it is, a line each"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &what, 0, 1));
    const char *names[LIST_MAX];
    const px_field *chosen = NULL;
    size_t count = 0;
    for (; list_at(count); count++) {
        names[count] = list_name(count);
        if (what && strcmp(what, names[count]) == 0)
            chosen = list_at(count);
    }
    if (what && !chosen) {
        const char *nearest = px_nearest_word(what, names, count);
        return cli_usage_error(self, "there is no list '%s'%s%s%s; 'plexor list' names them", what,
                               nearest ? ", did you mean '" : "", nearest ? nearest : "",
                               nearest ? "'" : "");
    }
    if (ids && (!what || cli_now()->json))
        return cli_usage_error(self, "--ids is for one list, and not with --json");
    if (ids) {
        px_text text = {0};
        list_add_ids(what, "\n", &text);
        if (text.length)
            cli_print("%s\n", px_text_get(&text) + 1);
        px_text_done(&text);
        return CLI_DONE;
    }
    if (cli_now()->json) {
        px_json json = {0};
        cli_json_open(&json);
        for (size_t i = 0; i < count; i++) {
            const px_field one[] = {*list_at(i), PX_FIELDS_END};
            if (!what || list_at(i) == chosen)
                px_fields_json(one, one, &json);
        }
        px_json_end(&json);
        return cli_print_json(self, &json);
    }
    if (what && chosen == added) {
        added_print();
        return CLI_DONE;
    }
    if (what) {
        list_print_table(chosen);
        return CLI_DONE;
    }
    cli_table *table = cli_table_new("ll");
    for (size_t i = 0; i < count; i++) {
        cli_table_cell(table, "plexor list %s", names[i]);
        cli_table_cell(table, "%s", list_first(list_at(i))->help);
    }
    cli_table_print_free(table, "");
    return CLI_DONE;
}

const cli_command cli_command_list = {
    .name = "list",
    .usage = "[LIST] [--ids | --json]",
    .help = "show what plexor knows",
    .details = "Without LIST it says which lists there are.",
    .examples = "plexor list ops\nplexor list archs\nplexor list data\n",
    .run = list_run,
    .result = list_tables,
};
