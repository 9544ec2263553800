/* src/cli/list_preprocess.c - plexor list preprocess */
#include "cli/list_preprocess.h"

#include "cli/cli.h"

#include <plexor/preprocess.h>

void list_print_preprocess(void)
{
    cli_table *table = cli_table_new("lll");
    cli_table_cell(table, "PRESET");
    cli_table_cell(table, "WHAT REACHES THE NETWORK");
    cli_table_cell(table, "USED BY");
    for (size_t i = 0; i < px_preprocess_preset_count(); i++) {
        const px_preprocess_preset *p = px_preprocess_preset_get(i);
        cli_table_cell(table, "%s%s%s", p->id, p->alias ? ", " : "", p->alias ? p->alias : "");
        cli_table_cell(table, "%s", p->title);
        cli_table_cell(table, "%s", p->used);
    }
    cli_table_print_free(table, "");
}

static void preset_numbers(px_json *json, const char *key, const double *values, int count)
{
    px_json_array(json, key);
    for (int c = 0; c < count; c++)
        px_json_real(json, NULL, values[c]);
    px_json_end(json);
}

void list_json_preprocess(px_json *json)
{
    px_json_array(json, "preprocess");
    for (size_t i = 0; i < px_preprocess_preset_count(); i++) {
        const px_preprocess_preset *p = px_preprocess_preset_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", p->id);
        px_json_string(json, "alias", p->alias);
        px_json_string(json, "help", p->title);
        px_json_string(json, "used", p->used);
        px_json_real(json, "range", p->range);
        preset_numbers(json, "mean", p->mean, p->channels);
        preset_numbers(json, "std", p->stddev, p->channels);
        px_json_string(json, "channels", p->bgr ? "bgr" : "rgb");
        px_json_end(json);
    }
    px_json_end(json);
}
