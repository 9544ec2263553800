/* tests/describe/test_concepts.c - attribute maps against plain Python, strokes worked by hand,
 * words in texts */
/* SPDX-License-Identifier: Apache-2.0 */
#include "concept_helpers.h"

#include "base/memory.h"
#include "concepts_golden.h"
#include "describe/attribute_map.h"
#include "describe/drawn_concept.h"
#include "describe/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const animals[] = {"Egyptian_cat, Felis", "dog", NULL};

static px_concepts *concepts_of(const px_dataset *set, px_concept_kind kind, int threads)
{
    px_concepts_options options = px_concepts_options_default();
    px_concepts *c = NULL;
    px_error err = {0};
    options.kind = kind;
    options.threads = threads;
    options.classes = animals;
    options.class_count = 3;
    if (px_concepts_new(set, NULL, &options, &c, &err) != PX_OK)
        fail_msg("%s", err.message);
    return c;
}

/* --- maps ------------------------------------------------------------------------------------ */

static void compare_maps(const px_concepts *c, const unsigned char *pixels, const golden_map *maps,
                         size_t count)
{
    const size_t n = (size_t)px_concepts_height(c) * (size_t)px_concepts_width(c);
    const size_t floats = n * (px_concepts_kind(c) == PX_CONCEPTS_COLOUR ? 3 : 1);
    float *raw = pxi_calloc(floats, sizeof *raw), *got = pxi_calloc(count * n, sizeof *got);
    assert_int_equal(px_concepts_count(c), count);
    for (size_t i = 0; i < floats; i++)
        raw[i] = (float)pixels[i];
    assert_int_equal(px_concepts_maps(c, raw, got, NULL), PX_OK);
    for (size_t m = 0; m < count; m++) {
        const px_concept *concept = px_concepts_get(c, m);
        assert_string_equal(concept->words, maps[m].words);
        assert_int_equal(concept->two_valued, maps[m].bits != NULL);
        if (!(fabs(concept->level - maps[m].level) <= 2e-5))
            fail_msg("%s: level %.9g instead of %.9g", maps[m].words, concept->level,
                     maps[m].level);
        for (size_t i = 0; i < n; i++) {
            const double wanted =
                maps[m].bits ? (double)(maps[m].bits[i] - '0') : maps[m].values[i];
            if (!(fabs((double)got[m * n + i] - wanted) <= 3e-5 * fmax(1.0, wanted)))
                fail_msg("%s, pixel %zu: %.9g instead of %.9g", maps[m].words, i,
                         (double)got[m * n + i], wanted);
        }
    }
    assert_null(px_concepts_get(c, count));
    free(raw);
    free(got);
}

static void test_colour_maps(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        px_dataset *set = bytes_set("colour.npz", colour_pixels, NULL, 2, 3, COLOUR_H, COLOUR_W);
        px_concepts *c = concepts_of(set, PX_CONCEPTS_AUTO, threads);
        assert_int_equal(px_concepts_kind(c), PX_CONCEPTS_COLOUR);
        compare_maps(c, colour_pixels, colour_maps, PX_LEN(colour_maps));
        px_concepts_free(c);
        px_dataset_close(set);
    }
}

static void test_glyph_maps(void **state)
{
    (void)state;
    px_dataset *set = bytes_set("glyph.npz", glyph_pixels, NULL, 2, 1, GLYPH_H, GLYPH_W);
    px_concepts *c = concepts_of(set, PX_CONCEPTS_AUTO, 2);
    assert_int_equal(px_concepts_kind(c), PX_CONCEPTS_GLYPH);
    compare_maps(c, glyph_pixels, glyph_maps, PX_LEN(glyph_maps));
    px_concepts_free(c);
    px_dataset_close(set);
}

/* Dark strokes on a bright ground are the same strokes. */
static void test_dark_ink(void **state)
{
    (void)state;
    enum { N = GLYPH_H * GLYPH_W };
    static unsigned char turned[2 * N];
    static float raw[N], maps[32 * N];
    for (size_t i = 0; i < 2 * N; i++)
        turned[i] = (unsigned char)(255 - glyph_pixels[i]);
    for (size_t i = 0; i < N; i++)
        raw[i] = (float)turned[i];
    px_dataset *set = bytes_set("turned.npz", turned, NULL, 2, 1, GLYPH_H, GLYPH_W);
    px_concepts *c = concepts_of(set, PX_CONCEPTS_AUTO, 1);
    assert_int_equal(px_concepts_maps(c, raw, maps, NULL), PX_OK);
    for (size_t m = 0; m < px_concepts_count(c); m++)
        for (size_t i = 0; px_concepts_get(c, m)->group == PX_GROUP_STROKES && i < N; i++)
            if (maps[m * N + i] != (float)(glyph_maps[m].bits[i] - '0'))
                fail_msg("%s, pixel %zu", px_concepts_get(c, m)->words, i);
    px_concepts_free(c);
    px_dataset_close(set);
}

static void test_what_has_no_attributes(void **state)
{
    (void)state;
    px_error err = {0};
    px_concepts *c = NULL;
    px_concepts_options options = px_concepts_options_default();
    options.kind = PX_CONCEPTS_COLOUR;
    px_dataset *set = bytes_set("grey.npz", glyph_pixels, NULL, 2, 1, GLYPH_H, GLYPH_W);
    assert_int_equal(px_concepts_new(set, NULL, &options, &c, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "no colours"));
    px_dataset_close(set);
    set = bytes_set("two.npz", glyph_pixels, NULL, 2, 2, GLYPH_H / 2, GLYPH_W);
    assert_int_equal(px_concepts_new(set, NULL, NULL, &c, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "[2,8,14]"));
    px_dataset_close(set);
    assert_null(c);
}

/* Nothing to see is no trouble: maxima and medians of nothing. */
static void test_blank_pictures(void **state)
{
    (void)state;
    static unsigned char blank[3 * 16];
    static float raw[16], maps[32 * 16];
    px_dataset *set = bytes_set("blank.npz", blank, NULL, 3, 1, 4, 4);
    px_concepts *c = concepts_of(set, PX_CONCEPTS_AUTO, 1);
    assert_int_equal(px_concepts_maps(c, raw, maps, NULL), PX_OK);
    for (size_t i = 0; i < px_concepts_count(c) * 16; i++)
        assert_true(isfinite(maps[i]));
    px_concepts_free(c);
    px_dataset_close(set);
}

/* --- strokes --------------------------------------------------------------------------------- */

static void ink_of(const char *picture, uint8_t *ink)
{
    for (size_t i = 0; picture[i]; i++)
        ink[i] = picture[i] == '#';
}

/* Worked by hand with the two sub-iterations of the paper. */
static const struct {
    const char *name;
    int h, w;
    const char *ink, *skeleton;
} thinned[] = {
    {"a line stays", 3, 5, ".....#####.....", ".....#####....."},
    {"a dot stays", 3, 3, "....#....", "....#...."},
    /* First step: all corners, the east end and the south row go. Second: what is left of the north
     * row, and both ends of the middle one. */
    {"a bar of three", 3, 5, "###############", "......##......."},
    /* The first step takes all four at once: known of the algorithm. */
    {"a square of two", 4, 4, ".....##..##.....", "................"},
};

static void test_skeletons(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(thinned); i++) {
        uint8_t ink[64] = {0}, wanted[64] = {0}, spare[64], got[64];
        const size_t n = (size_t)(thinned[i].h * thinned[i].w);
        ink_of(thinned[i].ink, ink);
        ink_of(thinned[i].skeleton, wanted);
        pxi_ink_skeleton(ink, thinned[i].h, thinned[i].w, spare, got);
        for (size_t k = 0; k < n; k++)
            if (got[k] != wanted[k])
                fail_msg("%s: pixel %zu is %d", thinned[i].name, k, got[k]);
    }
}

static void test_distances_and_holes(void **state)
{
    (void)state;
    enum { H = 5, W = 6 };
    static const char *const picture = "######"
                                       "#....#"
                                       "#.##.#"
                                       "#....#"
                                       "######";
    /* The frame's outside is no ground: distances are to the hole. */
    static const int32_t wanted[H * W] = {2, 1, 1, 1, 1, 2, 1, 0, 0, 0, 0, 1, 1, 0, 1,
                                          1, 0, 1, 1, 0, 0, 0, 0, 1, 2, 1, 1, 1, 1, 2};
    uint8_t ink[H * W], holes[H * W];
    int32_t scratch[H * W], got[H * W];
    ink_of(picture, ink);
    pxi_ink_distance(ink, H, W, scratch, got);
    for (int i = 0; i < H * W; i++)
        if (got[i] != wanted[i])
            fail_msg("distance %d is %d", i, got[i]);
    pxi_ink_holes(ink, H, W, scratch, holes);
    for (int i = 0; i < H * W; i++)
        assert_int_equal(holes[i], picture[i] == '.'); /* closed in on all sides */
    ink[0] = ink[1] = 0; /* the hole is open now, by an edge and not by a corner */
    pxi_ink_holes(ink, H, W, scratch, holes);
    for (int i = 0; i < H * W; i++)
        assert_int_equal(holes[i], 0);
    memset(ink, 1, sizeof ink); /* no ground anywhere */
    pxi_ink_distance(ink, H, W, scratch, got);
    for (int i = 0; i < H * W; i++)
        assert_int_equal(got[i], H * H + W * W);
}

/* A constant stays, mass stays, and one pixel is enough of a plane. */
static void test_blurs(void **state)
{
    (void)state;
    static const double sds[] = {0.7, 1.2, 2.0, 3.0, 8.0};
    float scratch[256], plane[35], out[35];
    for (size_t s = 0; s < PX_LEN(sds); s++) {
        double sum = 0.0;
        for (int i = 0; i < 35; i++)
            plane[i] = i == 17 ? 1.0f : 0.0f;
        assert_true(pxi_smooth_scratch(5, 7) <= 256);
        pxi_smooth(plane, 5, 7, sds[s], scratch, out);
        for (int i = 0; i < 35; i++)
            sum += (double)out[i];
        assert_true(fabs(sum - 1.0) < 1e-5);
        plane[0] = 0.25f;
        pxi_smooth(plane, 1, 1, sds[s], scratch, plane);
        assert_true(fabs((double)plane[0] - 0.25) < 1e-6);
    }
}

/* --- words ----------------------------------------------------------------------------------- */

static const struct {
    const char *text, *terms; /* parted by ';' */
} said[] = {
    {"vertical edges", "vertical edges"},
    {"upright edges in the upper part", "vertical edges;at top"},
    {"Regions that are RED, near the left.", "red regions;at left"},
    {"red spots that are bright", "red regions;bright spots"},
    {"bright spots", "bright spots"},
    {"bright regions and spots", "bright spots;bright regions"},
    {"an egyptian cat", "egyptian cat"},
    {"cat", ""},
    {"dogs", ""},
    {"hot-dog", "dog"},
    {"class 2 pictures", "class 2"},
    {"redder", ""},
    {"eye-like part", "eye-like"},
    {"", ""},
    {"?!", ""},
};

static void test_mentions(void **state)
{
    (void)state;
    px_dataset *set = bytes_set("words.npz", colour_pixels, NULL, 2, 3, COLOUR_H, COLOUR_W);
    px_concepts *c = concepts_of(set, PX_CONCEPTS_AUTO, 1);
    bool mentioned[64];
    assert_int_equal(px_concepts_term_count(c), 18 + 5 + 3 + pxi_drawn_count());
    for (size_t i = 0; i < PX_LEN(said); i++) {
        px_text got = {0};
        assert_int_equal(px_concepts_mentions(c, said[i].text, mentioned, NULL), PX_OK);
        for (size_t t = 0; t < px_concepts_term_count(c); t++)
            if (mentioned[t])
                px_text_format(&got, "%s%s", got.length ? ";" : "", px_concepts_term(c, t)->words);
        if (strcmp(px_text_get(&got), said[i].terms) != 0)
            fail_msg("'%s' says '%s'", said[i].text, px_text_get(&got));
        px_text_done(&got);
    }
    assert_int_equal(px_concepts_class(c, "egyptian cat"), 0);
    assert_int_equal(px_concepts_class(c, "cat"), -1);
    assert_string_equal(px_concepts_term(c, px_concepts_get(c, 13)->term)->words, "diagonal edges");
    assert_int_equal(px_concepts_get(c, 12)->term, px_concepts_get(c, 13)->term);
    px_concepts_free(c);
    px_dataset_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colour_maps),
        cmocka_unit_test(test_glyph_maps),
        cmocka_unit_test(test_dark_ink),
        cmocka_unit_test(test_what_has_no_attributes),
        cmocka_unit_test(test_blank_pictures),
        cmocka_unit_test(test_skeletons),
        cmocka_unit_test(test_distances_and_holes),
        cmocka_unit_test(test_blurs),
        cmocka_unit_test(test_mentions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
