/* src/cli/list_audio.c - plexor list audio */
#include "cli/list_audio.h"

#include "cli/cli.h"

#include <plexor/audio.h>

void list_print_audio(void)
{
    cli_table *table = cli_table_new("ll");
    for (size_t i = 0; i < px_audio_param_count(); i++) {
        const px_param *p = px_audio_param(i);
        px_text value = {0};
        for (size_t c = 0; p->choices && p->choices[c]; c++)
            px_text_format(&value, "%s%s", c ? "|" : "", p->choices[c]);
        if (!p->choices)
            px_text_format(&value, "%g", p->fallback);
        cli_table_cell(table, "%s=%s", p->name, px_text_get(&value));
        cli_table_cell(table, "%s", p->help);
        px_text_done(&value);
    }
    cli_table_print_free(table, "");
}

void list_json_audio(px_json *json)
{
    px_json_array(json, "audio");
    for (size_t i = 0; i < px_audio_param_count(); i++) {
        const px_param *p = px_audio_param(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", p->name);
        if (p->choices) {
            px_json_string(json, "default", p->choices[(int)p->fallback]);
            px_json_array(json, "choices");
            for (size_t c = 0; p->choices[c]; c++)
                px_json_string(json, NULL, p->choices[c]);
            px_json_end(json);
        } else {
            px_json_real(json, "default", p->fallback);
            px_json_real(json, "least", p->least);
            px_json_real(json, "most", p->most);
        }
        px_json_string(json, "help", p->help);
        px_json_end(json);
    }
    px_json_end(json);
}
