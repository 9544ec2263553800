/* src/cli/list_metrics.c - plexor list metrics */
#include "cli/list_metrics.h"

#include "cli/cli.h"

#include <plexor/assess.h>
#include <stdio.h>

void list_print_metrics(void)
{
    cli_table *table = cli_table_new("llll");
    cli_table_cell(table, "METRIC");
    cli_table_cell(table, "BETTER");
    cli_table_cell(table, "WHAT IT IS");
    cli_table_cell(table, "SETTINGS");
    for (size_t i = 0; i < px_metric_count(); i++) {
        const px_metric *m = px_metric_get(i);
        cli_table_cell(table, "%s", m->id);
        cli_table_cell(table, "%s", px_better_name(m->better));
        cli_table_cell(table, "%s: %s", m->title, m->definition);
        px_text settings = {0};
        px_text_add(&settings, "");
        for (size_t k = 0; k < m->setting_count; k++) {
            const px_param *s = &m->settings[k];
            px_text_format(&settings, "%s%s=", k ? " " : "", s->name);
            for (size_t c = 0; s->choices && s->choices[c]; c++)
                px_text_format(&settings, "%s%s", c ? "|" : "", s->choices[c]);
            if (!s->choices)
                px_text_format(&settings, "%g", s->fallback);
        }
        cli_table_cell(table, "%s", px_text_get(&settings));
        px_text_done(&settings);
    }
    cli_table_print_free(table, "");
}

void list_json_metrics(px_json *json)
{
    px_json_array(json, "metrics");
    for (size_t i = 0; i < px_metric_count(); i++) {
        const px_metric *m = px_metric_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", m->id);
        px_json_string(json, "title", m->title);
        px_json_string(json, "definition", m->definition);
        px_json_string(json, "equation", m->equation);
        px_json_string(json, "better", px_better_name(m->better));
        px_json_bool(json, "better_stated", m->stated);
        px_json_string(json, "remark", m->remark);
        px_json_array(json, "settings");
        for (size_t k = 0; k < m->setting_count; k++) {
            px_json_object(json, NULL);
            px_json_string(json, "name", m->settings[k].name);
            px_json_real(json, "default", m->settings[k].fallback);
            px_json_string(json, "help", m->settings[k].help);
            px_json_end(json);
        }
        px_json_end(json);
        px_json_end(json);
    }
    px_json_end(json);
}
