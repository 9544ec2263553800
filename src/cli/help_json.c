/* src/cli/help_json.c - plexor help --json: commands, options and results, for programs that call
 */
#include "cli/cli_help.h"
#include "cli/complete.h"
#include "cli/list.h"

#include <internal/field.h>
#include <math.h>
#include <string.h>

/* --- options --------------------------------------------------------------------------------- */

static void json_words(px_json *json, const char *key, const char *words)
{
    px_json_array(json, key);
    while (*(words += strspn(words, " \n"))) {
        px_text word = {0};
        const size_t length = strcspn(words, " \n");
        px_text_add_bytes(&word, words, length);
        px_json_string(json, NULL, px_text_get(&word));
        px_text_done(&word);
        words += length;
    }
    px_json_end(json);
}

/* null: none that could be told, as of an option that is not given or follows from others. */
static void json_default(px_json *json, const cli_option *o)
{
    const int64_t whole = o->kind == CLI_KIND_INT ? *(const int64_t *)o->target : 0;
    const double real = o->kind == CLI_KIND_REAL ? *(const double *)o->target : 0.0;
    switch (o->kind) {
    case CLI_KIND_STRING:
        px_json_string(json, "default", *(const char *const *)o->target);
        break;
    case CLI_KIND_FLAG:
        px_json_bool(json, "default", o->target && *(const bool *)o->target);
        break;
    case CLI_KIND_INT:
        if ((double)whole >= o->least)
            px_json_int(json, "default", whole);
        else
            px_json_null(json, "default");
        break;
    case CLI_KIND_REAL:
        px_json_real(json, "default", real >= o->least ? real : (double)NAN);
        break;
    case CLI_KIND_LIST:
        px_json_null(json, "default");
        break;
    }
}

/* What may be given: words, the ids of a list, several of either with commas, files. */
static void json_values(px_json *json, complete_value *value)
{
    static const char *const paths[] = {
        [COMPLETE_FILES] = "file", [COMPLETE_FOLDERS] = "folder", [COMPLETE_MODELS] = "model"};
    if (value->words.length)
        json_words(json, "choices", px_text_get(&value->words));
    if (*value->list)
        px_json_string(json, "list", value->list);
    if (value->commas)
        px_json_bool(json, "several", true);
    if (value->paths != COMPLETE_NO_PATHS)
        px_json_string(json, "path", paths[value->paths]);
    complete_done(value);
}

static void json_option(px_json *json, const cli_option *o)
{
    static const char *const kinds[] = {[CLI_KIND_STRING] = "text",
                                        [CLI_KIND_LIST] = "texts",
                                        [CLI_KIND_REAL] = "number",
                                        [CLI_KIND_INT] = "integer",
                                        [CLI_KIND_FLAG] = "flag"};
    const char letter[] = {o->letter, '\0'};
    px_json_object(json, NULL);
    px_json_string(json, "name", o->name);
    px_json_string(json, "letter", o->letter ? letter : NULL);
    px_json_string(json, "kind", kinds[o->kind]);
    px_json_string(json, "argument", o->argument);
    json_default(json, o);
    if (o->kind == CLI_KIND_INT || o->kind == CLI_KIND_REAL) {
        px_json_real(json, "min", o->least);
        px_json_real(json, "max", o->most);
    }
    complete_value value;
    complete_option(o, &value);
    json_values(json, &value);
    px_json_string(json, "help", o->help);
    px_json_end(json);
}

/* --- commands -------------------------------------------------------------------------------- */

enum { ARGUMENTS_MAX = 8, ARGUMENT_TEXT = 32 };
typedef struct help_argument {
    char name[ARGUMENT_TEXT];
    bool optional, several;
} help_argument;

/* The words before the first option: "MODEL IMAGE [IMAGE2] [--data SPEC]", "TEXT [TEXT ...]". */
static int arguments_of(const char *usage, help_argument out[ARGUMENTS_MAX])
{
    int count = 0;
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

static void json_arguments(px_json *json, const char *usage)
{
    help_argument arguments[ARGUMENTS_MAX];
    const int count = arguments_of(usage, arguments);
    px_json_array(json, "arguments");
    for (int i = 0; i < count; i++) {
        px_json_object(json, NULL);
        px_json_string(json, "name", arguments[i].name);
        px_json_bool(json, "optional", arguments[i].optional);
        px_json_bool(json, "several", arguments[i].several);
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_examples(px_json *json, const char *examples)
{
    px_json_array(json, "examples");
    for (const char *p = examples; p && *p; p += strcspn(p, "\n") + 1) {
        px_text line = {0};
        px_text_add_bytes(&line, p, strcspn(p, "\n"));
        px_json_string(json, NULL, px_text_get(&line));
        px_text_done(&line);
    }
    px_json_end(json);
}

void help_json_command(const cli_command *command, const cli_option *options)
{
    px_json *json = cli_now()->described;
    px_json_object(json, NULL);
    px_json_string(json, "name", command->name);
    px_json_string(json, "help", command->help);
    px_json_string(json, "details", command->details);
    px_json_string(json, "usage", command->usage);
    json_arguments(json, command->usage);
    px_json_array(json, "options");
    for (const cli_option *o = options; o->name; o++)
        json_option(json, o);
    json_option(json, &cli_help_option);
    px_json_end(json);
    json_examples(json, command->examples);
    if (command->result) {
        px_json_array(json, "result");
        px_fields_describe(command->result, json);
        px_json_end(json);
    }
    px_json_end(json);
}

/* --- all of it ------------------------------------------------------------------------------- */

static void json_lists(px_json *json)
{
    px_json_object(json, "lists");
    for (size_t i = 0; list_name(i); i++) {
        px_text ids = {0};
        list_add_ids(list_name(i), " ", &ids);
        json_words(json, list_name(i), px_text_get(&ids));
        px_text_done(&ids);
    }
    px_json_end(json);
}

int help_json(const cli_command *self, const cli_command *only)
{
    px_json json = {0};
    cli_json_open(&json);
    px_json_int(&json, "abi", px_abi_version());
    px_json_array(&json, "commands");
    cli_now()->described = &json;
    int status = CLI_DONE;
    for (size_t i = 0; cli_commands[i] && status == CLI_DONE; i++)
        if (!only || only == cli_commands[i])
            status = cli_form_print(cli_commands[i], "--help-json");
    cli_now()->described = NULL;
    px_json_end(&json);
    px_json_array(&json, "statuses");
    for (int i = 0; i < CLI_STATUS_COUNT; i++)
        px_json_string(&json, NULL, cli_statuses[i]);
    px_json_end(&json);
    if (!only)
        json_lists(&json);
    px_json_end(&json);
    return cli_print_json(self, &json);
}
