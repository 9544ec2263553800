/* src/cli/fuzz_summary.c - what a campaign found, at its end: paper 001 section 5.4 */
#include "cli/fuzz_summary.h"

#include "cli/fuzz_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FUZZ_MODES = 5 };

static void summary_line(cli_table *table, const char *what, const char *value, const char *remark)
{
    cli_table_cell(table, "%s", what);
    cli_table_cell(table, "%s", value);
    cli_table_cell(table, "%s", remark);
}

static void summary_count(cli_table *table, const char *what, int64_t value, const char *remark)
{
    char number[FUZZ_FIGURE];
    summary_line(table, what, cli_number(value, number), remark);
}

static void summary_real(cli_table *table, const char *what, double value, const char *format,
                         const char *remark)
{
    char number[64];
    snprintf(number, sizeof number, isnan(value) ? "-" : format, value);
    summary_line(table, what, number, remark);
}

void fuzz_summary_print(const fuzz_summary *summary)
{
    const px_fuzz_report *report = &summary->report;
    const px_campaign_counts *counts = &summary->found.counts;
    const double before_s = summary->before_s;
    char words[160], a[FUZZ_FIGURE], b[FUZZ_FIGURE];
    error_line lines[ERROR_LINES_MOST];
    cli_table *table = cli_table_new("lrl");
    snprintf(words, sizeof words, "stopped: %.100s", report->stopped ? report->stopped : "not yet");
    if (before_s > 0)
        snprintf(words + strlen(words), sizeof words - strlen(words), " in all, %.3g s before",
                 before_s);
    summary_line(table, "run time", fuzz_time_short(report->run_s, b), words);
    snprintf(words, sizeof words, "%s/s", fuzz_rate(report->executions_per_s, a));
    summary_count(table, "executions", report->executions, words);
    snprintf(words, sizeof words, "%s misclassified ones were left out",
             cli_number(report->seeds_wrong, a));
    summary_count(table, "seeds", counts->seeds, words);
    snprintf(words, sizeof words, "%s kept", cli_number(counts->kept, a));
    summary_count(table, "outputs", counts->outputs, words);
    snprintf(words, sizeof words, "%s distinct, of %s kinds", cli_number(counts->unique_faults, a),
             cli_number(counts->fault_types, b));
    summary_count(table, "failures", counts->faults, words);
    summary_count(table, "close", counts->close_faults, "failures close to their originals");
    if (report->rejected > 0)
        summary_count(table, "rejected", report->rejected, "too far from their originals");
    summary_real(table, "RFT", counts->rft, "%.3f", "failures / outputs");
    summary_real(table, "FRE", counts->fre, "%.3g", "seconds / failure");
    snprintf(words, sizeof words, "of %s, that failures are taken for",
             cli_number(report->class_count, a));
    summary_count(table, "classes", counts->classes,
                  report->class_count > 0 ? words : "that failures are taken for");
    summary_real(table, "OI", counts->oi, "%.3f", "impartiality of those predictions");
    const int line_count = error_lines(&summary->found.errors, lines);
    for (int i = 0; i < line_count; i++)
        summary_count(table, lines[i].what, lines[i].value, lines[i].remark);
    if (!isnan(report->coverage.value)) {
        const px_coverage seeds = {.value = report->coverage_seeds,
                                   .total = report->coverage.total};
        snprintf(words, sizeof words, "the seeds alone: %s", fuzz_coverage(&seeds, a));
        if (report->resets > 0)
            snprintf(words, sizeof words, "since the last of %s resets; the seeds alone: %s",
                     cli_number(report->resets, b), fuzz_coverage(&seeds, a));
        summary_line(table, report->guide ? report->guide : "coverage",
                     fuzz_coverage(&report->coverage, b), words);
    }
    const char *whose = isnan(report->paths.tau) ? report->engine : report->guide;
    for (size_t i = 0; i < report->note_count; i++)
        if (!report->guide || strcmp(report->notes[i].name, report->guide) != 0)
            summary_line(table, report->notes[i].name, report->notes[i].value, whose);
    if (report->not_finite > 0)
        summary_count(table, "not numbers", report->not_finite, "answers of the network");
    cli_table_print_free(table, "");
    modes_print(&summary->found.modes, FUZZ_MODES);
}

/* --- as JSON --------------------------------------------------------------------------------- */

typedef struct named_value {
    const char *name;
    double value;
} named_value;

static const void *coverage_get(const void *of, size_t i, void *row)
{
    const px_fuzz_report *r = of;
    *(named_value *)row = (named_value){r->guide ? r->guide : "coverage", r->coverage.value};
    return i == 0 && !isnan(r->coverage.value) ? row : NULL;
}

static const void *note_get(const void *of, size_t i, void *row)
{
    const px_fuzz_report *r = of;
    (void)row;
    return i < r->note_count ? &r->notes[i] : NULL;
}

static const void *paths_get(const void *of, size_t i, void *row)
{
    const px_fuzz_report *r = of;
    (void)row;
    return i == 0 && !isnan(r->paths.tau) ? &r->paths : NULL;
}

static const px_field coverage_fields[] = {
    PX_FIELD(named_value, name, "guide", "what it follows"),
    PX_FIELD(named_value, value, "", "of the guide"),
    PX_FIELDS_END,
};

static const px_field note_fields[] = {
    PX_FIELD(px_fuzz_note, name, "note", "what it is about"),
    PX_CHARS(px_fuzz_note, value, "", "in words"),
    PX_FIELDS_END,
};

static const px_field paths_fields[] = {
    PX_FIELD(px_fuzz_path_figures, tau, "tau", "paths less similar than this differ"),
    PX_FIELD(px_fuzz_path_figures, similarity, "similarity", "mean over the mutants judged"),
    PX_FIELD(px_fuzz_path_figures, kept, "kept", "of them", .unit = PX_SHARE),
    PX_FIELD(px_fuzz_path_figures, as_label, "as_label_only",
             "of what it or the class alone would keep, what both do", .unit = PX_SHARE),
    PX_FIELDS_END,
};

static const px_field yield_fields[] = {
    PX_FIELD(px_fuzz_yield, name, "name", "of a mutation, or of what else an engine tries"),
    PX_FIELD(px_fuzz_yield, tried, "tried", "mutants by it"),
    PX_FIELD(px_fuzz_yield, valid, "valid", "those that keep the meaning of their input"),
    PX_FIELD(px_fuzz_yield, kept, "kept", "those that showed something new"),
    PX_FIELD(px_fuzz_yield, faults, "faults", "those that the network gets wrong"),
    PX_FIELDS_END,
};

static const px_field report_fields[] = {
    PX_FIELD(px_fuzz_report, not_finite, "not_finite", "answers that were no numbers"),
    PX_FIELD(px_fuzz_report, resets, "resets", "of coverage that was saturated"),
    PX_MAP_MADE(coverage_get, coverage_fields, "coverage", "in the end"),
    PX_FIELD(px_fuzz_report, coverage_seeds, "coverage_seeds", "what the seeds alone had"),
    PX_OBJECT_MADE(paths_get, paths_fields, "paths", "with a guide by decision paths",
                   .optional = true),
    PX_MAP_MADE(note_get, note_fields, "notes", "figures that only this engine has"),
    PX_LIST(px_fuzz_report, yields, yield_count, yield_fields, "yields", "of what was tried"),
    PX_FIELDS_END,
};

#define REPORT(member, ...) PX_FIELD(fuzz_summary, report.member, #member, __VA_ARGS__)
#define COUNT(member, ...) PX_FIELD(fuzz_summary, found.counts.member, #member, __VA_ARGS__)
const px_field fuzz_fields[] = {
    PX_OBJECT(fuzz_summary, origin, cli_origin_fields, ""),
    PX_FIELD(fuzz_summary, campaign, "campaign", "its folder"),
    REPORT(engine, "the search"),
    REPORT(policy, "its settings by a name"),
    REPORT(guide, "the coverage that it follows"),
    REPORT(stopped, "why"),
    REPORT(turns, "picks of an input to change"),
    REPORT(cycles, "times that all were picked"),
    REPORT(executions, "mutants that the network judged"),
    REPORT(executions_per_s, "since the campaign began"),
    COUNT(seeds, "inputs it began with"),
    REPORT(seeds_wrong, "dropped: misclassified"),
    REPORT(queue, "inputs that can be picked"),
    REPORT(depth, "longest chain of mutations"),
    COUNT(outputs, "kept inputs and failures"),
    COUNT(faults, "failures"),
    COUNT(unique_faults, "those that no earlier one nearly repeats"),
    COUNT(close_faults, "those close to their originals"),
    REPORT(rejected, "failing mutants too far from them"),
    PX_OBJECT(fuzz_summary, found, campaign_rates_fields, ""),
    PX_OBJECT(fuzz_summary, report, report_fields, ""),
    COUNT(seconds, "that it ran, without pauses", .unit = "s"),
    PX_FIELD(fuzz_summary, before_s, "seconds_before", "of that, earlier", .unit = "s"),
    PX_OBJECT(fuzz_summary, found.modes, px_modes_fields, ""),
    PX_FIELDS_END,
};
