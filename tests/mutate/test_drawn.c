/* tests/mutate/test_drawn.c - sets, drawing, texts, and what holds for every mutation */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "failing_alloc.h"
#include "mutate/plain_math.h"
#include "mutate_helpers.h"

#include <internal/mutate.h>
#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int shapes[][3] = {{1, 1, 1},   {3, 1, 1},   {1, 1, 2},  {1, 2, 1}, {4, 2, 2},
                                {3, 3, 3},   {1, 1, 33},  {1, 17, 1}, {3, 4, 7}, {1, 28, 28},
                                {3, 32, 32}, {4, 33, 17}, {1, 5, 70}};

/* What comes from a set reads back as itself, and gives every shape its full size. */
static void test_draws(void **state)
{
    static const char *const sets[] = {"nss", "deephunter", "nsgen"};
    (void)state;
    for (size_t s = 0; s < PX_LEN(sets); s++) {
        const px_mutations from = mutations(sets[s]);
        for (uint32_t i = 0; i < 400; i++) {
            px_random random = px_rng(5, PX_RNG_MUTATE, i, 0);
            const px_drawn drawn = px_mutation_draw(&from, &random);
            char text[PX_DRAWN_TEXT];
            const px_drawn back = parsed(px_drawn_text(&drawn, text));
            assert_ptr_equal(back.mutation, drawn.mutation);
            if (memcmp(back.values, drawn.values, sizeof back.values) != 0)
                fail_msg("'%s' reads back as something else", text);
            const int *shape = shapes[i % PX_LEN(shapes)];
            const size_t size = (size_t)(shape[0] * shape[1] * shape[2]);
            uint8_t *in = malloc(size), *out = malloc(size), *again = malloc(size);
            assert_true(in && out && again);
            picture(shape[0], shape[1], shape[2], in);
            memset(again, 1, size);
            assert_int_equal(px_mutation_apply(&drawn, in, out, shape[1], shape[2], shape[0], NULL),
                             PX_OK);
            assert_int_equal(
                px_mutation_apply(&back, in, again, shape[1], shape[2], shape[0], NULL), PX_OK);
            assert_memory_equal(out, again, size); /* every byte was written */
            free(in);
            free(out);
            free(again);
        }
    }
}

static const char *const identities[] = {
    "shift x=0 y=0",
    "rotation angle=0",
    "rotation angle=-360",
    "rotation angle=360 fill=black",
    "scale ratio=1",
    "shear angle=0",
    "contrast gain=1",
    "contrast gain=1 about=black",
    "brightness factor=1",
    "blur size=1",
    "cv-translation x=0 y=0",
    "cv-scale ratio=1",
    "cv-shear factor=0",
    "cv-rotation angle=0",
    "cv-contrast gain=1",
    "cv-brightness bias=0",
    "pixel-change count=0 seed=9",
};

static void test_identities(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(identities); i++)
        for (size_t s = 0; s < PX_LEN(shapes); s++) {
            uint8_t in[4 * 33 * 32], out[sizeof in];
            const int c = shapes[s][0], h = shapes[s][1], w = shapes[s][2];
            const px_drawn drawn = parsed(identities[i]);
            picture(c, h, w, in);
            memset(out, 77, sizeof out);
            assert_int_equal(px_mutation_apply(&drawn, in, out, h, w, c, NULL), PX_OK);
            if (memcmp(in, out, (size_t)(c * h * w)) != 0)
                fail_msg("'%s' changes a picture of [%d,%d,%d]", identities[i], c, h, w);
        }
}

/* One colour stays one colour where nothing comes in from outside. */
static void test_flat(void **state)
{
    static const char *const texts[] = {
        "shift x=0.15 y=-0.1",     "rotation angle=25",      "scale ratio=0.8",
        "shear angle=-30",         "contrast gain=0.5",      "blur size=7",
        "cv-blur kind=box5",       "cv-blur kind=gauss7",    "cv-blur kind=median5",
        "cv-blur kind=bilateral6", "cv-blur kind=bilateral9"};
    (void)state;
    for (size_t i = 0; i < PX_LEN(texts); i++)
        for (int level = 0; level < 256; level += 15) {
            uint8_t in[3 * 9 * 11], out[sizeof in];
            memset(in, level, sizeof in);
            const px_drawn drawn = parsed(texts[i]);
            assert_int_equal(px_mutation_apply(&drawn, in, out, 9, 11, 3, NULL), PX_OK);
            if (memcmp(in, out, sizeof in) != 0)
                fail_msg("'%s' changes a picture that is all %d", texts[i], level);
        }
}

/* Channels do not mix, but in the bilateral filter. */
static void test_channels(void **state)
{
    (void)state;
    const px_mutations from = mutations("nss");
    for (uint32_t i = 0; i < 100; i++) {
        uint8_t in[3 * 12 * 10], out[sizeof in], one[12 * 10];
        px_random random = px_rng(8, PX_RNG_MUTATE, i, 0);
        const px_drawn drawn = px_mutation_draw(&from, &random);
        picture(3, 12, 10, in);
        assert_int_equal(px_mutation_apply(&drawn, in, out, 12, 10, 3, NULL), PX_OK);
        for (int c = 0; c < 3; c++) {
            assert_int_equal(px_mutation_apply(&drawn, in + 120 * c, one, 12, 10, 1, NULL), PX_OK);
            assert_memory_equal(one, out + 120 * c, sizeof one);
        }
    }
}

static void test_sets(void **state)
{
    (void)state;
    const px_mutations nsgen = mutations("nsgen"), deephunter = mutations("deephunter");
    px_mutations part;
    assert_int_equal(px_mutations_rules(&nsgen), 95);
    assert_int_equal(px_mutations_rules(&deephunter), 192);
    assert_int_equal(px_mutation_set_rules(nsgen.set), 95);
    part = mutations("nss");
    assert_int_equal(px_mutations_rules(&part), 0);
    part = mutations("deephunter:differentiable");
    assert_int_equal(px_mutations_rules(&part), 8 + 40 + 9 + 3);
    part = mutations("deephunter:non-differentiable");
    assert_int_equal(px_mutations_rules(&part), 6 + 5 + 12 + 100 + 9);

    /* no rule comes twice, and the papers' ends are there */
    char texts[192][PX_DRAWN_TEXT];
    for (size_t i = 0; i < 192; i++) {
        const px_drawn drawn = px_mutations_rule(&deephunter, i, 0);
        px_drawn_text(&drawn, texts[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(texts[i], texts[k]) == 0)
                fail_msg("rules %zu and %zu are both '%s'", k, i, texts[i]);
    }
    assert_string_equal(texts[0], "cv-translation x=-3 y=-3");
    assert_string_equal(texts[10], "cv-scale ratio=1.1");
    assert_string_equal(texts[22], "cv-shear factor=0.5");
    assert_string_equal(texts[122], "cv-rotation angle=49");
    assert_string_equal(texts[130], "cv-contrast gain=1.2");
    assert_string_equal(texts[179], "cv-blur kind=bilateral6");
    const px_drawn last = px_mutations_rule(&nsgen, 94, 0);
    assert_string_equal(px_drawn_text(&last, texts[0]), "cv-blur kind=bilateral9");

    /* every entry is as likely; nsgen: every rule */
    int counts[2] = {0};
    for (uint32_t i = 0; i < 9500; i++) {
        px_random random = px_rng(1, PX_RNG_MUTATE, i, 0);
        px_drawn drawn = px_mutation_draw(&deephunter, &random);
        counts[0] += strcmp(drawn.mutation->entry.id, "cv-rotation") == 0;
        drawn = px_mutation_draw(&nsgen, &random);
        counts[1] += strcmp(drawn.mutation->entry.id, "cv-rotation") == 0;
    }
    assert_in_range(counts[0], 9500 / 9 - 120, 9500 / 9 + 120);
    assert_in_range(counts[1], 6000 - 200, 6000 + 200);
}

/* Parameters stay within Table 4's ranges and reach near their ends, with both signs. */
static void test_ranges(void **state)
{
    static const struct {
        const char *set;
        double least, most;
        bool signs;
    } ranges[] = {{"nss:shift", .05, .15, true},    {"nss:rotation", 5, 25, true},
                  {"nss:scale", .8, 1.2, false},    {"nss:shear", 15, 30, true},
                  {"nss:contrast", .5, 1.5, false}, {"nss:brightness", .5, 1.5, false},
                  {"nss:blur", 2, 7, false}};
    (void)state;
    for (size_t r = 0; r < PX_LEN(ranges); r++) {
        const px_mutations from = mutations(ranges[r].set);
        double least = 1e9, most = 0;
        int negative = 0;
        for (uint32_t i = 0; i < 1000; i++) {
            px_random random = px_rng(3, PX_RNG_MUTATE, i, 1);
            const double v = px_mutation_draw(&from, &random).values[0];
            negative += v < 0;
            least = fmin(least, fabs(v));
            most = fmax(most, fabs(v));
        }
        const double slack = 0.02 * (ranges[r].most - ranges[r].least);
        if (least < ranges[r].least || least > ranges[r].least + slack || most > ranges[r].most ||
            most < ranges[r].most - slack || (negative > 0) != ranges[r].signs ||
            (ranges[r].signs && abs(negative - 500) > 80))
            fail_msg("%s: %g to %g, %d negative", ranges[r].set, least, most, negative);
    }
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *say;
    } texts[] = {
        {"", "is empty"},
        {"  ", "is empty"},
        {"turn angle=3", "there is no mutation 'turn'"},
        {"rotation", "rotation needs 'angle='"},
        {"rotation angle", "'' is not a number"},
        {"rotation angle=", "'' is not a number"},
        {"rotation angle=nan", "is not a number"},
        {"rotation angle=1e999", "is not a number"},
        {"rotation angle=361", "between -360 and 360"},
        {"rotation angle=3 angle=4", "is given twice"},
        {"rotation angle=3 fill=white", "it can be edge, black"},
        {"rotation angle=3 size=4", "it has angle=, fill="},
        {"blur size=2.5", "a whole number is needed"},
        {"noise kind=pink seed=1", "it can be gaussian, salt-pepper, speckle"},
    };
    static const char *const sets[] = {"",   "nss:", "nss:turn",   "nss:rotation,",
                                       "ns", "nss2", "nsgen:noise"};
    (void)state;
    for (size_t i = 0; i < PX_LEN(texts); i++) {
        px_drawn drawn = {0};
        px_error err = {0};
        if (px_drawn_parse(texts[i].text, &drawn, &err) != PX_E_USAGE || drawn.mutation ||
            !strstr(err.message, texts[i].say))
            fail_msg("'%s': \"%s\"", texts[i].text, err.message);
    }
    for (size_t i = 0; i < PX_LEN(sets); i++) {
        px_mutations from = {0};
        if (px_mutations_parse(sets[i], &from, NULL) != PX_E_USAGE || from.set)
            fail_msg("the set '%s' is taken", sets[i]);
    }
    const px_drawn drawn = parsed("rotation angle=3");
    uint8_t pixel = 0;
    assert_int_equal(
        px_mutation_apply(&drawn, &pixel, &pixel, PX_MUTATION_SIDE_MOST + 1, 1, 1, NULL),
        PX_E_UNSUPPORTED);
}

/* Seeds of today mean the same tomorrow and on every machine: texts and pixels of many draws. */
static void test_forever(void **state)
{
    static const struct {
        const char *set;
        uint64_t sum;
    } sets[] = {{"nss", 0x248c7e9362f34294},
                {"deephunter", 0x6c8437e786936af3},
                {"nsgen", 0xd6377dd36d712e02}};
    (void)state;
    for (size_t s = 0; s < PX_LEN(sets); s++) {
        const px_mutations from = mutations(sets[s].set);
        uint64_t sum = FNV_START;
        for (uint32_t i = 0; i < 1000; i++) {
            uint8_t in[3 * 19 * 23], out[sizeof in];
            char text[PX_DRAWN_TEXT];
            px_random random = px_rng(2024, PX_RNG_MUTATE, i, PX_MUTATE_CANDIDATES);
            const px_drawn drawn = px_mutation_draw(&from, &random);
            picture(3, 19, 23, in);
            assert_int_equal(px_mutation_apply(&drawn, in, out, 19, 23, 3, NULL), PX_OK);
            px_drawn_text(&drawn, text);
            sum = fnv(fnv(sum, text, strlen(text)), out, sizeof out);
        }
        if (sum != sets[s].sum)
            fail_msg("%s: 0x%016llx, not 0x%016llx", sets[s].set, (unsigned long long)sum,
                     (unsigned long long)sets[s].sum);
    }
}

static void test_plain_math(void **state)
{
    (void)state;
    for (int i = -7200; i <= 7200; i++) {
        double s, c;
        pxi_sin_cos_degrees(i / 10.0, &s, &c);
        const double x = i / 10.0 * 3.14159265358979323846 / 180;
        if (!(fabs(s - sin(x)) < 3e-15 && fabs(c - cos(x)) < 3e-15)) /* x itself is rounded */
            fail_msg("%g degrees: %.17g %.17g", i / 10.0, s, c);
        if (i % 900 == 0) /* exact at right angles */
            assert_true(s == round(s) && c == round(c));
    }
    for (int i = 0; i < 5000; i++) {
        const double x = -i * 0.1399, u = (i + 1) / 5000.0;
        if (!(fabs(pxi_exp(x) - exp(x)) <= 4e-16 * exp(x)))
            fail_msg("exp(%g): %.17g, not %.17g", x, pxi_exp(x), exp(x));
        if (!(fabs(pxi_log(u) - log(u)) <= 4e-16 * fabs(log(u)) + 1e-300))
            fail_msg("log(%g): %.17g, not %.17g", u, pxi_log(u), log(u));
    }
    assert_true(pxi_exp(-1000) == 0.0);
}

/* Many at once are those that are drawn one by one, and the stream goes on where it should. */
static void test_normals(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 31, 32, 33, PXI_NORMALS, 0, 7, PXI_NORMALS};
    px_random many = px_rng(5, PX_RNG_MUTATE_NOISE, 1, 2), one = many;
    px_rng_u32(&many); /* not at the beginning of a block */
    px_rng_u32(&one);
    for (size_t k = 0; k < PX_LEN(counts); k++) {
        double normals[PXI_NORMALS];
        pxi_normals(&many, normals, counts[k]);
        for (size_t i = 0; i < counts[k]; i++) {
            double sine, cosine;
            const double radius = sqrt(-2.0 * pxi_log(1.0 - px_rng_u01(&one)));
            pxi_sin_cos_degrees(360.0 * px_rng_u01(&one), &sine, &cosine);
            assert_true(normals[i] == radius * cosine);
        }
    }
    assert_int_equal(px_rng_u32(&many), px_rng_u32(&one));
}

/* Every allocation fails once. */
static void test_memory(void **state)
{
    static const char *const texts[] = {
        "rotation angle=3",    "cv-rotation angle=3",  "cv-scale ratio=0.7",     "blur size=3",
        "cv-blur kind=gauss5", "cv-blur kind=median3", "cv-blur kind=bilateral9"};
    (void)state;
    uint8_t in[3 * 9 * 9], out[sizeof in];
    picture(3, 9, 9, in);
    for (size_t i = 0; i < PX_LEN(texts); i++) {
        const px_drawn drawn = parsed(texts[i]);
        px_status status = PX_OK;
        long k = 0;
        for (; fail_at(k), status = px_mutation_apply(&drawn, in, out, 9, 9, 3, NULL), fail_never();
             k++)
            assert_int_equal(status, PX_E_NOMEM);
        assert_int_equal(status, PX_OK);
        assert_true(k >= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws),      cmocka_unit_test(test_identities),
        cmocka_unit_test(test_flat),       cmocka_unit_test(test_channels),
        cmocka_unit_test(test_sets),       cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_forever),
        cmocka_unit_test(test_plain_math), cmocka_unit_test(test_normals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
