/* tests/store/test_error_counts.c - #Test errors, #Error categories, E_any and E_pol by hand */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "store_helpers.h"

#include <internal/store.h>
#include <math.h>

#define OK(call)                                    \
    do {                                            \
        if ((call) != PX_OK)                        \
            fail_msg("%s: %s", #call, err.message); \
    } while (0)

enum { EXAMPLES = 5 };

typedef struct seed_case { /* answers of its examples in their order; -2: there are no more */
    int label;
    int answers[EXAMPLES];
} seed_case;

static const struct {
    const char *name;
    int64_t polluted_class;
    seed_case seeds[4];
    px_error_counts want;
} cases[] = {
    {"nothing found", -1, {{3, {-2}}, {1, {-2}}}, {.seeds = 2, .polluted_class = -1}},
    {"every example is right",
     0,
     {{3, {3, 3, -2}}},
     {.seeds = 1, .examples = 2, .last_examples = 1, .polluted_class = 0}},
    {"one answer again and again is one category",
     -1,
     {{3, {5, 5, 5, 5, 5}}},
     {.seeds = 1,
      .examples = 5,
      .errors = 5,
      .categories = 1,
      .categories_per_seed = 1,
      .polluted_class = -1,
      .last_examples = 1,
      .last_errors = 1}},
    {"the same answer to two seeds is two categories; the last example counts once more",
     1,
     {{3, {3, 5, 1, 1, 5}}, {2, {2, 5, 1, -2}}, {1, {7, 1, -2}}, {4, {-2}}},
     {.seeds = 4,
      .examples = 10,
      .errors = 7,
      .categories = 5,
      .categories_per_seed = 1.25,
      .polluted_class = 1,
      .polluted = 3,
      .last_examples = 3,
      .last_errors = 2,
      .last_polluted = 1}},
    {"an answer that is no number is an error without a category",
     -1,
     {{3, {-1, 4, -1, -2}}},
     {.seeds = 1,
      .examples = 3,
      .errors = 3,
      .categories = 1,
      .categories_per_seed = 1,
      .polluted_class = -1,
      .last_examples = 1,
      .last_errors = 1}},
};

static px_error_counts counted(size_t at, int64_t polluted_class, bool told)
{
    px_error err = {0};
    px_campaign *c = NULL;
    px_error_counts got;
    const uint8_t pixels[VALUES] = {0};
    char folder[64];
    int64_t ids[4] = {0};
    snprintf(folder, sizeof folder, "errors%zu%s", at, told ? "told" : "");
    OK(px_campaign_open(folder, PX_CAMPAIGN_CREATE, &c, &err));
    const px_campaign_identity identity = sample_identity();
    OK(px_campaign_identify(c, &identity, &err));
    const seed_case *seeds = cases[at].seeds;
    for (int64_t s = 0; s < cases[at].want.seeds; s++)
        OK(px_campaign_put(c,
                           &(px_campaign_input){.kind = PX_INPUT_SEED,
                                                .label = seeds[s].label,
                                                .prediction = seeds[s].label},
                           pixels, &ids[s], &err));
    for (int e = 0; e < EXAMPLES; e++) /* seeds take turns, as swarms side by side do */
        for (int64_t s = 0; s < cases[at].want.seeds; s++) {
            bool more = true;
            for (int i = 0; i <= e; i++)
                more = more && seeds[s].answers[i] != -2;
            const int answer = seeds[s].answers[e];
            if (!more)
                continue;
            OK(px_campaign_put(c,
                               &(px_campaign_input){.kind = answer == seeds[s].label
                                                                ? PX_INPUT_KEPT
                                                                : PX_INPUT_FAULT,
                                                    .parent = ids[s],
                                                    .root = ids[s],
                                                    .label = seeds[s].label,
                                                    .prediction = answer},
                               pixels, NULL, &err));
        }
    if (polluted_class >= 0 && !told)
        OK(px_campaign_set_int(c, PX_CAMPAIGN_POLLUTED_CLASS, polluted_class, &err));
    OK(px_campaign_commit(c, &err));
    OK(px_campaign_count_errors(c, told ? polluted_class : -1, &got, &err));
    px_campaign_close(c);
    return got;
}

static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int told = 0; told < 2; told++) {
            px_error_counts want = cases[i].want;
            want.place_categories = -1; /* no example tells */
            want.l2 = want.linf = want.errors ? 0.0 : (double)NAN;
            want.similarity = (double)NAN; /* not measured */
            const px_error_counts got = counted(i, cases[i].polluted_class, told);
            if (memcmp(&got, &want, sizeof got) != 0)
                fail_msg("case '%s': %d seeds, %d examples, %d errors, %d categories (%g), %d and "
                         "%d polluted, %d last, %d of them wrong",
                         cases[i].name, (int)got.seeds, (int)got.examples, (int)got.errors,
                         (int)got.categories, got.categories_per_seed, (int)got.polluted,
                         (int)got.last_polluted, (int)got.last_examples, (int)got.last_errors);
        }
}

/* Classes of all places, whatever their examples were taken for, and how far errors are. */
static void test_places_and_changes(void **state)
{
    (void)state;
    static const struct {
        int64_t root, label, prediction;
        double l2;
        const char *chain;
    } examples[] = {
        {1, 3, 5, 2.0, "{\"engine\":\"deepsensor\",\"iteration\":1,\"wrong\":[5,7]}"},
        {2, 4, 4, 9.0, "{\"engine\":\"deepsensor\",\"iteration\":1,\"wrong\":[]}"},
        {1, 3, 5, 4.0, "{\"engine\":\"deepsensor\",\"iteration\":2,\"wrong\":[7,0,7]}"},
        {2, 4, 6, 6.0, "{\"engine\":\"deepsensor\",\"iteration\":2,\"wrong\":[5,-1,1e300,null]}"},
        {2, 4, 4, 1.0, "{\"engine\":\"deepsensor\",\"wrong\":[1,2"}, /* damaged */
        {2, 4, 4, 1.0, "{\"engine\":\"dlfuzz\",\"wrong\":[1,2]}"},   /* another's */
    };
    px_error err = {0};
    px_campaign *c = NULL;
    px_error_counts got;
    const uint8_t pixels[VALUES] = {0};
    OK(px_campaign_open("places", PX_CAMPAIGN_CREATE, &c, &err));
    const px_campaign_identity identity = sample_identity();
    OK(px_campaign_identify(c, &identity, &err));
    for (int64_t label = 3; label < 5; label++)
        OK(px_campaign_put(
            c, &(px_campaign_input){.kind = PX_INPUT_SEED, .label = label, .prediction = label},
            pixels, NULL, &err));
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const bool fault = examples[i].prediction != examples[i].label;
        OK(px_campaign_put(
            c,
            &(px_campaign_input){.kind = fault ? PX_INPUT_FAULT : PX_INPUT_KEPT,
                                 .parent = examples[i].root,
                                 .root = examples[i].root,
                                 .label = examples[i].label,
                                 .prediction = examples[i].prediction,
                                 .l2 = examples[i].l2,
                                 .linf = 0.5,
                                 .chain = examples[i].chain,
                                 .measured = fault && i != 3,
                                 .near = {.similarity = i == 0 ? 0.25 : 0.75, .inside = 1.0}},
            pixels, NULL, &err));
    }
    OK(px_campaign_commit(c, &err));
    OK(px_campaign_count_errors(c, -1, &got, &err));
    assert_int_equal(got.categories, 2);
    assert_int_equal(got.place_categories, 3 + 1); /* 5 7 0, and 5 */
    assert_true(fabs(got.l2 - 4.0) < 1e-12 && fabs(got.linf - 0.5) < 1e-12);
    assert_true(fabs(got.similarity - 0.5) < 1e-12); /* of those that were measured */
    px_campaign_close(c);
}

static void test_what_was_not_stored(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign *c = NULL;
    px_error_counts got;
    OK(px_campaign_open("unstored", PX_CAMPAIGN_CREATE, &c, &err));
    OK(px_campaign_count_errors(c, -1, &got, &err)); /* nothing at all */
    assert_true(got.seeds == 0 && got.examples == 0 && isnan(got.categories_per_seed));
    OK(px_campaign_set_int(c, "faults_not_stored", 17, &err));
    OK(px_campaign_set(c, PX_CAMPAIGN_POLLUTED_CLASS, "bird", &err)); /* whoever wrote that */
    OK(px_campaign_count_errors(c, -1, &got, &err));
    assert_int_equal(got.not_stored, 17);
    assert_int_equal(got.polluted_class, -1);
    px_campaign_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_places_and_changes),
        cmocka_unit_test(test_what_was_not_stored),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
