/* tests/mutate/test_style.c - colour and texture statistics: measured, generated, stored, applied
 *
 * `test_style table` prints src/mutate/style_table.c.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "failing_alloc.h"
#include "mutate/style.h"
#include "mutate_helpers.h"
#include "style_textures.h"

#include <internal/mutate.h>
#include <internal/rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "style_golden.h"

enum { NUMBERS = sizeof(px_style) / sizeof(double) };

static const double *numbers_of(const px_style *style)
{
    return (const double *)(const void *)style;
}

static px_style measured(size_t i)
{
    static uint8_t planes[3 * PX_STYLE_SIDE * PX_STYLE_SIDE];
    px_style style;
    style_texture(i, planes);
    assert_int_equal(px_style_measure(planes, PX_STYLE_SIDE, PX_STYLE_SIDE, 3, &style, NULL),
                     PX_OK);
    return style;
}

/* --- what is generated ----------------------------------------------------------------------- */

static void test_textures(void **state)
{
    static uint8_t planes[3 * PX_STYLE_SIDE * PX_STYLE_SIDE];
    (void)state;
    assert_int_equal(PX_LEN(texture_sums), PX_STYLE_GENERATED);
    for (size_t i = 0; i < PX_STYLE_GENERATED; i++) {
        style_texture(i, planes);
        if (fnv(FNV_START, planes, sizeof planes) != texture_sums[i])
            fail_msg("texture %zu is not that of style_golden.py", i);
    }
}

static void test_measure(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(style_numbers); i++) {
        const px_style style = measured(style_numbers[i].image);
        for (size_t k = 0; k < NUMBERS; k++) {
            const double is = numbers_of(&style)[k], want = style_numbers[i].numbers[k];
            if (!(fabs(is - want) <= 1e-8 * (1 + fabs(want))))
                fail_msg("texture %zu, number %zu: %.12g, not %.12g", style_numbers[i].image, k, is,
                         want);
        }
    }
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_STYLE_GENERATED; i++) {
        const px_style style = measured(i);
        if (memcmp(&style, px_style_generated(i), sizeof style) != 0)
            fail_msg("style_table.c is not of texture %zu: make it with 'test_style table'", i);
    }
    assert_null(px_style_generated(PX_STYLE_GENERATED));
}

static void print_table(void)
{
    static const char *const around[NUMBERS + 1] = {
        [0] = "    {{",       [3] = "},\n     {",   [9] = "},\n     {{",
        [12] = "},\n      {", [15] = "},\n      {", [NUMBERS] = "}}},\n"};
    puts("/* src/mutate/style_table.c - statistics of the generated style pictures\n *\n"
         " * 'test_style table' prints it, and the test holds it against the pictures.\n */\n"
         "#include \"mutate/style.h\"\n\n// clang-format off\n"
         "const px_style pxi_style_table[PX_STYLE_GENERATED] = {");
    for (size_t i = 0; i < PX_STYLE_GENERATED; i++) {
        const px_style style = measured(i);
        for (size_t k = 0; k < NUMBERS; k++)
            printf("%s%a", around[k] ? around[k] : ", ", numbers_of(&style)[k]);
        printf("%s", around[NUMBERS]);
    }
    puts("};\n// clang-format on");
}

/* --- applying -------------------------------------------------------------------------------- */

static void smooth(int c, int h, int w, uint8_t *out)
{
    picture(c, h, w, out);
    for (int i = 0; i < c * h * w; i++)
        out[i] = (uint8_t)(20 * (i / (h * w)) + 3 * (i / w % h) + 2 * (i % w) + out[i] / 16);
}

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * PX_LEN(style_golden); i++)
        for (size_t s = 0; s < PX_LEN(style_shapes); s++) {
            const int c = style_shapes[s][0], h = style_shapes[s][1], w = style_shapes[s][2];
            const size_t size = (size_t)(c * h * w);
            const px_drawn drawn = parsed(style_golden[i / 2].text);
            uint8_t *in = malloc(size), *out = malloc(size); /* exact, for AddressSanitizer */
            assert_true(in && out);
            (i % 2 ? smooth : picture)(c, h, w, in);
            assert_int_equal(px_mutation_apply(&drawn, in, out, h, w, c, NULL), PX_OK);
            const uint64_t *want = i % 2 ? style_golden[i / 2].smooth : style_golden[i / 2].noise;
            if (fnv(FNV_START, out, size) != want[s])
                fail_msg("'%s' on [%d,%d,%d] %s", style_golden[i / 2].text, c, h, w,
                         i % 2 ? "smooth" : "noise");
            free(in);
            free(out);
        }
}

/* At full strength a picture has the style's mean and covariance before its bands change; with a
 * style that is its own nothing changes at all. */
static void test_own_style_is_nothing(void **state)
{
    (void)state;
    uint8_t in[3 * 24 * 20], out[sizeof in];
    px_style style;
    px_styles *bank = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    smooth(3, 24, 20, in);
    assert_int_equal(px_style_measure(in, 24, 20, 3, &style, NULL), PX_OK);
    uint8_t stored[12 + sizeof style] = "PXSTYLE1\1";
    memcpy(stored + 12, &style, sizeof style); /* little endian, as this machine is */
    assert_int_equal(px_styles_load(stored, sizeof stored, &bank, NULL), PX_OK);
    px_drawn drawn = parsed("style strength=1 image=0 of=own");
    drawn.styles = bank;
    assert_int_equal(px_mutation_apply(&drawn, in, out, 24, 20, 3, NULL), PX_OK);
    assert_memory_equal(in, out, sizeof in);
    assert_int_equal(px_styles_save(bank, &bytes, &size, NULL), PX_OK);
    assert_int_equal(size, sizeof stored);
    assert_memory_equal(bytes, stored, size);
    free(bytes);
    px_styles_free(bank);
}

static void test_styles_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_STYLE_GENERATED; i++) {
        uint8_t in[3 * 32 * 32], out[sizeof in];
        char text[64];
        px_style style;
        snprintf(text, sizeof text, "style strength=1 image=%zu", i);
        const px_drawn drawn = parsed(text);
        const px_style *want = px_style_generated(i);
        smooth(3, 32, 32, in);
        assert_int_equal(px_mutation_apply(&drawn, in, out, 32, 32, 3, NULL), PX_OK);
        assert_int_equal(px_style_measure(out, 32, 32, 3, &style, NULL), PX_OK);
        /* clipping at 0 and 255 takes some of it away */
        if (!(fabs(style.mean[0] - want->mean[0]) < 30 && fabs(style.mean[1] - want->mean[1]) < 30))
            fail_msg("%s: means %.1f %.1f, not %.1f %.1f", text, style.mean[0], style.mean[1],
                     want->mean[0], want->mean[1]);
    }
}

static void test_sets(void **state)
{
    (void)state;
    const px_mutations all = mutations("nsgen+style"), plain = mutations("nsgen");
    px_mutations part = mutations("nsgen+style:style");
    char text[PX_DRAWN_TEXT];
    int images[PX_STYLE_GENERATED] = {0};
    assert_int_equal(px_mutations_rules(&all), 98);
    assert_int_equal(px_mutations_rules(&plain), 95);
    assert_int_equal(px_mutations_rules(&part), 3);
    const px_drawn rule = px_mutations_rule(&all, 97, 40);
    assert_string_equal(px_drawn_text(&rule, text), "style strength=0.8 image=8");
    for (uint32_t i = 0; i < 3200; i++) {
        px_random random = px_rng(4, PX_RNG_MUTATE, i, 0);
        images[(int)px_mutation_draw(&part, &random).values[PXI_STYLE_IMAGE]]++;
    }
    for (size_t i = 0; i < PX_STYLE_GENERATED; i++)
        assert_in_range(images[i], 50, 150);
}

static void test_exempt(void **state)
{
    static const px_validity_rule rules[] = {PX_VALID_DEEPHUNTER, PX_VALID_DEEPHUNTER_CODE,
                                             PX_VALID_NSGEN, PX_VALID_NSGEN_STRICT};
    (void)state;
    const uint8_t before[4] = {0, 0, 0, 0}, after[4] = {255, 255, 255, 255};
    for (size_t i = 0; i < PX_LEN(rules); i++) {
        const px_validity validity = px_validity_default(rules[i]);
        const px_lineage had = {.affine = true, .l0 = 3, .linf = 7};
        px_lineage next = {0};
        bool moves = true;
        assert_true(px_validity_judge(&validity, &had, px_mutation_find("style"), before, before,
                                      after, 4, &next, &moves));
        assert_true(next.affine && next.l0 == 3 && next.linf == 7 && !moves);
    }
}

/* --- a user's pictures ----------------------------------------------------------------------- */

static void test_bank(void **state)
{
    (void)state;
    px_styles *bank = NULL, *again = NULL;
    px_error err = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (px_styles_open("digits", &bank, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_true(px_styles_count(bank) > 100);
    assert_int_equal(px_styles_save(bank, &bytes, &size, &err), PX_OK);
    assert_int_equal(px_styles_load(bytes, size, &again, &err), PX_OK);
    assert_true(px_styles_hash(bank) == px_styles_hash(again));

    /* drawn from them, and made again from what was stored */
    px_mutations from = mutations("nsgen+style:style");
    from.styles = bank;
    px_random random = px_rng(1, PX_RNG_MUTATE, 0, 0);
    const px_drawn drawn = px_mutation_draw(&from, &random);
    char text[PX_DRAWN_TEXT];
    px_drawn back = parsed(px_drawn_text(&drawn, text));
    assert_non_null(strstr(text, " of=own"));
    uint8_t in[28 * 28], out[28 * 28], made[28 * 28];
    picture(1, 28, 28, in);
    assert_int_equal(px_mutation_apply(&drawn, in, out, 28, 28, 1, &err), PX_OK);
    assert_int_equal(px_mutation_apply(&back, in, made, 28, 28, 1, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "not at hand"));
    back.styles = again;
    assert_int_equal(px_mutation_apply(&back, in, made, 28, 28, 1, &err), PX_OK);
    assert_memory_equal(made, out, sizeof out);
    back.values[PXI_STYLE_IMAGE] = PX_STYLES_MOST - 1;
    assert_int_equal(px_mutation_apply(&back, in, made, 28, 28, 1, &err), PX_E_USAGE);

    /* damage */
    px_styles *none = NULL;
    for (size_t cut = 0; cut < 64; cut++)
        assert_int_equal(px_styles_load(bytes, cut, &none, &err), PX_E_INPUT);
    assert_int_equal(px_styles_load(bytes, size - 1, &none, &err), PX_E_INPUT);
    memset(bytes + 12 + 8, 0xff, 8); /* a NaN */
    assert_int_equal(px_styles_load(bytes, size, &none, &err), PX_E_INPUT);
    assert_null(none);
    free(bytes);
    px_styles_free(bank);
    px_styles_free(again);
}

static void test_memory(void **state)
{
    (void)state;
    uint8_t in[3 * 9 * 9], out[sizeof in];
    const px_drawn drawn = parsed("style strength=0.5 image=3");
    px_style style;
    px_status status;
    long k = 0;
    picture(3, 9, 9, in);
    for (; fail_at(k), status = px_mutation_apply(&drawn, in, out, 9, 9, 3, NULL), fail_never();
         k++)
        assert_int_equal(status, PX_E_NOMEM);
    assert_int_equal(status, PX_OK);
    assert_int_equal(k, 1);
    for (k = 0; fail_at(k), status = px_style_measure(in, 9, 9, 3, &style, NULL), fail_never(); k++)
        assert_int_equal(status, PX_E_NOMEM);
    assert_int_equal(status, PX_OK);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "table") == 0) {
        print_table();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_textures),
        cmocka_unit_test(test_measure),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_own_style_is_nothing),
        cmocka_unit_test(test_styles_match),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_exempt),
        cmocka_unit_test(test_bank),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
