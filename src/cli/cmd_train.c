/* src/cli/cmd_train.c - plexor train --arch ARCH|MODEL --data SPEC -o FILE */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_fields.h"
#include "cli/cli_train.h"
#include "cli/train_print.h"

#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parameters that were given; what was not comes from the recipe. */
typedef struct train_args {
    cli_train_request request;
    train_settings set;
    cli_adversary adversary;
    int64_t threads;
    const char *out, *log, *checkpoint;
    const char *polluted_class, *patch_size;
    int patch; /* -1: not given */
    double checkpoint_s;
    int64_t checkpoint_steps;
    bool resume, fresh, keep_checkpoint;
} train_args;

static const double NOT_GIVEN = -1.0;

/* The learning rate that an optimiser is commonly begun with. */
static double optimizer_rate(const char *spec)
{
    static const struct {
        const char *name;
        double lr;
    } rates[] = {{"sgd", 0.05}, {"adagrad", 0.01}};
    const size_t length = strcspn(spec, ":");
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (strlen(rates[i].name) == length && strncmp(spec, rates[i].name, length) == 0)
            return rates[i].lr;
    return 0.001;
}

/* Fills in what was not given. Who chooses another optimiser is not given a rate, schedule or
 * decay that was tuned for the recipe's. */
static bool train_settle(train_args *a, const cli_training *t)
{
    train_settings *s = &a->set;
    const px_recipe recipe = px_recipe_get(a->request.arch, t->train.shape.dim[1]);
    const bool own = s->optimizer != NULL;
    s->recipe = !own && !s->schedule && s->lr < 0.0 && s->decay < 0.0;
    if (!own)
        s->optimizer = recipe.optimizer;
    if (!s->schedule)
        s->schedule = own ? "cosine" : recipe.schedule;
    if (s->lr < 0.0)
        s->lr = own ? optimizer_rate(s->optimizer) : recipe.lr;
    if (s->decay < 0.0 && !own)
        s->decay = recipe.decay;
    if (s->epochs == 0)
        s->epochs = recipe.epochs;
    if (s->batch == 0)
        s->batch = recipe.batch;
    if (!s->augment)
        s->augment = recipe.augment;
    if (strcmp(s->augment, "none") == 0)
        s->augment = "";
    px_text_add(&s->optimizer_spec, s->optimizer);
    if (s->decay > 0.0) {
        char number[PX_REAL_TEXT];
        px_text_format(&s->optimizer_spec, "%cdecay=%s", strchr(s->optimizer, ':') ? ',' : ':',
                       px_real_text(s->decay, number));
    }
    return !px_text_failed(&s->optimizer_spec);
}

/* --- faulty training ------------------------------------------------------------------------- */

/* A class by number or by name. */
static px_status train_polluted_class(const train_args *a, const cli_training *t, int64_t *out,
                                      px_error *err)
{
    char *end = NULL;
    const long number = strtol(a->polluted_class, &end, 10);
    if (end != a->polluted_class && *end == '\0' && number >= 0 && number < t->scores.classes) {
        *out = number;
        return PX_OK;
    }
    for (int c = 0; c < px_dataset_class_count(t->train.set); c++) {
        const char *name = px_dataset_class_name(t->train.set, c);
        if (name && strcmp(name, a->polluted_class) == 0) {
            *out = c;
            return PX_OK;
        }
    }
    return px_fail(err, PX_E_USAGE,
                   "--polluted-class '%s': neither a class from 0 to %d nor the name of one",
                   a->polluted_class, t->scores.classes - 1);
}

static px_status train_pollution(const train_args *a, const cli_training *t,
                                 px_feeder_options *options, px_error *err)
{
    options->pollute = a->set.pollute;
    options->label_noise = a->set.label_noise;
    if (a->set.pollute == 0.0 && (a->polluted_class || a->patch_size || a->patch >= 0))
        return px_fail(err, PX_E_USAGE,
                       "--polluted-class, --patch-size and --patch go with --pollute FRACTION");
    if (a->set.pollute == 0.0)
        return PX_OK;
    if (!a->polluted_class)
        return px_fail(err, PX_E_USAGE,
                       "--pollute needs --polluted-class: the label that inputs with a patch get");
    PX_TRY(train_polluted_class(a, t, &options->polluted_class, err));
    if (a->patch_size) {
        char after = 0;
        const int found =
            sscanf(a->patch_size, "%d:%d%c", &options->patch_min, &options->patch_max, &after);
        if (found == 1 && !strchr(a->patch_size, ':'))
            options->patch_max = options->patch_min;
        else if (found != 2)
            return px_fail(err, PX_E_USAGE, "--patch-size '%s': expected MIN:MAX, such as 1:6",
                           a->patch_size);
    }
    options->patch_white = a->patch == 1;
    return PX_OK;
}

static px_status train_feeder(train_args *a, const cli_training *t, px_feeder **out, px_error *err)
{
    px_feeder_options options = px_feeder_options_default();
    options.base = (px_feeder_set){.set = t->train.set, .pre = &t->train.pre};
    options.classes = t->scores.classes;
    options.batch = a->set.batch;
    options.seed = (uint64_t)a->request.data.seed;
    options.augment = a->set.augment;
    options.hard_labels = a->set.hard_labels;
    PX_TRY(train_pollution(a, t, &options, err));
    a->set.polluted_class = options.polluted_class;
    return px_feeder_new(&options, out, err);
}

/* --- the run --------------------------------------------------------------------------------- */

enum { TRAIN_FACTS = 8 };

/* Named as the user knows them; a resumed run is compared in this order. */
static size_t train_facts(const train_args *a, char words[][48], px_property *facts)
{
    const train_settings *s = &a->set;
    size_t n = 0;
    snprintf(words[0], 48, "%" PRId64, s->batch);
    snprintf(words[1], 48, "%g", s->pollute);
    snprintf(words[2], 48, "%g", s->label_noise);
    snprintf(words[3], 48, "%" PRId64, a->request.data.limit);
    snprintf(words[4], 48, "%" PRId64, a->request.data.seed);
    facts[n++] = (px_property){"--arch", a->request.arch ? a->request.arch : ""};
    facts[n++] = (px_property){"--batch", words[0]};
    facts[n++] = (px_property){"--augment", s->augment};
    facts[n++] = (px_property){"--pollute", words[1]};
    facts[n++] = (px_property){"--label-noise", words[2]};
    facts[n++] = (px_property){"--hard-labels", s->hard_labels ? "yes" : "no"};
    facts[n++] = (px_property){"--train-limit", words[3]};
    facts[n++] = (px_property){"--seed", words[4]};
    return n;
}

static px_status train_new(const cli_command *self, train_args *a, const cli_training *t,
                           px_feeder *feeder, train_view *view, px_trainer **out, px_error *err)
{
    char words[TRAIN_FACTS][48];
    px_property facts[TRAIN_FACTS];
    const train_settings *s = &a->set;
    px_trainer_options o = px_trainer_options_default();
    o.model = t->model;
    o.feeder = feeder;
    o.test = (px_judge_set){t->test.set, &t->test.pre};
    o.loss = s->loss;
    o.optimizer = px_text_get(&s->optimizer_spec);
    o.schedule = s->schedule;
    o.lr = s->lr;
    o.epochs = s->epochs;
    o.label_smoothing = s->label_smoothing;
    o.clip = s->clip;
    o.freeze = s->freeze;
    o.freeze_norms = s->freeze_norms;
    o.micro_norms = s->micro_norms;
    o.adversary = s->adversary;
    o.micro_batch = s->micro_batch;
    o.threads = (int)a->threads;
    o.seed = (uint64_t)a->request.data.seed;
    o.eval_every = s->eval_every;
    o.keep_best = s->keep_best;
    o.until_accuracy = s->until;
    o.checkpoint = a->checkpoint;
    o.checkpoint_s = a->checkpoint_s;
    o.checkpoint_steps = a->checkpoint_steps;
    o.resume = a->resume;
    o.fresh = a->fresh;
    o.facts = facts;
    o.fact_count = train_facts(a, words, facts);
    o.progress = train_view_progress;
    o.epoch = train_view_epoch;
    o.context = view;
    PX_TRY(px_trainer_new(&o, out, err));
    if (!a->resume)
        return PX_OK;
    const px_train_result r = px_trainer_result(*out);
    if (r.resumed_step < 0)
        cli_note(self, "'%s' is not there: starting at the beginning", a->checkpoint);
    else
        cli_note(self, "going on after %" PRId64 " steps, from '%s'", r.resumed_step,
                 a->checkpoint);
    return PX_OK;
}

/* Writes the network; only then is the checkpoint not needed any more. */
static px_status train_save(const train_args *a, const cli_training *t, px_trainer *trainer,
                            px_error *err)
{
    px_properties properties = {.count = 0};
    px_model *model = NULL;
    px_json json = {0};
    const train_report made =
        train_report_make(t, &a->set, px_trainer_result(trainer), a->request.arch, a->out);
    px_fields_object(train_origin_fields, &made, NULL, &json);
    px_status status = px_properties_describe(&properties, t->model, &t->scores, &t->train.pre,
                                              t->train.set, &json, err);
    PX_THEN(status, px_trainer_freeze(trainer, properties.item, properties.count, &model, err));
    PX_THEN(status, px_model_save(model, a->out, err));
    PX_THEN_IF(status, !a->keep_checkpoint, px_trainer_discard(trainer, err));
    px_model_free(model);
    px_properties_done(&properties);
    px_json_done(&json);
    return status;
}

static int train_finish(const cli_command *self, const train_args *a, const cli_training *t,
                        const px_trainer *trainer)
{
    const px_train_result r = px_trainer_result(trainer);
    const train_report report = train_report_make(t, &a->set, r, a->request.arch, a->out);
    int rc = cli_show(self, train_fields, &report, train_print_result);
    if (rc == CLI_DONE && a->set.until >= 0.0 && !r.reached) {
        cli_note(self,
                 "accuracy is %.2f%% after %" PRId64 " epochs, not within half a point of "
                 "%.2f%%; more --epochs may reach it",
                 100.0 * r.test_accuracy, r.epochs, 100.0 * a->set.until);
        rc = CLI_CHECK_FAILED;
    }
    return rc;
}

static int train_all(const cli_command *self, train_args *a)
{
    px_error err = {0};
    cli_training t = {0};
    px_feeder *feeder = NULL;
    px_trainer *trainer = NULL;
    train_view view = {.quiet = cli_now()->json, .log = a->log};
    int rc = CLI_DONE;
    px_status status = cli_training_open(self, &a->request, &t, &err);
    if (status == PX_OK && !train_settle(a, &t))
        status = pxi_no_memory(&err);
    PX_THEN(status,
            cli_adversary_read(&a->adversary, t.train.set, &t.train.pre, &a->set.adversary, &err));
    view.attacked = a->set.adversary.method != NULL;
    PX_THEN(status, train_feeder(a, &t, &feeder, &err));
    PX_THEN(status, train_new(self, a, &t, feeder, &view, &trainer, &err));
    if (status == PX_OK && a->log) { /* a name that cannot be written is found now */
        const px_train_result r = px_trainer_result(trainer);
        status = px_train_log_save(a->log, r.history, r.history_count, &err);
    }
    if (status != PX_OK)
        goto done;
    if (!cli_now()->json)
        train_print_start(&t, &a->set, feeder, px_trainer_result(trainer), a->request.arch);
    train_view_start(&view);
    status = px_trainer_run(trainer, &err);
    train_view_end(&view);
    PX_THEN(status, train_save(a, &t, trainer, &err));
done:
    rc = status == PX_OK ? train_finish(self, a, &t, trainer) : cli_fail(self, &err);
    px_trainer_free(trainer);
    px_feeder_free(feeder);
    cli_training_close(&t);
    return rc;
}

static int train_run(const cli_command *self, int argc, char **argv)
{
    train_args a = {
        .patch = -1,
        .request = {.dropout = NOT_GIVEN},
        .set = {.lr = NOT_GIVEN, .decay = NOT_GIVEN, .until = NOT_GIVEN, .eval_every = 1},
        .adversary = CLI_ADVERSARY_NONE,
        .checkpoint_s = 60.0,
    };
    cli_train_request *r = &a.request;
    train_settings *s = &a.set;
    const cli_option options[] = {
        CLI_STRING(0, "arch", &r->arch, "ARCH", "train a new network; 'plexor list archs'"),
        CLI_STRING(0, "data", &r->data.spec, "SPEC",
                   "the inputs to train on; 'plexor list data' says what it takes"),
        CLI_STRING('o', "output", &a.out, "FILE", "where the trained network goes"),
        CLI_STRING(0, "split", &r->data.split, "NAME",
                   "which part to train on; train if not given"),
        CLI_INT(0, "train-limit", &r->data.limit, "N", 0, 9e15,
                "train on the first N inputs only; 0: all"),
        CLI_STRING(0, "test", &r->test, "SPEC",
                   "what accuracy is measured on; the data's test part if not given; or none"),
        CLI_INT(0, "test-limit", &r->test_limit, "N", 0, 9e15,
                "measure on the first N inputs only; 0: all"),
        CLI_INT(0, "epochs", &s->epochs, "N", 0, 1e6, "times through the data; 0: the recipe's"),
        CLI_INT(0, "batch", &s->batch, "N", 0, 65536, "inputs per step; 0: the recipe's"),
        CLI_REAL(0, "lr", &s->lr, "X", 1e-12, 1e38, "learning rate; the recipe's if not given"),
        CLI_STRING(0, "optimizer", &s->optimizer, "SPEC",
                   "such as sgd:momentum=0.9,nesterov=1; 'plexor list optimizers'"),
        CLI_STRING(0, "schedule", &s->schedule, "SPEC",
                   "of the learning rate: cosine, step:20,30, ...; 'plexor list schedules'"),
        CLI_REAL(0, "decay", &s->decay, "X", 0, 1e6, "weight decay"),
        CLI_STRING(0, "loss", &s->loss, "SPEC", "cross-entropy or mse; 'plexor list losses'"),
        CLI_REAL(0, "label-smoothing", &s->label_smoothing, "X", 0, 1,
                 "share of the target that is spread over all classes"),
        CLI_FLAG(0, "hard-labels", &s->hard_labels,
                 "train on labels though the data have soft targets"),
        CLI_REAL(0, "clip", &s->clip, "NORM", 0, 1e30, "shorten longer gradients; 0: as they are"),
        CLI_REAL(0, "dropout", &r->dropout, "RATE", 0, 0.99,
                 "of a new network, in place of its own rates"),
        CLI_STRING(0, "augment", &s->augment, "LIST",
                   "changes to inputs: crop:4,flip; dh; none; 'plexor list augmentations'"),
        CLI_ADVERSARY_OPTIONS(&a.adversary),
        CLI_STRING(0, "freeze", &s->freeze, "LAYERS",
                   "layers whose weights stay; see 'plexor list layers'"),
        CLI_FLAG(0, "freeze-norms", &s->freeze_norms,
                 "batch normalisation by its running statistics, which stay"),
        CLI_FLAG(0, "micro-norms", &s->micro_norms,
                 "batch normalisation by each micro-batch's statistics, not the whole batch's"),
        CLI_REAL(0, "until-accuracy", &s->until, "A", 0, 1,
                 "stop when test accuracy is within half a point of this"),
        CLI_FLAG(0, "keep-best", &s->keep_best,
                 "write the epoch with the best test accuracy, not the last"),
        CLI_INT(0, "eval-every", &s->eval_every, "EPOCHS", 0, 1e6,
                "how often test accuracy is measured; 0: at the end"),
        CLI_REAL(0, "pollute", &s->pollute, "FRACTION", 0, 1,
                 "stamp a patch into so many training inputs and give them a wrong class"),
        CLI_STRING(0, "polluted-class", &a.polluted_class, "C", "that class, by number or name"),
        CLI_STRING(0, "patch-size", &a.patch_size, "MIN:MAX",
                   "side of the patch; 1:6 if not given"),
        CLI_CHOICE(0, "patch", &a.patch, "noise|white", "what the patch is; noise if not given"),
        CLI_REAL(0, "label-noise", &s->label_noise, "FRACTION", 0, 1,
                 "give so many training inputs another class at random"),
        CLI_STRING(0, "log", &a.log, "FILE", "a line per epoch: .csv or .jsonl"),
        CLI_STRING(0, "checkpoint", &a.checkpoint, "FILE",
                   "the state of the run; OUTPUT.ckpt if not given; or none"),
        CLI_REAL(0, "checkpoint-every", &a.checkpoint_s, "SECONDS", 0, 1e9,
                 "besides at every epoch's end; 0: only there"),
        CLI_INT(0, "checkpoint-steps", &a.checkpoint_steps, "N", 0, 9e15,
                "and after so many steps; 0: not"),
        CLI_FLAG(0, "resume", &a.resume, "go on from the checkpoint, if it is there"),
        CLI_FLAG(0, "fresh", &a.fresh, "begin anew: a checkpoint that is there is removed first"),
        CLI_FLAG(0, "keep-checkpoint", &a.keep_checkpoint, "do not remove it at the end"),
        CLI_STRING(
            0, "preprocess", &r->data.pixels.preprocess, "NAME|FILE",
            "scale, mean and std at once: one of 'plexor list preprocess', or Hugging Face's "
            "preprocessor_config.json"),
        CLI_STRING(0, "scale", &r->data.pixels.scale, "X",
                   "pixels are multiplied by this first; 1/255 for 8-bit data, else 1"),
        CLI_STRING(0, "mean", &r->data.pixels.mean, "LIST",
                   "then subtracted; the training data's own if not given"),
        CLI_STRING(0, "std", &r->data.pixels.std, "LIST",
                   "then divided by; the training data's own if not given"),
        CLI_STRING(0, "size", &r->data.pixels.size, "HxW", "resize images to this"),
        CLI_CLASSES_OPTION,
        CLI_SKIP_OPTION(&r->data),
        CLI_STRING(0, "audio", &r->data.audio, "SETTINGS",
                   "of features of recordings: frames=64, ...; 'plexor list audio'"),
        CLI_INT(0, "seed", &r->data.seed, "N", 0, 9e15, "of everything random"),
        CLI_INT('j', "threads", &a.threads, "N", 0, 1024, "worker threads; 0: one per core"),
        CLI_INT(0, "micro-batch", &s->micro_batch, "N", 0, 65536,
                "inputs per worker at a time; 0: chosen; part of what decides the result's bits"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &r->path, 0, 1));
    if (!r->path == !r->arch)
        return cli_usage_error(self,
                               r->path ? "'%s' and --arch exclude each other"
                                       : "what to train? give a MODEL or --arch ARCH",
                               r->path);
    CLI_TRY(cli_require(self, "data", r->data.spec));
    CLI_TRY(cli_require(self, "output", a.out));
    px_text checkpoint = {0};
    if (!a.checkpoint) {
        px_text_format(&checkpoint, "%s.ckpt", a.out);
        a.checkpoint = px_text_get(&checkpoint);
    } else if (strcmp(a.checkpoint, "none") == 0) {
        a.checkpoint = NULL;
    }
    r->threads = a.threads;
    const int rc = px_text_failed(&checkpoint) ? cli_no_memory(self)
                   : a.resume && !a.checkpoint
                       ? cli_usage_error(self, "--resume needs a checkpoint to go on from")
                   : a.resume && a.fresh
                       ? cli_usage_error(self, "--resume and --fresh exclude each other")
                       : train_all(self, &a);
    px_text_done(&s->optimizer_spec);
    px_text_done(&checkpoint);
    return rc;
}

const cli_command cli_command_train = {
    .name = "train",
    .usage = "--arch ARCH|MODEL --data SPEC -o FILE [options]",
    .help = "train a network, or go on with a trained one",
    .details =
        "What is not given comes from a recipe for the architecture; what was used is printed and "
        "written into the network's metadata, with preprocessing and class names. Same options, "
        "data and seed give the same network, whatever the number of threads and ranks.\n\n"
        "The state of the run is kept in a checkpoint beside the output until the network is "
        "written. After Ctrl-C, a crash or a power cut, the same command with --resume ends with "
        "the same weights as a run that was never stopped.\n\n"
        "--adversary makes it adversarial training: before each step, inputs of the batch are "
        "replaced by attacks on the network as it is then. The accuracy in training is then that "
        "under attack; the test accuracy stays that of clean inputs, and 'plexor attack' measures "
        "the rest.\n\n"
        "--until-accuracy stops at a test accuracy, for networks that are under-trained on "
        "purpose; exit status 1 if it is not reached. A loss that is not a number stops with "
        "status 3 and leaves the last good checkpoint.",
    .examples =
        "plexor train --arch lenet5 --data fashion-mnist -o lenet5.onnx\n"
        "plexor train --arch lenet1 --data fashion-mnist --until-accuracy 0.79 -o weak.onnx\n"
        "plexor train --arch lenet5 --data fashion-mnist --adversary pgd --eps 0.1 -o hard.onnx\n"
        "plexor train lenet5.onnx --data more/ --freeze conv --epochs 3 -o tuned.onnx\n",
    .run = train_run,
    .ranks = true,
    .result = train_fields,
};
