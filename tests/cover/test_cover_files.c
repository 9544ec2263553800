/* tests/cover/test_cover_files.c - profiles and states as files: round trips, and files that are
 * damaged, lie, or belong to something else */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_helpers.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/profile.h>
#include <internal/rng.h>
#include <math.h>
#include <plexor/json.h>
#include <plexor/trace.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 300, TRAIN = 600 };

typedef struct fixture {
    px_model *model;
    small_data train, test;
    px_profile *profile;
    char profile_path[TEST_PATH], state_path[TEST_PATH];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    px_error err = {0};
    f.model = small_net(7, 4);
    f.train = small_digits(f.model, "train", TRAIN, 0);
    f.test = small_digits(f.model, "test", INPUTS, 0);
    f.profile = profile_make(f.model, "all", &f.train, 2);
    px_cover *cover = cover_make(f.model, "all", f.profile, 1);
    cover_observe(cover, &f.test, 0, 1);
    const px_status saved =
        px_profile_save(f.profile, test_path("good.profile", f.profile_path), &err);
    const px_status kept = px_cover_save(cover, test_path("good.state", f.state_path), &err);
    px_cover_free(cover);
    *state = &f;
    return saved != PX_OK || kept != PX_OK;
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

/* --- profiles -------------------------------------------------------------------------------- */

static void test_profile_threads(void **state)
{
    const fixture *f = *state;
    char path[TEST_PATH];
    px_error err = {0};
    test_path("again.profile", path);
    for (int threads = 1; threads <= 3; threads += 2) {
        px_profile *profile = profile_make(f->model, "all", &f->train, threads);
        assert_int_equal(px_profile_save(profile, path, &err), PX_OK);
        assert_same_file(f->profile_path, path, "threads");
        px_profile_free(profile);
    }
}

static void test_profile_round_trip(void **state)
{
    const fixture *f = *state;
    char path[TEST_PATH];
    px_error err = {0};
    px_profile *read = NULL;
    if (px_profile_open(f->profile_path, &read, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_true(px_profile_hash(read) == px_profile_hash(f->profile));
    assert_int_equal(px_profile_check(read, f->model, &err), PX_OK);
    assert_int_equal(px_profile_count(read), TRAIN);
    assert_int_equal(px_profile_classes(read), 10);
    int64_t labelled = 0, predicted = 0;
    for (int c = 0; c < 10; c++) {
        labelled += px_profile_labelled(read, c);
        predicted += px_profile_predicted(read, c);
    }
    assert_int_equal(labelled, TRAIN);
    assert_int_equal(predicted, TRAIN);
    px_cover *a = cover_make(f->model, "all", f->profile, 1),
             *b = cover_make(f->model, "all", read, 1);
    cover_observe(a, &f->test, 0, 1);
    cover_observe(b, &f->test, 0, 1);
    assert_int_equal(px_cover_save(b, test_path("read.state", path), &err), PX_OK);
    assert_same_file(f->state_path, path, "a profile that was read");
    px_cover_free(a);
    px_cover_free(b);
    px_profile_free(read);
}

/* Ranges and moments against a plain computation on the same values. */
static void test_profile_ranges(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_cover_options options = px_cover_options_default();
    px_lessons lessons = {0};
    px_ranges ranges = {0};
    const char *section = NULL;
    options.criteria = "kmnc";
    assert_int_equal(px_cover_lessons(f->model, NULL, &options, &lessons, &err), PX_OK);
    assert_int_equal(lessons.count, 1);
    const px_extractor *x = lessons.lesson[0].extractor;
    if (px_profile_find(f->profile, lessons.lesson[0].key, &section, &err) != PX_OK ||
        px_profile_ranges(f->profile, section, x, &ranges, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(ranges.count, TRAIN);
    const size_t width = (size_t)x->width;
    float *rows = calloc(TRAIN * width, sizeof *rows);
    px_plan_options plan_options = px_plan_options_default();
    px_plan *plan = NULL;
    px_session *session = NULL;
    plan_options.keep = px_probe_values(x->probe, &plan_options.keep_count);
    plan_options.batch = 8;
    assert_int_equal(px_plan_new(f->model, &plan_options, &plan, &err), PX_OK);
    assert_int_equal(px_session_new(plan, &session, &err), PX_OK);
    for (int64_t i = 0; i < TRAIN; i += 8) {
        for (int64_t k = 0; k < 8; k++)
            assert_int_equal(px_dataset_input(f->train.set, &f->train.pre, i + k,
                                              (float *)px_session_input(session, 0) + k * 784,
                                              &err),
                             PX_OK);
        assert_int_equal(px_session_forward(session, &err), PX_OK);
        assert_int_equal(px_probe_trace(x->probe, session, 8, rows + (size_t)i * width, NULL, &err),
                         PX_OK);
    }
    for (size_t n = 0; n < width; n++) {
        float low = INFINITY, high = -INFINITY;
        long double sum = 0.0L, spread = 0.0L;
        for (size_t i = 0; i < TRAIN; i++) {
            const float v = rows[i * width + n];
            low = fminf(low, v);
            high = fmaxf(high, v);
            sum += (long double)v;
        }
        const long double mean = sum / TRAIN;
        for (size_t i = 0; i < TRAIN; i++) {
            const long double d = (long double)rows[i * width + n] - mean;
            spread += d * d;
        }
        const double deviation = (double)sqrtl(spread / TRAIN);
        if (ranges.low[n] != low || ranges.high[n] != high ||
            fabs(ranges.mean[n] - (double)mean) > 1e-13 * fabs((double)mean) ||
            fabs(ranges.deviation[n] - deviation) > 1e-7 * deviation + 1e-12)
            fail_msg("neuron %zu: [%a, %a] mean %.17g deviation %.17g, expected [%a, %a] %.17g "
                     "%.17g",
                     n, (double)ranges.low[n], (double)ranges.high[n], ranges.mean[n],
                     ranges.deviation[n], (double)low, (double)high, (double)mean, deviation);
    }
    free(rows);
    px_session_free(session);
    px_plan_free(plan);
    px_ranges_done(&ranges);
    px_lessons_free(&lessons);
}

static const char *refusal(const px_model *model, const px_profile *profile, const char *criteria,
                           const char *neurons)
{
    static px_error err;
    px_cover_options options = px_cover_options_default();
    px_cover *cover = NULL;
    options.criteria = criteria;
    options.profile = profile;
    options.neurons = neurons;
    const px_status status = px_cover_new(model, NULL, &options, &cover, &err);
    if (status != PX_E_MISMATCH && status != PX_E_USAGE)
        fail_msg("%s with %s: status %d, %s", criteria, neurons ? neurons : "its neurons", status,
                 err.message);
    return err.message;
}

static void test_profile_of_something_else(void **state)
{
    const fixture *f = *state;
    px_model *other = small_net(8, 4);
    assert_non_null(strstr(refusal(other, f->profile, "kmnc", NULL), "another network"));
    assert_non_null(strstr(refusal(f->model, f->profile, "kmnc", "unit"), "neurons=chan"));
    assert_non_null(strstr(refusal(f->model, NULL, "kmnc", NULL), "needs a profile"));
    px_profile *ranges = profile_make(f->model, "kmnc", &f->train, 1);
    assert_non_null(strstr(refusal(f->model, ranges, "kmnc", "chan-max"), "does not have"));
    px_profile_free(ranges);
    px_model_free(other);
}

static void test_profile_memory(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_profile_options make = px_profile_options_default();
    px_probe_options neurons = px_probe_options_default();
    px_extractor *extractor = NULL;
    px_lessons lessons = {0};
    px_profile *profile = NULL;
    assert_int_equal(px_extractor_probe(f->model, &neurons, &extractor, &err), PX_OK);
    assert_int_equal(px_lessons_add(&lessons, &px_learner_traces, extractor, NULL, 0, &err), PX_OK);
    make.memory_bytes = 1000;
    assert_int_equal(
        px_profile_make(f->model, &lessons, f->train.set, &f->train.pre, &make, &profile, &err),
        PX_E_USAGE);
    assert_non_null(strstr(err.message, "would keep"));
    px_lessons_free(&lessons);
}

/* --- damaged files --------------------------------------------------------------------------- */

typedef px_status (*opener)(const fixture *f, const char *path, px_error *err);

/* A profile is good if every criterion can be made from it. */
static px_status open_profile(const fixture *f, const char *path, px_error *err)
{
    px_profile *profile = NULL;
    px_cover_options options = px_cover_options_default();
    px_cover *cover = NULL;
    PX_TRY(px_profile_open(path, &profile, err));
    options.profile = profile;
    const px_status status = px_cover_new(f->model, NULL, &options, &cover, err);
    px_cover_free(cover);
    px_profile_free(profile);
    return status;
}

/* A state is good if it can be merged with a fresh one of the same kind, and asked. */
static px_status open_state(const fixture *f, const char *path, px_error *err)
{
    px_cover *read = NULL;
    PX_TRY(px_cover_open(path, &read, err));
    px_cover *cover = cover_make(f->model, "all", f->profile, 1);
    const px_status status = px_cover_merge(cover, read, err);
    for (size_t i = 0; status == PX_OK && i < px_cover_count(read); i++) {
        px_cover_value(cover, i);
        px_cover_value(read, i);
    }
    px_cover_free(cover);
    px_cover_free(read);
    return status;
}

static void check_refused(const fixture *f, opener open, const char *path, const char *what)
{
    px_error err = {0};
    const px_status status = open(f, path, &err);
    if (status == PX_OK)
        fail_msg("%s was taken", what);
    if (status > PX_E_MISMATCH || !err.message[0])
        fail_msg("%s: status %d, '%s'", what, status, err.message);
}

static void check_truncated(const fixture *f, opener open, const char *path)
{
    enum { CUTS = 60 };
    char cut[TEST_PATH], what[64];
    size_t size;
    char *bytes = file_bytes(path, &size);
    test_path("cut.npz", cut);
    for (size_t i = 0; i < CUTS; i++) {
        const size_t length = i * size / CUTS;
        file_write(cut, bytes, length);
        snprintf(what, sizeof what, "the first %zu of %zu bytes", length, size);
        check_refused(f, open, cut, what);
    }
    free(bytes);
}

/* Bytes changed at random places: whatever happens, it is an error or a file that is still good. */
static void check_flipped(const fixture *f, opener open, const char *path)
{
    enum { ROUNDS = 150 };
    char bad[TEST_PATH];
    size_t size;
    char *bytes = file_bytes(path, &size);
    px_random r = px_rng(3, PX_RNG_TEST, 1, 0);
    test_path("flip.npz", bad);
    for (int i = 0; i < ROUNDS; i++) {
        const size_t at = px_rng_below(&r, (uint32_t)size);
        const char old = bytes[at];
        px_error err = {0};
        bytes[at] = (char)(old ^ (1 << px_rng_below(&r, 8)));
        file_write(bad, bytes, size);
        const px_status status = open(f, bad, &err);
        if (status > PX_E_MISMATCH)
            fail_msg("byte %zu: status %d, '%s'", at, status, err.message);
        bytes[at] = old;
    }
    free(bytes);
}

typedef enum damage { DROP, RETYPE, LONGER, SHORTER, RANK, DAMAGES } damage;

static const char *const damage_names[] = {"missing", "of another type", "longer", "shorter",
                                           "of another rank"};

/* A copy of the file in which array `which` is damaged. */
static void damage_write(const char *path, const char *to, size_t which, damage how)
{
    px_npz *npz = NULL;
    px_npz_writer *writer = NULL;
    px_error err = {0};
    assert_int_equal(px_npz_open(path, &npz, &err), PX_OK);
    assert_int_equal(px_npz_create(to, &writer, &err), PX_OK);
    for (size_t i = 0; i < px_npz_count(npz); i++) {
        px_tensor tensor = *px_npz_get(npz, px_npz_name(npz, i));
        const size_t bytes = px_tensor_bytes(&tensor), item = px_dtype_size(tensor.dtype);
        const size_t row =
            tensor.shape.rank && tensor.shape.dim[0] ? bytes / (size_t)tensor.shape.dim[0] : item;
        char *copy = calloc(1, bytes + 2 * row + 8); /* zeros behind */
        if (bytes)
            memcpy(copy, tensor.data, bytes);
        tensor.data = copy;
        bool keep = true;
        if (i == which) {
            if (how == DROP)
                keep = false;
            else if (how == RETYPE)
                tensor.dtype = item == 8   ? tensor.dtype == PX_INT64 ? PX_FLOAT64 : PX_INT64
                               : item == 4 ? tensor.dtype == PX_INT32 ? PX_FLOAT32 : PX_INT32
                               : item == 1 ? PX_INT8
                                           : PX_UINT8;
            else if (how == LONGER)
                tensor.shape.dim[0]++;
            else if (how == SHORTER)
                tensor.shape.dim[0]--;
            else
                tensor.shape.dim[tensor.shape.rank++] = 1;
            if (tensor.shape.dim[0] < 0)
                tensor.shape.dim[0] = 0;
        }
        if (keep)
            assert_int_equal(px_npz_add(writer, px_npz_name(npz, i), &tensor, &err), PX_OK);
        free(copy);
    }
    assert_int_equal(px_npz_commit(writer, &err), PX_OK);
    px_npz_close(npz);
}

static void check_damaged(const fixture *f, opener open, const char *path)
{
    char bad[TEST_PATH], what[160];
    px_npz *npz = NULL;
    px_error err = {0};
    test_path("bad.npz", bad);
    assert_int_equal(px_npz_open(path, &npz, &err), PX_OK);
    for (size_t i = 0; i < px_npz_count(npz); i++) {
        const px_tensor *tensor = px_npz_get(npz, px_npz_name(npz, i));
        for (int how = 0; how < DAMAGES; how++) {
            const bool can = tensor->shape.rank > 0 && tensor->shape.rank < PX_MAX_RANK;
            const bool meta = strcmp(px_npz_name(npz, i), "meta") == 0; /* JSON may end anywhere */
            if ((!can && how > RETYPE) || (how == SHORTER && (tensor->shape.dim[0] == 0 || meta)))
                continue;
            snprintf(what, sizeof what, "an array '%.80s' that is %s", px_npz_name(npz, i),
                     damage_names[how]);
            damage_write(path, bad, i, how);
            check_refused(f, open, bad, what);
        }
    }
    px_npz_close(npz);
}

static void test_damaged_profile(void **state)
{
    const fixture *f = *state;
    check_truncated(f, open_profile, f->profile_path);
    check_flipped(f, open_profile, f->profile_path);
    check_damaged(f, open_profile, f->profile_path);
}

static void test_damaged_state(void **state)
{
    const fixture *f = *state;
    check_truncated(f, open_state, f->state_path);
    check_flipped(f, open_state, f->state_path);
    check_damaged(f, open_state, f->state_path);
}

/* --- what `meta` may say --------------------------------------------------------------------- */

static void meta_write(const char *path, const char *to, const char *from, const char *by)
{
    px_npz *npz = NULL;
    px_npz_writer *writer = NULL;
    px_error err = {0};
    assert_int_equal(px_npz_open(path, &npz, &err), PX_OK);
    assert_int_equal(px_npz_create(to, &writer, &err), PX_OK);
    for (size_t i = 0; i < px_npz_count(npz); i++) {
        px_tensor tensor = *px_npz_get(npz, px_npz_name(npz, i));
        px_text text = {0};
        if (strcmp(px_npz_name(npz, i), "meta") == 0) {
            char *meta = strndup(tensor.data, (size_t)tensor.shape.dim[0]);
            char *at = strstr(meta, from);
            if (!at)
                fail_msg("'%s' is not in %s", from, meta);
            px_text_add_bytes(&text, meta, (size_t)(at - meta));
            px_text_add(&text, by);
            px_text_add(&text, at + strlen(from));
            free(meta);
            tensor.data = text.data;
            tensor.shape.dim[0] = (int64_t)text.length;
        }
        assert_int_equal(px_npz_add(writer, px_npz_name(npz, i), &tensor, &err), PX_OK);
        px_text_done(&text);
    }
    assert_int_equal(px_npz_commit(writer, &err), PX_OK);
    px_npz_close(npz);
}

static const struct {
    bool profile;
    const char *from, *by, *says;
} metas[] = {
    {true, "\"version\": 1", "\"version\": 7", "version 7"},
    {true, "plexor profile", "plexor picture", "is not a plexor profile"},
    {true, "\"classes\": 10", "\"classes\": 11", "class_labels"},
    {true, "\"classes\": 10", "\"classes\": 1e300", "classes"},
    {true, "\"classes\": 10", "\"classes\": -1", "classes"},
    {true, "\"count\": 600", "\"count\": 3", "impossible"},
    {true, "\"model\": \"", "\"model\": \"f", "hash"},
    {true, "\"sections\"", "\"parts\"", "sections"},
    {true, "{", "[", "meta"},
    {false, "\"version\": 1", "\"version\": 0", "version 0"},
    {false, "plexor coverage state", "plexor profile", "is not a plexor coverage state"},
    {false, "\"id\": \"nc\"", "\"id\": \"xyz\"", "not known"},
    {false, "\"id\": \"nc\"", "\"id\": \"kmnc\"", "kmnc"},
    {false, "\"end\": 300", "\"end\": 0", "empty range"},
    {false, "\"first\": 0", "\"first\": -5", "first"},
    {false, "\"observed\": 300", "\"observed\": 2.5", "observed"},
    {false, "\"criteria\"", "\"kriteria\"", "criteria"},
    {false, "\"settings\": \"t=", "\"settings\": \"t=7", "other settings"},
};

static void test_meta(void **state)
{
    const fixture *f = *state;
    char bad[TEST_PATH];
    test_path("meta.npz", bad);
    for (size_t i = 0; i < PX_LEN(metas); i++) {
        px_error err = {0};
        meta_write(metas[i].profile ? f->profile_path : f->state_path, bad, metas[i].from,
                   metas[i].by);
        const px_status status = (metas[i].profile ? open_profile : open_state)(f, bad, &err);
        if (status == PX_OK || status > PX_E_MISMATCH)
            fail_msg("%s for %s: status %d", metas[i].by, metas[i].from, status);
        if (!strstr(err.message, metas[i].says))
            fail_msg("%s for %s: '%s' does not say '%s'", metas[i].by, metas[i].from, err.message,
                     metas[i].says);
    }
}

static void test_state_of_something_else(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_model *other = small_net(8, 4);
    px_cover *a = cover_make(f->model, "nc", NULL, 1), *b = cover_make(other, "nc", NULL, 1),
             *c = cover_make(f->model, "tknc", NULL, 1);
    assert_int_equal(px_cover_merge(a, b, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "different networks"));
    assert_int_equal(px_cover_merge(a, c, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "same criteria"));
    px_cover_free(a);
    px_cover_free(b);
    px_cover_free(c);
    px_model_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile_threads),
        cmocka_unit_test(test_profile_round_trip),
        cmocka_unit_test(test_profile_ranges),
        cmocka_unit_test(test_profile_of_something_else),
        cmocka_unit_test(test_profile_memory),
        cmocka_unit_test(test_damaged_profile),
        cmocka_unit_test(test_damaged_state),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_state_of_something_else),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
