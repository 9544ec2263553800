/* tests/localize/test_suspicious_file.c - suspicious.csv: there and back, and whatever else a file
 * may hold */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize_helpers.h"

#include "base/memory.h"
#include <internal/model.h>

#include <internal/localize.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void save(const px_suspicious *list, const char *name, char path[TEST_PATH])
{
    px_error err = {0};
    if (px_suspicious_save(list, test_path(name, path), &err) != PX_OK)
        fail_msg("%s", err.message);
}

static void test_there_and_back(void **state)
{
    (void)state;
    char path[TEST_PATH], again[TEST_PATH];
    px_spectrum *spectrum = empty_spectrum((const int64_t[]){3, 2, 0}, 3);
    free((char *)spectrum->layers[1].name);
    spectrum->layers[1].name = pxi_strdup(" odd, \"quoted\"\nname"); /* ONNX allows any */
    set_class(spectrum, 0, 4, 3, (const uint32_t[]){0, 1, 0, 4, 0},
              (const uint32_t[]){3, 3, 3, 3, 0});
    set_class(spectrum, 2, 7, 2, (const uint32_t[]){1, 2, 3, 4, 5},
              (const uint32_t[]){0, 1, 2, 1, 0});
    spectrum->model_hash = 0x0123456789abcdefu;
    spectrum->theta = 0.1;
    spectrum->tap = PX_TAP_PRE;
    spectrum->neurons = PX_VIEW_CHAN_MAX;
    for (int kind = 0; kind < 3; kind++) {
        px_suspicious *list = rank(spectrum, "dstar", 4, kind == 1), *read = NULL;
        px_error err = {0};
        if (kind == 2) { /* random: scores are NaN */
            const px_suspicious *lists[1] = {list};
            px_suspicious *random = NULL;
            assert_int_equal(px_suspicious_random(spectrum, lists, 1,
                                                  &(px_baseline_options){.k = 2}, &random, &err),
                             PX_OK);
            px_suspicious_free(list);
            list = random;
        }
        save(list, "list.csv", path);
        if (px_suspicious_open(path, &read, &err) != PX_OK)
            fail_msg("%s", err.message);
        assert_int_equal(read->count, list->count);
        assert_string_equal(read->measure, list->measure);
        assert_true(read->model_hash == list->model_hash && read->theta == 0.1 &&
                    read->star == 3.0 && read->tap == PX_TAP_PRE &&
                    read->neurons == PX_VIEW_CHAN_MAX && !read->deepxplore);
        for (size_t i = 0; i < list->count; i++) {
            const px_suspect *a = &list->items[i], *b = &read->items[i];
            assert_string_equal(a->layer, b->layer);
            assert_memory_equal(&a->hits, &b->hits, sizeof a->hits);
            assert_true(a->class_index == b->class_index && a->rank == b->rank &&
                        a->position == b->position && a->unit == b->unit);
            assert_true(a->score == b->score || (isnan(a->score) && isnan(b->score)));
        }
        save(read, "again.csv", again);
        assert_same_file(path, again, "written again");
        px_suspicious_free(list);
        px_suspicious_free(read);
    }
    px_spectrum_free(spectrum);
}

#define HEAD \
    "class,rank,layer,position,unit,as,af,ns,nf,score,measure,star,theta,tap,neurons,model\n"
#define ROW(class, rank, unit) \
    class "," rank ",conv,0," unit ",1,2,3,4,0.5,ochiai,3,0,post,chan,0123456789abcdef\n"
#define FIRST ROW("0", "1", "7")

static const struct {
    const char *text, *says; /* NULL: it is fine */
} texts[] = {
    {HEAD FIRST, NULL},
    {HEAD FIRST "\r\n\n" ROW("3", "1", "7"), NULL},
    {HEAD ROW("all", "1", "7"), NULL},
    {"", "there is no column 'class'"},
    {"path,label\na,1\n", "there is no column 'class'"},
    {HEAD, "has no neurons"},
    {HEAD "0,1,conv\n", "line 2: has 3 columns, and no 'position'"},
    {HEAD ROW("-1", "1", "7"), "line 2: class is '-1' instead of a whole number"},
    {HEAD ROW("x", "1", "7"), "line 2: class is 'x'"},
    {HEAD ROW("99999999999", "1", "7"), "line 2: class is '99999999999'"},
    {HEAD ROW("0", "0", "7"), "line 2: rank is '0' instead of a positive number"},
    {HEAD ROW("0", "1", "-7"), "line 2: unit is '-7'"},
    {HEAD ROW("0", "1", "1e3"), "line 2: unit is '1e3'"},
    {HEAD ROW("0", "1", ""), "line 2: unit is ''"},
    {HEAD ROW("0", "1", "99999999999999999999"), "line 2: unit is"},
    {HEAD FIRST ROW("0", "2", "7"), "neuron 7 of layer 'conv' is there twice"},
    {HEAD FIRST ROW("all", "2", "8"), "line 3: class is 'all' instead of of one kind"},
    {HEAD "0,1,conv,0,7,1,2,3,4,half,ochiai,3,0,post,chan,0123456789abcdef\n",
     "line 2: score is 'half' instead of a number"},
    {HEAD "0,1,conv,0,7,1,2,3,4,.5,ochia,3,0,post,chan,0123456789abcdef\n",
     "line 2: measure is 'ochia' instead of a measure"},
    {HEAD "0,1,conv,0,7,1,2,3,4,.5,ochiai,0,0,post,chan,0123456789abcdef\n",
     "line 2: star is '0' instead of an exponent"},
    {HEAD "0,1,conv,0,7,1,2,3,4,.5,ochiai,3,inf,post,chan,0123456789abcdef\n",
     "line 2: theta is 'inf' instead of a number"},
    {HEAD "0,1,conv,0,7,1,2,3,4,.5,ochiai,3,0,top,chan,0123456789abcdef\n", "line 2: "},
    {HEAD "0,1,conv,0,7,1,2,3,4,.5,ochiai,3,0,post,chan,0123\n",
     "line 2: model is '0123' instead of 16 hexadecimal digits"},
    {HEAD "0,1,conv,0,7,1,2,3,4,.5,ochiai,3,0,post,chan,0x23456789abcdef\n", "line 2: model is"},
    {HEAD FIRST "0,2,conv,0,8,1,2,3,4,.5,ochiai,3,0,post,chan,1123456789abcdef\n",
     "line 3: model is '1123456789abcdef' instead of the network of the rows before"},
    {HEAD FIRST "0,2,conv,0,8,1,2,3,4,.5,dstar,3,0,post,chan,0123456789abcdef\n",
     "line 3: measure is 'dstar' instead of the measure of the rows before"},
    {HEAD FIRST "0,2,conv,0,8,1,2,3,4,.5,ochiai,2,0,post,chan,0123456789abcdef\n",
     "line 3: star is '2'"},
    {HEAD FIRST "0,2,conv,0,8,1,2,3,4,.5,ochiai,3,1,post,chan,0123456789abcdef\n",
     "line 3: theta is '1'"},
    {HEAD FIRST "0,2,conv,0,8,1,2,3,4,.5,ochiai,3,0,pre,chan,0123456789abcdef\n",
     "line 3: tap is 'pre'"},
    {HEAD FIRST "0,2,conv,0,8,1,2,3,4,.5,ochiai,3,0,post,unit,0123456789abcdef\n",
     "line 3: neurons is 'unit'"},
    {HEAD "0,1,\"conv", "a quote is not closed"},
};

static void test_texts(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path("text.csv", path);
    for (size_t i = 0; i < PX_LEN(texts); i++) {
        px_suspicious *list = NULL;
        px_error err = {0};
        file_write(path, texts[i].text, strlen(texts[i].text));
        const px_status status = px_suspicious_open(path, &list, &err);
        if (!texts[i].says && status != PX_OK)
            fail_msg("text %zu: %s", i, err.message);
        if (texts[i].says && (status != PX_E_INPUT || !strstr(err.message, texts[i].says) ||
                              !strstr(err.message, "text.csv")))
            fail_msg("text %zu: status %d, '%s' instead of '%s'", i, (int)status, err.message,
                     texts[i].says);
        px_suspicious_free(list);
    }
    file_write(path, "class\0rank", 10);
    px_suspicious *list = NULL;
    assert_int_equal(px_suspicious_open(path, &list, NULL), PX_E_INPUT);
    assert_int_equal(px_suspicious_open("/nonexistent/list.csv", &list, NULL), PX_E_INPUT);
}

/* Columns in another order, among others; rows out of order. */
static void test_rearranged(void **state)
{
    (void)state;
    char path[TEST_PATH];
    static const char text[] =
        "note,model,neurons,tap,theta,star,measure,score,nf,ns,af,as,unit,position,layer,rank,"
        "class\n"
        "b,0123456789abcdef,unit,pre,-1,3,ochiai,inf,4,3,2,1,9,5,\"c,1\",2,1\n"
        "a,0123456789abcdef,unit,pre,-1,3,ochiai,nan,4,3,2,1,8,5,\"c,1\",1,1\n"
        "c,0123456789abcdef,unit,pre,-1,3,ochiai,1e-3,4,3,2,1,8,5,\"c,1\",1,0\n";
    px_suspicious *list = NULL;
    px_error err = {0};
    file_write(test_path("rearranged.csv", path), text, sizeof text - 1);
    if (px_suspicious_open(path, &list, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_string_equal(neurons_text(list, 0), "c,1:8");
    assert_string_equal(neurons_text(list, 1), "c,1:8 c,1:9");
    assert_true(list->theta == -1.0 && list->tap == PX_TAP_PRE && list->neurons == PX_VIEW_UNIT);
    assert_true(list->items[0].hits.as == 1 && list->items[0].hits.nf == 4);
    px_suspicious_free(list);
}

/* Cut short and changed byte by byte: refused in one sentence or read, never a crash. */
static void test_broken(void **state)
{
    (void)state;
    static const char put[] = "\",\n\r0-a\xff";
    static const char good[] = HEAD FIRST ROW("1", "2", "\"8\"") "\r\n" ROW("1", "1", "9");
    char path[TEST_PATH], bytes[sizeof good];
    int refused = 0, read = 0;
    test_path("broken.csv", path);
    for (size_t i = 0; i < sizeof good - 1; i++)
        for (size_t k = 0; k < sizeof put; k++) { /* the last one is the end of the text */
            px_suspicious *list = NULL;
            px_error err = {0};
            memcpy(bytes, good, sizeof good);
            bytes[i] = put[k];
            FILE *file = fopen(path, "wb"); /* thousands: without waiting for the disk */
            assert_non_null(file);
            fwrite(bytes, 1, k == sizeof put - 1 ? i : sizeof good - 1, file);
            fclose(file);
            if (px_suspicious_open(path, &list, &err) == PX_OK) {
                read++;
                assert_true(list->count >= 1 && list->count <= 3);
            } else {
                refused++;
                assert_non_null(strstr(err.message, "broken.csv"));
            }
            px_suspicious_free(list);
        }
    assert_true(refused > 500 && read > 50);
}

static void test_of_another_network(void **state)
{
    (void)state;
    px_model *model = small_net(3, 2);
    px_suspicious list = {.model_hash = px_model_hash(model)};
    px_error err = {0};
    assert_int_equal(px_suspicious_check(&list, model, &err), PX_OK);
    list.model_hash ^= 1;
    assert_int_equal(px_suspicious_check(&list, model, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "are those of another network"));
    assert_non_null(strstr(err.message, "find them with 'plexor localize'"));
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),     cmocka_unit_test(test_texts),
        cmocka_unit_test(test_rearranged),         cmocka_unit_test(test_broken),
        cmocka_unit_test(test_of_another_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
