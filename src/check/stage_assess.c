/* src/check/stage_assess.c - all findings together, and how bad they are
 *
 * The faults of one stage follow each other in the campaign, so that a part of it is a data set of
 * its own. The first ones of each stage are measured: metrics are means.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ascending.h"
#include "check/check_internal.h"

#include <internal/assess.h>
#include <internal/closeness.h>
#include <internal/field.h>
#include <stdlib.h>
#include <string.h>

enum { ASSESS_PAIRS = 300 };
/* Of pairs whose second half is wrong, all of them: mr and asr are 1 by choice and left out. */
static const char metrics[] = "acac,actc,nte,ald_0,ald_2,ald_inf,ass,psd,rgb,ric";
static const char *const methods[] = {"synthesize", "attack", "fuzz"};

typedef struct assessed {
    px_check *c;
    px_campaign *campaign;
    int64_t *roots;                      /* of faults, in the order of ids */
    int64_t faults, of[PX_LEN(methods)]; /* all, and by method */
    int64_t close[PX_LEN(methods)];      /* to their originals, by method */
    int64_t types;                       /* pairs of label and prediction */
    px_dataset *seeds;
    px_preprocess seeds_pre;
    int64_t *seed_ids; /* ascending */
} assessed;

static px_status assessed_list(assessed *a, px_error *err)
{
    px_campaign_input in = {.id = 0};
    px_campaign_counts counts;
    int64_t damaged = 0;
    PX_TRY(px_campaign_count(a->campaign, &counts, err));
    a->types = counts.fault_types;
    PX_TRY(PX_NEW(a->roots, (size_t)counts.faults + 1, err));
    for (int64_t after = 0;; after = in.id) {
        PX_TRY(px_campaign_next(a->campaign, after, PX_INPUT_FAULT, &in, NULL, &damaged, err));
        if (!in.id || a->faults == counts.faults)
            break;
        const char *method = pxi_finding_method(in.chain);
        for (size_t m = 0; m < PX_LEN(methods); m++)
            if (strcmp(method, methods[m]) == 0) {
                a->of[m]++;
                a->close[m] += px_is_close(&in.near);
            }
        a->roots[a->faults++] = in.root;
    }
    return PX_OK;
}

static px_status part_open(const assessed *a, const char *split, int64_t offset, int64_t limit,
                           px_preprocess *pre, px_dataset **out, px_error *err)
{
    const px_check *c = a->c;
    px_data_options options = px_model_data_options(c->model);
    options.split = split;
    options.offset = offset;
    options.limit = limit;
    *pre = c->pre;
    return px_dataset_open_for(pre, px_model_input_shape(c->model), px_campaign_folder(a->campaign),
                               &options, out, err);
}

static px_status seeds_open(assessed *a, px_error *err)
{
    PX_TRY(part_open(a, "seeds", 0, 0, &a->seeds_pre, &a->seeds, err));
    const int64_t count = px_dataset_count(a->seeds);
    PX_TRY(PX_NEW(a->seed_ids, count, err));
    for (int64_t i = 0; i < count; i++) {
        char name[64];
        a->seed_ids[i] = strtoll(px_dataset_name(a->seeds, i, name, sizeof name), NULL, 10);
    }
    return PX_OK;
}

static px_status set_partners(const assessed *a, int64_t offset, int64_t count, int64_t *partners,
                              px_error *err)
{
    const size_t seeds = (size_t)px_dataset_count(a->seeds);
    for (int64_t i = 0; i < count; i++) {
        const int64_t *found = bsearch(&a->roots[offset + i], a->seed_ids, seeds,
                                       sizeof *a->seed_ids, pxi_order_int64);
        if (!found)
            return px_fail(err, PX_E_INPUT, "'%.200s': a failure without a root",
                           px_campaign_folder(a->campaign));
        partners[i] = found - a->seed_ids;
    }
    return PX_OK;
}

/* --- the result ------------------------------------------------------------------------------ */

typedef struct measured_set { /* failures of one way of making them */
    const char *name;
    px_assess *assess;
    int64_t pairs;
} measured_set;

static px_datum metric_better(const void *at, char *text)
{
    const px_metric *metric = at;
    (void)text;
    return px_datum_text(px_better_name(metric->better));
}

static const px_field metric_fields[] = {
    PX_FIELD(px_metric, entry.id, "id", "of the metric"),
    PX_FIELD(px_metric, entry.title, "title", "its name"),
    PX_FIELD(px_metric, definition, "definition", "what it is"),
    PX_MADE(TEXT, metric_better, "better", "which values are better for the network"),
    PX_FIELDS_END,
};

static const px_field value_fields[] = {
    PX_OBJECT_AT(px_metric_value, metric, metric_fields, "", "the metric"),
    PX_FIELD(px_metric_value, settings, "settings", "that it has"),
    PX_FIELD(px_metric_value, value, "value", "null: it is undefined"),
    PX_FIELD(px_metric_value, n, "n", "pairs that it is the mean of"),
    PX_FIELD(px_metric_value, why, "why", "it is undefined"),
    PX_FIELDS_END,
};

static const void *set_value(const void *at, size_t i, void *row)
{
    const measured_set *set = at;
    if (i >= px_assess_metric_count(set->assess))
        return NULL;
    *(px_metric_value *)row = px_assess_metric(set->assess, i);
    return row;
}

static const px_field set_fields[] = {
    PX_FIELD(measured_set, name, "name", "the stage that made them"),
    PX_FIELD(measured_set, pairs, "pairs", "failures that were measured, with their originals"),
    PX_LIST_MADE(set_value, value_fields, "values", "of the metrics"),
    PX_FIELDS_END,
};

typedef struct assess_result {
    int64_t faults, close, rejected, types, left, measured;
    int64_t of[PX_LEN(methods)], close_of[PX_LEN(methods)];
    measured_set *sets;
    size_t set_count;
} assess_result;

static const px_field of_fields[] = {
    PX_FIELD(assess_result, of[0], "synthesize", "that were synthesized"),
    PX_FIELD(assess_result, of[1], "attack", "that were attacked"),
    PX_FIELD(assess_result, of[2], "fuzz", "that were fuzzed"),
    PX_FIELDS_END,
};

static const px_field close_of_fields[] = {
    PX_FIELD(assess_result, close_of[0], "synthesize", "that were synthesized"),
    PX_FIELD(assess_result, close_of[1], "attack", "that were attacked"),
    PX_FIELD(assess_result, close_of[2], "fuzz", "that were fuzzed"),
    PX_FIELDS_END,
};

static const px_field assess_fields[] = {
    PX_FIELD(assess_result, faults, "faults", "distinct failures that were made"),
    PX_FIELD(assess_result, close, "close_faults", "those close to their originals"),
    PX_FIELD(assess_result, rejected, "rejected", "those too far from them, which do not count"),
    PX_FIELD(assess_result, types, "fault_types", "pairs of label and answer among them"),
    PX_FIELD(assess_result, left, "left",
             "failures beyond 20,000 of a stage, left in its campaign"),
    PX_OBJECT_OF(of_fields, "by_method", "failures by the stage that made them"),
    PX_OBJECT_OF(close_of_fields, "close_by_method",
                 "those close to their originals, by that stage"),
    PX_FIELD(assess_result, measured, "measured", "of each stage, at most"),
    PX_LIST(assess_result, sets, set_count, set_fields, "sets", "those measured, by stage"),
    PX_FIELDS_END,
};

static px_status set_measure(const assessed *a, int64_t offset, int64_t count, px_assess **out,
                             px_error *err)
{
    px_check *c = a->c;
    px_preprocess pre;
    px_dataset *faults = NULL;
    px_assess_options options = px_assess_options_default();
    int64_t *partners = NULL;
    px_status status = PX_NEW(partners, count, err);
    PX_THEN(status, part_open(a, "faults", offset, count, &pre, &faults, err));
    PX_THEN(status, set_partners(a, offset, px_dataset_count(faults), partners, err));
    PX_THEN_IF(status, !px_dataset_is_8bit(c->set),
               pxi_check_range(c, &options.low, &options.high, err));
    options.metrics = metrics;
    options.batch = c->o.batch;
    options.threads = c->o.threads;
    options.progress = pxi_check_tick;
    options.progress_context = c;
    if (status == PX_OK) {
        const px_assess_job job = {.model = c->model,
                                   .original = {a->seeds, &a->seeds_pre},
                                   .adversarial = {faults, &pre},
                                   .partners = partners};
        status = px_assess_run(&job, &options, out, err);
    }
    px_dataset_close(faults);
    free(partners);
    return status;
}

static px_status assess_write(const assessed *a, px_json *out, px_error *err)
{
    measured_set sets[PX_LEN(methods)] = {{.name = NULL}};
    px_status status = PX_OK;
    int64_t offset = 0;
    assess_result result = {
        .faults = a->faults, .types = a->types, .measured = ASSESS_PAIRS, .sets = sets};
    if (a->campaign) {
        result.rejected = (int64_t)px_campaign_get_real(a->campaign, "faults_rejected", 0.0);
        result.left = (int64_t)px_campaign_get_real(a->campaign, "left", 0.0);
    }
    for (size_t m = 0; m < PX_LEN(methods); m++) {
        result.of[m] = a->of[m];
        result.close_of[m] = a->close[m];
        result.close += a->close[m];
    }
    for (size_t m = 0; m < PX_LEN(methods) && status == PX_OK; offset += a->of[m++]) {
        measured_set *set = &sets[result.set_count];
        if (a->of[m] == 0)
            continue;
        status = set_measure(a, offset, PX_MIN(a->of[m], (int64_t)ASSESS_PAIRS), &set->assess, err);
        if (status != PX_OK)
            break;
        set->name = methods[m];
        set->pairs = px_assess_sum(set->assess).pairs;
        result.set_count++;
    }
    if (status == PX_OK)
        px_fields_json(assess_fields, &result, out);
    for (size_t m = 0; m < PX_LEN(methods); m++)
        px_assess_free(sets[m].assess);
    return status;
}

static px_status assess_run(px_check *c, px_json *out, px_error *err)
{
    assessed a = {.c = c};
    if (!c->result[PXI_STAGE_synthesize] && !c->result[PXI_STAGE_attack] &&
        !c->result[PXI_STAGE_fuzz])
        return px_fail(err, PX_E_INPUT,
                       "nothing was made that could be assessed: synthesize, attack and fuzz have "
                       "no results");
    px_status status = pxi_findings_gather(c, &a.campaign, err);
    PX_THEN_IF(status, a.campaign, assessed_list(&a, err));
    PX_THEN_IF(status, a.campaign, seeds_open(&a, err));
    PX_THEN(status, assess_write(&a, out, err));
    px_dataset_close(a.seeds);
    free(a.seed_ids);
    free(a.roots);
    px_campaign_close(a.campaign);
    return status;
}

static void assess_line(const px_check *c, const px_json_value *result, px_text *out)
{
    char count[PXI_COUNT_TEXT], close[PXI_COUNT_TEXT];
    px_text_format(out, "%s failures, %s close to their originals, in %s/campaign",
                   pxi_count_text(pxi_json_int(result, "faults", 0), count),
                   pxi_count_text(pxi_json_int(result, "close_faults", 0), close), c->folder);
}

static void assess_command(const px_check *c, const px_json_value *result, px_text *out)
{
    char *folder = pxi_page_path(c, "campaign");
    (void)result;
    pxi_command_model(c, "assess", out);
    pxi_command_option(out, "adversarial", folder);
    px_text_add(out, " --adversarial-split faults");
    pxi_command_values(c, /* range= */ false, out);
    free(folder);
}

const pxi_stage pxi_stage_assess = {
    .public = {.entry = {.id = "assess", .title = "Quality of failures"},
               .help = "how sure, how far and how lasting the failures are"},
    .version = 2,
    .after = PXI_AFTER(synthesize) | PXI_AFTER(attack) | PXI_AFTER(fuzz),
    .thousands = 2.5,
    .run = assess_run,
    .files = {{"campaign/", "all findings: for plexor replay, export and assess", false}},
    .gates = {PXI_GATE("faults", "distinct failures that were synthesized, attacked and fuzzed",
                       "assess", "faults", "count", true),
              PXI_GATE("close-faults", "those of them that are close to their originals", "assess",
                       "close_faults", "count", true),
              PXI_GATE("fault-types", "kinds of failure among them: pairs of label and answer",
                       "assess", "fault_types", "count", true)},
    .headlines = {{"fault_types", "fault_types"},
                  {"faults", "faults"},
                  {"close_faults", "close_faults"}},
    .line = assess_line,
    .command = assess_command,
};
