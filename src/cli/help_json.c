/* src/cli/help_json.c - plexor help --json: commands, options and results, for programs that call
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_help.h"
#include "cli/complete.h"
#include "cli/list.h"

#include <internal/field.h>
#include <stdio.h>
#include <string.h>

typedef struct word_row {
    const char *text;
    char word[PX_FIELD_TEXT_MOST];
    size_t next; /* where to go on */
} word_row;

/* The next part of a text up to one of `ends`, of which `skip` may stand before it, too. */
static const void *part_item(const char *text, const char *ends, const char *skip, size_t i,
                             word_row *r)
{
    const char *from = text ? text + (i ? r->next : 0) : "";
    from += strspn(from, skip);
    const size_t length = strcspn(from, ends);
    if (!*from)
        return NULL;
    snprintf(r->word, sizeof r->word, "%.*s", (int)length, from);
    r->text = r->word;
    r->next = (size_t)(from - text) + length + (*skip == '\0' && from[length]);
    return r;
}

static const void *word_item(const void *at, size_t i, void *row)
{
    return part_item(*(const char *const *)at, " \n", " \n", i, row);
}

static const void *line_item(const void *at, size_t i, void *row)
{
    return part_item(*(const char *const *)at, "\n", "", i, row);
}

static const px_field word_fields[] = {
    PX_FIELD(word_row, text, ""),
    PX_FIELDS_END,
};
#define HELP_ITEMS(function, table, type, member, ...)                                          \
    {                                                                                           \
        .kind = PX_FIELD_LIST, .fields = table, .item = function, PX_FIELD_PLACE(type, member), \
        __VA_ARGS__                                                                             \
    }

/* --- options --------------------------------------------------------------------------------- */

typedef struct option_row {
    cli_option option;
    char letter[2];
    const char *letter_text, *words, *list, *path;
    bool numeric;
    complete_value value; /* what may be given: words, the ids of a list, files */
} option_row;

static const void *option_item(const void *at, size_t i, void *row)
{
    static const char *const paths[] = {[COMPLETE_NO_PATHS] = NULL,
                                        [COMPLETE_FILES] = "file",
                                        [COMPLETE_FOLDERS] = "folder",
                                        [COMPLETE_MODELS] = "model"};
    const cli_option *options = *(const cli_option *const *)at;
    option_row *r = row;
    if (i > 0)
        complete_done(&r->value);
    if (i > 0 && !options[i - 1].name)
        return NULL;
    r->option = options[i].name ? options[i] : cli_help_option;
    r->letter[0] = r->option.letter;
    r->letter[1] = '\0';
    r->letter_text = r->option.letter ? r->letter : NULL;
    r->numeric = r->option.kind == CLI_KIND_INT || r->option.kind == CLI_KIND_REAL;
    complete_option(&r->option, &r->value);
    r->words = px_text_get(&r->value.words);
    r->list = *r->value.list ? r->value.list : NULL;
    r->path = paths[r->value.paths];
    return r;
}

/* null: none that could be told, as of an option that is not given or follows from others. */
static px_datum option_default(const void *at, char *text)
{
    const cli_option *o = at;
    if (o->kind == CLI_KIND_STRING)
        return px_datum_text(*(const char *const *)o->target);
    if (o->kind == CLI_KIND_CHOICE)
        return px_datum_text(cli_choice_word(o->argument, *(const int *)o->target, text));
    if (o->kind == CLI_KIND_FLAG)
        return px_datum_bool(o->target && *(const bool *)o->target);
    if (o->kind == CLI_KIND_INT && (double)*(const int64_t *)o->target >= o->least)
        return px_datum_int(*(const int64_t *)o->target);
    if (o->kind == CLI_KIND_REAL && *(const double *)o->target >= o->least)
        return px_datum_real(*(const double *)o->target);
    return px_datum_none();
}

static const char *const option_kinds[] = {
    [CLI_KIND_STRING] = "text", [CLI_KIND_CHOICE] = "text", [CLI_KIND_LIST] = "texts",
    [CLI_KIND_REAL] = "number", [CLI_KIND_INT] = "integer", [CLI_KIND_FLAG] = "flag"};

static const px_field option_fields[] = {
    PX_FIELD(option_row, option.name, "name"),
    PX_FIELD(option_row, letter_text, "letter"),
    PX_CHOICE(option_row, option.kind, option_kinds, "kind"),
    PX_FIELD(option_row, option.argument, "argument"),
    PX_MADE_OF(TEXT, option_default, option_row, option, "default"),
    PX_FIELD(option_row, option.least, "min", PX_IF(option_row, numeric)),
    PX_FIELD(option_row, option.most, "max", PX_IF(option_row, numeric)),
    HELP_ITEMS(word_item, word_fields, option_row, words, "choices", .optional = true),
    PX_FIELD(option_row, list, "list", .optional = true),
    PX_FIELD(option_row, value.commas, "several", PX_IF(option_row, value.commas)),
    PX_FIELD(option_row, path, "path", .optional = true),
    PX_FIELD(option_row, option.help, "help"),
    PX_FIELDS_END,
};

/* --- commands -------------------------------------------------------------------------------- */

enum { ARGUMENTS_MAX = 8, ARGUMENT_TEXT = 32 };
typedef struct help_argument {
    char name[ARGUMENT_TEXT];
    bool optional, several;
} help_argument;

/* The words before the first option: "MODEL IMAGE [IMAGE2] [--data SPEC]", "TEXT [TEXT ...]". */
static size_t arguments_of(const char *usage, help_argument out[ARGUMENTS_MAX])
{
    size_t count = 0;
    bool optional = false;
    for (const char *p = usage; *p && count < ARGUMENTS_MAX;) {
        optional = optional || *p == '[';
        p += *p == '[';
        const size_t length = strcspn(p, " ]"), name = strcspn(p, " ].|");
        const bool dots = length >= 3 && strncmp(p + length - 3, "...", 3) == 0;
        if (*p == '-' || strncmp(p, "options]", 8) == 0)
            break;
        help_argument *last = count ? &out[count - 1] : NULL;
        const bool again = last && strlen(last->name) == name && strncmp(last->name, p, name) == 0;
        if (name > 0 && !again) {
            last = &out[count++];
            *last = (help_argument){.optional = optional};
            snprintf(last->name, sizeof last->name, "%.*s", (int)name, p);
        }
        last->several = last->several || dots;
        p += length;
        optional = optional && *p != ']';
        p += strspn(p, "] ");
    }
    return count;
}

static const px_field argument_fields[] = {
    PX_CHARS(help_argument, name, "name"),
    PX_FIELD(help_argument, optional, "optional"),
    PX_FIELD(help_argument, several, "several"),
    PX_FIELDS_END,
};

typedef struct command_row {
    cli_command command;
    const cli_option *options;
    help_argument arguments[ARGUMENTS_MAX];
    size_t argument_count;
} command_row;

static void result_write(const void *row, px_json *json)
{
    px_fields_describe(((const command_row *)row)->command.result, "result", json);
}

static const px_field command_fields[] = {
    PX_FIELD(command_row, command.name, "name"),
    PX_FIELD(command_row, command.help, "help"),
    PX_FIELD(command_row, command.details, "details"),
    PX_FIELD(command_row, command.usage, "usage"),
    PX_LIST_USED(command_row, arguments, argument_count, argument_fields, "arguments"),
    HELP_ITEMS(option_item, option_fields, command_row, options, "options"),
    HELP_ITEMS(line_item, word_fields, command_row, command.examples, "examples"),
    PX_WRITTEN(result_write, "result", PX_IF(command_row, command.result)),
    PX_FIELDS_END,
};

void help_json_command(const cli_command *command, const cli_option *options)
{
    command_row row = {.command = *command, .options = options};
    row.argument_count = arguments_of(command->usage, row.arguments);
    px_fields_json(command_fields, &row, cli_now()->described);
}

/* --- all of it ------------------------------------------------------------------------------- */

typedef struct help_all {
    const cli_command *only; /* NULL: all of them */
    int abi;
    int *status;
} help_all;

typedef struct self_row {
    const cli_command *command;
    int *status;
} self_row;

static const void *self_item(const void *at, size_t i, void *row)
{
    const help_all *all = at;
    self_row *r = row;
    *r = (self_row){all->only ? i ? NULL : all->only : cli_commands[i], all->status};
    return r->command && *all->status == CLI_DONE ? r : NULL;
}

/* Options are known while a command runs: each has help_json_command() called. */
static void self_write(const void *at, px_json *json)
{
    const self_row *r = at;
    cli_now()->described = json;
    *r->status = cli_form_print(r->command, "--help-json");
    cli_now()->described = NULL;
}

static const px_field self_fields[] = {
    PX_WRITTEN(self_write, ""),
    PX_FIELDS_END,
};

static const void *status_item(const void *at, size_t i, void *row)
{
    (void)at;
    (void)row;
    return i < CLI_STATUS_COUNT ? &cli_statuses[i] : NULL;
}

typedef struct list_ids {
    const char *name, *ids;
    px_text text;
} list_ids;

static const void *list_item(const void *at, size_t i, void *row)
{
    list_ids *r = row;
    (void)at;
    if (i > 0)
        px_text_done(&r->text);
    *r = (list_ids){.name = list_name(i)};
    if (!r->name)
        return NULL;
    list_add_ids(r->name, " ", &r->text);
    r->ids = px_text_get(&r->text);
    return r;
}

static const px_field list_fields[] = {
    PX_FIELD(list_ids, name, "list"),
    HELP_ITEMS(word_item, word_fields, list_ids, ids, ""),
    PX_FIELDS_END,
};

static bool is_whole(const void *all)
{
    return !((const help_all *)all)->only;
}

static const px_field all_fields[] = {
    PX_FIELD(help_all, abi, "abi"),
    PX_LIST_MADE(self_item, self_fields, "commands"),
    PX_VALUES_MADE(status_item, const char *, "statuses"),
    PX_MAP_MADE(list_item, list_fields, "lists", .when = is_whole),
    PX_FIELDS_END,
};

int help_json(const cli_command *self, const cli_command *only)
{
    int status = CLI_DONE;
    const help_all all = {only, px_abi_version(), &status};
    return cli_print_result(self, all_fields, &all);
}
