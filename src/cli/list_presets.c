/* src/cli/list_presets.c - published settings by name: presets of criteria, policies of fuzzers */
#include "cli/list_presets.h"

#include "cli/cli.h"

#include <plexor/cover.h>
#include <plexor/fuzz.h>

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

static void policy_texts(const px_fuzz_policy *p, px_text *text)
{
    px_text_format(text, "mutations=%s", p->mutations);
    for (size_t k = 0; p->texts[k]; k++)
        px_text_format(text, ", %s", p->texts[k]);
}

void list_print_policies(void)
{
    cli_table *table = cli_table_new("llll");
    cli_table_cell(table, "POLICY");
    cli_table_cell(table, "WHAT IT IS");
    cli_table_cell(table, "SOURCE");
    cli_table_cell(table, "SETTINGS");
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
