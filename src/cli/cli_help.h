/* src/cli/cli_help.h - the forms in which an option table is printed: help, manual page, completion
 *
 * A command's option table lives in its run function, so each form is asked for with a word of the
 * command line that only cli_parse() knows: "--help-man", "--help-bash" and so on.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_HELP_H
#define PLEXOR_CLI_HELP_H

#include "cli/cli.h"

#include <plexor/text.h>

enum { CLI_STATUS_COUNT = 4 };
extern const char *const cli_statuses[CLI_STATUS_COUNT]; /* what exit statuses mean */
extern const cli_option cli_help_option;                 /* --help, which every command has */

/* Adds " (default 5)", or nothing where there is no default worth telling. */
void cli_help_default(const cli_option *option, px_text *out);

/* The manual page of plexor itself. */
void cli_print_man_overview(void);

typedef struct cli_form {
    const char *word; /* of the command line: "--help-man" */
    void (*print)(const cli_command *command, const cli_option *options);
} cli_form;
/* NULL: `word` asks for no form. */
const cli_form *cli_form_find(const char *word);
/* Has the command print itself; an exit status. */
int cli_form_print(const cli_command *command, const char *word);

/* plexor help --json, of one command (NULL: all); and one command's part of it. */
int help_json(const cli_command *self, const cli_command *only);
void help_json_command(const cli_command *command, const cli_option *options);

typedef struct cli_shell { /* whose completion is written */
    const char *name;
    const char *word; /* the form of one command */
    void (*begin)(void);
    void (*end)(void);
} cli_shell;
const cli_shell *cli_shell_get(size_t i); /* NULL: there are no more */

#endif
