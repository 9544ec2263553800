/* tests/cover/test_cover_run.c - the driver: threads, shards, order, curves, gain, for every
 * criterion that is in the table */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "base/memory.h"
#include <internal/row_reader.h>

#include <internal/cover.h>
#include <internal/data.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 1900, TRAIN = 600 }; /* seven blocks and a bit */

typedef struct fixture {
    px_model *model;
    small_data train, test;
    px_profile *profile;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.model = small_net(7, 4);
    f.train = small_digits(f.model, "train", TRAIN, 0);
    f.test = small_digits(f.model, "test", INPUTS, 0);
    f.profile = profile_make(f.model, "all", &f.train, 2);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_profile_free(f->profile);
    small_close(&f->train);
    small_close(&f->test);
    px_model_free(f->model);
    return 0;
}

static void save(const px_cover *cover, const char *path)
{
    px_error err = {0};
    if (px_cover_save(cover, path, &err) != PX_OK)
        fail_msg("%s", err.message);
}

static void test_threads(void **state)
{
    const fixture *f = *state;
    char one[TEST_PATH], other[TEST_PATH];
    static const int threads[] = {1, 2, 3, 5};
    for (size_t i = 0; i < PX_LEN(threads); i++) {
        px_cover *cover = cover_make(f->model, "all", f->profile, threads[i]);
        cover_observe(cover, &f->test, 0, 1);
        for (size_t c = 0; c < px_cover_count(cover); c++)
            assert_int_equal(px_cover_observed(cover, c), INPUTS);
        save(cover, test_path(i ? "other.state" : "one.state", i ? other : one));
        px_cover_free(cover);
        if (i > 0)
            assert_same_file(one, other, "threads");
    }
}

/* Seven files of shards, opened without the network and merged in an odd order. */
static void test_shards(void **state)
{
    enum { SHARDS = 7 };
    const fixture *f = *state;
    char whole[TEST_PATH], merged[TEST_PATH], part[TEST_PATH], name[32];
    const char *criteria = criteria_list(false);
    px_error err = {0};
    px_cover *cover = cover_make(f->model, criteria, f->profile, 2);
    cover_observe(cover, &f->test, 0, 1);
    save(cover, test_path("whole.state", whole));
    px_cover *sum = NULL;
    for (int i = 0; i < SHARDS; i++) {
        const int shard = i * 3 % SHARDS;
        px_cover *piece = cover_make(f->model, criteria, f->profile, 1 + i % 2);
        cover_observe(piece, &f->test, shard, SHARDS);
        snprintf(name, sizeof name, "part%d.state", shard);
        save(piece, test_path(name, part));
        px_cover_free(piece);
        if (px_cover_open(part, &piece, &err) != PX_OK)
            fail_msg("%s", err.message);
        if (!sum) {
            sum = piece;
            continue;
        }
        if (px_cover_merge(sum, piece, &err) != PX_OK)
            fail_msg("%s", err.message);
        px_cover_free(piece);
    }
    save(sum, test_path("merged.state", merged));
    assert_same_file(whole, merged, "shards");
    for (size_t i = 0; i < px_cover_count(sum); i++) {
        const px_coverage a = px_cover_value(cover, i), b = px_cover_value(sum, i);
        if (a.value != b.value || a.covered != b.covered || a.total != b.total)
            fail_msg("'%s': %g (%lld of %lld) after merging, %g (%lld of %lld) in one go",
                     px_cover_criterion(sum, i)->entry.id, b.value, (long long)b.covered,
                     (long long)b.total, a.value, (long long)a.covered, (long long)a.total);
    }
    px_cover_free(sum);
    px_cover_free(cover);
}

static void test_shuffled(void **state)
{
    const fixture *f = *state;
    small_data all = small_digits(f->model, "test", 0, 0), shuffled;
    shuffled = small_digits(f->model, "test", 0, 5);
    px_cover *a = cover_make(f->model, criteria_list(false), f->profile, 2),
             *b = cover_make(f->model, criteria_list(false), f->profile, 2);
    cover_observe(a, &all, 0, 4); /* the same inputs need whole sets: a quarter is too few */
    cover_observe(a, &all, 1, 4);
    cover_observe(a, &all, 2, 4);
    cover_observe(a, &all, 3, 4);
    cover_observe(b, &shuffled, 0, 1);
    for (size_t i = 0; i < px_cover_count(a); i++) {
        const px_coverage x = px_cover_value(a, i), y = px_cover_value(b, i);
        if (x.covered != y.covered || x.total != y.total ||
            fabs(x.value - y.value) > 1e-9 * fabs(x.value))
            fail_msg("'%s': %.17g, shuffled %.17g", px_cover_criterion(a, i)->entry.id, x.value,
                     y.value);
    }
    px_cover_free(a);
    px_cover_free(b);
    small_close(&all);
    small_close(&shuffled);
}

static void test_seen_twice(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_cover *cover = cover_make(f->model, "nc", NULL, 1), *other;
    other = cover_make(f->model, "nc", NULL, 1);
    px_cover_run_options run = px_cover_run_options_default();
    cover_observe(cover, &f->test, 0, 2);
    assert_int_equal(px_cover_run(cover, f->test.set, &f->test.pre, &run, NULL, &err),
                     PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "counted twice"));
    cover_observe(cover, &f->test, 1, 2);
    cover_observe(other, &f->test, 6, 7);
    assert_int_equal(px_cover_merge(cover, other, &err), PX_E_MISMATCH);
    px_cover_free(cover);
    px_cover_free(other);
}

static void test_curve(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_cover *cover = cover_make(f->model, "all", f->profile, 2),
             *plain = cover_make(f->model, "all", f->profile, 2);
    px_cover_run_options run = px_cover_run_options_default();
    px_cover_tally tally;
    run.curve_points = 4;
    if (px_cover_run(cover, f->test.set, &f->test.pre, &run, &tally, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tally.inputs, INPUTS);
    assert_int_equal(tally.labelled, INPUTS);
    assert_in_range(tally.wrong, 1, INPUTS);
    cover_observe(plain, &f->test, 0, 1);
    size_t count = 0;
    const px_cover_point *points = px_cover_curve(cover, &count);
    static const int64_t expected[] = {1, 2, 4, 8, 16, 32, 64, 128, 512, 1024, 1536, INPUTS};
    assert_int_equal(count, PX_LEN(expected));
    for (size_t p = 0; p < count; p++)
        assert_int_equal(points[p].inputs, expected[p]);
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        const double last = px_cover_value(cover, i).value;
        assert_true(points[count - 1].values[i] == last);
        if (px_cover_value(plain, i).value != last)
            fail_msg("'%s': the curve changed the result", px_cover_criterion(cover, i)->entry.id);
        for (size_t p = 1; p < count; p++)
            if (px_cover_value(cover, i).total > 0 && points[p].values[i] < points[p - 1].values[i])
                fail_msg("'%s' falls", px_cover_criterion(cover, i)->entry.id);
    }
    px_cover_free(cover);
    px_cover_free(plain);
}

/* gain() says what observing does to value(), for each criterion and input by itself. */
static void test_gain(void **state)
{
    enum { ROWS = 40 };
    const fixture *f = *state;
    px_error err = {0};
    px_cover *cover = cover_make(f->model, "all", f->profile, 1);
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_reader *reader = NULL;
    options.observe = px_cover_observe_values(cover, &options.observe_count);
    options.keep = px_cover_keep_values(cover, &options.keep_count);
    options.batch = ROWS;
    if (px_plan_new(f->model, &options, &plan, &err) != PX_OK ||
        px_session_new(plan, &session, &err) != PX_OK ||
        px_reader_new(cover, plan, &reader, &err) != PX_OK)
        fail_msg("%s", err.message);
    int64_t index[ROWS], labels[ROWS];
    for (int i = 0; i < ROWS; i++) {
        float *to = (float *)px_session_input(session, 0) + (size_t)i * 784;
        index[i] = i;
        labels[i] = px_dataset_label(f->test.set, i);
        assert_int_equal(px_dataset_input(f->test.set, &f->test.pre, i, to, &err), PX_OK);
    }
    if (px_reader_forward(reader, session, ROWS, index, labels, &err) != PX_OK)
        fail_msg("%s", err.message);
    for (int row = 0; row < ROWS; row++) {
        double before[64], gain[64];
        for (size_t c = 0; c < px_cover_count(cover); c++) {
            before[c] = px_cover_value(cover, c).value;
            gain[c] = px_cover_gain(cover, c, reader, row);
            assert_true(px_cover_gain(cover, c, reader, row) == gain[c]); /* nothing committed */
        }
        assert_int_equal(px_cover_observe(cover, reader, row, 1, &err), PX_OK);
        for (size_t c = 0; c < px_cover_count(cover); c++) {
            const double grown = px_cover_value(cover, c).value - before[c];
            if (fabs(grown - gain[c]) > 1e-9 * fmax(1.0, fabs(before[c])))
                fail_msg("'%s', input %d: gain %.17g, grew by %.17g",
                         px_cover_criterion(cover, c)->entry.id, row, gain[c], grown);
        }
    }
    px_reader_free(reader);
    px_session_free(session);
    px_plan_free(plan);
    px_cover_free(cover);
}

static bool cancel_late(void *context, int64_t done, int64_t total)
{
    (void)total;
    int *calls = context;
    ++*calls;
    return done < 512;
}

/* What was done before is a number of whole blocks, and can be gone on with. */
static void test_cancel(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    int calls = 0;
    px_cover *cover = cover_make(f->model, "nc", NULL, 1);
    px_cover_run_options run = px_cover_run_options_default();
    run.progress = cancel_late;
    run.progress_context = &calls;
    run.curve_points = 7; /* a round per block, so that there is a tick after each */
    assert_int_equal(px_cover_run(cover, f->test.set, &f->test.pre, &run, NULL, &err),
                     PX_E_CANCELLED);
    const int64_t seen = px_cover_observed(cover, 0);
    assert_int_equal(seen % PX_COVER_BLOCK, 0);
    assert_in_range(seen, 512, INPUTS - 1);
    assert_true(calls > 0);
    px_cover_free(cover);
}

/* Rows too wide for a block are observed in pieces; nothing else changes. */
static void test_wide(void **state)
{
    (void)state;
    px_model *model = small_net(9, 64);
    small_data data = small_digits(model, "test", 300, 0);
    char one[TEST_PATH], other[TEST_PATH];
    assert_int_equal(pxi_row_piece(1), PX_COVER_BLOCK);
    assert_int_equal(pxi_row_piece(32768), PX_COVER_BLOCK);
    assert_int_equal(pxi_row_piece(32769), PX_COVER_BLOCK / 2);
    assert_int_equal(pxi_row_piece((int64_t)1 << 40), 1);
    for (int threads = 1; threads <= 2; threads++) {
        px_cover_options options = px_cover_options_default();
        px_cover *cover = NULL;
        px_error err = {0};
        options.criteria = "nc,tknc,tknp";
        options.neurons = "unit";
        options.threads = threads;
        if (px_cover_new(model, NULL, &options, &cover, &err) != PX_OK)
            fail_msg("%s", err.message);
        assert_true(px_cover_extractor(cover, 0)->width > 50000);
        cover_observe(cover, &data, 0, 1);
        assert_int_equal(px_cover_observed(cover, 0), 300);
        save(cover,
             test_path(threads == 1 ? "wide1.state" : "wide2.state", threads == 1 ? one : other));
        px_cover_free(cover);
    }
    assert_same_file(one, other, "wide rows");
    small_close(&data);
    px_model_free(model);
}

/* Inputs with NaN or infinity are counted and change nothing. */
static void test_rejected(void **state)
{
    const fixture *f = *state;
    enum { COUNT = 20 };
    static float x[COUNT][784];
    char path[TEST_PATH];
    px_npz_writer *to = NULL;
    px_error err = {0};
    const px_shape shape = {.rank = 4, .dim = {COUNT, 1, 28, 28}};
    const px_tensor images = {.dtype = PX_FLOAT32, .shape = shape, .data = x};
    for (int i = 0; i < COUNT; i++)
        for (int p = 0; p < 784; p++)
            x[i][p] = (float)((i * 37 + p * 11) % 101) / 100.0f;
    x[3][100] = NAN;
    x[11][5] = INFINITY;
    test_path("nan.npz", path);
    assert_int_equal(px_npz_create(path, &to, &err), PX_OK);
    assert_int_equal(px_npz_add(to, "x", &images, &err), PX_OK);
    assert_int_equal(px_npz_commit(to, &err), PX_OK);
    const px_graph *graph = px_model_graph(f->model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    const px_data_options options = px_data_options_default();
    small_data data = {0};
    if (px_preprocess_init(&data.pre, NULL, 0, input, NULL, &err) != PX_OK ||
        px_dataset_open_for(&data.pre, input, path, &options, &data.set, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_cover *cover = cover_make(f->model, "all", f->profile, 1);
    cover_observe(cover, &data, 0, 1);
    for (size_t i = 0; i < px_cover_count(cover); i++) {
        /* ReLU and pooling lose a NaN: the input itself is looked at. */
        const int64_t rejected = px_cover_rejected(cover, i);
        if (px_cover_observed(cover, i) + rejected != COUNT || rejected != 2)
            fail_msg("'%s': %d observed, %d rejected", px_cover_criterion(cover, i)->entry.id,
                     (int)px_cover_observed(cover, i), (int)rejected);
        if (!isfinite(px_cover_value(cover, i).value))
            fail_msg("'%s': %g", px_cover_criterion(cover, i)->entry.id,
                     px_cover_value(cover, i).value);
    }
    px_cover_free(cover);
    small_close(&data);
}

/* Before any input all neurons are missing; afterwards those that the criterion says. */
static void test_gaps(void **state)
{
    const fixture *f = *state;
    px_cover *cover = cover_make(f->model, "all", f->profile, 1);
    for (int run = 0; run < 2; run++) {
        px_cover_gap *gaps = NULL;
        size_t count = 0, place = 0;
        px_error err = {0};
        if (px_cover_gaps(cover, &gaps, &count, &err) != PX_OK)
            fail_msg("%s", err.message);
        assert_true(count > 0);
        for (size_t i = 0; i < px_cover_count(cover); i++) {
            const px_criterion *c = px_cover_criterion(cover, i);
            const px_extractor *rows = px_cover_extractor(cover, i);
            if (!c->neurons_covered || !rows)
                continue;
            const px_cover_gap *gap = &gaps[place++];
            bool *covered = calloc((size_t)rows->width, sizeof *covered);
            c->neurons_covered(px_cover_state(cover, i), covered);
            int64_t missing = 0;
            for (size_t l = 0; l < rows->layer_count; l++) {
                const px_cover_gap_layer *layer = &gap->layers[l];
                int64_t at = 0;
                for (int64_t n = 0; n < rows->layers[l].count; n++)
                    if (!covered[rows->layers[l].offset + n])
                        assert_int_equal(layer->neurons[at++], n);
                assert_int_equal(layer->count, at);
                assert_string_equal(layer->name, rows->layers[l].name);
                missing += at;
            }
            free(covered);
            assert_string_equal(gap->id, c->entry.id);
            assert_int_equal(gap->layer_count, rows->layer_count);
            assert_int_equal(gap->missing, missing);
            if (run == 0)
                assert_int_equal(gap->missing, gap->neurons);
        }
        assert_int_equal(place, count);
        px_cover_gaps_free(gaps, count);
        if (run == 0)
            cover_observe(cover, &f->test, 0, 4);
    }
    px_cover_free(cover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_shards),
        cmocka_unit_test(test_shuffled), cmocka_unit_test(test_seen_twice),
        cmocka_unit_test(test_curve),    cmocka_unit_test(test_gain),
        cmocka_unit_test(test_cancel),   cmocka_unit_test(test_wide),
        cmocka_unit_test(test_rejected), cmocka_unit_test(test_gaps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
