/* src/cli/cover_dpd.c - plexor cover --criteria dpd: pairs that are decided on different paths */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cover_dpd.h"

#include "cli/cli_fields.h"

#include <internal/decision_path.h>
#include <internal/dpd.h>
#include <internal/text_encoder.h>
#include <internal/training.h>
#include <inttypes.h>
#include <plexor/system.h>
#include <string.h>

typedef struct dpd_work {
    px_model *model;
    assess_sides sides;
    px_path_tools tools;
    px_threshold threshold;
    px_dpd_result result;
    double seconds, value; /* the value and the counts of the mode that counts */
    px_dpd_mode main;
    cli_origin origin;
} dpd_work;

px_status cover_dpd_asked(const char *criteria, bool *is, px_error *err)
{
    *is = strcmp(criteria, "dpd") == 0;
    for (const char *at = criteria; !*is && at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "dpd", 3) == 0 && (at[3] == ',' || at[3] == '\0'))
            return px_fail(err, PX_E_USAGE,
                           "dpd compares inputs with what they were before, the other criteria "
                           "look at inputs alone: ask for it by itself");
    }
    return PX_OK;
}

/* Paths, words and tau; what tau is found from, where it is not there, are the originals' own
 * training data. */
static px_status dpd_tools(const cli_command *self, dpd_work *w, const cover_dpd_args *args,
                           const cli_data *train, const cli_neurons *neurons,
                           const cli_training *training, const cli_workers *workers, px_error *err)
{
    cli_paths_args paths = cli_paths_default();
    px_preprocess pre;
    px_training from;
    paths.bank = args->bank;
    paths.encoder = args->encoder;
    paths.layers = neurons->layers;
    paths.tap = neurons->tap;
    if (neurons->view)
        return px_fail(err, PX_E_USAGE, "paths are made of channels; --neurons does not apply");
    PX_TRY(cli_path_tools_open(self, &paths, w->model, &w->sides.original, (int)workers->threads, 0,
                               &w->tools, err));
    PX_TRY(cli_training_of(w->model, train, training, workers, &pre, &from, err));
    PX_TRY(px_training_threshold(w->model, &from, args->threshold, &w->tools, &w->threshold, err));
    return px_threshold_check(&w->threshold, w->tools.paths, w->tools.encoder,
                              px_dpd_mode_of(&w->tools), err);
}

static px_status dpd_work_all(const cli_command *self, dpd_work *w, const char *path,
                              const cover_dpd_args *args, const cli_data *data,
                              const cli_neurons *neurons, const cli_training *training,
                              const cli_workers *workers, px_error *err)
{
    const double start = px_clock_s();
    assess_wish wish = {.data = *data,
                        .adversarial = data->spec,
                        .adversarial_split = data->split,
                        .pair = args->pair};
    cli_data train = *data;
    train.spec = wish.data.spec = args->originals;
    wish.data.split = NULL;
    PX_TRY(cli_model_load(self, path, &w->model, err));
    PX_TRY(assess_sides_open(w->model, &wish, &w->sides, err));
    PX_TRY(dpd_tools(self, w, args, &train, neurons, training, workers, err));
    const px_dpd_pairs pairs = {.before = w->sides.original.set,
                                .after = w->sides.adversarial.set,
                                .before_pre = &w->sides.original.pre,
                                .after_pre = &w->sides.adversarial.pre,
                                .partners = w->sides.partners,
                                .progress = cli_tick,
                                .context = CLI_WORDS("paths")};
    const px_status status = px_dpd_run(&w->tools, &w->threshold, &pairs, &w->result, err);
    w->seconds = px_clock_s() - start;
    const px_path_mode main = px_dpd_mode_of(&w->tools);
    w->value = px_dpd_value(&w->result.dpd, main);
    w->main = w->result.dpd.of[main];
    w->origin = cli_origin_of(w->model, w->sides.adversarial.set);
    return status;
}

/* --- what is said ---------------------------------------------------------------------------- */

typedef struct dpd_row { /* of a mode whose tau is known */
    const char *name;
    double value, tau, similarity;
    int64_t apart;
    px_correlation r;
    int mode;
} dpd_row;

static const void *mode_get(const void *of, size_t i, void *place)
{
    const dpd_work *w = of;
    dpd_row *row = place;
    int m = i ? row->mode + 1 : 0;
    while (m < PX_PATH_MODE_COUNT && !w->threshold.of[m].known)
        m++;
    if (m == PX_PATH_MODE_COUNT)
        return NULL;
    *row = (dpd_row){.name = px_path_mode_name((px_path_mode)m),
                     .value = px_dpd_value(&w->result.dpd, (px_path_mode)m),
                     .tau = w->threshold.of[m].tau,
                     .similarity = px_dpd_mean(&w->result.dpd, (px_path_mode)m),
                     .apart = w->result.dpd.of[m].apart,
                     .r = w->result.with_failures[m],
                     .mode = m};
    return row;
}

static const px_field mode_fields[] = {
    PX_FIELD(dpd_row, name, "mode", "what paths are compared by", .title = "MODE"),
    PX_FIELD(dpd_row, value, "value", "pairs whose paths differ", .title = "DPD", .unit = PX_SHARE,
             .format = "%.2f%%"),
    PX_FIELD(dpd_row, apart, NULL, NULL, .title = "APART"),
    PX_FIELD(dpd_row, tau, "tau", "below this they do", .title = "TAU", .format = "%.4f"),
    PX_FIELD(dpd_row, similarity, "similarity", "mean", .title = "SIMILARITY", .format = "%.4f"),
    PX_FIELD(dpd_row, r.r, "r_with_faults", "correlation with failing", .title = "R WITH FAULTS",
             .format = "%.3f"),
    PX_FIELD(dpd_row, r.p, "p", "of it"),
    PX_FIELDS_END,
};

static const px_field value_fields[] = {
    PX_FIELD(dpd_work, value, "value", "of the mode that counts", .unit = PX_SHARE),
    PX_FIELD(dpd_work, main.apart, "covered", "pairs whose paths differ"),
    PX_FIELD(dpd_work, main.pairs, "total", "pairs"),
    PX_FIELD(dpd_work, seconds, "seconds", "of all", .unit = "s"),
    PX_MAP_MADE(mode_get, mode_fields, "modes", "whose tau is known"),
    PX_FIELDS_END,
};

static const px_field dpd_fields[] = {
    PX_OBJECT_OF(value_fields, "dpd", "decision path difference"),
    PX_FIELDS_END,
};

const px_field cover_dpd_fields[] = {
    PX_FIELD(dpd_work, sides.how, "paired_by", "campaign, name or index"),
    PX_FIELD(dpd_work, result.count, "pairs", "that were compared"),
    PX_FIELD(dpd_work, result.failed, "faults", "changed inputs that are misclassified"),
    PX_OBJECT(dpd_work, tools, cli_paths_fields, ""),
    PX_OBJECT_OF(dpd_fields, "criteria", "by id"),
    PX_FIELDS_END,
};

static const px_field result_fields[] = {
    PX_OBJECT(dpd_work, origin, cli_origin_fields, ""),
    PX_OBJECT_OF(cover_dpd_fields, ""),
    PX_FIELDS_END,
};

static void dpd_print(const void *of)
{
    const dpd_work *w = of;
    char number[CLI_NUMBER_TEXT];
    cli_print("%s pairs, paired by %s\n%s\n", cli_number(w->result.count, number), w->sides.how,
              px_paths_describe(w->tools.paths));
    if (w->tools.encoder)
        cli_print("%s\n", px_text_encoder_describe(w->tools.encoder));
    if (w->result.labelled)
        cli_print("failures: %" PRId64 " of %" PRId64 "\n", w->result.failed, w->result.labelled);
    cli_print("\n");
    cli_print_list(value_fields, "modes", w, "", 0);
    cli_print("\nlabel-only sees the predicted class alone: what it finds apart, words had no part "
              "in\n");
}

int cover_dpd_run(const cli_command *self, const char *path, const cover_dpd_args *args,
                  const cli_data *data, const cli_neurons *neurons, const cli_training *training,
                  const cli_workers *workers, double fail_under)
{
    px_error err = {0};
    dpd_work w = {0};
    const px_status status =
        dpd_work_all(self, &w, path, args, data, neurons, training, workers, &err);
    int rc = status == PX_OK ? cli_show(self, result_fields, &w, dpd_print) : cli_fail(self, &err);
    if (rc == CLI_DONE && w.value < fail_under) {
        cli_note(self, "dpd is below %g", fail_under);
        rc = CLI_CHECK_FAILED;
    }
    px_path_tools_close(&w.tools);
    assess_sides_close(&w.sides);
    px_model_free(w.model);
    return rc;
}
