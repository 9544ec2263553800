/* src/cli/cover_dpd.c - plexor cover --criteria dpd: pairs that are decided on different paths */
#include "cli/cover_dpd.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/dpd.h>
#include <plexor/stats.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_AT_A_TIME = 16 };

typedef struct dpd_work {
    px_model *model;
    assess_sides sides;
    fuzz_guide guide;
    px_dpd dpd;
    int64_t count;
    /* Per pair: [mode][pair], and whether the network errs on the changed input. */
    double *similarities;
    bool *fails;
    int64_t labelled, failed;
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

static px_status dpd_batch(dpd_work *w, int64_t first, int64_t count, float *inputs, px_path *found,
                           px_error *err)
{
    px_paths *paths = w->guide.tools.paths;
    const size_t size = (size_t)px_paths_input_size(paths);
    int64_t labels[2 * PAIRS_AT_A_TIME];
    for (int64_t i = 0; i < count; i++) {
        const cli_inputs *was = &w->sides.original, *is = &w->sides.adversarial;
        const int64_t partner = w->sides.partners[first + i];
        const int64_t label = px_dataset_label(was->set, partner);
        float *at = inputs + 2 * (size_t)i * size;
        labels[2 * i] = labels[2 * i + 1] = label;
        PX_TRY(px_dataset_input(was->set, &was->pre, partner, at, err));
        PX_TRY(px_dataset_input(is->set, &is->pre, first + i, at + size, err));
    }
    PX_TRY(px_paths_run(paths, inputs, labels, 2 * count, found, NULL, err));
    for (int64_t i = 0; i < count; i++) {
        double similarities[PX_PATH_MODE_COUNT];
        PX_TRY(px_dpd_add(&w->dpd, w->guide.tools.judge, &w->guide.threshold, &found[2 * i],
                          &found[2 * i + 1], similarities, err));
        for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
            w->similarities[m * w->count + first + i] = similarities[m];
        w->fails[first + i] = labels[2 * i] >= 0 && found[2 * i + 1].classes[0] != labels[2 * i];
        w->labelled += labels[2 * i] >= 0;
        w->failed += w->fails[first + i];
    }
    return PX_OK;
}

static px_status dpd_measure(dpd_work *w, px_error *err)
{
    const size_t size = (size_t)px_paths_input_size(w->guide.tools.paths);
    float *inputs = calloc(2 * PAIRS_AT_A_TIME * size, sizeof *inputs);
    px_path *found = calloc(2 * PAIRS_AT_A_TIME, sizeof *found);
    w->similarities = calloc((size_t)w->count * PX_PATH_MODE_COUNT, sizeof *w->similarities);
    w->fails = calloc((size_t)w->count, sizeof *w->fails);
    px_status status = inputs && found && w->similarities && w->fails
                           ? PX_OK
                           : px_fail(err, PX_E_NOMEM, "out of memory");
    cli_progress progress = cli_progress_start("paths");
    for (int64_t i = 0; i < w->count && status == PX_OK; i += PAIRS_AT_A_TIME) {
        const int64_t left = w->count - i, count = left < PAIRS_AT_A_TIME ? left : PAIRS_AT_A_TIME;
        status = dpd_batch(w, i, count, inputs, found, err);
        if (status == PX_OK && !cli_progress_tick(&progress, i + count, w->count))
            status = px_fail(err, PX_E_CANCELLED, "interrupted");
    }
    cli_progress_end(&progress);
    free(inputs);
    free(found);
    return status;
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
    wish.data.spec = args->originals;
    wish.data.split = NULL;
    PX_TRY(cli_model_load(self, path, &w->model, err));
    PX_TRY(assess_sides_open(w->model, &wish, &w->sides, err));
    w->count = px_dataset_count(w->sides.adversarial.set);
    cli_data train = *data;
    train.spec = args->originals;
    PX_TRY(fuzz_guide_tools_open(self, &args->words, &train, neurons, training, workers, w->model,
                                 &w->sides.original, &w->guide, err));
    PX_TRY(dpd_measure(w, err));
    w->seconds = px_clock_s() - start;
    return PX_OK;
}

/* --- what is said -------------------------------------------------------------------------------
 */

static px_correlation dpd_correlation(const dpd_work *w, int mode)
{
    return px_point_biserial(w->fails, w->similarities + mode * w->count, (size_t)w->count);
}

static void dpd_print(const dpd_work *w)
{
    char number[CLI_NUMBER_TEXT];
    cli_table *table = cli_table_new("lrrrrr");
    printf("%s pairs, paired by %s\n%s\n", cli_number(w->count, number), w->sides.how,
           px_paths_describe(w->guide.tools.paths));
    if (w->guide.tools.encoder)
        printf("%s\n", px_text_encoder_describe(w->guide.tools.encoder));
    if (w->labelled)
        printf("failures: %" PRId64 " of %" PRId64 "\n", w->failed, w->labelled);
    printf("\n");
    for (const char *const *head = (const char *const[]){"MODE", "DPD", "APART", "TAU",
                                                         "SIMILARITY", "R WITH FAULTS", NULL};
         *head; head++)
        cli_table_cell(table, "%s", *head);
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        const px_tau *tau = &w->guide.threshold.of[m];
        if (!tau->known)
            continue;
        const px_correlation r = dpd_correlation(w, m);
        cli_table_cell(table, "%s", px_path_mode_name((px_path_mode)m));
        cli_table_cell(table, "%.2f%%", 100.0 * px_dpd_value(&w->dpd, (px_path_mode)m));
        cli_table_cell(table, "%" PRId64, w->dpd.of[m].apart);
        cli_table_cell(table, "%.4f", tau->tau);
        cli_table_cell(table, "%.4f", px_dpd_mean(&w->dpd, (px_path_mode)m));
        if (w->labelled == w->count && !isnan(r.r))
            cli_table_cell(table, "%.3f", r.r);
        else
            cli_table_cell(table, "-");
    }
    cli_table_print_free(table, "");
    printf("\nlabel-only sees the predicted class alone: what it finds apart, words had no part "
           "in\n");
}

static int dpd_json(const cli_command *self, const dpd_work *w, int argc, char **argv)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, w->model, w->sides.adversarial.set, argc, argv);
    px_json_string(&json, "paired_by", w->sides.how);
    px_json_int(&json, "pairs", w->count);
    px_json_int(&json, "faults", w->failed);
    cli_paths_json(&w->guide.tools, &json);
    px_json_object(&json, "criteria");
    px_json_object(&json, "dpd");
    const px_path_mode main = w->guide.tools.encoder ? PX_PATH_FULL : PX_PATH_NO_NLDG;
    px_json_real(&json, "value", px_dpd_value(&w->dpd, main));
    px_json_int(&json, "covered", w->dpd.of[main].apart);
    px_json_int(&json, "total", w->dpd.of[main].pairs);
    px_json_real(&json, "seconds", w->seconds);
    px_json_object(&json, "modes");
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        const px_correlation r = dpd_correlation(w, m);
        if (!w->guide.threshold.of[m].known)
            continue;
        px_json_object(&json, px_path_mode_name((px_path_mode)m));
        px_json_real(&json, "value", px_dpd_value(&w->dpd, (px_path_mode)m));
        px_json_real(&json, "tau", w->guide.threshold.of[m].tau);
        px_json_real(&json, "similarity", px_dpd_mean(&w->dpd, (px_path_mode)m));
        px_json_real(&json, "r_with_faults", w->labelled == w->count ? r.r : NAN);
        px_json_real(&json, "p", w->labelled == w->count ? r.p : NAN);
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
    const px_path_mode main = w.guide.tools.encoder ? PX_PATH_FULL : PX_PATH_NO_NLDG;
    if (rc == CLI_DONE && px_dpd_value(&w.dpd, main) < fail_under) {
        cli_note(self, "dpd is below %g", fail_under);
        rc = CLI_CHECK_FAILED;
    }
    free(w.similarities);
    free(w.fails);
    fuzz_guide_close(&w.guide);
    assess_sides_close(&w.sides);
    px_model_free(w.model);
    return rc;
}
