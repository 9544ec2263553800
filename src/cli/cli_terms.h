/* src/cli/cli_terms.h - plexor's words, and what the heads of its tables stand for */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_TERMS_H
#define PLEXOR_CLI_TERMS_H

#include <stddef.h>

typedef struct cli_term {
    const char *name, *meaning;
} cli_term;

/* docs/glossary.md has the same two tables; a test compares them. */
const cli_term *cli_term_get(size_t i); /* a word; NULL beyond the last */
const cli_term *cli_head_get(size_t i); /* the head of a column, or a row's name; likewise */

/* Prints a line below a table: what these heads mean. `heads` has blanks between. */
void cli_explain_heads(const char *heads);

#endif
