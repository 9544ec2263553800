/* src/check/stage_fuzz.c - failures from changes that are meant to leave an input's meaning alone
 *
 * DeepHunter's loop (Xie et al., ISSTA 2019), guided by k-multisection coverage where there are
 * ranges of training data, by neuron coverage elsewhere. The campaign is gone on with after an
 * interruption; it ends after a number of turns, so that equal runs find the same, or when the time
 * is up, which the result says.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_criteria.h"

#include <internal/data.h>
#include <internal/graph.h>
#include <internal/modes.h>
#include <internal/ranks.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/fuzz.h>
#include <stdlib.h>

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
        return pxi_no_memory(err);
    uint64_t there = px_campaign_is(path);
    free(path);
    PX_TRY(pxi_ranks_first("the fuzzer's campaign", PX_OK, 0, &there, err));
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

/* --- the result ------------------------------------------------------------------------------ */

enum { FUZZ_POINTS = 101 };

typedef struct fuzz_result {
    px_fuzz_report r;
    const char *definition;
    int64_t planned;
    bool cut_short;
    double rft, oi, coverage;
    px_matrix growth;
    px_modes modes;
} fuzz_result;

static const px_field yield_fields[] = {
    PX_FIELD(px_fuzz_yield, name, "mutation", "what was tried"),
    PX_FIELD(px_fuzz_yield, tried, "tried", "mutants by it"),
    PX_FIELD(px_fuzz_yield, valid, "valid", "those that keep the meaning of their input"),
    PX_FIELD(px_fuzz_yield, kept, "kept", "those that showed something new"),
    PX_FIELD(px_fuzz_yield, faults, "faults", "those that the network gets wrong"),
    PX_FIELDS_END,
};

static const px_field fuzz_fields[] = {
    PX_FIELD(fuzz_result, r.engine, "engine", "the search"),
    PX_FIELD(fuzz_result, r.policy, "policy", "its settings by a name"),
    PX_FIELD(fuzz_result, r.guide, "guide", "the coverage that it follows"),
    PX_FIELD(fuzz_result, r.mutations, "mutations", "that it chooses from"),
    PX_FIELD(fuzz_result, definition, "definition", "what a neuron is to the guide"),
    PX_FIELD(fuzz_result, r.turns, "turns", "that were made"),
    PX_FIELD(fuzz_result, planned, "planned", "turns that were to be"),
    PX_FIELD(fuzz_result, cut_short, "cut_short", "the time was up before"),
    PX_FIELD(fuzz_result, r.executions, "executions", "mutants that the network judged"),
    PX_FIELD(fuzz_result, r.seeds, "seeds", "inputs it began with"),
    PX_FIELD(fuzz_result, r.outputs, "outputs", "mutants that were kept"),
    PX_FIELD(fuzz_result, r.faults, "faults", "failures, those that nearly repeat others too"),
    PX_FIELD(fuzz_result, r.unique_faults, "unique_faults", "distinct failures"),
    PX_FIELD(fuzz_result, r.close_faults, "close_faults", "failures close to their originals"),
    PX_FIELD(fuzz_result, r.rejected, "rejected", "those too far from them, which do not count"),
    PX_FIELD(fuzz_result, r.fault_types, "fault_types", "pairs of label and answer among them"),
    PX_FIELD(fuzz_result, r.classes, "classes", "answers among them"),
    PX_FIELD(fuzz_result, rft, "rft", "failures per turn"),
    PX_FIELD(fuzz_result, oi, "oi", "share of inputs of which failures were made"),
    PX_FIELD(fuzz_result, r.coverage_seeds, "coverage_seeds", "of the guide, by the seeds alone"),
    PX_FIELD(fuzz_result, coverage, "coverage", "of the guide, in the end"),
    PX_FIELD(fuzz_result, growth, "growth", "of the guide: pairs of step and value"),
    PX_LIST(fuzz_result, r.yields, r.yield_count, yield_fields, "yields", "of each mutation"),
    PX_OBJECT(fuzz_result, modes, px_modes_fields, ""),
    PX_FIELDS_END,
};

/* Some of the points, the first and the last among them. */
static size_t growth_thin(const px_coverage_point *points, size_t count,
                          double out[FUZZ_POINTS + 1][2])
{
    const size_t step = count >= FUZZ_POINTS ? (count + FUZZ_POINTS - 2) / (FUZZ_POINTS - 1) : 1;
    size_t used = 0;
    for (size_t i = 0; i < count; i += i + step < count || i + 1 == count ? step : count - 1 - i) {
        out[used][0] = (double)points[i].step;
        out[used++][1] = points[i].value;
    }
    return used;
}

static px_status fuzz_write(const fuzz *f, px_json *out, px_error *err)
{
    px_campaign_counts counts;
    px_coverage_point *points = NULL;
    size_t count = 0;
    double growth[FUZZ_POINTS + 1][2];
    fuzz_result result = {.r = px_fuzz_report_get(f->fuzz),
                          .definition = px_cover_definition(f->cover, 0),
                          .planned = f->limits.turns};
    PX_TRY(px_campaign_count(f->campaign, &counts, err));
    PX_TRY(px_campaign_coverage(f->campaign, result.r.guide, &points, &count, err));
    result.cut_short = result.r.turns < result.planned;
    result.rft = counts.rft;
    result.oi = counts.oi;
    result.coverage = result.r.coverage.value;
    result.growth =
        (px_matrix){.values = growth[0], .rows = growth_thin(points, count, growth), .columns = 2};
    free(points);
    PX_TRY(px_modes_read(f->campaign, &result.modes, err));
    px_fields_json(fuzz_fields, &result, out);
    px_modes_done(&result.modes);
    return PX_OK;
}

static px_status fuzz_run(px_check *c, px_json *out, px_error *err)
{
    fuzz f = {.c = c};
    if (px_model_takes_tokens(c->model))
        return px_fail(err, PX_E_UNSUPPORTED, "it mutates pictures and recordings, not texts");
    if (px_model_regression(c->model))
        pxi_check_note(c, "fuzz takes targets to stay what they are when inputs are mutated; where "
                          "rotation or another mutation moves them, its failures are none");
    f.limits.turns = (int64_t)fmax(FUZZ_TURNS_LEAST, FUZZ_TURNS_PER_MINUTE * c->o.minutes);
    f.limits.seconds = pxi_check_deadline(c) - c->stage_started;
    px_status status = fuzz_start(&f, err);
    PX_THEN(status, px_fuzz_run(f.fuzz, &f.limits, err));
    PX_THEN(status, fuzz_write(&f, out, err));
    px_fuzz_free(f.fuzz);
    px_cover_free(f.cover);
    px_campaign_close(f.campaign);
    return status;
}

static void fuzz_line(const px_check *c, const px_json_value *result, px_text *out)
{
    char count[PXI_COUNT_TEXT];
    const int64_t rejected = pxi_json_int(result, "rejected", 0);
    const int64_t kinds = pxi_json_int(result, "fault_types", 0); /* of very many classes: none */
    (void)c;
    if (rejected > 0)
        px_text_format(out, "%s too far from their originals; ", pxi_count_text(rejected, count));
    px_text_format(out, "%s distinct failures",
                   pxi_count_text(pxi_json_int(result, "unique_faults", 0), count));
    if (kinds > 0)
        px_text_format(out, " of %" PRId64 " kinds", kinds);
    px_text_format(out, " in %s executions",
                   pxi_count_text(pxi_json_int(result, "executions", 0), count));
}

static void fuzz_command(const px_check *c, const px_json_value *result, px_text *out)
{
    pxi_command(c, "fuzz", /* range= */ true, out);
    px_text_format(out, " --guide %s --seeds %d --turns %" PRId64 " -o fuzz.campaign",
                   c->result[PXI_STAGE_profile] ? "kmnc" : "nc", FUZZ_SEEDS,
                   pxi_json_int(result, "turns", 0));
}

const pxi_stage pxi_stage_fuzz = {
    .public = {.entry = {.id = "fuzz", .title = "Fuzzed failures"},
               .help = "benign changes, guided by coverage, until the network is wrong",
               .labels = true},
    .version = 2,
    .after = PXI_AFTER(profile),
    .share = 0.6,
    .tries = 24.0 * FUZZ_TURNS_PER_MINUTE,
    .run = fuzz_run,
    .files = {{"fuzz/", "the fuzzer's campaign: plexor fuzz --resume goes on", false}},
    .gates = {PXI_GATE("fuzz-faults", "distinct failures that were fuzzed", "fuzz", "unique_faults",
                       "count", true)},
    .headlines = {{"fuzz_faults", "unique_faults"}},
    .line = fuzz_line,
    .command = fuzz_command,
};
