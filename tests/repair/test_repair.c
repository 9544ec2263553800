/* tests/repair/test_repair.c - repairs of small networks on the procedural digits */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair_helpers.h"

#include "base/memory.h"

#include <internal/arch.h>
#include <internal/repair.h>
#include <internal/stats.h>
#include <internal/weights.h>
#include <math.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- data and networks ----------------------------------------------------------------------- */

typedef struct bench {
    px_dataset *train, *added, *test;
    px_preprocess pre;
    px_model *model;
} bench;

/* arch NULL: a network that is right on 98 of 100 digits. */
static bench bench_open(const char *arch)
{
    bench b = {.pre = {.scale = 1.0f / 255.0f, .channels = 1, .stddev = {1.0f}}};
    px_error err = {0};
    px_arch_options options = px_arch_options_default();
    options.channels = 1;
    options.height = options.width = 28;
    options.classes = 10;
    const px_status status = arch ? px_arch_build(arch, &options, &b.model, &err)
                                  : px_model_load(MODELS "/digits.onnx", &b.model, &err);
    if (status != PX_OK)
        fail_msg("%s", err.message);
    b.train = open_digits("train", 0, 600);
    b.added = open_digits("train", 30000, 200);
    b.test = open_digits("test", 0, 400);
    return b;
}

static void bench_close(bench *b)
{
    px_dataset_close(b->train);
    px_dataset_close(b->added);
    px_dataset_close(b->test);
    px_model_free(b->model);
}

static px_repair_options bench_options(const bench *b)
{
    px_repair_options o = px_repair_options_default();
    o.model = b->model;
    o.train = (px_feeder_set){.set = b->train, .pre = &b->pre};
    o.added = (px_feeder_set){.set = b->added, .pre = &b->pre};
    o.test = (px_judge_set){b->test, &b->pre};
    o.recipe.optimizer = "adam";
    o.recipe.schedule = "constant";
    o.recipe.lr = 0.003;
    o.recipe.epochs = 3;
    o.recipe.batch = 32;
    o.threads = 2;
    return o;
}

static px_repair *repair_new(const px_repair_options *o)
{
    px_repair *repair = NULL;
    px_error err = {0};
    if (px_repair_new(o, &repair, &err) != PX_OK)
        fail_msg("%s", err.message);
    return repair;
}

static px_repair *repair_run(const px_repair_options *o)
{
    px_repair *repair = repair_new(o);
    px_error err = {0};
    if (px_repair_run(repair, &err) != PX_OK)
        fail_msg("%s", err.message);
    return repair;
}

/* --- what comes out -------------------------------------------------------------------------- */

/* Everything that the report sums up, summed up again. */
static void check_set(const px_repair_set *set)
{
    int64_t regressions = 0, fixed = 0, correct[2] = {0}, classes[2] = {0}, class_correct[2] = {0};
    double right[2] = {0};
    for (int64_t i = 0; i < set->count; i++) {
        const int64_t label = px_dataset_label(set->set, set->index[i]);
        const bool was = set->said[PX_BEFORE].predicted[i] == label;
        const bool is = set->said[PX_AFTER].predicted[i] == label;
        assert_int_equal(px_repair_flip(set, i), (is && !was) - (was && !is));
        regressions += was && !is;
        fixed += !was && is;
        for (int when = 0; when < 2; when++) {
            const double p = (double)set->said[when].confidence[i];
            assert_true(p >= 0.1 - 1e-6 && p <= 1.0); /* the largest of ten */
            if (set->said[when].predicted[i] == label) {
                correct[when]++;
                right[when] += p;
            }
        }
    }
    assert_int_equal(set->regressions, regressions);
    assert_int_equal(set->fixed, fixed);
    for (int when = 0; when < 2; when++) {
        const px_eval_sum *m = &set->eval[when].all;
        assert_int_equal(m->correct, correct[when]);
        assert_true(m->accuracy == (double)correct[when] / (double)set->count);
        for (int c = 0; c < 10; c++) {
            classes[when] += set->eval[when].by_class[c].labelled;
            class_correct[when] += set->eval[when].by_class[c].correct;
        }
        assert_int_equal(classes[when], set->count);
        assert_int_equal(class_correct[when], correct[when]);
        if (correct[when])
            assert_true(fabs(m->confidence_right - right[when] / (double)correct[when]) < 1e-12);
        assert_true(isfinite(m->loss));
    }
    const px_mcnemar_result test = px_mcnemar(regressions, fixed);
    assert_true(set->mcnemar.chi2 == test.chi2 && set->mcnemar.p == test.p);
}

static void test_report(void **state)
{
    (void)state;
    bench b = bench_open("mlp-1x30");
    const px_repair_options o = bench_options(&b);
    px_repair *repair = repair_run(&o);
    const px_repair_report *r = px_repair_get(repair);
    assert_int_equal(r->train_count, 600);
    assert_int_equal(r->added_count, 160);
    assert_int_equal(r->held_out, 40);
    assert_int_equal(r->failing.count, 40);
    assert_int_equal(r->clean.count, 400);
    assert_int_equal(r->steps, 24);
    assert_int_equal(r->overlap, 0);
    assert_true(r->trained && !r->norms_frozen && !r->outnumbered && r->missing_count == 0);
    assert_int_equal(r->training.epochs, 3);
    check_set(&r->clean);
    check_set(&r->failing);
    assert_true(r->clean.eval[PX_AFTER].all.accuracy > 0.6);
    assert_true(r->clean.eval[PX_BEFORE].all.accuracy < 0.4);
    assert_int_equal(r->verdict, PX_REPAIR_REPAIRED);

    /* What is reported is what the written network does. */
    px_model *after = NULL;
    px_predictions said = {0};
    px_error err = {0};
    const px_property property = {"plexor.repair", "{}"};
    assert_int_equal(px_repair_freeze(repair, &property, 1, &after, &err), PX_OK);
    assert_string_equal(px_model_property(after, "plexor.repair"), "{}");
    assert_int_equal(px_predict(after, o.test.set, o.test.pre, NULL, &said, &err), PX_OK);
    assert_int_equal(said.count, 400);
    assert_memory_equal(said.predicted, r->clean.said[PX_AFTER].predicted,
                        400 * sizeof *said.predicted);
    double loss = 0.0;
    for (int i = 0; i < 400; i++)
        loss += said.loss[i] / 400.0;
    assert_true(fabs(loss - r->clean.eval[PX_AFTER].all.loss) < 1e-9);
    px_predictions_done(&said);
    px_model_free(after);
    px_repair_free(repair);
    bench_close(&b);
}

/* The same bits on any number of threads. */
static void test_determinism(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3};
    px_weights *first = NULL;
    px_model *kept = NULL;
    bench b = bench_open("mlp-2x20");
    for (size_t k = 0; k < PX_LEN(threads); k++) {
        px_repair_options o = bench_options(&b);
        px_model *after = NULL;
        px_weights *weights = NULL;
        px_error err = {0};
        o.threads = threads[k];
        o.augment = "crop:2";
        o.recipe.mix = PX_MIX_FIXED;
        o.recipe.share = 0.3;
        px_repair *repair = repair_run(&o);
        assert_int_equal(px_repair_freeze(repair, NULL, 0, &after, &err), PX_OK);
        assert_int_equal(px_weights_new(after, &weights, &err), PX_OK);
        px_repair_free(repair);
        if (!first) {
            first = weights;
            kept = after;
            continue;
        }
        for (size_t i = 0; i < px_weights_count(first); i++) {
            const px_tensor *x = &px_weights_get(first, i)->tensor;
            const px_tensor *y = &px_weights_get(weights, i)->tensor;
            assert_memory_equal(x->data, y->data, px_tensor_bytes(x));
        }
        px_weights_free(weights);
        px_model_free(after);
    }
    px_weights_free(first);
    px_model_free(kept);
    bench_close(&b);
}

/* --- verdicts -------------------------------------------------------------------------------- */

/* A good network that is shown nothing but one class forgets the others. */
static void test_regressed(void **state)
{
    (void)state;
    static const int64_t sevens[] = {7, 17, 27, 37, 47, 57, 67, 77, 87, 97};
    bench b = bench_open(NULL);
    px_repair_options o = bench_options(&b);
    o.added.items = sevens;
    o.added.count = PX_LEN(sevens);
    o.recipe.mix = PX_MIX_ONLY;
    o.recipe.lr = 0.03;
    o.recipe.epochs = 10;
    o.hold_out = 0.3;
    px_repair *repair = repair_run(&o);
    const px_repair_report *r = px_repair_get(repair);
    assert_int_equal(r->train_count, 0);
    assert_int_equal(r->added_count, 7);
    assert_int_equal(r->missing_count, 9);
    for (int i = 0; i < 9; i++)
        assert_int_equal(r->missing_classes[i], i < 7 ? i : i + 1);
    assert_true(r->norms_frozen);
    assert_true(r->clean.eval[PX_BEFORE].all.accuracy > 0.95);
    assert_true(r->clean.eval[PX_AFTER].all.accuracy < 0.5);
    check_set(&r->clean);
    assert_int_equal(r->verdict, PX_REPAIR_REGRESSED);
    assert_string_equal(px_repair_verdict_name(r->verdict), "regressed");
    px_repair_free(repair);
    bench_close(&b);
}

/* Nothing to add: judged, not trained. */
static void test_nothing_added(void **state)
{
    (void)state;
    bench b = bench_open(NULL);
    for (int held = 0; held < 2; held++) {
        px_repair_options o = bench_options(&b);
        if (held)
            o.hold_out = 1.0;
        else
            o.added = (px_feeder_set){0};
        px_repair *repair = repair_run(&o);
        const px_repair_report *r = px_repair_get(repair);
        px_model *after = NULL;
        px_error err = {0};
        assert_false(r->trained);
        assert_int_equal(r->added_count, 0);
        assert_int_equal(r->failing.count, held ? 200 : 0);
        assert_int_equal(r->verdict, PX_REPAIR_UNCHANGED);
        assert_int_equal(r->clean.regressions + r->clean.fixed, 0);
        assert_true(r->clean.mcnemar.p == 1.0);
        assert_true(r->clean.eval[PX_AFTER].all.accuracy == r->clean.eval[PX_BEFORE].all.accuracy);
        assert_int_equal(px_repair_freeze(repair, NULL, 0, &after, &err), PX_OK);
        px_model_free(after);
        px_repair_free(repair);
    }
    bench_close(&b);
}

/* --- choices --------------------------------------------------------------------------------- */

static void test_norms_and_limits(void **state)
{
    (void)state;
    static const struct {
        const char *recipe;
        px_repair_norms norms;
        px_mix mix;
        bool frozen;
        int64_t train, added;
    } cases[] = {
        {"nss", PX_NORMS_DEFAULT, PX_MIX_APPEND, false, 600, 160},
        {"nss", PX_NORMS_FROZEN, PX_MIX_APPEND, true, 600, 160},
        {"nss", PX_NORMS_DEFAULT, PX_MIX_ONLY, true, 0, 160},
        {"nss", PX_NORMS_TRAINED, PX_MIX_ONLY, false, 0, 160},
        {"deepsensor", PX_NORMS_DEFAULT, PX_MIX_APPEND, true, 500, 160},
        {"deepfault", PX_NORMS_DEFAULT, PX_MIX_ONLY, true, 0, 160},
        {"revisit", PX_NORMS_DEFAULT, PX_MIX_FIXED, false, 600, 160},
    };
    bench b = bench_open("mlp-1x10");
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_repair_options o = bench_options(&b);
        o.recipe = *px_repair_recipe_find(cases[i].recipe);
        o.recipe.mix = cases[i].mix;
        o.recipe.share = 0.5;
        o.norms = cases[i].norms;
        px_repair *repair = repair_new(&o);
        const px_repair_report *r = px_repair_get(repair);
        if (r->norms_frozen != cases[i].frozen || r->train_count != cases[i].train ||
            r->added_count != cases[i].added)
            fail_msg("case %d: frozen %d, %d and %d inputs", (int)i, r->norms_frozen,
                     (int)r->train_count, (int)r->added_count);
        px_repair_free(repair);
    }
    px_repair_options o = bench_options(&b); /* more added than there is */
    static const int64_t few[] = {0, 1, 2, 3};
    o.train.items = few;
    o.train.count = 4;
    px_repair *repair = repair_new(&o);
    assert_true(px_repair_get(repair)->outnumbered);
    px_repair_free(repair);
    bench_close(&b);
}

/* The network's own optimiser at a tenth of its rate, or a guess that is called one. */
static void test_own_optimizer(void **state)
{
    (void)state;
    static const struct {
        const char *train, *optimizer;
        double lr;
        bool guessed;
    } cases[] = {
        {NULL, "sgd:momentum=0.9", 0.001, true},
        {"not json", "sgd:momentum=0.9", 0.001, true},
        {"[1]", "sgd:momentum=0.9", 0.001, true},
        {"{\"optimizer\": 3, \"lr\": 1}", "sgd:momentum=0.9", 0.001, true},
        {"{\"optimizer\": \"rocket\", \"lr\": 1}", "sgd:momentum=0.9", 0.001, true},
        {"{\"optimizer\": \"adam\", \"lr\": -1}", "sgd:momentum=0.9", 0.001, true},
        {"{\"optimizer\": \"adam:beta1=0.8\", \"lr\": 0.02}", "adam:beta1=0.8", 0.002, false},
    };
    bench b = bench_open("mlp-1x10");
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_weights *weights = NULL;
        px_model *model = NULL;
        px_error err = {0};
        const px_property property = {"plexor.train", cases[i].train};
        assert_int_equal(px_weights_new(b.model, &weights, &err), PX_OK);
        assert_int_equal(
            px_weights_freeze(weights, &property, cases[i].train ? 1 : 0, &model, &err), PX_OK);
        px_weights_free(weights);
        px_repair_options o = bench_options(&b);
        o.model = model;
        o.recipe = *px_repair_recipe_find("deepsensor");
        px_repair *repair = repair_new(&o);
        const px_repair_report *r = px_repair_get(repair);
        assert_string_equal(r->recipe.optimizer, cases[i].optimizer);
        assert_true(fabs(r->recipe.lr - cases[i].lr) < 1e-15);
        assert_int_equal(r->optimizer_guessed, cases[i].guessed);
        px_repair_free(repair);
        px_model_free(model);
    }
    bench_close(&b);
}

/* Failing inputs given, a validation set that chooses the epoch, test inputs that were added. */
static void test_other_sets(void **state)
{
    (void)state;
    bench b = bench_open("mlp-1x30");
    px_dataset *failing = open_digits("train", 40000, 77), *inside = open_digits("test", 300, 300);
    px_repair_options o = bench_options(&b);
    o.failing = (px_judge_set){failing, &b.pre};
    o.validation = (px_judge_set){failing, &b.pre};
    o.added.set = inside;
    o.hold_out = 0.0;
    px_repair *repair = repair_run(&o);
    const px_repair_report *r = px_repair_get(repair);
    assert_int_equal(r->failing.count, 77);
    assert_true(r->failing.set == failing);
    assert_int_equal(r->overlap, 100);
    assert_int_equal(r->clean.count, 300);
    assert_in_range(r->training.best_epoch, 1, 3);
    assert_true(r->training.best_accuracy == r->failing.eval[PX_AFTER].all.accuracy);
    check_set(&r->clean);
    check_set(&r->failing);
    px_repair_free(repair);
    px_dataset_close(failing);
    px_dataset_close(inside);
    bench_close(&b);
}

/* A rate that breaks every epoch: three retries, each with half of it, then an error. */
static void test_divergence(void **state)
{
    (void)state;
    bench b = bench_open("mlp-1x10");
    px_repair_options o = bench_options(&b);
    px_error err = {0};
    o.recipe.optimizer = "sgd";
    o.recipe.lr = 1e30;
    px_repair *repair = repair_new(&o);
    assert_int_equal(px_repair_run(repair, &err), PX_E_INTERNAL);
    const px_repair_report *r = px_repair_get(repair);
    assert_false(r->trained);
    assert_true(r->training.diverged);
    assert_int_equal(r->training.halvings, 3);
    assert_non_null(strstr(err.message, "not a number"));
    px_repair_free(repair);
    bench_close(&b);
}

static void spoil_test(px_repair_options *o)
{
    o->test.set = NULL;
}
static void spoil_hold_out(px_repair_options *o)
{
    o->hold_out = 1.5;
}
static void spoil_overlap(px_repair_options *o)
{
    o->added.set = o->test.set;
    o->hold_out = 0.0;
}
static void spoil_train(px_repair_options *o)
{
    o->train.set = NULL;
}
static void spoil_optimizer(px_repair_options *o)
{
    o->recipe.optimizer = "adamant";
}

static void test_bad_options(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(px_repair_options *o);
        px_status status;
        const char *words;
    } bad[] = {
        {spoil_test, PX_E_USAGE, "a repair needs a test set"},
        {spoil_hold_out, PX_E_USAGE, "holding out 1.5: expected a fraction"},
        {spoil_overlap, PX_E_MISMATCH, "every test input is among the added ones"},
        {spoil_train, PX_E_USAGE, "mode 'append' needs a base set"},
        {spoil_optimizer, PX_E_USAGE, "adamant"},
    };
    bench b = bench_open("mlp-1x10");
    for (size_t i = 0; i < PX_LEN(bad); i++) {
        px_repair_options o = bench_options(&b);
        px_repair *repair = NULL;
        px_error err = {0};
        bad[i].spoil(&o);
        const px_status status = px_repair_new(&o, &repair, &err);
        if (status != bad[i].status || !strstr(err.message, bad[i].words) || repair)
            fail_msg("'%s': status %d, '%s'", bad[i].words, (int)status, err.message);
    }
    bench_close(&b);
}

static void test_modes_and_recipes(void **state)
{
    (void)state;
    px_mix mix;
    double share, attacked;
    px_error err = {0};
    assert_int_equal(px_repair_mode_parse("fixed:0.25", &mix, &share, &attacked, &err), PX_OK);
    assert_true(mix == PX_MIX_FIXED && share == 0.25 && attacked == 0.0);
    static const struct {
        const char *text;
        double attacked; /* 0: refused */
    } modes[] = {{"adversarial", 1.0},   {"adversarial:0.5", 0.5}, {"adversarial:1", 1.0},
                 {"adversarial:0", 0},   {"adversarial:1.1", 0},   {"adversarial:", 0},
                 {"adversarial:x", 0},   {"adversarial:0.5x", 0},  {"adversarialx", 0},
                 {"adversarial:nan", 0}, {"sideways", 0}};
    for (size_t i = 0; i < PX_LEN(modes); i++) {
        const px_status status = px_repair_mode_parse(modes[i].text, &mix, &share, &attacked, &err);
        if (status != (modes[i].attacked > 0.0 ? PX_OK : PX_E_USAGE) ||
            (status == PX_OK && (attacked != modes[i].attacked || mix != PX_MIX_APPEND)))
            fail_msg("mode '%s': status %d, %g of every batch", modes[i].text, (int)status,
                     attacked);
    }
    for (size_t i = 0; i < px_repair_recipe_count(); i++)
        assert_ptr_equal(px_repair_recipe_find(px_repair_recipe_get(i)->entry.id),
                         px_repair_recipe_get(i));
    assert_null(px_repair_recipe_find("nothing"));
    const px_repair_recipe *nss = px_repair_recipe_find("nss");
    assert_true(nss->epochs == 40 && nss->lr == 0.001 && nss->batch == 128);
}

static void test_flips_file(void **state)
{
    (void)state;
    bench b = bench_open("mlp-1x30");
    const px_repair_options o = bench_options(&b);
    px_repair *repair = repair_run(&o);
    const px_repair_report *r = px_repair_get(repair);
    char path[] = "/tmp/plexor-flips-XXXXXX", line[512];
    px_error err = {0};
    close(mkstemp(path));
    assert_int_equal(px_repair_save_flips(repair, path, &err), PX_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int64_t counts[2][2] = {{0}};
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(
        line, "set,flip,index,name,label,before,after,confidence_before,confidence_after\n");
    while (fgets(line, sizeof line, file)) {
        const bool clean = strncmp(line, "clean,", 6) == 0, fixed = strstr(line, ",fixed,") != NULL;
        long long index, label, before, after;
        char name[64];
        double was, is;
        assert_int_equal(sscanf(strchr(strchr(line, ',') + 1, ','),
                                ",%lld,%63[^,],%lld,%lld,%lld,%lf,%lf", &index, name, &label,
                                &before, &after, &was, &is),
                         7);
        assert_true((before == label) == !fixed && (after == label) == fixed);
        counts[clean][fixed]++;
    }
    fclose(file);
    remove(path);
    assert_int_equal(counts[1][0], r->clean.regressions);
    assert_int_equal(counts[1][1], r->clean.fixed);
    assert_int_equal(counts[0][0], r->failing.regressions);
    assert_int_equal(counts[0][1], r->failing.fixed);
    px_repair_free(repair);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report),           cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_regressed),        cmocka_unit_test(test_nothing_added),
        cmocka_unit_test(test_norms_and_limits), cmocka_unit_test(test_own_optimizer),
        cmocka_unit_test(test_other_sets),       cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_bad_options),      cmocka_unit_test(test_modes_and_recipes),
        cmocka_unit_test(test_flips_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
