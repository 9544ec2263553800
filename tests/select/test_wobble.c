/* tests/select/test_wobble.c - moved pictures, doubt about a class, and the selector beside a loop
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "base/memory.h"
#include "select/wobble.h"

#include <internal/engine.h>
#include <internal/mutate.h>
#include <math.h>
#include <plexor/select.h>
#include <stdlib.h>
#include <string.h>

static void test_move(void **state)
{
    (void)state;
    static const float in[] = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
    static const struct {
        int right, down;
        float out[12];
    } cases[] = {
        {0, 0, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60}},
        {1, 0, {1, 1, 2, 4, 4, 5, 10, 10, 20, 40, 40, 50}},
        {-1, 0, {2, 3, 3, 5, 6, 6, 20, 30, 30, 50, 60, 60}},
        {0, 1, {1, 2, 3, 1, 2, 3, 10, 20, 30, 10, 20, 30}},
        {0, -1, {4, 5, 6, 4, 5, 6, 40, 50, 60, 40, 50, 60}},
        {64, -64, {4, 4, 4, 4, 4, 4, 40, 40, 40, 40, 40, 40}}, /* beyond the picture */
    };
    const px_shape shape = {.rank = 3, .dim = {2, 2, 3}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        float out[12];
        pxi_wobble_move(&shape, cases[i].right, cases[i].down, in, out);
        if (memcmp(out, cases[i].out, sizeof out) != 0)
            fail_msg("moved by (%d,%d): wrong", cases[i].right, cases[i].down);
    }
}

static void test_doubt(void **state)
{
    (void)state;
    assert_true(fabs(pxi_wobble_doubt((double[]){0.5, 0.3, 0.2}, 3, 0) - 0.5) < 1e-15);
    assert_true(fabs(pxi_wobble_doubt((double[]){0.5, 0.3, 0.2}, 3, 2) - 0.8) < 1e-15);
    assert_true(pxi_wobble_doubt((double[]){1.0, 1e-30}, 2, 0) == 1e-30); /* not 1 - 1 */
    assert_true(isnan(pxi_wobble_doubt((double[]){NAN, 0.5}, 2, 0)));
    assert_true(isnan(pxi_wobble_doubt((double[]){0.5, NAN}, 2, 0)));
}

/* --- the selector ---------------------------------------------------------------------------- */

enum { CANDIDATES = 90, CLASSES = 10 };

/* Ranks all candidates; scores, classes and confidences by index. */
static void run(const px_model *model, const small_data *data, const char *setting, int threads,
                int64_t batch, px_ranked *by_index)
{
    px_select_options options = px_select_options_default();
    px_select *select = NULL;
    px_error err = {0};
    options.selectors = "wobble";
    options.settings = &setting;
    options.setting_count = 1;
    options.threads = threads;
    options.batch = batch;
    if (px_select_new(model, data->set, &data->pre, &options, &select, &err) != PX_OK ||
        px_select_run(select, NULL, NULL, &err) != PX_OK)
        fail_msg("%s", err.message);
    int64_t count = 0;
    const px_ranked *ranked = px_select_ranked(select, 0, &count);
    assert_int_equal(count, CANDIDATES);
    for (int64_t i = 0; i < count; i++)
        by_index[ranked[i].index] = ranked[i];
    px_select_free(select);
}

/* Probabilities of one picture, made by the mutations of the library and a batch of its own. */
static void answer(const small_data *data, px_session *session, const px_scores *scores,
                   int64_t index, const char *mutation, double *p)
{
    const px_shape shape = px_dataset_shape(data->set);
    float *input = px_session_input(session, 0), row[CLASSES];
    px_drawn drawn;
    px_error err = {0};
    if (px_dataset_pixels(data->set, index, input, &err) != PX_OK ||
        px_drawn_parse(mutation, &drawn, &err) != PX_OK ||
        px_mutation_apply_values(&drawn, &shape, !px_dataset_is_8bit(data->set), input, input,
                                 &err) != PX_OK ||
        px_preprocess_apply(&data->pre, &shape, input, &err) != PX_OK ||
        px_session_forward(session, &err) != PX_OK ||
        px_session_read(session, scores->value, 1, row, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_scores_probabilities(scores, row, p);
}

static void test_beside_a_loop(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *mutations[4];
    } cases[] = {
        {"wobble.by=1",
         {"shift x=0.03571428571428571 y=0", "shift x=-0.03571428571428571 y=0",
          "shift x=0 y=0.03571428571428571", "shift x=0 y=-0.03571428571428571"}},
        {"wobble.by=7",
         {"shift x=0.25 y=0", "shift x=-0.25 y=0", "shift x=0 y=0.25", "shift x=0 y=-0.25"}},
    };
    px_model *model = small_net(7, 4);
    small_data data = small_digits(model, "test", CANDIDATES, 0);
    px_scores scores;
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_error err = {0};
    assert_int_equal(px_model_scores(model, &scores, &err), PX_OK);
    px_plan_options options = px_plan_options_default();
    options.batch = 1;
    options.keep = &scores.value;
    options.keep_count = 1;
    if (px_plan_new(model, &options, &plan, &err) != PX_OK ||
        px_session_new(plan, &session, &err) != PX_OK)
        fail_msg("%s", err.message);
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_ranked got[CANDIDATES];
        run(model, &data, cases[k].setting, 2, 0, got);
        for (int64_t i = 0; i < CANDIDATES; i++) {
            double p[CLASSES], mean;
            int class = 0;
            answer(&data, session, &scores, i, "shift x=0 y=0", p);
            for (int c = 1; c < scores.classes; c++)
                if (p[c] > p[class])
                    class = c;
            mean = p[class] / 5;
            assert_int_equal(got[i].predicted, class);
            assert_true(fabs((double)got[i].confidence - p[class]) < 1e-5);
            for (int m = 0; m < 4; m++) {
                answer(&data, session, &scores, i, cases[k].mutations[m], p);
                mean += p[class] / 5;
            }
            if (!(fabs(got[i].score - (1 - mean)) < 1e-5))
                fail_msg("%s, candidate %d: %g, expected %g", cases[k].setting, (int)i,
                         got[i].score, 1 - mean);
        }
    }
    px_session_free(session);
    px_plan_free(plan);
    small_close(&data);
    px_model_free(model);
}

/* To the bit, also where the views of a picture lie in two batches. */
static void test_threads(void **state)
{
    (void)state;
    static const int64_t batches[] = {0, 1, 3, 8};
    px_model *model = small_net(7, 4);
    small_data data = small_digits(model, "test", CANDIDATES, 0);
    for (size_t b = 0; b < PX_LEN(batches); b++) {
        px_ranked one[CANDIDATES], many[CANDIDATES], chosen[CANDIDATES];
        run(model, &data, "wobble.by=1", 1, batches[b], one);
        run(model, &data, "wobble.by=1", 3, batches[b], many);
        run(model, &data, "wobble.by=1", 1, 0, chosen);
        for (int64_t i = 0; i < CANDIDATES; i++) {
            if (one[i].score != many[i].score || one[i].predicted != many[i].predicted)
                fail_msg("batch %d, candidate %d depends on threads", (int)batches[b], (int)i);
            assert_true(fabs(one[i].score - chosen[i].score) < 1e-5);
        }
    }
    small_close(&data);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_move),
        cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_beside_a_loop),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
