/* src/cli/cmd_minimize.c - plexor minimize CAMPAIGN: fewer inputs, or smaller faults */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli_cover.h"
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <errno.h>
#include <internal/fuzz.h>
#include <internal/minimize.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what it has to say ----------------------------------------------------------------------- */

typedef struct minimize_report {
    cli_origin origin;
    const px_minimized *few; /* inputs; NULL: faults */
    const px_cover *cover;   /* NULL: chosen by kinds alone */
    const px_shrunk_fault *faults;
    size_t fault_count;
    px_shrunk_means means;
    int64_t left_out;
    const char *to; /* where they were written; NULL: nowhere */
} minimize_report;

enum { FAULTS_LISTED = 40 };

/* --- inputs ---------------------------------------------------------------------------------- */

typedef struct criterion_row {
    const char *id, *settings, *neurons;
    px_coverage before, after;
} criterion_row;

static const void *criterion_get(const void *of, size_t i, void *place)
{
    const minimize_report *r = of;
    if (i >= r->few->criteria)
        return NULL;
    *(criterion_row *)place = (criterion_row){
        px_cover_criterion(r->cover, i)->entry.id, px_cover_settings_text(r->cover, i),
        px_cover_definition(r->cover, i), r->few->before[i], r->few->after[i]};
    return place;
}

typedef struct pair_row { /* a line for people: what there was, and what is left */
    const char *name;
    char before[CLI_NUMBER_TEXT], after[CLI_NUMBER_TEXT];
} pair_row;

static const void *pair_get(const void *of, size_t i, void *place)
{
    const minimize_report *r = of;
    const px_minimized *few = r->few;
    const int64_t before[] = {few->from_faults, few->fault_types};
    const int64_t after[] = {few->faults, few->fault_types_left};
    static const char *const names[] = {"failures", "kinds"};
    pair_row *row = place;
    criterion_row criterion;
    if (i < 2) {
        row->name = names[i];
        cli_number(before[i], row->before);
        cli_number(after[i], row->after);
        return row;
    }
    if (!criterion_get(of, i - 2, &criterion))
        return NULL;
    row->name = criterion.id;
    snprintf(row->before, sizeof row->before, "%.6g", criterion.before.value);
    snprintf(row->after, sizeof row->after, "%.6g", criterion.after.value);
    return row;
}

static const px_field criterion_fields[] = {
    PX_FIELD(criterion_row, id, "criterion", "its id"),
    PX_FIELD(criterion_row, before.value, "before", "coverage of all inputs"),
    PX_FIELD(criterion_row, after.value, "after", "coverage of those that are left"),
    PX_FIELD(criterion_row, after.covered, "covered", "what was set in motion"),
    PX_FIELD(criterion_row, after.total, "total", "what there is"),
    PX_FIELD(criterion_row, settings, "settings", "as --set takes them"),
    PX_FIELD(criterion_row, neurons, "neurons", "which ones"),
    PX_FIELDS_END,
};

static const px_field few_fields[] = {
    PX_FIELD(px_minimized, from, "from", "inputs that were chosen from"),
    PX_FIELD(px_minimized, count, "to", "inputs that are left"),
    PX_FIELD(px_minimized, from_faults, "faults_before", "failures among all"),
    PX_FIELD(px_minimized, faults, "faults", "failures that are left"),
    PX_FIELD(px_minimized, fault_types, "fault_types_before", "kinds of failures among all"),
    PX_FIELD(px_minimized, fault_types_left, "fault_types", "kinds that are left"),
    PX_FIELDS_END,
};

static const px_field id_fields[] = {
    PX_VALUES(px_minimized, ids, count, "ids", "of the inputs, in the order of being chosen"),
    PX_FIELDS_END,
};

static const px_field pair_fields[] = {
    PX_FIELD(pair_row, name, NULL, NULL, .title = ""),
    PX_CHARS(pair_row, before, NULL, NULL, .title = "before", .align = 'r'),
    PX_CHARS(pair_row, after, NULL, NULL, .title = "after", .align = 'r'),
    PX_FIELDS_END,
};

static const px_field inputs_fields[] = {
    PX_OBJECT_AT(minimize_report, few, few_fields, ""),
    PX_MAP_MADE(criterion_get, criterion_fields, "criteria", "by id"),
    PX_LIST_MADE(pair_get, pair_fields, NULL, NULL, .title = "pairs"),
    PX_OBJECT_AT(minimize_report, few, id_fields, ""),
    PX_FIELDS_END,
};

static void print_inputs(const minimize_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    cli_print("%s of %s inputs", cli_number((int64_t)r->few->count, a),
              cli_number(r->few->from, b));
    if (r->to)
        cli_print(" in %s", r->to);
    cli_print("\n");
    cli_print_list(inputs_fields, "pairs", r, "", 0);
}

/* --- faults ---------------------------------------------------------------------------------- */

typedef struct fault_row { /* a line for people: a fault, or the means of all */
    char id[24], label[24], as[24], now[24];
    double links[2], l0[2], l2[2], linf[2];
} fault_row;

static const px_shrunk_fault *fault_find(const minimize_report *r, size_t i)
{
    for (size_t k = 0; k < r->fault_count; k++)
        if (r->faults[k].errs && i-- == 0)
            return &r->faults[k];
    return NULL;
}

static const void *fault_get(const void *of, size_t i, void *place)
{
    (void)place;
    return fault_find(of, i);
}

/* The first few, and behind them the means. */
static const void *fault_row_get(const void *of, size_t i, void *place)
{
    const minimize_report *r = of;
    const px_shrunk_means *m = &r->means;
    const px_shrunk_fault *f = i < FAULTS_LISTED ? fault_find(r, i) : NULL;
    fault_row *row = place;
    *row = (fault_row){.id = "mean"};
    if (f) {
        snprintf(row->id, sizeof row->id, "%" PRId64, f->id);
        snprintf(row->label, sizeof row->label, "%" PRId64, f->label);
        snprintf(row->as, sizeof row->as, "%" PRId64, f->prediction_before);
        snprintf(row->now, sizeof row->now, "%" PRId64, f->prediction);
    } else if (m->count < 2 || i != (m->count < FAULTS_LISTED ? m->count : FAULTS_LISTED)) {
        return NULL;
    }
    for (int k = 0; k < 2; k++) {
        const px_distance *d = !f ? NULL : k ? &f->after : &f->before;
        row->links[k] = f ? (double)(k ? f->links : f->links_before) : m->links[k];
        row->l0[k] = d ? (double)d->l0 : m->l0[k];
        row->l2[k] = d ? d->l2 : m->l2[k];
        row->linf[k] = d ? d->linf : m->linf[k];
    }
    return row;
}

#define PAIR(member, name)                                                       \
    PX_FIELD(fault_row, member[0], NULL, NULL, .title = name, .format = "%.4g"), \
        PX_FIELD(fault_row, member[1], NULL, NULL, .title = "->", .format = "%.4g")
static const px_field row_fields[] = {
    PX_CHARS(fault_row, id, NULL, NULL, .title = "failure", .align = 'r'),
    PX_CHARS(fault_row, label, NULL, NULL, .title = "label", .align = 'r'),
    PX_CHARS(fault_row, as, NULL, NULL, .title = "as", .align = 'r'),
    PX_CHARS(fault_row, now, NULL, NULL, .title = "now", .align = 'r'),
    PAIR(links, "links"),
    PAIR(l0, "values"),
    PAIR(l2, "l2"),
    PAIR(linf, "linf"),
    PX_FIELDS_END,
};
#undef PAIR

static const px_field distance_fields[] = {
    PX_FIELD(px_distance, l0, "l0", "values that differ"),
    PX_FIELD(px_distance, l2, "l2", "distance"),
    PX_FIELD(px_distance, linf, "linf", "distance"),
    PX_FIELDS_END,
};

static const px_field fault_fields[] = {
    PX_FIELD(px_shrunk_fault, id, "id", "in the campaign"),
    PX_FIELD(px_shrunk_fault, root, "root", "id of its seed"),
    PX_FIELD(px_shrunk_fault, label, "label", "its class"),
    PX_FIELD(px_shrunk_fault, prediction_before, "prediction_before", "of the failure"),
    PX_FIELD(px_shrunk_fault, prediction, "prediction", "of what became of it"),
    PX_FIELD(px_shrunk_fault, confidence, "confidence", "of that"),
    PX_FIELD(px_shrunk_fault, links_before, "links_before", "of its mutation chain"),
    PX_FIELD(px_shrunk_fault, links, "links", "that were needed"),
    PX_FIELD(px_shrunk_fault, chain, "chain", "these; null: it cannot be replayed"),
    PX_OBJECT(px_shrunk_fault, before, distance_fields, "before", "from the seed"),
    PX_OBJECT(px_shrunk_fault, after, distance_fields, "after", "from the seed"),
    PX_FIELD(px_shrunk_fault, executions, "executions", "of the network"),
    PX_FIELDS_END,
};

static const px_field faults_fields[] = {
    PX_FIELD(minimize_report, means.count, "count", "failures"),
    PX_FIELD(minimize_report, left_out, "left_out", "failures that the network does not repeat"),
    PX_FIELD(minimize_report, means.executions, "executions", "of the network"),
    PX_LIST_MADE(fault_get, fault_fields, "faults", "and what became of them"),
    PX_LIST_MADE(fault_row_get, row_fields, NULL, NULL, .title = "rows"),
    PX_FIELDS_END,
};

static void print_faults(const minimize_report *r)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const px_shrunk_means *m = &r->means;
    cli_print_list(faults_fields, "rows", r, "", 0);
    if (m->count > FAULTS_LISTED)
        cli_print("and %zu more\n", m->count - FAULTS_LISTED);
    if (r->left_out)
        cli_print("%" PRId64
                  " of them were left out: the network does not give the stored answer\n",
                  r->left_out);
    cli_print("%s failure%s, %s executions%s%s\n", cli_number((int64_t)m->count, a),
              m->count == 1 ? "" : "s", cli_number(m->executions, b), r->to ? ", in " : "",
              r->to ? r->to : "");
}

static const px_field minimize_fields[] = {
    PX_OBJECT(minimize_report, origin, cli_origin_fields, ""),
    PX_OBJECT_OF(inputs_fields, "", PX_IF(minimize_report, few)),
    PX_OBJECT_OF(faults_fields, "", PX_IF(minimize_report, faults)),
    PX_FIELDS_END,
};

static void minimize_print(const void *of)
{
    const minimize_report *r = of;
    if (r->faults)
        print_faults(r);
    else
        print_inputs(r);
}

typedef struct minimize_args {
    const char *folder, *model, *to, *fault;
    cli_data data;
    cli_neurons neurons;
    cli_criteria criteria;
    cli_training training;
    cli_workers workers;
    int64_t all_faults, executions; /* all_faults -1: not asked for; 0: every one */
    bool seeds, any_type, same_class, fresh;
} minimize_args;

typedef struct minimize_job {
    px_campaign *campaign;
    px_model *model;
    cli_inputs inputs;
    px_profile *profile;
    px_cover *cover;
    px_minimize_guide guide; /* where no criteria are named */
    int64_t *ids;            /* of faults */
    size_t count;
    px_shrunk_fault *faults;
    px_minimized few;
} minimize_job;

/* --- fewer inputs ---------------------------------------------------------------------------- */

static px_status minimize_profile(const minimize_args *a, const px_cover_options *options,
                                  minimize_job *job, px_error *err)
{
    if (a->training.profile)
        PX_TRY(px_profile_open(a->training.profile, &job->profile, err));
    else if (!a->training.spec)
        PX_TRY(px_fuzz_profile_load(job->campaign, &job->profile, err));
    if (job->profile)
        return px_profile_check(job->profile, job->model, err);
    cli_data data = a->data;
    data.spec = a->folder;
    return cli_profile_make(job->model, &data, &a->training, &a->workers, &job->inputs.shape,
                            options, &job->profile, err);
}

static px_status minimize_cover(const minimize_args *a, minimize_job *job, px_error *err)
{
    px_cover_options options = px_cover_options_default();
    options.criteria = a->criteria.list;
    options.preset = a->criteria.preset;
    options.settings = a->criteria.settings.item;
    options.setting_count = (size_t)a->criteria.settings.count;
    options.layers = a->neurons.layers;
    options.tap = a->neurons.tap;
    options.neurons = a->neurons.view;
    if (!a->criteria.list)
        PX_TRY(px_minimize_guide_open(job->campaign, &options, &job->guide, err));
    options.seed = (uint64_t)a->data.seed;
    options.threads = (int)a->workers.threads;
    PX_TRY(minimize_profile(a, &options, job, err));
    options.profile = job->profile;
    return px_cover_new(job->model, &job->inputs.shape, &options, &job->cover, err);
}

static px_status minimize_write(const minimize_args *a, minimize_job *job, px_error *err)
{
    if (!a->to)
        return PX_OK;
    return pxi_has_suffix(a->to, ".csv")
               ? px_minimized_csv(job->campaign, &job->few, a->to, err)
               : px_minimized_campaign(job->campaign, &job->few, a->to, a->fresh, err);
}

static px_status minimize_inputs(const minimize_args *a, minimize_job *job, px_error *err)
{
    px_minimize_options options = px_minimize_options_default();
    if (!a->criteria.list || strcmp(a->criteria.list, "none") != 0) {
        PX_TRY(minimize_cover(a, job, err));
        options.cover = job->cover;
    }
    options.fault_types = !a->any_type;
    options.batch = a->workers.batch;
    options.memory_bytes = cli_memory_bytes(&a->training);
    options.progress = cli_tick;
    options.progress_context = CLI_WORDS("minimize");
    PX_TRY(px_minimize_inputs(job->campaign, job->inputs.set, &job->inputs.pre, &options, &job->few,
                              err));
    return minimize_write(a, job, err);
}

/* --- smaller faults -------------------------------------------------------------------------- */

static px_status faults_list(const minimize_args *a, minimize_job *job, px_error *err)
{
    px_campaign_input in = {0};
    int64_t damaged = 0, last = 0;
    PX_TRY(px_campaign_last(job->campaign, &last, err));
    PX_TRY(PX_NEW(job->ids, (size_t)last + 1, err));
    while (a->all_faults == 0 || (int64_t)job->count < a->all_faults) {
        PX_TRY(px_campaign_next(job->campaign, in.id, PX_INPUT_FAULT, &in, NULL, &damaged, err));
        if (!in.id || (int64_t)job->count >= last)
            break;
        if (!in.twin) /* another one nearly repeats it */
            job->ids[job->count++] = in.id;
    }
    return job->count ? PX_OK : px_fail(err, PX_E_INPUT, "'%s': has no failures", a->folder);
}

static px_status faults_choose(const minimize_args *a, minimize_job *job, px_error *err)
{
    char *end = NULL;
    if (!a->fault)
        return faults_list(a, job, err);
    errno = 0;
    const int64_t id = strtoll(a->fault, &end, 10);
    if (errno || *end || end == a->fault || id < 1)
        return px_fail(err, PX_E_USAGE, "--fault %s: not the id of an input", a->fault);
    PX_TRY(PX_NEW(job->ids, 1, err));
    job->ids[0] = id;
    job->count = 1;
    return PX_OK;
}

static px_status minimize_faults(const minimize_args *a, minimize_job *job, px_error *err)
{
    PX_TRY(faults_choose(a, job, err));
    PX_TRY(PX_NEW(job->faults, job->count, err));
    px_shrink_options options = px_shrink_options_default();
    options.same_class = a->same_class;
    options.executions = a->executions;
    options.threads = (int)a->workers.threads;
    options.progress = cli_tick;
    options.progress_context = CLI_WORDS("failures");
    PX_TRY(px_shrink_faults(job->campaign, job->model, &job->inputs.pre, job->ids, job->count,
                            &options, job->faults, err));
    size_t errs = 0;
    for (size_t i = 0; i < job->count; i++)
        errs += job->faults[i].errs;
    if (!errs)
        return px_fail(
            err, PX_E_MISMATCH,
            "the network does not give the stored answer to %s%s; are --scale, --mean and "
            "--std as in the campaign?",
            a->fault ? "failure " : "these failures", a->fault ? a->fault : "");
    return a->to ? px_shrunk_save(job->campaign, job->faults, job->count, a->to, a->fresh, err)
                 : PX_OK;
}

/* --- the command ----------------------------------------------------------------------------- */

static px_status minimize_open(const cli_command *self, const minimize_args *a, minimize_job *job,
                               px_error *err)
{
    cli_data data = a->data;
    px_campaign_identity identity;
    PX_TRY(px_campaign_open(a->folder, PX_CAMPAIGN_READ, &job->campaign, err));
    if (!px_campaign_identity_get(job->campaign, &identity))
        return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", a->folder);
    if (!a->model) { /* fault types only */
        px_data_options options = px_data_options_default();
        options.split = a->seeds ? "all" : "generated";
        return px_dataset_open(a->folder, &options, &job->inputs.set, err);
    }
    PX_TRY(cli_model_load(self, a->model, &job->model, err));
    if (identity.model_hash != px_model_hash(job->model))
        return px_fail(err, PX_E_MISMATCH, "'%s': was made with another model", a->folder);
    data.spec = a->folder;
    data.split = a->seeds || a->fault ? "all" : "generated";
    return cli_inputs_open(job->model, &data, &job->inputs, err);
}

static void minimize_close(minimize_job *job)
{
    for (size_t i = 0; job->faults && i < job->count; i++)
        px_shrunk_done(&job->faults[i]);
    free(job->faults);
    free(job->ids);
    px_minimize_guide_close(&job->guide);
    px_minimized_done(&job->few);
    px_cover_free(job->cover);
    px_profile_free(job->profile);
    cli_inputs_close(&job->inputs);
    px_model_free(job->model);
    px_campaign_close(job->campaign);
}

static int minimize_say(const cli_command *self, const minimize_args *a, const minimize_job *job)
{
    minimize_report r = {.origin = cli_origin_of(job->model, job->inputs.set),
                         .few = job->faults ? NULL : &job->few,
                         .cover = job->cover,
                         .faults = job->faults,
                         .fault_count = job->count,
                         .to = a->to};
    r.means = px_shrunk_sum(r.faults, r.fault_count);
    r.left_out = (int64_t)(r.fault_count - r.means.count);
    return cli_show(self, minimize_fields, &r, minimize_print);
}

static int minimize_usage(const cli_command *self, const minimize_args *a)
{
    const bool faults = a->fault || a->all_faults >= 0;
    const bool alone = !faults && a->criteria.list && strcmp(a->criteria.list, "none") == 0;
    if (a->fault && a->all_faults >= 0)
        return cli_usage_error(self, "--fault and --all-faults exclude each other");
    if (faults && (a->criteria.list || a->seeds || a->any_type))
        return cli_usage_error(self, "--criteria, --seeds and --any-type choose inputs; they do "
                                     "not go with --fault and --all-faults");
    if (a->training.profile && a->training.spec)
        return cli_usage_error(self, "--profile and --train exclude each other");
    if (!a->model && !alone)
        return cli_require(self, "model", a->model);
    return CLI_GO;
}

static int minimize_run(const cli_command *self, int argc, char **argv)
{
    minimize_args a = {.all_faults = -1, .executions = px_shrink_options_default().executions};
    const cli_option options[] = {
        CLI_STRING(0, "model", &a.model, "MODEL", "the campaign's network"),
        CLI_STRING(
            'o', "output", &a.to, "NEW|FILE.csv",
            "a new campaign with the inputs, or a list of them; with failures: a new folder"),
        CLI_FLAG(0, "fresh", &a.fresh, "in place of what an earlier run made there"),
        CLI_CRITERIA_OPTIONS(&a.criteria),
        CLI_NEURON_OPTIONS(&a.neurons),
        CLI_STRING(0, "profile", &a.training.profile, "FILE",
                   "what 'plexor profile' learned; else the campaign's own, if it has one"),
        CLI_TRAINING_OPTIONS(&a.training),
        CLI_FLAG(0, "seeds", &a.seeds, "choose among the seeds too"),
        CLI_FLAG(0, "any-type", &a.any_type, "coverage alone decides, not kinds of failure"),
        CLI_STRING(0, "fault", &a.fault, "ID", "make this failure smaller instead"),
        CLI_INT(0, "all-faults", &a.all_faults, "N", 0, 9e15,
                "make the first N distinct failures smaller; 0: all"),
        CLI_FLAG(0, "same-class", &a.same_class, "the wrong answer must stay the same one"),
        CLI_INT(0, "executions", &a.executions, "N", 1, 9e15,
                "of the network for a failure, at most"),
        CLI_STRING(
            0, "preprocess", &a.data.pixels.preprocess, "NAME|FILE",
            "one of 'plexor list preprocess', or a file, instead of what the campaign remembers"),
        CLI_STRING(0, "scale", &a.data.pixels.scale, "X",
                   "what pixels are multiplied by, instead of what the campaign remembers"),
        CLI_STRING(0, "mean", &a.data.pixels.mean, "LIST",
                   "what is subtracted then, one number or one per channel"),
        CLI_STRING(0, "std", &a.data.pixels.std, "LIST",
                   "what is divided by then, one number or one per channel"),
        CLI_INT(0, "seed", &a.data.seed, "N", 0, 9e15, "of everything random"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &a.folder, 1, 1));
    CLI_TRY(minimize_usage(self, &a));
    px_error err = {0};
    minimize_job job = {0};
    px_status status = minimize_open(self, &a, &job, &err);
    PX_THEN(status, a.fault || a.all_faults >= 0 ? minimize_faults(&a, &job, &err)
                                                 : minimize_inputs(&a, &job, &err));
    const int rc = status == PX_OK ? minimize_say(self, &a, &job) : cli_fail(self, &err);
    minimize_close(&job);
    return rc;
}

const cli_command cli_command_minimize = {
    .name = "minimize",
    .usage = "CAMPAIGN --model MODEL [-o NEW] [--fault ID | --all-faults N] [options]",
    .help = "few inputs that cover as much, or failures that differ less from their seed inputs",
    .details =
        "Chooses inputs by exact greedy set cover: all that the criteria count stays covered (it "
        "is measured again), and a failure of each kind (label, answer). Criteria are those that "
        "the campaign was guided by, on the same neurons, unless --criteria names others; 'none' "
        "goes by kinds of failure alone and needs no network.\n"
        "With --fault, one failure goes back towards its seed input as far as the network still "
        "errs: links of its mutation chain that are not needed are dropped, then pixels return to "
        "what the seed input has, in whole levels. -o writes a picture (seed input, failure, "
        "minimized, ten times the difference), the pixels as NPZ and a table with the distances.",
    .examples = "plexor minimize run.campaign --model net.onnx -o few.campaign\n"
                "plexor minimize run.campaign --model net.onnx --criteria nc,tknc -o few.csv\n"
                "plexor minimize run.campaign --model net.onnx --fault 17 -o fault17\n",
    .run = minimize_run,
    .ranks = true,
    .result = minimize_fields,
};
