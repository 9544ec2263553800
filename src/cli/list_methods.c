/* src/cli/list_methods.c - lists of methods: criteria, measures, engines, selectors, attacks, ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/list_methods.h"
#include "base/memory.h"
#include "cli/cli_fields.h"

#include <internal/assess.h>
#include <internal/fuzz.h>
#include <internal/mutate.h>
#include <internal/text.h>
#include <plexor/attack.h>
#include <plexor/cover.h>
#include <plexor/localize.h>
#include <plexor/select.h>
#include <stdio.h>
#include <string.h>

/* --- texts ----------------------------------------------------------------------------------- */

/* Of a list that NULL ends; `at` is the member that points to it. */
static const void *text_item(const void *at, size_t i, void *row)
{
    const char *const *texts = *(const char *const *const *)at;
    (void)row;
    return texts && texts[i] ? &texts[i] : NULL;
}

#define LIST_TEXTS(type, member, ...)                                    \
    {                                                                    \
        .kind = PX_FIELD_LIST, .fields = text_fields, .item = text_item, \
        PX_FIELD_PLACE(type, member), __VA_ARGS__                        \
    }
static const px_field text_fields[] = {
    {.kind = PX_FIELD_TEXT, .size = sizeof(char *), .key = ""},
    PX_FIELDS_END,
};

static px_datum text_taken(px_text *from, char *text)
{
    const px_datum said = px_datum_format(text, "%s", px_text_get(from));
    px_text_done(from);
    return said;
}

/* --- settings -------------------------------------------------------------------------------- */

static px_datum param_default(const void *at, char *text)
{
    const px_param *p = at;
    (void)text;
    return p->choices ? px_datum_text(p->choices[(size_t)p->def]) : px_datum_real(p->def);
}

static px_datum param_whole(const void *at, char *text)
{
    const px_param *p = at;
    (void)text;
    return px_datum_bool(p->type == PX_TYPE_INT);
}

static bool param_is_number(const void *param)
{
    return !((const px_param *)param)->choices;
}

const px_field list_param_fields[] = {
    PX_FIELD(px_param, name, "name", "of the setting"),
    PX_MADE(TEXT, param_default, "default", "a word, or a number"),
    LIST_TEXTS(px_param, choices, "choices", "words that it takes", .optional = true),
    PX_FIELD(px_param, min, "least", "number that it takes", .when = param_is_number),
    PX_FIELD(px_param, max, "most", "number that it takes", .when = param_is_number),
    PX_FIELD(px_param, help, "help", "what it is"),
    PX_FIELDS_END,
};

/* Mutations draw their settings. */
static const px_field drawn_fields[] = {
    PX_FIELD(px_param, name, "name", "of the parameter"),
    LIST_TEXTS(px_param, choices, "choices", "words that it takes", .optional = true),
    PX_FIELD(px_param, min, "least", "number that it takes", .when = param_is_number),
    PX_FIELD(px_param, max, "most", "number that it takes", .when = param_is_number),
    PX_MADE(BOOL, param_whole, "whole", "it takes whole numbers", .when = param_is_number),
    PX_FIELD(px_param, help, "help", "what it is"),
    PX_FIELDS_END,
};

static const void *entry_param(const void *at, size_t i, void *row)
{
    const px_param *params = ((const px_entry *)at)->params;
    (void)row;
    return params && params[i].name ? &params[i] : NULL;
}

void list_add_words(const char *const *words, const char *between, px_text *text)
{
    for (size_t i = 0; words[i]; i++)
        px_text_format(text, "%s%s", i ? between : "", words[i]);
}

static px_datum entry_settings(const void *at, char *text)
{
    px_text all = {0};
    const px_param *p;
    for (size_t i = 0; (p = entry_param(at, i, NULL)); i++) {
        px_text_format(&all, "%s%s=", i ? ", " : "", p->name);
        if (!p->choices) {
            px_text_format(&all, "%g", p->def);
            continue;
        }
        px_text_format(&all, "%s (", p->choices[(size_t)p->def]);
        list_add_words(p->choices, "|", &all);
        px_text_add(&all, ")");
    }
    return text_taken(&all, text);
}

#define LIST_DESCRIBED(kind)                                                               \
    LIST_ID(kind), PX_FIELD(px_entry, title, "help", "what it is", .title = "WHAT IT IS"), \
        PX_FIELD(px_entry, source, "source", "where it comes from", .title = "SOURCE"),    \
        PX_MADE(TEXT, entry_settings, NULL, NULL, .title = "SETTINGS"),                    \
        PX_LIST_MADE(entry_param, list_param_fields, "settings", "its own")

/* --- registries ------------------------------------------------------------------------------ */

static px_datum has_learners(const void *at, char *text)
{
    const px_learner *const *learners = *(const px_learner *const *const *)at;
    (void)text;
    return px_datum_bool(learners && learners[0]);
}

const px_field list_criterion_fields[] = {
    LIST_DESCRIBED("CRITERION"),
    PX_MADE_OF(BOOL, has_learners, px_criterion, learners, "profile", "it needs a profile"),
    PX_FIELD(px_criterion, ordered, "ordered", "it depends on the order of the inputs"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_criterion_get)

static px_datum preset_settings(const void *at, char *text)
{
    px_text all = {0};
    list_add_words(((const px_preset *)at)->texts, " ", &all);
    return text_taken(&all, text);
}

const px_field list_preset_fields[] = {
    LIST_ID(""),
    PX_FIELD(px_preset, entry.source, "help", "the paper", .title = ""),
    PX_MADE(TEXT, preset_settings, NULL, NULL, .title = ""),
    LIST_TEXTS(px_preset, texts, "settings", "of criteria"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_preset_get)

const px_field list_measure_fields[] = {
    LIST_ID("MEASURE"),
    PX_FIELD(px_measure, formula, NULL, NULL, .title = "FORMULA"),
    PX_FIELD(px_measure, entry.title, "help", "its name", .title = "WHAT IT IS"),
    PX_FIELD(px_measure, formula, "formula", "of counts of passed and failed inputs"),
    PX_FIELD(px_measure, entry.source, "source", "where it comes from", .title = "SOURCE"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_measure_get)

static const void *engine_preset(const void *at, size_t i, void *row)
{
    const px_registry *presets = ((const px_fuzz_engine *)at)->presets;
    (void)row;
    return presets ? px_registry_at(presets, i) : NULL;
}

static px_datum engine_settings(const void *at, char *text)
{
    char own[PX_FIELD_TEXT_MOST];
    px_text all = {0};
    const px_preset *preset;
    px_text_add(&all, entry_settings(at, own).text);
    for (size_t i = 0; (preset = engine_preset(at, i, NULL)); i++) {
        px_text_format(&all, "; --preset %s: ", preset->entry.id);
        list_add_words(preset->texts, " ", &all);
    }
    return text_taken(&all, text);
}

static const px_field engine_fields[] = {
    LIST_DESCRIBED("ENGINE"),
    PX_LIST_MADE(engine_preset, list_preset_fields, "presets", "that --preset takes"),
    PX_FIELD(px_fuzz_engine, least_models, "least_models", "networks that it compares, at least"),
    PX_FIELD(px_fuzz_engine, most_models, "most_models", "and at most"),
    PX_FIELD(px_fuzz_engine, guided, "guided", "it takes any criterion as its guide"),
    PX_FIELDS_END,
};
static LIST_ITEMS(px_fuzz_engine_get)

    /* The engines, and in a last row the settings that all of them have. */
    static const void *engine_row(const void *at, size_t i, void *row)
{
    static const px_fuzz_engine all = {.entry = {.id = "(all)",
                                                 .title = "what every engine has",
                                                 .source = "",
                                                 .params = px_fuzz_common_params}};
    return i == px_fuzz_engine_count() ? &all : px_fuzz_engine_get_item(at, i, row);
}

static const px_field engine_shown[] = {
    PX_FIELD(px_entry, id, NULL, NULL, .title = "ENGINE"),
    PX_FIELD(px_entry, title, NULL, NULL, .title = "WHAT IT IS"),
    PX_FIELD(px_entry, source, NULL, NULL, .title = "SOURCE"),
    PX_MADE(TEXT, engine_settings, NULL, NULL, .title = "SETTINGS"),
    PX_FIELDS_END,
};
const px_field list_engines[] = {
    PX_LIST_MADE(engine_row, engine_shown, NULL, NULL, .title = "engines"),
    PX_LIST_MADE(px_fuzz_engine_get_item, engine_fields, "engines",
                 "how 'fuzz' searches, with settings and where it comes from"),
    PX_FIELDS_END,
};

static px_datum policy_settings(const void *at, char *text)
{
    const px_fuzz_policy *p = at;
    px_text all = {0};
    px_text_format(&all, "mutations=%s%s", p->mutations, p->texts[0] ? ", " : "");
    list_add_words(p->texts, ", ", &all);
    return text_taken(&all, text);
}

const px_field list_policy_fields[] = {
    LIST_ID("POLICY"),
    PX_FIELD(px_fuzz_policy, entry.title, "help", "what it is", .title = "WHAT IT IS"),
    PX_FIELD(px_fuzz_policy, entry.source, "source", "where it comes from", .title = "SOURCE"),
    PX_MADE(TEXT, policy_settings, NULL, NULL, .title = "SETTINGS"),
    PX_FIELD(px_fuzz_policy, mutations, "mutations", "the set that it draws from"),
    LIST_TEXTS(px_fuzz_policy, texts, "settings", "of engine loop"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_fuzz_policy_get)

#define LIST_NEED(name, bit)                                                             \
    static px_datum needs_##name(const void *at, char *text)                             \
    {                                                                                    \
        (void)text;                                                                      \
        return px_datum_bool((((const px_selector *)at)->needs & (unsigned)(bit)) != 0); \
    }
LIST_NEED(classes, PX_NEEDS_CLASSES)
LIST_NEED(labelled, PX_NEEDS_LABELLED)
LIST_NEED(pictures, PX_NEEDS_PICTURES)

static px_datum selector_passes(const void *at, char *text)
{
    (void)text;
    return px_datum_bool(((const px_selector *)at)->run != NULL);
}

const px_field list_selector_fields[] = {
    LIST_DESCRIBED("SELECTOR"),
    PX_MADE_OF(BOOL, has_learners, px_selector, learners, "profile", "it needs a profile"),
    PX_MADE(BOOL, needs_classes, "classes", "it needs a classifier"),
    PX_MADE(BOOL, needs_labelled, "labelled", "it needs labelled inputs besides"),
    PX_MADE(BOOL, needs_pictures, "pictures", "it needs pictures, which it changes"),
    PX_MADE(BOOL, selector_passes, "own_passes", "it runs the network itself"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_selector_get)

static const void *attack_norm(const void *at, size_t i, void *row)
{
    const px_attack_method *m = at;
    if (i == PX_LEN(m->norms) || m->norms[i] == PX_NORM_AUTO)
        return NULL;
    *(const char **)row = px_norm_name(m->norms[i]);
    return row;
}

const px_field list_attack_fields[] = {
    LIST_DESCRIBED("ATTACK"),
    PX_VALUES_MADE(attack_norm, const char *, "norms", "that it takes"),
    PX_FIELD(px_attack_method, bounded, "eps", "it takes eps and stays within it"),
    PX_FIELD(px_attack_method, restarts, "restarts", "it begins at random, and may begin again"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_attack_method_get)

static px_datum metric_better(const void *at, char *text)
{
    (void)text;
    return px_datum_text(px_better_name(((const px_metric *)at)->better));
}

static px_datum metric_what(const void *at, char *text)
{
    const px_metric *m = at;
    return px_datum_format(text, "%s: %s", m->entry.title, m->definition);
}

const px_field list_metric_fields[] = {
    LIST_ID("METRIC"),
    PX_MADE(TEXT, metric_better, NULL, NULL, .title = "BETTER"),
    PX_MADE(TEXT, metric_what, NULL, NULL, .title = "WHAT IT IS"),
    PX_MADE(TEXT, entry_settings, NULL, NULL, .title = "SETTINGS"),
    PX_FIELD(px_metric, entry.title, "title", "its name"),
    PX_FIELD(px_metric, definition, "definition", "what it is"),
    PX_FIELD(px_metric, entry.source, "equation", "where it is defined"),
    PX_MADE(TEXT, metric_better, "better", "which values are better for the network"),
    PX_FIELD(px_metric, stated, "better_stated", "the paper says which are"),
    PX_FIELD(px_metric, remark, "remark", "where plexor differs or chose"),
    PX_LIST_MADE(entry_param, list_param_fields, "settings", "its own"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_metric_get)

/* --- mutations, and sets of them ------------------------------------------------------------- */

static px_datum mutation_group(const void *at, char *text)
{
    (void)text;
    return px_datum_text(((const px_mutation *)at)->group == PX_MUTATION_AFFINE ? "affine"
                                                                                : "pixel");
}

static px_datum mutation_params(const void *at, char *text)
{
    px_text all = {0};
    const px_param *p;
    for (size_t i = 0; (p = entry_param(at, i, NULL)); i++) {
        px_text_format(&all, "%s%s=", i ? " " : "", p->name);
        if (p->choices)
            list_add_words(p->choices, "|", &all);
        else
            px_text_format(&all, "%.10g..%.10g", p->min, p->max);
    }
    return text_taken(&all, text);
}

static const px_field mutation_fields[] = {
    LIST_ID("MUTATION"),
    PX_FIELD(px_mutation, entry.title, "help", "what it does"),
    PX_MADE(TEXT, mutation_group, "group", "affine, pixel", .title = "GROUP"),
    PX_FIELD(px_mutation, differentiable, "differentiable", "a value follows from that value",
             .title = "DIFFERENTIABLE", .align = 'l'),
    PX_FIELD(px_mutation, entry.title, NULL, NULL, .title = "WHAT IT IS"),
    PX_MADE(TEXT, mutation_params, NULL, NULL, .title = "PARAMETERS"),
    PX_LIST_MADE(entry_param, drawn_fields, "parameters", "that are drawn"),
    PX_FIELDS_END,
};
static LIST_ITEMS(px_mutation_get)

    static px_datum set_rules(const void *at, char *text)
{
    const size_t rules = px_mutation_set_rules(at);
    (void)text;
    return rules ? px_datum_int((int64_t)rules) : px_datum_none();
}

static px_datum range_name(const void *at, char *text)
{
    (void)text;
    return px_datum_text(((const px_mutation_entry *)at)->mutation->entry.id);
}

static const px_field range_fields[] = {
    PX_MADE(TEXT, range_name, "mutation", "its name", .title = ""),
    PX_FIELD(px_mutation_entry, range, "", "what is drawn from", .title = ""),
    PX_FIELDS_END,
};

static const px_field set_fields[] = {
    LIST_ID(NULL),
    PX_FIELD(px_mutation_set, entry.title, "help", "what it is for"),
    PX_FIELD(px_mutation_set, entry.source, "source", "where it comes from"),
    PX_MADE(INT, set_rules, "rules", "that it draws from", .optional = true),
    PX_MAP(px_mutation_set, entries, entry_count, range_fields, "mutations",
           "what each draws from"),
    PX_FIELDS_END,
};
static LIST_ITEMS(px_mutation_set_get)

    const px_field list_mutations[] = {
        PX_LIST_MADE(
            px_mutation_get_item, mutation_fields, "mutations",
            "changes that should leave a picture's meaning alone, their parameters, and sets "
            "of them"),
        PX_LIST_MADE(px_mutation_set_get_item, set_fields, "mutation_sets", "that mutations takes"),
        PX_FIELDS_END,
};

void list_print_mutations(const px_field *list)
{
    cli_print_list(list->fields, "mutations", list, "", 0);
    for (size_t i = 0; i < px_mutation_set_count(); i++) {
        const px_mutation_set *set = px_mutation_set_get(i);
        cli_print("\n%s: %s (%s)\n", set->entry.id, set->entry.title, set->entry.source);
        cli_print_list(set_fields, "mutations", set, "  ", 0);
    }
}
