/* tests/localize/test_spectrum.c - counting hits: threshold, threads, shards, files, refusals */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize_helpers.h"

#include "base/memory.h"
#include "engine/net.h"

#include <internal/localize.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 700 };

typedef struct fixture {
    px_model *model;
    small_data data;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f.model = small_net(11, 3);
    f.data = small_digits(f.model, "test", INPUTS, 0);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    small_close(&f->data);
    px_model_free(f->model);
    return 0;
}

static px_spectrum *spectrum_make(const fixture *f, double theta, int threads)
{
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum *spectrum = NULL;
    px_error err = {0};
    options.theta = theta;
    options.threads = threads;
    if (px_spectrum_new(f->model, NULL, &options, &spectrum, &err) != PX_OK)
        fail_msg("%s", err.message);
    return spectrum;
}

static void spectrum_run(px_spectrum *spectrum, const fixture *f, int64_t shard, int64_t shards)
{
    const px_spectrum_run_options run = {.shard = shard, .shards = shards};
    px_error err = {0};
    if (px_spectrum_run(spectrum, f->data.set, &f->data.pre, &run, &err) != PX_OK)
        fail_msg("shard %d of %d: %s", (int)shard, (int)shards, err.message);
}

static void spectrum_write(const px_spectrum *spectrum, const char *name)
{
    char path[TEST_PATH];
    px_error err = {0};
    if (px_spectrum_save(spectrum, test_path(name, path), &err) != PX_OK)
        fail_msg("%s", err.message);
}

static px_spectrum *spectrum_read(const char *name)
{
    char path[TEST_PATH];
    px_spectrum *spectrum = NULL;
    px_error err = {0};
    if (px_spectrum_open(test_path(name, path), &spectrum, &err) != PX_OK)
        fail_msg("%s", err.message);
    return spectrum;
}

static void test_threshold_is_strict(void **state)
{
    (void)state;
    static const struct {
        double theta;
        uint32_t active; /* of the values below */
    } cases[] = {/* 0.1f is above 0.1 */ {0.0, 3},
                 {-1.0, 5},
                 {0.1, 3},
                 {0.25, 1},
                 {1e-60, 3},
                 {-1e-60, 4},
                 {1e300, 0}};
    static const float values[6] = {-2.0f, -0.5f, 0.0f, 0.1f, 0.25f, 0.5f};
    const px_input_facts facts[6] = {{0}};
    for (size_t i = 0; i < PX_LEN(cases); i++) { /* six inputs, one neuron */
        pxi_counts counts;
        const px_rows rows = {.count = 6, .width = 1, .values = values, .facts = facts};
        assert_int_equal(pxi_counts_init(&counts, 1, 1, NULL), PX_OK);
        assert_int_equal(pxi_counts_observe(&counts, &rows, cases[i].theta, NULL), PX_OK);
        if (counts.of[0].active[PXI_PASS][0] != cases[i].active)
            fail_msg("theta %g: active %u times", cases[i].theta, counts.of[0].active[PXI_PASS][0]);
        assert_int_equal(counts.of[0].inputs[PXI_PASS], 6);
        pxi_counts_done(&counts);
    }
}

static void test_the_sums_fit(void **state)
{
    const fixture *f = *state;
    px_spectrum *spectrum = spectrum_make(f, 0.0, 2);
    int64_t always = -1, never = -1, seen = 0;
    px_spectrum_extremes(spectrum, &always, &never);
    assert_int_equal(always + never, 0); /* nothing seen */
    spectrum_run(spectrum, f, 0, 1);
    assert_int_equal(px_spectrum_classes(spectrum), 10);
    assert_int_equal(px_spectrum_layer_count(spectrum), 3);
    assert_int_equal(px_spectrum_neuron_count(spectrum), 3 + 6 + 12);
    assert_string_equal(px_spectrum_definition(spectrum),
                        "layers=hidden tap=post neurons=chan: 3 layers, 21 neurons");
    for (int c = 0; c < 10; c++) {
        seen += px_spectrum_passed(spectrum, c) + px_spectrum_failed(spectrum, c);
        for (int64_t n = 0; n < 21; n++) {
            const px_hits h = px_spectrum_hits(spectrum, c, n);
            assert_int_equal(h.af + h.nf, px_spectrum_failed(spectrum, c));
            assert_int_equal(h.as + h.ns, px_spectrum_passed(spectrum, c));
        }
    }
    assert_int_equal(seen, INPUTS);
    const px_hits out = px_spectrum_hits(spectrum, 10, 0);
    assert_int_equal(out.af + out.nf + out.as + out.ns, 0);
    assert_int_equal(px_spectrum_passed(spectrum, 10), 0);
    px_spectrum_extremes(spectrum, &always, &never);
    int64_t counted = 0;
    for (int64_t n = 0; n < 21; n++) {
        const px_hits h = px_spectrum_hits(spectrum, PX_POOLED, n);
        counted += h.as + h.af == INPUTS;
    }
    assert_int_equal(always, counted);
    px_spectrum_free(spectrum);
}

static void test_threads_and_shards(void **state)
{
    const fixture *f = *state;
    char whole[TEST_PATH], other[TEST_PATH];
    px_error err = {0};
    px_spectrum *spectrum = spectrum_make(f, 0.0, 1);
    spectrum_run(spectrum, f, 0, 1);
    spectrum_write(spectrum, "whole.spectrum");
    px_spectrum_free(spectrum);
    test_path("whole.spectrum", whole);
    test_path("other.spectrum", other);
    for (int threads = 2; threads <= 3; threads++) {
        spectrum = spectrum_make(f, 0.0, threads);
        spectrum_run(spectrum, f, 0, 1);
        spectrum_write(spectrum, "other.spectrum");
        px_spectrum_free(spectrum);
        assert_same_file(whole, other, "threads");
    }
    for (int shards = 2; shards <= 3; shards++) {
        px_spectrum *sum = NULL;
        for (int i = shards; i-- > 0;) { /* backwards */
            spectrum = spectrum_make(f, 0.0, 2);
            spectrum_run(spectrum, f, i, shards);
            spectrum_write(spectrum, "part.spectrum");
            px_spectrum_free(spectrum);
            spectrum = spectrum_read("part.spectrum");
            if (!sum) {
                sum = spectrum;
                continue;
            }
            if (px_spectrum_merge(sum, spectrum, &err) != PX_OK)
                fail_msg("%s", err.message);
            px_spectrum_free(spectrum);
        }
        spectrum_write(sum, "other.spectrum");
        px_spectrum_free(sum);
        assert_same_file(whole, other, "shards");
    }
}

static void test_what_does_not_fit(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_spectrum *a = spectrum_make(f, 0.0, 1), *b = spectrum_make(f, 0.5, 1);
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum *pre = NULL, *c = NULL, *alone = NULL;
    options.tap = "pre";
    assert_int_equal(px_spectrum_new(f->model, NULL, &options, &pre, &err), PX_OK);
    assert_int_equal(px_spectrum_merge(a, b, &err), PX_E_MISMATCH);
    assert_string_equal(err.message, "the spectra have different thresholds: theta is 0 in one and "
                                     "0.5 in the other");
    assert_int_equal(px_spectrum_merge(a, pre, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "of different neurons"));
    px_model *other = small_net(12, 3);
    options.tap = NULL;
    assert_int_equal(px_spectrum_new(other, NULL, &options, &c, &err), PX_OK);
    assert_int_equal(px_spectrum_merge(a, c, &err), PX_E_MISMATCH);
    assert_string_equal(err.message, "the spectra are of different networks");
    assert_int_equal(px_spectrum_check(c, f->model, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "was made from another network"));
    assert_int_equal(px_spectrum_check(a, f->model, &err), PX_OK);

    spectrum_run(a, f, 0, 1);
    const px_spectrum_run_options again = {0};
    assert_int_equal(px_spectrum_run(a, f->data.set, &f->data.pre, &again, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "have been seen already"));
    const px_spectrum_run_options wrong = {.shard = 2, .shards = 2};
    assert_int_equal(px_spectrum_run(pre, f->data.set, &f->data.pre, &wrong, &err), PX_E_USAGE);
    spectrum_write(a, "alone.spectrum");
    alone = spectrum_read("alone.spectrum");
    assert_int_equal(px_spectrum_run(alone, f->data.set, &f->data.pre, NULL, &err), PX_E_USAGE);
    assert_int_equal(px_spectrum_merge(alone, a, &err), PX_E_MISMATCH);

    options.theta = (double)NAN;
    px_spectrum *none = NULL;
    assert_int_equal(px_spectrum_new(f->model, NULL, &options, &none, &err), PX_E_USAGE);
    options.theta = 0.0;
    options.layers = "nowhere";
    assert_int_not_equal(px_spectrum_new(f->model, NULL, &options, &none, &err), PX_OK);
    assert_null(none);
    px_spectrum_free(a);
    px_spectrum_free(b);
    px_spectrum_free(c);
    px_spectrum_free(pre);
    px_spectrum_free(alone);
    px_model_free(other);
}

/* A ranking from a file is the ranking of what was saved. */
static void test_a_file_ranks(void **state)
{
    const fixture *f = *state;
    char path[TEST_PATH];
    px_spectrum *spectrum = spectrum_make(f, 0.0, 2);
    spectrum_run(spectrum, f, 0, 1);
    spectrum_write(spectrum, "rank.spectrum");
    px_spectrum *read = spectrum_read("rank.spectrum");
    px_suspicious *a = rank(spectrum, "ochiai", 5, true), *b = rank(read, "ochiai", 5, true);
    assert_string_equal(neurons_text(a, PX_POOLED), neurons_text(b, PX_POOLED));
    assert_true(a->model_hash == b->model_hash && a->tap == b->tap && a->neurons == b->neurons);
    assert_true(px_spectrum_is_file(test_path("rank.spectrum", path)));
    assert_false(px_spectrum_is_file(test_path("absent", path)));
    px_suspicious_free(a);
    px_suspicious_free(b);
    px_spectrum_free(spectrum);
    px_spectrum_free(read);
}

/* Cut short and changed byte by byte: refused or read, never a crash. */
static void test_broken_files(void **state)
{
    const fixture *f = *state;
    char path[TEST_PATH], broken[TEST_PATH];
    size_t size = 0;
    px_spectrum *spectrum = spectrum_make(f, 0.0, 1);
    spectrum_run(spectrum, f, 0, 3);
    spectrum_write(spectrum, "good.spectrum");
    px_spectrum_free(spectrum);
    char *bytes = file_bytes(test_path("good.spectrum", path), &size);
    test_path("broken.spectrum", broken);
    int refused = 0, read = 0;
    for (size_t i = 0; i < size; i += 1 + size / 400) {
        for (int kind = 0; kind < 2; kind++) {
            px_spectrum *got = NULL;
            px_error err = {0};
            bytes[i] ^= kind ? 0x55 : 0;
            file_write(broken, bytes, kind ? size : i);
            if (px_spectrum_open(broken, &got, &err) == PX_OK) {
                read++;
            } else {
                refused++;
                assert_non_null(strstr(err.message, "broken.spectrum"));
            }
            px_spectrum_free(got);
            bytes[i] ^= kind ? 0x55 : 0;
        }
    }
    assert_true(refused > 400);
    free(bytes);
}

static bool stop_at_once(void *context, int64_t done, int64_t total)
{
    (void)context, (void)total;
    return done == 0;
}

static void test_cancelled(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_spectrum *spectrum = spectrum_make(f, 0.0, 1);
    const px_spectrum_run_options run = {.progress = stop_at_once};
    assert_int_equal(px_spectrum_run(spectrum, f->data.set, &f->data.pre, &run, &err),
                     PX_E_CANCELLED);
    const int64_t seen =
        px_spectrum_passed(spectrum, PX_POOLED) + px_spectrum_failed(spectrum, PX_POOLED);
    /* whole blocks; all of them where the others were done before anybody asked */
    assert_true(seen > 0 && (seen == INPUTS || seen % 256 == 0));
    px_spectrum_free(spectrum);
}

/* sqrt of a negative number in a layer: the message names it. */
static void test_not_a_number(void **state)
{
    (void)state;
    net n;
    net_init(&n, 5, "1,1,28,28");
    int y = net_add(&n, "Flatten", "", (net_in[]){{n.x, 0, 0, 0}, {-1, 0, 0, 0}});
    y = net_add(&n, "Gemm", "", (net_in[]){{y, 0, 0, 0}, {0, "784,4", 0, 0}, {-1, 0, 0, 0}});
    y = net_add(&n, "Sqrt", "", (net_in[]){{y, 0, 0, 0}, {-1, 0, 0, 0}});
    y = net_add(&n, "Gemm", "", (net_in[]){{y, 0, 0, 0}, {0, "4,10", 0, 0}, {-1, 0, 0, 0}});
    px_model *model = net_take(&n, y);
    fixture f = {.model = model, .data = small_digits(model, "test", 40, 0)};
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum *spectrum = NULL;
    px_error err = {0};
    assert_int_equal(px_spectrum_new(model, NULL, &options, &spectrum, &err), PX_OK);
    assert_int_equal(px_spectrum_run(spectrum, f.data.set, &f.data.pre, NULL, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "input 0"));
    px_spectrum_free(spectrum);
    small_close(&f.data);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threshold_is_strict), cmocka_unit_test(test_the_sums_fit),
        cmocka_unit_test(test_threads_and_shards),  cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_a_file_ranks),        cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_cancelled),           cmocka_unit_test(test_not_a_number),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
