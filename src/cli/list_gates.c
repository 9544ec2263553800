/* src/cli/list_gates.c - plexor list gates */
#include "cli/list_gates.h"

#include "cli/cli.h"

#include <plexor/check.h>

void list_print_gates(void)
{
    static const char *const titles[] = {"GATE", "HOLDS AT", "STAGE", "WHAT IT IS"};
    cli_table *table = cli_table_new("llll");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_gate_kind_count(); i++) {
        const px_gate_kind *kind = px_gate_kind_get(i);
        cli_table_cell(table, "%s", kind->name);
        cli_table_cell(table, "%s", kind->most ? "most" : "least");
        cli_table_cell(table, "%s", kind->stage);
        cli_table_cell(table, "%s", kind->help);
    }
    cli_table_print_free(table, "");
}

void list_json_gates(px_json *json)
{
    px_json_array(json, "gates");
    for (size_t i = 0; i < px_gate_kind_count(); i++) {
        const px_gate_kind *kind = px_gate_kind_get(i);
        px_json_object(json, NULL);
        px_json_string(json, "name", kind->name);
        px_json_string(json, "holds_at", kind->most ? "most" : "least");
        px_json_string(json, "stage", kind->stage);
        px_json_string(json, "help", kind->help);
        px_json_end(json);
    }
    px_json_end(json);
}
