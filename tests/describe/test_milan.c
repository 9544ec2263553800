/* tests/describe/test_milan.c - the MILANNOTATIONS layout out and in, and files that lie */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_helpers.h"

#include "base/memory.h"
#include "describe/exemplar_internal.h"

#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUTS = 40, COUNT = 4 };

typedef struct fixture {
    px_model *model;
    small_data data;
    px_exemplars *exemplars;
    char folder[TEST_PATH], layer[TEST_PATH * 2];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    px_error err = {0};
    px_exemplar_options options = px_exemplar_options_default();
    options.layers = "hidden";
    options.count = COUNT;
    f.model = small_net(7, 3);
    f.data = small_digits(f.model, "test", INPUTS, 0);
    test_path("milan", f.folder);
    if (px_exemplars_collect(f.model, f.data.set, &f.data.pre, &options, &f.exemplars, &err) !=
            PX_OK ||
        px_exemplars_save(f.exemplars, f.data.set, UINT64_MAX, f.folder, &err) != PX_OK) {
        print_error("%s\n", err.message);
        return -1;
    }
    char *name = pxi_exemplar_folder(px_exemplars_layer(f.exemplars, 0)->name);
    snprintf(f.layer, sizeof f.layer, "%s/%s", f.folder, name);
    free(name);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    px_exemplars_free(f->exemplars);
    small_close(&f->data);
    px_model_free(f->model);
    return 0;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void test_round_trip(void **state)
{
    const fixture *f = *state;
    px_error err = {0};
    px_exemplars *e = NULL;
    if (px_exemplars_load(f->folder, &e, &err) != PX_OK)
        fail_msg("%s", err.message);
    const px_exemplar_facts a = px_exemplars_facts(f->exemplars), b = px_exemplars_facts(e);
    assert_true(a.model_hash == b.model_hash && a.data_hash == b.data_hash);
    assert_true(a.inputs == b.inputs && a.count == b.count && a.quantile == b.quantile);
    assert_int_equal(b.height, 28);
    assert_int_equal(px_exemplars_layer_count(e), px_exemplars_layer_count(f->exemplars));
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
        const px_exemplar_layer *layer = px_exemplars_layer(e, l);
        assert_string_equal(layer->name, px_exemplars_layer(f->exemplars, l)->name);
        for (int64_t u = 0; u < layer->units; u++) {
            const px_unit x = px_exemplars_unit(f->exemplars, l, u), y = px_exemplars_unit(e, l, u);
            assert_true(same_number(x.level, y.level) && same_number(x.most, y.most) &&
                        same_number(x.least, y.least) && x.inactive == y.inactive);
            assert_int_equal(x.count, y.count);
            for (int64_t j = 0; j < x.count; j++) {
                uint8_t want[28 * 28], got[28 * 28], planes[3 * 28 * 28];
                float pixels[28 * 28];
                assert_true(x.top[j].source == y.top[j].source && x.top[j].score == y.top[j].score);
                assert_int_equal(px_exemplars_mask(f->exemplars, l, u, j, 28, 28, want, NULL),
                                 PX_OK);
                assert_int_equal(px_exemplars_mask(e, l, u, j, 28, 28, got, NULL), PX_OK);
                assert_memory_equal(want, got, sizeof want);
                assert_int_equal(px_exemplars_picture(e, l, u, j, planes, NULL), PX_OK);
                assert_int_equal(px_dataset_pixels(f->data.set, x.top[j].index, pixels, NULL),
                                 PX_OK);
                for (size_t p = 0; p < sizeof planes; p++)
                    assert_true((float)planes[p] == pixels[p % (28 * 28)]);
            }
        }
    }
    px_exemplars_free(e);
}

/* Without what plexor adds, as others have it: masks come from their file. */
static void test_foreign(void **state)
{
    const fixture *f = *state;
    static const char *const extra[] = {"maps.npy", "levels.csv"};
    char from[TEST_PATH * 3], to[TEST_PATH * 3];
    for (size_t l = 0; l < px_exemplars_layer_count(f->exemplars); l++)
        for (size_t i = 0; i < PX_LEN(extra); i++) {
            char *name = pxi_exemplar_folder(px_exemplars_layer(f->exemplars, l)->name);
            snprintf(from, sizeof from, "%s/%s/%s", f->folder, name, extra[i]);
            assert_int_equal(unlink(from), 0);
            free(name);
        }
    snprintf(from, sizeof from, "%s/%s", f->folder, PXI_EXEMPLARS_FILE);
    snprintf(to, sizeof to, "%s/aside", f->folder);
    assert_int_equal(rename(from, to), 0);
    px_error err = {0};
    px_exemplars *e = NULL;
    const px_status status = px_exemplars_load(f->folder, &e, &err);
    assert_int_equal(px_exemplars_save(f->exemplars, f->data.set, UINT64_MAX, f->folder, NULL),
                     PX_OK);
    if (status != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(px_exemplars_layer_count(e), px_exemplars_layer_count(f->exemplars));
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++) { /* sorted by name here */
        size_t own = 0;
        while (strcmp(px_exemplars_layer(f->exemplars, own)->name,
                      px_exemplars_layer(e, l)->name) != 0)
            own++;
        const px_unit unit = px_exemplars_unit(e, l, 0);
        uint8_t want[28 * 28], got[28 * 28];
        assert_true(isnan(unit.level) && !unit.top[0].map);
        assert_int_equal(px_exemplars_mask(f->exemplars, own, 0, 0, 28, 28, want, NULL), PX_OK);
        assert_int_equal(px_exemplars_mask(e, l, 0, 0, 28, 28, got, NULL), PX_OK);
        assert_memory_equal(want, got, sizeof want);
        assert_int_equal(px_exemplars_mask(e, l, 0, 0, 14, 56, got, NULL), PX_OK);
        assert_int_equal(got[13 * 56 + 55], want[26 * 28 + 27]);
    }
    px_exemplars_free(e);
}

/* --- files that lie -------------------------------------------------------------------------- */

static void npy(px_text *text, const char *descr, const char *order, const char *shape,
                size_t bytes)
{
    px_text head = {0};
    px_text_format(&head, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, order,
                   shape);
    while ((head.length + 11) % 64)
        px_text_add(&head, " ");
    px_text_add(&head, "\n");
    const char start[10] = {(char)0x93,
                            'N',
                            'U',
                            'M',
                            'P',
                            'Y',
                            1,
                            0,
                            (char)(head.length & 255),
                            (char)(head.length >> 8)};
    px_text_clear(text);
    px_text_add_bytes(text, start, sizeof start);
    px_text_add_bytes(text, head.data, head.length);
    for (size_t i = 0; i < bytes; i++)
        px_text_add_bytes(text, "\0", 1);
    px_text_done(&head);
}

static void test_hostile_arrays(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *file, *descr, *order, *shape;
        size_t bytes;
    } cases[] = {
        {"images.npy", "|u1", "False", "3, 4, 3, 28, 28", 100}, /* cut short */
        {"images.npy", "|u1", "False", "1000000, 256, 3, 16384, 16384", 10},
        {"images.npy", "<f4", "False", "3, 4, 3, 28, 28", 3 * 4 * 3 * 784 * 4},
        {"images.npy", "|u1", "True", "3, 4, 3, 28, 28", 3 * 4 * 3 * 784},
        {"images.npy", "|u1", "False", "3, 4, 1, 28, 28", 3 * 4 * 3 * 784},
        {"images.npy", "|u1", "False", "0, 4, 3, 28, 28", 0},
        {"images.npy", "|u1", "False", "3, 1000, 3, 1, 1", 9000},
        {"images.npy", "|u1", "False", "3, 4, 3, 20000, 0", 0},
        {"images.npy", "|u1", "False", "3, 4, 3, 784", 3 * 4 * 3 * 784},
        {"masks.npy", "|u1", "False", "2, 4, 1, 28, 28", 2 * 4 * 784},
        {"masks.npy", "|u1", "False", "3, 4, 1, 28, 29", 3 * 4 * 28 * 29},
        {"masks.npy", "|u1", "False", "3, 3, 1, 28, 28", 3 * 3 * 784},
        {"maps.npy", "<f4", "False", "3, 4, 0, 28", 0},
        {"maps.npy", "<f4", "False", "2, 4, 2, 2", 128},
        {"maps.npy", "<f8", "False", "3, 4, 1, 1", 96},
        {"units.npy", "<i4", "False", "3,", 12},
        {"units.npy", "<i8", "False", "4,", 32},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        char path[TEST_PATH * 3];
        px_text text = {0};
        snprintf(path, sizeof path, "%s/%s", f->layer, cases[i].file);
        npy(&text, cases[i].descr, cases[i].order, cases[i].shape, cases[i].bytes);
        file_write(path, text.data, text.length);
        px_text_done(&text);
        px_error err = {0};
        px_exemplars *e = NULL;
        const px_status status = px_exemplars_load(f->folder, &e, &err);
        unlink(path);
        assert_int_equal(px_exemplars_save(f->exemplars, f->data.set, UINT64_MAX, f->folder, NULL),
                         PX_OK);
        if (status != PX_E_INPUT || !strstr(err.message, cases[i].file))
            fail_msg("%s of %s, %s: status %d, %s", cases[i].file, cases[i].shape, cases[i].descr,
                     (int)status, err.message);
    }
}

static void test_hostile_texts(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *file, *text;
        bool root;
    } cases[] = {
        {"ids.csv", "1,2,3\n", false},
        {"ids.csv", "1,2,3,4\n1,2,3,4\n", false},
        {"ids.csv", "1,2,3,4\n1,2,x,4\n1,2,3,4\n", false},
        {"activations.csv", "", false},
        {"levels.csv", "unit,level\n0,1\n", false},
        {"exemplars.json", "{", true},
        {"exemplars.json", "[]", true},
        {"exemplars.json", "{\"version\": 1, \"layers\": [3]}", true},
        {"exemplars.json", "{\"version\": 1, \"layers\": [\"../../etc\"]}", true},
        {"exemplars.json", "{\"version\": 2, \"layers\": [\"a\"]}", true},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        char path[TEST_PATH * 3];
        snprintf(path, sizeof path, "%s/%s", cases[i].root ? f->folder : f->layer, cases[i].file);
        file_write(path, cases[i].text, strlen(cases[i].text));
        px_error err = {0};
        px_exemplars *e = NULL;
        const px_status status = px_exemplars_load(f->folder, &e, &err);
        assert_int_equal(px_exemplars_save(f->exemplars, f->data.set, UINT64_MAX, f->folder, NULL),
                         PX_OK);
        if (status != PX_E_INPUT)
            fail_msg("%s '%s': status %d, %s", cases[i].file, cases[i].text, (int)status,
                     err.message);
    }
    px_exemplars *e = NULL;
    assert_int_equal(px_exemplars_load("no/such/folder", &e, NULL), PX_E_INPUT);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"layer1", "/layer1/conv/Relu", "..", ".",        "a b",
                                        "%2F",    "features.3",        "",   "\xc3\xa9", "a\\b:c"};
    for (size_t i = 0; i < PX_LEN(names); i++) {
        char *folder = pxi_exemplar_folder(names[i]), *back = pxi_exemplar_layer_name(folder);
        assert_string_equal(back, names[i]);
        assert_true(!strchr(folder, '/') && folder[0] != '.' && folder[0]);
        free(folder);
        free(back);
    }
}

/* --- annotations ----------------------------------------------------------------------------- */

static px_status annotations(const char *text, size_t size, px_milan_annotations **out,
                             px_error *err)
{
    char path[TEST_PATH];
    file_write(test_path("annotations.csv", path), text, size);
    return px_milan_annotations_load(path, out, err);
}

static void test_annotations(void **state)
{
    (void)state;
    static const char text[] = "annotator,layer,unit,summary\r\n"
                               "a,layer1,0,Red  Stripes\r\n"
                               "b,layer1,0,\"eyes, \"\"faces\"\"\nand noses \"\r\n"
                               "c,layer1,3,\r\n"
                               "d,features.3,12,h\xc3\xa9lice\n";
    px_error err = {0};
    px_milan_annotations *a = NULL;
    if (annotations(text, sizeof text - 1, &a, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(px_milan_annotations_count(a), 3);
    assert_string_equal(px_milan_annotations_get(a, 0)->summary, "red stripes");
    assert_string_equal(px_milan_annotations_get(a, 1)->summary, "eyes, \"faces\" and noses");
    assert_string_equal(px_milan_annotations_get(a, 2)->summary, "h\xc3\xa9lice");
    assert_string_equal(px_milan_annotations_get(a, 2)->layer, "features.3");
    assert_int_equal(px_milan_annotations_get(a, 2)->unit, 12);
    px_milan_annotations_free(a);
}

static void test_bad_annotations(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "layer"},
        {"layer,unit\n1,2\n", "summary"},
        {"layer,unit,summary\nl,x,words\n", "line 2"},
        {"layer,unit,summary\nl,-1,words\n", "line 2"},
        {"layer,unit,summary\nl,99999999999999999999,words\n", "line 2"},
        {"layer,unit,summary\nl,1\n", "line 2"},
        {"layer,unit,summary\nl,1,\"words\n", "quote"},
        {"layer,unit,summary\nl,1,\xff\xfe\n", "UTF-8"},
        {"layer,unit,summary\nl,1,  \n", "no row"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_milan_annotations *a = NULL;
        if (annotations(cases[i].text, strlen(cases[i].text), &a, &err) != PX_E_INPUT ||
            !strstr(err.message, cases[i].says))
            fail_msg("'%s': %s", cases[i].text, err.message);
    }
    px_milan_annotations *a = NULL;
    assert_int_equal(annotations("layer,unit,summary\nl,1,a\0b\n", 27, &a, NULL), PX_E_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_hostile_arrays),  cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_bad_annotations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
