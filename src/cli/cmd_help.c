/* src/cli/cmd_help.c - plexor help [COMMAND] */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_help.h"

#include <string.h>

static void help_overview(void)
{
    cli_print("plexor tests neural networks from the inside\n\n"
              "usage: plexor COMMAND [MODEL] [options]\n\ncommands:\n");
    cli_table *table = cli_table_new("ll");
    for (size_t i = 0; cli_commands[i]; i++) {
        cli_table_cell(table, "%s", cli_commands[i]->name);
        cli_table_cell(table, "%s", cli_commands[i]->help);
    }
    cli_table_print_free(table, "  ");
    cli_print("\n'plexor help COMMAND' explains one; MODEL is an ONNX file\n");
}

/* The whole script of a shell: every command prints its own part. */
static int help_completion(const cli_command *self, const char *name)
{
    const cli_shell *shell = NULL;
    for (size_t i = 0; !shell && cli_shell_get(i); i++)
        if (strcmp(cli_shell_get(i)->name, name) == 0)
            shell = cli_shell_get(i);
    if (!shell)
        return cli_usage_error(self, "--completion is bash, zsh or fish, not '%.60s'", name);
    shell->begin();
    for (size_t i = 0; cli_commands[i]; i++) {
        const int status = cli_form_print(cli_commands[i], shell->word);
        if (status != CLI_DONE)
            return status;
    }
    shell->end();
    return CLI_DONE;
}

static int help_run(const cli_command *self, int argc, char **argv)
{
    bool man = false, json = false;
    const char *name = NULL, *shell = NULL;
    const cli_option options[] = {
        CLI_FLAG(0, "man", &man, "as a manual page (roff) on stdout"),
        CLI_FLAG(0, "json", &json, "all commands with their options and results, or one, as JSON"),
        CLI_STRING(0, "completion", &shell, "bash|zsh|fish",
                   "the script that completes plexor's words in this shell, on stdout"),
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &name, 0, 1));
    if (man && json)
        return cli_usage_error(self, "--man and --json exclude each other");
    if (shell && (name || man || json))
        return cli_usage_error(self, "--completion is for all commands, and goes alone");
    if (shell)
        return help_completion(self, shell);
    if (!name && json)
        return help_json(self, NULL);
    if (!name) {
        if (man)
            cli_print_man_overview();
        else
            help_overview();
        return CLI_DONE;
    }
    const cli_command *command = cli_command_find(name);
    if (!command)
        return cli_usage_error(self, "there is no command '%s'; 'plexor help' lists them", name);
    if (json)
        return help_json(self, command);
    return cli_form_print(command, man ? "--help-man" : "--help");
}

const cli_command cli_command_help = {
    .name = "help",
    .usage = "[COMMAND] [--man | --json] [--completion SHELL]",
    .help = "explain a command",
    .details = "What is installed has manual pages (man plexor-eval) and completion for bash, zsh "
               "and fish already. For a program that is not installed, bash takes it with: "
               "source <(plexor help --completion bash)\n"
               "With --json everything that other programs need to know of commands is one object: "
               "words, options with their kinds, defaults, bounds and choices, the fields of "
               "results, and the ids of all lists.",
    .examples = "plexor help cover\nplexor help eval --man | man -l -\n"
                "plexor help --completion fish >plexor.fish\nplexor help eval --json\n",
    .run = help_run,
};
