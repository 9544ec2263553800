/* src/cli/list.h - what 'plexor list' is put together from */
#ifndef PLEXOR_CLI_LIST_H
#define PLEXOR_CLI_LIST_H

#include <internal/optimizer.h>
#include <plexor/json.h>
#include <plexor/registry.h>
#include <plexor/text.h>

typedef struct list_column { /* of the table that a registry is printed as */
    const char *title;       /* NULL: the kind; "": the table has no titles */
    void (*cell)(const px_entry *entry, px_text *text); /* NULL: the end of the columns */
} list_column;

typedef struct list_look { /* how a registry is shown */
    const px_registry *registry;
    const list_column *columns;
    void (*json)(const px_entry *entry, px_json *json); /* members behind the name */
    px_entry common;    /* a last row: settings of all; id NULL: there are none */
    const char *remark; /* below the table; NULL: none */
} list_look;

extern const list_look list_criteria, list_presets, list_measures, list_engines, list_policies,
    list_selectors, list_attacks, list_metrics;

typedef struct list_row {
    const char *name, *help;
} list_row;

typedef struct list_kind {   /* rows, choices, a registry or both functions */
    const char *name, *help; /* a registry has its own */
    const list_row *rows;    /* the last one has no name */
    const px_choice *(*choices)(size_t i);
    const list_look *look;
    void (*print)(void);
    void (*json)(px_json *json);
    const char *(*id)(size_t i); /* of what has functions; NULL: there are no more */
} list_kind;
/* For main(), before px_main(): a list that the library lacks, before another one. */
void list_add(const list_kind *kind, const char *before);

void list_print_registry(const list_look *look);
void list_json_registry(const list_look *look, px_json *json);
/* "name", "default", "choices" or bounds, and "help" of each, in an array. */
void list_json_params(const px_param *params, const char *key, px_json *json);
/* "kernel=exact (exact|pil)" */
void list_param_text(const px_param *param, px_text *text);

/* Lists of other shapes (list_more.c, list_mutations.c). */
void list_print_ops(void);
void list_json_ops(px_json *json);
void list_print_archs(void);
void list_json_archs(px_json *json);
void list_print_recipes(void);
void list_json_recipes(px_json *json);
void list_print_gates(void);
void list_json_gates(px_json *json);
void list_print_audio(void);
void list_json_audio(px_json *json);
void list_print_preprocess(void);
void list_json_preprocess(px_json *json);
void list_print_mutations(void);
void list_json_mutations(px_json *json);

const char *list_name(size_t i); /* NULL: there are no more lists */
/* Adds the ids of a list, each with `before` in front. What is no id but says what form a word
 * has, as FOLDER, is left out. */
void list_add_ids(const char *list, const char *before, px_text *out);

#endif
