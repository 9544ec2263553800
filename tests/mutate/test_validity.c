/* tests/mutate/test_validity.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "mutate_helpers.h"

#include <internal/mutate.h>
#include <string.h>

static const px_mutation *found(const char *id)
{
    const px_mutation *m = px_mutation_find(id);
    assert_non_null(m);
    return m;
}

/* A 4 x 4 picture of 100s with `count` values changed by `by`. */
static const struct {
    const char *name;
    int count, by;
    bool valid[4]; /* deephunter, its code, nsgen, its text */
} cases[] = {
    {"one value becomes 250", 1, 150, {false, false, true, false}},
    {"nothing changed", 0, 0, {true, true, true, true}},
    {"all by 50", 16, 50, {true, true, true, false}},
    {"all by 51: not below 0.2 * 255", 16, 51, {false, false, true, false}},
    {"all by 102: NSGen's bound is closed", 16, 102, {false, false, true, false}},
    {"all by 103", 16, 103, {false, false, false, false}},
    {"three by 150: below 0.2 * 16", 3, 150, {false, false, true, false}},
    {"four by 150", 4, 150, {false, false, false, false}},
    {"three by 102: both at once", 3, 102, {false, false, true, true}},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(cases); i++)
        for (int rule = 0; rule < 4; rule++) {
            uint8_t reference[16], after[16];
            memset(reference, 100, 16);
            memset(after, 100, 16);
            for (int k = 0; k < cases[i].count; k++)
                after[k] = (uint8_t)(100 + cases[i].by);
            const px_validity validity = px_validity_default((px_validity_rule)rule);
            px_lineage next;
            bool moves;
            const bool valid = px_validity_judge(&validity, &(px_lineage){0}, found("pixel-change"),
                                                 reference, reference, after, 16, &next, &moves);
            if (valid != cases[i].valid[rule])
                fail_msg("%s, rule %d: %s", cases[i].name, rule, valid ? "valid" : "not valid");
        }
}

/* L0 counts where L-infinity does not hold, and the code's limits are whole numbers. */
static void test_l0(void **state)
{
    (void)state;
    uint8_t reference[175] = {0}, after[175] = {0};
    px_lineage next;
    bool moves;
    const px_validity paper = px_validity_default(PX_VALID_DEEPHUNTER);
    const px_validity code = px_validity_default(PX_VALID_DEEPHUNTER_CODE);
    const px_lineage seed = {0};
    after[0] = after[1] = 255; /* 2 < 0.02 * 175 = 3.5 */
    assert_true(px_validity_judge(&paper, &seed, found("noise"), reference, reference, after, 175,
                                  &next, &moves));
    assert_true(px_validity_judge(&code, &seed, found("noise"), reference, reference, after, 175,
                                  &next, &moves));
    after[2] = 255; /* 3 < 3.5, but not < 3 */
    assert_true(px_validity_judge(&paper, &seed, found("noise"), reference, reference, after, 175,
                                  &next, &moves));
    assert_false(px_validity_judge(&code, &seed, found("noise"), reference, reference, after, 175,
                                   &next, &moves));
    /* NSGen counts positive values of the reference, and there are none */
    const px_validity nsgen = px_validity_default(PX_VALID_NSGEN);
    assert_false(px_validity_judge(&nsgen, &seed, found("noise"), reference, reference, after, 175,
                                   &next, &moves));
}

/* DeepHunter: pixel, then affine on trust, then pixel with both on the account. */
static void test_lineage(void **state)
{
    (void)state;
    const px_validity v = px_validity_default(PX_VALID_DEEPHUNTER);
    uint8_t s0[200], s1[200], s2[200], moved[200], s3[200];
    px_lineage lineage = {0}, next;
    bool moves;
    memset(s0, 100, 200);
    memcpy(s1, s0, 200);
    s1[0] = s1[1] = 255; /* 2 < 4 */
    assert_true(px_validity_judge(&v, &lineage, found("noise"), s0, s0, s1, 200, &next, &moves));
    assert_false(moves);
    assert_true(!next.affine && next.l0 == 0 && next.linf == 0);
    lineage = next;

    memset(s2, 0, 200); /* whatever a rotation gives */
    memset(moved, 0, 200);
    assert_true(
        px_validity_judge(&v, &lineage, found("cv-rotation"), s0, s1, s2, 200, &next, &moves));
    assert_true(moves && next.affine && next.l0 == 2 && next.linf == 155);
    lineage = next;
    assert_false(
        px_validity_judge(&v, &lineage, found("cv-shear"), moved, s2, s2, 200, &next, &moves));

    memcpy(s3, s2, 200);
    s3[7] = 9; /* 2 + 1 < 4 */
    assert_true(px_validity_judge(&v, &lineage, found("noise"), moved, s2, s3, 200, &next, &moves));
    assert_false(moves);
    s3[8] = 9; /* 2 + 2 is not, and 155 is too much */
    assert_false(
        px_validity_judge(&v, &lineage, found("noise"), moved, s2, s3, 200, &next, &moves));
    lineage.linf = 50; /* had the change before been small, L-infinity would hold */
    assert_true(px_validity_judge(&v, &lineage, found("noise"), moved, s2, s3, 200, &next, &moves));

    /* NSGen holds the affine one against the reference as it was */
    const px_validity nsgen = px_validity_default(PX_VALID_NSGEN);
    const px_lineage seed = {0};
    memset(s2, 255, 200);
    assert_false(
        px_validity_judge(&nsgen, &seed, found("cv-rotation"), s0, s0, s2, 200, &next, &moves));
    memset(s2, 190, 200);
    assert_true(
        px_validity_judge(&nsgen, &seed, found("cv-rotation"), s0, s0, s2, 200, &next, &moves));
    assert_true(moves && next.affine && next.l0 == 0);
}

static void test_groups(void **state)
{
    (void)state;
    const px_validity paper = px_validity_default(PX_VALID_DEEPHUNTER);
    const px_validity code = px_validity_default(PX_VALID_DEEPHUNTER_CODE);
    assert_true(px_validity_affine(&paper, found("cv-shear")));
    assert_false(px_validity_affine(&paper, found("cv-blur")));
    assert_true(px_validity_affine(&code, found("cv-blur")));
    assert_false(px_validity_affine(&code, found("noise")));
}

static void test_change(void **state)
{
    (void)state;
    static uint8_t a[10000], b[10000];
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = (uint8_t)(i * 7);
        b[i] = (uint8_t)(i % 3 ? a[i] : a[i] ^ 1);
    }
    assert_int_equal(pxi_change_between(a, b, sizeof a).l0, 3334);
    assert_int_equal(pxi_change_between(a, b, sizeof a).linf, 1);
    b[9999] = (uint8_t)(a[9999] < 128 ? 255 : 0);
    assert_int_equal(pxi_change_between(a, b, sizeof a).linf,
                     a[9999] < 128 ? 255 - a[9999] : a[9999]);
    memset(a, 0, sizeof a);
    memset(b, 255, sizeof b);
    assert_int_equal(pxi_change_between(a, b, sizeof a).l0, 10000);
    assert_int_equal(pxi_change_between(b, a, sizeof a).linf, 255);
    assert_int_equal(pxi_change_between(b, a, 0).l0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),   cmocka_unit_test(test_l0),
        cmocka_unit_test(test_lineage), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
