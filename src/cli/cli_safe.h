/* src/cli/cli_safe.h - text of strangers on a terminal
 *
 * Names of files, layers and classes, and metadata, may hold escape sequences that set a window's
 * title, or worse. Control characters but for line ends and tabs, and bytes that are no UTF-8, are
 * printed as \xNN.
 */
#ifndef PLEXOR_CLI_SAFE_H
#define PLEXOR_CLI_SAFE_H

#include <stdio.h>

/* From here on everything printed on stdout goes through it. */
void cli_safe_stdout(void);
/* The same for one text. */
void cli_safe_text(FILE *to, const char *text);

#endif
