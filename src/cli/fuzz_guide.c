/* src/cli/fuzz_guide.c - --guide nsgen: paths, words and tau for a campaign */
#include "cli/fuzz_guide.h"

#include <plexor/text.h>
#include <string.h>
#include <unistd.h>

/* A campaign keeps its tau beside the database: going on needs no training data. */
static const char THRESHOLD_FILE[] = "threshold.json";

static px_status guide_calibrate(const cli_command *self, const cli_data *data,
                                 const cli_training *training, const px_model *model,
                                 fuzz_guide *guide, px_error *err)
{
    px_preprocess pre;
    px_dataset *set = NULL;
    px_calibration options = px_calibration_default();
    PX_TRY(cli_training_inputs(model, data, training, "paths", &pre, &set, err));
    cli_note(self, "no --threshold: tau is found first, from training inputs and all mutations; "
                   "'plexor calibrate' does so once for many campaigns");
    cli_progress progress = cli_progress_start("calibrate");
    options.seed = (uint64_t)data->seed;
    options.progress = cli_progress_tick;
    options.progress_context = &progress;
    const px_status status = px_calibrate(guide->tools.paths, guide->tools.judge, set, &pre,
                                          &options, &guide->threshold, NULL, err);
    cli_progress_end(&progress);
    px_dataset_close(set);
    return status;
}

/* What --threshold has, or else found first. */
static px_status guide_threshold(const cli_command *self, const fuzz_guide_args *args,
                                 const cli_data *data, const cli_training *training,
                                 const px_model *model, fuzz_guide *guide, px_error *err)
{
    if (args->threshold)
        return px_threshold_load(args->threshold, &guide->threshold, err);
    if (!data->spec && !training->spec)
        return px_fail(err, PX_E_USAGE,
                       "there is no tau: give --threshold FILE, from 'plexor calibrate', or "
                       "--train SPEC to find it");
    return guide_calibrate(self, data, training, model, guide, err);
}

/* The same of a campaign, which keeps it. */
static px_status guide_own_threshold(const cli_command *self, const fuzz_guide_args *args,
                                     const cli_data *data, const cli_training *training,
                                     const px_model *model, const px_campaign *campaign,
                                     fuzz_guide *guide, px_error *err)
{
    px_text path = {0};
    px_text_format(&path, "%s/%s", px_campaign_folder(campaign), THRESHOLD_FILE);
    const char *own = px_text_get(&path);
    px_status status = px_text_failed(&path) ? px_fail(err, PX_E_NOMEM, "out of memory") : PX_OK;
    if (status == PX_OK && access(own, F_OK) == 0) {
        status = px_threshold_load(own, &guide->threshold, err);
    } else if (status == PX_OK) {
        status = guide_threshold(self, args, data, training, model, guide, err);
        if (status == PX_OK)
            status = px_threshold_save(&guide->threshold, own, err);
    }
    px_text_done(&path);
    return status;
}

static px_status guide_tools(const cli_command *self, const fuzz_guide_args *args,
                             const cli_neurons *neurons, const cli_workers *workers,
                             const px_model *model, const cli_inputs *inputs, fuzz_guide *out,
                             px_error *err)
{
    cli_paths_args paths = cli_paths_default();
    paths.bank = args->bank;
    paths.encoder = args->encoder;
    paths.layers = neurons->layers;
    paths.tap = neurons->tap;
    if (neurons->view)
        return px_fail(err, PX_E_USAGE, "paths are made of channels; --neurons does not apply");
    return cli_path_tools_open(self, &paths, model, inputs, (int)workers->threads, 0, &out->tools,
                               err);
}

px_status fuzz_guide_open(const cli_command *self, const fuzz_guide_args *args, px_path_mode mode,
                          const cli_data *data, const cli_neurons *neurons,
                          const cli_training *training, const cli_workers *workers,
                          const px_model *model, const cli_inputs *inputs,
                          const px_campaign *campaign, fuzz_guide *out, px_error *err)
{
    const char *compare = args->compare ? args->compare : "parent";
    if (strcmp(compare, "parent") != 0 && strcmp(compare, "root") != 0)
        return px_fail(err, PX_E_USAGE, "--compare '%.60s': expected parent or root", compare);
    PX_TRY(guide_tools(self, args, neurons, workers, model, inputs, out, err));
    if (mode != PX_PATH_NO_NLDG && !out->tools.bank)
        return px_fail(err, PX_E_USAGE,
                       "guide '%s' compares words of units: give --bank FILE, from 'plexor "
                       "describe', or take nsgen-no-nldg, which needs none",
                       px_fuzz_paths_name(mode));
    PX_TRY(px_path_judge_check(out->tools.judge, mode, err));
    PX_TRY(guide_own_threshold(self, args, data, training, model, campaign, out, err));
    PX_TRY(px_threshold_check(&out->threshold, out->tools.paths, out->tools.encoder, mode, err));
    out->by = (px_fuzz_paths){.paths = out->tools.paths,
                              .judge = out->tools.judge,
                              .threshold = &out->threshold,
                              .mode = mode,
                              .root = strcmp(compare, "root") == 0};
    return PX_OK;
}

px_status fuzz_guide_tools_open(const cli_command *self, const fuzz_guide_args *args,
                                const cli_data *data, const cli_neurons *neurons,
                                const cli_training *training, const cli_workers *workers,
                                const px_model *model, const cli_inputs *inputs, fuzz_guide *out,
                                px_error *err)
{
    PX_TRY(guide_tools(self, args, neurons, workers, model, inputs, out, err));
    PX_TRY(guide_threshold(self, args, data, training, model, out, err));
    return px_threshold_check(&out->threshold, out->tools.paths, out->tools.encoder,
                              out->tools.encoder ? PX_PATH_FULL : PX_PATH_NO_NLDG, err);
}

void fuzz_guide_close(fuzz_guide *guide)
{
    cli_path_tools_close(&guide->tools);
}
