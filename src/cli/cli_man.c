/* src/cli/cli_man.c - manual pages (roff, the man macros) from the option tables */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A leading dot or quote would be a request, a backslash an escape, a bare hyphen a dash; an empty
 * line begins a paragraph, any other end of a line is meant. */
static void man_words(const char *words)
{
    bool at_start = true;
    for (const char *p = words; *p; p++) {
        if (at_start && (*p == '.' || *p == '\''))
            fputs("\\&", cli_out());
        at_start = false;
        if (*p == '\\') {
            fputs("\\e", cli_out());
        } else if (*p == '-') {
            fputs("\\-", cli_out());
        } else if (*p != '\n') {
            fputc(*p, cli_out());
        } else {
            const size_t run = strspn(p, "\n");
            if (p[run])
                fputs(run > 1 ? "\n.PP\n" : "\n.br\n", cli_out());
            p += run - 1;
            at_start = true;
        }
    }
}

static void man_title(const char *name)
{
    fputs(".TH PLEXOR", cli_out());
    if (name)
        fputs("\\-", cli_out());
    for (const char *p = name; p && *p; p++)
        if (*p == '-')
            fputs("\\-", cli_out());
        else
            fputc(toupper((unsigned char)*p), cli_out());
    cli_print(" 1 \"\" \"plexor %s\" \"plexor manual\"\n", px_version());
}

static void man_option(const cli_option *option)
{
    px_text right = {0};
    px_text_add(&right, option->help);
    cli_help_default(option, &right);
    fputs(".TP\n\\fB", cli_out());
    if (option->letter)
        cli_print("\\-%c\\fR, \\fB", option->letter);
    fputs("\\-\\-", cli_out());
    man_words(option->name);
    fputs("\\fR", cli_out());
    if (option->argument) {
        fputs(" \\fI", cli_out());
        man_words(option->argument);
        fputs("\\fR", cli_out());
    }
    fputc('\n', cli_out());
    man_words(px_text_get(&right));
    fputc('\n', cli_out());
    px_text_done(&right);
}

static void man_statuses(void)
{
    fputs(".SH EXIT STATUS\n", cli_out());
    for (int i = 0; i < CLI_STATUS_COUNT; i++) {
        cli_print(".TP\n.B %d\n", i);
        man_words(cli_statuses[i]);
        fputc('\n', cli_out());
    }
}

static void man_examples(const char *lines)
{
    fputs(".SH EXAMPLES\n.nf\n", cli_out());
    for (const char *p = lines; *p;) {
        const size_t length = strcspn(p, "\n");
        px_text line = {0};
        px_text_add_bytes(&line, p, length);
        man_words(px_text_get(&line));
        fputc('\n', cli_out());
        px_text_done(&line);
        p += length + (p[length] != '\0');
    }
    fputs(".fi\n", cli_out());
}

void cli_print_man(const cli_command *command, const cli_option *options)
{
    man_title(command->name);
    fputs(".SH NAME\nplexor\\-", cli_out());
    man_words(command->name);
    fputs(" \\- ", cli_out());
    man_words(command->help);
    fputs("\n.SH SYNOPSIS\n.B plexor ", cli_out());
    man_words(command->name);
    fputs("\n", cli_out());
    man_words(command->usage);
    if (command->details) {
        fputs("\n.SH DESCRIPTION\n", cli_out());
        man_words(command->details);
    }
    fputs("\n.SH OPTIONS\n", cli_out());
    for (const cli_option *o = options; o->name; o++)
        man_option(o);
    man_option(&cli_help_option);
    if (command->examples)
        man_examples(command->examples);
    man_statuses();
    fputs(".SH SEE ALSO\n.BR plexor (1)\n", cli_out());
}

void cli_print_man_overview(void)
{
    man_title(NULL);
    fputs(".SH NAME\nplexor \\- test neural networks from the inside\n.SH SYNOPSIS\n"
          ".B plexor\n\\fICOMMAND\\fR [\\fIMODEL\\fR] [options]\n.SH DESCRIPTION\n"
          "plexor takes a trained classifier as an ONNX file and a data set, and looks at what "
          "every neuron does.\nEach command has a manual page of its own, and\n"
          ".B plexor help\n\\fICOMMAND\\fR\nexplains it too.\n.SH COMMANDS\n",
          cli_out());
    for (size_t i = 0; cli_commands[i]; i++) {
        fputs(".TP\n.BR plexor\\-", cli_out());
        man_words(cli_commands[i]->name);
        fputs(" (1)\n", cli_out());
        man_words(cli_commands[i]->help);
        fputc('\n', cli_out());
    }
    man_statuses();
    fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif it is set, nothing is coloured\n", cli_out());
    fputs(".SH SEE ALSO\n", cli_out());
    for (size_t i = 0; cli_commands[i]; i++) {
        fputs(".BR plexor\\-", cli_out());
        man_words(cli_commands[i]->name);
        cli_print(" (1)%s\n", cli_commands[i + 1] ? "," : "");
    }
}
