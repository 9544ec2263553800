/* src/cli/cover_dpd.c - plexor cover --criteria dpd: pairs that are decided on different paths */
#include "cli/cover_dpd.h"

#include <internal/decision_path.h>
#include <internal/dpd.h>
#include <internal/text_encoder.h>
#include <internal/training.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdio.h>
#include <string.h>

typedef struct dpd_work {
    px_model *model;
    assess_sides sides;
    px_path_tools tools;
    px_threshold threshold;
    px_dpd_result result;
    double seconds;
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
    cli_steps bar;
    paths.bank = args->bank;
    paths.encoder = args->encoder;
    paths.layers = neurons->layers;
    paths.tap = neurons->tap;
    if (neurons->view)
        return px_fail(err, PX_E_USAGE, "paths are made of channels; --neurons does not apply");
    PX_TRY(cli_path_tools_open(self, &paths, w->model, &w->sides.original, (int)workers->threads, 0,
                               &w->tools, err));
    PX_TRY(cli_training_of(self, w->model, train, training, workers, &bar, &pre, &from, err));
    const px_status status =
        px_training_threshold(w->model, &from, args->threshold, &w->tools, &w->threshold, err);
    cli_steps_end(&bar);
    PX_TRY(status);
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
                        .pair = args->pair ? args->pair : "auto"};
    cli_data train = *data;
    train.spec = wish.data.spec = args->originals;
    wish.data.split = NULL;
    PX_TRY(cli_model_load(self, path, &w->model, err));
    PX_TRY(assess_sides_open(w->model, &wish, &w->sides, err));
    PX_TRY(dpd_tools(self, w, args, &train, neurons, training, workers, err));
    cli_progress progress = cli_progress_start("paths");
    const px_dpd_pairs pairs = {.before = w->sides.original.set,
                                .after = w->sides.adversarial.set,
                                .before_pre = &w->sides.original.pre,
                                .after_pre = &w->sides.adversarial.pre,
                                .partners = w->sides.partners,
                                .progress = cli_progress_tick,
                                .context = &progress};
    const px_status status = px_dpd_run(&w->tools, &w->threshold, &pairs, &w->result, err);
    cli_progress_end(&progress);
    w->seconds = px_clock_s() - start;
    return status;
}

/* --- what is said -------------------------------------------------------------------------------
 */

static void dpd_print(const dpd_work *w)
{
    char number[CLI_NUMBER_TEXT];
    cli_table *table = cli_table_new("lrrrrr");
    cli_print("%s pairs, paired by %s\n%s\n", cli_number(w->result.count, number), w->sides.how,
              px_paths_describe(w->tools.paths));
    if (w->tools.encoder)
        cli_print("%s\n", px_text_encoder_describe(w->tools.encoder));
    if (w->result.labelled)
        cli_print("failures: %" PRId64 " of %" PRId64 "\n", w->result.failed, w->result.labelled);
    cli_print("\n");
    for (const char *const *head = (const char *const[]){"MODE", "DPD", "APART", "TAU",
                                                         "SIMILARITY", "R WITH FAULTS", NULL};
         *head; head++)
        cli_table_cell(table, "%s", *head);
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        const px_tau *tau = &w->threshold.of[m];
        if (!tau->known)
            continue;
        const px_correlation r = w->result.with_failures[m];
        cli_table_cell(table, "%s", px_path_mode_name((px_path_mode)m));
        cli_table_cell(table, "%.2f%%", 100.0 * px_dpd_value(&w->result.dpd, (px_path_mode)m));
        cli_table_cell(table, "%" PRId64, w->result.dpd.of[m].apart);
        cli_table_cell(table, "%.4f", tau->tau);
        cli_table_cell(table, "%.4f", px_dpd_mean(&w->result.dpd, (px_path_mode)m));
        if (!isnan(r.r))
            cli_table_cell(table, "%.3f", r.r);
        else
            cli_table_cell(table, "-");
    }
    cli_table_print_free(table, "");
    cli_print("\nlabel-only sees the predicted class alone: what it finds apart, words had no part "
              "in\n");
}

static int dpd_json(const cli_command *self, const dpd_work *w, int argc, char **argv)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, w->model, w->sides.adversarial.set, argc, argv);
    px_json_string(&json, "paired_by", w->sides.how);
    px_json_int(&json, "pairs", w->result.count);
    px_json_int(&json, "faults", w->result.failed);
    cli_paths_json(&w->tools, &json);
    px_json_object(&json, "criteria");
    px_json_object(&json, "dpd");
    const px_path_mode main = px_dpd_mode_of(&w->tools);
    px_json_real(&json, "value", px_dpd_value(&w->result.dpd, main));
    px_json_int(&json, "covered", w->result.dpd.of[main].apart);
    px_json_int(&json, "total", w->result.dpd.of[main].pairs);
    px_json_real(&json, "seconds", w->seconds);
    px_json_object(&json, "modes");
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        const px_correlation r = w->result.with_failures[m];
        if (!w->threshold.of[m].known)
            continue;
        px_json_object(&json, px_path_mode_name((px_path_mode)m));
        px_json_real(&json, "value", px_dpd_value(&w->result.dpd, (px_path_mode)m));
        px_json_real(&json, "tau", w->threshold.of[m].tau);
        px_json_real(&json, "similarity", px_dpd_mean(&w->result.dpd, (px_path_mode)m));
        px_json_real(&json, "r_with_faults", r.r);
        px_json_real(&json, "p", r.p);
        px_json_end(&json);
    }
    px_json_end(&json);
    px_json_end(&json);
    px_json_end(&json);
    px_json_end(&json);
    return cli_print_json(self, &json);
}

int cover_dpd_run(const cli_command *self, const char *path, const cover_dpd_args *args,
                  const cli_data *data, const cli_neurons *neurons, const cli_training *training,
                  const cli_workers *workers, double fail_under, bool as_json, int argc,
                  char **argv)
{
    px_error err = {0};
    dpd_work w = {0};
    int rc = CLI_DONE;
    if (dpd_work_all(self, &w, path, args, data, neurons, training, workers, &err) != PX_OK)
        rc = cli_fail(self, &err);
    else if (as_json)
        rc = dpd_json(self, &w, argc, argv);
    else
        dpd_print(&w);
    const px_path_mode main = px_dpd_mode_of(&w.tools);
    if (rc == CLI_DONE && px_dpd_value(&w.result.dpd, main) < fail_under) {
        cli_note(self, "dpd is below %g", fail_under);
        rc = CLI_CHECK_FAILED;
    }
    px_path_tools_close(&w.tools);
    assess_sides_close(&w.sides);
    px_model_free(w.model);
    return rc;
}
