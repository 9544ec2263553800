/* studies/frame/cmd_study.c - plexor study NAME */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/cmd_study.h"
#include "frame/study.h"

#include <inttypes.h>
#include <plexor/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct study_args {
    px_study_options options;
    cli_list data, models;
    const char *budget, *each, *report;
    int64_t seed, threads;
    bool estimate;
} study_args;

static bool study_tick(void *context, int64_t done, int64_t total)
{
    (void)context;
    return cli_tick(CLI_WORDS(""), done, total);
}

/* "5m", or "2000": a number without a unit is no time. */
static bool study_each(const char *text, px_study_options *options)
{
    char *end = NULL;
    const long long pieces = strtoll(text, &end, 10);
    if (end != text && !*end && pieces > 0 && pieces < 1000000000) {
        options->each_pieces = pieces;
        return true;
    }
    return cli_seconds(text, &options->each_s);
}

static px_status study_print(const cli_command *self, const study_args *a, const px_study *study,
                             px_error *err)
{
    char *text = NULL;
    if (a->report)
        PX_TRY(px_study_save(study, PX_STUDY_MARKDOWN, a->report, err));
    if (a->report && !cli_now()->json)
        return PX_OK;
    PX_TRY(px_study_report(study, cli_now()->json ? PX_STUDY_JSON : PX_STUDY_TEXT, &text, err));
    if (cli_now()->json)
        cli_print_json_text(self, text);
    else
        fputs(text, cli_out());
    free(text);
    return fflush(cli_out()) == 0 ? PX_OK : px_fail(err, PX_E_IO, "standard output: write failed");
}

static int study_go(const cli_command *self, study_args *a, const char *name)
{
    px_error err = {0};
    px_study *study = NULL;
    char duration[CLI_NUMBER_TEXT];
    int64_t jobs = 0;
    double seconds = 0.0;
    a->options.tell = cli_note_step;
    a->options.progress = study_tick;
    a->options.data = a->data.item;
    a->options.data_count = (size_t)a->data.count;
    a->options.models = a->models.item;
    a->options.model_count = (size_t)a->models.count;
    a->options.seed = (uint64_t)a->seed;
    a->options.threads = (int)a->threads;
    px_status status = px_study_new(name, &a->options, &study, &err);
    if (status == PX_OK) {
        px_study_left(study, &jobs, &seconds);
        if (jobs)
            cli_note(self, "%" PRId64 " jobs to do, about %s; cells go to '%s/cells.jsonl'", jobs,
                     cli_duration(seconds, duration), px_study_folder(study));
        else if (!a->options.cells)
            cli_note(self, "nothing is left to do in '%s'", px_study_folder(study));
    }
    if (status == PX_OK && !a->estimate)
        status = px_study_run(study, &err);
    px_error report = {0};
    if (status == PX_OK || (status == PX_E_CANCELLED && study)) {
        const px_status printed = study_print(self, a, study, &report);
        if (printed != PX_OK && status == PX_OK) {
            status = printed;
            err = report;
        }
    }
    px_study_free(study);
    return status == PX_OK ? CLI_DONE : cli_fail(self, &err);
}

static int study_run(const cli_command *self, int argc, char **argv)
{
    study_args a = {.options = px_study_options_default()};
    px_study_options *o = &a.options;
    const char *name = NULL;
    const cli_option options[] = {
        CLI_STRING('o', "output", &o->folder, "FOLDER",
                   "where cells and networks are kept; NAME-study if not given"),
        CLI_STRINGS(0, "data", &a.data, "NAME=SPEC",
                    "where a data set of the study is; may be given again"),
        CLI_STRINGS(0, "model", &a.models, "NAME=PATH",
                    "a network of the study as an ONNX file; may be given again"),
        CLI_STRING(0, "mean", &o->mean, "LIST",
                   "what is subtracted from pixels for networks given whose files do not say it"),
        CLI_STRING(0, "std", &o->std, "LIST",
                   "what pixels are divided by for networks given whose files do not say it"),
        CLI_STRING(0, "dataset", &o->dataset, "LIST", "only subjects with these data sets"),
        CLI_STRING(0, "arch", &o->arch, "LIST", "only subjects with these architectures"),
        CLI_STRING(0, "from", &o->cells, "FILE",
                   "the report of the cells in FILE (a cells.jsonl), and nothing is run"),
        CLI_FLAG(0, "fresh", &o->fresh,
                 "begin anew: what a study made in the folder is removed first"),
        CLI_INT(0, "runs", &o->runs, "N", 1, 1000, "repetitions"),
        CLI_INT(0, "networks", &o->networks, "N", 0, 1000,
                "networks per subject, which the runs share; 0: one per run"),
        CLI_STRING(0, "parts", &o->parts, "LIST",
                   "what to run, each with PART or PART:RUNS; 'plexor list studies' has them"),
        CLI_INT(0, "limit", &o->limit, "N", 0, 9e15,
                "only the first N inputs of a test set: cells are marked as reduced; 0: all"),
        CLI_STRING(0, "budget", &a.budget, "TIME", "begin no job after that time: 90s, 30m, 2h"),
        CLI_STRING(0, "each", &a.each, "TIME|N",
                   "what a cell may take, where that is a choice: a time (5m), or a number of "
                   "picks, iterations or epochs; the paper's, or what the report says, if not "
                   "given"),
        CLI_FLAG(0, "estimate", &a.estimate, "say what is left to do, and do not do it"),
        CLI_STRING(0, "report", &a.report, "FILE",
                   "write the report as Markdown; FILE.md: charts beside it"),
        CLI_INT(0, "seed", &a.seed, "N", 0, 9e15, "run r has seed N + r"),
        CLI_INT('j', "threads", &a.threads, "N", 0, 1024, "worker threads; 0: one per core"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &name, 1, 1));
    if (o->cells && (o->folder || o->fresh))
        return cli_usage_error(self, "--from makes a report of a file: not with --output or "
                                     "--fresh, which are for a folder");
    if (a.budget && !cli_seconds(a.budget, &o->budget_s))
        return cli_usage_error(self, "--budget '%s': expected a time such as 90s, 30m or 2h",
                               a.budget);
    if (a.each && !study_each(a.each, o))
        return cli_usage_error(
            self, "--each '%s': expected a time such as 5m, or a number of picks", a.each);
    px_text command = {0};
    cli_command_line(&command, argc, argv);
    o->command = px_text_get(&command);
    const int rc = px_text_failed(&command) ? cli_no_memory(self) : study_go(self, &a, name);
    px_text_done(&command);
    return rc;
}

const cli_command cli_command_study = {
    .name = "study",
    .usage = "NAME [--data NAME=SPEC]... [options]",
    .help = "run a paper's experiments and print its tables with ours beside them",
    .details =
        "'plexor list studies' names them. Every table of the paper is printed, each figure as "
        "`paper / ours`, with mean and "
        "standard deviation over the runs. Rows whose data are not at hand say what they need.\n"
        "What is found is appended to cells.jsonl in the folder as soon as it is there: the same "
        "command goes on where it was stopped, and a command with other parts, runs or subjects "
        "adds to it. The report is of all that the folder has; --from makes it of a file of cells "
        "alone, without data or networks, in a moment.\n"
        "Networks are trained by the study and kept in the folder's models/; one that is there "
        "already, under the name the study gives it, is used if it fits.",
    .examples =
        "plexor study nss --dataset fashion-mnist --arch lenet1\n"
        "plexor study nss --data mnist=data/mnist --parts select,prima:1 --budget 2h\n"
        "plexor study fuzz --data cifar-10=cifar10/ --model mobilenetv2=net.onnx --each 5m\n"
        "plexor study revisit --data mnist=data/mnist --limit 10000 --runs 1 --report revisit.md\n"
        "plexor study nss --estimate\n"
        "plexor study nss --report nss.md\n"
        "plexor study nss --from nss-study/cells.jsonl --report nss.md\n",
    .run = study_run,
    .ranks = true,
};
