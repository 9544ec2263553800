/* tests/select/test_baselines_nomem.c - each allocation of a baseline fails in turn
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_alloc.h"
#include "sel_helpers.h"

#include "base/memory.h"

#include <stdlib.h>

static const table train = {
    .count = 8,
    .rows =
        {{0, 0, 1}, {1, 0, 2}, {0, 1, 1}, {1, 1, 3}, {4, 4, 1}, {5, 4, 2}, {4, 5, 3}, {5, 5, 1}},
    .predicted = {0, 0, 0, 0, 1, 1, 1, 1}};
static const table rows = {.count = 4,
                           .rows = {{.5f, .3f, .2f}, {.4f, .4f, .2f}, {0, 0, 1}, {.2f, .7f, .1f}},
                           .predicted = {0, 0, 2, 1}};

static px_status select_rows(sel *s, px_error *err)
{
    double scores[MOST];
    int64_t order[MOST];
    px_status status = sel_prepare(s, err);
    if (status == PX_OK)
        status = sel_run(s, &rows, scores, order, err);
    sel_release(s);
    return status;
}

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        const char *id, *setting;
    } cases[] = {
        {"softmax", NULL},
        {"entropy", NULL},
        {"pcs", NULL},
        {"gini", NULL},
        {"internal-gini", NULL},
        {"nac", NULL},
        {"nac", "nac.rest=random"},
        {"kmnc", NULL},
        {"kmnc", "kmnc.elements=nbc"},
        {"dsa", NULL},
        {"lsa", "lsa.order=sc-cam"},
        {"mdsa", NULL},
        {"mlsa", NULL},
        {"mmdsa", NULL},
        {"ats", NULL},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        sel s;
        const char *const settings[] = {cases[i].setting, NULL};
        bool failed = true;
        long k = 0;
        sel_new(&s, cases[i].id, settings, 3, &train, rows.count, 3, false);
        for (; failed; k++) {
            px_error err = {0};
            fail_at(k);
            const px_status status = select_rows(&s, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("%s, allocation %ld: status %d, '%s'", cases[i].id, k, (int)status,
                         err.message);
        }
        assert_true(k > 1); /* one did fail */
        sel_done(&s);
    }
}

/* Selectors with passes or extractors of their own: every allocation at first, then fewer, since
 * planning alone makes thousands. */
static px_status select_whole(const char *id, const px_model *model, const small_data *data,
                              const px_profile *profile, px_error *err)
{
    static const char *const settings[] = {"mc-dropout.passes=2"};
    px_select_options options = px_select_options_default();
    px_select *select = NULL;
    options.selectors = id;
    options.settings = settings;
    options.setting_count = PX_LEN(settings);
    options.profile = profile;
    options.threads = 1;
    PX_TRY(px_select_new(model, data->set, &data->pre, &options, &select, err));
    const px_status status = px_select_run(select, NULL, NULL, err);
    px_select_free(select);
    return status;
}

static void test_whole(void **state)
{
    (void)state;
    static const char *const ids[] = {"mc-dropout", "npc", "wobble"};
    px_model *model = small_net(7, 2);
    small_data learned = small_digits(model, "train", 60, 0),
               data = small_digits(model, "test", 12, 0);
    px_profile *profile = profile_make(model, "snpc", &learned, 1);
    for (size_t i = 0; i < PX_LEN(ids); i++) {
        bool failed = true;
        for (long k = 0; failed; k += 1 + k / 60) {
            px_error err = {0};
            fail_at(k);
            const px_status status = select_whole(ids[i], model, &data, profile, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("%s, allocation %ld: status %d, '%s'", ids[i], k, (int)status,
                         err.message);
        }
    }
    px_profile_free(profile);
    small_close(&learned);
    small_close(&data);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
