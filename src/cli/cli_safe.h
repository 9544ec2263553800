/* src/cli/cli_safe.h - text of strangers on a terminal
 *
 * Names of files, layers and classes, and metadata, may hold escape sequences that set a window's
 * title, or worse. Control characters but for line ends and tabs, and bytes that are no UTF-8, are
 * printed as \xNN.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_SAFE_H
#define PLEXOR_CLI_SAFE_H

#include <plexor/text.h>
#include <stdio.h>

enum { CLI_SAFE_CHARACTER = 4, CLI_SAFE_BUFFER = 1 << 16 }; /* bytes */
typedef struct cli_safe {
    unsigned char held[CLI_SAFE_CHARACTER]; /* the beginning of a character */
    size_t held_count;
    px_text *text;
    char buffer[CLI_SAFE_BUFFER];
} cli_safe;

/* What is printed on the stream goes to `text`, or to standard output where that is NULL. NULL when
 * out of memory; fclose() it, after which *stream may go. */
FILE *cli_safe_open(cli_safe *stream, px_text *text);
/* One text, printed that way. */
void cli_safe_text(FILE *to, const char *text);

#endif
