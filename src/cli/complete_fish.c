/* src/cli/complete_fish.c - completion for fish */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

#include <stdio.h>

/* Between single quotes, fish takes a backslash before a quote and before itself. */
static void fish_text(const char *text)
{
    fputc('\'', cli_out());
    complete_quote(text, "\\'", "\\");
    fputc('\'', cli_out());
}

static void fish_list(const char *list, const char *ids)
{
    cli_print("    case %s\n        echo '%s'\n", list, ids);
}

static void fish_begin(void)
{
    fputs("# fish completion for plexor, written by 'plexor help --completion fish'\n\n"
          "function __plexor_ids --description 'LIST WORD...: its ids and the words'\n"
          "    switch $argv[1]\n",
          cli_out());
    complete_lists(fish_list);
    fputs(
        "    end | string split -n ' '\n"
        "    printf '%s\\n' $argv[2..]\n"
        "end\n\n"
        "function __plexor_commas --description 'the same, of what is joined by commas the last'\n"
        "    set -l done (commandline -ct | string replace -r '^-[^=]*=' '' "
        "| string match -r '^.*,')\n"
        "    for id in (__plexor_ids $argv)\n"
        "        echo \"$done$id\"\n"
        "    end\n"
        "end\n\n"
        "function __plexor_models --description 'ONNX files and folders'\n"
        "    __fish_complete_path (commandline -ct) | "
        "string match -r '^.*(?:\\.onnx|/)(?=\\t|$)'\n"
        "end\n\n"
        "function __plexor_command --description 'the command is this one'\n"
        "    set -l words (commandline -opc)\n"
        "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
        "end\n\n"
        "complete -c plexor -f\n"
        "set -l first 'test (count (commandline -opc)) -eq 1'\n"
        "complete -c plexor -n $first -s h -l help -d 'list the commands'\n"
        "complete -c plexor -n $first -s V -l version -d 'print the version'\n",
        cli_out());
    for (size_t i = 0; cli_commands[i]; i++) {
        cli_print("complete -c plexor -n $first -a %s -d ", cli_commands[i]->name);
        fish_text(cli_commands[i]->help);
        fputc('\n', cli_out());
    }
}

static void fish_values(const complete_value *value)
{
    if (*value->list || value->words.length)
        cli_print(" -a '(__plexor_%s %s%s)'", value->commas ? "commas" : "ids",
                  *value->list ? value->list : "none", px_text_get(&value->words));
    else if (value->paths == COMPLETE_FOLDERS)
        fputs(" -a '(__fish_complete_directories)'", cli_out());
    else if (value->paths == COMPLETE_MODELS)
        fputs(" -a '(__plexor_models)'", cli_out());
    if (value->paths == COMPLETE_FILES)
        fputs(" -F", cli_out());
}

static void fish_option(const cli_command *command, const cli_option *option)
{
    cli_print("complete -c plexor -n '__plexor_command %s'", command->name);
    if (option->letter)
        cli_print(" -s %c", option->letter);
    cli_print(" -l %s -d ", option->name);
    fish_text(option->help);
    if (option->kind != CLI_KIND_FLAG) {
        complete_value value;
        complete_option(option, &value);
        fputs(value.paths == COMPLETE_FILES ? " -r" : " -x", cli_out());
        fish_values(&value);
        complete_done(&value);
    }
    fputc('\n', cli_out());
}

void complete_print_fish(const cli_command *command, const cli_option *options)
{
    fputc('\n', cli_out());
    for (const cli_option *o = options; o->name; o++)
        fish_option(command, o);
    fish_option(command, &cli_help_option);
    complete_value value;
    complete_command(command, &value);
    if (value.paths || value.words.length || *value.list) {
        cli_print("complete -c plexor -n '__plexor_command %s'", command->name);
        fish_values(&value);
        fputc('\n', cli_out());
    }
    complete_done(&value);
}

static void fish_end(void)
{
}

const cli_shell complete_shell_fish = {"fish", "--help-fish", fish_begin, fish_end};
