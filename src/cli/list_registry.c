/* src/cli/list_registry.c - registries as tables and as JSON: one walk, and what each has besides
 */
#include "cli/cli.h"
#include "cli/list.h"

#include <ctype.h>
#include <internal/assess.h>
#include <internal/fuzz.h>
#include <plexor/attack.h>
#include <plexor/cover.h>
#include <plexor/localize.h>
#include <plexor/select.h>

/* The descriptor that an entry begins. */
#define LIST_OF(type, entry) ((const type *)(const void *)(entry))

/* --- the walk -------------------------------------------------------------------------------- */

static void look_row(const list_look *look, const px_entry *entry, cli_table *table)
{
    for (const list_column *c = look->columns; c->cell; c++) {
        px_text text = {0};
        c->cell(entry, &text);
        cli_table_cell(table, "%s", px_text_get(&text));
        px_text_done(&text);
    }
}

static void look_titles(const list_look *look, cli_table *table)
{
    for (const list_column *c = look->columns; c->cell; c++) {
        px_text kind = {0};
        for (const char *k = look->registry->kind; *k; k++)
            px_text_format(&kind, "%c", toupper((unsigned char)*k));
        cli_table_cell(table, "%s", c->title ? c->title : px_text_get(&kind));
        px_text_done(&kind);
    }
}

void list_print_registry(const list_look *look)
{
    static const char all_left[] = "llllllll";
    size_t count = 0;
    while (look->columns[count].cell)
        count++;
    cli_table *table = cli_table_new(all_left + sizeof all_left - 1 - count);
    if (!look->columns->title || *look->columns->title)
        look_titles(look, table);
    for (size_t i = 0; i < px_registry_count(look->registry); i++)
        look_row(look, px_registry_at(look->registry, i), table);
    if (look->common.id)
        look_row(look, &look->common, table);
    cli_table_print_free(table, "");
    if (look->remark)
        cli_print("%s", look->remark);
}

void list_json_registry(const list_look *look, px_json *json)
{
    px_json_array(json, look->registry->plural);
    for (size_t i = 0; i < px_registry_count(look->registry); i++) {
        const px_entry *entry = px_registry_at(look->registry, i);
        px_json_object(json, NULL);
        px_json_string(json, "name", entry->id);
        look->json(entry, json);
        px_json_end(json);
    }
    px_json_end(json);
}

/* --- settings -------------------------------------------------------------------------------- */

void list_param_text(const px_param *param, px_text *text)
{
    if (!param->choices) {
        px_text_format(text, "%s=%g", param->name, param->def);
        return;
    }
    px_text_format(text, "%s=%s (", param->name, param->choices[(size_t)param->def]);
    for (size_t i = 0; param->choices[i]; i++)
        px_text_format(text, "%s%s", i ? "|" : "", param->choices[i]);
    px_text_add(text, ")");
}

void list_json_params(const px_param *params, const char *key, px_json *json)
{
    px_json_array(json, key);
    for (const px_param *p = params; p && p->name; p++) {
        px_json_object(json, NULL);
        px_json_string(json, "name", p->name);
        if (p->choices) {
            px_json_string(json, "default", p->choices[(size_t)p->def]);
            px_json_array(json, "choices");
            for (size_t i = 0; p->choices[i]; i++)
                px_json_string(json, NULL, p->choices[i]);
            px_json_end(json);
        } else {
            px_json_real(json, "default", p->def);
            px_json_real(json, "least", p->min);
            px_json_real(json, "most", p->max);
        }
        px_json_string(json, "help", p->help);
        px_json_end(json);
    }
    px_json_end(json);
}

static void json_texts(const char *const *texts, px_json *json)
{
    px_json_array(json, "settings");
    for (; *texts; texts++)
        px_json_string(json, NULL, *texts);
    px_json_end(json);
}

/* --- columns that all have ------------------------------------------------------------------- */

static void cell_id(const px_entry *entry, px_text *text)
{
    px_text_add(text, entry->id);
}

static void cell_title(const px_entry *entry, px_text *text)
{
    px_text_add(text, entry->title);
}

static void cell_source(const px_entry *entry, px_text *text)
{
    px_text_add(text, entry->source);
}

static void cell_params(const px_entry *entry, px_text *text)
{
    for (const px_param *p = entry->params; p && p->name; p++) {
        px_text_add(text, p == entry->params ? "" : ", ");
        list_param_text(p, text);
    }
}

static const list_column described[] = {
    {NULL, cell_id}, {"WHAT IT IS", cell_title}, {"SOURCE", cell_source}, {"SETTINGS", cell_params},
    {NULL, NULL},
};

static void json_described(const px_entry *entry, px_json *json)
{
    px_json_string(json, "help", entry->title);
    px_json_string(json, "source", entry->source);
    list_json_params(entry->params, "settings", json);
}

/* --- each registry --------------------------------------------------------------------------- */

static void criterion_json(const px_entry *entry, px_json *json)
{
    const px_criterion *c = LIST_OF(px_criterion, entry);
    json_described(entry, json);
    px_json_bool(json, "profile", c->learners && c->learners[0]);
    px_json_bool(json, "ordered", c->ordered);
}

const list_look list_criteria = {&px_criteria, described, criterion_json, {0}, NULL};

static void preset_cell(const px_entry *entry, px_text *text)
{
    const char *const *texts = LIST_OF(px_preset, entry)->texts;
    for (size_t i = 0; texts[i]; i++)
        px_text_format(text, "%s%s", i ? " " : "", texts[i]);
}

static void preset_json(const px_entry *entry, px_json *json)
{
    px_json_string(json, "help", entry->source);
    json_texts(LIST_OF(px_preset, entry)->texts, json);
}

static const list_column preset_columns[] = {
    {"", cell_id}, {"", cell_source}, {"", preset_cell}, {NULL, NULL}};
const list_look list_presets = {&px_presets, preset_columns, preset_json, {0}, NULL};

static void measure_cell(const px_entry *entry, px_text *text)
{
    px_text_add(text, LIST_OF(px_measure, entry)->formula);
}

static void measure_json(const px_entry *entry, px_json *json)
{
    px_json_string(json, "help", entry->title);
    px_json_string(json, "formula", LIST_OF(px_measure, entry)->formula);
    px_json_string(json, "source", entry->source);
}

static const list_column measure_columns[] = {
    {NULL, cell_id}, {"FORMULA", measure_cell}, {"WHAT IT IS", cell_title}, {"SOURCE", cell_source},
    {NULL, NULL},
};
const list_look list_measures = {
    &px_measures,
    measure_columns,
    measure_json,
    {0},
    "\naf, as: inputs on which the neuron was active while the network failed, succeeded; "
    "nf, ns: not active\nF = af+nf, P = as+ns, N = F+P; a ratio 0/0 counts as 0\n"
    "besides: 'random', neurons to compare with, and 'shapley', what neurons have to do with "
    "a change of the loss\n"};

static void engine_json(const px_entry *entry, px_json *json)
{
    const px_fuzz_engine *e = LIST_OF(px_fuzz_engine, entry);
    json_described(entry, json);
    px_json_int(json, "least_models", (int64_t)e->least_models);
    px_json_int(json, "most_models", (int64_t)e->most_models);
    px_json_bool(json, "guided", e->guided);
    px_json_object(json, "presets");
    for (size_t i = 0; e->presets && i < e->presets->count; i++) {
        const px_preset *preset = LIST_OF(px_preset, px_registry_at(e->presets, i));
        px_json_array(json, preset->entry.id);
        for (const char *const *text = preset->texts; *text; text++)
            px_json_string(json, NULL, *text);
        px_json_end(json);
    }
    px_json_end(json);
}

static void engine_cell(const px_entry *entry, px_text *text)
{
    const px_registry *presets = LIST_OF(px_fuzz_engine, entry)->presets;
    cell_params(entry, text);
    for (size_t i = 0; presets && i < presets->count; i++) {
        const px_preset *preset = LIST_OF(px_preset, px_registry_at(presets, i));
        px_text_format(text, "; --preset %s:", preset->entry.id);
        for (size_t k = 0; preset->texts[k]; k++)
            px_text_format(text, " %s", preset->texts[k]);
    }
}

static const list_column engine_columns[] = {
    {NULL, cell_id}, {"WHAT IT IS", cell_title}, {"SOURCE", cell_source}, {"SETTINGS", engine_cell},
    {NULL, NULL},
};
const list_look list_engines = {&px_fuzz_engines,
                                engine_columns,
                                engine_json,
                                {.id = "(all)",
                                 .title = "what every engine has",
                                 .source = "",
                                 .params = px_fuzz_common_params},
                                NULL};

static void policy_cell(const px_entry *entry, px_text *text)
{
    const px_fuzz_policy *p = LIST_OF(px_fuzz_policy, entry);
    px_text_format(text, "mutations=%s", p->mutations);
    for (size_t k = 0; p->texts[k]; k++)
        px_text_format(text, ", %s", p->texts[k]);
}

static void policy_json(const px_entry *entry, px_json *json)
{
    px_json_string(json, "help", entry->title);
    px_json_string(json, "source", entry->source);
    px_json_string(json, "mutations", LIST_OF(px_fuzz_policy, entry)->mutations);
    json_texts(LIST_OF(px_fuzz_policy, entry)->texts, json);
}

static const list_column policy_columns[] = {
    {NULL, cell_id}, {"WHAT IT IS", cell_title}, {"SOURCE", cell_source}, {"SETTINGS", policy_cell},
    {NULL, NULL},
};
const list_look list_policies = {&px_fuzz_policies, policy_columns, policy_json, {0}, NULL};

static void selector_json(const px_entry *entry, px_json *json)
{
    const px_selector *s = LIST_OF(px_selector, entry);
    json_described(entry, json);
    px_json_bool(json, "profile", s->learners && s->learners[0]);
    px_json_bool(json, "classes", (s->needs & PX_NEEDS_CLASSES) != 0);
    px_json_bool(json, "labelled", (s->needs & PX_NEEDS_LABELLED) != 0);
    px_json_bool(json, "pictures", (s->needs & PX_NEEDS_PICTURES) != 0);
    px_json_bool(json, "own_passes", s->run != NULL);
}

const list_look list_selectors = {&px_selectors, described, selector_json, {0}, NULL};

static void attack_json(const px_entry *entry, px_json *json)
{
    const px_attack_method *m = LIST_OF(px_attack_method, entry);
    json_described(entry, json);
    px_json_array(json, "norms");
    for (int k = 0; k < 3 && m->norms[k] != PX_NORM_AUTO; k++)
        px_json_string(json, NULL, px_norm_name(m->norms[k]));
    px_json_end(json);
    px_json_bool(json, "eps", m->bounded);
    px_json_bool(json, "restarts", m->restarts);
}

const list_look list_attacks = {&px_attacks, described, attack_json, {0}, NULL};

static void metric_better(const px_entry *entry, px_text *text)
{
    px_text_add(text, px_better_name(LIST_OF(px_metric, entry)->better));
}

static void metric_what(const px_entry *entry, px_text *text)
{
    px_text_format(text, "%s: %s", entry->title, LIST_OF(px_metric, entry)->definition);
}

static void metric_json(const px_entry *entry, px_json *json)
{
    const px_metric *m = LIST_OF(px_metric, entry);
    px_json_string(json, "title", entry->title);
    px_json_string(json, "definition", m->definition);
    px_json_string(json, "equation", entry->source);
    px_json_string(json, "better", px_better_name(m->better));
    px_json_bool(json, "better_stated", m->stated);
    px_json_string(json, "remark", m->remark);
    list_json_params(entry->params, "settings", json);
}

static const list_column metric_columns[] = {
    {NULL, cell_id},
    {"BETTER", metric_better},
    {"WHAT IT IS", metric_what},
    {"SETTINGS", cell_params},
    {NULL, NULL},
};
const list_look list_metrics = {&pxi_metrics, metric_columns, metric_json, {0}, NULL};
