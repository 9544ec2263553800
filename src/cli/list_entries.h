/* src/cli/list_entries.h - lists of what has a name, a source and settings */
#ifndef PLEXOR_CLI_LIST_ENTRIES_H
#define PLEXOR_CLI_LIST_ENTRIES_H

#include <plexor/json.h>
#include <plexor/param.h>
#include <stddef.h>

typedef struct list_entry {
    const char *id, *title, *source;
    const px_param *settings;
    size_t setting_count;
} list_entry;

typedef struct list_entries {
    const char *heading; /* of the first column */
    size_t (*count)(void);
    list_entry (*get)(size_t i);
    void (*more)(px_json *json, size_t i); /* members that only these have */
    list_entry (*common)(void);            /* printed last: settings of all; may be NULL */
} list_entries;

extern const list_entries list_criteria, list_selectors, list_attacks, list_engines;

void list_print_entries(const list_entries *entries);
void list_json_entries(px_json *json, const char *key, const list_entries *entries);

#endif
