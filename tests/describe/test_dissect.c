/* tests/describe/test_dissect.c - overlaps of units with attributes, worked out again pixel by
 * pixel; the bank of measured labels; gates of banks made by hand */
/* SPDX-License-Identifier: Apache-2.0 */
#include "concept_helpers.h"

#include "base/memory.h"
#include "describe/mask.h"
#include "engine/net.h"

#include <internal/bank.h>
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES = 30, SIDE = 8, N = SIDE * SIDE, UNITS = 3 };

typedef struct fixture {
    unsigned char pixels[PICTURES * 3 * N];
    int64_t labels[PICTURES];
    px_dataset *set;
    px_preprocess pre;
    px_concepts *concepts;
    px_model *model;
    px_exemplars *exemplars;
} fixture;

/* red - (green + blue) / 2; brightness; never above zero. With a scale of 1/256 all sums are exact,
 * so that masks are the same to the pixel. */
static const float weights[UNITS * 3] = {1.0f,  -0.5f, -0.5f, 0.25f, 0.5f,
                                         0.25f, -1.0f, -1.0f, -1.0f};

/* A convolution of one pixel, then the mean of squares of four: two layers of units. */
static px_model *colour_net(void)
{
    net n;
    net_init(&n, 1, "1,3,8,8");
    const int w = net_tensor(&n, PX_FLOAT32, "3,3,1,1", weights);
    const int conv =
        net_add(&n, "Conv", "", (net_in[]){{.value = n.x}, {.value = w}, {.value = -1}});
    const int fine = net_add(&n, "Relu", "", (net_in[]){{.value = conv}, {.value = -1}});
    const int pooled = net_add(&n, "AveragePool", "kernel_shape=2,2 strides=2,2",
                               (net_in[]){{.value = fine}, {.value = -1}});
    static const float eye[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int same = net_tensor(&n, PX_FLOAT32, "3,3,1,1", eye);
    const int again =
        net_add(&n, "Conv", "", (net_in[]){{.value = pooled}, {.value = same}, {.value = -1}});
    const int coarse = net_add(&n, "Relu", "", (net_in[]){{.value = again}, {.value = -1}});
    const int mean =
        net_add(&n, "GlobalAveragePool", "", (net_in[]){{.value = coarse}, {.value = -1}});
    const int flat = net_add(&n, "Flatten", "", (net_in[]){{.value = mean}, {.value = -1}});
    return net_take(&n, net_add(&n, "Gemm", "transB=1",
                                (net_in[]){{.value = flat}, {.weight = "2,3"}, {.value = -1}}));
}

/* The first 20 pictures have a red square, of class 0; the others are of green and blue, class 1.
 */
static void paint(fixture *f)
{
    for (int64_t i = 0; i < PICTURES; i++) {
        px_random r = px_rng(9, PX_RNG_TEST, (uint32_t)i, 1);
        const int x0 = (int)px_rng_below(&r, 5), y0 = (int)px_rng_below(&r, 5);
        f->labels[i] = i >= 20;
        for (int p = 0; p < N; p++) {
            const int y = p / SIDE, x = p % SIDE;
            const bool square = i < 20 && x >= x0 && x < x0 + 3 && y >= y0 && y < y0 + 3;
            unsigned char *to = f->pixels + i * 3 * N + p;
            to[0] = (unsigned char)(square ? 200 + px_rng_below(&r, 56) : px_rng_below(&r, 90));
            to[N] = (unsigned char)(square ? px_rng_below(&r, 20) : 60 + px_rng_below(&r, 190));
            to[2 * N] = (unsigned char)(square ? px_rng_below(&r, 20) : px_rng_below(&r, 200));
        }
    }
}

static int set_up(void **state)
{
    static fixture f;
    static const char *const names[] = {"red_things, Rubra", "meadow"};
    const px_shape input = {4, {1, 3, SIDE, SIDE}};
    px_concepts_options options = px_concepts_options_default();
    px_exemplar_options exemplars = px_exemplar_options_default();
    px_error err = {0};
    paint(&f);
    f.model = colour_net();
    f.set = bytes_set("dissect.npz", f.pixels, f.labels, PICTURES, 3, SIDE, SIDE);
    options.classes = names;
    options.class_count = 2;
    exemplars.layers = "conv";
    exemplars.quantile = 0.95;
    if (px_preprocess_init(&f.pre, NULL, 0, &input, NULL, &err) != PX_OK)
        fail_msg("%s", err.message);
    f.pre.scale = 1.0f / 256.0f;
    if (px_concepts_new(f.set, &f.pre, &options, &f.concepts, &err) != PX_OK ||
        px_exemplars_collect(f.model, f.set, &f.pre, &exemplars, &f.exemplars, &err) != PX_OK)
        fail_msg("%s", err.message);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_exemplars_free(f->exemplars);
    px_concepts_free(f->concepts);
    px_dataset_close(f->set);
    px_model_free(f->model);
    return 0;
}

static px_dissection *dissect(const fixture *f, int threads, int64_t limit)
{
    const px_dissect_options o = {.layers = "conv", .threads = threads, .limit = limit, .batch = 4};
    px_dissection *d = NULL;
    px_error err = {0};
    if (px_dissect(f->model, f->set, &f->pre, f->exemplars, f->concepts, &o, &d, &err) != PX_OK)
        fail_msg("%s", err.message);
    return d;
}

/* --- overlaps -------------------------------------------------------------------------------- */

/* Map of a unit in layer 0 (8 x 8) or 1 (4 x 4), by hand. */
static void unit_map(const fixture *f, int64_t i, size_t layer, int64_t unit, float *out)
{
    float fine[N];
    for (int p = 0; p < N; p++) {
        float v = 0.0f;
        for (int c = 0; c < 3; c++)
            v += weights[unit * 3 + c] * ((float)f->pixels[(i * 3 + c) * N + p] * f->pre.scale);
        fine[p] = v > 0.0f ? v : 0.0f;
    }
    if (layer == 0)
        memcpy(out, fine, sizeof fine);
    for (int y = 0; layer == 1 && y < 4; y++)
        for (int x = 0; x < 4; x++) {
            const float *at = fine + 2 * y * SIDE + 2 * x;
            out[y * 4 + x] = (at[0] + at[1] + at[SIDE] + at[SIDE + 1]) / 4.0f;
        }
}

static double plain_iou(const fixture *f, size_t layer, int64_t unit, size_t concept_index)
{
    static float raw[3 * N], maps[32 * N], map[N];
    static uint8_t mask[N];
    const int side = layer == 0 ? 8 : 4;
    const float level = (float)px_exemplars_unit(f->exemplars, layer, unit).level;
    const float above = (float)px_concepts_get(f->concepts, concept_index)->level;
    int64_t both = 0, any = 0;
    for (int64_t i = 0; i < PICTURES; i++) {
        for (int p = 0; p < 3 * N; p++)
            raw[p] = (float)f->pixels[i * 3 * N + p];
        assert_int_equal(px_concepts_maps(f->concepts, raw, maps, NULL), PX_OK);
        unit_map(f, i, layer, unit, map);
        pxi_mask(map, side, side, level, SIDE, SIDE, false, mask);
        for (int p = 0; p < N; p++) {
            const bool has = maps[concept_index * N + (size_t)p] > above;
            both += mask[p] && has;
            any += mask[p] || has;
        }
    }
    return any ? (double)both / (double)any : 0.0;
}

static void test_overlaps(void **state)
{
    const fixture *f = *state;
    px_dissection *d = dissect(f, 2, 0);
    assert_int_equal(px_exemplars_layer_count(f->exemplars), 2);
    for (size_t layer = 0; layer < 2; layer++)
        for (int64_t unit = 0; unit < UNITS; unit++)
            for (size_t m = 0; m < px_concepts_count(f->concepts); m++) {
                const double got = px_dissection_iou(d, layer, unit, m);
                const double wanted = unit == 2 ? 0.0 : plain_iou(f, layer, unit, m);
                if (got != wanted)
                    fail_msg("layer %zu, unit %d, %s: %.6f instead of %.6f", layer, (int)unit,
                             px_concepts_get(f->concepts, m)->words, got, wanted);
            }
    px_dissection_free(d);
    px_dissection_free(NULL);
}

static void test_labels_and_classes(void **state)
{
    const fixture *f = *state;
    px_dissection *d = dissect(f, 1, 0);
    const px_bank_unit red = px_dissection_unit(d, 0, 0), dead = px_dissection_unit(d, 1, 2);
    assert_string_equal(px_bank_label_of(&red), "red regions");
    assert_true(red.labels[0].iou > 0.5);
    assert_int_equal(red.label_count, 3);
    assert_true(red.labels[0].iou >= red.labels[1].iou && red.labels[1].iou >= red.labels[2].iou);
    assert_string_not_equal(red.labels[1].words, red.labels[2].words);
    assert_string_equal(px_bank_class_of(&red), "red things");
    assert_true(red.class_share == 1.0);
    assert_int_equal(red.exemplar_count, 15);
    assert_true(dead.inactive);
    assert_int_equal(dead.label_count, 0);
    assert_null(px_bank_class_of(&dead));
    px_dissection_free(d);
}

static void test_threads_change_nothing(void **state)
{
    const fixture *f = *state;
    px_dissection *one = dissect(f, 1, 0), *three = dissect(f, 3, 0), *some = dissect(f, 2, 10);
    bool differs = false;
    for (size_t layer = 0; layer < 2; layer++)
        for (int64_t unit = 0; unit < UNITS; unit++)
            for (size_t m = 0; m < px_concepts_count(f->concepts); m++) {
                const double iou = px_dissection_iou(one, layer, unit, m);
                assert_true(iou == px_dissection_iou(three, layer, unit, m));
                differs = differs || iou != px_dissection_iou(some, layer, unit, m);
            }
    assert_true(differs);
    px_dissection_free(one);
    px_dissection_free(three);
    px_dissection_free(some);
}

static void test_a_bank_of_labels(void **state)
{
    const fixture *f = *state;
    px_dissection *d = dissect(f, 1, 0);
    px_bank *bank = NULL;
    px_gates gates = px_gates_none();
    const px_bank_about about = {.model = px_model_hash(f->model),
                                 .data = px_dataset_hash(f->set),
                                 .images = PICTURES,
                                 .describer = PX_DESCRIBER_DISSECT};
    assert_int_equal(px_dissection_bank(d, &about, NULL, &bank, NULL), PX_OK);
    assert_int_equal(px_bank_count(bank), 6);
    const px_exemplar_layer *layer = px_exemplars_layer(f->exemplars, 0);
    const px_bank_unit *u = px_bank_find(bank, layer->name, 0);
    assert_string_equal(u->phrase, "red regions and red things");
    assert_false(px_bank_described(px_bank_find(bank, layer->name, 2)));
    assert_string_equal(px_bank_validation(bank), "measured labels");
    assert_int_equal(px_gates_measure(bank, f->concepts, NULL, &gates, NULL), PX_OK);
    px_bank_set_gates(bank, &gates);
    assert_true(gates.top1.value == 1.0); /* labels name themselves */
    assert_int_equal(gates.inactive, 2);
    assert_string_equal(px_bank_validation(bank), "measured labels");
    px_bank_free(bank);
    /* The same with words of somebody else's; the dissection outlives nobody. */
    const char *const said[6] = {"a", "b", "never said", NULL, "d", "e"};
    px_bank_about other = about;
    other.describer = PX_DESCRIBER_OTHER;
    assert_int_equal(px_dissection_bank(d, &other, said, &bank, NULL), PX_OK);
    px_dissection_free(d);
    assert_string_equal(px_bank_get(bank, 1)->phrase, "b");
    assert_string_equal(px_bank_shown(px_bank_get(bank, 2)), "(inactive)");
    assert_string_equal(px_bank_shown(px_bank_get(bank, 3)), "(no label)");
    assert_string_equal(px_bank_validation(bank), "descriptions not validated");
    px_bank_free(bank);
}

static void test_other_layers(void **state)
{
    const fixture *f = *state;
    const px_dissect_options o = {.layers = "#0"};
    px_dissection *d = NULL;
    px_error err = {0};
    assert_int_equal(px_dissect(f->model, f->set, &f->pre, f->exemplars, f->concepts, &o, &d, &err),
                     PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "--layers"));
    assert_null(d);
}

/* --- gates ----------------------------------------------------------------------------------- */

static px_status letters_in_common(void *context, const char *a, const char *b, double *out,
                                   px_error *err)
{
    int *calls = context;
    (void)err;
    ++*calls;
    *out = strstr(a, b) ? 1.0 : 0.25;
    return PX_OK;
}

/* Six units: labels, classes and captions by hand.
 *
 *   unit  label           second        class (share)      caption
 *   0     red regions     flat regions  red things (.8)    red areas            top-1
 *   1     vertical edges  dark regions  -                  regions that are dark        top-3
 *   2     fine texture    -             meadow (1)         meadow               -
 *   3     (.03) red       -             meadow (.59)       red areas            no label, no class
 *   4     blue regions    -             meadow (.6)        blue regions         top-1
 *   5     inactive
 */
static px_bank *bank_by_hand(void)
{
    static const px_bank_unit units[] = {
        {.layer = "a",
         .unit = 0,
         .phrase = "red areas",
         .labels = {{"red regions", 0.2}, {"flat regions", 0.1}},
         .label_count = 2,
         .class_name = "red things",
         .class_share = 0.8},
        {.layer = "a",
         .unit = 1,
         .phrase = "regions that are dark",
         .labels = {{"vertical edges", 0.2}, {"dark regions", 0.01}},
         .label_count = 2},
        {.layer = "a",
         .unit = 2,
         .phrase = "meadow",
         .labels = {{"fine texture", 0.05}},
         .label_count = 1,
         .class_name = "meadow",
         .class_share = 1.0},
        {.layer = "a",
         .unit = 3,
         .phrase = "red areas",
         .labels = {{"red regions", 0.03}},
         .label_count = 1,
         .class_name = "meadow",
         .class_share = 0.59},
        {.layer = "b",
         .unit = 0,
         .phrase = "blue regions",
         .labels = {{"blue regions", 0.3}},
         .label_count = 1,
         .class_name = "meadow",
         .class_share = 0.6},
        {.layer = "b", .unit = 1, .phrase = "", .inactive = true},
    };
    px_bank *bank = NULL;
    assert_int_equal(px_bank_new(&(px_bank_about){0}, &bank, NULL), PX_OK);
    for (size_t i = 0; i < PX_LEN(units); i++)
        assert_int_equal(px_bank_add(bank, &units[i], NULL), PX_OK);
    return bank;
}

static void near_chance(const char *what, const px_agreement *a, double value, double chance)
{
    /* The mean of 500 permutations is about sd / 22 from the mean of all. */
    if (fabs(a->value - value) > 1e-12 || !(fabs(a->chance - chance) <= 5.0 * a->sd / sqrt(500.0)))
        fail_msg("%s: %.6f, chance %.6f +- %.6f instead of %.6f", what, a->value, a->chance, a->sd,
                 chance);
}

static void test_gates(void **state)
{
    const fixture *f = *state;
    px_bank *bank = bank_by_hand();
    px_gates gates = px_gates_none();
    int calls = 0;
    px_gates_options o = px_gates_options_default();
    gates.held_out.count = 77; /* left alone */
    o.similarity = letters_in_common;
    o.context = &calls;
    assert_int_equal(px_gates_measure(bank, f->concepts, &o, &gates, NULL), PX_OK);
    assert_int_equal(gates.held_out.count, 77);
    assert_int_equal(gates.permutations, 500);
    /* g2: units 0, 1, 2, 4. Captions mention {red}, {dark}, {}, {blue}; labels are red, vertical,
     * fine, blue: of 16 pairs two agree top-1, three top-3. */
    assert_int_equal(gates.labelled, 4);
    near_chance("top-1", &gates.top1, 2.0 / 4.0, 2.0 / 16.0);
    near_chance("top-3", &gates.top3, 3.0 / 4.0, 3.0 / 16.0);
    /* g3: units 0 (red things), 2 and 4 (meadow). "meadow" names two of the three: of 9 pairs two
     * agree, which are the same for cosines: 1 there, 0.25 elsewhere. */
    assert_int_equal(gates.selective, 3);
    near_chance("named", &gates.named, 1.0 / 3.0, 2.0 / 9.0);
    near_chance("cosine", &gates.cosine, (0.25 + 1.0 + 0.25) / 3.0, (2.0 + 7.0 * 0.25) / 9.0);
    assert_int_equal(calls, 6); /* three captions, two classes */
    /* g4 */
    assert_int_equal(gates.units, 6);
    assert_int_equal(gates.inactive, 1);
    assert_int_equal(gates.distinct, 4);
    assert_true(fabs(gates.most_frequent - 2.0 / 5.0) < 1e-12);
    /* Permutations are addressed: the same again, and others for another seed. */
    px_gates again = px_gates_none();
    assert_int_equal(px_gates_measure(bank, f->concepts, &o, &again, NULL), PX_OK);
    assert_true(again.top3.chance == gates.top3.chance && again.top3.sd == gates.top3.sd);
    o.seed = 1;
    assert_int_equal(px_gates_measure(bank, f->concepts, &o, &again, NULL), PX_OK);
    assert_true(again.top3.chance != gates.top3.chance);
    o.permutations = 1;
    assert_int_equal(px_gates_measure(bank, f->concepts, &o, &again, NULL), PX_E_USAGE);
    px_bank_free(bank);
}

static void test_gates_of_nothing(void **state)
{
    const fixture *f = *state;
    px_bank *bank = NULL;
    px_gates gates = px_gates_none();
    assert_int_equal(px_bank_new(&(px_bank_about){0}, &bank, NULL), PX_OK);
    assert_int_equal(px_gates_measure(bank, f->concepts, NULL, &gates, NULL), PX_OK);
    assert_true(gates.labelled == 0 && gates.selective == 0 && gates.distinct == 0);
    assert_true(isnan(gates.top1.value) && isnan(gates.most_frequent));
    px_bank_set_gates(bank, &gates);
    assert_string_equal(px_bank_validation(bank), "descriptions not validated");
    px_bank_free(bank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_labels_and_classes),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_a_bank_of_labels),
        cmocka_unit_test(test_other_layers),
        cmocka_unit_test(test_gates),
        cmocka_unit_test(test_gates_of_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
