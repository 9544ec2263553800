/* src/cli/cmd_status.c - plexor status CAMPAIGN: what a campaign has found, also while it runs */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/campaign_print.h"
#include "cli/cli_fields.h"

#include <internal/data.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_MODES = 10 }; /* that are printed; --json has all */

typedef struct status_curve { /* of one criterion */
    const char *name;
    double value;
    int64_t step;
} status_curve;

typedef struct status {
    const char *folder;
    bool has_plan, finished;
    int64_t planned, done; /* inputs, of commands that know how many there will be */
    campaign_found found;
    double close_faults; /* NaN: an older plexor did not measure all */
    status_curve *curves;
    char **names; /* of them */
    int curve_count;
    int64_t writer; /* the process that works on it; 0: none */
} status;

static px_status status_read(px_campaign *campaign, int64_t polluted_class, status *s,
                             px_error *err)
{
    const px_campaign_counts *counts = &s->found.counts;
    s->folder = px_campaign_folder(campaign);
    s->writer = px_campaign_writer(campaign);
    const double planned = px_campaign_get_real(campaign, PX_CAMPAIGN_INPUTS_PLANNED, -1.0);
    s->has_plan = planned >= 0.0;
    s->planned = (int64_t)planned;
    s->done = (int64_t)px_campaign_get_real(campaign, PX_CAMPAIGN_INPUTS_DONE, 0.0);
    s->finished = s->done >= s->planned;
    PX_TRY(campaign_found_read(campaign, polluted_class, &s->found, err));
    s->close_faults =
        counts->measured == counts->faults ? (double)counts->close_faults : (double)NAN;
    PX_TRY(px_campaign_criteria(campaign, &s->names, &s->curve_count, err));
    PX_TRY(PX_NEW(s->curves, s->curve_count + 1, err));
    for (int i = 0; i < s->curve_count; i++) {
        px_coverage_point *points = NULL;
        size_t count = 0;
        PX_TRY(px_campaign_coverage(campaign, s->names[i], &points, &count, err));
        s->curves[i] = (status_curve){.name = s->names[i], .value = NAN};
        if (count)
            s->curves[i] =
                (status_curve){s->names[i], points[count - 1].value, points[count - 1].step};
        free(points);
    }
    return PX_OK;
}

/* --- what is said ---------------------------------------------------------------------------- */

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

static void status_print(const void *of)
{
    const status *s = of;
    const px_campaign_counts *counts = &s->found.counts;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], text[160];
    error_line lines[ERROR_LINES_MOST];
    cli_table *table = cli_table_new("ll");
    if (s->writer)
        snprintf(text, sizeof text, "process %" PRId64 " works on it", s->writer);
    else
        snprintf(text, sizeof text, "nobody works on it");
    status_line(table, s->folder, text);
    if (s->has_plan) {
        snprintf(text, sizeof text,
                 s->finished ? "%s of %s" : "%s of %s, unfinished; --resume goes on",
                 cli_number(s->done, a), cli_number(s->planned, b));
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
    const int line_count = error_lines(&s->found.errors, lines);
    for (int i = 0; i < line_count; i++) {
        snprintf(text, sizeof text, "%s (%s)", cli_number(lines[i].value, a), lines[i].remark);
        status_line(table, lines[i].what, text);
    }
    for (int i = 0; i < s->curve_count; i++) {
        snprintf(text, sizeof text, "%.6g, last at %s executions", s->curves[i].value,
                 cli_number(s->curves[i].step, a));
        status_line(table, s->curves[i].name, text);
    }
    cli_table_print_free(table, "");
    modes_print(&s->found.modes, STATUS_MODES);
}

static const px_field curve_fields[] = {
    PX_FIELD(status_curve, name, "criterion", "that was measured"),
    PX_FIELD(status_curve, value, "", "last"),
    PX_FIELDS_END,
};

#define COUNT(member, ...) PX_FIELD(status, found.counts.member, #member, __VA_ARGS__)
static const px_field status_fields[] = {
    PX_FIELD(status, folder, "campaign", "its folder"),
    PX_FIELD(status, planned, "inputs_planned", "of commands that know how many",
             PX_IF(status, has_plan)),
    PX_FIELD(status, done, "inputs_done", "of them", PX_IF(status, has_plan)),
    PX_FIELD(status, finished, "finished", "all are", PX_IF(status, has_plan)),
    COUNT(executions, "runs of the network"),
    COUNT(seeds, "inputs it began with"),
    COUNT(outputs, "kept inputs and failures"),
    COUNT(faults, "failures"),
    COUNT(unique_faults, "those that no earlier one nearly repeats"),
    PX_FIELD(status, close_faults, "close_faults", "close to their originals; null: not known"),
    PX_OBJECT(status, found, campaign_rates_fields, ""),
    PX_MAP(status, curves, curve_count, curve_fields, "coverage", "by criterion"),
    COUNT(seconds, "that it ran, without pauses", .unit = "s"),
    PX_FIELD(status, writer, "pid", "process that works on it; 0: none"),
    PX_OBJECT(status, found.modes, px_modes_fields, ""),
    PX_FIELDS_END,
};

static int status_run(const cli_command *self, int argc, char **argv)
{
    const char *folder = NULL;
    bool check = false;
    int64_t polluted_class = -1;
    const cli_option options[] = {
        CLI_FLAG(0, "check", &check, "read every input and check the database first"),
        CLI_INT(0, "polluted-class", &polluted_class, "C", 0, 1e9,
                "what a network trained on polluted data takes patches for, for E_pol; else as "
                "the campaign has it"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &folder, 1, 1));
    px_error err = {0};
    px_campaign *campaign = NULL;
    status s = {0};
    px_status done = px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, &err);
    if (done == PX_OK && check)
        done = px_campaign_check(campaign, &err);
    PX_THEN(done, status_read(campaign, polluted_class, &s, &err));
    int rc = cli_answer(self, done, &err, &s, status_print);
    px_modes_done(&s.found.modes);
    free(s.curves);
    px_class_names_free(s.names, s.curve_count);
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
    .result = status_fields,
};
