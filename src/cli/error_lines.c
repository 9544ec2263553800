/* src/cli/error_lines.c - errors of a campaign as DeepSensor counts them (paper 003) */
#include "cli/error_lines.h"

#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>

int error_lines(const px_error_counts *e, error_line lines[ERROR_LINES_MOST])
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    int count = 0;
    if (e->examples == 0)
        return 0;
    error_line *line = &lines[count++];
    *line = (error_line){.what = "test errors", .value = e->errors};
    if (e->not_stored > 0)
        snprintf(line->remark, sizeof line->remark, "of %s examples; %s repeats were not stored",
                 cli_number(e->examples, a), cli_number(e->not_stored, b));
    else
        snprintf(line->remark, sizeof line->remark, "of %s examples", cli_number(e->examples, a));
    line = &lines[count++];
    *line = (error_line){.what = "error categories", .value = e->categories};
    snprintf(line->remark, sizeof line->remark, "%.3f per seed", e->categories_per_seed);
    line = &lines[count++];
    *line = (error_line){.what = "E_any", .value = e->last_errors};
    snprintf(line->remark, sizeof line->remark, "of the %s last examples of seeds",
             cli_number(e->last_examples, a));
    if (e->polluted_class < 0)
        return count;
    line = &lines[count++];
    *line = (error_line){.what = "E_pol", .value = e->last_polluted};
    snprintf(line->remark, sizeof line->remark,
             "of those as polluted class %" PRId64 "; %s of all test errors", e->polluted_class,
             cli_number(e->polluted, a));
    return count;
}

void error_lines_json(const px_error_counts *e, px_json *json)
{
    const bool known = e->polluted_class >= 0;
    px_json_object(json, "errors");
    px_json_int(json, "examples", e->examples);
    px_json_int(json, "test_errors", e->errors);
    px_json_int(json, "not_stored", e->not_stored);
    px_json_int(json, "error_categories", e->categories);
    px_json_real(json, "average_categories", e->categories_per_seed);
    px_json_int(json, "last_examples", e->last_examples);
    px_json_int(json, "e_any", e->last_errors);
    if (known) {
        px_json_int(json, "polluted_class", e->polluted_class);
        px_json_int(json, "polluted_errors", e->polluted);
        px_json_int(json, "e_pol", e->last_polluted);
    } else {
        px_json_null(json, "polluted_class");
        px_json_null(json, "polluted_errors");
        px_json_null(json, "e_pol");
    }
    px_json_end(json);
}
