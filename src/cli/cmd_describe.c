/* src/cli/cmd_describe.c - plexor describe MODEL --data SPEC [-o FOLDER] [--train-default] */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/describe_out.h"

#include <internal/bank.h>
#include <internal/folder.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_DEFAULT = 5000, UNITS_DEFAULT = 16 };

typedef struct describe_args {
    cli_data data;
    cli_workers workers;
    const char *layers, *describer, *captioner, *milan, *encoder, *taps, *encoder_mean,
        *encoder_std, *folder, *ratings;
    int concepts, pool, compat; /* places in their words */
    int64_t count, shown, virtual_units, epochs, hidden, beam, rate, dissect_limit;
    double quantile, lambda;
    bool train, approximate, fresh;
} describe_args;

typedef struct describe_job {
    const cli_command *self;
    const describe_args *args;
    px_model *model;
    cli_inputs inputs;
    cli_classes classes;
    char **class_names;
    int class_count;
    px_describe_options options;
    char *cache;
    px_description *description;
    px_folder *folder; /* NULL: nothing is written */
    const char *doing;
} describe_job;

/* --- settings -------------------------------------------------------------------------------- */

static px_status settings_describer(describe_job *job, px_error *err)
{
    const describe_args *a = job->args;
    px_describe_options *o = &job->options;
    if (a->describer)
        PX_TRY(px_describer_parse(a->describer, &o->describer, err));
    else if (a->milan)
        o->describer = PX_DESCRIBER_MILAN;
    else
        o->describer = PX_DESCRIBER_VIRTUAL_UNITS;
    if (a->train && o->describer == PX_DESCRIBER_DISSECT)
        return px_fail(
            err, PX_E_USAGE,
            "--train-default trains a describer, --describer dissect has none; leave one "
            "of them out");
    o->milan = a->milan;
    return PX_OK;
}

static px_status settings_read(describe_job *job, px_error *err)
{
    const describe_args *a = job->args;
    px_describe_options *o = &job->options;
    PX_TRY(settings_describer(job, err));
    if (a->rate % 2)
        return px_fail(err, PX_E_USAGE, "--rate %" PRId64 ": expected an even number", a->rate);
    if (a->rate && !a->folder)
        return px_fail(err, PX_E_USAGE,
                       "--rate writes its pictures into a folder; name one with -o");
    o->concepts = (px_concept_kind)a->concepts;
    o->annotator.sum = a->pool == 1;
    o->exemplars.zero_padded = a->compat == 1;
    o->exemplars.layers = a->layers;
    o->exemplars.count = a->count;
    o->exemplars.quantile = a->quantile;
    o->exemplars.approximate = a->approximate;
    o->annotator.encoder = a->encoder;
    o->annotator.taps = a->taps;
    o->annotator.mean = a->encoder_mean;
    o->annotator.std = a->encoder_std;
    o->virtual_units.count = a->virtual_units;
    o->captioner.epochs = (int)a->epochs;
    o->captioner.hidden = (int)a->hidden;
    o->captioner.attention = (int)a->hidden;
    o->captioner.decoding.beam = (int)a->beam;
    o->captioner.decoding.lambda = a->lambda;
    o->captioner.decoding.threads = (int)a->workers.threads;
    o->dissect_limit = a->dissect_limit;
    o->seed = (uint64_t)a->data.seed;
    o->threads = (int)a->workers.threads;
    o->batch = a->workers.batch;
    return PX_OK;
}

/* The training part, which the network knows; data in one piece are taken as they are. */
static px_status inputs_open(describe_job *job, px_error *err)
{
    cli_data data = job->args->data;
    const bool named = data.split != NULL;
    if (data.limit < 0)
        data.limit = LIMIT_DEFAULT;
    if (!named)
        data.split = "train";
    const px_status status = cli_inputs_open(job->model, &data, &job->inputs, err);
    if (status != PX_E_USAGE || named) /* a part that cannot be read is no reason to take another */
        return status;
    data.split = NULL;
    PX_TRY(cli_inputs_open(job->model, &data, &job->inputs, err));
    cli_note(job->self, "'%s' has no train part: exemplars come from the inputs there are",
             data.spec);
    return PX_OK;
}

static px_status classes_open(describe_job *job, px_error *err)
{
    px_scores scores;
    char number[CLI_NUMBER_TEXT];
    job->classes = cli_classes_of(job->model, job->inputs.set);
    job->class_count = px_dataset_class_count(job->inputs.set);
    const px_status scored = px_model_scores(job->model, &scores, err);
    if (scored == PX_E_NOMEM)
        return scored;
    if (job->class_count == 0 && scored == PX_OK)
        job->class_count = scores.classes;
    job->class_names = calloc((size_t)job->class_count + 1, sizeof *job->class_names);
    for (int c = 0; job->class_names && c < job->class_count; c++)
        if (!(job->class_names[c] = strdup(cli_class_name(&job->classes, c, number))))
            return pxi_no_memory(err);
    if (!job->class_names)
        return pxi_no_memory(err);
    job->options.classes = (const char *const *)job->class_names;
    job->options.class_count = job->class_count;
    return PX_OK;
}

/* --- the work -------------------------------------------------------------------------------- */

static void stage(void *context, const char *name)
{
    ((describe_job *)context)->doing = name;
}

static bool tick(void *context, int64_t done, int64_t total)
{
    return cli_tick(CLI_WORDS(((const describe_job *)context)->doing), done, total);
}

/* Without --train-default a describer is used that is there already; with none the labels are. */
static px_status describe_choose(describe_job *job, px_error *err)
{
    px_describe_options *o = &job->options;
    if (o->describer == PX_DESCRIBER_DISSECT)
        return PX_OK;
    job->cache = job->args->captioner ? strdup(job->args->captioner)
                                      : px_describe_cache(job->model, job->inputs.set, o);
    o->captioner_file = job->cache;
    o->never_train = !job->args->train && !job->args->milan;
    if (!o->never_train && !job->cache)
        cli_note(job->self, "there is no cache folder: the describer is not kept");
    FILE *there = job->cache ? fopen(job->cache, "rb") : NULL;
    const bool found = there != NULL;
    if (there)
        fclose(there);
    if (!o->never_train || found)
        return PX_OK;
    if (job->args->describer || job->args->captioner)
        return px_fail(
            err, PX_E_INPUT,
            "there is no trained describer for this network, these data and settings%s%s%s; "
            "--train-default makes one",
            job->args->captioner ? " in '" : "", job->args->captioner ? job->args->captioner : "",
            job->args->captioner ? "'" : "");
    cli_note(job->self, "no describer has been trained for this network and these data: measured "
                        "labels are shown; --train-default trains one");
    o->describer = PX_DESCRIBER_DISSECT;
    o->captioner_file = NULL;
    return PX_OK;
}

/* Maps of one dimension are brought to the picture's size as all others are. */
static void note_stripes(const describe_job *job)
{
    const px_exemplars *e = px_description_exemplars(job->description);
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
        const px_exemplar_layer *layer = px_exemplars_layer(e, l);
        if (layer->h > 1 && layer->w == 1 && px_exemplars_facts(e).width > 1) {
            cli_note(job->self,
                     "the %d places of '%.200s' have one dimension and are no patches of the "
                     "picture: masks are stripes from top to bottom",
                     layer->h, layer->name);
            return;
        }
    }
}

static px_status describe_work(describe_job *job, const char *path, px_error *err)
{
    job->options = px_describe_options_default();
    PX_TRY(settings_read(job, err));
    if (job->args->folder)
        PX_TRY(px_folder_begin(job->args->folder, "describe", job->args->fresh, &job->folder, err));
    PX_TRY(cli_model_load(job->self, path, &job->model, err));
    PX_TRY(inputs_open(job, err));
    PX_TRY(classes_open(job, err));
    PX_TRY(describe_choose(job, err));
    job->options.stage = stage;
    job->options.progress = tick;
    job->options.context = job;
    PX_TRY(px_describe(job->model, job->inputs.set, &job->inputs.pre, &job->options,
                       &job->description, err));
    note_stripes(job);
    return PX_OK;
}

static px_status describe_files(describe_job *job, describe_report *report, px_error *err)
{
    char rate[4096];
    if (!job->folder)
        return PX_OK;
    const char *to = px_folder_path(job->folder);
    describe_note_size(job->self, report);
    PX_TRY(describe_write(report, to, err));
    if (job->args->rate) {
        if (snprintf(rate, sizeof rate, "%s/rate", to) >= (int)sizeof rate)
            return px_fail(err, PX_E_USAGE, "'%s': this path is too long", report->folder);
        PX_TRY(px_describe_rate(px_description_bank(job->description),
                                px_description_exemplars(job->description), job->inputs.set,
                                job->args->rate, job->options.seed, rate, &report->rated, err));
    }
    px_folder *whole = job->folder;
    job->folder = NULL;
    return px_folder_commit(whole, err);
}

static void job_done(describe_job *job)
{
    px_folder_abandon(job->folder);
    px_description_free(job->description);
    for (int c = 0; job->class_names && c < job->class_count; c++)
        free(job->class_names[c]);
    free(job->class_names);
    free(job->cache);
    cli_inputs_close(&job->inputs);
    px_model_free(job->model);
}

/* --- ratings --------------------------------------------------------------------------------- */

static const px_field ratings_fields[] = {
    PX_FIELD(px_ratings, own, "own", "units' own phrases that were rated"),
    PX_FIELD(px_ratings, other, "other", "other units' phrases that were rated"),
    PX_FIELD(px_ratings, mean_own, "mean_own", "rating, of 5"),
    PX_FIELD(px_ratings, mean_other, "mean_other", "rating, of 5"),
    PX_FIELD(px_ratings, p, "p", "of the Mann-Whitney test, two-sided"),
    PX_FIELDS_END,
};

static void ratings_print(const void *of)
{
    const px_ratings *r = of;
    cli_print("units' own phrases     mean %.2f of 5, %" PRId64 " rated\n"
              "other units' phrases   mean %.2f of 5, %" PRId64 " rated\n"
              "Mann-Whitney, two-sided: p = %.3g\n",
              r->mean_own, r->own, r->mean_other, r->other, r->p);
}

static int ratings_run(const cli_command *self, const describe_args *a)
{
    px_error err = {0};
    px_ratings r;
    if (px_describe_ratings(a->ratings, &r, &err) != PX_OK)
        return cli_fail(self, &err);
    return cli_show(self, ratings_fields, &r, ratings_print);
}

/* --- the command ----------------------------------------------------------------------------- */

static int describe_run(const cli_command *self, int argc, char **argv)
{
    const px_describe_options d = px_describe_options_default();
    describe_args a = {.data = {.limit = -1},
                       .encoder = "self+pixels",
                       .count = d.exemplars.count,
                       .quantile = d.exemplars.quantile,
                       .shown = UNITS_DEFAULT,
                       .virtual_units = d.virtual_units.count,
                       .epochs = d.captioner.epochs,
                       .hidden = d.captioner.hidden,
                       .beam = d.captioner.decoding.beam,
                       .lambda = d.captioner.decoding.lambda};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_STRING(0, "data", &a.data.spec, "SPEC",
                   "the inputs that exemplars are looked for in; 'plexor list data'"),
        CLI_STRING(0, "split", &a.data.split, "NAME",
                   "which part, where the data have parts; train unless another is named"),
        CLI_INT(0, "limit", &a.data.limit, "N", 0, 9e15,
                "at most this many inputs; 0: all; 5000 unless given"),
        CLI_INT(0, "offset", &a.data.offset, "N", 0, 9e15, "leave out the first ones"),
        CLI_FLAG(0, "shuffle", &a.data.shuffle, "in an order given by --seed"),
        CLI_INT(0, "seed", &a.data.seed, "N", 0, 9e15, "of everything random"),
        CLI_PIXEL_OPTIONS(&a.data.pixels),
        CLI_NETWORK_OPTIONS,
        CLI_SKIP_OPTION(&a.data),
        CLI_STRING(0, "layers", &a.layers, "LIST",
                   "which layers; 'stages' unless given; see 'plexor list layers'"),
        CLI_INT(0, "exemplars", &a.count, "N", 1, PX_EXEMPLARS_MOST, "top inputs of a unit"),
        CLI_REAL(0, "quantile", &a.quantile, "Q", 0, 1,
                 "of a unit's values over the data, above which its masks lie"),
        CLI_FLAG(0, "approximate", &a.approximate,
                 "levels from a histogram: one pass over the data instead of three"),
        CLI_CHOICE(0, "compat", &a.compat, "plexor|code",
                   "code: zeros around the maps when masks are made, as published code has"),
        CLI_STRING(0, "describer", &a.describer, "NAME",
                   "dissect, virtual-units or milan; unless given a trained one if there is one, "
                   "else dissect"),
        CLI_FLAG(0, "train-default", &a.train,
                 "train a describer on virtual units of these data, and keep it; minutes"),
        CLI_STRING(0, "captioner", &a.captioner, "FILE",
                   "the trained describer; one in the user's cache folder unless given"),
        CLI_STRING(0, "milan", &a.milan, "FOLDER",
                   "annotated units in the layout of MILANNOTATIONS, learnt from as well"),
        CLI_STRING(0, "encoder", &a.encoder, "NAME|FILE",
                   "what looks at exemplars: self+pixels, self, pixels, or an ONNX file"),
        CLI_STRING(0, "taps", &a.taps, "LIST", "layers of the encoder; 'stages' unless given"),
        CLI_STRING(0, "encoder-mean", &a.encoder_mean, "LIST", "of an ONNX encoder: as --mean"),
        CLI_STRING(0, "encoder-std", &a.encoder_std, "LIST", "of an ONNX encoder: as --std"),
        CLI_CHOICE(0, "pool", &a.pool, "mean|sum", "of what lies inside a mask"),
        CLI_CHOICE(0, "concepts", &a.concepts, "auto|colour|glyph",
                   "which attributes pictures have"),
        CLI_INT(0, "dissect-limit", &a.dissect_limit, "N", 0, 9e15,
                "inputs that attributes are compared with; 0: all"),
        CLI_INT(0, "virtual", &a.virtual_units, "N", 50, 1000000, "virtual units to learn from"),
        CLI_INT(0, "epochs", &a.epochs, "N", 1, 10000, "of training, at most"),
        CLI_INT(0, "hidden", &a.hidden, "N", 8, 4096, "size of the decoder; the paper has 512"),
        CLI_INT(0, "beam", &a.beam, "N", 1, PX_CAPTION_MOST_BEAM, "phrases that are followed"),
        CLI_REAL(0, "lambda", &a.lambda, "X", 0, 10,
                 "how much less a phrase counts for being common; Eq 4 has 1"),
        CLI_INT(0, "units", &a.shown, "N", 0, 9e15, "of a layer in the table; 0: all"),
        CLI_INT(0, "rate", &a.rate, "N", 0, 10000,
                "write a blind test of so many phrases for people into the folder"),
        CLI_STRING(0, "ratings", &a.ratings, "FOLDER",
                   "compare the ratings that people filled in; nothing else is done"),
        CLI_STRING('o', "output", &a.folder, "FOLDER",
                   "bank.jsonl, exemplars/ (MILANNOTATIONS layout) and sheets/"),
        CLI_FLAG(0, "fresh", &a.fresh, "in place of what an earlier describe wrote there"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 0, 1));
    if (a.ratings)
        return ratings_run(self, &a);
    if (!path)
        return cli_usage_error(self, "which network? 'plexor help describe' has examples");
    CLI_TRY(cli_require(self, "data", a.data.spec));
    px_error err = {0};
    describe_job job = {.self = self, .args = &a};
    describe_report report = {.folder = a.folder, .shown = a.shown};
    px_status status = describe_work(&job, path, &err);
    report.inputs = &job.inputs;
    report.description = job.description;
    report.describer = job.options.captioner_file;
    if (status == PX_OK) {
        describe_report_fill(&report, job.model);
        status = describe_files(&job, &report, &err);
    }
    int rc = cli_answer(self, status, &err, &report, describe_print);
    job_done(&job);
    return rc;
}

const cli_command cli_command_describe = {
    .name = "describe",
    .usage = "MODEL --data SPEC [-o FOLDER] [--train-default] [options]",
    .help = "what units of a network respond to, in words",
    .details =
        "The inputs that drive each unit most, with masks of where; a phrase for each unit; and "
        "gates that say how far the phrases may be believed. Measured labels (--describer dissect) "
        "name the attribute that a unit's masks overlap with most, and the class that its "
        "exemplars share: nothing is learned. --train-default trains a describer on virtual units, "
        "known functions of the pictures at hand whose captions are exact, and keeps it in "
        "$PLEXOR_CACHE, $XDG_CACHE_HOME/plexor or ~/.cache/plexor; later runs use it. Where its "
        "gates do not hold, its words are marked \"descriptions not validated\" wherever they are "
        "shown.",
    .examples = "plexor describe net.onnx --data photos/ -o words\n"
                "plexor describe net.onnx --data photos/ --train-default -o words --rate 40\n"
                "plexor describe net.onnx --data digits --describer dissect --json\n"
                "plexor describe --ratings words/rate\n",
    .run = describe_run,
    .ranks = true,
    .result = describe_fields,
};
