/* src/cli/cmd_status.c - plexor status CAMPAIGN: what a campaign has found, also while it runs */
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/error_lines.h"
#include "cli/modes_print.h"

#include <internal/data.h>
#include <internal/modes.h>
#include <internal/store.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_MODES = 10 }; /* that are printed; --json has all */

typedef struct status_curve { /* of one criterion */
    const char *name;
    double value;
    int64_t step, points;
} status_curve;

static px_status status_curve_read(px_campaign *campaign, const char *name, status_curve *out,
                                   px_error *err)
{
    px_coverage_point *points = NULL;
    size_t count = 0;
    PX_TRY(px_campaign_coverage(campaign, name, &points, &count, err));
    *out = (status_curve){.name = name, .value = NAN, .points = (int64_t)count};
    if (count) {
        out->value = points[count - 1].value;
        out->step = points[count - 1].step;
    }
    free(points);
    return PX_OK;
}

static void status_line(cli_table *table, const char *what, const char *value)
{
    cli_table_cell(table, "%s", what);
    cli_table_cell(table, "%s", value);
}

static void status_real(cli_table *table, const char *what, double value, const char *format)
{
    char text[64];
    if (isnan(value))
        return;
    snprintf(text, sizeof text, format, value);
    status_line(table, what, text);
}

static void status_print(px_campaign *campaign, const px_campaign_counts *counts,
                         const px_error_counts *errors, const status_curve *curves, int count,
                         long writer)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], text[160];
    error_line lines[ERROR_LINES_MOST];
    cli_table *table = cli_table_new("ll");
    if (writer)
        snprintf(text, sizeof text, "process %ld works on it", writer);
    else
        snprintf(text, sizeof text, "nobody works on it");
    status_line(table, px_campaign_folder(campaign), text);
    const double planned = px_campaign_get_real(campaign, PX_CAMPAIGN_INPUTS_PLANNED, -1.0);
    const double done = px_campaign_get_real(campaign, PX_CAMPAIGN_INPUTS_DONE, 0.0);
    if (planned >= 0.0) {
        snprintf(text, sizeof text,
                 done < planned ? "%s of %s, unfinished; --resume goes on" : "%s of %s",
                 cli_number((int64_t)done, a), cli_number((int64_t)planned, b));
        status_line(table, "inputs", text);
    }
    if (!isnan(counts->seconds))
        status_line(table, "run time", cli_duration(counts->seconds, a));
    snprintf(text, sizeof text, "%s", cli_number(counts->executions, a));
    status_line(table, "executions", text);
    status_line(table, "seeds", cli_number(counts->seeds, a));
    snprintf(text, sizeof text, "%s (%s kept)", cli_number(counts->outputs, a),
             cli_number(counts->kept, b));
    status_line(table, "outputs", text);
    snprintf(text, sizeof text, "%s (%s distinct)", cli_number(counts->faults, a),
             cli_number(counts->unique_faults, b));
    status_line(table, "failures", text);
    if (counts->measured == counts->faults)
        snprintf(text, sizeof text, "%s of them to their originals",
                 cli_number(counts->close_faults, a));
    else
        snprintf(text, sizeof text,
                 "not known of %s: an older plexor wrote them, --resume measures",
                 cli_number(counts->faults - counts->measured, a));
    status_line(table, "close", text);
    snprintf(text, sizeof text, "%s pairs of classes, %s classes predicted",
             cli_number(counts->fault_types, a), cli_number(counts->classes, b));
    status_line(table, "kinds", text);
    status_real(table, "failures / outputs", counts->rft, "%.3f");
    status_real(table, "seconds / failure", counts->fre, "%.3g");
    status_real(table, "impartiality", counts->oi, "%.3f");
    const int line_count = error_lines(errors, lines);
    for (int i = 0; i < line_count; i++) {
        snprintf(text, sizeof text, "%s (%s)", cli_number(lines[i].value, a), lines[i].remark);
        status_line(table, lines[i].what, text);
    }
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.6g, last at %s executions", curves[i].value,
                 cli_number(curves[i].step, a));
        status_line(table, curves[i].name, text);
    }
    cli_table_print_free(table, "");
}

static void status_json(px_campaign *campaign, const px_campaign_counts *counts,
                        const px_error_counts *errors, const status_curve *curves, int count,
                        long writer, px_json *json)
{
    px_json_string(json, "campaign", px_campaign_folder(campaign));
    const double planned = px_campaign_get_real(campaign, PX_CAMPAIGN_INPUTS_PLANNED, -1.0);
    const double done = px_campaign_get_real(campaign, PX_CAMPAIGN_INPUTS_DONE, 0.0);
    if (planned >= 0.0) {
        px_json_int(json, "inputs_planned", (int64_t)planned);
        px_json_int(json, "inputs_done", (int64_t)done);
        px_json_bool(json, "finished", done >= planned);
    }
    px_json_int(json, "executions", counts->executions);
    px_json_int(json, "seeds", counts->seeds);
    px_json_int(json, "outputs", counts->outputs);
    px_json_int(json, "faults", counts->faults);
    px_json_int(json, "unique_faults", counts->unique_faults);
    px_json_real(json, "close_faults",
                 counts->measured == counts->faults ? (double)counts->close_faults : (double)NAN);
    px_json_int(json, "fault_types", counts->fault_types);
    px_json_real(json, "rft", counts->rft);
    px_json_real(json, "fre", counts->fre);
    px_json_int(json, "classes", counts->classes);
    px_json_real(json, "oi", counts->oi);
    px_json_real(json, "oi_outputs", counts->oi_outputs);
    error_lines_json(errors, json);
    px_json_object(json, "coverage");
    for (int i = 0; i < count; i++)
        px_json_real(json, curves[i].name, curves[i].value);
    px_json_end(json);
    px_json_real(json, "seconds", counts->seconds);
    px_json_int(json, "pid", writer);
}

static px_status status_read(px_campaign *campaign, bool check, int64_t polluted_class,
                             px_campaign_counts *counts, px_error_counts *errors, char ***names,
                             int *name_count, status_curve **curves, px_error *err)
{
    if (check)
        PX_TRY(px_campaign_check(campaign, err));
    PX_TRY(px_campaign_count(campaign, counts, err));
    PX_TRY(px_campaign_count_errors(campaign, polluted_class, errors, err));
    PX_TRY(px_campaign_criteria(campaign, names, name_count, err));
    *curves = calloc((size_t)*name_count + 1, sizeof **curves);
    if (!*curves)
        return pxi_no_memory(err);
    for (int i = 0; i < *name_count; i++)
        PX_TRY(status_curve_read(campaign, (*names)[i], &(*curves)[i], err));
    return PX_OK;
}

static int status_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
    const char *folder = NULL;
    bool check = false;
    int64_t polluted_class = -1;
    const cli_option options[] = {
        CLI_FLAG(0, "check", &check, "read every input and check the database first"),
        CLI_INT(0, "polluted-class", &polluted_class, "C", 0, 1e9,
                "what a network trained on polluted data takes patches for, for E_pol; else as "
                "the campaign has it"),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &folder, 1, 1);
    if (stop != CLI_GO)
        return stop;
    px_error err = {0};
    px_campaign *campaign = NULL;
    px_campaign_counts counts = {0};
    px_error_counts errors = {0};
    status_curve *curves = NULL;
    px_mode *modes = NULL;
    size_t mode_count = 0;
    char **names = NULL;
    int count = 0, rc = CLI_DONE;
    px_status status = px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, &err);
    if (status == PX_OK)
        status = status_read(campaign, check, polluted_class, &counts, &errors, &names, &count,
                             &curves, &err);
    if (status == PX_OK)
        status = px_campaign_modes(campaign, &modes, &mode_count, &err);
    if (status != PX_OK) {
        rc = cli_fail(self, &err);
    } else if (output.json) {
        px_json json = {0};
        cli_json_open(&json);
        status_json(campaign, &counts, &errors, curves, count, px_campaign_writer(campaign), &json);
        status = px_modes_json(modes, mode_count, &json, &err);
        px_json_end(&json);
        rc = status == PX_OK ? cli_print_json(self, &json) : cli_fail(self, &err);
    } else {
        status_print(campaign, &counts, &errors, curves, count, px_campaign_writer(campaign));
        modes_print(modes, mode_count, STATUS_MODES);
    }
    free(modes);
    free(curves);
    px_class_names_free(names, count);
    px_campaign_close(campaign);
    return rc;
}

const cli_command cli_command_status = {
    .name = "status",
    .usage = "CAMPAIGN [options]",
    .help = "what a campaign has found so far, also while it runs",
    .details =
        "Counts what is committed: another process may be at work on the campaign. RFT is "
        "the share of failures among the outputs, FRE the seconds per failure, impartiality "
        "(OI) the normalised entropy of the wrong answers. Error categories are the "
        "distinct wrong answers to examples of one seed, summed; E_any and E_pol are errors "
        "among the last examples of all seeds, the latter with the polluted class as answer.",
    .examples = "plexor status run.campaign\nplexor status run.campaign --check --json\n",
    .run = status_run,
};
