/* src/cli/cli_help.c - --help, from the option tables */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_help.h"

#include <internal/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const cli_option cli_help_option = {'h', "help", CLI_KIND_FLAG, NULL, NULL, "show this help", 0, 0};

const char *const cli_statuses[CLI_STATUS_COUNT] = {
    "done",
    "a gate you asked for did not hold",
    "wrong usage, or a file plexor cannot use; the message says which and why",
    "trouble: disk, memory, interrupted, internal",
};

/* A default below the least that may be given stands for "not given". */
void cli_help_default(const cli_option *option, px_text *out)
{
    char number[PX_REAL_TEXT], word[CLI_CHOICE_TEXT];
    if (option->kind == CLI_KIND_STRING && *(const char **)option->target)
        px_text_format(out, " (default %s)", *(const char **)option->target);
    else if (option->kind == CLI_KIND_CHOICE && *(int *)option->target >= 0)
        px_text_format(out, " (default %s)",
                       cli_choice_word(option->argument, *(int *)option->target, word));
    else if (option->kind == CLI_KIND_INT && *(int64_t *)option->target &&
             (double)*(int64_t *)option->target >= option->least)
        px_text_format(out, " (default %" PRId64 ")", *(int64_t *)option->target);
    else if (option->kind == CLI_KIND_REAL && *(double *)option->target != 0.0 &&
             *(double *)option->target >= option->least)
        px_text_format(out, " (default %s)", px_real_text(*(double *)option->target, number));
}

/* Prints words broken at 80 columns behind an indent; the cursor stands at `column`. */
static void help_wrap(const char *words, int indent, int column)
{
    const char *p = words;
    while (*p) {
        if (*p == '\n') {
            cli_print("\n%*s", indent, "");
            column = indent;
            p++;
            continue;
        }
        const int length = (int)strcspn(p, " \n");
        if (column > indent && column + 1 + length > 80) {
            cli_print("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', cli_out());
            column++;
        }
        cli_print("%.*s", length, p);
        column += length;
        p += length;
        while (*p == ' ')
            p++;
    }
    fputc('\n', cli_out());
}

static void help_print_option(const cli_option *option)
{
    enum { INDENT = 28 };
    px_text left = {0}, right = {0};
    if (option->letter)
        px_text_format(&left, "  -%c, --%s", option->letter, option->name);
    else
        px_text_format(&left, "      --%s", option->name);
    if (option->argument)
        px_text_format(&left, " %s", option->argument);
    px_text_add(&right, option->help);
    cli_help_default(option, &right);
    cli_print("%-*s", INDENT, px_text_get(&left));
    if (left.length >= INDENT)
        cli_print("\n%*s", INDENT, "");
    help_wrap(px_text_get(&right), INDENT, INDENT);
    px_text_done(&left);
    px_text_done(&right);
}

static void help_example(const char *line, bool first)
{
    fputs(first ? "\nexamples:\n  " : "  ", cli_out());
    fwrite(line, 1, strcspn(line, "\n"), cli_out());
    fputc('\n', cli_out());
}

void cli_print_help(const cli_command *command, const cli_option *options)
{
    cli_print("usage: plexor %s %s\n\n", command->name, command->usage);
    help_wrap(command->help, 0, 0);
    if (command->details) {
        fputc('\n', cli_out());
        help_wrap(command->details, 0, 0);
    }
    cli_print("\noptions:\n");
    for (const cli_option *o = options; o->name; o++)
        help_print_option(o);
    help_print_option(&cli_help_option);
    if (command->examples)
        for (const char *p = command->examples; *p; p += strcspn(p, "\n") + 1)
            help_example(p, p == command->examples);
    cli_print("\nexit status:\n");
    for (int i = 0; i < CLI_STATUS_COUNT; i++)
        cli_print("  %d  %s\n", i, cli_statuses[i]);
}
