/* tests/predict/test_eval.c - figures of an evaluation against counts made by plain loops */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <plexor/eval.h>
#include <stdlib.h>

enum { N = 600, CLASSES = 7 };

typedef struct answers { /* what px_predict() would have said */
    px_predictions said;
    int64_t label[N], predicted[N];
    float confidence[N], given[N];
    double loss[N];
    uint8_t near[N], not_finite[N];
} answers;

/* Every eleventh input has no label, every thirteenth no prediction. */
static answers *answers_new(int64_t count)
{
    answers *a = calloc(1, sizeof *a);
    assert_non_null(a);
    px_random r = px_rng(3, PX_RNG_SAMPLE, 0, 0);
    for (int i = 0; i < N; i++) {
        const double u = px_rng_u01(&r);
        a->label[i] = i % 11 == 5 ? -1 : (int64_t)(px_rng_u01(&r) * (CLASSES - 1));
        a->predicted[i] = i % 13 == 4                   ? -1
                          : u < 0.6 && a->label[i] >= 0 ? a->label[i]
                                                        : (int64_t)(u * CLASSES);
        a->confidence[i] = a->predicted[i] < 0 ? NAN : (float)px_rng_u01(&r);
        a->loss[i] = a->label[i] < 0 ? (double)NAN : px_rng_u01(&r) * 4.0;
        a->near[i] = a->label[i] >= 0 && u < 0.8;
        a->not_finite[i] = i % 100 == 7;
    }
    a->confidence[0] = 1.0f; /* the last bin has its upper end */
    a->confidence[1] = 0.0f; /* and the first one 0 */
    a->said = (px_predictions){.scores = {.classes = CLASSES},
                               .count = count,
                               .label = a->label,
                               .predicted = a->predicted,
                               .confidence = a->confidence,
                               .given = a->given,
                               .loss = a->loss,
                               .near = a->near,
                               .not_finite = a->not_finite};
    return a;
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12 * fmax(1.0, fabs(wanted))))
        fail_msg("%.17g, not %.17g", got, wanted);
}

static int64_t cells(const answers *a, int64_t label, int64_t predicted)
{
    int64_t count = 0;
    for (int i = 0; i < a->said.count; i++)
        count += a->label[i] == label && a->predicted[i] == predicted;
    return count;
}

static void test_counts(void **state)
{
    (void)state;
    answers *a = answers_new(N);
    px_eval e = {0};
    px_error err = {0};
    int64_t labelled = 0, correct = 0, lost = 0, bad = 0, near = 0;
    double loss = 0.0;
    for (int i = 0; i < N; i++) {
        labelled += a->label[i] >= 0;
        correct += a->label[i] >= 0 && a->label[i] == a->predicted[i];
        lost += a->predicted[i] == -1;
        bad += a->not_finite[i];
        near += a->near[i];
        loss += a->label[i] >= 0 ? a->loss[i] : 0.0;
    }
    assert_int_equal(px_eval_make(&a->said, &e, &err), PX_OK);
    assert_int_equal(e.all.classes, CLASSES);
    assert_int_equal(e.all.count, N);
    assert_int_equal(e.all.labelled, labelled);
    assert_int_equal(e.all.correct, correct);
    assert_int_equal(e.all.lost, lost);
    assert_int_equal(e.all.not_finite, bad);
    assert_int_equal(e.all.near, near);
    assert_near(e.all.accuracy, (double)correct / (double)labelled);
    assert_near(e.all.near_share, (double)near / (double)labelled);
    assert_near(e.all.loss, loss / (double)labelled);
    px_eval_done(&e);
    free(a);
}

static void test_classes_and_confusion(void **state)
{
    (void)state;
    answers *a = answers_new(N);
    px_eval e = {0};
    px_error err = {0};
    int worst = -1;
    assert_int_equal(px_eval_make(&a->said, &e, &err), PX_OK);
    for (int c = 0; c < CLASSES; c++) {
        int64_t row[CLASSES], labelled = cells(a, c, -1), predicted = cells(a, -1, c);
        double sure = 0.0;
        px_eval_row(&e, c, row);
        for (int p = 0; p < CLASSES; p++) {
            assert_int_equal(row[p], cells(a, c, p));
            labelled += row[p];
            predicted += cells(a, p, c);
        }
        for (int i = 0; i < N; i++)
            sure += a->label[i] == c && a->predicted[i] >= 0 ? (double)a->confidence[i] : 0.0;
        const px_eval_class *of = &e.by_class[c];
        assert_int_equal(of->labelled, labelled);
        assert_int_equal(of->predicted, predicted);
        assert_int_equal(of->correct, row[c]);
        if (labelled == 0) { /* the last class */
            assert_true(isnan(of->accuracy) && isnan(of->confidence));
            continue;
        }
        assert_near(of->accuracy, (double)row[c] / (double)labelled);
        assert_near(of->precision, (double)row[c] / (double)predicted);
        assert_near(of->confidence, sure / (double)labelled);
        if (worst < 0 || of->accuracy < e.by_class[worst].accuracy)
            worst = c;
    }
    assert_int_equal(e.by_class[CLASSES - 1].labelled, 0);
    assert_int_equal(px_eval_worst(&e), worst);
    for (size_t i = 1; i < e.confusion_count; i++) { /* the largest first */
        const px_eval_cell *x = &e.confusion[i - 1], *y = &e.confusion[i];
        assert_true(x->count > y->count ||
                    (x->count == y->count &&
                     x->label * CLASSES + x->predicted < y->label * CLASSES + y->predicted));
    }
    assert_true(e.confusion[e.confusion_count - 1].count > 0);
    px_eval_done(&e);
    free(a);
}

static void test_calibration(void **state)
{
    (void)state;
    answers *a = answers_new(N);
    const px_eval_sum s = px_eval_slice(&a->said, NULL, N);
    double ece = 0.0, mce = 0.0, sure = 0.0, right = 0.0, wrong = 0.0;
    int64_t all = 0, answered = 0, rights = 0;
    for (int i = 0; i < N; i++) {
        if (a->predicted[i] < 0)
            continue;
        answered++;
        sure += (double)a->confidence[i];
        if (a->label[i] < 0)
            continue;
        all++;
        rights += a->label[i] == a->predicted[i];
        if (a->label[i] == a->predicted[i])
            right += (double)a->confidence[i];
        else
            wrong += (double)a->confidence[i];
    }
    for (int b = 0; b < PX_EVAL_BINS; b++) { /* equation 3, one bin after the other */
        const double low = b / 15.0, high = (b + 1) / 15.0;
        double inside = 0.0, correct = 0.0, confidence = 0.0;
        for (int i = 0; i < N; i++) {
            const double c = (double)a->confidence[i];
            if (a->predicted[i] < 0 || a->label[i] < 0 || c > high || (c <= low && b > 0))
                continue;
            inside += 1.0;
            correct += a->label[i] == a->predicted[i];
            confidence += c;
        }
        assert_near((double)s.bins[b].count, inside);
        assert_near((double)s.bins[b].correct, correct);
        assert_near(s.bins[b].accuracy, correct / inside);
        assert_near(s.bins[b].confidence, confidence / inside);
        ece += inside / (double)all * fabs(correct / inside - confidence / inside);
        mce = fmax(mce, fabs(correct / inside - confidence / inside));
    }
    assert_near(s.ece, ece);
    assert_near(s.mce, mce);
    assert_near(s.confidence, sure / (double)answered);
    assert_near(s.confidence_right, right / (double)rights);
    assert_near(s.confidence_wrong, wrong / (double)(all - rights));
    free(a);
}

/* Wilson's interval ends where a score test with that share would just reject: found by halving. */
static double wilson(double share, double n, double from, double to)
{
    for (int i = 0; i < 200; i++) {
        const double p = 0.5 * (from + to);
        const double z = fabs(share - p) / sqrt(p * (1.0 - p) / n);
        *(z > 1.959963984540054 ? &from : &to) = p;
    }
    return from;
}

static void test_interval(void **state)
{
    (void)state;
    answers *a = answers_new(N);
    const px_eval_sum s = px_eval_slice(&a->said, NULL, N);
    assert_near(s.low, wilson(s.accuracy, (double)s.labelled, 0.0, s.accuracy));
    assert_near(s.high, wilson(s.accuracy, (double)s.labelled, 1.0, s.accuracy));
    free(a);
}

/* A slice is what the whole would be if there were nothing else. */
static void test_slice(void **state)
{
    (void)state;
    answers *a = answers_new(N);
    int64_t items[N], count = 0;
    answers *b = answers_new(0);
    for (int i = 0; i < N; i += 3) {
        const int64_t to = count++;
        items[to] = i;
        b->label[to] = a->label[i];
        b->predicted[to] = a->predicted[i];
        b->confidence[to] = a->confidence[i];
        b->loss[to] = a->loss[i];
        b->near[to] = a->near[i];
        b->not_finite[to] = a->not_finite[i];
    }
    b->said.count = count;
    const px_eval_sum slice = px_eval_slice(&a->said, items, count);
    px_eval alone = {0};
    px_error err = {0};
    assert_int_equal(px_eval_make(&b->said, &alone, &err), PX_OK);
    assert_int_equal(slice.count, alone.all.count);
    assert_int_equal(slice.labelled, alone.all.labelled);
    assert_int_equal(slice.correct, alone.all.correct);
    assert_int_equal(slice.lost, alone.all.lost);
    assert_int_equal(slice.not_finite, alone.all.not_finite);
    const double got[] = {slice.accuracy,
                          slice.near_share,
                          slice.low,
                          slice.high,
                          slice.loss,
                          slice.ece,
                          slice.confidence,
                          slice.confidence_right,
                          slice.confidence_wrong};
    const double wanted[] = {alone.all.accuracy,
                             alone.all.near_share,
                             alone.all.low,
                             alone.all.high,
                             alone.all.loss,
                             alone.all.ece,
                             alone.all.confidence,
                             alone.all.confidence_right,
                             alone.all.confidence_wrong};
    assert_memory_equal(got, wanted, sizeof got);
    px_eval_done(&alone);
    free(a);
    free(b);
}

static void test_nothing(void **state)
{
    (void)state;
    answers *a = answers_new(0);
    px_eval e = {0};
    px_error err = {0};
    assert_int_equal(px_eval_make(&a->said, &e, &err), PX_OK);
    assert_true(isnan(e.all.accuracy) && isnan(e.all.loss) && isnan(e.all.ece));
    assert_true(e.all.low == 0.0 && e.all.high == 1.0 && isnan(e.all.confidence));
    assert_int_equal(e.confusion_count, 0);
    assert_int_equal(px_eval_worst(&e), -1);
    assert_false(px_eval_is_guessing(&e.all));
    px_eval_done(&e);
    px_eval_done(&e); /* once more is fine */
    free(a);
}

static const struct {
    const char *name;
    int classes;
    int64_t labelled, correct;
    bool guessing;
} guesses[] = {
    {"one class has nothing to guess", 1, 100, 100, false},
    {"49 inputs prove nothing", 10, 49, 0, false},
    {"none right", 10, 50, 0, true},
    {"three deviations of 0.1 are 0.09", 10, 100, 19, true},
    {"above them", 10, 100, 20, false},
    {"a twentieth of the way: 0.145", 10, 100000, 14500, true},
    {"above that", 10, 100000, 14501, false},
};

static void test_guessing(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(guesses); i++) {
        const px_eval_sum sum = {.classes = guesses[i].classes,
                                 .labelled = guesses[i].labelled,
                                 .accuracy =
                                     (double)guesses[i].correct / (double)guesses[i].labelled};
        if (px_eval_is_guessing(&sum) != guesses[i].guessing)
            fail_msg("case '%s'", guesses[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_classes_and_confusion),
        cmocka_unit_test(test_calibration), cmocka_unit_test(test_interval),
        cmocka_unit_test(test_slice),       cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_guessing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
