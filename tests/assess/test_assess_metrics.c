/* tests/assess/test_assess_metrics.c - each metric's term: TV-D5, scikit-image's SSIM, definitions
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "assess/metrics.h"
#include "base/memory.h"
#include "ssim_golden.h"
#include <internal/param.h>
#include <internal/ssim.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double byte = 255.0;

static bool near(double got, double want, double relative)
{
    return fabs(got - want) <= relative * fabs(want);
}

static double term(const pxi_metric *metric, const pxi_pair *pair, double setting)
{
    void *config = NULL;
    px_error err = {0};
    assert_int_equal(px_entry_configure(&pxi_metrics, &metric->shown.entry, NULL, 0, &config, &err),
                     PX_OK);
    if (metric->shown.entry.params)
        px_param_set(metric->shown.entry.params, config, setting);
    const double value = metric->term(pair, config);
    free(config);
    return value;
}

static void test_confidence(void **state)
{
    (void)state;
    static const struct {
        double p[3];
        int truth, after;
    } rows[] = {
        {{.1, .7, .2}, 0, 1}, {{.6, .3, .1}, 0, 0}, {{.2, .3, .5}, 1, 2}, {{.45, .15, .40}, 2, 0}};
    double mr = 0, acac = 0, actc = 0, nte = 0, n = 0;
    for (size_t i = 0; i < PX_LEN(rows); i++) {
        const pxi_pair pair = {
            .p = rows[i].p, .classes = 3, .truth = rows[i].truth, .after = rows[i].after};
        mr += term(&pxi_metric_mr, &pair, 0);
        if (pair.after == pair.truth)
            continue;
        n++;
        acac += term(&pxi_metric_acac, &pair, 0);
        actc += term(&pxi_metric_actc, &pair, 0);
        nte += term(&pxi_metric_nte, &pair, 0);
        assert_true(term(&pxi_metric_asr, &pair, 0) == 1.0);
    }
    assert_true(mr / 4 == .75 && n == 3);
    assert_true(near(acac / n, .55, 1e-12) && near(actc / n, .266666667, 1e-8));
    assert_true(near(nte / n, .25, 1e-12));
}

static void test_distance(void **state)
{
    (void)state;
    static const double x[] = {0, 100, 200, 50}, a[] = {0, 110, 200, 20}, none[4] = {0};
    pxi_pair pair = {.count = 4, .x = x, .a = a, .low = 0, .high = 1};
    /* 0: relative to the original (two of three that are not 0); 1: DEEPSEC's code */
    assert_true(near(term(&pxi_metric_ald_0, &pair, 0), 2.0 / 3, 1e-12));
    assert_true(near(term(&pxi_metric_ald_0, &pair, 1), .5, 1e-12));
    assert_true(near(term(&pxi_metric_ald_2, &pair, 0), .138013112, 1e-8));
    assert_true(near(term(&pxi_metric_ald_2, &pair, 1), .124010889, 1e-8));
    assert_true(near(term(&pxi_metric_ald_inf, &pair, 0), .15, 1e-8));
    assert_true(near(term(&pxi_metric_ald_inf, &pair, 1), .117647059, 1e-8));
    pair.x = none;
    assert_true(isnan(term(&pxi_metric_ald_0, &pair, 0)));
    assert_true(isnan(term(&pxi_metric_ald_2, &pair, 0)));
    assert_true(isnan(term(&pxi_metric_ald_inf, &pair, 0)));
    /* scaled to -1..1, level 127.5 is 0 */
    static const double middle[] = {127.5, 255}, moved[] = {0, 255};
    pair = (pxi_pair){.count = 2, .x = middle, .a = moved, .low = -1, .high = 1};
    assert_true(near(term(&pxi_metric_ald_0, &pair, 0), 1.0, 1e-12));
    assert_true(near(term(&pxi_metric_ald_2, &pair, 1), 1.0, 1e-12));
}

static void test_sensitivity(void **state)
{
    (void)state;
    double x[9] = {0, .5, 1, .2, .4, .6, .9, .1, .3}, a[9];
    for (int i = 0; i < 9; i++)
        a[i] = x[i] *= byte;
    a[1] += .1 * byte;
    a[4] -= .2 * byte;
    a[8] += .05 * byte;
    const pxi_pair pair = {
        .count = 9, .channels = 1, .height = 3, .width = 3, .x = x, .a = a, .low = 0, .high = 1};
    assert_true(near(term(&pxi_metric_psd, &pair, 0), .249302175, 1e-8));
    assert_true(near(term(&pxi_metric_psd, &pair, 1), 1.276100178, 1e-8));
    /* where all around is the same, the paper's weight has no value */
    double flat[9] = {0};
    const pxi_pair other = {
        .count = 9, .channels = 1, .height = 3, .width = 3, .x = flat, .a = a, .low = 0, .high = 1};
    assert_true(term(&pxi_metric_psd, &other, 1) == 0.0);
}

static double hash_value(int at, int stream)
{
    uint32_t x = (uint32_t)at * 2654435761u + (uint32_t)stream * 40503u + 12345u;
    x = (x ^ (x >> 15)) * 2246822519u;
    x = (x ^ (x >> 13)) * 3266489917u;
    return (x ^ (x >> 16)) >> 24;
}

static void test_ssim_golden(void **state)
{
    (void)state;
    static double x[2048], y[2048];
    for (size_t i = 0; i < PX_LEN(ssims); i++) {
        const int count = ssims[i].height * ssims[i].width;
        double *scratch = calloc(pxi_ssim_scratch(ssims[i].height, ssims[i].width), sizeof(double));
        assert_non_null(scratch);
        for (int k = 0; k < count; k++) {
            x[k] = hash_value(k, ssims[i].stream);
            y[k] = x[k] + ssims[i].share * (hash_value(k, ssims[i].stream + 1) - x[k]);
        }
        const double got =
            pxi_ssim(x, y, NULL, ssims[i].height, ssims[i].width, ssims[i].range, scratch);
        free(scratch);
        if (!(fabs(got - ssims[i].ssim) <= 1e-10))
            fail_msg("%d x %d, share %g, range %g: %.15g, not %.15g", ssims[i].height,
                     ssims[i].width, ssims[i].share, ssims[i].range, got, ssims[i].ssim);
    }
}

static void test_ssim_spec(void **state)
{
    (void)state;
    double x[64], y[64], scratch[5 * 81];
    for (int i = 0; i < 64; i++)
        x[i] = y[i] = (10 * (i / 8) + 7 * (i % 8)) % 256;
    y[3 * 8 + 3] += 40;
    y[5 * 8 + 6] -= 30;
    assert_true(near(pxi_ssim(x, y, NULL, 8, 8, 255, scratch), .959100895, 1e-8));
    assert_true(near(pxi_ssim(x, y, NULL, 8, 8, 2, scratch), .957129829, 1e-8));
    assert_true(fabs(pxi_ssim(x, x, NULL, 8, 8, 255, scratch) - 1.0) < 1e-12);
    assert_true(isnan(pxi_ssim(x, y, NULL, 2, 8, 255, scratch)));
}

static void test_blur(void **state)
{
    (void)state;
    static const double wanted[25] = {0,  0, 0, 0, 0,  0, 3, 16, 3, 0, 1, 16, 121,
                                      16, 1, 0, 3, 16, 3, 0, 0,  0, 0, 0, 0};
    double in[25] = {0}, out[25], scratch[5 * 36];
    in[12] = 200;
    pxi_blur_half(/* pil= */ true, in, out, 5, 5, scratch);
    for (int i = 0; i < 25; i++)
        if (out[i] != wanted[i])
            fail_msg("pil, value %d: %g, not %g", i, out[i], wanted[i]);
    pxi_blur_half(false, in, out, 5, 5, scratch);
    assert_true(near(out[12], 123.7387, 1e-6) && near(out[11], 16.7462, 1e-5) &&
                near(out[6], 2.2664, 1e-4));
}

/* "Against a common library the grey path agrees within 1." */
static void test_jpeg(void **state)
{
    (void)state;
    static const struct {
        int quality, row;
        double values[8];
    } rows[] = {{90, 0, {3, 9, 12, 21, 28, 34, 42, 49}},
                {90, 3, {25, 39, 41, 202, 54, 75, 77, 74}},
                {90, 7, {72, 74, 88, 88, 97, 108, 110, 123}},
                {1, 0, {20, 20, 20, 20, 20, 20, 20, 20}},
                {1, 4, {73, 73, 73, 73, 73, 73, 73, 73}},
                {1, 7, {108, 108, 108, 108, 108, 108, 108, 108}}};
    double in[64], out[64];
    px_error err = {0};
    for (int i = 0; i < 64; i++)
        in[i] = 10 * (i / 8) + 7 * (i % 8);
    in[3 * 8 + 3] = 200;
    for (size_t r = 0; r < PX_LEN(rows); r++) {
        assert_int_equal(pxi_jpeg_trip(in, out, 1, 8, 8, rows[r].quality, &err), PX_OK);
        for (int c = 0; c < 8; c++)
            if (fabs(out[rows[r].row * 8 + c] - rows[r].values[c]) > 1.0)
                fail_msg("quality %d, row %d, column %d: %g, not %g", rows[r].quality, rows[r].row,
                         c, out[rows[r].row * 8 + c], rows[r].values[c]);
    }
    /* colour: one flat colour comes back as itself, or nearly */
    double flat[3 * 64], back[3 * 64];
    for (int i = 0; i < 192; i++)
        flat[i] = 40 + 60 * (i / 64);
    assert_int_equal(pxi_jpeg_trip(flat, back, 3, 8, 8, 90, &err), PX_OK);
    for (int i = 0; i < 192; i++)
        assert_true(fabs(back[i] - flat[i]) <= 4);
}

static void test_table(void **state)
{
    (void)state;
    assert_int_equal(px_metric_count(), 12);
    for (size_t i = 0; i < px_metric_count(); i++) {
        const px_metric *m = px_metric_get(i);
        assert_true(px_metric_find(m->entry.id) == m);
        assert_non_null(m->entry.title);
        assert_non_null(m->definition);
        assert_non_null(m->entry.source);
        assert_true(!pxi_metric_at(i)->term != !pxi_metric_at(i)->change);
    }
    assert_null(px_metric_find("ald_1"));
    assert_null(px_metric_get(px_metric_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confidence),  cmocka_unit_test(test_distance),
        cmocka_unit_test(test_sensitivity), cmocka_unit_test(test_ssim_golden),
        cmocka_unit_test(test_ssim_spec),   cmocka_unit_test(test_blur),
        cmocka_unit_test(test_jpeg),        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
