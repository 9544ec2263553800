/* src/cli/list_methods.h - lists of what can be chosen by name: items, and their fields */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_LIST_METHODS_H
#define PLEXOR_CLI_LIST_METHODS_H

#include "cli/list.h"

/* Items that a function gives by their place, NULL beyond the last: get##_item(). */
#define LIST_ITEMS(get)                                         \
    const void *get##_item(const void *at, size_t i, void *row) \
    {                                                           \
        (void)at;                                               \
        (void)row;                                              \
        return get(i);                                          \
    }
/* Items that a function gives as values. */
#define LIST_VALUES(noun)                                        \
    const void *noun##_item(const void *at, size_t i, void *row) \
    {                                                            \
        (void)at;                                                \
        if (i >= noun##_count())                                 \
            return NULL;                                         \
        *(noun *)row = noun##_get(i);                            \
        return row;                                              \
    }

#define LIST_ID(kind) PX_FIELD(px_entry, id, "name", "that commands take", .title = kind)
/* What a list is: its items, and the table of their fields. */
#define LIST_DECLARE(items, fields)                                \
    const void *items##_item(const void *at, size_t i, void *row); \
    extern const px_field fields[];
LIST_DECLARE(px_criterion_get, list_criterion_fields)
LIST_DECLARE(px_preset_get, list_preset_fields)
LIST_DECLARE(px_measure_get, list_measure_fields)
LIST_DECLARE(px_fuzz_policy_get, list_policy_fields)
LIST_DECLARE(px_selector_get, list_selector_fields)
LIST_DECLARE(px_attack_method_get, list_attack_fields)
LIST_DECLARE(px_metric_get, list_metric_fields)
extern const px_field list_engines[], list_mutations[], list_param_fields[];

void list_print_mutations(const px_field *list);
void list_add_words(const char *const *words, const char *between, px_text *text);

#endif
