/* src/generate/fuzz.c - a run: begun or gone on with, turn by turn, until a limit */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/engines.h"

#include "base/file.h"
#include "base/memory.h"
#include "cover/profile_internal.h"
#include "data/npz.h"
#include "generate/seed_names.h"
#include <internal/graph.h>
#include <internal/pixel_rule.h>
#include <internal/ranks.h>

#include <internal/fuzz.h>
#include <internal/mutate.h>
#include <internal/preprocess.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double FUZZ_COMMIT_S = 0.25;   /* of work in a batch */
static const double FUZZ_COMMIT_SHARE = 20; /* and so many times what a commit takes */
static const double FUZZ_TELL_S = 0.1;
static const double FUZZ_STATS_S = 5.0;
static const double FUZZ_RATE_S = 5.0;
static const char FUZZ_PROFILE[] = "profile"; /* name of the blob */

px_fuzz_options px_fuzz_options_default(void)
{
    return (px_fuzz_options){.engine = "loop",
                             .low = (double)NAN,
                             .high = (double)NAN,
                             .seeds = 1000,
                             .polluted_class = -1};
}

double pxi_fuzz_seconds(const px_fuzz *fuzz)
{
    return fuzz->run_before + (isnan(fuzz->run_from) ? 0.0 : px_clock_s() - fuzz->run_from);
}

void pxi_fuzz_count(px_fuzz *fuzz, int64_t executions)
{
    fuzz->executions += executions;
}

void pxi_fuzz_count_not_finite(px_fuzz *fuzz)
{
    fuzz->now.not_finite++;
}

/* --- the profile ----------------------------------------------------------------------------- */

/* A profile is a file; in the campaign it is that file's bytes. The name is that of a temporary
 * file, so that what a killed process leaves is swept. */
static px_status profile_put(const px_fuzz *fuzz, px_error *err)
{
    px_text name = {0};
    px_text_format(&name, "%s/profile.tmp-%ld-0", px_campaign_folder(fuzz->campaign),
                   (long)getpid());
    char *path = px_text_take(&name), *bytes = NULL;
    size_t size = 0;
    px_status status =
        path ? px_profile_save(fuzz->options.profile, path, err) : pxi_no_memory(err);
    if (pxi_ranks_mute()) { /* it has no file, and its database goes with it */
        free(path);
        return status;
    }
    PX_THEN(status, pxi_file_read(path, PX_CAMPAIGN_BLOB_MOST, &bytes, &size, err));
    PX_THEN(status, px_campaign_put_blob(fuzz->campaign, FUZZ_PROFILE, bytes, size, err));
    if (path)
        unlink(path);
    free(bytes);
    free(path);
    return status;
}

/* Out of memory: a campaign that is only read may lie where nothing can be written. */
px_status px_fuzz_profile_load(px_campaign *campaign, px_profile **out, px_error *err)
{
    void *bytes = NULL;
    size_t size = 0;
    px_npz *npz = NULL;
    px_profile *profile = NULL;
    PX_TRY(px_campaign_get_blob(campaign, FUZZ_PROFILE, &bytes, &size, err));
    if (!bytes) {
        *out = NULL;
        return PX_OK;
    }
    px_text name = {0};
    px_text_format(&name, "%s: its profile", px_campaign_folder(campaign));
    pxi_bytes view = pxi_bytes_view(bytes, size);
    px_status status = pxi_npz_read(px_text_get(&name), &view, &npz, err);
    PX_THEN(status, pxi_profile_read(npz, px_text_get(&name), &profile, err));
    if (status != PX_OK)
        px_fail_in(err, status, "'%s'", px_campaign_folder(campaign));
    px_npz_close(npz);
    px_text_done(&name);
    free(bytes);
    if (status == PX_OK)
        *out = profile;
    return status;
}

/* --- beginning ------------------------------------------------------------------------------- */

static px_status fuzz_engine_choose(px_fuzz *fuzz, px_error *err)
{
    const char *id = fuzz->options.engine ? fuzz->options.engine : "loop";
    const px_fuzz_engine *shown = NULL;
    PX_TRY(px_fuzz_engine_choose(id, &shown, err));
    fuzz->engine = (const pxi_fuzz_engine *)(const void *)shown; /* of which it is the first */
    const size_t models = 1 + fuzz->options.rival_count;
    if (px_model_regression(fuzz->options.model) && strcmp(shown->entry.id, "loop") != 0)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "engine '%s' looks for other classes, and the network gives numbers (--task "
                       "regression): leave out --engine",
                       shown->entry.id);
    if (models >= shown->least_models && models <= shown->most_models)
        return PX_OK;
    if (shown->most_models == 1)
        return px_fail(err, PX_E_USAGE, "engine '%s' looks at one network, not at %zu",
                       shown->entry.id, models);
    return px_fail(err, PX_E_USAGE, "engine '%s' compares %zu to %zu networks, there %s %zu",
                   shown->entry.id, shown->least_models, shown->most_models,
                   models == 1 ? "is" : "are", models);
}

/* What the network was told to answer to a patch; metadata may say anything. */
static int64_t fuzz_polluted(const px_model *model)
{
    const char *text = px_model_property(model, "plexor.train");
    px_json_document *document = NULL;
    if (!text || px_json_parse(text, strlen(text), &document, NULL) != PX_OK)
        return -1;
    const px_json_value *root = px_json_root(document);
    const px_json_value *value =
        root->kind == PX_JSON_OBJECT ? px_json_member(root, "polluted_class") : NULL;
    const double number = value && value->kind == PX_JSON_NUMBER ? value->number : -1.0;
    px_json_free(document);
    return number >= 0.0 && number < 1e9 && number == floor(number) ? (int64_t)number : -1;
}

static px_status fuzz_polluted_choose(px_fuzz *fuzz, px_error *err)
{
    const int64_t wanted = fuzz->options.polluted_class;
    if (wanted >= fuzz->classes)
        return px_fail(err, PX_E_USAGE,
                       "polluted class %" PRId64 ": the network's classes are 0..%d", wanted,
                       fuzz->classes - 1);
    const int64_t known = wanted < 0 ? fuzz_polluted(fuzz->options.model) : wanted;
    fuzz->polluted_class = known < fuzz->classes ? known : -1;
    return PX_OK;
}

static px_status fuzz_network(px_fuzz *fuzz, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    PX_TRY(PX_NEW(fuzz->models, 1 + o->rival_count, err));
    fuzz->models[0] = o->model;
    for (size_t i = 0; i < o->rival_count; i++)
        fuzz->models[1 + i] = o->rivals[i];
    fuzz->model_count = 1 + o->rival_count;
    PX_TRY(px_model_scores(o->model, &fuzz->scores, err));
    fuzz->classes = fuzz->scores.classes;
    PX_TRY(fuzz_polluted_choose(fuzz, err));
    for (size_t i = 1; i < fuzz->model_count; i++) {
        px_scores scores;
        PX_TRY(px_model_scores(fuzz->models[i], &scores, err));
        if (scores.classes != fuzz->classes)
            return px_fail(err, PX_E_MISMATCH, "the networks to be compared have %d and %d classes",
                           fuzz->classes, scores.classes);
    }
    return PX_OK;
}

static px_status fuzz_pixels(px_fuzz *fuzz, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    const bool whole = px_dataset_is_8bit(o->set);
    fuzz->rounds = whole && !o->store_float;
    fuzz->shape = px_dataset_shape(o->set);
    fuzz->size = (size_t)px_shape_count(&fuzz->shape);
    fuzz->pixel_bytes = fuzz->size * (fuzz->rounds ? 1 : sizeof(float));
    fuzz->samples = pxi_fuzz_sample_count(fuzz);
    fuzz->pre = *o->pre;
    if (whole && !fuzz->rounds) /* stored as 0..1 */
        fuzz->pre.scale *= 255.0f;
    fuzz->unit = (double)fuzz->pre.scale;
    fuzz->low = 0.0;
    fuzz->high = fuzz->rounds ? 255.0 : 1.0;
    if (whole || fuzz->samples)
        return PX_OK;
    double low = o->low, high = o->high;
    PX_TRY(pxi_pixel_range(o->set, o->pre, /* rounded= */ false, &low, &high, err));
    fuzz->low = px_length_levels(o->pre, low);
    fuzz->high = px_length_levels(o->pre, high);
    return PX_OK;
}

/* Features of recordings have no range of their own: whatever the seeds have is it. */
static void fuzz_range(px_fuzz *fuzz)
{
    const float *values = (const float *)(const void *)fuzz->seed_pixels;
    for (size_t i = 0; fuzz->samples && i < fuzz->seed_count * fuzz->size; i++) {
        fuzz->low = fmin(fuzz->low, (double)values[i]);
        fuzz->high = fmax(fuzz->high, (double)values[i]);
    }
}

static px_status fuzz_identify(px_fuzz *fuzz, px_error *err)
{
    char *settings = NULL;
    PX_TRY(pxi_fuzz_settings_json(fuzz, &settings, err));
    const px_campaign_identity identity = {
        .model_hash = px_model_hash(fuzz->options.model),
        .data_hash = px_dataset_hash(fuzz->options.set),
        .seed = fuzz->seed,
        .dtype = fuzz->rounds ? PX_UINT8 : PX_FLOAT32,
        .shape = fuzz->shape,
        .classes = fuzz->classes,
        .settings = settings,
    };
    const px_status status = px_campaign_identify(fuzz->campaign, &identity, err);
    free(settings);
    return status;
}

/* Seeds, the state before the first turn, the profile and styles come in one batch. */
static px_status fuzz_begin(px_fuzz *fuzz, px_error *err)
{
    PX_TRY(pxi_fuzz_seeds_choose(fuzz, err));
    fuzz_range(fuzz);
    PX_TRY(pxi_fuzz_rows_open(fuzz, err));
    PX_TRY(pxi_fuzz_modes_open(fuzz, err));
    PX_TRY(pxi_put_classes(fuzz->campaign, fuzz->options.model, fuzz->options.set, err));
    for (size_t i = 0; i < fuzz->seed_count; i++)
        PX_TRY(pxi_fuzz_put_seed(fuzz, &fuzz->seeds[i], err));
    if (fuzz->options.profile)
        PX_TRY(profile_put(fuzz, err));
    if (fuzz->options.styles)
        PX_TRY(px_campaign_put_styles(fuzz->campaign, fuzz->options.styles, err));
    PX_TRY(pxi_fuzz_observe(fuzz, PX_INPUT_SEED, 0, err));
    fuzz->now.coverage_seeds = fuzz->now.coverage.value;
    PX_TRY(fuzz->engine->begin(fuzz->state, NULL, 0, err));
    PX_TRY(pxi_fuzz_put_point(fuzz, err));
    return pxi_fuzz_commit(fuzz, err);
}

static px_status fuzz_go_on(px_fuzz *fuzz, px_error *err)
{
    void *bytes = NULL;
    pxi_fuzz_bytes rest = {0};
    PX_TRY(pxi_fuzz_seeds_load(fuzz, err));
    fuzz_range(fuzz);
    PX_TRY(pxi_fuzz_rows_open(fuzz, err));
    PX_TRY(pxi_fuzz_modes_open(fuzz, err));
    PX_TRY(pxi_fuzz_rows_load(fuzz, err));
    px_status status = pxi_fuzz_state_load(fuzz, &bytes, &rest, err);
    PX_THEN(status, fuzz->engine->begin(fuzz->state, rest.at, (size_t)(rest.end - rest.at), err));
    free(bytes);
    fuzz->run_before = px_campaign_get_real(fuzz->campaign, "seconds", 0.0);
    if (!(fuzz->run_before >= 0.0 && fuzz->run_before < 1e12))
        fuzz->run_before = 0.0;
    if (status == PX_OK)
        pxi_fuzz_show(fuzz);
    return status;
}

static px_status fuzz_make(px_fuzz *fuzz, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    int64_t last = 0;
    PX_TRY(fuzz_engine_choose(fuzz, err));
    PX_TRY(pxi_fuzz_guide_open(fuzz, err));
    fuzz->cover = o->cover;
    fuzz->paths = o->paths;
    PX_TRY(pxi_fuzz_settings_read(fuzz, err));
    fuzz->guide = o->cover                     ? px_cover_criterion(o->cover, 0)->entry.id
                  : o->paths                   ? px_fuzz_paths_name(o->paths->mode)
                  : fuzz->engine->shown.guided ? "random"
                  : fuzz->engine->criterion    ? fuzz->engine->criterion
                                               : "none";
    if (o->cover && px_cover_count(o->cover) != 1)
        return px_fail(err, PX_E_USAGE, "a campaign has one guide, not %zu criteria",
                       px_cover_count(o->cover));
    if (o->paths && (o->cover || !fuzz->engine->shown.guided))
        return px_fail(err, PX_E_USAGE,
                       o->cover ? "a campaign has one guide: coverage or paths"
                                : "engine '%s' has a guide of its own",
                       fuzz->engine->shown.entry.id);
    if ((o->least.similarity > 0.0 || o->least.inside > 0.0) && !fuzz->has_mutations)
        return px_fail(err, PX_E_USAGE,
                       "engine '%s' goes on from whatever it finds: it takes no least similarity; "
                       "'plexor export --min-similarity' chooses among its failures",
                       fuzz->engine->shown.entry.id);
    if (o->command) {
        PX_TRY(PX_DUP(fuzz->command, o->command, err));
    }
    PX_TRY(fuzz_network(fuzz, err));
    PX_TRY(fuzz_pixels(fuzz, err));
    PX_TRY(fuzz_identify(fuzz, err));
    PX_TRY(pxi_fuzz_forward_open(fuzz, err));
    PX_TRY(fuzz->engine->open(fuzz, &fuzz->state, err));
    PX_TRY(px_campaign_last(fuzz->campaign, &last, err));
    PX_TRY(pxi_ranks_agree("the inputs that the campaign has", (uint64_t)last, err));
    return last == 0 ? fuzz_begin(fuzz, err) : fuzz_go_on(fuzz, err);
}

px_status px_fuzz_new(const px_fuzz_options *options, px_fuzz **out, px_error *err)
{
    px_fuzz *fuzz = NULL;
    PX_TRY(PX_NEW(fuzz, 1, err));
    fuzz->options = *options;
    fuzz->campaign = options->campaign;
    fuzz->seed = options->seed;
    fuzz->run_from = NAN;
    fuzz->now.last_find_s = fuzz->now.last_fault_s = -1.0;
    fuzz->now.coverage.value = fuzz->now.coverage_seeds = NAN;
    const px_status status = fuzz_make(fuzz, err);
    if (status == PX_OK) {
        *out = fuzz;
    } else {
        px_campaign_rollback(fuzz->campaign);
        px_fuzz_free(fuzz);
    }
    return status;
}

void px_fuzz_free(px_fuzz *fuzz)
{
    if (!fuzz)
        return;
    if (fuzz->engine && fuzz->state)
        fuzz->engine->close(fuzz->state);
    pxi_fuzz_rows_close(fuzz);
    pxi_fuzz_modes_close(fuzz);
    pxi_fuzz_forward_close(fuzz);
    pxi_fuzz_guide_close(fuzz->own_guide);
    free(fuzz->seeds);
    free(fuzz->seed_pixels);
    free(fuzz->models);
    px_styles_free(fuzz->styles);
    free(fuzz->mutation_text);
    free(fuzz->setting_text);
    free(fuzz->config);
    free(fuzz->command);
    free(fuzz);
}

/* --- what is shown --------------------------------------------------------------------------- */

void pxi_fuzz_show(px_fuzz *fuzz)
{
    px_fuzz_report *now = &fuzz->now;
    now->engine = fuzz->engine->shown.entry.id;
    now->policy = fuzz->policy ? fuzz->policy->entry.id : NULL;
    now->guide = fuzz->guide;
    now->mutations = fuzz->mutation_text;
    now->turns = fuzz->turn;
    now->executions = fuzz->executions;
    now->executions_since_fault = fuzz->executions - fuzz->last_fault;
    now->class_count = fuzz->classes;
    now->paths = (px_fuzz_path_figures){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    now->note_count = 0;
    if (fuzz->engine->report)
        fuzz->engine->report(fuzz->state, now);
    if (fuzz->unstored && now->note_count < PX_FUZZ_NOTES) {
        px_fuzz_note *note = &now->notes[now->note_count++];
        note->name = "not stored";
        snprintf(note->value, sizeof note->value, "%" PRId64, fuzz->unstored);
    }
    fuzz->shown = *now;
    fuzz->shown.yield_count = PX_MIN(now->yield_count, PX_LEN(fuzz->yields));
    if (fuzz->shown.yield_count)
        memcpy(fuzz->yields, now->yields, fuzz->shown.yield_count * sizeof *fuzz->yields);
    fuzz->shown.yields = fuzz->yields;
}

/* Two moments that take turns: the rate is of the last FUZZ_RATE_S to twice that. */
static double fuzz_rate_now(px_fuzz *fuzz)
{
    const double clock = px_clock_s();
    if (clock - fuzz->rate_clock[1] > FUZZ_RATE_S) {
        fuzz->rate_clock[0] = fuzz->rate_clock[1];
        fuzz->rate_count[0] = fuzz->rate_count[1];
        fuzz->rate_clock[1] = clock;
        fuzz->rate_count[1] = fuzz->executions;
    }
    const double seconds = clock - fuzz->rate_clock[0];
    return seconds > 0.0 ? (double)(fuzz->executions - fuzz->rate_count[0]) / seconds : 0.0;
}

px_fuzz_report px_fuzz_report_get(const px_fuzz *fuzz)
{
    px_fuzz_report report = fuzz->shown;
    report.run_s = pxi_fuzz_seconds(fuzz);
    report.executions_per_s = report.run_s > 0.0 ? (double)report.executions / report.run_s : 0.0;
    report.stopped = *fuzz->stopped ? fuzz->stopped : NULL;
    return report;
}

static px_status fuzz_write_stats(px_fuzz *fuzz, px_error *err)
{
    const px_fuzz_report r = px_fuzz_report_get(fuzz);
    char banner[128];
    snprintf(banner, sizeof banner, "%s %s", r.engine, r.guide);
    const px_campaign_figures figures = {
        .run_s = r.run_s,
        .cycles = r.cycles,
        .cycles_without_finds = r.cycles_without_finds,
        .executions = r.executions,
        .executions_per_s = r.executions_per_s,
        .executions_per_s_last_minute = r.executions_per_s_now,
        .queue = r.queue,
        .pending = r.pending,
        .current = r.current,
        .found = r.queue - r.seeds,
        .depth = r.depth,
        .faults = r.faults,
        .unique_faults = r.unique_faults,
        .coverage = isnan(r.coverage.value) ? 0.0 : fmin(1.0, r.coverage.value),
        .covered = (uint64_t)PX_MAX(r.coverage.covered, 0),
        .total = (uint64_t)PX_MAX(r.coverage.total, 0),
        .last_find_s = r.last_find_s,
        .last_fault_s = r.last_fault_s,
        .executions_since_fault = r.executions_since_fault,
        .banner = banner,
        .command = fuzz->command ? fuzz->command : "",
    };
    return px_campaign_write_stats(fuzz->campaign, &figures, err);
}

/* --- running --------------------------------------------------------------------------------- */

static bool fuzz_limit(px_fuzz *fuzz, const px_fuzz_limits *limits)
{
    const struct {
        int64_t limit, value;
        const char *what;
    } counts[] = {
        {limits->turns, fuzz->turn, "turns"},
        {limits->executions, fuzz->executions, "executions"},
        {limits->faults, fuzz->now.faults, "faults"},
        {limits->outputs, fuzz->now.outputs, "outputs"},
        {limits->stall, fuzz->turn - fuzz->last_output, "turns without an output"},
    };
    for (size_t i = 0; i < PX_LEN(counts); i++)
        if (counts[i].limit > 0 && counts[i].value >= counts[i].limit) {
            snprintf(fuzz->stopped, sizeof fuzz->stopped, "%" PRId64 " %s", counts[i].limit,
                     counts[i].what);
            return true;
        }
    if (fuzz->turn >= UINT32_MAX || fuzz->exhausted) {
        snprintf(fuzz->stopped, sizeof fuzz->stopped, "%s",
                 fuzz->exhausted ? "nothing is left to pick" : "no number is left for a turn");
        return true;
    }
    if (fuzz->late) {
        snprintf(fuzz->stopped, sizeof fuzz->stopped, "%g seconds", limits->seconds);
        return true;
    }
    return false;
}

/* NSGen, 7.3: where outputs are to be as many for every guide, one that has seen all there is
 * starts anew. */
static px_status fuzz_reset(px_fuzz *fuzz, px_error *err)
{
    const int64_t after = fuzz->common->reset;
    if (!fuzz->cover || after == 0 || fuzz->turn - fuzz->last_output < after)
        return PX_OK;
    PX_TRY(px_cover_reset(fuzz->cover, err));
    fuzz->reset_after = pxi_fuzz_last(fuzz);
    fuzz->last_output = fuzz->turn;
    fuzz->now.resets++;
    return PX_OK;
}

static px_status fuzz_turn(px_fuzz *fuzz, px_error *err)
{
    PX_TRY(fuzz->engine->turn(fuzz->state, err));
    if (fuzz->exhausted)
        return PX_OK;
    fuzz->turn++;
    PX_TRY(fuzz_reset(fuzz, err));
    return pxi_fuzz_put_point(fuzz, err);
}

typedef struct fuzz_clock { /* when what was done last */
    double commit, commit_took, told, stats;
    int64_t waves; /* when ranks met */
} fuzz_clock;

enum { FUZZ_LATE = 1, FUZZ_ENOUGH = 2, FUZZ_COMMIT = 4, FUZZ_STATS = 8 };

/* Between turns: tells the caller, and finds out what clocks and the caller say, of FUZZ_; on
 * several ranks what they say to the first. */
static px_status fuzz_ask(px_fuzz *fuzz, const px_fuzz_limits *limits, fuzz_clock *last,
                          uint64_t *says, px_error *err)
{
    const double clock = px_clock_s();
    *says = 0;
    if (limits->seconds > 0.0 && pxi_fuzz_seconds(fuzz) >= limits->seconds)
        *says |= FUZZ_LATE;
    if (clock - last->commit > fmax(FUZZ_COMMIT_S, FUZZ_COMMIT_SHARE * last->commit_took))
        *says |= FUZZ_COMMIT;
    if (clock - last->told >= FUZZ_TELL_S) {
        last->told = clock;
        fuzz->shown.executions_per_s_now = fuzz->now.executions_per_s_now = fuzz_rate_now(fuzz);
        if (clock - last->stats > FUZZ_STATS_S)
            *says |= FUZZ_STATS;
        const px_fuzz_report report = px_fuzz_report_get(fuzz);
        if (fuzz->options.progress && !fuzz->options.progress(fuzz->options.context, &report))
            *says |= FUZZ_ENOUGH;
    }
    if (!pxi_ranks_together())
        return PX_OK;
    if (fuzz->engine->waves && last->waves == fuzz->waves)
        *says = 0; /* they did not meet */
    else
        PX_TRY(pxi_ranks_first("a turn of the campaign", PX_OK, 0, says, err));
    last->waves = fuzz->waves;
    return PX_OK;
}

static px_status fuzz_turns(px_fuzz *fuzz, const px_fuzz_limits *limits, bool *go_on, px_error *err)
{
    const double clock = px_clock_s();
    fuzz_clock last = {.commit = clock, .told = clock, .stats = clock, .waves = -1};
    uint64_t says;
    PX_TRY(fuzz_ask(fuzz, limits, &last, &says, err)); /* the time may be over */
    last.told = 0.0;                                   /* after the first turn */
    for (;;) {
        if (says & FUZZ_COMMIT) {
            const double start = px_clock_s();
            PX_TRY(pxi_fuzz_commit(fuzz, err));
            last.commit = px_clock_s();
            last.commit_took = last.commit - start;
        }
        if (says & FUZZ_STATS) {
            last.stats = px_clock_s();
            PX_TRY(fuzz_write_stats(fuzz, err));
        }
        *go_on = !(says & FUZZ_ENOUGH);
        fuzz->late = (says & FUZZ_LATE) != 0;
        if (!*go_on || fuzz_limit(fuzz, limits))
            break;
        PX_TRY(fuzz_turn(fuzz, err));
        PX_TRY(fuzz_ask(fuzz, limits, &last, &says, err));
    }
    PX_TRY(pxi_fuzz_commit(fuzz, err));
    return fuzz_write_stats(fuzz, err);
}

px_status px_fuzz_run(px_fuzz *fuzz, const px_fuzz_limits *limits, px_error *err)
{
    bool go_on = true;
    if (fuzz->broken)
        return px_fail(err, PX_E_USAGE, "the run failed before; resume the campaign");
    *fuzz->stopped = '\0';
    fuzz->run_from = px_clock_s();
    fuzz->rate_clock[0] = fuzz->rate_clock[1] = fuzz->run_from;
    fuzz->rate_count[0] = fuzz->rate_count[1] = fuzz->executions;
    px_status status = fuzz_turns(fuzz, limits, &go_on, err);
    fuzz->run_before = pxi_fuzz_seconds(fuzz);
    fuzz->run_from = NAN;
    if (status != PX_OK) {
        fuzz->broken = true;
        px_campaign_rollback(fuzz->campaign);
        snprintf(fuzz->stopped, sizeof fuzz->stopped, "trouble");
    } else if (!go_on) {
        snprintf(fuzz->stopped, sizeof fuzz->stopped, "asked to");
        status = px_fail(err, PX_E_CANCELLED, "stopped after %" PRId64 " turns", fuzz->turn);
    }
    if (fuzz->options.progress) { /* for the last time: `stopped` says why */
        const px_fuzz_report report = px_fuzz_report_get(fuzz);
        fuzz->options.progress(fuzz->options.context, &report);
    }
    return status;
}
