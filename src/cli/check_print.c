/* src/cli/check_print.c - an examination on a terminal: a line or two of every stage */
#include "cli/check_print.h"

#include "cli/cli.h"

#include <internal/check.h>
#include <math.h>
#include <stdio.h>

static void print_stage(const px_check *check, size_t i)
{
    px_text line = {0};
    if (px_check_state_of(check, i) == PX_CHECK_SKIPPED)
        return;
    px_check_line(check, i, &line);
    cli_print("%-11s%s\n", px_check_stage_get(i)->id, px_text_get(&line));
    px_text_done(&line);
}

void check_print(const px_check *check)
{
    const px_verdict verdict = px_check_verdict(check);
    for (size_t i = 0; i < px_check_stage_count(); i++)
        print_stage(check, i);
    for (size_t i = 0; i < px_check_gate_count(check); i++) {
        const px_check_gate g = px_check_gate_get(check, i);
        cli_print("%-11s%s ", g.held ? "holds" : "FAILS", g.kind->name);
        if (isnan(g.value))
            cli_print("was not measured");
        else
            cli_print("%.6g", g.value);
        cli_print(", must be at %s %g\n", g.kind->most ? "most" : "least", g.threshold);
    }
    cli_print("%-11s%s\n", "verdict",
              verdict == PX_VERDICT_PASS   ? "pass"
              : verdict == PX_VERDICT_FAIL ? "fail"
                                           : "none: no thresholds were given (--fail-under)");
    cli_print("%-11s%s\n", "report", px_check_page(check) ? px_check_page(check) : "-");
}
