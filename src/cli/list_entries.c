/* src/cli/list_entries.c - the lists of criteria, selectors, attacks and engines */
#include "cli/list_entries.h"

#include "cli/cli.h"

#include <plexor/attack.h>
#include <plexor/cover.h>
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

void list_print_entries(const list_entries *entries)
{
    const char *const titles[] = {entries->heading, "WHAT IT IS", "SOURCE", "SETTINGS"};
    cli_table *table = cli_table_new("llll");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < entries->count(); i++) {
        const list_entry entry = entries->get(i);
        print_entry(table, &entry);
    }
    if (entries->common) {
        const list_entry entry = entries->common();
        print_entry(table, &entry);
    }
    cli_table_print_free(table, "");
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

void list_json_entries(px_json *json, const char *key, const list_entries *entries)
{
    px_json_array(json, key);
    for (size_t i = 0; i < entries->count(); i++) {
        const list_entry entry = entries->get(i);
        px_json_object(json, NULL);
        json_entry(json, &entry);
        entries->more(json, i);
        px_json_end(json);
    }
    px_json_end(json);
}

/* --- each list -----------------------------------------------------------------------------------
 */

static list_entry criterion_entry(size_t i)
{
    const px_criterion *c = px_criterion_get(i);
    return (list_entry){c->id, c->title, c->source, c->settings, c->setting_count};
}

static void criterion_more(px_json *json, size_t i)
{
    const px_criterion *c = px_criterion_get(i);
    px_json_bool(json, "profile", c->learners && c->learners[0]);
    px_json_bool(json, "ordered", c->ordered);
}

const list_entries list_criteria = {.heading = "CRITERION",
                                    .count = px_criterion_count,
                                    .get = criterion_entry,
                                    .more = criterion_more};

static list_entry selector_entry(size_t i)
{
    const px_selector *s = px_selector_get(i);
    return (list_entry){s->id, s->title, s->source, s->settings, s->setting_count};
}

static void selector_more(px_json *json, size_t i)
{
    const px_selector *s = px_selector_get(i);
    px_json_bool(json, "profile", s->learners && s->learners[0]);
    px_json_bool(json, "classes", (s->needs & PX_NEEDS_CLASSES) != 0);
    px_json_bool(json, "labelled", (s->needs & PX_NEEDS_LABELLED) != 0);
    px_json_bool(json, "pictures", (s->needs & PX_NEEDS_PICTURES) != 0);
    px_json_bool(json, "own_passes", s->run != NULL);
}

const list_entries list_selectors = {.heading = "SELECTOR",
                                     .count = px_selector_count,
                                     .get = selector_entry,
                                     .more = selector_more};

static list_entry attack_entry(size_t i)
{
    const px_attack_method *m = px_attack_method_get(i);
    return (list_entry){m->id, m->title, m->source, m->settings, m->setting_count};
}

static void attack_more(px_json *json, size_t i)
{
    const px_attack_method *m = px_attack_method_get(i);
    px_json_array(json, "norms");
    for (int k = 0; k < 3 && m->norms[k] != PX_NORM_AUTO; k++)
        px_json_string(json, NULL, px_norm_name(m->norms[k]));
    px_json_end(json);
    px_json_bool(json, "eps", m->bounded);
    px_json_bool(json, "restarts", m->restarts);
}

const list_entries list_attacks = {
    .heading = "ATTACK", .count = px_attack_method_count, .get = attack_entry, .more = attack_more};

static list_entry engine_entry(size_t i)
{
    const px_fuzz_engine *e = px_fuzz_engine_get(i);
    return (list_entry){e->id, e->title, e->source, e->settings, e->setting_count};
}

static void engine_more(px_json *json, size_t i)
{
    const px_fuzz_engine *e = px_fuzz_engine_get(i);
    px_json_int(json, "least_models", (int64_t)e->least_models);
    px_json_int(json, "most_models", (int64_t)e->most_models);
    px_json_bool(json, "guided", e->guided);
}

static list_entry engine_common(void)
{
    list_entry all = {.id = "(all)", .title = "what every engine has", .source = ""};
    all.settings = px_fuzz_common_settings(&all.setting_count);
    return all;
}

const list_entries list_engines = {.heading = "ENGINE",
                                   .count = px_fuzz_engine_count,
                                   .get = engine_entry,
                                   .more = engine_more,
                                   .common = engine_common};
