/* src/cli/complete.c - what an option's argument and help say about its values */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

#include "cli/list.h"

#include <plexor/mutate.h>
#include <stdio.h>
#include <string.h>

static bool complete_is_word(const char *p, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '0' && p[i] <= '9') || p[i] == '-'))
            return false;
    return length > 0 && p[0] != '-';
}

/* The paths that a placeholder such as FILE.csv or [NAME=]FILE stands for. */
static complete_paths complete_placeholder(const char *p, size_t length)
{
    static const struct {
        const char *name;
        complete_paths paths;
    } names[] = {
        {"MODEL", COMPLETE_MODELS},     {"SPEC", COMPLETE_FILES},  {"FILE", COMPLETE_FILES},
        {"PATH", COMPLETE_FILES},       {"NEW", COMPLETE_FOLDERS}, {"OUT", COMPLETE_FILES},
        {"CAMPAIGN", COMPLETE_FOLDERS}, {"DIR", COMPLETE_FOLDERS}, {"FOLDER", COMPLETE_FOLDERS},
        {".state", COMPLETE_FILES},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (memmem(p, length, names[i].name, strlen(names[i].name)))
            return names[i].paths;
    return COMPLETE_NO_PATHS;
}

/* "LIST|all", "FILE.csv|FOLDER", "l2|linf". A word that follows a bracket, as in fixed[:SHARE],
 * is not whole and not offered. */
static void complete_argument(const char *argument, complete_value *out)
{
    out->commas = strncmp(argument, "LIST", 4) == 0;
    for (const char *p = argument; *p;) {
        const size_t length = strcspn(p, "|");
        const complete_paths paths = complete_placeholder(p, length);
        if (complete_is_word(p, length)) {
            px_text_add(&out->words, " ");
            px_text_add_bytes(&out->words, p, length);
        } else if (paths) { /* files are folders too */
            out->paths = out->paths && out->paths != paths ? COMPLETE_FILES : paths;
        }
        p += length + (p[length] == '|');
    }
}

static void complete_find_list(const char *help, complete_value *out)
{
    static const char *const mark = "plexor list ";
    const char *p = help ? strstr(help, mark) : NULL;
    if (!p)
        return;
    p += strlen(mark);
    const size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyz-");
    if (length < COMPLETE_LIST_MAX && strncmp(p + length, "' has", 5) != 0) {
        memcpy(out->list, p, length);
        out->list[length] = '\0';
    }
}

void complete_option(const cli_option *option, complete_value *out)
{
    *out = (complete_value){0};
    if (option->kind == CLI_KIND_FLAG)
        return;
    if (option->argument)
        complete_argument(option->argument, out);
    if (option->kind != CLI_KIND_STRING && option->kind != CLI_KIND_LIST)
        return;
    if (strcmp(option->argument, "NAME=X,...") == 0)
        out->commas = true; /* names of a list, which a number follows */
    else if (strchr(option->argument, '=') || strcmp(option->argument, "SETTINGS") == 0)
        return; /* NAME=VALUE: an id alone is not yet a value */
    complete_find_list(option->help, out);
    if (strcmp(out->list, "mutations") == 0 && strcmp(option->argument, "SET") == 0) {
        out->list[0] = '\0'; /* that list has both, mutations and sets of them */
        for (size_t i = 0; i < px_mutation_set_count(); i++)
            px_text_format(&out->words, " %s", px_mutation_set_get(i)->entry.id);
    }
}

/* Up to the first option: "MODEL --data SPEC", "[COMMAND] [--man]", "[LIST]". */
void complete_command(const cli_command *command, complete_value *out)
{
    *out = (complete_value){0};
    const char *p = command->usage + (*command->usage == '[');
    if (strncmp(p, "COMMAND]", 8) == 0) {
        for (size_t i = 0; cli_commands[i]; i++)
            px_text_format(&out->words, " %s", cli_commands[i]->name);
        return;
    }
    if (strncmp(p, "LIST]", 5) == 0) {
        for (size_t i = 0; list_name(i); i++)
            px_text_format(&out->words, " %s", list_name(i));
        return;
    }
    if (*p == '-')
        return;
    px_text first = {0};
    px_text_add_bytes(&first, p, strcspn(p, " ]"));
    complete_argument(px_text_get(&first), out);
    px_text_done(&first);
    if (out->paths == COMPLETE_NO_PATHS && !out->words.length)
        complete_find_list(command->details, out);
}

void complete_done(complete_value *value)
{
    px_text_done(&value->words);
}

void complete_lists(void (*each)(const char *list, const char *ids))
{
    for (size_t i = 0; list_name(i); i++) {
        px_text ids = {0};
        list_add_ids(list_name(i), " ", &ids);
        each(list_name(i), ids.length ? px_text_get(&ids) + 1 : "");
        px_text_done(&ids);
    }
}

void complete_quote(const char *text, const char *quote, const char *escaped)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'') {
            fputs(quote, cli_out());
        } else if (*p == '\n') {
            fputc(' ', cli_out());
        } else {
            if (strchr(escaped, *p))
                fputc('\\', cli_out());
            fputc(*p, cli_out());
        }
    }
}

static const cli_form forms[] = {
    {"--help", cli_print_help},         {"-h", cli_print_help},
    {"--help-man", cli_print_man},      {"--help-bash", complete_print_bash},
    {"--help-zsh", complete_print_zsh}, {"--help-fish", complete_print_fish},
    {"--help-json", help_json_command},
};

const cli_form *cli_form_find(const char *word)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].word, word) == 0 &&
            (forms[i].print != help_json_command || cli_now()->described))
            return &forms[i];
    return NULL;
}

int cli_form_print(const cli_command *command, const char *word)
{
    char name[32], option[32];
    snprintf(name, sizeof name, "%s", command->name);
    snprintf(option, sizeof option, "%s", word);
    char *arguments[] = {name, option, NULL};
    return command->run(command, 2, arguments);
}

const cli_shell *cli_shell_get(size_t i)
{
    static const cli_shell *const shells[] = {&complete_shell_bash, &complete_shell_zsh,
                                              &complete_shell_fish};
    return i < sizeof shells / sizeof shells[0] ? shells[i] : NULL;
}
