/* tests/select/test_softmax_scores.c - scores from probabilities and votes, by CSM TV-B7, TV-B8
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"
#include "select/softmax_scores.h"
#include "select/vote_scores.h"

#include <math.h>

static void assert_near(double got, double want, const char *what, size_t i)
{
    if (!(fabs(got - want) <= 1e-9))
        fail_msg("%s of case %zu is %.12g, not %.12g", what, i, got, want);
}

/* CSM TV-B7. */
static void test_unsure(void **state)
{
    (void)state;
    static const struct {
        double p[3], softmax, entropy, pcs, gini;
    } cases[] = {
        {{.7, .2, .1}, .3, 1.156779649, .5, .46},
        {{.4, .35, .25}, .6, 1.558871848, .05, .655},
        {{.98, .01, .01}, .02, .161440543, .97, .0394},
        {{.5, .5, 0}, .5, 1, 0, .5},
        {{0, 0, 1}, 0, 0, 1, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        assert_near(pxi_unsure_softmax(cases[i].p, 3), cases[i].softmax, "softmax", i);
        assert_near(pxi_unsure_entropy(cases[i].p, 3), cases[i].entropy, "entropy", i);
        assert_near(pxi_unsure_pcs(cases[i].p, 3), -cases[i].pcs, "pcs", i);
        assert_near(pxi_unsure_gini(cases[i].p, 3), cases[i].gini, "gini", i);
    }
    static const pxi_unsure_fn all[] = {pxi_unsure_softmax, pxi_unsure_entropy, pxi_unsure_pcs,
                                        pxi_unsure_gini};
    for (size_t i = 0; i < PX_LEN(all); i++) /* wherever it stands */
        for (int at = 0; at < 3; at++) {
            double p[3] = {.5, .3, .2};
            p[at] = NAN;
            assert_true(isnan(all[i](p, 3)));
        }
}

static void test_internal_gini(void **state)
{
    (void)state;
    static const struct {
        float a[4];
        pxi_gini_norm norm;
        double want;
    } cases[] = {
        {{2, 0, 1, 1}, PXI_GINI_L1, .625},
        {{2, 0, 1, 1}, PXI_GINI_SOFTMAX, .631822724},
        {{2, 0, 1, 1}, PXI_GINI_RAW, -5},
        {{2, -3, 1, 1}, PXI_GINI_L1, .625},
        {{0, -1, 0, 0}, PXI_GINI_L1, 0},
        {{500, 500, 0, 0}, PXI_GINI_SOFTMAX, .5}, /* exp() of it is no number */
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        assert_near(pxi_internal_gini(cases[i].a, 4, cases[i].norm), cases[i].want, "it", i);
    assert_true(isnan(pxi_internal_gini((float[]){1, NAN, 2}, 3, PXI_GINI_L1)));
}

/* CSM TV-B8. */
static void test_votes(void **state)
{
    (void)state;
    static const int votes[] = {2, 2, 0, 2, 1, 2, 2, 0};
    pxi_votes v;
    assert_true(pxi_votes_init(&v, 3));
    assert_true(isnan(pxi_votes_value(&v).variation));
    for (size_t i = 0; i < PX_LEN(votes); i++) {
        double p[3] = {.1, .1, .1};
        p[votes[i]] = .8;
        pxi_votes_add(&v, p);
    }
    assert_int_equal(v.votes[0], 2);
    assert_int_equal(v.votes[1], 1);
    assert_int_equal(v.votes[2], 5);
    assert_near(pxi_votes_value(&v).variation, .375, "variation", 0);

    static const double passes[][3] = {{.6, .3, .1}, {.2, .5, .3}, {.7, .2, .1}};
    pxi_votes_clear(&v);
    for (size_t i = 0; i < PX_LEN(passes); i++)
        pxi_votes_add(&v, passes[i]);
    const pxi_vote_scores got = pxi_votes_value(&v);
    assert_near(v.sum[1] / 3.0, 1.0 / 3.0, "mean", 1);
    assert_near(got.entropy, 1.459147917, "entropy", 1);
    assert_near(got.information, .146575653, "information", 1);
    assert_near(got.variation, 1.0 / 3.0, "variation", 1);
    assert_near(got.softmax, .5, "softmax", 1);

    pxi_votes_clear(&v);
    pxi_votes_add(&v, (double[]){.5, .5, 0}); /* a tie goes to the lower class */
    assert_int_equal(v.votes[0], 1);
    pxi_votes_add(&v, (double[]){NAN, .5, 0});
    assert_true(isnan(pxi_votes_value(&v).variation));
    pxi_votes_done(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsure),
        cmocka_unit_test(test_internal_gini),
        cmocka_unit_test(test_votes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
