/* src/cli/list_criteria.c - the lists of coverage criteria and of presets */
#include "cli/list_criteria.h"

#include "cli/cli.h"

#include <plexor/cover.h>

static void criterion_setting(const px_param *s, px_text *text)
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

void list_print_criteria(void)
{
    cli_table *table = cli_table_new("llll");
    static const char *const titles[] = {"CRITERION", "WHAT IT IS", "SOURCE", "SETTINGS"};
    for (size_t i = 0; i < 4; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_criterion_count(); i++) {
        const px_criterion *c = px_criterion_get(i);
        px_text settings = {0};
        for (size_t k = 0; k < c->setting_count; k++) {
            px_text_add(&settings, k ? ", " : "");
            criterion_setting(&c->settings[k], &settings);
        }
        cli_table_cell(table, "%s", c->id);
        cli_table_cell(table, "%s", c->title);
        cli_table_cell(table, "%s", c->source);
        cli_table_cell(table, "%s", px_text_get(&settings));
        px_text_done(&settings);
    }
    cli_table_print_free(table, "");
}

void list_json_criteria(px_json *json)
{
    px_json_array(json, "criteria");
    for (size_t i = 0; i < px_criterion_count(); i++) {
        const px_criterion *c = px_criterion_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", c->id);
        px_json_string(json, "help", c->title);
        px_json_string(json, "source", c->source);
        px_json_bool(json, "profile", c->learners && c->learners[0]);
        px_json_bool(json, "ordered", c->ordered);
        px_json_array(json, "settings");
        for (size_t k = 0; k < c->setting_count; k++) {
            const px_param *s = &c->settings[k];
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
