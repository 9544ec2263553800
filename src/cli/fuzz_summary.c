/* src/cli/fuzz_summary.c - what a campaign found, at its end: paper 001 section 5.4 */
#include "cli/fuzz_summary.h"

#include "cli/cli.h"
#include "cli/error_lines.h"
#include "cli/fuzz_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void fuzz_summary_print(const px_fuzz_report *report, double before_s,
                        const px_campaign_counts *counts, const px_error_counts *errors)
{
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
    const int line_count = error_lines(errors, lines);
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
}

void fuzz_summary_json(const px_fuzz_report *report, const px_campaign_counts *counts,
                       const px_error_counts *errors, px_json *json)
{
    px_json_string(json, "engine", report->engine);
    px_json_string(json, "policy", report->policy);
    px_json_string(json, "guide", report->guide);
    px_json_string(json, "stopped", report->stopped);
    px_json_int(json, "turns", report->turns);
    px_json_int(json, "cycles", report->cycles);
    px_json_int(json, "executions", report->executions);
    px_json_real(json, "executions_per_s", report->executions_per_s);
    px_json_int(json, "seeds", counts->seeds);
    px_json_int(json, "seeds_wrong", report->seeds_wrong);
    px_json_int(json, "queue", report->queue);
    px_json_int(json, "depth", report->depth);
    px_json_int(json, "outputs", counts->outputs);
    px_json_int(json, "faults", counts->faults);
    px_json_int(json, "unique_faults", counts->unique_faults);
    px_json_int(json, "close_faults", counts->close_faults);
    px_json_int(json, "rejected", report->rejected);
    px_json_int(json, "fault_types", counts->fault_types);
    px_json_real(json, "rft", counts->rft);
    px_json_real(json, "fre", counts->fre);
    px_json_int(json, "classes", counts->classes);
    px_json_real(json, "oi", counts->oi);
    px_json_real(json, "oi_outputs", counts->oi_outputs);
    error_lines_json(errors, json);
    px_json_int(json, "not_finite", report->not_finite);
    px_json_int(json, "resets", report->resets);
    px_json_object(json, "coverage");
    if (!isnan(report->coverage.value))
        px_json_real(json, report->guide ? report->guide : "coverage", report->coverage.value);
    px_json_end(json);
    px_json_real(json, "coverage_seeds", report->coverage_seeds);
    if (!isnan(report->paths.tau)) {
        px_json_object(json, "paths");
        px_json_real(json, "tau", report->paths.tau);
        px_json_real(json, "similarity", report->paths.similarity);
        px_json_real(json, "kept", report->paths.kept);
        px_json_real(json, "as_label_only", report->paths.as_label);
        px_json_end(json);
    }
    px_json_object(json, "notes");
    for (size_t i = 0; i < report->note_count; i++)
        px_json_string(json, report->notes[i].name, report->notes[i].value);
    px_json_end(json);
    px_json_array(json, "yields");
    for (size_t i = 0; i < report->yield_count; i++) {
        const px_fuzz_yield *yield = &report->yields[i];
        px_json_object(json, NULL);
        px_json_string(json, "name", yield->name);
        px_json_int(json, "tried", yield->tried);
        px_json_int(json, "valid", yield->valid);
        px_json_int(json, "kept", yield->kept);
        px_json_int(json, "faults", yield->faults);
        px_json_end(json);
    }
    px_json_end(json);
    px_json_real(json, "seconds", counts->seconds);
}
