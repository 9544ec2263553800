/* src/cli/cmd_replay.c - plexor replay CAMPAIGN ID|--all: makes inputs again from their seeds */
#include "cli/replay_fixed.h"
#include "cli/replay_labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLAY_LISTED = 20 }; /* failures that are named */

typedef struct replay_tally {
    int64_t checked, stored, failed;
    int64_t failures[REPLAY_LISTED];
    bool judged;    /* by the campaign's network too */
    int64_t others; /* whose prediction is not the stored one */
    int64_t others_listed[REPLAY_LISTED];
    bool judged_anew; /* by another network */
    replay_fixed fixed;
} replay_tally;

/* Inputs that cannot be read count as failed: what was stored is not there. */
static px_status replay_one(px_campaign *campaign, int64_t id, replay_tally *tally, px_error *err)
{
    px_replayed replayed = PX_REPLAY_DIFFERS;
    const px_status status = px_campaign_replay(campaign, id, NULL, &replayed, err);
    if (status != PX_OK && status != PX_E_INPUT)
        return status;
    tally->checked++;
    if (status == PX_OK && replayed != PX_REPLAY_DIFFERS) {
        tally->stored += replayed == PX_REPLAY_STORED;
        return PX_OK;
    }
    if (tally->failed < REPLAY_LISTED)
        tally->failures[tally->failed] = id;
    tally->failed++;
    return PX_OK;
}

static px_status replay_all(px_campaign *campaign, replay_tally *tally, px_error *err)
{
    cli_progress progress = cli_progress_start("replaying");
    px_campaign_input in = {0};
    int64_t last = 0, damaged = 0;
    px_status status = px_campaign_last(campaign, &last, err);
    while (status == PX_OK) {
        const int64_t before = damaged;
        status = px_campaign_next(campaign, in.id, PX_INPUT_ANY, &in, NULL, &damaged, err);
        tally->checked += damaged - before;
        tally->failed += damaged - before;
        if (status != PX_OK || !in.id)
            break;
        const int64_t id = in.id;
        status = replay_one(campaign, id, tally, err);
        in.id = id;
        if (status == PX_OK && !cli_progress_tick(&progress, id, last))
            status = px_fail(err, PX_E_CANCELLED, "stopped after input %" PRId64, id);
    }
    cli_progress_end(&progress);
    return status;
}

/* The campaign's own network must say what it said; inputs without a stored prediction are left
 * out. */
static px_status replay_same(void *context, const px_campaign_input *in, int64_t label,
                             int64_t prediction, px_error *err)
{
    replay_tally *tally = context;
    (void)label;
    (void)err;
    if (in->prediction < 0 || in->prediction == prediction)
        return PX_OK;
    if (tally->others < REPLAY_LISTED)
        tally->others_listed[tally->others] = in->id;
    tally->others++;
    return PX_OK;
}

static px_status replay_other(void *context, const px_campaign_input *in, int64_t label,
                              int64_t prediction, px_error *err)
{
    replay_tally *tally = context;
    return replay_fixed_add(&tally->fixed, in, label, prediction, err);
}

static px_status replay_judge(const cli_command *self, px_campaign *campaign, const char *path,
                              const cli_data *data, const cli_workers *workers, int64_t id,
                              replay_tally *tally, px_error *err)
{
    px_campaign_identity identity;
    px_model *model = NULL;
    PX_TRY(cli_model_load(self, path, &model, err));
    tally->judged_anew = px_campaign_identity_get(campaign, &identity) &&
                         identity.model_hash != px_model_hash(model);
    tally->judged = !tally->judged_anew;
    const px_status status = replay_labels(self, campaign, model, data, workers, id,
                                           tally->judged ? replay_same : replay_other, tally, err);
    replay_fixed_sort(&tally->fixed);
    px_model_free(model);
    return status;
}

static int replay_report(const cli_command *self, const replay_tally *tally, px_campaign *campaign,
                         bool as_json)
{
    const int64_t listed = tally->failed < REPLAY_LISTED ? tally->failed : REPLAY_LISTED;
    int rc = CLI_DONE;
    if (as_json) {
        px_json json = {0};
        cli_json_open(&json);
        px_json_int(&json, "checked", tally->checked);
        px_json_int(&json, "failed", tally->failed + tally->others);
        px_json_int(&json, "stored", tally->stored);
        px_json_array(&json, "failures");
        for (int64_t i = 0; i < listed; i++)
            if (tally->failures[i])
                px_json_int(&json, NULL, tally->failures[i]);
        px_json_end(&json);
        if (tally->judged)
            px_json_int(&json, "other_predictions", tally->others);
        if (tally->judged_anew)
            replay_fixed_json(&tally->fixed, campaign, &json);
        px_json_end(&json);
        rc = cli_print_json(self, &json);
    } else {
        char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
        printf("%s inputs checked, %s failed (%s without a chain: as stored)\n",
               cli_number(tally->checked, a), cli_number(tally->failed, b),
               cli_number(tally->stored, c));
        for (int64_t i = 0; i < listed; i++)
            if (tally->failures[i])
                printf("  input %" PRId64 " is not what its chain gives\n", tally->failures[i]);
        if (tally->judged)
            printf("%s inputs have another prediction than was stored\n",
                   cli_number(tally->others, a));
        for (int64_t i = 0; i < tally->others && i < REPLAY_LISTED; i++)
            printf("  input %" PRId64 " is predicted otherwise\n", tally->others_listed[i]);
        if (tally->judged_anew)
            replay_fixed_print(&tally->fixed, campaign);
    }
    return rc == CLI_DONE && tally->failed + tally->others ? CLI_CHECK_FAILED : rc;
}

static int replay_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
    cli_data data = CLI_DATA_DEFAULT;
    cli_workers workers = {0};
    const char *words[2] = {NULL, NULL}, *path = NULL;
    bool all = false;
    double least = 0.0;
    const cli_option options[] = {
        CLI_FLAG(0, "all", &all, "every input of the campaign"),
        CLI_STRING(0, "model", &path, "MODEL",
                   "the campaign's network, whose predictions must be the stored ones; or another "
                   "one, and which failures it still has"),
        CLI_REAL(0, "fail-under", &least, "SHARE", 0, 1,
                 "exit with 1 where another network has fixed a smaller share of the failures"),
        CLI_STRING(
            0, "preprocess", &data.pixels.preprocess, "NAME|FILE",
            "as the campaign was made, for --model: one of 'plexor list preprocess', or a file"),
        CLI_STRING(0, "scale", &data.pixels.scale, "X", "likewise"),
        CLI_STRING(0, "mean", &data.pixels.mean, "LIST", "likewise"),
        CLI_STRING(0, "std", &data.pixels.std, "LIST", "likewise"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, words, 1, 2);
    if (stop != CLI_GO)
        return stop;
    char *end = NULL;
    errno = 0;
    const int64_t id = words[1] ? strtoll(words[1], &end, 10) : 0;
    if (all == (words[1] != NULL))
        return cli_usage_error(self, "give the id of an input, or --all");
    if (words[1] && (errno || *end || end == words[1] || id < 1))
        return cli_usage_error(self, "'%s' is not the id of an input", words[1]);
    px_error err = {0};
    px_campaign *campaign = NULL;
    replay_tally tally = {0};
    cli_catch_signals();
    px_status status = px_campaign_open(words[0], PX_CAMPAIGN_READ, &campaign, &err);
    if (status == PX_OK)
        status = all ? replay_all(campaign, &tally, &err) : replay_one(campaign, id, &tally, &err);
    if (status == PX_OK && path)
        status = replay_judge(self, campaign, path, &data, &workers, id, &tally, &err);
    int rc =
        status == PX_OK ? replay_report(self, &tally, campaign, output.json) : cli_fail(self, &err);
    if (rc == CLI_DONE && tally.judged_anew && replay_fixed_share(&tally.fixed) < least) {
        cli_note(self, "%.4f of the failures are fixed, below --fail-under %g",
                 replay_fixed_share(&tally.fixed), least);
        rc = CLI_CHECK_FAILED;
    }
    replay_fixed_done(&tally.fixed);
    px_campaign_close(campaign);
    return rc;
}

const cli_command cli_command_replay = {
    .name = "replay",
    .usage = "CAMPAIGN ID|--all [options]",
    .help = "make inputs again from their seeds and compare them bit for bit",
    .details = "Every link of an input's mutation chain is applied to the stored pixels of its "
               "seed; the result must be the stored input, on any machine. Inputs that were made "
               "by gradients have no such chain and are taken as stored. With --model the network "
               "judges the stored inputs again: the campaign's own must say what it said, and of "
               "another one it is said which failures it still has and which are fixed. Exits with "
               "1 if any input is not what was stored, or where --fail-under does not hold.",
    .examples = "plexor replay run.campaign 17\n"
                "plexor replay run.campaign --all --model net.onnx --json\n"
                "plexor replay run.campaign --all --model retrained.onnx --fail-under 0.9\n",
    .run = replay_run,
};
