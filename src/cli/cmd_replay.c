/* src/cli/cmd_replay.c - plexor replay CAMPAIGN ID|--all: makes inputs again from their seeds */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <errno.h>
#include <internal/replay.h>
#include <internal/store.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS_PRINTED = 20 };

static px_status replay_check(px_campaign *campaign, int64_t id, px_replay *replay, px_error *err)
{
    return px_replay_check(campaign, id, cli_tick, CLI_WORDS("replaying"), replay, err);
}

static px_status replay_judge(const cli_command *self, px_campaign *campaign, const char *path,
                              const cli_data *data, const cli_workers *workers, int64_t id,
                              px_replay *replay, px_error *err)
{
    px_model *model = NULL;
    cli_inputs inputs = {0};
    cli_data all = *data;
    px_predict_options how = px_predict_options_default();
    all.spec = px_campaign_folder(campaign);
    all.split = "all";
    all.offset = id ? id - 1 : 0; /* ids have no gaps, but for damaged inputs */
    all.limit = id ? 1 : 0;
    how.threads = (int)workers->threads;
    how.batch = workers->batch;
    how.progress = cli_tick;
    how.context = CLI_WORDS("judging");
    PX_TRY(cli_model_load(self, path, &model, err));
    px_status status = cli_inputs_open(model, &all, &inputs, err);
    PX_THEN(status, px_replay_judge(campaign, model, inputs.set, &inputs.pre, &how, replay, err));
    if (status == PX_OK && replay->baked_batch)
        cli_note_baked(self, model, replay->baked_batch);
    cli_inputs_close(&inputs);
    px_model_free(model);
    return status;
}

/* --- what is said ---------------------------------------------------------------------------- */

typedef struct replay_report {
    px_replay r;
    px_campaign *campaign;
    int64_t failed, fixed;
    double fixed_share;
} replay_report;

typedef struct kind_row {
    const char *label, *prediction;
    int64_t count, still, fixed;
    char numbers[2][CLI_NUMBER_TEXT];
} kind_row;

static const char *class_text(px_campaign *campaign, int64_t c, char buffer[CLI_NUMBER_TEXT])
{
    const char *name = px_campaign_class_name(campaign, c);
    if (name)
        return name;
    snprintf(buffer, CLI_NUMBER_TEXT, "%" PRId64, c);
    return buffer;
}

static const void *kind_get(const void *of, size_t i, void *place)
{
    const replay_report *report = of;
    kind_row *row = place;
    if (i >= report->r.kind_count)
        return NULL;
    const px_replay_kind *kind = &report->r.kinds[i];
    row->label = class_text(report->campaign, kind->label, row->numbers[0]);
    row->prediction = class_text(report->campaign, kind->prediction, row->numbers[1]);
    row->count = kind->count;
    row->still = kind->still;
    row->fixed = kind->count - kind->still;
    return row;
}

/* Those that are known. */
static const void *failure_get(const void *of, size_t i, void *place)
{
    const px_replay_ids *ids = &((const replay_report *)of)->r.differ;
    for (int64_t k = 0; k < ids->count && k < PX_REPLAY_LISTED; k++)
        if (ids->first[k] && i-- == 0) {
            *(int64_t *)place = ids->first[k];
            return place;
        }
    return NULL;
}

static const px_field kind_fields[] = {
    PX_FIELD(kind_row, label, "label", "of the failures", .title = "LABEL"),
    PX_FIELD(kind_row, prediction, "prediction", "stored with them", .title = "TAKEN FOR"),
    PX_FIELD(kind_row, count, "failures", "of that kind", .title = "FAILURES", .format = ","),
    PX_FIELD(kind_row, still, "still_failing", "of them", .title = "STILL", .format = ","),
    PX_FIELD(kind_row, fixed, NULL, NULL, .title = "FIXED", .format = ","),
    PX_FIELDS_END,
};

static const px_field other_fields[] = {
    PX_FIELD(replay_report, r.failures, "failures", "with a label that they are not taken for"),
    PX_FIELD(replay_report, r.still, "still_failing", "of them"),
    PX_FIELD(replay_report, fixed, "fixed", "of them"),
    PX_FIELD(replay_report, fixed_share, "fixed_share", "of them; 1 without any", .unit = PX_SHARE),
    PX_FIELD(replay_report, r.left_out, "left_out", "failures without a label or a wrong class"),
    PX_LIST_MADE(kind_get, kind_fields, "types", "those with most left first"),
    PX_VALUES(replay_report, r.ids, r.still, "ids", "of inputs that still fail"),
    PX_FIELDS_END,
};

static const px_field replay_fields[] = {
    PX_FIELD(replay_report, r.checked, "checked", "inputs that were made again"),
    PX_FIELD(replay_report, failed, "failed", "inputs that are not what was stored"),
    PX_FIELD(replay_report, r.stored, "stored", "inputs without a chain: taken as they are"),
    PX_VALUES_MADE(failure_get, int64_t, "failures", "ids of the first that are another picture"),
    PX_FIELD(replay_report, r.otherwise.count, "other_predictions",
             "inputs that --model predicts otherwise", PX_IF(replay_report, r.judged)),
    PX_OBJECT_OF(other_fields, "other_network", "what --model makes of the failures",
                 PX_IF(replay_report, r.judged_anew)),
    PX_FIELDS_END,
};

static void ids_print(const px_replay_ids *ids, const char *what)
{
    for (int64_t i = 0; i < ids->count && i < PX_REPLAY_LISTED; i++)
        if (ids->first[i])
            cli_print("  input %" PRId64 " is %s\n", ids->first[i], what);
}

static void fixed_print(const replay_report *report)
{
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    const px_replay *r = &report->r;
    cli_print("another network: %s still failing, %s fixed, of %s failures\n",
              cli_number(r->still, a), cli_number(report->fixed, b), cli_number(r->failures, c));
    if (r->left_out)
        cli_print("%s failures have no label, or were no wrong class: left out\n",
                  cli_number(r->left_out, a));
    if (!r->kind_count)
        return;
    cli_print_list(other_fields, "types", report, "  ", KINDS_PRINTED);
    if (r->kind_count > KINDS_PRINTED)
        cli_print("  and %s more; --json has all of them\n",
                  cli_number((int64_t)(r->kind_count - KINDS_PRINTED), a));
}

static void replay_print(const void *of)
{
    const replay_report *report = of;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    const px_replay *r = &report->r;
    cli_print("%s inputs checked, %s failed (%s without a chain: as stored)\n",
              cli_number(r->checked, a), cli_number(r->differ.count, b), cli_number(r->stored, c));
    ids_print(&r->differ, "not what its chain gives");
    if (r->judged)
        cli_print("%s inputs have another prediction than was stored\n",
                  cli_number(r->otherwise.count, a));
    ids_print(&r->otherwise, "predicted otherwise");
    if (r->judged_anew)
        fixed_print(report);
}

static int replay_run(const cli_command *self, int argc, char **argv)
{
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
        CLI_STRING(0, "scale", &data.pixels.scale, "X",
                   "what pixels are multiplied by, for --model"),
        CLI_STRING(0, "mean", &data.pixels.mean, "LIST",
                   "what is subtracted then, one number or one per channel"),
        CLI_STRING(0, "std", &data.pixels.std, "LIST",
                   "what is divided by then, one number or one per channel"),
        CLI_NETWORK_OPTIONS,
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, words, 1, 2));
    char *end = NULL;
    errno = 0;
    const int64_t id = words[1] ? strtoll(words[1], &end, 10) : 0;
    if (all == (words[1] != NULL))
        return cli_usage_error(self, "give the id of an input, or --all");
    if (words[1] && (errno || *end || end == words[1] || id < 1))
        return cli_usage_error(self, "'%s' is not the id of an input", words[1]);
    px_error err = {0};
    px_campaign *campaign = NULL;
    replay_report report = {0};
    px_replay *replay = &report.r;
    px_status status = px_campaign_open(words[0], PX_CAMPAIGN_READ, &campaign, &err);
    PX_THEN(status, replay_check(campaign, id, replay, &err));
    PX_THEN_IF(status, path, replay_judge(self, campaign, path, &data, &workers, id, replay, &err));
    report.campaign = campaign;
    report.failed = replay->differ.count + replay->otherwise.count;
    report.fixed = replay->failures - replay->still;
    report.fixed_share = px_replay_fixed(replay);
    int rc = cli_answer(self, status, &err, &report, replay_print);
    if (rc == CLI_DONE && report.failed)
        rc = CLI_CHECK_FAILED;
    if (rc == CLI_DONE && replay->judged_anew && report.fixed_share < least) {
        cli_note(self, "%.4f of the failures are fixed, below --fail-under %g", report.fixed_share,
                 least);
        rc = CLI_CHECK_FAILED;
    }
    px_replay_done(replay);
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
    .result = replay_fields,
};
