/* src/cli/cli_fields.h - results by the tables of their fields: as JSON and as tables for people
 *
 *     static const px_field clever_fields[] = {...};
 *     if (a.output.json)
 *         return cli_print_result(self, clever_fields, &report);
 *     const int64_t count = cli_print_list(clever_fields, "inputs", &report, "", SHOWN_MOST);
 */
#ifndef PLEXOR_CLI_FIELDS_H
#define PLEXOR_CLI_FIELDS_H

#include "cli/cli.h"

#include <internal/field.h>

/* The object that a command prints: version, command line and the record's fields. */
void cli_result_json(const px_field *fields, const void *record, px_json *json);
int cli_print_result(const cli_command *self, const px_field *fields, const void *record);

/* A table of the items of the list or map `key` (px_field_find()): a column per field with a title,
 * but for those that are left out in every row; no heads where all titles are "". `most` rows at
 * most, 0: all. Returns how many items there are. */
int64_t cli_print_list(const px_field *fields, const char *key, const void *record,
                       const char *indent, int64_t most);

/* A line per field with a title, and beside it what it is in each of the records; `heads`, one per
 * record, may be NULL. A record that is NULL has no values. */
void cli_print_beside(const px_field *fields, const char *const *heads, const void *const *records,
                      size_t count);

#endif
