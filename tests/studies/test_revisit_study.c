/* tests/studies/test_revisit_study.c - revisit on procedural digits: the same cells for any number
 * of threads and after interruptions, matched arms of one size, and what is planned */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "revisit/revisit.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUTS = 120 };

typedef struct visit {
    char folder[32];
    const char *data; /* NULL: digits */
    px_study *study;
    size_t most; /* cells: cancelled once there are so many; 0: never */
} visit;

static void copy(const char *from, const char *to)
{
    char buffer[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        assert_int_equal(fwrite(buffer, 1, n, out), n);
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
}

/* A folder with a network in it, as if it had been trained. */
static void visit_begin(visit *v)
{
    char path[96];
    snprintf(v->folder, sizeof v->folder, "revisit-XXXXXX");
    assert_non_null(mkdtemp(v->folder));
    snprintf(path, sizeof path, "%s/models", v->folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/models/mnist_lenet1_1.onnx", v->folder);
    copy(DIGITS, path);
}

static bool visit_progress(void *context, int64_t done, int64_t total)
{
    const visit *v = context;
    (void)done;
    (void)total;
    return v->most == 0 || pxi_cells_count(v->study->cells) < v->most;
}

static void visit_open(visit *v, const char *parts, int threads)
{
    px_error err = {0};
    const char *const data[] = {v->data ? v->data : "mnist=digits"};
    px_study_options o = px_study_options_default();
    o.folder = v->folder;
    o.data = data;
    o.data_count = PX_LEN(data);
    o.dataset = "mnist";
    o.arch = "lenet1";
    o.parts = parts;
    o.runs = 1;
    o.limit = INPUTS;
    o.threads = threads;
    o.progress = visit_progress;
    o.context = v;
    px_study_free(v->study);
    v->study = NULL;
    if (px_study_new("revisit", &o, &v->study, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* How many files are in models/. */
static int visit_files(const visit *v, bool remove)
{
    char path[400];
    int count = 0;
    snprintf(path, sizeof path, "%s/models", v->folder);
    DIR *models = opendir(path);
    assert_non_null(models);
    for (const struct dirent *e; (e = readdir(models));) {
        if (e->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, sizeof path, "%s/models/%s", v->folder, e->d_name);
        if (remove)
            unlink(path);
    }
    closedir(models);
    return count;
}

static void visit_end(visit *v)
{
    char path[64];
    px_study_free(v->study);
    visit_files(v, true);
    snprintf(path, sizeof path, "%s/models", v->folder);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/cells.jsonl", v->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/.plexor", v->folder);
    unlink(path);
    assert_int_equal(rmdir(v->folder), 0);
}

static void visit_run(visit *v)
{
    px_error err = {0};
    if (px_study_run(v->study, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* All cells of a are in b with the same numbers. */
static void same_cells(const visit *a, const visit *b)
{
    size_t compared = 0;
    for (size_t i = 0; i < pxi_cells_count(a->study->cells); i++) {
        const char *key = pxi_cells_at(a->study->cells, i)->key;
        if (strncmp(key, "mnist lenet1 rq", 15) != 0)
            continue;
        const study_cell *x = pxi_cells_find(a->study->cells, key);
        const study_cell *y = pxi_cells_find(b->study->cells, key);
        if (!y || x->count != y->count)
            fail_msg("'%s' is not there, or is another", key);
        for (size_t n = 0; n < x->count; n++)
            if (memcmp(&x->values[n].number, &y->values[n].number, sizeof(double)) != 0 &&
                !(isnan(x->values[n].number) && isnan(y->values[n].number)))
                fail_msg("'%s', %s: %.17g and %.17g", key, x->values[n].name, x->values[n].number,
                         y->values[n].number);
        compared++;
    }
    assert_true(compared >= 2 + 2 * 11 + 2 * 4 * 11);
}

static double value(const visit *v, const char *name, const char *format, const char *a,
                    const char *b, int k)
{
    char words[64], key[CELL_KEY];
    snprintf(words, sizeof words, format, a, b, k);
    rv_key(v->study, 0, 1, key, "%s", words);
    const study_cell *cell = pxi_cells_find(v->study->cells, key);
    if (!cell)
        fail_msg("there is no '%s'", key);
    return pxi_cell_number(cell, name);
}

/* What the arms of a rule added: each a sum over its rounds, matched ones as many as each other,
 * and none more than it found or than was wrong. */
static void check_arms(const visit *v, const char *rule)
{
    double total[RV_ARMS] = {0};
    for (int k = 0; k <= RV_STEPS; k++) {
        double added[RV_ARMS], found[RV_ARMS];
        for (size_t arm = 0; arm < RV_ARMS; arm++) {
            const char *id = rv_arm_ids[arm];
            added[arm] = value(v, "added", RV_RQ2_KEY, id, rule, k);
            found[arm] = value(v, "found", RV_RQ2_KEY, id, rule, k);
            total[arm] += added[arm];
            if (value(v, "size", RV_RQ2_KEY, id, rule, k) != INPUTS + total[arm])
                fail_msg("%s %s, round %d: the size is no sum", id, rule, k);
            if (k > 0 && (found[arm] > value(v, "wrong", RV_RQ2_KEY, id, rule, k) ||
                          (arm <= RV_REMAINING && added[arm] != found[arm])))
                fail_msg("%s %s, round %d: %g of %g added", id, rule, k, added[arm], found[arm]);
            const double coverage = value(v, "coverage", RV_RQ2_KEY, id, rule, k);
            assert_true(coverage > 0.0 && coverage <= 1.0);
        }
        if (k > 0 && (added[RV_IMPROVING_MATCHED] != added[RV_REMAINING_MATCHED] ||
                      added[RV_IMPROVING_MATCHED] !=
                          fmin(found[RV_IMPROVING_MATCHED], found[RV_REMAINING_MATCHED])))
            fail_msg("%s, round %d: the matched arms add %g and %g", rule, k,
                     added[RV_IMPROVING_MATCHED], added[RV_REMAINING_MATCHED]);
    }
    assert_true(total[RV_IMPROVING] > 0.0 && total[RV_REMAINING] > 0.0); /* or nothing is tested */
}

static void check_growth(const visit *v)
{
    static const char *const words[] = {"", " pairwise"};
    for (size_t w = 0; w < PX_LEN(words); w++) {
        char format[32];
        snprintf(format, sizeof format, "rq1%s%%s%%s i=%%d", words[w]);
        for (int k = 1; k <= RV_STEPS; k++)
            for (size_t c = 0; c < RV_COVERAGES; c++)
                if (value(v, rv_coverages[c].cell, format, "", "", k) <
                    value(v, rv_coverages[c].cell, format, "", "", k - 1))
                    fail_msg("%s shrinks in step %d", rv_coverages[c].title, k);
        assert_true(value(v, "cov_nbc", format, "", "", 0) == 0.0); /* ranges are those of D_0 */
    }
}

static void check_rates(const visit *v)
{
    const double dh = value(v, "mr_dh", "rq3%s%s", "", "", 0);
    const double pgd = value(v, "mr_pgd", "rq3%s%s", "", "", 0);
    const double benign = value(v, "mr_benign", "rq3%s%s", "", "", 0);
    assert_true(benign < dh && dh < pgd && pgd > 0.9);
}

/* --- the package's test sets, made again one picture at a time -------------------------------- */

/* What picture i covers alone, scaled per layer by its own extremes, before and after
 * activations. */
static int64_t covered_alone(const rv_bench *b, const rv_pictures *pictures, int64_t i)
{
    bool only[INPUTS] = {false};
    px_error err = {0};
    int64_t covered = 0;
    only[i] = true;
    for (rv_scale scale = RV_SCALED_IN; scale <= RV_SCALED; scale++) {
        px_cover *cover = NULL;
        assert_int_equal(rv_cover_new(b, b->model, scale, &cover, &err), PX_OK);
        assert_int_equal(rv_cover_add(b, cover, pictures, only, &err), PX_OK);
        covered += px_cover_value(cover, 0).covered;
        px_cover_free(cover);
    }
    return covered;
}

static void predictions(const rv_bench *b, const rv_pictures *pictures, int64_t out[INPUTS])
{
    rv_traces traces = {.count = 0};
    px_cover *cover = NULL;
    px_error err = {0};
    assert_int_equal(rv_cover_new(b, b->model, RV_RAW, &cover, &err), PX_OK);
    assert_int_equal(rv_traces_make(b, cover, pictures, 0, INPUTS, &traces, &err), PX_OK);
    for (int64_t i = 0; i < INPUTS; i++)
        out[i] = traces.facts[i].predicted;
    rv_traces_done(&traces);
    px_cover_free(cover);
}

static void check_package_set(const visit *v, const rv_bench *b, int set)
{
    rv_pictures mutants = {.set = NULL};
    px_error err = {0};
    int64_t of_mutants[INPUTS], of_tests[INPUTS];
    int put = 0, wrong = 0, own = 0;
    char format[3][32];
    const char *const names[] = {"mr_", "own_", "put_"};
    assert_int_equal(rv_mutants(b, set, &b->inputs, INPUTS, &mutants, &err), PX_OK);
    predictions(b, &mutants, of_mutants);
    predictions(b, &b->test, of_tests);
    for (int64_t i = 0; i < INPUTS; i++) {
        const bool more = covered_alone(b, &mutants, i) > covered_alone(b, &b->test, i);
        const int64_t said = more ? of_mutants[i] : of_tests[i];
        put += more;
        wrong += said != b->test.labels[i];
        own += said != (more ? mutants.labels : b->test.labels)[i];
    }
    rv_pictures_done(&mutants);
    const double expected[] = {wrong, own, put};
    for (int i = 0; i < 3; i++) {
        snprintf(format[i], sizeof format[i], "%s%s", names[i], rv_set_ids[set]);
        assert_float_equal(value(v, format[i], "%s%s", rv_rq3_keys[RV_OF_PACKAGE], "", 0),
                           expected[i] / INPUTS, 1e-12);
    }
    assert_true(put > 0 && put < INPUTS && wrong > own); /* or nothing is tested */
}

/* IDX files of a part, beginning with input `first`. */
static void write_part(const char *data_folder, const char *part, const rv_pictures *pictures,
                       int64_t first)
{
    const uint8_t images[16] = {0, 0, 8, 3, 0, 0, 0, INPUTS, 0, 0, 0, 28, 0, 0, 0, 28};
    const uint8_t labels[8] = {0, 0, 8, 1, 0, 0, 0, INPUTS};
    char path[96];
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", data_folder, part);
    FILE *image_file = fopen(path, "wb");
    snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", data_folder, part);
    FILE *label_file = fopen(path, "wb");
    assert_true(image_file && label_file);
    fwrite(images, 1, sizeof images, image_file);
    fwrite(labels, 1, sizeof labels, label_file);
    for (int64_t i = 0; i < INPUTS; i++) {
        const int64_t from = (first + i) % INPUTS;
        fwrite(pictures->bytes + (size_t)from * pictures->size, 1, pictures->size, image_file);
        fputc((int)pictures->labels[from], label_file);
    }
    assert_int_equal(fclose(image_file), 0);
    assert_int_equal(fclose(label_file), 0);
}

static px_status bench_of(const visit *v, rv_bench *b, px_error *err)
{
    const study_job job = {.kind = "rq3", .subject = 0, .run = 1, .network = 1};
    return rv_bench_open(v->study, &job, b, err);
}

/* The classes of digits take turns, in training as in tests: so the training inputs are moved on
 * by three, that labels of the two at one place differ. */
static void test_package(void **state)
{
    (void)state;
    static const char *const files[] = {"train-images-idx3", "train-labels-idx1",
                                        "t10k-images-idx3", "t10k-labels-idx1"};
    visit v = {.study = NULL}, moved = {.study = NULL};
    rv_bench b = {.study = NULL};
    px_error err = {0};
    char folder[] = "revisit-XXXXXX", spec[64], path[96];
    visit_begin(&v);
    visit_open(&v, "rq3", 2);
    visit_run(&v);
    assert_int_equal(bench_of(&v, &b, &err), PX_OK);
    assert_non_null(mkdtemp(folder));
    write_part(folder, "train", &b.inputs, 3);
    write_part(folder, "t10k", &b.test, 0);
    rv_bench_close(&b);
    visit_end(&v);

    snprintf(spec, sizeof spec, "mnist=%s", folder);
    moved.data = spec;
    visit_begin(&moved);
    visit_open(&moved, "rq3", 2);
    visit_run(&moved);
    assert_int_equal(bench_of(&moved, &b, &err), PX_OK);
    for (int set = RV_DHD; set <= RV_DH; set++)
        check_package_set(&moved, &b, set);
    rv_bench_close(&b);
    visit_end(&moved);
    for (size_t i = 0; i < PX_LEN(files); i++) {
        snprintf(path, sizeof path, "%s/%s-ubyte", folder, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void test_threads_and_interruptions(void **state)
{
    (void)state;
    visit one = {.study = NULL}, two = {.study = NULL}, cut = {.study = NULL};
    int64_t jobs = 0;
    double seconds = 0.0;
    visit_begin(&one);
    visit_open(&one, "rq1,rq2,rq3", 1);
    px_study_left(one.study, &jobs, &seconds);
    assert_int_equal(jobs, 1 + 2 + 2 + 2); /* the network; RQ3, RQ1 and RQ2 by two rules */
    visit_run(&one);
    assert_int_equal(visit_files(&one, false), 1); /* of rounds nothing is left */
    check_arms(&one, "set");
    check_arms(&one, "pairwise");
    check_growth(&one);
    check_rates(&one);

    visit_begin(&two);
    visit_open(&two, "rq1,rq2,rq3", 2);
    visit_run(&two);
    same_cells(&one, &two);

    visit_begin(&cut);
    int cuts = 0;
    while (jobs > 0) { /* a few cells at a time, and in the middle of things */
        px_error err = {0};
        visit_open(&cut, "rq1,rq2,rq3", 2);
        cut.most = pxi_cells_count(cut.study->cells) + 17;
        const px_status status = px_study_run(cut.study, &err);
        if (status != PX_OK && status != PX_E_CANCELLED)
            fail_msg("%s", err.message);
        cuts += status == PX_E_CANCELLED;
        visit_open(&cut, "rq1,rq2,rq3", 2);
        px_study_left(cut.study, &jobs, &seconds);
    }
    assert_true(cuts >= 5);
    same_cells(&one, &cut);
    assert_int_equal(visit_files(&cut, false), 1);
    visit_end(&one);
    visit_end(&two);
    visit_end(&cut);
}

/* A list of a round that was tampered with is refused by name. */
static void test_bad_round(void **state)
{
    (void)state;
    visit v = {.study = NULL};
    px_error err = {0};
    char path[128];
    visit_begin(&v);
    for (size_t arm = 0; arm < RV_ARMS; arm++) {
        snprintf(path, sizeof path, "%s/models/mnist_lenet1_1_rq2_set_%s_run1_n%d_4.onnx", v.folder,
                 rv_arm_ids[arm], INPUTS);
        copy(DIGITS, path);
    }
    const int64_t far = INPUTS;
    int64_t values[2] = {1, far};
    const px_tensor tensor = {.dtype = PX_INT64, .shape = {.rank = 1, .dim = {2}}, .data = values};
    snprintf(path, sizeof path, "%s/models/mnist_lenet1_1_rq2_set_improving_run1_n%d_4.npy",
             v.folder, INPUTS);
    assert_int_equal(px_npy_save(path, &tensor, &err), PX_OK);
    visit_open(&v, "rq2", 2);
    assert_int_equal(px_study_run(v.study, &err), PX_E_INPUT);
    assert_non_null(
        strstr(err.message, "_improving_run1_n120_4.npy' is no list of 120 candidates"));
    visit_end(&v);
}

static void test_options(void **state)
{
    (void)state;
    static const struct {
        int64_t limit;
        const char *words;
    } cases[] = {{5, "--limit 5: the inputs are taken in 10 parts"}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_study *study = NULL;
        px_error err = {0};
        char folder[] = "revisit-XXXXXX", path[64];
        px_study_options o = px_study_options_default();
        assert_non_null(mkdtemp(folder));
        o.folder = folder;
        o.limit = cases[i].limit;
        assert_int_equal(px_study_new("revisit", &o, &study, &err), PX_E_USAGE);
        assert_string_equal(err.message, cases[i].words);
        snprintf(path, sizeof path, "%s/cells.jsonl", folder);
        unlink(path);
        snprintf(path, sizeof path, "%s/.plexor", folder);
        unlink(path);
        assert_int_equal(rmdir(folder), 0);
    }
    for (size_t s = 0; s < RV_ROWS; s++) { /* the paper's networks, in its order */
        assert_string_equal(rv_subjects[s].dataset, rv_rows[s].dataset);
        assert_string_equal(rv_subjects[s].arch, rv_rows[s].arch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_bad_round),
        cmocka_unit_test(test_package),
        cmocka_unit_test(test_threads_and_interruptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
