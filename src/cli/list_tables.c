/* src/cli/list_tables.c - the lists of 'plexor list': of what, and the fields of what they list
 *
 * Where a table for people has other rows or columns than JSON, it is a list of its own: one with a
 * title and no key.
 */
#include "base/memory.h"
#include "cli/cli_fields.h"
#include "cli/cli_terms.h"
#include "cli/list.h"

#include <internal/arch.h>
#include <internal/assess.h>
#include <internal/audio.h>
#include <internal/check.h>
#include <internal/engine.h>
#include <internal/feeder.h>
#include <internal/field.h>
#include <internal/fuzz.h>
#include <internal/mutate.h>
#include <internal/optimizer.h>
#include <internal/preprocess.h>
#include <internal/repair.h>
#include <internal/text.h>
#include <plexor/attack.h>
#include <plexor/cover.h>
#include <plexor/localize.h>
#include <plexor/probe.h>
#include <plexor/select.h>
#include <string.h>

/* Items that a function gives by their place, NULL beyond the last: get##_item. */
#define LIST_ITEMS(get)                                                \
    static const void *get##_item(const void *at, size_t i, void *row) \
    {                                                                  \
        (void)at;                                                      \
        (void)row;                                                     \
        return get(i);                                                 \
    }
/* Items that a function gives as values. */
#define LIST_VALUES(noun)                                               \
    static const void *noun##_item(const void *at, size_t i, void *row) \
    {                                                                   \
        (void)at;                                                       \
        if (i >= noun##_count())                                        \
            return NULL;                                                \
        *(noun *)row = noun##_get(i);                                   \
        return row;                                                     \
    }

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

static const px_field param_fields[] = {
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

static void words_add(const char *const *words, const char *between, px_text *text)
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
        words_add(p->choices, "|", &all);
        px_text_add(&all, ")");
    }
    return text_taken(&all, text);
}

#define LIST_ID(kind) PX_FIELD(px_entry, id, "name", "that commands take", .title = kind)
#define LIST_DESCRIBED(kind)                                                               \
    LIST_ID(kind), PX_FIELD(px_entry, title, "help", "what it is", .title = "WHAT IT IS"), \
        PX_FIELD(px_entry, source, "source", "where it comes from", .title = "SOURCE"),    \
        PX_MADE(TEXT, entry_settings, NULL, NULL, .title = "SETTINGS"),                    \
        PX_LIST_MADE(entry_param, param_fields, "settings", "its own")

/* --- registries ------------------------------------------------------------------------------ */

static px_datum has_learners(const void *at, char *text)
{
    const px_learner *const *learners = *(const px_learner *const *const *)at;
    (void)text;
    return px_datum_bool(learners && learners[0]);
}

static const px_field criterion_fields[] = {
    LIST_DESCRIBED("CRITERION"),
    PX_MADE_OF(BOOL, has_learners, px_criterion, learners, "profile", "it needs a profile"),
    PX_FIELD(px_criterion, ordered, "ordered", "it depends on the order of the inputs"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_criterion_get)

static px_datum preset_settings(const void *at, char *text)
{
    px_text all = {0};
    words_add(((const px_preset *)at)->texts, " ", &all);
    return text_taken(&all, text);
}

static const px_field preset_fields[] = {
    LIST_ID(""),
    PX_FIELD(px_preset, entry.source, "help", "the paper", .title = ""),
    PX_MADE(TEXT, preset_settings, NULL, NULL, .title = ""),
    LIST_TEXTS(px_preset, texts, "settings", "of criteria"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_preset_get)

static const px_field measure_fields[] = {
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
        words_add(preset->texts, " ", &all);
    }
    return text_taken(&all, text);
}

static const px_field engine_fields[] = {
    LIST_DESCRIBED("ENGINE"),
    PX_LIST_MADE(engine_preset, preset_fields, "presets", "that --preset takes"),
    PX_FIELD(px_fuzz_engine, least_models, "least_models", "networks that it compares, at least"),
    PX_FIELD(px_fuzz_engine, most_models, "most_models", "and at most"),
    PX_FIELD(px_fuzz_engine, guided, "guided", "it takes any criterion as its guide"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_fuzz_engine_get)

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
static const px_field engine_lists[] = {
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
    words_add(p->texts, ", ", &all);
    return text_taken(&all, text);
}

static const px_field policy_fields[] = {
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

static const px_field selector_fields[] = {
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

static const px_field attack_fields[] = {
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

static const px_field metric_fields[] = {
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
    PX_LIST_MADE(entry_param, param_fields, "settings", "its own"),
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
            words_add(p->choices, "|", &all);
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
LIST_ITEMS(px_mutation_get)

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
LIST_ITEMS(px_mutation_set_get)

static const px_field mutation_lists[] = {
    PX_LIST_MADE(px_mutation_get_item, mutation_fields, "mutations",
                 "changes that should leave a picture's meaning alone, their parameters, and sets "
                 "of them"),
    PX_LIST_MADE(px_mutation_set_get_item, set_fields, "mutation_sets", "that mutations takes"),
    PX_FIELDS_END,
};

static void print_mutations(const px_field *list)
{
    cli_print_list(list->fields, "mutations", list, "", 0);
    for (size_t i = 0; i < px_mutation_set_count(); i++) {
        const px_mutation_set *set = px_mutation_set_get(i);
        cli_print("\n%s: %s (%s)\n", set->entry.id, set->entry.title, set->entry.source);
        cli_print_list(set_fields, "mutations", set, "  ", 0);
    }
}

/* --- operators, architectures ---------------------------------------------------------------- */

static const px_field op_fields[] = {
    PX_FIELD(px_operator, name, "name", "of the operator"),
    PX_FIELD(px_operator, domain, "domain", "empty: ONNX's own"),
    PX_FIELD(px_operator, since, "since", "the first opset of this version"),
    PX_FIELD(px_operator, gradient, "gradient", "yes, zero (flat almost everywhere), no"),
    PX_FIELDS_END,
};
LIST_VALUES(px_operator)

/* A row for all versions of an operator. */
static void print_ops(const px_field *list)
{
    cli_table *table = cli_table_new("lll");
    cli_table_cell(table, "OPERATOR");
    cli_table_cell(table, "SINCE OPSET");
    cli_table_cell(table, "GRADIENT");
    (void)list;
    for (size_t i = 0; i < px_operator_count();) {
        const px_operator op = px_operator_get(i);
        px_text versions = {0};
        px_operator last = op;
        for (; i < px_operator_count(); i++) {
            const px_operator next = px_operator_get(i);
            if (strcmp(next.name, op.name) != 0 || strcmp(next.domain, op.domain) != 0)
                break;
            px_text_format(&versions, "%s%d", versions.length ? ", " : "", next.since);
            last = next;
        }
        cli_table_cell(table, "%s%s%s", op.domain, *op.domain ? "." : "", op.name);
        cli_table_cell(table, "%s", px_text_get(&versions));
        cli_table_cell(table, "%s", last.gradient);
        px_text_done(&versions);
    }
    cli_table_print_free(table, "");
}

typedef struct arch_row {
    px_arch arch;
    int64_t parameters, statistics;
} arch_row;

static const void *arch_item(const void *at, size_t i, void *row)
{
    arch_row *r = row;
    (void)at;
    if (i >= px_arch_count())
        return NULL;
    *r = (arch_row){.arch = px_arch_get(i)};
    px_arch_parameters(r->arch.name, NULL, &r->parameters, &r->statistics, NULL);
    return r;
}

static px_datum arch_input(const void *at, char *text)
{
    const px_arch *a = at;
    return px_datum_format(text, "%dx%dx%d", a->channels, a->height, a->width);
}

static px_datum arch_what(const void *at, char *text)
{
    const px_arch *a = at;
    const bool alone = strcmp(a->family, a->name) == 0;
    return px_datum_format(text, "%s%s%s", alone ? "" : a->family, alone ? "" : ": ", a->help);
}

static const px_field arch_fields[] = {
    PX_FIELD(arch_row, arch.name, "name", "that commands take", .title = "NETWORK"),
    PX_FIELD(arch_row, arch.family, "family", "the form of such names"),
    PX_FIELD(arch_row, parameters, "parameters", "that are trained", .title = "PARAMETERS",
             .format = ","),
    PX_FIELD(arch_row, statistics, "statistics", "of normalisation, which are not"),
    PX_FIELD(arch_row, arch.channels, "channels", "that it was made for"),
    PX_FIELD(arch_row, arch.height, "height", "that it was made for"),
    PX_FIELD(arch_row, arch.width, "width", "that it was made for"),
    PX_MADE(TEXT, arch_input, NULL, NULL, .title = "INPUT"),
    PX_FIELD(arch_row, arch.classes, "classes", "that it was made for", .title = "CLASSES"),
    PX_FIELD(arch_row, arch.help, "help", "what it is"),
    PX_MADE(TEXT, arch_what, NULL, NULL, .title = "WHAT IT IS"),
    PX_FIELDS_END,
};

/* --- repair, gates, preprocessing ------------------------------------------------------------ */

static bool recipe_has_optimizer(const void *recipe)
{
    return ((const px_repair_recipe *)recipe)->optimizer;
}

static bool recipe_lacks_optimizer(const void *recipe)
{
    return !recipe_has_optimizer(recipe);
}

static px_datum recipe_mode(const void *at, char *text)
{
    (void)text;
    return px_datum_text(px_mix_name(((const px_repair_recipe *)at)->mix));
}

static px_datum recipe_rate(const void *at, char *text)
{
    const px_repair_recipe *r = at;
    return px_datum_format(text, r->optimizer ? "%g" : "x %g", r->lr);
}

static const px_field recipe_fields[] = {
    LIST_ID("RECIPE"),
    PX_FIELD(px_repair_recipe, entry.title, "help", "what it is"),
    PX_MADE(TEXT, recipe_mode, "mode", "how failures are mixed in", .title = "MODE"),
    PX_FIELD(px_repair_recipe, optimizer, "optimizer", "null: the network's own",
             .title = "OPTIMIZER", .none = "the network's own"),
    PX_FIELD(px_repair_recipe, lr, "lr", "learning rate", .when = recipe_has_optimizer),
    PX_FIELD(px_repair_recipe, lr, "lr_factor", "times the rate that it was trained with",
             .when = recipe_lacks_optimizer),
    PX_MADE(TEXT, recipe_rate, NULL, NULL, .title = "LR", .align = 'r'),
    PX_FIELD(px_repair_recipe, schedule, "schedule", "of the learning rate", .title = "SCHEDULE"),
    PX_FIELD(px_repair_recipe, epochs, "epochs", "at most", .title = "EPOCHS"),
    PX_FIELD(px_repair_recipe, batch, "batch", "inputs a step", .title = "BATCH"),
    PX_FIELD(px_repair_recipe, train_limit, "train_limit", "training inputs at most; 0: all"),
    PX_FIELD(px_repair_recipe, add_limit, "add_limit", "failures at most; 0: all"),
    PX_FIELD(px_repair_recipe, chosen, "chosen", "what the paper leaves open and plexor chose"),
    PX_FIELD(px_repair_recipe, entry.title, NULL, NULL, .title = "WHAT IT IS"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_repair_recipe_get)

static px_datum gate_side(const void *at, char *text)
{
    (void)text;
    return px_datum_text(((const px_gate_kind *)at)->most ? "most" : "least");
}

static const px_field gate_fields[] = {
    PX_FIELD(px_gate_kind, name, "name", "that --fail-under takes", .title = "GATE"),
    PX_MADE(TEXT, gate_side, "holds_at", "least: from its threshold on; most: up to it",
            .title = "HOLDS AT"),
    PX_FIELD(px_gate_kind, stage, "stage", "that measures it", .title = "STAGE"),
    PX_FIELD(px_gate_kind, help, "help", "what it is", .title = "WHAT IT IS"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_gate_kind_get)

static px_datum preset_names(const void *at, char *text)
{
    const px_preprocess_preset *p = at;
    return px_datum_format(text, "%s%s%s", p->id, p->alias ? ", " : "", p->alias ? p->alias : "");
}

static px_datum preset_channels(const void *at, char *text)
{
    (void)text;
    return px_datum_text(((const px_preprocess_preset *)at)->bgr ? "bgr" : "rgb");
}

static const px_field preprocess_fields[] = {
    PX_FIELD(px_preprocess_preset, id, "name", "that --preprocess takes"),
    PX_FIELD(px_preprocess_preset, alias, "alias", "another name for it"),
    PX_MADE(TEXT, preset_names, NULL, NULL, .title = "PRESET"),
    PX_FIELD(px_preprocess_preset, title, "help", "what reaches the network",
             .title = "WHAT REACHES THE NETWORK"),
    PX_FIELD(px_preprocess_preset, used, "used", "by whom", .title = "USED BY"),
    PX_FIELD(px_preprocess_preset, range, "range", "what white becomes before mean and std"),
    PX_ARRAY_USED(px_preprocess_preset, mean, channels, "mean", "of each channel, or of all"),
    PX_ARRAY_USED(px_preprocess_preset, stddev, channels, "std", "of each channel, or of all"),
    PX_MADE(TEXT, preset_channels, "channels", "their order: rgb, bgr"),
    PX_FIELDS_END,
};
LIST_ITEMS(px_preprocess_preset_get)

/* --- recordings ------------------------------------------------------------------------------ */

static const void *audio_item(const void *at, size_t i, void *row)
{
    (void)at;
    (void)row;
    return px_audio_params[i].name ? &px_audio_params[i] : NULL;
}

static void print_audio(const px_field *list)
{
    cli_table *table = cli_table_new("ll");
    (void)list;
    for (const px_param *p = px_audio_params; p->name; p++) {
        px_text value = {0};
        if (p->choices)
            words_add(p->choices, "|", &value);
        else
            px_text_format(&value, "%g", p->def);
        cli_table_cell(table, "%s=%s", p->name, px_text_get(&value));
        cli_table_cell(table, "%s", p->help);
        px_text_done(&value);
    }
    cli_table_print_free(table, "");
}

/* --- choices of training --------------------------------------------------------------------- */

static const void *choice_setting(const void *at, size_t i, void *row)
{
    const px_setting *settings = ((const px_choice *)at)->settings;
    (void)row;
    return settings && settings[i].name ? &settings[i] : NULL;
}

static const px_field setting_fields[] = {
    PX_FIELD(px_setting, name, "name", "of the setting"),
    PX_FIELD(px_setting, standard, "default", "where it is not given"),
    PX_FIELD(px_setting, least, "least", "that it takes"),
    PX_FIELD(px_setting, most, "most", "that it takes"),
    PX_FIELD(px_setting, help, "help", "what it is"),
    PX_FIELDS_END,
};

static const px_field choice_fields[] = {
    PX_FIELD(px_choice, name, "name", "of the choice"),
    PX_FIELD(px_choice, usage, "usage", "how it is typed"),
    PX_FIELD(px_choice, help, "help", "what it is"),
    PX_LIST_MADE(choice_setting, setting_fields, "settings", "its own"),
    PX_FIELDS_END,
};

LIST_ITEMS(px_optimizer_choice)
LIST_ITEMS(px_schedule_choice)
LIST_ITEMS(px_loss_choice)

static const void *augmentation_item(const void *at, size_t i, void *row)
{
    (void)at;
    if (i >= px_augmentation_count())
        return NULL;
    const px_augmentation a = px_augmentation_get(i);
    *(px_choice *)row = (px_choice){.name = a.name, .usage = a.usage, .help = a.help};
    return row;
}

/* Each choice, and its settings with their defaults below it. */
static void print_choices(const px_field *list)
{
    cli_table *table = cli_table_new("ll");
    const px_choice *choice;
    px_choice row;
    for (size_t i = 0; (choice = list->item(NULL, i, &row)); i++) {
        cli_table_cell(table, "%s", choice->usage);
        cli_table_cell(table, "%s", choice->help);
        for (const px_setting *s = choice->settings; s && s->name; s++) {
            char number[PX_REAL_TEXT];
            cli_table_cell(table, "  %s=%s", s->name, px_real_text(s->standard, number));
            cli_table_cell(table, "  %s", s->help);
        }
    }
    cli_table_print_free(table, "");
}

/* --- words ----------------------------------------------------------------------------------- */

typedef struct word_row {
    const char *name, *help;
} word_row;

static const word_row layers[] = {
    {"all", "every layer"},
    {"hidden", "all but the logits layer and what follows it (default)"},
    {"conv", "layers with spatial extent"},
    {"dense", "layers without"},
    {"recurrent", "time steps of RNN, GRU and LSTM"},
    {"stages", "the last convolution of every spatial size; below three sizes: all of them"},
    {"last-encoder", "the last layer with spatial extent; if there is none, the last hidden one"},
    {"last-hidden", "the layer before the logits"},
    {"logits", "the class scores"},
    {"NAME", "a layer by name, or by a glob such as 'layer3.*'"},
    {"#I", "a layer by position, counted from 0"},
    {"!X", "without X"},
};

static const word_row taps[] = {
#define WORD_ROW(enumerator, id, help) {id, help},
    PX_TAPS(WORD_ROW)};

static const word_row neurons[] = {
    PX_VIEWS(WORD_ROW)
        PX_VIEW_WORDS(WORD_ROW){"deepxplore", "layers, tap and view as DeepXplore counts neurons"},
};

static const word_row data[] = {
    {"FOLDER",
     "class sub-folders of PNG, JPEG, WAV or FLAC; IDX files (.gz too); CIFAR-10/100 binaries"},
    {"FOLDER::PATTERN",
     "labels from names of files, here or in an ARCHIVE: '{digit}_{label}_{test:0-4}'"},
    {"CAMPAIGN", "a folder that holds campaign.db: its failures (--split faults), or --split close "
                 "(failures close to their originals), kept, seeds, generated, all"},
    {"FILE.npz, .npy", "arrays of inputs, with labels in an NPZ"},
    {"FILE.csv", "a manifest: path,label"},
    {"ARCHIVE", ".zip or .tar (compressed too) of any of those"},
    {"fashion-mnist", "Debian package dataset-fashion-mnist"},
    {"noise:CxHxW[:SEED]",
     "inputs without meaning, as a baseline: every value uniform over 0..255"},
    {"digits", "ten procedural digits, 28x28, made on the spot"},
    {"mem:NAME", "what a program that calls px_call() has put into memory under a name"},
};

#define WORD_ITEMS(words)                                                \
    static const void *words##_item(const void *at, size_t i, void *row) \
    {                                                                    \
        (void)at;                                                        \
        (void)row;                                                       \
        return i < PX_LEN(words) ? &words[i] : NULL;                     \
    }
WORD_ITEMS(layers)
WORD_ITEMS(taps)
WORD_ITEMS(neurons)
WORD_ITEMS(data)

const px_field list_words[] = {
    PX_FIELD(word_row, name, "name", "that the option takes", .title = ""),
    PX_FIELD(word_row, help, "help", "what it means", .title = ""),
    PX_FIELDS_END,
};

LIST_ITEMS(cli_term_get)
LIST_ITEMS(cli_head_get)

static const px_field term_fields[] = {
    PX_FIELD(cli_term, name, "word", "the word", .title = ""),
    PX_FIELD(cli_term, meaning, "", "what it means", .title = ""),
    PX_FIELDS_END,
};

static const px_field term_lists[] = {
    PX_MAP_MADE(cli_term_get_item, term_fields, "terms",
                "plexor's words, and what the heads of its tables stand for"),
    PX_MAP_MADE(cli_head_get_item, term_fields, "heads", "of tables"),
    PX_FIELDS_END,
};

static void print_terms(const px_field *list)
{
    cli_print_list(list->fields, "terms", list, "", 0);
    cli_print("\nheads of tables\n");
    cli_print_list(list->fields, "heads", list, "", 0);
}

/* --- all of them ----------------------------------------------------------------------------- */

static void print_plain(const px_field *list)
{
    const px_field one[] = {*list, PX_FIELDS_END};
    const bool group = list->kind == PX_FIELD_OBJECT;
    cli_print_list(group ? list->fields : one, list_key(list), list, "", 0);
}

static void print_measures(const px_field *list)
{
    print_plain(list);
    cli_print("\naf, as: inputs on which the neuron was active while the network failed, "
              "succeeded; nf, ns: not active\nF = af+nf, P = as+ns, N = F+P; a ratio 0/0 counts "
              "as 0\nbesides: 'random', neurons to compare with, and 'shapley', what neurons have "
              "to do with a change of the loss\n");
}

#define LIST(items, fields, ...) PX_LIST_MADE(items##_item, fields, __VA_ARGS__, .optional = true)
#define LIST_GROUP(lists) PX_OBJECT_OF(lists, "", "lists that are shown together", .optional = true)
const px_field list_tables[] = {
    LIST(px_operator, op_fields, "ops",
         "ONNX operators, since which opset, and whether they have a gradient"),
    LIST(layers, list_words, "layers", "what --layers takes; several are joined by commas"),
    LIST(taps, list_words, "taps", "what --tap takes"),
    LIST(neurons, list_words, "neurons", "what --neurons takes"),
    LIST(px_criterion_get, criterion_fields, "criteria",
         "what 'cover' measures, with settings and where it comes from"),
    LIST(px_preset_get, preset_fields, "presets", "the papers' own settings of criteria"),
    LIST(px_measure_get, measure_fields, "measures", "how suspicious neurons are, for localize"),
    LIST_GROUP(mutation_lists),
    LIST_GROUP(engine_lists),
    LIST(px_fuzz_policy_get, policy_fields, "policies",
         "published schedules, energies and rules of validity of engine loop"),
    LIST(px_selector_get, selector_fields, "selectors",
         "what 'select' ranks by, with settings and where it comes from"),
    LIST(px_attack_method_get, attack_fields, "attacks",
         "what 'attack' runs, with settings and where it comes from"),
    LIST(px_metric_get, metric_fields, "metrics",
         "what 'assess' measures, which way is better, and where it is defined"),
    LIST(px_gate_kind_get, gate_fields, "gates",
         "what 'check --fail-under' takes, and which way it must lie"),
    LIST_GROUP(term_lists),
    LIST(arch, arch_fields, "archs", "networks that plexor makes itself, and their parameters"),
    LIST(px_optimizer_choice, choice_fields, "optimizers",
         "what moves weights in training, and its settings"),
    LIST(px_schedule_choice, choice_fields, "schedules", "how the learning rate goes over a run"),
    LIST(px_loss_choice, choice_fields, "losses", "what training makes smaller"),
    LIST(augmentation, choice_fields, "augmentations",
         "what --augment takes; several are joined by commas"),
    LIST(px_repair_recipe_get, recipe_fields, "recipes", "how the papers retrain, for repair"),
    LIST(audio, param_fields, "audio",
         "what --audio takes: settings of the features of recordings, and their defaults"),
    LIST(px_preprocess_preset_get, preprocess_fields, "preprocess",
         "what --preprocess takes: how pixels become a network's input"),
    LIST(data, list_words, "data", "what --data takes"),
    PX_FIELDS_END,
};

void list_print_table(const px_field *list)
{
    static const struct {
        const char *key;
        void (*print)(const px_field *list);
    } others[] = {
        {"ops", print_ops},        {"measures", print_measures},     {"mutations", print_mutations},
        {"terms", print_terms},    {"optimizers", print_choices},    {"schedules", print_choices},
        {"losses", print_choices}, {"augmentations", print_choices}, {"audio", print_audio},
    };
    for (size_t i = 0; i < PX_LEN(others); i++)
        if (strcmp(others[i].key, list_key(list)) == 0) {
            others[i].print(list);
            return;
        }
    print_plain(list);
}
