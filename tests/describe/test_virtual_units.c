/* tests/describe/test_virtual_units.c - virtual units: recipes, captions, splits, exemplars */
/* SPDX-License-Identifier: Apache-2.0 */
#include "concept_helpers.h"

#include "base/memory.h"
#include "describe/drawn_concept.h"
#include "describe/mask.h"
#include "describe/smooth.h"
#include "describe/virtual_unit.h"

#include <internal/rng.h>
#include <internal/stats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES = 60, SIDE = 12, CLASSES = 3 };

typedef struct fixture {
    px_dataset *set;
    px_concepts *concepts;
} fixture;

/* Blobs of random colours on random grounds, with some noise: every attribute is somewhere. */
static int set_up(void **state)
{
    static fixture f;
    static unsigned char pixels[PICTURES * 3 * SIDE * SIDE];
    static int64_t labels[PICTURES];
    static const char *const names[CLASSES] = {"cat", "red fox", "oak_tree, Quercus"};
    px_concepts_options options = px_concepts_options_default();
    px_error err = {0};
    for (int64_t i = 0; i < PICTURES; i++) {
        px_random r = px_rng(5, PX_RNG_TEST, (uint32_t)i, 0);
        const double x0 = 12.0 * px_rng_u01(&r), y0 = 12.0 * px_rng_u01(&r);
        double ground[3], blob[3];
        for (int c = 0; c < 3; c++) {
            ground[c] = 255.0 * px_rng_u01(&r);
            blob[c] = px_rng_u01(&r) < 0.5 ? 0.0 : 255.0;
        }
        for (int c = 0; c < 3; c++)
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++) {
                    const bool in = hypot(x - x0, y - y0) < 4.0;
                    const double v = (in ? blob[c] : ground[c]) + 20.0 * px_rng_u01(&r);
                    pixels[((i * 3 + c) * SIDE + y) * SIDE + x] = (unsigned char)fmin(v, 255.0);
                }
        labels[i] = i % CLASSES;
    }
    f.set = bytes_set("virtual.npz", pixels, labels, PICTURES, 3, SIDE, SIDE);
    options.classes = names;
    options.class_count = CLASSES;
    if (px_concepts_new(f.set, NULL, &options, &f.concepts, &err) != PX_OK)
        fail_msg("%s", err.message);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_concepts_free(f->concepts);
    px_dataset_close(f->set);
    return 0;
}

static px_virtual_options small_options(void)
{
    px_virtual_options o = px_virtual_options_default();
    o.count = 150;
    o.images = 40;
    o.pool = 50;
    o.exemplars = 5;
    o.quantile = 0.9;
    o.held_out = 0.1;
    o.unseen = 0.2;
    o.seed = 3;
    return o;
}

static px_virtual_units *make(const fixture *f, const px_virtual_options *o)
{
    px_virtual_units *units = NULL;
    px_error err = {0};
    if (px_virtual_units_make(f->concepts, f->set, o, &units, &err) != PX_OK)
        fail_msg("%s", err.message);
    return units;
}

/* --- recipes --------------------------------------------------------------------------------- */

static void about(const char *what, int got, int of, double wanted)
{
    const double share = (double)got / of, sd = sqrt(wanted * (1.0 - wanted) / of);
    if (fabs(share - wanted) > 5.0 * sd)
        fail_msg("%s: %.4f instead of %.4f", what, share, wanted);
}

static void test_recipes_are_as_likely_as_said(void **state)
{
    const fixture *f = *state;
    enum { N = 20000 };
    const size_t classes[] = {f->concepts->first_class, f->concepts->first_class + 1};
    int class_units = 0, coloured = 0, placed = 0, impure = 0, diagonal = 0, plain = 0, pool4 = 0;
    for (uint32_t i = 0; i < N; i++) {
        const pxi_recipe r = pxi_recipe_draw(f->concepts, classes, 2, 11, i, 0);
        class_units += r.class_term != PXI_NONE;
        coloured += r.colour != PXI_NONE;
        placed += r.position != PXI_NONE;
        impure += r.other != PXI_NONE;
        pool4 += r.pool == 4;
        assert_true(r.class_term == PXI_NONE || (r.window >= 0.15 && r.window < 0.4));
        assert_true((r.class_term == PXI_NONE) == (r.map != PXI_NONE));
        if (r.other != PXI_NONE) {
            assert_true(r.other_weight >= 0.1 && r.other_weight < 0.4);
            if (r.map != PXI_NONE) /* another one, by its words */
                assert_true(f->concepts->maps[r.other].term != f->concepts->maps[r.map].term);
        }
        if (r.map == PXI_NONE)
            continue;
        plain++;
        diagonal += strcmp(f->concepts->maps[r.map].words, "diagonal edges") == 0;
        assert_false(r.colour != PXI_NONE && r.position != PXI_NONE);
        if (r.colour != PXI_NONE)
            assert_int_equal(f->concepts->maps[r.colour].group, PX_GROUP_COLOUR);
    }
    about("class units", class_units, N, 0.12);
    about("positions", placed, N, 0.25);
    about("colours", coloured, N,
          0.20 * 6.0 / 18.0); /* three edges, spots, fine, flat of 18 words */
    about("impurities", impure, N, 0.60);
    about("pools of 4", pool4, N, 1.0 / 3.0);
    about("diagonal edges", diagonal, plain, 1.0 / 18.0); /* two maps, one word */
}

/* Every caption says its unit's terms, in all forms, and nothing else. */
static void test_captions_say_what_they_mean(void **state)
{
    const fixture *f = *state;
    const px_virtual_options o = small_options();
    px_virtual_units *units = make(f, &o);
    bool mentioned[64], seen[64] = {0};
    for (size_t i = 0; i < px_virtual_units_count(units); i++) {
        const px_virtual_unit *u = px_virtual_units_get(units, i);
        for (int k = 0; k < PX_VIRTUAL_CAPTIONS; k++) {
            size_t count = 0;
            assert_int_equal(px_concepts_mentions(f->concepts, u->captions[k], mentioned, NULL),
                             PX_OK);
            for (size_t t = 0; t < px_concepts_term_count(f->concepts); t++)
                count += mentioned[t];
            bool all = count == u->term_count;
            for (size_t t = 0; t < u->term_count; t++)
                all = all && mentioned[u->terms[t]];
            /* "red fox" is a class and says nothing of red regions: the longer phrase wins */
            if (!all)
                fail_msg("unit %zu: '%s' has %zu terms", i, u->captions[k], count);
            for (int other = 0; other < k; other++)
                assert_string_not_equal(u->captions[k], u->captions[other]);
        }
        for (size_t t = 0; t < u->term_count; t++)
            seen[u->terms[t]] = true;
    }
    size_t different = 0;
    for (size_t t = 0; t < px_concepts_term_count(f->concepts); t++)
        different += seen[t];
    assert_true(different > 20);
    assert_null(px_virtual_units_get(units, 150));
    px_virtual_units_free(units);
    px_virtual_units_free(NULL);
}

/* --- splits ---------------------------------------------------------------------------------- */

static void test_splits(void **state)
{
    const fixture *f = *state;
    px_virtual_options o = small_options();
    o.count = 600;
    o.images = 20;
    px_virtual_units *units = make(f, &o);
    int count[PX_VIRTUAL_SPLITS] = {0};
    bool pair[PX_VIRTUAL_SPLITS][64][64] = {{{0}}};
    for (size_t i = 0; i < 600; i++) {
        const px_virtual_unit *u = px_virtual_units_get(units, i);
        size_t attribute = 0, position = 0;
        for (size_t t = 0; t < u->term_count; t++) {
            const px_term *term = px_concepts_term(f->concepts, u->terms[t]);
            attribute = term->kind == PX_TERM_ATTRIBUTE ? u->terms[t] : attribute;
            position = term->kind == PX_TERM_POSITION ? u->terms[t] : position;
        }
        count[u->split]++;
        if (position)
            pair[u->split][attribute][position] = true;
        else
            assert_true(u->split != PX_VIRTUAL_UNSEEN);
    }
    assert_int_equal(count[PX_VIRTUAL_HELD_OUT], 60);
    assert_true(count[PX_VIRTUAL_UNSEEN] > 5 && count[PX_VIRTUAL_UNSEEN] < 90);
    for (int a = 0; a < 64; a++)
        for (int p = 0; p < 64; p++)
            assert_false(pair[PX_VIRTUAL_UNSEEN][a][p] &&
                         (pair[PX_VIRTUAL_TRAIN][a][p] || pair[PX_VIRTUAL_HELD_OUT][a][p]));
    px_virtual_units_free(units);
}

/* --- exemplars ------------------------------------------------------------------------------- */

static void same_units(const px_virtual_units *a, const px_virtual_units *b)
{
    uint8_t mask[2][SIDE * SIDE];
    for (size_t i = 0; i < px_virtual_units_count(a); i++) {
        const px_virtual_unit *u = px_virtual_units_get(a, i), *v = px_virtual_units_get(b, i);
        assert_string_equal(u->captions[2], v->captions[2]);
        assert_true(u->level == v->level && u->split == v->split);
        for (int64_t j = 0; j < u->exemplar_count; j++) {
            assert_int_equal(u->images[j], v->images[j]);
            px_virtual_units_mask(a, i, j, mask[0]);
            px_virtual_units_mask(b, i, j, mask[1]);
            assert_memory_equal(mask[0], mask[1], sizeof mask[0]);
        }
    }
}

static void test_threads_change_nothing(void **state)
{
    const fixture *f = *state;
    px_virtual_options o = small_options();
    o.threads = 1;
    px_virtual_units *one = make(f, &o);
    o.threads = 3;
    px_virtual_units *three = make(f, &o);
    same_units(one, three);
    o.seed++;
    px_virtual_units *other = make(f, &o);
    int different = 0;
    for (size_t i = 0; i < 150; i++)
        different += strcmp(px_virtual_units_get(one, i)->captions[0],
                            px_virtual_units_get(other, i)->captions[0]) != 0;
    assert_true(different > 100);
    px_virtual_units_free(one);
    px_virtual_units_free(three);
    px_virtual_units_free(other);
}

/* The map of a picture as the recipe says, step by step and in double. */
static void plain_map(const fixture *f, const pxi_recipe *r, int64_t item, double gain,
                      size_t which, double *out)
{
    enum { N = SIDE * SIDE };
    static float raw[3 * N], maps[32 * N], scratch[N + SIDE + 2 * PXI_SMOOTH_RADIUS_MOST], plane[N],
        window[N];
    assert_int_equal(px_dataset_pixels(f->set, item, raw, NULL), PX_OK);
    assert_int_equal(px_concepts_maps(f->concepts, raw, maps, NULL), PX_OK);
    for (int i = 0; i < N; i++) {
        const double v = ((i / SIDE + 0.5) / SIDE - 0.5), u = ((i % SIDE + 0.5) / SIDE - 0.5);
        const double class_index =
            r->class_term == PXI_NONE ? -1.0 : (double)(r->class_term - f->concepts->first_class);
        if (which != PXI_NONE)
            plane[i] = maps[which * N + (size_t)i];
        else
            plane[i] = (double)px_dataset_label(f->set, item) == class_index
                           ? (float)(gain * exp(-(u * u + v * v) / (2.0 * r->window * r->window)))
                           : 0.0f;
    }
    if (which != PXI_NONE && which == r->map && r->colour != PXI_NONE)
        for (int i = 0; i < N; i++)
            plane[i] *= maps[r->colour * N + (size_t)i];
    if (which != PXI_NONE && which == r->map && r->position != PXI_NONE) {
        pxi_position_window((int)r->position, SIDE, SIDE, window);
        for (int i = 0; i < N; i++)
            plane[i] *= window[i];
    }
    out[0] = 0.0; /* the sum, then the map */
    for (int i = 0; i < N; i++)
        out[0] += (double)plane[i];
    pxi_smooth(plane, SIDE, SIDE, r->blur, scratch, plane);
    const int side = SIDE / r->pool;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double sum = 0.0;
            for (int k = 0; k < r->pool * r->pool; k++)
                sum +=
                    (double)plane[(y * r->pool + k / r->pool) * SIDE + x * r->pool + k % r->pool];
            out[1 + y * side + x] = sum / (r->pool * r->pool);
        }
}

/* Exemplars, level and masks worked out again for units that were made at the first attempt. */
static void test_exemplars_again(void **state)
{
    const fixture *f = *state;
    enum { N = SIDE * SIDE, IMAGES = 40 };
    static double main_maps[IMAGES][N + 1], other_maps[IMAGES][N + 1], all[IMAGES * N];
    const px_virtual_options o = small_options();
    px_virtual_units *units = make(f, &o);
    const size_t classes[] = {f->concepts->first_class, f->concepts->first_class + 1,
                              f->concepts->first_class + 2};
    int checked = 0;
    /* The pool: the first 50 of a permutation, ascending. */
    int64_t order[PICTURES], pool[50], subset[50];
    px_random r = px_rng(o.seed, PX_RNG_VIRTUAL, PXI_CORPUS_ITEM, 1);
    px_rng_permutation(&r, order, PICTURES);
    int filled = 0;
    for (int64_t item = 0; item < PICTURES; item++)
        for (int k = 0; k < 50; k++)
            if (order[k] == item)
                pool[filled++] = item;
    for (uint32_t i = 0; i < 150; i++) {
        const px_virtual_unit *u = px_virtual_units_get(units, i);
        const pxi_recipe recipe = pxi_recipe_draw(f->concepts, classes, 3, o.seed, i, 0);
        px_text caption = {0};
        pxi_recipe_caption(f->concepts, &recipe, 0, &caption);
        const bool first = strcmp(px_text_get(&caption), u->captions[0]) == 0;
        px_text_done(&caption);
        if (!first)
            continue; /* drawn anew */
        const int side = SIDE / recipe.pool, n = side * side;
        double sum = 0.0, other_sum = 0.0;
        px_random draw = px_rng(o.seed, PX_RNG_VIRTUAL, i, PXI_DRAW_SUBSET);
        px_random gain = px_rng(o.seed, PX_RNG_VIRTUAL, i, PXI_DRAW_GAIN);
        px_rng_permutation(&draw, subset, 50);
        for (int k = 0; k < IMAGES; k++) {
            const double g = 0.5 + 0.5 * px_rng_u01(&gain);
            plain_map(f, &recipe, pool[subset[k]], g, recipe.map, main_maps[k]);
            sum += main_maps[k][0];
            if (recipe.other == PXI_NONE)
                continue;
            pxi_recipe pure = recipe;
            pure.colour = pure.position = PXI_NONE;
            plain_map(f, &pure, pool[subset[k]], g, recipe.other, other_maps[k]);
            other_sum += other_maps[k][0];
        }
        if (sum == 0.0 || (recipe.other != PXI_NONE && other_sum == 0.0))
            continue; /* the first attempt saw nothing, a later one has the same caption */
        for (int k = 0; k < IMAGES && recipe.other != PXI_NONE; k++)
            for (int p = 1; p <= n; p++)
                main_maps[k][p] =
                    main_maps[k][p] / (sum / (IMAGES * N)) +
                    recipe.other_weight * other_maps[k][p] / (other_sum / (IMAGES * N));
        double score[IMAGES];
        for (int k = 0; k < IMAGES; k++) {
            score[k] = 0.0;
            for (int p = 1; p <= n; p++) {
                all[k * n + p - 1] = main_maps[k][p];
                score[k] = fmax(score[k], main_maps[k][p]);
            }
        }
        const double level = px_quantile(all, (size_t)(IMAGES * n), o.quantile);
        if (!(fabs(u->level - level) <= 1e-5 * fmax(1.0, level)))
            fail_msg("unit %u '%s': level %.9g instead of %.9g", i, u->captions[0], u->level,
                     level);
        for (int64_t j = 0; j < u->exemplar_count; j++) {
            int k = 0;
            while (k < IMAGES && pool[subset[k]] != u->images[j])
                k++;
            if (k == IMAGES)
                fail_msg("unit %u '%s': exemplar %d is not of its subset; level %g", i,
                         u->captions[0], (int)j, u->level);
            int better = 0;
            for (int other = 0; other < IMAGES; other++)
                better += score[other] > score[k] + 1e-5 * fmax(1.0, score[k]);
            if (better > j)
                fail_msg("unit %u '%s': exemplar %d has %d better ones", i, u->captions[0], (int)j,
                         better);
        }
        checked++;
    }
    assert_true(checked > 60);
    px_virtual_units_free(units);
}

static void test_masks_show_something(void **state)
{
    const fixture *f = *state;
    const px_virtual_options o = small_options();
    px_virtual_units *units = make(f, &o);
    uint8_t mask[SIDE * SIDE];
    for (size_t i = 0; i < 150; i++) {
        const px_virtual_unit *u = px_virtual_units_get(units, i);
        assert_int_equal(u->exemplar_count, 5);
        for (int64_t j = 0; j < 5; j++) {
            int ones = 0;
            px_virtual_units_mask(units, i, j, mask);
            for (int p = 0; p < SIDE * SIDE; p++)
                ones += mask[p];
            assert_true(ones > 0);
            assert_true(u->images[j] >= 0 && u->images[j] < PICTURES);
            for (int64_t k = 0; k < j; k++)
                assert_true(u->images[k] != u->images[j]);
            assert_null(px_virtual_units_picture(units, i, j));
        }
    }
    px_virtual_units_free(units);
}

/* --- drawn units ----------------------------------------------------------------------------- */

/* Every thing covers something, stays within the picture's values, and is where it says. */
static void test_everything_can_be_drawn(void **state)
{
    (void)state;
    enum { LARGE = 32, M = LARGE * LARGE };
    static float values[3 * M], region[M];
    for (size_t i = 0; i < pxi_drawn_count(); i++)
        for (uint32_t k = 0; k < 20; k++) {
            px_random r = px_rng(k, PX_RNG_TEST, (uint32_t)i, 2);
            double covered = 0.0;
            const int channels = k % 2 ? 1 : 3;
            for (int p = 0; p < 3 * M; p++)
                values[p] = 0.625f;
            pxi_drawn_draw(i, -1, &r, channels, LARGE, LARGE, values, region);
            for (int p = 0; p < M; p++) {
                covered += (double)region[p];
                assert_true(region[p] >= 0.0f && region[p] <= 1.0f);
                for (int c = 0; c < channels; c++) {
                    assert_true(values[c * M + p] >= 0.0f && values[c * M + p] <= 1.0f);
                    if (region[p] == 0.0f)
                        assert_true(values[c * M + p] == 0.625f);
                }
            }
            if (!(covered > 4.0 && covered < 0.8 * M))
                fail_msg("%s covers %.1f pixels", pxi_drawn_words(i), covered);
        }
}

/* Paint is what the colour attributes call by its name. */
static void test_drawn_colours(void **state)
{
    const fixture *f = *state;
    static float raw[3 * SIDE * SIDE], region[SIDE * SIDE], maps[32 * SIDE * SIDE];
    enum { CIRCLE = 0 };
    for (int colour = 0; colour < PXI_DRAWN_COLOURS; colour++) {
        int whole = 0, right = 0;
        for (uint32_t k = 0; k < 20; k++) {
            px_random r = px_rng(k, PX_RNG_TEST, (uint32_t)colour, 3);
            for (int p = 0; p < 3 * SIDE * SIDE; p++)
                raw[p] = 0.5f;
            pxi_drawn_draw(CIRCLE, colour, &r, 3, SIDE, SIDE, raw, region);
            for (int p = 0; p < 3 * SIDE * SIDE; p++)
                raw[p] *= 255.0f;
            assert_int_equal(px_concepts_maps(f->concepts, raw, maps, NULL), PX_OK);
            for (int p = 0; p < SIDE * SIDE; p++) {
                whole += region[p] == 1.0f;
                right += region[p] == 1.0f && maps[colour * SIDE * SIDE + p] == 1.0f;
            }
        }
        if (!(whole > 50 && right > 0.95 * whole))
            fail_msg("%s: %d of %d pixels", px_concepts_get(f->concepts, (size_t)colour)->words,
                     right, whole);
    }
}

static void test_drawn_units(void **state)
{
    const fixture *f = *state;
    px_virtual_options o = small_options();
    o.drawn = 0.25;
    o.threads = 1;
    px_virtual_units *units = make(f, &o);
    o.threads = 2;
    px_virtual_units *again = make(f, &o);
    same_units(units, again);
    static float raw[3 * SIDE * SIDE];
    uint8_t mask[SIDE * SIDE];
    bool mentioned[64];
    int drawn = 0;
    for (size_t i = 0; i < 150; i++) {
        const px_virtual_unit *u = px_virtual_units_get(units, i);
        if (!u->drawn) {
            assert_null(px_virtual_units_picture(units, i, 0));
            continue;
        }
        drawn++;
        for (int k = 0; k < PX_VIRTUAL_CAPTIONS; k++) {
            size_t count = 0;
            assert_int_equal(px_concepts_mentions(f->concepts, u->captions[k], mentioned, NULL),
                             PX_OK);
            for (size_t t = 0; t < px_concepts_term_count(f->concepts); t++)
                count += mentioned[t];
            if (count != u->term_count || !mentioned[u->terms[u->term_count - 1]])
                fail_msg("'%s' has %zu terms", u->captions[k], count);
        }
        for (int64_t j = 0; j < u->exemplar_count; j++) {
            const uint8_t *picture = px_virtual_units_picture(units, i, j);
            int changed = 0, shown = 0;
            assert_memory_equal(picture, px_virtual_units_picture(again, i, j), 3 * SIDE * SIDE);
            assert_int_equal(px_dataset_pixels(f->set, u->images[j], raw, NULL), PX_OK);
            px_virtual_units_mask(units, i, j, mask);
            for (int p = 0; p < SIDE * SIDE; p++) {
                const bool same = raw[p] == (float)picture[p] &&
                                  raw[p + SIDE * SIDE] == (float)picture[p + SIDE * SIDE];
                changed += !same;
                shown += mask[p];
            }
            assert_true(changed > 0 && changed < SIDE * SIDE && shown > 0);
        }
    }
    assert_true(drawn > 20 && drawn < 60);
    px_virtual_units_free(units);
    px_virtual_units_free(again);
}

/* --- captions that were told ----------------------------------------------------------------- */

static void test_scores(void **state)
{
    const fixture *f = *state;
    const px_virtual_options o = small_options();
    px_virtual_units *units = make(f, &o);
    const char *said[150];
    px_caption_score score;
    for (size_t i = 0; i < 150; i++)
        said[i] = px_virtual_units_get(units, i)->captions[i % 3];
    assert_int_equal(
        px_virtual_units_score(units, f->concepts, PX_VIRTUAL_HELD_OUT, said, &score, NULL), PX_OK);
    assert_int_equal(score.count, 15);
    assert_true(score.exact == 1.0 && score.precision == 1.0 && score.recall == 1.0);
    assert_true(fabs(score.bleu - 100.0) < 1e-9);
    for (size_t i = 0; i < 150; i++)
        said[i] = "nothing of the kind";
    assert_int_equal(
        px_virtual_units_score(units, f->concepts, PX_VIRTUAL_HELD_OUT, said, &score, NULL), PX_OK);
    assert_true(score.exact == 0.0 && score.precision == 0.0 && score.recall == 0.0);
    /* "red regions" everywhere: precision is the share that means red, recall red among all. */
    int64_t red = 0, terms = 0, count = 0;
    const size_t term = px_concepts_get(f->concepts, 0)->term;
    for (size_t i = 0; i < 150; i++) {
        const px_virtual_unit *u = px_virtual_units_get(units, i);
        said[i] = u->split == PX_VIRTUAL_TRAIN ? "red areas" : NULL;
        if (u->split != PX_VIRTUAL_TRAIN)
            continue;
        count++;
        terms += (int64_t)u->term_count;
        for (size_t t = 0; t < u->term_count; t++)
            red += u->terms[t] == term;
    }
    assert_true(red > 0);
    assert_int_equal(
        px_virtual_units_score(units, f->concepts, PX_VIRTUAL_TRAIN, said, &score, NULL), PX_OK);
    assert_int_equal(score.count, count);
    assert_true(fabs(score.precision - (double)red / (double)count) < 1e-12);
    assert_true(fabs(score.recall - (double)red / (double)terms) < 1e-12);
    px_virtual_units_free(units);
}

/* --- what cannot be made --------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    const fixture *f = *state;
    static unsigned char blank[20 * 3 * SIDE * SIDE];
    px_virtual_units *units = NULL;
    px_error err = {0};
    px_virtual_options o = small_options();
    o.exemplars = 61;
    assert_int_equal(px_virtual_units_make(f->concepts, f->set, &o, &units, &err), PX_E_USAGE);
    o = small_options();
    o.count = 0;
    assert_int_equal(px_virtual_units_make(f->concepts, f->set, &o, &units, &err), PX_E_USAGE);
    o = small_options();
    o.quantile = NAN;
    assert_int_equal(px_virtual_units_make(f->concepts, f->set, &o, &units, &err), PX_E_USAGE);
    o = small_options();
    o.drawn = 0.3;
    assert_int_equal(px_virtual_units_make(f->concepts, f->set, &o, &units, &err), PX_E_USAGE);
    o = small_options();
    px_dataset *few = bytes_set("few.npz", blank, NULL, 3, 3, SIDE, SIDE);
    assert_int_equal(px_virtual_units_make(f->concepts, few, &o, &units, &err), PX_E_INPUT);
    px_dataset_close(few);
    /* Black pictures: only "black", "dark" and "flat" are there, and flat ones are all alike. */
    px_dataset *black = bytes_set("black.npz", blank, NULL, 20, 3, SIDE, SIDE);
    px_concepts *c = NULL;
    assert_int_equal(px_concepts_new(black, NULL, NULL, &c, &err), PX_OK);
    assert_int_equal(px_virtual_units_make(c, black, &o, &units, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "too little to see"));
    px_concepts_free(c);
    px_dataset_close(black);
    px_dataset *small = bytes_set("small.npz", blank, NULL, 20, 3, SIDE, SIDE / 2);
    assert_int_equal(px_virtual_units_make(f->concepts, small, &o, &units, &err), PX_E_MISMATCH);
    px_dataset_close(small);
    assert_null(units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recipes_are_as_likely_as_said),
        cmocka_unit_test(test_captions_say_what_they_mean),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_exemplars_again),
        cmocka_unit_test(test_masks_show_something),
        cmocka_unit_test(test_everything_can_be_drawn),
        cmocka_unit_test(test_drawn_colours),
        cmocka_unit_test(test_drawn_units),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
