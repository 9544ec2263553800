/* tests/cover/test_surprise_nomem.c - each allocation of a surprise model fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "surprise_helpers.h"

#include "failing_alloc.h"

static const struct {
    const char *name;
    px_surprise_method method;
    px_surprise_filter filter;
    double sample, bandwidth;
    bool from_input, pseudo, neighbours;
    int threads;
} cases[] = {
    {"lsa", PX_LSA, PX_FILTER_CLASS, 1.0, 0.0, false, false, false, 1},
    {"lsa, top columns, half of the traces", PX_LSA, PX_FILTER_TOP, 0.5, 0.0, false, false, false,
     1},
    {"lsa, fixed kernel", PX_LSA, PX_FILTER_NONE, 1.0, 0.2, false, false, false, 1},
    {"dsa", PX_DSA, PX_FILTER_NONE, 1.0, 0.0, false, false, true, 1},
    {"dsa from the input", PX_DSA, PX_FILTER_GLOBAL, 1.0, 0.0, true, false, false, 1},
    {"dsa on two threads", PX_DSA, PX_FILTER_NONE, 1.0, 0.0, false, false, false, 2},
    {"mdsa", PX_MDSA, PX_FILTER_NONE, 1.0, 0.0, false, false, false, 1},
    {"mdsa by pseudo-inverse", PX_MDSA, PX_FILTER_NONE, 1.0, 0.0, false, true, false, 1},
    {"mlsa", PX_MLSA, PX_FILTER_NONE, 1.0, 0.0, false, false, false, 1},
    {"mmdsa", PX_MMDSA, PX_FILTER_NONE, 1.0, 0.0, false, false, false, 1},
    {"mmdsa on two threads", PX_MMDSA, PX_FILTER_NONE, 1.0, 0.0, false, true, false, 2},
};

/* Everything that a model does. */
static px_status use(size_t i, const sample *train, const px_rows *rows, double *scores,
                     px_error *err)
{
    px_surprise_options options = px_surprise_options_default(cases[i].method);
    options.filter = cases[i].filter;
    options.sample = cases[i].sample;
    options.bandwidth = cases[i].bandwidth;
    options.from_input = cases[i].from_input;
    options.pseudo = cases[i].pseudo;
    options.restarts = 2;
    options.most_clusters = 3;
    options.threads = cases[i].threads;
    const px_traces traces = traces_of(train);
    px_surprise *surprise = NULL;
    double lowest;
    px_status status = px_surprise_new(&traces, 3, &options, &surprise, err);
    if (status != PX_OK && surprise)
        fail_msg("case '%s': a model and an error", cases[i].name);
    if (status == PX_OK)
        status = px_surprise_score(surprise, rows, cases[i].threads, scores, err);
    if (status == PX_OK)
        status = px_surprise_lowest(surprise, cases[i].threads, &lowest, err);
    if (status == PX_OK && cases[i].neighbours) {
        int64_t nearest[64];
        double a[64], b[64];
        status = px_surprise_neighbours(surprise, rows, 1, nearest, a, b, err);
    }
    px_surprise_free(surprise);
    return status;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    sample train = random_sample(1, 60, 5, 3, 0, 1, 0), tests = random_sample(2, 20, 5, 3, 0, 1, 0);
    px_input_facts facts[20];
    for (int i = 0; i < 20; i++)
        facts[i] = (px_input_facts){.index = i, .label = -1, .predicted = (int)tests.predicted[i]};
    const px_rows rows = {.count = 20, .width = 5, .values = tests.values, .facts = facts};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        double want[20], got[20];
        px_error err = {0};
        if (use(i, &train, &rows, want, &err) != PX_OK)
            fail_msg("case '%s': %s", cases[i].name, err.message);
        bool failed = true;
        long k = 0;
        for (; failed; k++) {
            fail_at(k);
            const px_status status = use(i, &train, &rows, got, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("case '%s', allocation %ld: status %d, '%s'", cases[i].name, k,
                         (int)status, err.message);
        }
        if (k < 10 || memcmp(got, want, sizeof got) != 0)
            fail_msg("case '%s': other scores after %ld failures", cases[i].name, k);
    }
    sample_done(&train);
    sample_done(&tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
