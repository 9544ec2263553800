/* src/cli/cmd_repair.c - plexor repair MODEL --train SPEC --add SPEC|--generate ID|--adversary ID
 * -o FILE */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli_adversary.h"
#include "cli/cli_fields.h"
#include "cli/repair_print.h"
#include "cli/train_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double NOT_GIVEN = -1.0;

typedef struct repair_args {
    const char *path, *out, *flips, *log, *checkpoint;
    const char *train, *train_split, *add, *add_split, *test, *failing, *val;
    const char *recipe, *mode, *optimizer, *schedule, *augment, *freeze;
    const char *generate;
    int keep, norms; /* -1: not given */
    bool pairwise;
    cli_adversary adversary;
    double lr, hold_out;
    int64_t epochs, batch, train_limit, add_limit, test_limit, robust_limit;
    int64_t seed, threads, micro_batch;
    px_preprocess_options pixels;
    bool resume, fresh, strict, skip_damaged;
} repair_args;

typedef struct repair_part { /* one of the data sets */
    px_dataset *set;
    px_preprocess pre;
} repair_part;

enum { TRAIN, ADD, TEST, FAILING, VAL, PARTS };

typedef struct repair_job {
    px_model *model;
    repair_part part[PARTS];
    px_repair_options options;
    px_failures *failures; /* NULL: none were generated */
    repair_generated made;
    px_repair *repair;
    train_view view;
} repair_job;

/* --- data ------------------------------------------------------------------------------------ */

static px_status repair_open_part(const repair_args *a, repair_job *job, int part, const char *spec,
                                  const char *split, bool may_be_whole, int64_t limit,
                                  px_error *err)
{
    repair_part *to = &job->part[part];
    PX_TRY(px_model_preprocess(job->model, &a->pixels, NULL, &to->pre, err));
    px_data_options options = px_model_data_options(job->model);
    options.split = split;
    options.skip_damaged = a->skip_damaged;
    options.limit = limit;
    return cli_part_open(job->model, &to->pre, spec, &options, may_be_whole, &to->set, err);
}

/* An .npz that holds nothing, as `eval --wrong` leaves of a network without mistakes. */
static bool repair_is_empty(const char *spec)
{
    px_npz *npz = NULL;
    if (!pxi_has_suffix(spec, ".npz") || px_npz_open(spec, &npz, NULL) != PX_OK)
        return false;
    const px_tensor *x = px_npz_get(npz, "x");
    const bool empty = x && x->shape.rank > 0 && x->shape.dim[0] == 0;
    px_npz_close(npz);
    return empty;
}

static px_status repair_open_data(const repair_args *a, repair_job *job, px_error *err)
{
    const int64_t train_limit = a->train_limit > 0 ? a->train_limit : 0;
    px_status status = PX_OK;
    if (a->add)
        status = repair_open_part(a, job, ADD, a->add, a->add_split, false, 0, err);
    if (status == PX_E_INPUT && repair_is_empty(a->add))
        status = PX_OK;
    PX_TRY(status);
    if (a->train)
        PX_TRY(repair_open_part(a, job, TRAIN, a->train, a->train_split ? a->train_split : "train",
                                !a->train_split, train_limit, err));
    /* The test part of the training data must be one by name: their whole is no test set. */
    status = repair_open_part(a, job, TEST, a->test ? a->test : a->train, "test", a->test != NULL,
                              a->test_limit, err);
    if (status == PX_E_USAGE && !a->test)
        return px_fail_in(err, status, "no data to test on; give some with --test SPEC");
    PX_TRY(status);
    if (a->failing)
        PX_TRY(repair_open_part(a, job, FAILING, a->failing, NULL, false, 0, err));
    if (a->val)
        PX_TRY(repair_open_part(a, job, VAL, a->val, "val", true, 0, err));
    return PX_OK;
}

static px_judge_set repair_judged(repair_job *job, int part)
{
    return (px_judge_set){job->part[part].set, &job->part[part].pre};
}

static px_feeder_set repair_fed(repair_job *job, int part)
{
    return (px_feeder_set){.set = job->part[part].set, .pre = &job->part[part].pre};
}

/* --- what is done to it ---------------------------------------------------------------------- */

/* Sets *attacks where the mode or an option asks for them. */
static px_status repair_recipe(const repair_args *a, px_repair_recipe *to, cli_adversary *attacks,
                               px_error *err)
{
    double share = 0.0;
    px_mix mix = PX_MIX_APPEND;
    double mixed = 0.0;
    *attacks = a->adversary;
    if (a->mode)
        PX_TRY(px_repair_mode_parse(a->mode, &mix, &mixed, &share, err));
    if (share > 0.0) {
        if (!attacks->method)
            attacks->method = "pgd";
        if (strchr(a->mode, ':') && attacks->share >= 0.0)
            return px_fail(err, PX_E_USAGE,
                           "--mode '%s' and --adversary-share both say how much of a batch is "
                           "replaced",
                           a->mode);
        if (strchr(a->mode, ':'))
            attacks->share = share;
    }
    const char *name = a->recipe         ? a->recipe
                       : attacks->method ? "growing"
                       : a->generate     ? "revisit"
                                         : "nss";
    const px_repair_recipe *found = NULL;
    PX_TRY(px_repair_recipe_choose(name, &found, err));
    *to = *found;
    if (a->mode) {
        to->mix = mix;
        to->share = mixed;
    }
    if (a->optimizer) {
        if (!found->optimizer && a->lr < 0.0)
            return px_fail(err, PX_E_USAGE,
                           "--optimizer needs --lr here: the rate of recipe '%s' is a part of the "
                           "network's own",
                           found->entry.id);
        to->optimizer = a->optimizer;
    }
    if (a->lr > 0.0) {
        if (!to->optimizer)
            return px_fail(err, PX_E_USAGE,
                           "--lr needs --optimizer here: recipe '%s' uses the network's own",
                           found->entry.id);
        to->lr = a->lr;
    }
    if (a->schedule)
        to->schedule = a->schedule;
    if (a->epochs > 0)
        to->epochs = a->epochs;
    if (a->batch > 0)
        to->batch = a->batch;
    if (a->train_limit >= 0)
        to->train_limit = 0; /* the data set was opened with it */
    if (a->add_limit >= 0)
        to->add_limit = a->add_limit;
    return PX_OK;
}

static bool repair_training(void *context, const px_train_progress *progress)
{
    repair_job *job = context;
    return train_view_progress(&job->view, progress);
}

static bool repair_judging(void *context, int64_t done, int64_t total)
{
    (void)context;
    return cli_tick(CLI_WORDS("judge"), done, total);
}

/* Mutants of the training inputs that the network gets wrong. */
static px_status repair_generate(const cli_command *self, const repair_args *a, repair_job *job,
                                 px_error *err)
{
    char mutants[CLI_NUMBER_TEXT], wrong[CLI_NUMBER_TEXT];
    px_failures_options o = px_failures_options_default();
    o.model = job->model;
    o.generator = a->generate;
    o.parents = repair_fed(job, TRAIN);
    if (a->keep >= 0)
        o.keep = (px_failures_keep)a->keep;
    o.pairwise = a->pairwise;
    o.seed = (uint64_t)a->seed;
    o.threads = (int)a->threads;
    o.progress = repair_judging;
    o.progress_context = job;
    PX_TRY(px_failures_make(&o, &job->failures, err));
    job->options.added = px_failures_added(job->failures);
    const px_failures_counts counts = px_failures_count(job->failures);
    job->made = (repair_generated){o.generator, o.keep, o.pairwise, counts};
    if (counts.kept == 0)
        cli_note(self, "of %s mutants %s are wrong, and none of those is kept by --keep %s",
                 cli_number(counts.mutants, mutants), cli_number(counts.wrong, wrong),
                 px_failures_keep_name(o.keep));
    return PX_OK;
}

/* What may stand together. */
static px_status repair_check(const repair_args *a, const px_repair_recipe *recipe, bool attacks,
                              px_error *err)
{
    if (a->add && a->generate)
        return px_fail(err, PX_E_USAGE, "--add and --generate exclude each other");
    if (!a->generate && (a->keep >= 0 || a->pairwise))
        return px_fail(err, PX_E_USAGE, "--keep and --pairwise go with --generate");
    if (a->generate && a->pairwise && a->keep == PX_KEEP_WRONG)
        return px_fail(err, PX_E_USAGE,
                       "--keep wrong does not look at coverage, so --pairwise has no meaning");
    if (!a->add && !a->generate && !attacks)
        return px_fail(err, PX_E_USAGE,
                       "what to repair with? give --add SPEC, --generate dh, dh-d or dh-n, or "
                       "--adversary fgsm, bim or pgd");
    if (!a->train && a->generate)
        return px_fail(err, PX_E_USAGE, "--generate needs --train SPEC: what to make mutants of");
    if (!a->train && recipe->mix != PX_MIX_ONLY)
        return px_fail(err, PX_E_USAGE, "mode '%s' needs --train SPEC: what to train on besides",
                       attacks && !a->add ? "adversarial" : px_mix_name(recipe->mix));
    if (!a->train && !a->test)
        return px_fail(err, PX_E_USAGE, "no data to test on; give some with --test SPEC");
    return PX_OK;
}

static px_status repair_prepare(const cli_command *self, const repair_args *a, repair_job *job,
                                px_error *err)
{
    px_repair_options *o = &job->options;
    cli_adversary attacks;
    *o = px_repair_options_default();
    PX_TRY(repair_recipe(a, &o->recipe, &attacks, err));
    o->norms = (px_repair_norms)(a->norms + 1); /* -1: PX_NORMS_DEFAULT */
    PX_TRY(repair_check(a, &o->recipe, attacks.method != NULL, err));
    PX_TRY(repair_open_data(a, job, err));
    o->model = job->model;
    o->train = repair_fed(job, TRAIN);
    o->added = repair_fed(job, ADD);
    const repair_part *attacked = &job->part[job->part[TRAIN].set ? TRAIN : ADD];
    if (attacks.method && !attacked->set)
        return px_fail(err, PX_E_USAGE,
                       "--adversary has no inputs to attack: --add is empty, and "
                       "mode 'only' trains on nothing else");
    PX_TRY(cli_adversary_read(&attacks, attacked->set, &attacked->pre, &o->adversary, err));
    o->robust_limit = a->robust_limit;
    if (a->generate)
        PX_TRY(repair_generate(self, a, job, err));
    o->test = repair_judged(job, TEST);
    o->failing = repair_judged(job, FAILING);
    o->validation = repair_judged(job, VAL);
    o->hold_out = a->hold_out >= 0.0 ? a->hold_out : a->failing ? 0.0 : o->hold_out;
    o->augment = a->augment;
    o->freeze = a->freeze;
    o->micro_batch = a->micro_batch;
    o->threads = (int)a->threads;
    o->seed = (uint64_t)a->seed;
    o->checkpoint = a->checkpoint;
    o->resume = a->resume;
    o->fresh = a->fresh;
    o->progress = repair_training;
    o->judging = repair_judging;
    o->context = job;
    return px_repair_new(o, &job->repair, err);
}

static void repair_warn(const cli_command *self, const repair_args *args, const px_repair_report *r,
                        const cli_classes *names)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT];
    const bool trains = r->added_count > 0 || r->adversary.method;
    if (args->resume && trains && r->training.resumed_step < 0)
        cli_note(self, "'%s' is not there: starting at the beginning", args->checkpoint);
    else if (args->resume && trains)
        cli_note(self, "going on after %" PRId64 " steps, from '%s'", r->training.resumed_step,
                 args->checkpoint);
    if (r->overlap)
        cli_note(self,
                 "%s test inputs are among those that are added; they are left out of the test set",
                 cli_number(r->overlap, a));
    if (r->outnumbered)
        cli_note(self, "%s inputs are added to %s: mind the balance of labels, or use --mode fixed",
                 cli_number(r->added_count, a), cli_number(r->train_count, b));
    if (r->missing_count) {
        enum { NAMED_MOST = 10 };
        px_text list = {0};
        for (int i = 0; i < r->missing_count && i < NAMED_MOST; i++)
            px_text_format(&list, "%s'%s'", i ? ", " : "",
                           cli_class_name(names, r->missing_classes[i], a));
        if (r->missing_count > NAMED_MOST)
            px_text_format(&list, " and %d more", r->missing_count - NAMED_MOST);
        cli_note(self, "no added input is of class %s, and mode 'only' trains on nothing else",
                 px_text_get(&list));
        px_text_done(&list);
    }
}

/* --- afterwards ------------------------------------------------------------------------------ */

static repair_result repair_came_of(const repair_args *a, const repair_job *job)
{
    const cli_classes names = cli_classes_of(job->model, job->part[TEST].set);
    return repair_result_make(px_repair_get(job->repair), &job->options, &job->made, &names,
                              &(repair_files){a->out, a->flips});
}

static px_status repair_save(const repair_args *a, repair_job *job, px_error *err)
{
    const px_repair_report *r = px_repair_get(job->repair);
    const repair_result result = repair_came_of(a, job);
    px_json json = {0};
    px_model *model = NULL;
    px_fields_object(repair_origin_fields, &result, NULL, &json);
    const char *text = px_json_text(&json);
    const px_property property = {"plexor.repair", text};
    px_status status = text ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, px_repair_freeze(job->repair, &property, r->trained, &model, err));
    PX_THEN(status, px_model_save(model, a->out, err));
    PX_THEN_IF(status, a->flips, px_repair_save_flips(job->repair, a->flips, err));
    PX_THEN_IF(status, a->log,
               px_train_log_save(a->log, r->training.history, r->training.history_count, err));
    PX_THEN(status, px_repair_discard(job->repair, err));
    px_model_free(model);
    px_json_done(&json);
    return status;
}

static int repair_finish(const cli_command *self, const repair_args *a, const repair_job *job)
{
    const repair_result result = repair_came_of(a, job);
    int rc = cli_show(self, repair_fields, &result, repair_print_report);
    if (rc == CLI_DONE && a->strict && result.r.verdict == PX_REPAIR_REGRESSED) {
        cli_note(self, "the repaired network regressed");
        rc = CLI_CHECK_FAILED;
    }
    return rc;
}

static int repair_all(const cli_command *self, const repair_args *a)
{
    px_error err = {0};
    repair_job job = {.view = {.quiet = true}};
    px_status status = cli_model_load_file(self, a->path, &job.model, &err);
    PX_THEN(status, repair_prepare(self, a, &job, &err));
    if (status != PX_OK)
        goto done;
    const cli_classes names = cli_classes_of(job.model, job.part[TEST].set);
    repair_warn(self, a, px_repair_get(job.repair), &names);
    if (!cli_now()->json) {
        cli_print("network  %s\n", a->path);
        if (job.part[TRAIN].set)
            cli_print("train    %s\n", px_dataset_describe(job.part[TRAIN].set));
        cli_print("test     %s\n", px_dataset_describe(job.part[TEST].set));
        repair_print_plan(px_repair_get(job.repair), &job.options, &job.made);
        cli_adversary_print(&px_repair_get(job.repair)->adversary,
                            job.part[job.part[TRAIN].set ? TRAIN : ADD].set,
                            &job.part[job.part[TRAIN].set ? TRAIN : ADD].pre);
        fflush(cli_out());
    }
    train_view_start(&job.view);
    status = px_repair_run(job.repair, &err);
    train_view_end(&job.view);
    PX_THEN(status, repair_save(a, &job, &err));
done:;
    const int rc = status == PX_OK ? repair_finish(self, a, &job) : cli_fail(self, &err);
    px_repair_free(job.repair);
    px_failures_free(job.failures);
    for (int i = 0; i < PARTS; i++)
        px_dataset_close(job.part[i].set);
    px_model_free(job.model);
    return rc;
}

/* "out.onnx" and "-flips.csv" make "out-flips.csv"; "none" is nothing. */
static const char *repair_beside(const char *given, const char *out, const char *ending,
                                 px_text *text)
{
    if (given)
        return strcmp(given, "none") == 0 ? NULL : given;
    px_text_add_bytes(text, out, strlen(out) - (pxi_has_suffix(out, ".onnx") ? 5 : 0));
    px_text_add(text, ending);
    return px_text_get(text);
}

static int repair_run(const cli_command *self, int argc, char **argv)
{
    repair_args a = {.adversary = CLI_ADVERSARY_NONE,
                     .keep = -1,
                     .norms = -1,
                     .lr = NOT_GIVEN,
                     .hold_out = NOT_GIVEN,
                     .train_limit = -1,
                     .add_limit = -1};
    const cli_option options[] = {
        CLI_STRING(0, "train", &a.train, "SPEC",
                   "what the network was trained on; 'plexor list data' says what it takes"),
        CLI_STRING(0, "add", &a.add, "SPEC", "the new inputs, with their true labels"),
        CLI_STRING(0, "generate", &a.generate, "dh|dh-d|dh-n",
                   "instead: a mutant of each training input, those that the network gets wrong"),
        CLI_CHOICE(0, "keep", &a.keep, CLI_CHOICES(PX_KEEPS),
                   "of the wrong ones: those that raise the neuron coverage of --train (if not "
                   "given), that do not, or all"),
        CLI_FLAG(0, "pairwise", &a.pairwise,
                 "coverage of a mutant against that of its original, not of all of --train"),
        CLI_STRING('o', "output", &a.out, "FILE", "where the repaired network goes"),
        CLI_STRING(0, "recipe", &a.recipe, "NAME",
                   "how to retrain; see 'plexor list recipes'; nss if not given, revisit with "
                   "--generate, growing with attacks"),
        CLI_STRING(0, "mode", &a.mode, "MODE",
                   "append, fixed[:SHARE] (of every batch), only, or adversarial[:SHARE]; the "
                   "recipe's if not given"),
        CLI_ADVERSARY_OPTIONS(&a.adversary),
        CLI_INT(0, "robust-limit", &a.robust_limit, "N", 0, 9e15,
                "attack N test inputs for the report, drawn by --seed; 0: all"),
        CLI_REAL(0, "hold-out", &a.hold_out, "FRACTION", 0, 1,
                 "of each class of the new inputs: judged on, not trained on; 0.2, or 0 with "
                 "--failing"),
        CLI_STRING(0, "failing", &a.failing, "SPEC",
                   "failing inputs to judge on, in place of those held out"),
        CLI_STRING(0, "test", &a.test, "SPEC",
                   "the clean test set; the test part of --train if not given"),
        CLI_STRING(0, "val", &a.val, "SPEC", "keep the epoch that is best on these inputs"),
        CLI_STRING(0, "train-split", &a.train_split, "NAME",
                   "which part of --train; train if not given"),
        CLI_STRING(0, "add-split", &a.add_split, "NAME",
                   "which part of --add: of a campaign its failures, or close, those of them that "
                   "are close to their originals"),
        CLI_INT(0, "train-limit", &a.train_limit, "N", 0, 9e15,
                "the first N of --train only; 0: all; the recipe's if not given"),
        CLI_INT(0, "add-limit", &a.add_limit, "N", 0, 9e15,
                "train on N of the new inputs, drawn by --seed; 0: all; the recipe's if not given"),
        CLI_INT(0, "test-limit", &a.test_limit, "N", 0, 9e15,
                "judge on the first N test inputs only; 0: all"),
        CLI_INT(0, "epochs", &a.epochs, "N", 0, 1e6, "times through the data; 0: the recipe's"),
        CLI_INT(0, "batch", &a.batch, "N", 0, 65536, "inputs per step; 0: the recipe's"),
        CLI_REAL(0, "lr", &a.lr, "X", 1e-12, 1e6, "learning rate; the recipe's if not given"),
        CLI_STRING(0, "optimizer", &a.optimizer, "SPEC",
                   "such as sgd:momentum=0.9,nesterov=1; 'plexor list optimizers'"),
        CLI_STRING(0, "schedule", &a.schedule, "SPEC",
                   "of the learning rate: cosine, step:20,30, ...; 'plexor list schedules'"),
        CLI_STRING(0, "augment", &a.augment, "LIST",
                   "changes to inputs: crop:4,flip; dh; 'plexor list augmentations'"),
        CLI_STRING(0, "freeze", &a.freeze, "LAYERS",
                   "layers whose weights stay; see 'plexor list layers'"),
        CLI_CHOICE(0, "norms", &a.norms, "frozen|trained",
                   "batch normalisation: frozen or trained; frozen where few inputs are trained "
                   "on, if not given"),
        CLI_FLAG(0, "strict", &a.strict, "exit with 1 where the clean test set lost over a point"),
        CLI_STRING(0, "flips", &a.flips, "FILE",
                   "CSV of all inputs that changed sides; OUTPUT-flips.csv if not given; or none"),
        CLI_STRING(0, "log", &a.log, "FILE", "a line per epoch: .csv or .jsonl"),
        CLI_STRING(0, "checkpoint", &a.checkpoint, "FILE",
                   "the state of the run; OUTPUT.ckpt if not given; or none"),
        CLI_FLAG(0, "resume", &a.resume, "go on from the checkpoint, if it is there"),
        CLI_FLAG(0, "fresh", &a.fresh, "begin anew: a checkpoint that is there is removed first"),
        CLI_STRING(
            0, "preprocess", &a.pixels.preprocess, "NAME|FILE",
            "scale, mean and std at once: one of 'plexor list preprocess', or Hugging Face's "
            "preprocessor_config.json"),
        CLI_STRING(0, "scale", &a.pixels.scale, "X",
                   "pixels are multiplied by this first; the network's own if not given"),
        CLI_STRING(0, "mean", &a.pixels.mean, "LIST",
                   "then subtracted; the network's own if not given"),
        CLI_STRING(0, "std", &a.pixels.std, "LIST",
                   "then divided by; the network's own if not given"),
        CLI_STRING(0, "size", &a.pixels.size, "HxW", "resize images to this"),
        CLI_CLASSES_OPTION,
        CLI_SKIP_OPTION(&a),
        CLI_INT(0, "seed", &a.seed, "N", 0, 9e15, "of everything random"),
        CLI_INT('j', "threads", &a.threads, "N", 0, 1024, "worker threads; 0: one per core"),
        CLI_INT(0, "micro-batch", &a.micro_batch, "N", 0, 65536,
                "inputs per worker at a time; 0: chosen; part of what decides the result's bits"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &a.path, 1, 1));
    CLI_TRY(cli_require(self, "output", a.out));
    px_text flips = {0}, checkpoint = {0};
    px_text_format(&checkpoint, "%s.ckpt", a.out);
    if (!a.checkpoint)
        a.checkpoint = px_text_get(&checkpoint);
    else if (strcmp(a.checkpoint, "none") == 0)
        a.checkpoint = NULL;
    a.flips = repair_beside(a.flips, a.out, "-flips.csv", &flips);
    const int rc = px_text_failed(&checkpoint) || px_text_failed(&flips) ? cli_no_memory(self)
                   : a.resume && !a.checkpoint
                       ? cli_usage_error(self, "--resume needs a checkpoint to go on from")
                   : a.resume && a.fresh
                       ? cli_usage_error(self, "--resume and --fresh exclude each other")
                       : repair_all(self, &a);
    px_text_done(&flips);
    px_text_done(&checkpoint);
    return rc;
}

const cli_command cli_command_repair = {
    .name = "repair",
    .usage = "MODEL --train SPEC --add SPEC|--generate ID|--adversary ID -o FILE [options]",
    .help = "retrain with new inputs, and say what that changed",
    .details =
        "A recipe is how one of the papers retrains: what is mixed, the optimiser, its rate and "
        "schedule, epochs and batch. Each of them can be changed by an option.\n\n"
        "Part of the new inputs is held back, so that the report can tell failures that are mended "
        "from failures that were learnt by heart. It has the accuracy on the clean test set and on "
        "the failing inputs before and after, by class too, McNemar's test, every input that was "
        "right and is now wrong, and how confidence moved. Test inputs that are among the new ones "
        "are left out. A network that loses more than one point on the clean test set has "
        "'regressed', whatever else it gained.\n\n"
        "--generate makes the new inputs: each training input gets one random transformation "
        "(DeepHunter's; dh-d the differentiable ones of them, dh-n the others). --adversary is "
        "adversarial training: inputs of every batch are replaced by attacks on the network as it "
        "is then, and the report has the accuracy on the test set under that attack, made anew on "
        "the network before and after.\n\n"
        "A loss that is not a number goes back to the start of the epoch with half the learning "
        "rate, three times at most.",
    .examples =
        "plexor eval net.onnx --data fashion-mnist --split train --wrong failures.npz\n"
        "plexor repair net.onnx --train fashion-mnist --add failures.npz -o better.onnx\n"
        "plexor repair net.onnx --train digits --add new/ --recipe deepsensor -o better.onnx\n"
        "plexor repair net.onnx --train digits --generate dh --epochs 5 -o better.onnx\n"
        "plexor repair net.onnx --train digits --adversary pgd --eps 0.1 --epochs 5 -o hard.onnx\n"
        "plexor repair net.onnx --train digits --add new/ --mode fixed:0.25 --epochs 5 -o b.onnx\n",
    .run = repair_run,
    .ranks = true,
    .result = repair_fields,
};
