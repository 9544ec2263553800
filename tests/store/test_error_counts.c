/* tests/store/test_error_counts.c - #Test errors, #Error categories, E_any and E_pol by hand */
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
            const px_error_counts want = cases[i].want;
            const px_error_counts got = counted(i, cases[i].polluted_class, told);
            if (memcmp(&got, &want, sizeof got) != 0)
                fail_msg("case '%s': %d seeds, %d examples, %d errors, %d categories (%g), %d and "
                         "%d polluted, %d last, %d of them wrong",
                         cases[i].name, (int)got.seeds, (int)got.examples, (int)got.errors,
                         (int)got.categories, got.categories_per_seed, (int)got.polluted,
                         (int)got.last_polluted, (int)got.last_examples, (int)got.last_errors);
        }
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
        cmocka_unit_test(test_what_was_not_stored),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
