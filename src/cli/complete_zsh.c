/* src/cli/complete_zsh.c - completion for zsh */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

#include <stdio.h>

/* In a specification of _arguments, brackets and colons have a meaning. */
static void zsh_text(const char *text)
{
    complete_quote(text, "'\\''", "[]:\\");
}

static void zsh_list(const char *list, const char *ids)
{
    cli_print("    %s '%s'\n", list, ids);
}

static void zsh_begin(void)
{
    fputs("#compdef plexor\n"
          "# zsh completion for plexor, written by 'plexor help --completion zsh'\n\n"
          "typeset -gA _plexor_lists=(\n",
          cli_out());
    complete_lists(zsh_list);
    fputs(
        ")\n\n"
        "# PATHS COMMAS LIST WORD...: offers ids of LIST, words, and files of some kind. Of what\n"
        "# is joined by commas, the last is completed.\n"
        "_plexor_offer()\n{\n"
        "    local paths=$1 commas=$2 ret=1\n"
        "    local -a words_offered=(${=_plexor_lists[$3]} $argv[4,-1])\n"
        "    if (( $#words_offered )); then\n"
        "        [[ $commas == yes ]] && compset -P '*,'\n"
        "        compadd -a words_offered && ret=0\n"
        "    fi\n"
        "    case $paths in\n"
        "    files) _files && ret=0 ;;\n"
        "    folders) _files -/ && ret=0 ;;\n"
        "    models) _files -g '*.onnx' && ret=0 ;;\n"
        "    esac\n"
        "    return ret\n"
        "}\n\n",
        cli_out());
}

/* The space before the action keeps _arguments from adding words of its own to it. */
static void zsh_action(const char *message, const complete_value *value)
{
    static const char *const paths[] = {"none", "files", "folders", "models"};
    fputc(':', cli_out());
    zsh_text(message);
    cli_print(": _plexor_offer %s %s \"%s\"%s'", paths[value->paths], value->commas ? "yes" : "no",
              value->list, px_text_get(&value->words));
}

static void zsh_option(const cli_option *option)
{
    const bool takes = option->kind != CLI_KIND_FLAG;
    fputs(" \\\n        ", cli_out());
    if (option->kind == CLI_KIND_LIST)
        fputs("'*'", cli_out());
    else if (option->letter)
        cli_print("'(-%c --%s)'", option->letter, option->name);
    if (option->letter)
        cli_print("{-%c%s,--%s%s}", option->letter, takes ? "+" : "", option->name,
                  takes ? "=" : "");
    else
        cli_print("--%s%s", option->name, takes ? "=" : "");
    fputs("'[", cli_out());
    zsh_text(option->help);
    fputc(']', cli_out());
    if (takes) {
        complete_value value;
        complete_option(option, &value);
        zsh_action(option->argument, &value);
        complete_done(&value);
    } else {
        fputc('\'', cli_out());
    }
}

void complete_print_zsh(const cli_command *command, const cli_option *options)
{
    cli_print("_plexor_%s()\n{\n    _arguments -s -S", command->name);
    for (const cli_option *o = options; o->name; o++)
        zsh_option(o);
    zsh_option(&cli_help_option);
    complete_value value;
    complete_command(command, &value);
    if (value.paths || value.words.length || *value.list) {
        fputs(" \\\n        '*", cli_out());
        zsh_action("argument", &value);
    }
    fputs("\n}\n\n", cli_out());
    complete_done(&value);
}

static void zsh_end(void)
{
    fputs("_plexor()\n{\n"
          "    local context state state_descr line\n    typeset -A opt_args\n"
          "    local -a commands=(\n",
          cli_out());
    for (size_t i = 0; cli_commands[i]; i++) {
        cli_print("        '%s:", cli_commands[i]->name);
        complete_quote(cli_commands[i]->help, "'\\''", ":\\");
        fputs("'\n", cli_out());
    }
    fputs("    )\n"
          "    _arguments -C '(- *)'{-h,--help}'[list the commands]' \\\n"
          "        '(- *)'{-V,--version}'[print the version]' \\\n"
          "        '1:command:->command' '*::argument:->argument'\n"
          "    case $state in\n"
          "    command) _describe -t commands command commands ;;\n"
          "    argument) (( $+functions[_plexor_$words[1]] )) && _plexor_$words[1] ;;\n"
          "    esac\n"
          "}\n\n_plexor \"$@\"\n",
          cli_out());
}

const cli_shell complete_shell_zsh = {"zsh", "--help-zsh", zsh_begin, zsh_end};
