/* src/cli/list_criteria.c - the lists of criteria, presets, selectors, attacks and engines */
#include "cli/list_criteria.h"

#include "cli/cli.h"

#include <plexor/attack.h>
#include <plexor/fuzz.h>
#include <plexor/select.h>

static void setting_text(const px_param *s, px_text *text)
{
    if (s->choices) {
        px_text_format(text, "%s=%s (", s->name, s->choices[(size_t)s->fallback]);
        for (size_t i = 0; s->choices[i]; i++)
            px_text_format(text, "%s%s", i ? "|" : "", s->choices[i]);
        px_text_add(text, ")");
    } else {
        px_text_format(text, "%s=%g", s->name, s->fallback);
    }
}

typedef struct list_entry { /* a criterion, a selector or an attack */
    const char *id, *title, *source;
    const px_param *settings;
    size_t setting_count;
} list_entry;

static void print_entry(cli_table *table, const list_entry *e)
{
    px_text settings = {0};
    for (size_t k = 0; k < e->setting_count; k++) {
        px_text_add(&settings, k ? ", " : "");
        setting_text(&e->settings[k], &settings);
    }
    cli_table_cell(table, "%s", e->id);
    cli_table_cell(table, "%s", e->title);
    cli_table_cell(table, "%s", e->source);
    cli_table_cell(table, "%s", px_text_get(&settings));
    px_text_done(&settings);
}

static cli_table *entry_table(const char *first)
{
    cli_table *table = cli_table_new("llll");
    cli_table_cell(table, "%s", first);
    cli_table_cell(table, "WHAT IT IS");
    cli_table_cell(table, "SOURCE");
    cli_table_cell(table, "SETTINGS");
    return table;
}

static void json_entry(px_json *json, const list_entry *e)
{
    px_json_string(json, "name", e->id);
    px_json_string(json, "help", e->title);
    px_json_string(json, "source", e->source);
    px_json_array(json, "settings");
    for (size_t k = 0; k < e->setting_count; k++) {
        const px_param *s = &e->settings[k];
        px_json_object(json, NULL);
        px_json_string(json, "name", s->name);
        if (s->choices) {
            px_json_string(json, "default", s->choices[(size_t)s->fallback]);
            px_json_array(json, "choices");
            for (size_t v = 0; s->choices[v]; v++)
                px_json_string(json, NULL, s->choices[v]);
            px_json_end(json);
        } else {
            px_json_real(json, "default", s->fallback);
            px_json_real(json, "least", s->least);
            px_json_real(json, "most", s->most);
        }
        px_json_string(json, "help", s->help);
        px_json_end(json);
    }
    px_json_end(json);
}

static list_entry criterion_entry(const px_criterion *c)
{
    return (list_entry){c->id, c->title, c->source, c->settings, c->setting_count};
}

void list_print_criteria(void)
{
    cli_table *table = entry_table("CRITERION");
    for (size_t i = 0; i < px_criterion_count(); i++) {
        const list_entry entry = criterion_entry(px_criterion_get(i));
        print_entry(table, &entry);
    }
    cli_table_print_free(table, "");
}

void list_json_criteria(px_json *json)
{
    px_json_array(json, "criteria");
    for (size_t i = 0; i < px_criterion_count(); i++) {
        const px_criterion *c = px_criterion_get(i);
        const list_entry entry = criterion_entry(c);
        px_json_object(json, NULL);
        json_entry(json, &entry);
        px_json_bool(json, "profile", c->learners && c->learners[0]);
        px_json_bool(json, "ordered", c->ordered);
        px_json_end(json);
    }
    px_json_end(json);
}

static list_entry selector_entry(const px_selector *s)
{
    return (list_entry){s->id, s->title, s->source, s->settings, s->setting_count};
}

void list_print_selectors(void)
{
    cli_table *table = entry_table("SELECTOR");
    for (size_t i = 0; i < px_selector_count(); i++) {
        const list_entry entry = selector_entry(px_selector_get(i));
        print_entry(table, &entry);
    }
    cli_table_print_free(table, "");
}

void list_json_selectors(px_json *json)
{
    px_json_array(json, "selectors");
    for (size_t i = 0; i < px_selector_count(); i++) {
        const px_selector *s = px_selector_get(i);
        const list_entry entry = selector_entry(s);
        px_json_object(json, NULL);
        json_entry(json, &entry);
        px_json_bool(json, "profile", s->learners && s->learners[0]);
        px_json_bool(json, "classes", (s->needs & PX_NEEDS_CLASSES) != 0);
        px_json_bool(json, "labelled", (s->needs & PX_NEEDS_LABELLED) != 0);
        px_json_bool(json, "pictures", (s->needs & PX_NEEDS_PICTURES) != 0);
        px_json_bool(json, "own_passes", s->run != NULL);
        px_json_end(json);
    }
    px_json_end(json);
}

static list_entry attack_entry(const px_attack_method *m)
{
    return (list_entry){m->id, m->title, m->source, m->settings, m->setting_count};
}

void list_print_attacks(void)
{
    cli_table *table = entry_table("ATTACK");
    for (size_t i = 0; i < px_attack_method_count(); i++) {
        const list_entry entry = attack_entry(px_attack_method_get(i));
        print_entry(table, &entry);
    }
    cli_table_print_free(table, "");
}

void list_json_attacks(px_json *json)
{
    px_json_array(json, "attacks");
    for (size_t i = 0; i < px_attack_method_count(); i++) {
        const px_attack_method *m = px_attack_method_get(i);
        const list_entry entry = attack_entry(m);
        px_json_object(json, NULL);
        json_entry(json, &entry);
        px_json_array(json, "norms");
        for (int k = 0; k < 3 && m->norms[k] != PX_NORM_AUTO; k++)
            px_json_string(json, NULL, px_norm_name(m->norms[k]));
        px_json_end(json);
        px_json_bool(json, "eps", m->bounded);
        px_json_bool(json, "restarts", m->restarts);
        px_json_end(json);
    }
    px_json_end(json);
}

void list_print_presets(void)
{
    cli_table *table = cli_table_new("lll");
    for (size_t i = 0; i < px_preset_count(); i++) {
        const px_preset *p = px_preset_get(i);
        px_text texts = {0};
        for (size_t k = 0; p->texts[k]; k++)
            px_text_format(&texts, "%s%s", k ? " " : "", p->texts[k]);
        cli_table_cell(table, "%s", p->id);
        cli_table_cell(table, "%s", p->source);
        cli_table_cell(table, "%s", px_text_get(&texts));
        px_text_done(&texts);
    }
    cli_table_print_free(table, "");
}

void list_json_presets(px_json *json)
{
    px_json_array(json, "presets");
    for (size_t i = 0; i < px_preset_count(); i++) {
        const px_preset *p = px_preset_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", p->id);
        px_json_string(json, "help", p->source);
        px_json_array(json, "settings");
        for (size_t k = 0; p->texts[k]; k++)
            px_json_string(json, NULL, p->texts[k]);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}

static list_entry engine_entry(const px_fuzz_engine *e)
{
    return (list_entry){e->id, e->title, e->source, e->settings, e->setting_count};
}

void list_print_engines(void)
{
    list_entry all = {.id = "(all)", .title = "what every engine has", .source = ""};
    cli_table *table = entry_table("ENGINE");
    for (size_t i = 0; i < px_fuzz_engine_count(); i++) {
        const list_entry entry = engine_entry(px_fuzz_engine_get(i));
        print_entry(table, &entry);
    }
    all.settings = px_fuzz_common_settings(&all.setting_count);
    print_entry(table, &all);
    cli_table_print_free(table, "");
}

void list_json_engines(px_json *json)
{
    px_json_array(json, "engines");
    for (size_t i = 0; i < px_fuzz_engine_count(); i++) {
        const px_fuzz_engine *e = px_fuzz_engine_get(i);
        const list_entry entry = engine_entry(e);
        px_json_object(json, NULL);
        json_entry(json, &entry);
        px_json_int(json, "least_models", (int64_t)e->least_models);
        px_json_int(json, "most_models", (int64_t)e->most_models);
        px_json_bool(json, "guided", e->guided);
        px_json_end(json);
    }
    px_json_end(json);
}

static void policy_texts(const px_fuzz_policy *p, px_text *text)
{
    px_text_format(text, "mutations=%s", p->mutations);
    for (size_t k = 0; p->texts[k]; k++)
        px_text_format(text, ", %s", p->texts[k]);
}

void list_print_policies(void)
{
    cli_table *table = entry_table("POLICY");
    for (size_t i = 0; i < px_fuzz_policy_count(); i++) {
        const px_fuzz_policy *p = px_fuzz_policy_get(i);
        px_text texts = {0};
        policy_texts(p, &texts);
        cli_table_cell(table, "%s", p->id);
        cli_table_cell(table, "%s", p->title);
        cli_table_cell(table, "%s", p->source);
        cli_table_cell(table, "%s", px_text_get(&texts));
        px_text_done(&texts);
    }
    cli_table_print_free(table, "");
}

void list_json_policies(px_json *json)
{
    px_json_array(json, "policies");
    for (size_t i = 0; i < px_fuzz_policy_count(); i++) {
        const px_fuzz_policy *p = px_fuzz_policy_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", p->id);
        px_json_string(json, "help", p->title);
        px_json_string(json, "source", p->source);
        px_json_string(json, "mutations", p->mutations);
        px_json_array(json, "settings");
        for (size_t k = 0; p->texts[k]; k++)
            px_json_string(json, NULL, p->texts[k]);
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}
