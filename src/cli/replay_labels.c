/* src/cli/replay_labels.c - what a network says of a campaign's stored inputs */
#include "cli/replay_labels.h"

#include <inttypes.h>
#include <plexor/graph.h>
#include <stdlib.h>

typedef struct replay_run {
    cli_inputs inputs;
    px_scores scores;
    px_plan *plan;
    int64_t *predictions;
} replay_run;

static px_status replay_batch(void *context, px_session *session, int64_t first, int64_t samples,
                              px_error *err)
{
    replay_run *run = context;
    PX_TRY(cli_inputs_fill(&run->inputs, run->plan, session, first, samples, err));
    PX_TRY(px_session_forward(session, err));
    return px_session_judge(session, &run->scores, NULL, samples, run->predictions + first, NULL,
                            err);
}

static px_status replay_open(const cli_command *self, px_campaign *campaign, const px_model *model,
                             const cli_data *data, int64_t batch, int64_t id, replay_run *run,
                             px_error *err)
{
    cli_data all = *data;
    all.spec = px_campaign_folder(campaign);
    all.split = "all";
    all.offset = id ? id - 1 : 0; /* ids have no gaps, but for damaged inputs */
    all.limit = id ? 1 : 0;
    PX_TRY(px_model_scores(model, &run->scores, err));
    PX_TRY(cli_inputs_open(model, &all, &run->inputs, err));
    if (px_dataset_has_labels(run->inputs.set))
        PX_TRY(px_dataset_check_labels(run->inputs.set, run->scores.classes, err));
    px_plan_options options = px_plan_options_default();
    options.keep = &run->scores.value;
    options.keep_count = 1;
    options.no_outputs = true;
    PX_TRY(cli_plan_new(self, model, &run->inputs.shape, batch, run->inputs.count, options,
                        &run->plan, err));
    run->predictions = calloc((size_t)run->inputs.count, sizeof *run->predictions);
    return run->predictions ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}

static px_status replay_hand_over(px_campaign *campaign, const replay_run *run,
                                  replay_judged judged, void *context, px_error *err)
{
    for (int64_t i = 0; i < run->inputs.count; i++) {
        char name[32];
        px_campaign_input in;
        const int64_t id =
            strtoll(px_dataset_name(run->inputs.set, i, name, sizeof name), NULL, 10);
        PX_TRY(px_campaign_read(campaign, id, &in, NULL, err));
        PX_TRY(
            judged(context, &in, px_dataset_label(run->inputs.set, i), run->predictions[i], err));
    }
    return PX_OK;
}

px_status replay_labels(const cli_command *self, px_campaign *campaign, const px_model *model,
                        const cli_data *data, const cli_workers *workers, int64_t id,
                        replay_judged judged, void *context, px_error *err)
{
    replay_run run = {0};
    px_status status = replay_open(self, campaign, model, data, workers->batch, id, &run, err);
    if (status == PX_OK) {
        cli_progress progress = cli_progress_start("judging");
        status = px_plan_run(run.plan, (int)workers->threads, run.inputs.count, replay_batch, &run,
                             cli_progress_tick, &progress, err);
        cli_progress_end(&progress);
    }
    if (status == PX_OK)
        status = replay_hand_over(campaign, &run, judged, context, err);
    free(run.predictions);
    px_plan_free(run.plan);
    cli_inputs_close(&run.inputs);
    return status;
}
