/* src/cli/cmd_check.c - plexor check [MODEL --data SPEC]: the whole examination, and a page of it
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/check.h>
#include <math.h>
#include <stdio.h>

typedef struct check_view {
    const cli_command *self;
    cli_progress progress;
} check_view;

/* "cover (3 of 11) 48%, 1:20 of about 5:10". */
static bool check_tell(void *context, const px_check_progress *p)
{
    check_view *view = context;
    if (cli_progress_due(&view->progress)) {
        char all[CLI_NUMBER_TEXT] = "?", past[CLI_NUMBER_TEXT], text[160];
        if (p->seconds_left >= 0.0)
            cli_duration(p->seconds + p->seconds_left, all);
        cli_duration(p->seconds, past);
        if (p->count > 0 && p->index < p->count)
            snprintf(text, sizeof text, "%s (%zu of %zu) %.0f%%, %s of about %s", p->stage,
                     p->index + 1, p->count, 100.0 * p->stage_share, past, all);
        else
            snprintf(text, sizeof text, "%s, %s", p->stage, past);
        cli_progress_show(&view->progress, p->share, text);
    }
    return !cli_interrupted();
}

static void check_note(void *context, const char *sentence)
{
    check_view *view = context;
    cli_progress_end(&view->progress);
    cli_note(view->self, "%s", sentence);
}

static void check_print_stage(const px_check *check, size_t i)
{
    px_text line = {0};
    if (px_check_state_of(check, i) == PX_CHECK_SKIPPED)
        return;
    px_check_line(check, i, &line);
    cli_print("%-11s%s\n", px_check_stage_get(i)->entry.id, px_text_get(&line));
    px_text_done(&line);
}

static void check_print(const void *of)
{
    const px_check *check = of;
    const px_verdict verdict = px_check_verdict(check);
    for (size_t i = 0; i < px_check_stage_count(); i++)
        check_print_stage(check, i);
    for (size_t i = 0; i < px_check_gate_count(check); i++) {
        const px_check_gate g = px_check_gate_get(check, i);
        cli_print("%-11s%s ", g.held ? "holds" : "FAILS", g.kind->entry.id);
        if (isnan(g.value))
            cli_print("was not measured");
        else
            cli_print("%.6g", g.value);
        cli_print(", must be at %s %g\n", g.kind->most ? "most" : "least", g.threshold);
    }
    cli_print("%-11s%s\n", "verdict",
              verdict == PX_VERDICT_PASS   ? "pass"
              : verdict == PX_VERDICT_FAIL ? "fail"
                                           : "none: no thresholds were given (--fail-under)");
    cli_print("%-11s%s\n", "report", px_check_page(check) ? px_check_page(check) : "-");
}

/* "these stages, and what they need: profile, eval, ..." */
static const char *check_stages(px_text *out)
{
    px_text_add(out, "these stages, and what they need: ");
    for (size_t i = 0; i < px_check_stage_count(); i++)
        px_text_format(out, "%s%s", i ? ", " : "", px_check_stage_get(i)->entry.id);
    return px_text_get(out);
}

static int check_work(const cli_command *self, int argc, char **argv, const char *only_help)
{
    cli_data data = CLI_DATA_DEFAULT;
    cli_workers workers = {0};
    px_check_options o = px_check_options_default();
    const char *range = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&data),
        CLI_STRING(0, "train", &o.train, "SPEC",
                   "training data to learn ranges from; the data's own train part without it"),
        CLI_INT(
            0, "train-limit", &o.train_limit, "N", 0, 9e15,
            "learn from so many of them, and train the default network on so many; 0: 1,000, and "
            "all"),
        CLI_STRING(0, "bank", &o.bank, "FILE",
                   "descriptions of neurons, of 'plexor describe'; labels are measured without"),
        CLI_STRING('o', "output", &o.folder, "FOLDER",
                   "where results, findings and the page go; an interrupted check goes on there"),
        CLI_FLAG(0, "fresh", &o.fresh,
                 "begin anew: what an earlier check made in the folder is removed, nothing else"),
        CLI_STRING(0, "report", &o.page, "FILE.html", "the page; FOLDER/report.html without it"),
        CLI_RANGE_OPTION(&range),
        CLI_REAL(0, "minutes", &o.minutes, "M", 0, 1e6,
                 "at most so long for synthesizing, attacking and fuzzing failures"),
        CLI_REAL(0, "min-similarity", &o.min_similarity, "X", 0, 1,
                 "failures less similar to their originals do not count; docs/fuzz.md"),
        CLI_REAL(0, "min-inside", &o.min_inside, "X", 0, 1,
                 "nor do those with less of the object left in the frame"),
        CLI_STRING(0, "only", &o.only, "STAGES", only_help),
        CLI_STRING(0, "skip", &o.skip, "STAGES", "not these"),
        CLI_STRING(0, "fail-under", &o.gates, "NAME=X,...",
                   "exit with 1 unless all hold: accuracy=0.9 (at least), faults=100 (at most); "
                   "'plexor list gates' names them"),
        CLI_STRING(0, "junit", &o.junit, "FILE.xml", "the verdict as JUnit XML"),
        CLI_FLAG(0, "full", &o.full, "all findings on the page, however large that makes it"),
        CLI_FLAG(0, "allow-chance", &o.allow_chance,
                 "do not stop where accuracy is that of guessing"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &o.model, 0, 1));
    px_error err = {0};
    if (cli_tolerance(&o.tolerance, &err) != PX_OK)
        return cli_fail(self, &err);
    if (range && cli_range(range, &o.low, &o.high, &err) != PX_OK)
        return cli_fail(self, &err);
    px_check *check = NULL;
    px_text command = {0};
    check_view view = {.self = self, .progress = cli_progress_start("check")};
    cli_command_line(&command, argc, argv);
    o.data = data.spec;
    o.classes = cli_now()->class_list;
    o.tokenizer = cli_now()->tokenizer;
    o.tokens = cli_now()->tokens;
    o.read.split = data.split;
    o.read.limit = data.limit;
    o.read.offset = data.offset;
    o.read.shuffle = data.shuffle;
    o.read.skip_damaged = data.skip_damaged;
    o.pixels = data.pixels;
    o.audio = data.audio;
    o.seed = (uint64_t)data.seed;
    o.threads = (int)workers.threads;
    o.batch = workers.batch;
    o.command = px_text_get(&command);
    o.progress = check_tell;
    o.note = check_note;
    o.context = &view;
    px_status status =
        px_text_failed(&command) ? pxi_no_memory(&err) : px_check_new(&o, &check, &err);
    PX_THEN(status, px_check_run(check, &err));
    cli_progress_end(&view.progress);
    int rc = cli_answer(self, status, &err, check, check_print);
    if (rc == CLI_DONE && px_check_verdict(check) == PX_VERDICT_FAIL)
        rc = CLI_CHECK_FAILED;
    if (status == PX_E_CANCELLED && check)
        cli_note(self, "what is done is in '%s': the same command goes on from there", o.folder);
    px_check_free(check);
    px_text_done(&command);
    return rc;
}

static int check_run(const cli_command *self, int argc, char **argv)
{
    px_text stages = {0};
    const int rc = check_work(self, argc, argv, check_stages(&stages));
    px_text_done(&stages);
    return rc;
}

const cli_command cli_command_check = {
    .name = "check",
    .usage = "[MODEL --data SPEC] [-o FOLDER] [--minutes M] [--fail-under NAME=X,...]",
    .help = "the whole examination of a classifier, on one page",
    .details =
        "Evaluates a network, measures coverage, says which inputs to label, which neurons are "
        "active when it is wrong, makes failures in three ways, measures how bad they are, shows "
        "what the neurons respond to and which failures are alike, and writes one HTML page that "
        "opens offline. Without arguments it trains a LeNet-5 on Fashion-MNIST (on generated "
        "digits where that is not installed) and examines that.\n"
        "Every stage leaves its result in the folder, and an interrupted check goes on where it "
        "was. What cannot be done (no labels, no training data) is left out, and the page says "
        "why. The number of failures that are tried grows with --minutes; where the time is up "
        "first, that is said, and only then do equal runs differ.\n"
        "Exit status 1 where a gate of --fail-under does not hold. docs/check.md has the stages, "
        "the files and the gates.",
    .examples = "plexor check\n"
                "plexor check net.onnx --data photos/ --mean imagenet --std imagenet --minutes 5\n"
                "plexor check net.onnx --data digits --fail-under accuracy=0.9,faults=100 --junit "
                "check.xml\n",
    .run = check_run,
    .ranks = true,
    .result = px_check_fields,
};
