/* src/cli/modes_print.c - failure modes in words: "rotation beyond 40 degrees: 87% of tries fail"
 */
#include "cli/modes_print.h"

#include "cli/cli.h"

#include <internal/modes.h>
#include <stdio.h>

void modes_print(px_mode *modes, size_t count, size_t most)
{
    char text[PX_BAND_TEXT], a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const size_t rows = px_modes_rank(modes, count);
    cli_table *table = cli_table_new("lrl");
    size_t shown = 0;
    for (size_t i = 0; i < rows && shown < most; i++) {
        if (modes[i].faults == 0 || modes[i].tries < PX_MODE_TRIES)
            continue;
        cli_table_cell(table, "%s", px_mode_text(&modes[i], text));
        cli_table_cell(table, "%.0f%%", 100.0 * px_mode_rate(&modes[i]));
        cli_table_cell(table, "of tries fail: %s of %s", cli_number(modes[i].faults, a),
                       cli_number(modes[i].tries, b));
        shown++;
    }
    if (shown)
        cli_print("what breaks it most often:\n");
    cli_table_print_free(table, "  ");
}
