/* tests/generate/test_fuzz.c - campaigns: the same content always, and what is in them holds */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "fuzz_helpers.h"

#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/engine.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void ok(px_status status, const px_error *err, const char *what)
{
    if (status != PX_OK)
        fail_msg("%s: %s", what, err->message);
}

static uint64_t digest(const char *folder)
{
    px_error err = {0};
    uint64_t value = 0;
    ok(fuzz_digest(folder, &value, &err), &err, folder);
    return value;
}

static const struct {
    const char *name, *policy, *guide, *settings[FUZZ_TEXTS];
    bool store_float;
} cases[] = {
    {"deephunter kmnc", "deephunter", "kmnc", {0}, false},
    {"deephunter random", "deephunter", NULL, {"twins=1"}, false},
    {"deephunter code", "deephunter", "nc", {"chance=code", "valid=deephunter-code"}, false},
    {"nlc nlc", "nlc", "nlc", {0}, false},
    {"nsgen nbc", "nsgen", "nbc", {"energy=12"}, false},
    {"nsgen kmnc reset", "nsgen", "nc", {"reset=3"}, false},
    {"tensorfuzz cc", "tensorfuzz", "cc", {"energy=10"}, false},
    {"stack", "deephunter", "kmnc", {"pick=stack", "energy=5"}, false},
    {"uniform, first", "deephunter", "tknc", {"pick=uniform", "first=yes"}, false},
    {"power schedule", "nlc", "kmnc", {"share=3", "first=no", "energy=16"}, false},
    {"power schedule, first", "nlc", "kmnc", {"share=4", "energy=32"}, false},
    {"float", "nlc", "kmnc", {0}, true},
    {"float deephunter", "deephunter", "kmnc", {0}, true},
    {"nsgen by paths", "nsgen", "nsgen", {"energy=12"}, false},
};

static bool stop_now(void *context, const px_fuzz_report *report)
{
    (void)report;
    ++*(int *)context;
    return false;
}

/* Threads and interruptions change nothing. */
static void test_same_content(void **state)
{
    (void)state;
    enum { TURNS = 40 };
    px_error err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folders[4][32];
        fuzz_case c = {.policy = cases[i].policy,
                       .guide = cases[i].guide,
                       .store_float = cases[i].store_float,
                       .seed = i};
        memcpy(c.settings, cases[i].settings, sizeof c.settings);
        px_fuzz_limits limits = {.turns = TURNS};
        px_fuzz_report report = {0};
        for (int t = 0; t < 3; t++) {
            snprintf(folders[t], sizeof folders[t], "same-%zu-%d", i, t + 1);
            c.folder = folders[t];
            c.threads = t + 1;
            ok(fuzz_case_run(&c, &limits, &report, &err), &err, cases[i].name);
            if (digest(folders[t]) != digest(folders[0]))
                fail_msg("case '%s': %d threads differ", cases[i].name, t + 1);
        }
        if (report.outputs == 0)
            fail_msg("case '%s': nothing came out", cases[i].name);
        const int64_t pieces[] = {1, 2, 17, 18, TURNS};
        c.threads = 2;
        snprintf(folders[3], sizeof folders[3], "same-%zu-r", i);
        c.folder = folders[3];
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
            limits.turns = pieces[p];
            c.resume = p > 0;
            px_fuzz_report part;
            ok(fuzz_case_run(&c, &limits, &part, &err), &err, cases[i].name);
            if (p == sizeof pieces / sizeof pieces[0] - 1 &&
                (part.outputs != report.outputs || part.executions != report.executions ||
                 part.unique_faults != report.unique_faults || part.depth != report.depth ||
                 part.classes != report.classes || part.fault_types != report.fault_types ||
                 part.resets != report.resets))
                fail_msg("case '%s': figures differ after resuming", cases[i].name);
        }
        if (digest(folders[3]) != digest(folders[0]))
            fail_msg("case '%s': resuming differs", cases[i].name);
    }
}

/* Ctrl-C: all that is counted is committed, and it goes on as if nothing had been. */
static void test_stopped_by_hand(void **state)
{
    (void)state;
    px_error err = {0};
    int told = 0;
    fuzz_case c = {.folder = "asked", .guide = "kmnc", .progress = stop_now, .context = &told};
    const px_fuzz_limits limits = {.turns = 5000}, rest = {.turns = 30};
    px_fuzz_report report;
    assert_int_equal(fuzz_case_run(&c, &limits, &report, &err), PX_E_CANCELLED);
    assert_true(told >= 2 && report.turns > 0 && report.turns < 5000);
    c.progress = NULL;
    c.resume = true;
    const px_fuzz_limits more = {.turns = report.turns + rest.turns};
    ok(fuzz_case_run(&c, &more, NULL, &err), &err, "resume");
    c.folder = "not-asked";
    c.resume = false;
    ok(fuzz_case_run(&c, &more, NULL, &err), &err, "in one go");
    assert_true(digest("asked") == digest("not-asked"));
}

/* Every stored input comes from its chain bit for bit, and the network says what was stored. */
static void test_what_is_stored_holds(void **state)
{
    (void)state;
    px_error err = {0};
    for (int whole = 0; whole < 2; whole++) {
        const fuzz_case c = {.folder = whole ? "float" : "bytes",
                             .guide = "kmnc",
                             .policy = whole ? "nsgen" : "deephunter",
                             .store_float = whole != 0};
        const px_fuzz_limits limits = {.turns = 60};
        fuzz_scene s;
        ok(fuzz_scene_open(&c, &s, &err), &err, "open");
        ok(px_fuzz_run(s.fuzz, &limits, &err), &err, "run");
        const px_fuzz_report report = px_fuzz_report_get(s.fuzz);
        px_campaign_counts counts;
        ok(px_campaign_check(s.campaign, &err), &err, "check");
        ok(px_campaign_count(s.campaign, &counts, &err), &err, "count");
        assert_int_equal(counts.outputs, report.outputs);
        assert_int_equal(counts.faults, report.faults);
        assert_int_equal(counts.unique_faults, report.unique_faults);
        assert_int_equal(counts.fault_types, report.fault_types);
        assert_int_equal(counts.classes, report.classes);
        assert_int_equal(counts.executions, report.executions);
        assert_int_equal(counts.seeds, report.seeds);
        assert_string_equal(report.stopped, "60 turns");
        /* The campaign as data, judged by an independent pass. */
        px_data_options data = px_data_options_default();
        px_preprocess pre;
        px_dataset *all = NULL;
        const px_graph *graph = px_model_graph(s.model);
        const px_shape *input = &graph->values[graph->inputs[0]].shape;
        data.split = "all";
        ok(px_preprocess_init(&pre, px_model_properties(s.model), px_model_property_count(s.model),
                              input, NULL, &err),
           &err, "preprocess");
        ok(px_dataset_open_for(&pre, input, c.folder, &data, &all, &err), &err, "as data");
        px_plan_options options = px_plan_options_default();
        px_plan *plan = NULL;
        px_session *session = NULL;
        px_scores scores;
        options.batch = 1;
        ok(px_model_scores(s.model, &scores, &err), &err, "scores");
        options.keep = &scores.value;
        options.keep_count = 1;
        ok(px_plan_new(s.model, &options, &plan, &err), &err, "plan");
        ok(px_session_new(plan, &session, &err), &err, "session");
        for (int64_t id = 1; id <= px_dataset_count(all); id++) {
            px_replayed replayed;
            px_campaign_input in;
            int64_t prediction;
            ok(px_campaign_replay(s.campaign, id, NULL, &replayed, &err), &err, "replay");
            ok(px_campaign_read(s.campaign, id, &in, NULL, &err), &err, "read");
            if (replayed != (in.kind == PX_INPUT_SEED ? PX_REPLAY_STORED : PX_REPLAY_SAME))
                fail_msg("input %d does not replay", (int)id);
            ok(px_dataset_input(all, &pre, id - 1, px_session_input(session, 0), &err), &err,
               "input");
            ok(px_session_forward(session, &err), &err, "forward");
            ok(px_session_judge(session, &scores, NULL, 1, &prediction, NULL, &err), &err, "judge");
            if (prediction != in.prediction)
                fail_msg("input %d: stored as %d, is %d", (int)id, (int)in.prediction,
                         (int)prediction);
            assert_int_equal(in.kind == PX_INPUT_FAULT, in.prediction != in.label);
        }
        px_session_free(session);
        px_plan_free(plan);
        px_dataset_close(all);
        fuzz_scene_close(&s);
    }
}

static void test_limits(void **state)
{
    (void)state;
    px_error err = {0};
    static const struct {
        px_fuzz_limits limits;
        const char *stopped;
    } limits[] = {
        {{.turns = 3}, "3 turns"},           {{.executions = 100}, "100 executions"},
        {{.outputs = 40}, "40 outputs"},     {{.faults = 5}, "5 faults"},
        {{.seconds = 0.05}, "0.05 seconds"}, {{.stall = 2}, "2 turns without an output"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char folder[32];
        snprintf(folder, sizeof folder, "limit-%zu", i);
        fuzz_case c = {.folder = folder, .guide = "kmnc"};
        if (limits[i].limits.stall) { /* nothing is valid, so nothing comes out */
            c.settings[0] = "valid=nsgen-strict";
            c.settings[1] = "alpha=0";
        }
        fuzz_scene s;
        ok(fuzz_scene_open(&c, &s, &err), &err, folder);
        ok(px_fuzz_run(s.fuzz, &limits[i].limits, &err), &err, folder);
        assert_string_equal(px_fuzz_report_get(s.fuzz).stopped, limits[i].stopped);
        fuzz_scene_close(&s);
    }
}

/* A stack whose entries give nothing runs empty. */
static void test_nothing_left(void **state)
{
    (void)state;
    px_error err = {0};
    const fuzz_case c = {.folder = "empty",
                         .settings = {"pick=stack", "valid=nsgen-strict", "alpha=0"}};
    const px_fuzz_limits limits = {0};
    fuzz_scene s;
    ok(fuzz_scene_open(&c, &s, &err), &err, "open");
    ok(px_fuzz_run(s.fuzz, &limits, &err), &err, "run");
    const px_fuzz_report report = px_fuzz_report_get(s.fuzz);
    assert_string_equal(report.stopped, "nothing is left to pick");
    assert_int_equal(report.turns, report.seeds);
    fuzz_scene_close(&s);
}

static void test_refused(void **state)
{
    (void)state;
    px_error err = {0};
    const px_fuzz_limits limits = {.turns = 2};
    const fuzz_case mine = {.folder = "mine", .guide = "nc", .resume = false};
    ok(fuzz_case_run(&mine, &limits, NULL, &err), &err, "mine");
    static const struct {
        const char *name, *text;
        fuzz_case c;
        px_status status;
    } refused[] = {
        {"seed", "seed", {.seed = 1, .guide = "nc", .resume = true}, PX_E_MISMATCH},
        {"data", "data", {.limit = 100, .guide = "nc", .resume = true}, PX_E_MISMATCH},
        {"guide", "guide", {.guide = "kmnc", .resume = true}, PX_E_MISMATCH},
        {"energy",
         "settings",
         {.guide = "nc", .settings = {"energy=3"}, .resume = true},
         PX_E_MISMATCH},
        {"engine", "there is no engine 'x'", {.engine = "x", .resume = true}, PX_E_USAGE},
        {"policy", "there is no policy 'x'", {.policy = "x", .resume = true}, PX_E_USAGE},
        {"mutations", "'x'", {.mutations = "x", .resume = true}, PX_E_USAGE},
        {"setting", "no such setting", {.settings = {"x=1"}, .resume = true}, PX_E_USAGE},
        {"value", "between", {.settings = {"energy=0"}, .resume = true}, PX_E_USAGE},
        {"no equals", "write NAME=VALUE", {.settings = {"energy"}, .resume = true}, PX_E_USAGE},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        fuzz_case c = refused[i].c;
        c.folder = "mine";
        const px_status status = fuzz_case_run(&c, &limits, NULL, &err);
        if (status != refused[i].status || !strstr(err.message, refused[i].text))
            fail_msg("case '%s': status %d, '%s'", refused[i].name, (int)status, err.message);
    }
    uint64_t before = digest("mine");
    fuzz_case again = mine;
    again.resume = true;
    ok(fuzz_case_run(&again, &limits, NULL, &err), &err, "nothing to do");
    assert_true(before == digest("mine")); /* none of them has touched it */
}

/* Near repeats of a fault are marked, and only so many are stored. */
static void test_twins(void **state)
{
    (void)state;
    px_error err = {0};
    const fuzz_case c = {
        .folder = "twins", .settings = {"twins=2", "near=6", "energy=64"}, .seeds = 3};
    const px_fuzz_limits limits = {.turns = 60};
    fuzz_scene s;
    ok(fuzz_scene_open(&c, &s, &err), &err, "open");
    ok(px_fuzz_run(s.fuzz, &limits, &err), &err, "run");
    const px_fuzz_report report = px_fuzz_report_get(s.fuzz);
    assert_true(report.faults > report.unique_faults);
    int64_t counts[4096] = {0};
    px_campaign_input in = {0};
    for (;;) {
        ok(px_campaign_next(s.campaign, in.id, PX_INPUT_FAULT, &in, NULL, NULL, &err), &err,
           "next");
        if (!in.id)
            break;
        if (!in.twin)
            continue;
        px_campaign_input other;
        const int64_t root = in.root, prediction = in.prediction, twin = in.twin, id = in.id;
        assert_true(twin < 4096);
        counts[twin]++;
        ok(px_campaign_read(s.campaign, twin, &other, NULL, &err), &err, "twin");
        assert_int_equal(other.root, root);
        assert_int_equal(other.prediction, prediction);
        assert_int_equal(other.twin, 0);
        in.id = id;
    }
    int64_t most = 0;
    for (size_t i = 0; i < 4096; i++)
        most = counts[i] > most ? counts[i] : most;
    assert_int_equal(most, 2);
    assert_string_equal(report.notes[0].name, "not stored");
    fuzz_scene_close(&s);
}

/* Scores that are no numbers: faults of their own kind. */
static void test_bad_seeds(void **state)
{
    (void)state;
    px_error err = {0};
    fuzz_case c = {.folder = "few", .limit = 30, .seeds = 1000};
    const px_fuzz_limits limits = {.turns = 1};
    px_fuzz_report report;
    ok(fuzz_case_run(&c, &limits, &report, &err), &err, "few");
    assert_true(report.seeds > 0 && report.seeds + report.seeds_wrong <= 30);
    c.folder = "all";
    c.seeds = 0; /* the helper's 20, of each class as many */
    c.limit = 0;
    ok(fuzz_case_run(&c, &limits, &report, &err), &err, "all");
    assert_int_equal(report.seeds, 20);
    px_campaign *campaign = NULL;
    px_campaign_input in = {0};
    int of_class[10] = {0};
    ok(px_campaign_open("all", PX_CAMPAIGN_READ, &campaign, &err), &err, "open");
    for (int i = 0; i < 20; i++) {
        ok(px_campaign_next(campaign, in.id, PX_INPUT_SEED, &in, NULL, NULL, &err), &err, "next");
        of_class[in.label]++;
        assert_int_equal(in.label, in.prediction);
    }
    for (int k = 0; k < 10; k++)
        assert_int_equal(of_class[k], 2);
    px_campaign_close(campaign);
}

/* Damaged bytes of the run's own state are refused, not believed. */
static void test_damaged_state(void **state)
{
    (void)state;
    px_error err = {0};
    fuzz_case c = {.folder = "damaged", .guide = "nc"};
    const px_fuzz_limits limits = {.turns = 5}, more = {.turns = 8};
    ok(fuzz_case_run(&c, &limits, NULL, &err), &err, "run");
    px_campaign *campaign = NULL;
    void *bytes = NULL;
    size_t size = 0;
    ok(px_campaign_open("damaged", PX_CAMPAIGN_RESUME, &campaign, &err), &err, "open");
    ok(px_campaign_get_blob(campaign, "fuzz", &bytes, &size, &err), &err, "blob");
    px_campaign_close(campaign);
    assert_true(size > 20);
    c.resume = true;
    for (size_t cut = 0; cut < size; cut += cut < 20 ? 1 : 13) {
        ok(px_campaign_open("damaged", PX_CAMPAIGN_RESUME, &campaign, &err), &err, "open");
        ok(px_campaign_put_blob(campaign, "fuzz", bytes, cut, &err), &err, "cut");
        ok(px_campaign_commit(campaign, &err), &err, "commit");
        px_campaign_close(campaign);
        assert_int_equal(fuzz_case_run(&c, &more, NULL, &err), PX_E_INPUT);
        assert_non_null(strstr(err.message, "damaged"));
    }
    free(bytes);
}

/* A disk that is full, as far as one process can tell: its files may not grow any more. */
static void test_full_disk(void **state)
{
    (void)state;
    px_error err = {0};
    fuzz_case c = {.folder = "disk", .threads = 2};
    const px_fuzz_limits limits = {.turns = 3}, endless = {.turns = 1000000};
    ok(fuzz_case_run(&c, &limits, NULL, &err), &err, "begin");
    c.resume = true;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit small = {4000000, 4000000};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &small) != 0)
            _exit(10);
        const px_status status = fuzz_case_run(&c, &endless, NULL, &err);
        if (status != PX_E_IO)
            fprintf(stderr, "%d %s\n", (int)status, err.message);
        _exit(status == PX_E_IO && strstr(err.message, "disk is full") ? 0 : 12);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    px_campaign *campaign = NULL;
    ok(px_campaign_open("disk", PX_CAMPAIGN_RESUME, &campaign, &err), &err, "open");
    ok(px_campaign_check(campaign, &err), &err, "check");
    const double turns = px_campaign_get_real(campaign, "turns", 0);
    px_campaign_close(campaign);
    assert_true(turns > 3);
    /* Goes on, and is what it would have been. */
    const px_fuzz_limits more = {.turns = (int64_t)turns + 3};
    ok(fuzz_case_run(&c, &more, NULL, &err), &err, "go on");
    c.resume = false;
    c.folder = "roomy";
    ok(fuzz_case_run(&c, &more, NULL, &err), &err, "in one go");
    assert_true(digest("disk") == digest("roomy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_content),
                                       cmocka_unit_test(test_stopped_by_hand),
                                       cmocka_unit_test(test_what_is_stored_holds),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_nothing_left),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_twins),
                                       cmocka_unit_test(test_bad_seeds),
                                       cmocka_unit_test(test_damaged_state),
                                       cmocka_unit_test(test_full_disk)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
