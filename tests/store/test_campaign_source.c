/* tests/store/test_campaign_source.c - a campaign as a data set */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "store_helpers.h"

#include <internal/closeness.h>
#include <internal/store.h>
#include <pthread.h>

static int set_up(void **state)
{
    px_error err = {0};
    return enter_folder(state) == 0 && make_campaign("c", 60, &err) == PX_OK ? 0 : -1;
}

static void test_splits(void **state)
{
    (void)state;
    static const struct {
        const char *split;
        int64_t count;
        const char *first; /* id */
    } cases[] = {{NULL, 19, "6"},   {"faults", 19, "6"},    {"kept", 37, "5"},
                 {"seeds", 4, "1"}, {"generated", 56, "5"}, {"all", 60, "1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_error err = {0};
        px_dataset *set = NULL;
        px_data_options options = px_data_options_default();
        char name[32];
        options.split = cases[i].split;
        if (px_dataset_open("c", &options, &set, &err) != PX_OK)
            fail_msg("%s", err.message);
        assert_int_equal(px_dataset_count(set), cases[i].count);
        assert_string_equal(px_dataset_name(set, 0, name, sizeof name), cases[i].first);
        assert_true(px_dataset_is_8bit(set));
        assert_int_equal(px_dataset_class_count(set), 10);
        px_dataset_close(set);
    }
    px_error err = {0};
    px_dataset *set = NULL;
    px_data_options options = px_data_options_default();
    options.split = "train";
    assert_int_equal(px_dataset_open("c", &options, &set, &err), PX_E_USAGE);
    assert_string_equal(err.message, "'c' has no split 'train'; it has faults, close, kept, "
                                     "seeds, generated, all: choose one with --split");
}

/* The close ones are those that measuring one by one finds; here none was measured before. */
static void test_close(void **state)
{
    (void)state;
    px_error err = {0};
    px_dataset *set = NULL;
    px_campaign *campaign = NULL;
    px_data_options options = px_data_options_default();
    px_campaign_input in = {0};
    int64_t close = 0, others = 0;
    char name[32], id[32];
    options.split = "close";
    assert_int_equal(px_dataset_open("c", &options, &set, &err), PX_OK);
    assert_int_equal(px_campaign_open("c", PX_CAMPAIGN_READ, &campaign, &err), PX_OK);
    while (px_campaign_next(campaign, in.id, PX_INPUT_FAULT, &in, NULL, NULL, &err) == PX_OK &&
           in.id) {
        px_closeness near;
        assert_false(in.measured);
        assert_int_equal(px_campaign_measure(campaign, in.id, &near, &err), PX_OK);
        if (!px_is_close(&near)) {
            others++;
            continue;
        }
        snprintf(id, sizeof id, "%lld", (long long)in.id);
        assert_string_equal(px_dataset_name(set, close++, name, sizeof name), id);
    }
    assert_int_equal(px_dataset_count(set), close);
    assert_true(close > 0 && others > 0);
    assert_true(px_campaign_part_fails("c", NULL) && px_campaign_part_fails("c", "close"));
    assert_false(px_campaign_part_fails("c", "generated") || px_campaign_part_fails(".", NULL));
    px_campaign_close(campaign);
    px_dataset_close(set);
}

typedef struct reader {
    const px_dataset *set;
    px_campaign *campaign;
    bool good;
} reader;

static void *read_set(void *context)
{
    reader *r = context;
    px_error err = {0};
    float values[VALUES];
    r->good = true;
    for (int64_t round = 0; round < 5; round++)
        for (int64_t i = 0; i < px_dataset_count(r->set); i++) {
            uint8_t stored[VALUES];
            px_campaign_input in;
            r->good = r->good && px_dataset_pixels(r->set, i, values, &err) == PX_OK &&
                      px_campaign_read(r->campaign, i + 1, &in, stored, &err) == PX_OK &&
                      px_dataset_label(r->set, i) == in.label;
            for (int k = 0; r->good && k < VALUES; k++)
                r->good = values[k] == (float)stored[k];
        }
    return NULL;
}

/* Many threads read one set. */
static void test_threads(void **state)
{
    (void)state;
    px_error err = {0};
    px_dataset *set = NULL;
    px_data_options options = px_data_options_default();
    reader readers[4];
    pthread_t threads[4];
    options.split = "all";
    assert_int_equal(px_dataset_open("c", &options, &set, &err), PX_OK);
    for (int i = 0; i < 4; i++) {
        readers[i] = (reader){.set = set};
        assert_int_equal(px_campaign_open("c", PX_CAMPAIGN_READ, &readers[i].campaign, &err),
                         PX_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, read_set, &readers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(readers[i].good);
        px_campaign_close(readers[i].campaign);
    }
    px_dataset_close(set);
}

static void test_empty_split(void **state)
{
    (void)state;
    px_error err = {0};
    px_dataset *set = NULL;
    assert_int_equal(make_campaign("young", SEEDS, &err), PX_OK);
    assert_int_equal(px_dataset_open("young", NULL, &set, &err), PX_E_INPUT);
    assert_string_equal(err.message, "'young': has no inputs in 'faults'; choose another --split");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_empty_split),
    };
    return cmocka_run_group_tests(tests, set_up, leave_folder);
}
