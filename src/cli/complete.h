/* src/cli/complete.h - what may follow an option or a command, for the completion of shells
 *
 * Nothing is written down for completion alone. An option's argument says whether it is a file
 * ("FILE.csv"), a folder, a network or one of some words ("l2|linf"), and help that names a list
 * ("'plexor list criteria'") says that its ids may be given; "'plexor list studies' has them" only
 * says where to read on.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_COMPLETE_H
#define PLEXOR_CLI_COMPLETE_H

#include "cli/cli_help.h"

typedef enum complete_paths { /* which files are offered */
                              COMPLETE_NO_PATHS,
                              COMPLETE_FILES,
                              COMPLETE_FOLDERS,
                              COMPLETE_MODELS, /* ONNX files */
} complete_paths;

enum { COMPLETE_LIST_MAX = 32 };
typedef struct complete_value {
    char list[COMPLETE_LIST_MAX]; /* whose ids may be given; "": none */
    px_text words;                /* others, each with a space before it */
    complete_paths paths;
    bool commas; /* several, joined by commas */
} complete_value;

void complete_option(const cli_option *option, complete_value *out);
/* The words that follow the command's name. */
void complete_command(const cli_command *command, complete_value *out);
void complete_done(complete_value *value);

/* Calls `each` for every list with ids. */
void complete_lists(void (*each)(const char *list, const char *ids));

/* Prints `text` between single quotes of a shell; in `escaped` are letters that take a backslash.
 */
void complete_quote(const char *text, const char *quote, const char *escaped);

void complete_print_bash(const cli_command *command, const cli_option *options);
void complete_print_zsh(const cli_command *command, const cli_option *options);
void complete_print_fish(const cli_command *command, const cli_option *options);
extern const cli_shell complete_shell_bash, complete_shell_zsh, complete_shell_fish;

#endif
