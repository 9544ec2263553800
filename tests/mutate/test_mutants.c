/* tests/mutate/test_mutants.c - mutants as figures and files, against a data set of mutants */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <internal/mutants.h>
#include <internal/mutate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 9, PIXELS = 28 * 28 };

static px_dataset *digits;
static char path[256];

static int open_digits(void **state)
{
    px_data_options options = px_data_options_default();
    px_error err = {0};
    const char *folder = getenv("TEST_SCRATCH");
    (void)state;
    options.limit = N;
    snprintf(path, sizeof path, "%s/mutants-%ld.npz", folder ? folder : "/tmp", (long)getpid());
    return px_dataset_open("digits", &options, &digits, &err) != PX_OK;
}

static int close_digits(void **state)
{
    (void)state;
    unlink(path);
    px_dataset_close(digits);
    return 0;
}

/* One mutant of each input is what a px_mutant_set has. */
static void test_is_a_mutant_set(void **state)
{
    (void)state;
    px_mutants_options options = px_mutants_options_default();
    px_mutants made = {0};
    px_mutations from;
    px_mutant_set *set = NULL;
    px_npz *npz = NULL;
    px_error err = {0};
    double changed = 0.0, largest = 0.0;
    int64_t shears = 0;
    options.set = digits;
    options.from = "nss:shear,rotation";
    options.seed = 11;
    options.path = path;
    assert_int_equal(px_mutants_make(&options, &made, &err), PX_OK);
    assert_int_equal(px_mutations_parse(options.from, &from, &err), PX_OK);
    assert_int_equal(px_mutant_set_new(digits, &from, 11, PX_MUTATE_CANDIDATES, &set, &err), PX_OK);
    assert_int_equal(px_npz_open(path, &npz, &err), PX_OK);
    const px_tensor *x = px_npz_get(npz, "x"), *y = px_npz_get(npz, "y");
    assert_true(x && y && x->dtype == PX_UINT8 && x->shape.dim[0] == N);
    assert_int_equal(made.count, N);
    assert_int_equal(made.inputs, N);
    assert_null(made.chain);
    for (int64_t i = 0; i < N; i++) {
        char got[PX_DRAWN_TEXT], wanted[PX_DRAWN_TEXT];
        float before[PIXELS], after[PIXELS];
        const px_mutant *m = &made.items[i];
        const px_drawn drawn = px_mutant_set_drawn(set, i);
        uint64_t l0 = 0;
        double linf = 0.0;
        assert_string_equal(px_drawn_text(&m->drawn, got), px_drawn_text(&drawn, wanted));
        assert_int_equal(px_dataset_pixels(digits, i, before, &err), PX_OK);
        assert_int_equal(px_dataset_pixels(px_mutant_set_data(set), i, after, &err), PX_OK);
        for (int k = 0; k < PIXELS; k++) {
            l0 += before[k] != after[k];
            linf = fmax(linf, fabs((double)before[k] - (double)after[k]));
            assert_int_equal(((const uint8_t *)x->data)[i * PIXELS + k], (int)after[k]);
        }
        assert_int_equal(m->change.l0, l0);
        assert_int_equal(m->change.linf, (int)linf);
        assert_int_equal(m->size, PIXELS);
        assert_int_equal(m->label, px_dataset_label(digits, i));
        assert_int_equal(((const int64_t *)y->data)[i], m->label);
        if (drawn.mutation != px_mutation_find("shear"))
            continue;
        shears++;
        changed += (double)l0 / PIXELS;
        largest += linf;
    }
    const px_mutants_sum sum = px_mutants_add(&made, px_mutation_find("shear"));
    assert_true(shears > 0 && shears < N);
    assert_int_equal(sum.count, shears);
    assert_true(fabs(sum.changed - changed / (double)shears) < 1e-12);
    assert_true(fabs(sum.largest - largest / (double)shears) < 1e-12);
    assert_int_equal(px_mutants_add(&made, px_mutation_find("blur")).count, 0);
    px_npz_close(npz);
    px_mutant_set_free(set);
    px_mutants_done(&made);
}

static void test_chain(void **state)
{
    (void)state;
    static const char *const given[] = {"brightness factor=0.1", "brightness factor=10"};
    px_mutants_options options = px_mutants_options_default();
    px_mutants made = {0};
    px_error err = {0};
    options.set = digits;
    options.given = given;
    options.given_count = 2;
    options.chain = true;
    assert_int_equal(px_mutants_make(&options, &made, &err), PX_OK);
    assert_string_equal(made.chain, "brightness factor=0.1; brightness factor=10");
    assert_int_equal(made.count, N);
    for (int64_t i = 0; i < N; i++) { /* a tenth, in whole levels, times ten */
        float pixels[PIXELS];
        int linf = 0;
        uint64_t l0 = 0;
        assert_int_equal(px_dataset_pixels(digits, i, pixels, &err), PX_OK);
        for (int k = 0; k < PIXELS; k++) {
            const int level = (int)pixels[k], tenth = (int)((double)level * 0.1 + 0.5);
            const int back = tenth * 10 > 255 ? 255 : tenth * 10;
            l0 += back != level;
            linf = abs(back - level) > linf ? abs(back - level) : linf;
        }
        assert_int_equal(made.items[i].change.l0, l0);
        assert_int_equal(made.items[i].change.linf, linf);
    }
    px_mutants_done(&made);
    options.chain = false;
    assert_int_equal(px_mutants_make(&options, &made, &err), PX_OK);
    assert_int_equal(made.count, 2 * N);
    assert_null(made.chain);
    px_mutants_done(&made);
}

static bool stop(void *context, int64_t done, int64_t total)
{
    *(int64_t *)context = done;
    return done < total / 2;
}

static void test_refused_and_stopped(void **state)
{
    (void)state;
    static const char *const one[] = {"rotation angle=10"};
    px_mutants_options options = px_mutants_options_default();
    px_mutants made = {0};
    px_error err = {0};
    int64_t done = 0;
    options.set = digits;
    options.given = one;
    options.given_count = 1;
    options.chain = true;
    assert_int_equal(px_mutants_make(&options, &made, &err), PX_E_USAGE);
    options.chain = false;
    options.path = "/nowhere/at/all/x.npz";
    assert_int_equal(px_mutants_make(&options, &made, &err), PX_E_INPUT);
    options.path = NULL;
    options.progress = stop;
    options.context = &done;
    assert_int_equal(px_mutants_make(&options, &made, &err), PX_E_CANCELLED);
    assert_int_equal(done, N / 2);
    assert_null(made.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_a_mutant_set),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_refused_and_stopped),
    };
    return cmocka_run_group_tests(tests, open_digits, close_digits);
}
