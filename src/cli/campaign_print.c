/* src/cli/campaign_print.c - what a campaign found, as fuzz and status say it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/campaign_print.h"

#include "cli/cli.h"

#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

px_status campaign_found_read(px_campaign *campaign, int64_t polluted_class, campaign_found *out,
                              px_error *err)
{
    PX_TRY(px_campaign_count(campaign, &out->counts, err));
    PX_TRY(px_campaign_count_errors(campaign, polluted_class, &out->errors, err));
    if (out->errors.polluted_class < 0)
        out->errors.polluted = out->errors.last_polluted = -1; /* not known */
    return px_modes_read(campaign, &out->modes, err);
}

static const px_field error_fields[] = {
    PX_FIELD(px_error_counts, examples, "examples", "outputs"),
    PX_FIELD(px_error_counts, errors, "test_errors", "of them, that are misclassified"),
    PX_FIELD(px_error_counts, not_stored, "not_stored", "that repeat others"),
    PX_FIELD(px_error_counts, categories, "error_categories",
             "distinct wrong answers to examples of a seed, summed"),
    PX_FIELD(px_error_counts, categories_per_seed, "average_categories", "these per seed"),
    PX_INDEX(px_error_counts, place_categories, "place_categories",
             "distinct wrong answers to places of a swarm, summed; null: not told"),
    PX_FIELD(px_error_counts, l2, "l2", "distance of test errors from their seeds, mean"),
    PX_FIELD(px_error_counts, linf, "linf", "largest change of a value, mean over test errors"),
    PX_FIELD(px_error_counts, similarity, "ssim",
             "structural similarity after what moved was undone, mean; null: not known"),
    PX_FIELD(px_error_counts, last_examples, "last_examples", "of the seeds"),
    PX_FIELD(px_error_counts, last_errors, "e_any", "errors among the last"),
    PX_INDEX(px_error_counts, polluted_class, "polluted_class", "null: not known"),
    PX_INDEX(px_error_counts, polluted, "polluted_errors",
             "errors with that answer; null: no such class"),
    PX_INDEX(px_error_counts, last_polluted, "e_pol",
             "last ones with that answer; null: no such class"),
    PX_FIELDS_END,
};

const px_field campaign_rates_fields[] = {
    PX_FIELD(campaign_found, counts.fault_types, "fault_types", "pairs of label and answer"),
    PX_FIELD(campaign_found, counts.rft, "rft", "failures per output"),
    PX_FIELD(campaign_found, counts.fre, "fre", "seconds per failure", .unit = "s"),
    PX_FIELD(campaign_found, counts.classes, "classes", "that failures are taken for"),
    PX_FIELD(campaign_found, counts.oi, "oi", "impartiality: how evenly over answers"),
    PX_FIELD(campaign_found, counts.oi_outputs, "oi_outputs",
             "impartiality over the answers to all outputs"),
    PX_OBJECT(campaign_found, errors, error_fields, "errors", "as DeepSensor counts them"),
    PX_FIELDS_END,
};

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
    const size_t used = strlen(line->remark);
    if (!isnan(e->l2) && e->errors > 0)
        snprintf(line->remark + used, sizeof line->remark - used,
                 isnan(e->similarity) ? "; mean L2 %.3g, Linf %.3g"
                                      : "; mean L2 %.3g, Linf %.3g, similarity %.2f",
                 e->l2, e->linf, e->similarity);
    line = &lines[count++];
    *line = (error_line){.what = "error categories", .value = e->categories};
    snprintf(line->remark, sizeof line->remark, "%.3f per seed", e->categories_per_seed);
    if (e->place_categories >= 0) {
        const size_t told = strlen(line->remark);
        snprintf(line->remark + told, sizeof line->remark - told,
                 "; %s, %.3f per seed, over all places that swarms looked at",
                 cli_number(e->place_categories, a),
                 e->seeds ? (double)e->place_categories / (double)e->seeds : 0.0);
    }
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

void modes_print(const px_modes *modes, size_t most)
{
    char text[PX_BAND_TEXT], a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_table *table = cli_table_new("lrl");
    size_t shown = 0;
    for (size_t i = 0; i < modes->count && shown < most; i++) {
        const px_mode *mode = &modes->sums[i].all;
        if (mode->faults == 0 || mode->tries < PX_MODE_TRIES)
            continue;
        cli_table_cell(table, "%s", px_mode_text(mode, text));
        cli_table_cell(table, "%.0f%%", 100.0 * px_mode_rate(mode));
        cli_table_cell(table, "of tries fail: %s of %s", cli_number(mode->faults, a),
                       cli_number(mode->tries, b));
        shown++;
    }
    if (shown)
        cli_print("what breaks it most often:\n");
    cli_table_print_free(table, "  ");
}
