/* src/cli/cmd_calibrate.c - plexor calibrate MODEL --data SPEC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_paths.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/text_encoder.h>
#include <inttypes.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

typedef struct calibrate_args {
    cli_data data;
    cli_workers workers;
    cli_paths_args paths;
    const char *per_class, *out;
    int64_t images;
} calibrate_args;

typedef struct calibrate_work {
    const cli_command *self;
    const calibrate_args *a;
    px_model *model;
    cli_inputs inputs;
    px_path_tools tools;
    px_threshold threshold;
    char *path; /* where it was written */
    cli_origin origin;
    double seconds;
} calibrate_work;

/* The training part, unless another is asked for. */
static px_status work_inputs(calibrate_work *w, px_error *err)
{
    cli_data data = w->a->data;
    if (data.split)
        return cli_inputs_open(w->model, &data, &w->inputs, err);
    data.split = "train";
    const px_status status = cli_inputs_open(w->model, &data, &w->inputs, err);
    if (status != PX_E_USAGE) /* a part that cannot be read is no reason to take another */
        return status;
    data.split = NULL;
    PX_TRY(cli_inputs_open(w->model, &data, &w->inputs, err));
    cli_note(w->self, "the data have no training part: all of them are taken");
    return PX_OK;
}

/* "1%" or "0.01". */
static px_status work_share(const char *text, double *out, px_error *err)
{
    char *end = NULL;
    const double number = strtod(text, &end);
    const bool percent = end != text && strcmp(end, "%") == 0;
    const double share = percent ? number / 100.0 : number;
    if (end == text || (*end != '\0' && !percent) || !(share > 0.0 && share <= 1.0))
        return px_fail(err, PX_E_USAGE,
                       "--per-class '%.60s': expected a share of each class, such as 1%% or 0.01",
                       text);
    *out = share;
    return PX_OK;
}

static px_status work_all(calibrate_work *w, const char *path, px_error *err)
{
    const calibrate_args *a = w->a;
    px_calibration options = px_calibration_default();
    if (a->per_class)
        PX_TRY(work_share(a->per_class, &options.per_class, err));
    options.images = a->images;
    options.seed = (uint64_t)a->data.seed;
    PX_TRY(cli_model_load(w->self, path, &w->model, err));
    PX_TRY(work_inputs(w, err));
    if (a->per_class && !px_dataset_has_labels(w->inputs.set))
        return px_fail(err, PX_E_MISMATCH, "--per-class needs labels, and the data have none");
    PX_TRY(cli_path_tools_open(w->self, &a->paths, w->model, &w->inputs, (int)a->workers.threads,
                               a->workers.batch, &w->tools, err));
    w->path = a->out ? strdup(a->out) : px_threshold_path(w->tools.paths, w->tools.encoder);
    if (!w->path)
        return px_fail(err, PX_E_IO,
                       "there is no folder to keep the threshold in; -o FILE names a file");
    options.progress = cli_tick;
    options.progress_context = CLI_WORDS("calibrate");
    const double start = px_clock_s();
    const px_status status = px_calibrate(w->tools.paths, w->tools.judge, w->inputs.set,
                                          &w->inputs.pre, &options, &w->threshold, NULL, err);
    w->seconds = px_clock_s() - start;
    if (status != PX_OK)
        return status;
    w->origin = cli_origin_of(w->model, w->inputs.set);
    cli_paths_note(w->self, w->tools.paths);
    const px_path_judge_sums sums = px_path_judge_get_sums(w->tools.judge);
    if (sums.dropped)
        cli_note(w->self,
                 "texts are longer than the encoder reads: %" PRId64 " of %" PRId64
                 " tokens were left out",
                 sums.dropped, sums.dropped + sums.tokens);
    if (sums.tokens && sums.unknown == sums.tokens)
        cli_note(w->self, "the encoder knows none of the words");
    return px_threshold_save(&w->threshold, w->path, err);
}

typedef struct mode_row {
    const char *mode, *note;
    px_tau tau;
} mode_row;

static const void *mode_get(const void *of, size_t i, void *place)
{
    const px_threshold *t = &((const calibrate_work *)of)->threshold;
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        if (t->of[m].known && i-- == 0) {
            *(mode_row *)place =
                (mode_row){px_path_mode_name((px_path_mode)m),
                           t->of[m].at_most ? "the least seen: at tau counts, too" : "", t->of[m]};
            return place;
        }
    return NULL;
}

#define COLUMN(member, name) PX_FIELD(mode_row, member, NULL, NULL, .title = name, .format = "%.4f")
static const px_field mode_fields[] = {
    PX_FIELD(mode_row, mode, NULL, NULL, .title = "MODE"),
    COLUMN(tau.tau, "TAU"),
    COLUMN(tau.least, "LEAST"),
    COLUMN(tau.median, "MEDIAN"),
    COLUMN(tau.upper, "UPPER"),
    COLUMN(tau.most, "MOST"),
    COLUMN(tau.mean, "MEAN"),
    PX_FIELD(mode_row, note, NULL, NULL, .title = ""),
    PX_FIELDS_END,
};
#undef COLUMN

static const px_field calibrate_fields[] = {
    PX_OBJECT(calibrate_work, origin, cli_origin_fields, ""),
    PX_OBJECT(calibrate_work, inputs, cli_inputs_fields, ""),
    PX_OBJECT(calibrate_work, tools, cli_paths_fields, ""),
    PX_OBJECT(calibrate_work, threshold, px_threshold_fields, "threshold",
              "ids of what it belongs to, and tau of each mode"),
    PX_LIST_MADE(mode_get, mode_fields, NULL, NULL, .title = "modes"),
    PX_FIELD(calibrate_work, path, "output", "the file"),
    PX_FIELD(calibrate_work, seconds, "seconds", "in all", .unit = "s"),
    PX_FIELDS_END,
};

static void work_print(const void *of)
{
    const calibrate_work *w = of;
    const px_threshold *t = &w->threshold;
    const px_paths_sums sums = px_paths_get_sums(w->tools.paths);
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    cli_print("%s\n", px_paths_describe(w->tools.paths));
    if (w->tools.bank)
        cli_print("bank: %s; text encoder %s\n", px_bank_validation(w->tools.bank),
                  px_text_encoder_describe(w->tools.encoder));
    cli_print("%s images x %s mutations = %s pairs\n", cli_number(t->images, a),
              cli_number(t->rules, b), cli_number(t->pairs, c));
    cli_print_list(calibrate_fields, "modes", w, "", 0);
    cli_print("%s rows in %.3g s, %s images with more steps\n%s\n", cli_number(sums.rows, a),
              w->seconds, cli_number(sums.doubled, b), w->path);
}

static int calibrate_run(const cli_command *self, int argc, char **argv)
{
    calibrate_args a = {.paths = cli_paths_default(), .images = px_calibration_default().images};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&a.data),
        CLI_INT(0, "images", &a.images, "N", 1, 1e6, "images, of all classes alike"),
        CLI_STRING(0, "per-class", &a.per_class, "SHARE",
                   "so much of each class instead, such as 1%, which is the paper's"),
        CLI_STRING('o', "output", &a.out, "FILE",
                   "where to write it; none: the cache, where other commands look for it"),
        CLI_PATHS_OPTIONS(&a.paths),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", a.data.spec));
    px_error err = {0};
    calibrate_work work = {.self = self, .a = &a};
    const px_status status = work_all(&work, path, &err);
    const int rc = cli_answer(self, status, &err, &work, work_print);
    free(work.path);
    px_path_tools_close(&work.tools);
    cli_inputs_close(&work.inputs);
    px_model_free(work.model);
    return rc;
}

const cli_command cli_command_calibrate = {
    .name = "calibrate",
    .usage = "MODEL --data SPEC [--bank FILE] [--images N | --per-class SHARE] [-o FILE]",
    .help = "find below which similarity two decision paths differ",
    .details =
        "Compares the decision paths of training images with those of all 95 pixel and affine "
        "mutations of each (NSGen); tau is the lower quartile of the similarities, one per mode. "
        "It belongs to this network, bank, text encoder and way of finding paths: used with "
        "another one it is refused.",
    .examples = "plexor calibrate net.onnx --data digits --images 5 -o tau.json\n"
                "plexor calibrate net.onnx --data cifar10 --bank words/bank.jsonl --per-class 1%\n",
    .run = calibrate_run,
    .result = calibrate_fields,
};
