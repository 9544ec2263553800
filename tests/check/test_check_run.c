/* tests/check/test_check_run.c - choosing stages, going on, gates, and what is refused */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check_helpers.h"

#include <internal/check.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[512];

static int folder_open(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", check_folder_make());
    return 0;
}

static int folder_close(void **state)
{
    (void)state;
    check_folder_remove(folder);
    return 0;
}

static px_check_state state_of(const px_check *check, const char *id)
{
    for (size_t i = 0; i < px_check_stage_count(); i++)
        if (strcmp(px_check_stage_get(i)->entry.id, id) == 0)
            return px_check_state_of(check, i);
    fail_msg("there is no stage '%s'", id);
    return PX_CHECK_WAITS;
}

/* --- stages ---------------------------------------------------------------------------------- */

static void test_chosen_stages_bring_what_they_read(void **state)
{
    (void)state;
    static const struct {
        const char *only, *skip, *runs; /* letters: the stages in order */
    } cases[] = {
        {"eval", NULL, ".e........."},
        {"cover", NULL, "p.c........"},
        {"cover", "profile", "..c........"},
        {"select", NULL, ".e.s......."},
        {"describe", NULL, ".e..l....d."},
        {NULL, "synthesize,attack,fuzz,assess,cluster,describe", "pecsl......"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_check_options o = check_options(folder);
        o.only = cases[i].only;
        o.skip = cases[i].skip;
        px_check *check = check_examined(&o);
        for (int s = 0; s < PXI_STAGE_COUNT; s++)
            if ((cases[i].runs[s] != '.') != (check->result[s] != NULL))
                fail_msg("case %d: stage '%s' is %s", (int)i, pxi_stages[s]->public.entry.id,
                         px_check_state_name(check->state[s]));
        px_check_free(check);
    }
}

/* A result that was made without another one is made again when that is there. */
static void test_results_know_what_they_read(void **state)
{
    (void)state;
    px_check_options o = check_options(folder);
    o.only = "cover";
    o.skip = "profile";
    px_check *check = check_examined(&o);
    assert_int_equal(state_of(check, "cover"), PX_CHECK_DONE);
    assert_true(isnan(px_check_number(check, "cover", "values.kmnc")));
    px_check_free(check);
    o.skip = NULL;
    check = check_examined(&o);
    assert_int_equal(state_of(check, "cover"), PX_CHECK_DONE);
    assert_true(check_number(check, "cover", "values.kmnc") > 0.0);
    px_check_free(check);
    check = check_examined(&o);
    assert_int_equal(state_of(check, "cover"), PX_CHECK_KEPT);
    px_check_free(check);
}

/* --- going on -------------------------------------------------------------------------------- */

typedef struct stopper {
    const char *stage; /* to be stopped in */
    bool stopped;
    char notes[2000];
} stopper;

static bool stop_in(void *context, const px_check_progress *p)
{
    stopper *s = context;
    assert_true(p->share >= 0.0 && p->share <= 1.0);
    assert_non_null(p->stage);
    if (s->stage && strcmp(p->stage, s->stage) == 0)
        s->stopped = true;
    return !s->stopped;
}

static void take_note(void *context, const char *sentence)
{
    stopper *s = context;
    const size_t used = strlen(s->notes);
    snprintf(s->notes + used, sizeof s->notes - used, "%s\n", sentence);
}

static void test_a_stopped_check_goes_on(void **state)
{
    (void)state;
    static const char *const stages[] = {"select", "attack", "fuzz", "cluster"};
    px_check_options o = check_options(folder);
    px_check *check = NULL;
    px_error err = {0};
    stopper s = {.stage = NULL};
    o.progress = stop_in;
    o.context = &s;
    for (size_t i = 0; i < PX_LEN(stages); i++) {
        s = (stopper){.stage = stages[i]};
        assert_int_equal(px_check_new(&o, &check, &err), PX_OK);
        assert_int_equal(px_check_run(check, &err), PX_E_CANCELLED);
        assert_true(s.stopped);
        assert_null(px_check_page(check));
        assert_null(px_check_result(check, stages[i]));
        assert_non_null(px_check_result(check, "eval"));
        px_check_free(check);
    }
    s = (stopper){.stage = NULL};
    check = check_examined(&o);
    assert_int_equal(state_of(check, "select"), PX_CHECK_KEPT);
    assert_int_equal(state_of(check, "cluster"), PX_CHECK_DONE);
    assert_non_null(px_check_page(check));
    px_check_free(check);
}

/* Whether there is a guess of the time when the first stage has done something. */
static bool know_the_time(void *context, const px_check_progress *p)
{
    int *known = context;
    if (*known < 0 && p->done > 0)
        *known = strcmp(p->stage, "profile") == 0 && p->seconds_left >= 0.0;
    return true;
}

static void test_the_time_is_known_from_the_first_stage_on(void **state)
{
    (void)state;
    int known = -1;
    px_check_options o = check_options(folder);
    o.progress = know_the_time;
    o.context = &known;
    px_check_free(check_examined(&o));
    assert_int_equal(known, 1);
}

static void test_a_folder_has_one_writer(void **state)
{
    (void)state;
    px_check_options o = check_options(folder);
    px_check *first = NULL, *second = NULL;
    px_error err = {0};
    assert_int_equal(px_check_new(&o, &first, &err), PX_OK);
    assert_int_equal(px_check_new(&o, &second, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "another plexor check is at work"));
    px_check_free(first);
    o.seed = 7;
    assert_int_equal(px_check_new(&o, &second, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "another 'seed'"));
}

/* --- gates ----------------------------------------------------------------------------------- */

static void test_gates(void **state)
{
    (void)state;
    static const struct {
        const char *gates;
        px_verdict verdict;
    } cases[] = {
        {NULL, PX_VERDICT_NONE},
        {"", PX_VERDICT_NONE},
        {"accuracy=0.5", PX_VERDICT_PASS},
        {"accuracy=50%", PX_VERDICT_PASS},
        {"accuracy=0.5,ece=1", PX_VERDICT_PASS},
        {"ece=-0.1", PX_VERDICT_FAIL},
        {"accuracy=0.5,worst-class=1.01", PX_VERDICT_FAIL},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_check_options o = check_options(folder);
        o.only = "eval";
        o.gates = cases[i].gates;
        px_check *check = check_examined(&o);
        if (px_check_verdict(check) != cases[i].verdict)
            fail_msg("'%s': %s", cases[i].gates, px_verdict_name(px_check_verdict(check)));
        px_check_free(check);
    }
}

static void test_refused_options(void **state)
{
    (void)state;
    static const struct {
        const char *gates, *only, *words;
        double minutes;
    } cases[] = {
        {"acc=1", NULL, "no gate 'acc'", 1.0},
        {"accuracy", NULL, "expected accuracy=NUMBER", 1.0},
        {"accuracy=", NULL, "expected accuracy=NUMBER", 1.0},
        {"accuracy=nan", NULL, "no number", 1.0},
        {"accuracy=1x", NULL, "no number", 1.0},
        {"accuracy=1,accuracy=1", NULL, "twice", 1.0},
        {"robust=1", "eval", "leave out", 1.0},
        {NULL, "evaluate", "no stage 'evaluate'", 1.0},
        {NULL, NULL, "--minutes", 0.0},
        {NULL, NULL, "--minutes", (double)NAN},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_check_options o = check_options(folder);
        px_check *check = NULL;
        px_error err = {0};
        o.gates = cases[i].gates;
        o.only = cases[i].only;
        o.minutes = cases[i].minutes;
        if (px_check_new(&o, &check, &err) != PX_E_USAGE || !strstr(err.message, cases[i].words))
            fail_msg("case %d: %s", (int)i, err.message);
    }
}

/* --- without labels -------------------------------------------------------------------------- */

static void test_without_labels(void **state)
{
    (void)state;
    px_check_options o = check_options(folder);
    stopper s = {.stage = NULL};
    o.data = "noise:1x28x28";
    o.read.limit = 50;
    o.gates = "accuracy=0";
    o.note = take_note;
    o.context = &s;
    px_check *check = check_examined(&o);
    assert_int_equal(state_of(check, "localize"), PX_CHECK_LEFT_OUT);
    assert_int_equal(state_of(check, "fuzz"), PX_CHECK_LEFT_OUT);
    assert_int_equal(state_of(check, "select"), PX_CHECK_DONE);
    assert_int_equal(state_of(check, "attack"), PX_CHECK_DONE);
    assert_int_equal(px_check_verdict(check), PX_VERDICT_FAIL); /* not measured: does not hold */
    assert_true(isnan(px_check_gate_get(check, 0).value));
    assert_non_null(strstr(s.notes, "has no labels"));
    px_check_free(check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, folder_open, folder_close)
        CASE(test_chosen_stages_bring_what_they_read),
        CASE(test_results_know_what_they_read),
        CASE(test_a_stopped_check_goes_on),
        CASE(test_the_time_is_known_from_the_first_stage_on),
        CASE(test_a_folder_has_one_writer),
        CASE(test_gates),
        CASE(test_refused_options),
        CASE(test_without_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
