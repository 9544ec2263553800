/* tests/check/test_check_stages.c - the results of every stage beside what they must be
 *
 * One examination of a small network; numbers are worked out again from what is stored, by other
 * ways than the stages go.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check_helpers.h"

#include <internal/check.h>
#include <internal/fault_curve.h>
#include <internal/store.h>
#include <math.h>
#include <plexor/cover.h>
#include <plexor/localize.h>
#include <plexor/predict.h>
#include <plexor/select.h>
#include <stdlib.h>
#include <string.h>

static px_check *examined;
static char folder[512];

static int group_open(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", check_folder_make());
    const px_check_options o = check_options(folder);
    examined = check_examined(&o);
    return 0;
}

static int group_close(void **state)
{
    (void)state;
    px_check_free(examined);
    check_folder_remove(folder);
    return 0;
}

static void test_all_ran(void **state)
{
    (void)state;
    for (size_t i = 0; i < px_check_stage_count(); i++) {
        const char *id = px_check_stage_get(i)->entry.id;
        if (px_check_state_of(examined, i) != PX_CHECK_DONE)
            fail_msg("'%s' is %s", id, px_check_state_name(px_check_state_of(examined, i)));
    }
    assert_int_equal(px_check_verdict(examined), PX_VERDICT_NONE);
    assert_non_null(px_check_page(examined));
}

/* --- eval ------------------------------------------------------------------------------------ */

static void test_eval_is_that_of_predictions(void **state)
{
    (void)state;
    px_predictions said = {0};
    int64_t correct = 0;
    double loss = 0.0;
    px_error err = {0};
    assert_int_equal(px_predict(examined->model, examined->set, &examined->pre, NULL, &said, &err),
                     PX_OK);
    for (int i = 0; i < CHECK_LIMIT; i++) {
        assert_int_equal(said.predicted[i], examined->predictions[i]);
        correct += said.predicted[i] == px_dataset_label(examined->set, i);
        loss += said.loss[i] / CHECK_LIMIT;
    }
    px_predictions_done(&said);
    assert_int_equal((int64_t)check_number(examined, "eval", "correct"), correct);
    assert_true(check_number(examined, "eval", "accuracy") == (double)correct / CHECK_LIMIT);
    assert_true(fabs(check_number(examined, "eval", "loss") - loss) < 1e-9);
}

static void test_eval_counts_add_up(void **state)
{
    (void)state;
    const px_json_value *classes = check_list(examined, "eval", "per_class");
    const px_json_value *cells = check_list(examined, "eval", "confusion");
    const px_json_value *bins = check_list(examined, "eval", "calibration.bins");
    double count = 0.0, correct = 0.0, predicted = 0.0, diagonal = 0.0, all = 0.0, binned = 0.0,
           ece = 0.0, worst = 2.0;
    for (size_t i = 0; i < classes->count; i++) {
        count += pxi_json_number(&classes->items[i], "count");
        correct += pxi_json_number(&classes->items[i], "correct");
        predicted += pxi_json_number(&classes->items[i], "predicted");
        worst = fmin(worst, pxi_json_number(&classes->items[i], "accuracy"));
    }
    for (size_t i = 0; i < cells->count; i++) {
        const px_json_value *cell = cells->items[i].items;
        all += cell[2].number;
        diagonal += cell[0].number == cell[1].number ? cell[2].number : 0.0;
    }
    for (size_t i = 0; i < bins->count; i++) {
        const double n = pxi_json_number(&bins->items[i], "count");
        binned += n;
        if (n > 0.0)
            ece += n * fabs(pxi_json_number(&bins->items[i], "confidence") -
                            pxi_json_number(&bins->items[i], "accuracy"));
    }
    assert_true(count == CHECK_LIMIT && predicted == CHECK_LIMIT && all == CHECK_LIMIT);
    assert_true(binned == CHECK_LIMIT);
    assert_true(correct == diagonal && correct == check_number(examined, "eval", "correct"));
    assert_true(worst == check_number(examined, "eval", "worst.accuracy"));
    assert_true(fabs(ece / CHECK_LIMIT - check_number(examined, "eval", "calibration.ece")) <
                1e-12);
    const px_json_value *interval = check_list(examined, "eval", "interval");
    const double accuracy = check_number(examined, "eval", "accuracy");
    assert_true(interval->items[0].number < accuracy && accuracy < interval->items[1].number);
}

/* --- cover ----------------------------------------------------------------------------------- */

static void test_cover_is_that_of_a_run(void **state)
{
    (void)state;
    px_cover_options o = px_cover_options_default();
    px_cover_run_options run = px_cover_run_options_default();
    px_cover *cover = NULL;
    px_error err = {0};
    o.criteria = "nc";
    o.threads = 1;
    assert_int_equal(px_cover_new(examined->model, &examined->shape, &o, &cover, &err), PX_OK);
    assert_int_equal(px_cover_run(cover, examined->set, &examined->pre, &run, NULL, &err), PX_OK);
    assert_true(px_cover_value(cover, 0).value == check_number(examined, "cover", "values.nc"));
    px_cover_free(cover);
    const px_json_value *criteria = check_list(examined, "cover", "criteria");
    assert_int_equal(criteria->count, 7);
    for (size_t i = 0; i < criteria->count; i++)
        assert_non_null(pxi_json_words(&criteria->items[i], "definition"));
    const px_json_value *growth = check_list(examined, "cover", "growth");
    const double last = growth->items[0].items[growth->items[0].count - 1].number;
    assert_true(last == check_number(examined, "cover", "values.nc"));
}

/* --- select, localize ------------------------------------------------------------------------ */

static void test_select_finds_faults_in_order(void **state)
{
    (void)state;
    const px_json_value *rows = check_list(examined, "select", "selectors");
    const px_json_value *top = check_list(examined, "select", "top");
    const double wrong = check_number(examined, "eval", "wrong");
    assert_int_equal(pxi_json_int(px_check_result(examined, "select"), "budget", 0),
                     px_percent_count(5.0, CHECK_LIMIT));
    assert_true(check_number(examined, "select", "faults") == wrong);
    for (size_t i = 1; i < top->count; i++)
        assert_true(pxi_json_number(&top->items[i - 1], "score") >=
                    pxi_json_number(&top->items[i], "score"));
    for (size_t s = 0; s < rows->count; s++) {
        const px_json_value *found = px_json_member(&rows->items[s], "found");
        assert_true(found->items[0].number == 0.0);
        assert_true(found->items[found->count - 1].number == wrong);
        for (size_t i = 1; i < found->count; i++)
            assert_true(found->items[i - 1].number <= found->items[i].number);
    }
}

static void test_localize_counts_every_input(void **state)
{
    (void)state;
    static const char *const lists[] = {"neurons", "by_class"};
    static const char *const counts[] = {"as", "af", "ns", "nf"};
    for (size_t l = 0; l < PX_LEN(lists); l++) {
        const px_json_value *list = check_list(examined, "localize", lists[l]);
        assert_true(list->count > 0);
        for (size_t i = 0; i < list->count; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < PX_LEN(counts); k++)
                sum += pxi_json_number(&list->items[i], counts[k]);
            if (l == 0 ? sum != CHECK_LIMIT : !(sum > 0.0 && sum < CHECK_LIMIT))
                fail_msg("%s %d: %g inputs", lists[l], (int)i, sum);
        }
    }
    assert_true(check_number(examined, "localize", "failed") ==
                check_number(examined, "eval", "wrong"));
}

/* --- failures -------------------------------------------------------------------------------- */

static px_campaign *campaign_open(const char *name)
{
    char path[600];
    px_campaign *campaign = NULL;
    px_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (px_campaign_open(path, PX_CAMPAIGN_READ, &campaign, &err) != PX_OK)
        fail_msg("%s", err.message);
    if (px_campaign_check(campaign, &err) != PX_OK)
        fail_msg("%s", err.message);
    return campaign;
}

static void test_failures_are_stored(void **state)
{
    (void)state;
    static const struct {
        const char *stage, *faults;
    } all[] = {{"synthesize", "faults"}, {"attack", "faults"}, {"fuzz", "unique_faults"}};
    double sum = 0.0;
    for (size_t i = 0; i < PX_LEN(all); i++) {
        px_campaign_counts counts;
        px_error err = {0};
        px_campaign *campaign = campaign_open(all[i].stage);
        assert_int_equal(px_campaign_count(campaign, &counts, &err), PX_OK);
        const double said = check_number(examined, all[i].stage, all[i].faults);
        if ((double)counts.unique_faults != said)
            fail_msg("'%s' says %g, the campaign has %d", all[i].stage, said,
                     (int)counts.unique_faults);
        sum += said;
        px_campaign_close(campaign);
    }
    assert_true(sum > 0.0 && check_number(examined, "assess", "faults") == sum);
}

static void test_gathered_failures_replay(void **state)
{
    (void)state;
    px_campaign *campaign = campaign_open("campaign");
    px_campaign_input in = {.id = 0};
    px_error err = {0};
    int64_t faults = 0;
    for (int64_t after = 0;; after = in.id) {
        px_replayed replayed = PX_REPLAY_DIFFERS;
        assert_int_equal(px_campaign_next(campaign, after, PX_INPUT_FAULT, &in, NULL, NULL, &err),
                         PX_OK);
        if (!in.id)
            break;
        const int64_t id = in.id;
        assert_true(in.label != in.prediction && in.root > 0 && in.twin == 0);
        const bool fuzzed = strcmp(pxi_finding_method(in.chain), "fuzz") == 0;
        assert_int_equal(px_campaign_replay(campaign, id, NULL, &replayed, &err), PX_OK);
        assert_int_equal(replayed, fuzzed ? PX_REPLAY_SAME : PX_REPLAY_STORED);
        faults++;
        in.id = id;
    }
    assert_int_equal(faults, (int64_t)check_number(examined, "assess", "faults"));
    px_campaign_close(campaign);
}

static void test_attack_stays_within_its_bound(void **state)
{
    (void)state;
    const double eps = check_number(examined, "attack", "eps");
    const double right = check_number(examined, "attack", "right");
    px_campaign *campaign = campaign_open("attack");
    px_campaign_input in = {.id = 0};
    px_error err = {0};
    for (int64_t after = 0;; after = in.id) {
        assert_int_equal(px_campaign_next(campaign, after, PX_INPUT_FAULT | PX_INPUT_KEPT, &in,
                                          NULL, NULL, &err),
                         PX_OK);
        if (!in.id)
            break;
        assert_true(in.linf <= eps + 1e-9);
    }
    px_campaign_close(campaign);
    assert_true(fabs(check_number(examined, "attack", "robust_accuracy") -
                     (right - check_number(examined, "attack", "faults")) /
                         check_number(examined, "attack", "count")) < 1e-12);
}

static void test_assess_measures_each_way(void **state)
{
    (void)state;
    const px_json_value *sets = check_list(examined, "assess", "sets");
    double pairs = 0.0;
    for (size_t s = 0; s < sets->count; s++) {
        const px_json_value *values = px_json_member(&sets->items[s], "values");
        assert_true(values->count >= 8);
        pairs += pxi_json_number(&sets->items[s], "pairs");
        /* all of them are misclassified: that is what was chosen */
        assert_true(pxi_json_number(&values->items[0], "n") ==
                    pxi_json_number(&sets->items[s], "pairs"));
    }
    assert_true(pairs > 0.0 && pairs <= check_number(examined, "assess", "faults"));
}

/* --- describe, cluster ----------------------------------------------------------------------- */

static void test_describe_is_what_excites_most(void **state)
{
    (void)state;
    const px_json_value *list = check_list(examined, "describe", "neurons");
    assert_true(list->count > 0);
    assert_string_equal(pxi_json_words(px_check_result(examined, "describe"), "describer"),
                        "dissect");
    for (size_t i = 0; i < list->count; i++) {
        const px_json_value *top = px_json_member(&list->items[i], "top");
        assert_non_null(px_json_member(&list->items[i], "labels")); /* words, where one is enough */
        for (size_t k = 0; k < top->count; k++) {
            const int64_t input = pxi_json_int(&top->items[k], "input", -1);
            assert_in_range(input, 0, CHECK_LIMIT - 1);
            if (k > 0)
                assert_true(pxi_json_number(&top->items[k - 1], "value") >=
                            pxi_json_number(&top->items[k], "value"));
        }
    }
}

static void test_clusters_have_all_failures(void **state)
{
    (void)state;
    const px_json_value *clusters = check_list(examined, "cluster", "clusters");
    const px_json_value *points = check_list(examined, "cluster", "points");
    double sum = 0.0, before = INFINITY;
    size_t failures = 0;
    for (size_t i = 0; i < clusters->count; i++) {
        const double count = pxi_json_number(&clusters->items[i], "count");
        assert_true(count > 0.0 && count <= before); /* larger ones first */
        before = count;
        sum += count;
    }
    for (size_t i = 0; i < points->count; i++) {
        const px_json_value *row = points->items[i].items;
        const bool right = strcmp(row[0].string, "right") == 0;
        failures += !right;
        assert_true(right ? row[2].number == -1.0
                          : row[2].number >= 0.0 && row[2].number < (double)clusters->count);
        assert_true(right == (row[3].number == row[4].number)); /* label and prediction */
    }
    assert_true(sum == (double)failures && sum == check_number(examined, "cluster", "failures"));
    assert_true((double)clusters->count == check_number(examined, "cluster", "k"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ran),
        cmocka_unit_test(test_eval_is_that_of_predictions),
        cmocka_unit_test(test_eval_counts_add_up),
        cmocka_unit_test(test_cover_is_that_of_a_run),
        cmocka_unit_test(test_select_finds_faults_in_order),
        cmocka_unit_test(test_localize_counts_every_input),
        cmocka_unit_test(test_failures_are_stored),
        cmocka_unit_test(test_gathered_failures_replay),
        cmocka_unit_test(test_attack_stays_within_its_bound),
        cmocka_unit_test(test_assess_measures_each_way),
        cmocka_unit_test(test_describe_is_what_excites_most),
        cmocka_unit_test(test_clusters_have_all_failures),
    };
    return cmocka_run_group_tests(tests, group_open, group_close);
}
