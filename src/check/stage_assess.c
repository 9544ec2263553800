/* src/check/stage_assess.c - all findings together, and how bad they are
 *
 * The faults of one stage follow each other in the campaign, so that a part of it is a data set of
 * its own. The first ones of each stage are measured: metrics are means.
 */
#include "check/check_inside.h"

#include <math.h>
#include <plexor/assess.h>
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
    a->roots = pxi_calloc((size_t)counts.faults + 1, sizeof *a->roots);
    if (!a->roots)
        return pxi_check_nomem(err);
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
    const px_graph *graph = px_model_graph(c->model);
    px_data_options options = px_model_data_options(c->model);
    options.split = split;
    options.offset = offset;
    options.limit = limit;
    *pre = c->pre;
    return px_dataset_open_for(pre, &graph->values[graph->inputs[0]].shape,
                               px_campaign_folder(a->campaign), &options, out, err);
}

static int id_compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static px_status seeds_open(assessed *a, px_error *err)
{
    PX_TRY(part_open(a, "seeds", 0, 0, &a->seeds_pre, &a->seeds, err));
    const int64_t count = px_dataset_count(a->seeds);
    a->seed_ids = pxi_calloc((size_t)count, sizeof *a->seed_ids);
    if (!a->seed_ids)
        return pxi_check_nomem(err);
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
        const int64_t *found =
            bsearch(&a->roots[offset + i], a->seed_ids, seeds, sizeof *a->seed_ids, id_compare);
        if (!found)
            return px_fail(err, PX_E_INPUT, "'%.200s': a failure without a root",
                           px_campaign_folder(a->campaign));
        partners[i] = found - a->seed_ids;
    }
    return PX_OK;
}

static void json_values(const px_assess *assess, px_json *out)
{
    px_json_int(out, "pairs", px_assess_sum(assess).pairs);
    px_json_array(out, "values");
    for (size_t i = 0; i < px_assess_metric_count(assess); i++) {
        const px_metric_value v = px_assess_metric(assess, i);
        px_json_object(out, NULL);
        px_json_string(out, "id", v.metric->id);
        px_json_string(out, "title", v.metric->title);
        px_json_string(out, "definition", v.metric->definition);
        px_json_string(out, "better", px_better_name(v.metric->better));
        px_json_string(out, "settings", v.settings);
        px_json_real(out, "value", v.value);
        px_json_int(out, "n", v.n);
        px_json_string(out, "why", v.why);
        px_json_end(out);
    }
    px_json_end(out);
}

static px_status json_set(const assessed *a, const char *name, int64_t offset, int64_t count,
                          px_json *out, px_error *err)
{
    px_check *c = a->c;
    px_preprocess pre;
    px_dataset *faults = NULL;
    px_assess *assess = NULL;
    px_assess_options options = px_assess_options_default();
    int64_t *partners = pxi_calloc((size_t)count, sizeof *partners);
    px_status status =
        partners ? part_open(a, "faults", offset, count, &pre, &faults, err) : pxi_check_nomem(err);
    if (status == PX_OK)
        status = set_partners(a, offset, px_dataset_count(faults), partners, err);
    if (status == PX_OK && !px_dataset_is_8bit(c->set))
        status = pxi_check_range(c, &options.low, &options.high, err);
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
        status = px_assess_run(&job, &options, &assess, err);
    }
    if (status == PX_OK) {
        px_json_object(out, NULL);
        px_json_string(out, "name", name);
        json_values(assess, out);
        px_json_end(out);
    }
    px_assess_free(assess);
    px_dataset_close(faults);
    free(partners);
    return status;
}

static px_status assess_write(assessed *a, px_json *out, px_error *err)
{
    int64_t offset = 0;
    px_json_int(out, "faults", a->faults);
    px_json_int(out, "close_faults", a->close[0] + a->close[1] + a->close[2]);
    px_json_int(out, "rejected",
                a->campaign ? (int64_t)px_campaign_get_real(a->campaign, "faults_rejected", 0.0)
                            : 0);
    px_json_int(out, "fault_types", a->types);
    px_json_int(out, "left",
                a->campaign ? (int64_t)px_campaign_get_real(a->campaign, "left", 0.0) : 0);
    px_json_object(out, "by_method");
    for (size_t m = 0; m < PX_LEN(methods); m++)
        px_json_int(out, methods[m], a->of[m]);
    px_json_end(out);
    px_json_object(out, "close_by_method");
    for (size_t m = 0; m < PX_LEN(methods); m++)
        px_json_int(out, methods[m], a->close[m]);
    px_json_end(out);
    px_json_int(out, "measured", ASSESS_PAIRS);
    px_json_array(out, "sets");
    for (size_t m = 0; m < PX_LEN(methods); m++) {
        if (a->of[m] > 0)
            PX_TRY(
                json_set(a, methods[m], offset, PX_MIN(a->of[m], (int64_t)ASSESS_PAIRS), out, err));
        offset += a->of[m];
    }
    px_json_end(out);
    return PX_OK;
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
    if (status == PX_OK && a.campaign)
        status = assessed_list(&a, err);
    if (status == PX_OK && a.campaign)
        status = seeds_open(&a, err);
    if (status == PX_OK)
        status = assess_write(&a, out, err);
    px_dataset_close(a.seeds);
    free(a.seed_ids);
    free(a.roots);
    px_campaign_close(a.campaign);
    return status;
}

const pxi_stage pxi_stage_assess = {
    .public = {.id = "assess",
               .title = "Quality of failures",
               .help = "how sure, how far and how lasting the failures are"},
    .version = 2,
    .after = PXI_AFTER(synthesize) | PXI_AFTER(attack) | PXI_AFTER(fuzz),
    .thousands = 2.5,
    .run = assess_run,
};
