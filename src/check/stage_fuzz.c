/* src/check/stage_fuzz.c - failures from changes that are meant to leave an input's meaning alone
 *
 * DeepHunter's loop (Xie et al., ISSTA 2019), guided by k-multisection coverage where there are
 * ranges of training data, by neuron coverage elsewhere. The campaign is gone on with after an
 * interruption; it ends after a number of turns, so that equal runs find the same, or when the time
 * is up, which the result says.
 */
#include "check/check_criteria.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_TURNS_PER_MINUTE = 600, FUZZ_TURNS_LEAST = 50, FUZZ_SEEDS = 200 };

typedef struct fuzz {
    px_check *c;
    px_campaign *campaign;
    px_cover *cover;
    px_fuzz *fuzz;
    px_fuzz_limits limits;
} fuzz;

static bool fuzz_tell(void *context, const px_fuzz_report *report)
{
    const fuzz *f = context;
    const double by_turns = (double)report->turns / (double)f->limits.turns;
    const double by_time = report->run_s / f->limits.seconds;
    return pxi_check_tick(f->c, (int64_t)(1000.0 * fmin(1.0, fmax(by_turns, by_time))), 1000);
}

static px_status fuzz_open(fuzz *f, bool resume, px_error *err)
{
    px_check *c = f->c;
    px_fuzz_options options = px_fuzz_options_default();
    PX_TRY(pxi_check_campaign_open(c, "fuzz", resume, &f->campaign, err));
    if (!px_dataset_audio(c->set)) /* recordings are changed as such */
        PX_TRY(pxi_check_range(c, &options.low, &options.high, err));
    options.campaign = f->campaign;
    options.model = c->model;
    options.set = c->set;
    options.pre = &c->pre;
    options.cover = f->cover;
    options.profile = c->profile;
    options.seeds = FUZZ_SEEDS;
    options.least = (px_closeness){c->o.min_similarity, c->o.min_inside};
    options.seed = c->o.seed;
    options.batch = c->o.batch;
    options.threads = c->o.threads;
    options.command = c->o.command;
    options.progress = fuzz_tell;
    options.context = f;
    return px_fuzz_new(&options, &f->fuzz, err);
}

static px_status fuzz_guide(fuzz *f, px_error *err)
{
    px_check *c = f->c;
    PX_TRY(pxi_profile_need(c, err));
    const px_cover_options wish = pxi_cover_wish(c, c->profile ? "kmnc" : "nc");
    return px_cover_new(c->model, &c->shape, &wish, &f->cover, err);
}

/* Goes on with what an interruption left, if that is of the same kind. */
static px_status fuzz_start(fuzz *f, px_error *err)
{
    px_check *c = f->c;
    char *path = pxi_check_path(c, "fuzz");
    if (!path)
        return pxi_check_nomem(err);
    const bool there = px_campaign_is(path);
    free(path);
    PX_TRY(pxi_check_campaign_clear(c, "campaign", err)); /* what it had of this stage */
    PX_TRY(fuzz_guide(f, err));
    px_status status = there ? fuzz_open(f, true, err) : PX_E_MISMATCH;
    if (status == PX_OK || (there && status > PX_E_MISMATCH))
        return status;
    px_campaign_close(f->campaign);
    f->campaign = NULL;
    PX_TRY(pxi_check_campaign_clear(c, "fuzz", err));
    px_cover_free(f->cover);
    f->cover = NULL;
    PX_TRY(fuzz_guide(f, err));
    return fuzz_open(f, false, err);
}

static px_status fuzz_modes(const fuzz *f, px_json *out, px_error *err)
{
    px_mode *modes = NULL;
    size_t count = 0;
    PX_TRY(px_campaign_modes(f->campaign, &modes, &count, err));
    const px_status status = px_modes_json(modes, count, out, err);
    free(modes);
    return status;
}

static px_status fuzz_write(fuzz *f, px_json *out, px_error *err)
{
    const px_fuzz_report r = px_fuzz_report_get(f->fuzz);
    px_campaign_counts counts;
    px_coverage_point *points = NULL;
    size_t count = 0;
    PX_TRY(px_campaign_count(f->campaign, &counts, err));
    px_json_string(out, "engine", r.engine);
    px_json_string(out, "policy", r.policy);
    px_json_string(out, "guide", r.guide);
    px_json_string(out, "mutations", r.mutations);
    px_json_string(out, "definition", px_cover_definition(f->cover, 0));
    px_json_int(out, "turns", r.turns);
    px_json_int(out, "planned", f->limits.turns);
    px_json_bool(out, "cut_short", r.turns < f->limits.turns);
    px_json_int(out, "executions", r.executions);
    px_json_int(out, "seeds", r.seeds);
    px_json_int(out, "outputs", r.outputs);
    px_json_int(out, "faults", r.faults);
    px_json_int(out, "unique_faults", r.unique_faults);
    px_json_int(out, "close_faults", r.close_faults);
    px_json_int(out, "rejected", r.rejected);
    px_json_int(out, "fault_types", r.fault_types);
    px_json_int(out, "classes", r.classes);
    px_json_real(out, "rft", counts.rft);
    px_json_real(out, "oi", counts.oi);
    px_json_real(out, "coverage_seeds", r.coverage_seeds);
    px_json_real(out, "coverage", r.coverage.value);
    PX_TRY(px_campaign_coverage(f->campaign, r.guide, &points, &count, err));
    enum { POINTS = 100 };
    const size_t step = count > POINTS ? (count + POINTS - 1) / POINTS : 1;
    px_json_array(out, "growth");
    for (size_t i = 0; i < count; i += i + step < count || i + 1 == count ? step : count - 1 - i) {
        px_json_array(out, NULL);
        px_json_int(out, NULL, points[i].step);
        px_json_real(out, NULL, points[i].value);
        px_json_end(out);
    }
    px_json_end(out);
    px_json_array(out, "yields");
    for (size_t i = 0; i < r.yield_count; i++) {
        px_json_object(out, NULL);
        px_json_string(out, "mutation", r.yields[i].name);
        px_json_int(out, "tried", r.yields[i].tried);
        px_json_int(out, "valid", r.yields[i].valid);
        px_json_int(out, "kept", r.yields[i].kept);
        px_json_int(out, "faults", r.yields[i].faults);
        px_json_end(out);
    }
    px_json_end(out);
    free(points);
    return fuzz_modes(f, out, err);
}

static px_status fuzz_run(px_check *c, px_json *out, px_error *err)
{
    fuzz f = {.c = c};
    f.limits.turns = (int64_t)fmax(FUZZ_TURNS_LEAST, FUZZ_TURNS_PER_MINUTE * c->o.minutes);
    f.limits.seconds = pxi_check_deadline(c) - c->stage_started;
    px_status status = fuzz_start(&f, err);
    if (status == PX_OK)
        status = px_fuzz_run(f.fuzz, &f.limits, err);
    if (status == PX_OK)
        status = fuzz_write(&f, out, err);
    px_fuzz_free(f.fuzz);
    px_cover_free(f.cover);
    px_campaign_close(f.campaign);
    return status;
}

const pxi_stage pxi_stage_fuzz = {
    .public = {.id = "fuzz",
               .title = "Fuzzed failures",
               .help = "benign changes, guided by coverage, until the network is wrong",
               .labels = true},
    .version = 2,
    .after = PXI_AFTER(profile),
    .share = 0.6,
    .tries = 24.0 * FUZZ_TURNS_PER_MINUTE,
    .run = fuzz_run,
};
