/* tests/attribute/test_paths.c - paths in words, how alike they are, and below what they differ */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan_helpers.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/text_encoder.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attribute/paths_internal.h"

/* Two convolutions and three classes. */
static px_model *small_model(uint64_t seed)
{
    net n;
    net_init(&n, seed, "1,1,8,8");
    int y = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "4,1,3,3"}, {.weight = "4"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "MaxPool", "kernel_shape=2,2 strides=2,2", IN(V(y)));
    y = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(y), {.weight = "5,4,3,3"}, {.weight = "5"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "GlobalAveragePool", "", IN(V(y)));
    y = net_add(&n, "Flatten", "", IN(V(y)));
    return net_take(&n, net_add(&n, "Gemm", "", IN(V(y), {.weight = "5,3"}, {.weight = "3"})));
}

static const px_shape small_shape = {.rank = 3, .dim = {1, 8, 8}};
static const char *const names[] = {"tabby_cat, tabby", "Dog", NULL};

/* Words for the units of a network's layers; those that have NULL are inactive. */
static px_bank *make_bank(const px_model *model, const px_paths *like, const char *const *words)
{
    px_error err = {0};
    px_bank *bank = NULL;
    const px_bank_about about = {.model = px_model_hash(model), .describer = PX_DESCRIBER_DISSECT};
    check(px_bank_new(&about, &bank, &err), &err, "bank");
    for (size_t l = 0, k = 0; l < px_paths_layer_count(like); l++)
        for (int64_t u = 0; u < px_paths_layer(like, l)->units; u++, k++) {
            const bool silent = !words[k];
            const px_bank_unit unit = {.layer = px_paths_layer(like, l)->name,
                                       .unit = u,
                                       .phrase = silent ? "" : words[k],
                                       .inactive = silent,
                                       .level = 0.5};
            check(px_bank_add(bank, &unit, &err), &err, "unit");
        }
    return bank;
}

static px_paths *make_paths(const px_model *model, const px_bank *bank)
{
    px_error err = {0};
    px_paths *paths = NULL;
    px_paths_options options = px_paths_options_default();
    options.steps = 10;
    options.threads = 2;
    options.bank = bank;
    check(px_paths_new(model, &small_shape, NULL, &options, &paths, &err), &err, "paths");
    return paths;
}

typedef struct fixture {
    px_model *model;
    px_paths *bare; /* without a bank */
    px_bank *bank;
    px_paths *paths;
    px_text_encoder *encoder;
    px_path_judge *judge;
} fixture;

static const char *const all_words[] = {
    "red regions",    "vertical edges",   "red regions", "dark regions", "fine texture",
    "vertical edges", "horizontal edges", "cat",         "dog",
};

static fixture fixture_open(const char *const *words)
{
    px_error err = {0};
    fixture f = {.model = small_model(3)};
    f.bare = make_paths(f.model, NULL);
    f.bank = make_bank(f.model, f.bare, words);
    f.paths = make_paths(f.model, f.bank);
    check(px_path_encoder_open(f.bank, names, 3, NULL, &f.encoder, &err), &err, "encoder");
    check(px_path_judge_new(f.paths, f.encoder, names, 3, NULL, &f.judge, &err), &err, "judge");
    return f;
}

static void fixture_close(fixture *f)
{
    px_path_judge_free(f->judge);
    px_text_encoder_free(f->encoder);
    px_paths_free(f->paths);
    px_paths_free(f->bare);
    px_bank_free(f->bank);
    px_model_free(f->model);
}

/* --- who competes ---------------------------------------------------------------------------- */

static void test_critical(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double contributions[4];
        bool competes[4];
        int unit;
    } cases[] = {
        {"the largest", {0.1, 0.3, 0.2, -1.0}, {true, true, true, true}, 1},
        {"the lowest of equals", {0.1, 0.3, 0.3, 0.3}, {true, true, true, true}, 1},
        {"only those described", {0.1, 0.3, 0.2, -1.0}, {true, false, true, true}, 2},
        {"nobody is", {0.1, 0.3, 0.2, -1.0}, {false, false, false, false}, -1},
        {"all zero", {0.0, 0.0, -0.0, 0.0}, {true, true, true, true}, -1},
        {"zero but for one that does not compete",
         {0.0, 0.3, 0.0, 0.0},
         {true, false, true, true},
         -1},
        {"the largest of the negative", {-0.1, -0.3, -0.2, -1.0}, {true, true, true, true}, 0},
        {"not a number never wins", {NAN, 0.3, NAN, 0.1}, {true, true, true, true}, 1},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        const int got = pxi_critical_unit(cases[i].contributions, cases[i].competes, 4);
        if (got != cases[i].unit)
            fail_msg("%s: unit %d instead of %d", cases[i].name, got, cases[i].unit);
    }
}

/* Classes alone are those of whole paths, for any number of inputs, and cost a row each. */
static void test_classes_alone(void **state)
{
    (void)state;
    enum { COUNT = 37 };
    fixture f = fixture_open(all_words);
    px_error err = {0};
    float x[COUNT * 64];
    int64_t labels[COUNT];
    static px_path whole[COUNT], alone[COUNT];
    net_fill(x, PX_LEN(x), 11, -1.0, 1.0);
    x[5 * 64] = NAN;
    for (int i = 0; i < COUNT; i++)
        labels[i] = i % 4 - 1; /* -1: none */
    check(px_paths_run(f.paths, x, labels, COUNT, whole, NULL, &err), &err, "run");
    const int64_t rows = px_paths_get_sums(f.paths).rows;
    check(px_paths_classes(f.paths, x, labels, COUNT, alone, &err), &err, "classes");
    assert_int_equal(px_paths_get_sums(f.paths).rows - rows, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double similarity = NAN;
        if (memcmp(whole[i].classes, alone[i].classes, sizeof whole[i].classes) != 0 ||
            whole[i].target != alone[i].target ||
            (whole[i].target >= 0 && !isnan(whole[i].score) && whole[i].score != alone[i].score))
            fail_msg("input %d: class %d and %d", i, whole[i].classes[0], alone[i].classes[0]);
        assert_int_equal(alone[i].step[0].unit, -1);
        check(px_path_judge_similarity(f.judge, PX_PATH_LABEL_ONLY, &whole[i], &alone[i],
                                       &similarity, &err),
              &err, "similarity");
        assert_true(similarity == 1.0);
    }
    labels[1] = 3;
    assert_int_equal(px_paths_classes(f.paths, x, labels, COUNT, alone, NULL), PX_E_MISMATCH);
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        assert_int_equal(px_path_mode_needs_units((px_path_mode)m),
                         m != PX_PATH_LABEL_ONLY && m != PX_PATH_NO_CNS);
    fixture_close(&f);
}

/* All units of the second layer but one are inactive: that one is always critical. */
static void test_bank_decides(void **state)
{
    (void)state;
    static const char *const few[] = {"a", "b", "c", "d", NULL, NULL, "e", NULL, NULL};
    fixture f = fixture_open(few);
    px_error err = {0};
    float x[4 * 64];
    px_path with[4], without[4];
    net_fill(x, PX_LEN(x), 9, -1.0, 1.0);
    check(px_paths_run(f.paths, x, NULL, 4, with, NULL, &err), &err, "run");
    check(px_paths_run(f.bare, x, NULL, 4, without, NULL, &err), &err, "run");
    assert_int_equal(px_paths_layer(f.paths, 0)->described, 4);
    assert_int_equal(px_paths_layer(f.paths, 1)->described, 1);
    bool other = false;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(with[i].step[0].unit, without[i].step[0].unit);
        assert_true(with[i].step[1].unit == 2 || with[i].step[1].unit == -1);
        other = other || without[i].step[1].unit != 2;
    }
    assert_true(other);
    fixture_close(&f);
}

static void test_foreign_bank(void **state)
{
    (void)state;
    px_error err = {0};
    px_model *model = small_model(3), *other = small_model(4);
    px_paths *bare = make_paths(model, NULL), *paths = NULL;
    px_bank *bank = make_bank(other, bare, all_words);
    px_paths_options options = px_paths_options_default();
    options.bank = bank;
    assert_int_equal(px_paths_new(model, &small_shape, NULL, &options, &paths, &err),
                     px_model_hash(model) == px_model_hash(other) ? PX_OK : PX_E_MISMATCH);
    px_paths_free(paths);
    px_bank_free(bank);

    const px_bank_about about = {.model = px_model_hash(model), .describer = PX_DESCRIBER_OTHER};
    check(px_bank_new(&about, &bank, &err), &err, "bank");
    options.bank = bank; /* of this network, but of other layers */
    assert_int_equal(px_paths_new(model, &small_shape, NULL, &options, &paths, &err),
                     PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "the bank says nothing about layer"));
    px_bank_free(bank);
    px_paths_free(bare);
    px_model_free(other);
    px_model_free(model);
}

/* --- texts ----------------------------------------------------------------------------------- */

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        px_path_mode mode;
        int32_t classes[3], units[2];
        int top;
        bool repeat;
        const char *text;
    } cases[] = {
        {PX_PATH_FULL,
         {0, 1, 2},
         {1, 0},
         1,
         false,
         "a photo of a tabby cat with vertical edges, fine texture"},
        {PX_PATH_FULL, {0, 1, 2}, {1, 1}, 1, false, "a photo of a tabby cat with vertical edges"},
        {PX_PATH_FULL,
         {0, 1, 2},
         {1, 1},
         1,
         true,
         "a photo of a tabby cat with vertical edges, vertical edges"},
        {PX_PATH_FULL, {1, 0, 2}, {0, -1}, 1, false, "a photo of a dog with red regions"},
        {PX_PATH_FULL, {2, 0, 1}, {-1, -1}, 1, false, "a photo of a class 2"},
        {PX_PATH_FULL,
         {2, 1, -1},
         {0, 3},
         3,
         false,
         "a photo of a class 2 or dog with red regions, cat"},
        {PX_PATH_FULL, {-1, -1, -1}, {-1, -1}, 3, false, "a photo of a no class"},
        {PX_PATH_LABEL_ONLY, {1, 0, 2}, {0, 1}, 1, false, "a photo of a dog"},
        {PX_PATH_DESCR_ONLY,
         {1, 0, 2},
         {0, 1},
         1,
         false,
         "a photo with red regions, vertical edges"},
        {PX_PATH_DESCR_ONLY, {1, 0, 2}, {-1, -1}, 1, false, "a photo"},
        {PX_PATH_NO_CNS,
         {1, 0, 2},
         {0, 1},
         1,
         false,
         "a photo of a dog with red regions, vertical edges, dark regions, fine texture, "
         "horizontal edges, cat, dog"},
    };
    fixture f = fixture_open(all_words);
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_text text = {0};
        px_path path = {.layers = 2, .classes = {-1, -1, -1, -1, -1}};
        px_path_words words = px_path_words_default();
        words.classes = cases[i].top;
        words.repeat = cases[i].repeat;
        memcpy(path.classes, cases[i].classes, sizeof cases[i].classes);
        path.step[0].unit = cases[i].units[0];
        path.step[1].unit = cases[i].units[1];
        check(px_path_text(f.paths, &path, names, 3, &words, cases[i].mode, &text, &err), &err,
              "text");
        if (strcmp(px_text_get(&text), cases[i].text) != 0)
            fail_msg("case %zu: '%s' instead of '%s'", i, px_text_get(&text), cases[i].text);
        assert_int_equal(
            px_path_text(f.paths, &path, names, 3, &words, PX_PATH_NO_NLDG, &text, &err),
            PX_E_USAGE);
        px_text_done(&text);
    }
    px_error err = {0};
    px_text text = {0};
    px_path path = {.layers = 2, .classes = {0, -1, -1, -1, -1}};
    path.step[0].unit = 3;
    path.step[1].unit = 2;
    check(px_path_text(f.bare, &path, NULL, 0, NULL, PX_PATH_FULL, &text, &err), &err, "bare");
    char want[256];
    snprintf(want, sizeof want, "a photo of a class 0 with %s:3, %s:2",
             px_paths_layer(f.bare, 0)->name, px_paths_layer(f.bare, 1)->name);
    assert_string_equal(px_text_get(&text), want);
    px_text_done(&text);
    fixture_close(&f);
}

/* Classes in random order: the same for the same image. */
static void test_shuffle(void **state)
{
    (void)state;
    fixture f = fixture_open(all_words);
    px_path path = {.layers = 2, .classes = {0, 1, 2, -1, -1}};
    int seen = 0;
    char kinds[6][64] = {{0}};
    for (uint32_t item = 0; item < 40; item++) {
        px_error err = {0};
        px_text text = {0}, again = {0};
        px_path_words words = px_path_words_default();
        words.classes = 3;
        words.shuffle = true;
        words.item = item;
        check(px_path_text(f.paths, &path, names, 3, &words, PX_PATH_LABEL_ONLY, &text, &err), &err,
              "text");
        check(px_path_text(f.paths, &path, names, 3, &words, PX_PATH_LABEL_ONLY, &again, &err),
              &err, "text");
        assert_string_equal(px_text_get(&text), px_text_get(&again));
        int k = 0;
        while (k < seen && strcmp(kinds[k], px_text_get(&text)) != 0)
            k++;
        assert_true(k < 6);
        snprintf(kinds[k], sizeof kinds[k], "%s", px_text_get(&text));
        seen = k == seen ? seen + 1 : seen;
        px_text_done(&text);
        px_text_done(&again);
    }
    assert_true(seen > 3);
    fixture_close(&f);
}

/* --- similarity ------------------------------------------------------------------------------ */

static void test_cosine(void **state)
{
    (void)state;
    static const float a[] = {1, 0}, b[] = {1, 1}, zero[] = {0, 0}, odd[] = {NAN, 1};
    px_error err = {0};
    double got;
    check(px_path_cosine(a, b, 2, false, &got, &err), &err, "cosine");
    assert_float_equal(got, 0.70710678, 1e-7);
    check(px_path_cosine(a, zero, 2, false, &got, &err), &err, "zero");
    assert_true(got == 0.0);
    check(px_path_cosine(zero, zero, 2, true, &got, &err), &err, "zero");
    assert_true(got == 1.0);
    assert_int_equal(px_path_cosine(a, odd, 2, false, &got, &err), PX_E_INPUT);
}

static void test_judge(void **state)
{
    (void)state;
    fixture f = fixture_open(all_words);
    px_error err = {0};
    px_path a = {.layers = 2, .classes = {0, 1, 2, -1, -1}}, b = a;
    a.step[0].unit = 0;
    a.step[1].unit = 0;
    b.step[0].unit = 2; /* another unit with the same words */
    b.step[1].unit = 2;
    double full, jaccard, label, same;
    check(px_path_judge_similarity(f.judge, PX_PATH_FULL, &a, &b, &full, &err), &err, "full");
    check(px_path_judge_similarity(f.judge, PX_PATH_NO_NLDG, &a, &b, &jaccard, &err), &err, "set");
    check(px_path_judge_similarity(f.judge, PX_PATH_LABEL_ONLY, &a, &b, &label, &err), &err,
          "label");
    check(px_path_judge_similarity(f.judge, PX_PATH_FULL, &a, &a, &same, &err), &err, "same");
    assert_true(full < 1.0);
    assert_true(jaccard == 0.0);
    assert_float_equal(label, 1.0, 1e-6);
    assert_float_equal(same, 1.0, 1e-6);
    const px_path_judge_sums before = px_path_judge_get_sums(f.judge);
    for (int i = 0; i < 5; i++)
        check(px_path_judge_similarity(f.judge, PX_PATH_NO_CNS, &a, &b, &same, &err), &err, "cns");
    const px_path_judge_sums after = px_path_judge_get_sums(f.judge);
    assert_int_equal(after.texts - before.texts, 10);
    assert_int_equal(after.embedded - before.embedded, 1); /* one text, embedded once */
    assert_float_equal(same, 1.0, 1e-6);

    px_path_judge *mute = NULL;
    check(px_path_judge_new(f.bare, NULL, NULL, 0, NULL, &mute, &err), &err, "mute");
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        assert_int_equal(px_path_judge_check(mute, (px_path_mode)m, &err),
                         m == PX_PATH_NO_NLDG ? PX_OK : PX_E_USAGE);
    px_path_judge_free(mute);
    fixture_close(&f);
}

/* --- tau ------------------------------------------------------------------------------------- */

static void test_keeps(void **state)
{
    (void)state;
    const px_tau plain = {.known = true, .tau = 0.5}, least = {.tau = 0.0, .at_most = true};
    assert_true(px_tau_keeps(&plain, 0.4));
    assert_true(px_tau_keeps(&plain, -0.4)); /* a cosine below zero, too */
    assert_false(px_tau_keeps(&plain, 0.5));
    assert_true(px_tau_keeps(&least, 0.0));
    assert_false(px_tau_keeps(&least, 0.1));
}

static void test_calibrate(void **state)
{
    (void)state;
    const px_shape wanted = {.rank = 4, .dim = {-1, 1, 8, 8}};
    fixture f = fixture_open(all_words);
    px_error err = {0};
    px_dataset *set = NULL;
    px_preprocess pre;
    px_data_options data = px_data_options_default();
    px_calibration options = px_calibration_default();
    px_threshold t = {0}, back = {0};
    double *all = NULL;
    data.limit = 40;
    options.images = 3;
    check(px_preprocess_init(&pre, NULL, 0, &wanted, NULL, &err), &err, "pre");
    check(px_dataset_open_for(&pre, &wanted, "digits", &data, &set, &err), &err, "digits");
    /* Ten classes do not fit a network of three. */
    assert_int_equal(px_calibrate(f.paths, f.judge, set, &pre, &options, &t, &all, &err),
                     PX_E_MISMATCH);
    px_dataset_close(set);
    data.limit = 3;
    check(px_dataset_open_for(&pre, &wanted, "digits", &data, &set, &err), &err, "digits");
    check(px_calibrate(f.paths, f.judge, set, &pre, &options, &t, &all, &err), &err, "calibrate");
    assert_int_equal(t.images, 3);
    assert_int_equal(t.rules, 95);
    assert_int_equal(t.pairs, 285);
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        const double *own = all + m * t.pairs;
        int64_t below = 0;
        assert_true(t.of[m].known);
        for (int64_t i = 0; i < t.pairs; i++)
            below += own[i] < t.of[m].tau;
        assert_true(below <= (t.pairs + 3) / 4); /* the lower quartile */
        assert_true(t.of[m].least <= t.of[m].tau && t.of[m].tau <= t.of[m].median);
        assert_true(t.of[m].at_most == (t.of[m].tau <= t.of[m].least));
        assert_true(own[3] > 1.0 - 1e-6); /* translation by nothing */
    }
    check(px_threshold_check(&t, f.paths, f.encoder, PX_PATH_FULL, &err), &err, "check");

    const char *scratch = getenv("TEST_SCRATCH");
    char path[1024];
    snprintf(path, sizeof path, "%s/tau.json", scratch ? scratch : ".");
    check(px_threshold_save(&t, path, &err), &err, "save");
    check(px_threshold_load(path, &back, &err), &err, "load");
    assert_int_equal(back.pairs, t.pairs);
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        assert_true(back.of[m].tau == t.of[m].tau && back.of[m].at_most == t.of[m].at_most);
    check(px_threshold_check(&back, f.paths, f.encoder, PX_PATH_FULL, &err), &err, "check");

    static const char *const others[] = {"network", "bank", "way of finding paths", "encoder"};
    uint64_t *const ids[] = {&back.model, &back.bank, &back.paths, &back.encoder};
    for (size_t i = 0; i < PX_LEN(ids); i++) {
        (*ids[i])++;
        assert_int_equal(px_threshold_check(&back, f.paths, f.encoder, PX_PATH_FULL, &err),
                         PX_E_MISMATCH);
        if (!strstr(err.message, others[i]))
            fail_msg("another %s: %s", others[i], err.message);
        (*ids[i])--;
    }
    back.of[PX_PATH_FULL].known = false;
    assert_int_equal(px_threshold_check(&back, f.paths, f.encoder, PX_PATH_FULL, &err),
                     PX_E_MISMATCH);
    unlink(path);
    free(all);
    px_dataset_close(set);
    fixture_close(&f);
}

static void test_bad_files(void **state)
{
    (void)state;
    static const char good[] =
        "{\"format\":\"plexor-threshold\",\"version\":1,\"model\":\"0123456789abcdef\","
        "\"bank\":\"0123456789abcdef\",\"encoder\":\"0123456789abcdef\","
        "\"paths\":\"0123456789abcdef\",\"data\":\"0123456789abcdef\",\"seed\":"
        "\"0000000000000000\","
        "\"images\":3,\"rules\":95,\"pairs\":285,\"modes\":{\"full\":{\"tau\":0.5,\"least\":0.1,"
        "\"median\":0.6,\"upper\":0.7,\"most\":1,\"mean\":0.6,\"at_most\":false}}}";
    static const struct {
        const char *from, *to, *message; /* one replacement */
    } cases[] = {
        {"", "", NULL},
        {"plexor-threshold", "plexor-profile", "is no threshold"},
        {"\"version\":1", "\"version\":2", "has version 2"},
        {"\"model\":\"0123", "\"model\":\"g123", "'model'"},
        {"\"images\":3", "\"images\":2.5", "'images'"},
        {"\"images\":3", "\"images\":-3", "'images'"},
        {"\"images\":3", "\"images\":1e300", "'images'"},
        {"\"tau\":0.5", "\"tau\":1.5", "'tau'"},
        {"\"tau\":0.5", "\"tau\":null", "'tau'"},
        {"\"full\"", "\"half\"", "there is no mode 'half'"},
        {"\"at_most\":false", "\"at_most\":0", "'at_most'"},
        {"\"modes\":{\"full\":{", "\"modes\":[],\"x\":{\"full\":{", "'modes'"},
        {"{\"format\"", "[{\"format\"", ""},
    };
    const char *scratch = getenv("TEST_SCRATCH");
    char path[1024], text[2048];
    snprintf(path, sizeof path, "%s/bad_tau.json", scratch ? scratch : ".");
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_threshold t = {0};
        const char *at = strstr(good, cases[i].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i].to,
                 at + strlen(cases[i].from));
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
        const px_status status = px_threshold_load(path, &t, &err);
        if (!cases[i].message)
            check(status, &err, "good");
        else if (status == PX_OK || !strstr(err.message, cases[i].message))
            fail_msg("case %zu: %s", i, status == PX_OK ? "taken" : err.message);
    }
    unlink(path);
    px_threshold t;
    px_error err = {0};
    assert_int_not_equal(px_threshold_load("/nowhere/tau.json", &t, &err), PX_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_critical),     cmocka_unit_test(test_classes_alone),
        cmocka_unit_test(test_bank_decides), cmocka_unit_test(test_foreign_bank),
        cmocka_unit_test(test_texts),        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_cosine),       cmocka_unit_test(test_judge),
        cmocka_unit_test(test_keeps),        cmocka_unit_test(test_calibrate),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
