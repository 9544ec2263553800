/* src/cli/cli_fields.h - results by the tables of their fields: as JSON and as tables for people
 *
 *     static const px_field clever_fields[] = {...};                  // the command's result
 *     static void clever_print(const void *report);                   // for people
 *     ...
 *     const int rc = cli_answer(self, status, &err, &report, clever_print);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_FIELDS_H
#define PLEXOR_CLI_FIELDS_H

#include "cli/cli.h"

#include <internal/field.h>

/* The object that a command prints: version, command line and the record's fields. */
void cli_result_json(const px_field *fields, const void *record, px_json *json);
int cli_print_result(const cli_command *self, const px_field *fields, const void *record);

/* A record as it was asked for: in JSON by its fields, or as `print` shows it to people. */
typedef void cli_print_fn(const void *record);
int cli_show(const cli_command *self, const px_field *fields, const void *record,
             cli_print_fn *print);
/* The end of most commands: why it failed, or its result, whose fields the command names. */
int cli_answer(const cli_command *self, px_status status, const px_error *err, const void *record,
               cli_print_fn *print);

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
