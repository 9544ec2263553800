/* src/cli/complete_bash.c - completion for bash; needs nothing of the package bash-completion */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

#include <stdio.h>

static void bash_list(const char *list, const char *ids)
{
    cli_print("    %s) ids='%s' ;;\n", list, ids);
}

static void bash_begin(void)
{
    fputs("# bash completion for plexor, written by 'plexor help --completion bash'\n\n"
          "_plexor_ids() # LIST: sets ids\n{\n    case $1 in\n",
          cli_out());
    complete_lists(bash_list);
    fputs(
        "    *) ids= ;;\n    esac\n}\n\n"
        /* bash breaks words at '=', so that --by=gini is three of them */
        "# PATHS COMMAS LIST WORD...: offers ids of LIST, words, and files of some kind. Of what\n"
        "# is joined by commas, the last is completed.\n"
        "_plexor_offer()\n{\n"
        "    local paths=$1 commas=$2 ids done=\n"
        "    _plexor_ids \"$3\"\n"
        "    shift 3\n"
        "    if [[ $commas == yes && $cur == *,* ]]; then\n"
        "        done=${cur%,*},\n"
        "    fi\n"
        "    mapfile -t COMPREPLY < <(compgen -P \"$done\" -W \"$ids $*\" -- "
        "\"${cur#\"$done\"}\")\n"
        "    case $paths in\n"
        "    files) mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
        "    folders) mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
        "    models) mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(\n"
        "        compgen -f -X '!*.onnx' -- \"$cur\"; compgen -d -- \"$cur\") ;;\n"
        "    none) return ;;\n"
        "    esac\n"
        "    compopt -o filenames 2>/dev/null\n"
        "}\n\n"
        "_plexor()\n{\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options=\n"
        "    COMPREPLY=()\n"
        "    if [[ $cur == = ]]; then\n        cur=\n"
        "    elif [[ $prev == = ]]; then\n        prev=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n"
        "    if ((COMP_CWORD == 1)); then\n"
        "        _plexor_offer none no '' --help --version",
        cli_out());
    for (size_t i = 0; cli_commands[i]; i++)
        cli_print(" \\\n            %s", cli_commands[i]->name);
    fputs("\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", cli_out());
}

static void bash_offer(const complete_value *value)
{
    static const char *const paths[] = {"none", "files", "folders", "models"};
    cli_print("_plexor_offer %s %s '%s'%s; return ;;\n", paths[value->paths],
              value->commas ? "yes" : "no", value->list, px_text_get(&value->words));
}

static void bash_option(const cli_option *option)
{
    if (option->kind == CLI_KIND_FLAG)
        return;
    complete_value value;
    complete_option(option, &value);
    fputs("        ", cli_out());
    if (option->letter)
        cli_print("-%c | ", option->letter);
    cli_print("--%s) ", option->name);
    bash_offer(&value);
    complete_done(&value);
}

void complete_print_bash(const cli_command *command, const cli_option *options)
{
    cli_print("    %s)\n        options='--help", command->name);
    for (const cli_option *o = options; o->name; o++)
        cli_print(" --%s", o->name);
    fputs("'\n        case $prev in\n", cli_out());
    for (const cli_option *o = options; o->name; o++)
        bash_option(o);
    complete_value value;
    complete_command(command, &value);
    fputs("        esac\n        case $cur in\n        -*) ;;\n        *) ", cli_out());
    bash_offer(&value);
    fputs("        esac ;;\n", cli_out());
    complete_done(&value);
}

static void bash_end(void)
{
    fputs("    *) return ;;\n    esac\n    _plexor_offer none no '' \"$options\"\n}\n\n"
          "complete -F _plexor plexor\n",
          cli_out());
}

const cli_shell complete_shell_bash = {"bash", "--help-bash", bash_begin, bash_end};
