/* src/cli/list.h - what 'plexor list' is put together from
 *
 * A list is a field: its key is the word behind 'plexor list', its items have their names in their
 * first field. Lists that are shown together are an object in place, and the first one's name is
 * theirs.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_LIST_H
#define PLEXOR_CLI_LIST_H

#include <plexor/field.h>

extern const px_field list_tables[]; /* of the library; list_tables.c */
extern const px_field list_words[];  /* of lists of words, which need not be ids */
const char *list_key(const px_field *list);
void list_print_table(const px_field *list);

/* For main(), before px_main(): a list that the library lacks, before another one. */
void list_add(const px_field *list, void (*print)(void), const char *before);

const char *list_name(size_t i); /* NULL: there are no more lists */
/* Adds the ids of a list, each with `before` in front. What is no id but says what form a word
 * has, as FOLDER, is left out. */
void list_add_ids(const char *list, const char *before, px_text *out);

#endif
