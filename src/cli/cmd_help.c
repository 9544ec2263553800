/* src/cli/cmd_help.c - plexor help [COMMAND] */
#include "cli/cli.h"

#include <plexor/system.h>
#include <stdio.h>

static void help_overview(void)
{
    printf("plexor tests neural networks from the inside\n\n"
           "usage: plexor COMMAND [MODEL] [options]\n\ncommands:\n");
    cli_table *table = cli_table_new("ll");
    for (size_t i = 0; cli_commands[i]; i++) {
        cli_table_cell(table, "%s", cli_commands[i]->name);
        cli_table_cell(table, "%s", cli_commands[i]->help);
    }
    cli_table_print_free(table, "  ");
    printf("\n'plexor help COMMAND' explains one; MODEL is an ONNX file\n");
}

static void help_overview_man(void)
{
    printf(
        ".TH PLEXOR 1 \"\" \"plexor %s\" \"plexor manual\"\n.SH NAME\n"
        "plexor \\- test neural networks from the inside\n.SH SYNOPSIS\n"
        ".B plexor\n\\fICOMMAND\\fR [\\fIMODEL\\fR] [options]\n.SH DESCRIPTION\n"
        "plexor takes a trained classifier as an ONNX file and a data set, and looks at what every "
        "neuron does.\n.SH COMMANDS\n",
        px_version());
    for (size_t i = 0; cli_commands[i]; i++)
        printf(".TP\n.BR plexor\\-%s (1)\n%s\n", cli_commands[i]->name, cli_commands[i]->help);
}

static int help_run(const cli_command *self, int argc, char **argv)
{
    bool man = false;
    const char *name = NULL;
    const cli_option options[] = {
        CLI_FLAG(0, "man", &man, "as a manual page (roff) on stdout"),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &name, 0, 1);
    if (stop != CLI_GO)
        return stop;
    if (!name) {
        if (man)
            help_overview_man();
        else
            help_overview();
        return CLI_DONE;
    }
    const cli_command *command = cli_command_find(name);
    if (!command)
        return cli_usage_error(self, "there is no command '%s'; 'plexor help' lists them", name);
    char option[] = "--help-man";
    if (!man)
        option[6] = '\0';
    char *arguments[] = {argv[0], option, NULL};
    return command->run(command, 2, arguments);
}

const cli_command cli_command_help = {
    .name = "help",
    .usage = "[COMMAND] [--man]",
    .help = "explain a command",
    .run = help_run,
};
