/* tests/base/test_field.c */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/field.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a result with one of each --------------------------------------------------------------- */

typedef enum colour { RED, GREEN } colour;

typedef struct part {
    const char *id;
    double share;
    int64_t count;
} part;

typedef struct result {
    bool yes;
    int small;
    int64_t large;
    unsigned char byte;
    uint64_t hash;
    float third;
    double odd;
    const char *words;
    char name[8];
    colour c;
    int64_t label; /* -1: none */
    double low, high;
    double means[3];
    int mean_count;
    const part *parts;
    size_t part_count;
    const part *best;
    bool told, parts_left;
    px_matrix reals, counts;
    px_shape shape, unknown;
    part own[3];
    int own_count;
} result;

static const part parts[] = {{"b", 0.25, 1234567}, {"a,\"c\"", NAN, -1000}};
static const double reals[] = {0.5, NAN, 1.5};
static const int64_t counts[] = {1, 2, 3, 1000000};
static const char *const sides[] = {"left", "right"};
static const result full = {.yes = true,
                            .small = -3,
                            .large = INT64_MIN,
                            .byte = 200,
                            .hash = 0xabcdef,
                            .third = 0.5f,
                            .odd = NAN,
                            .words = "=1+1",
                            .name = "seven",
                            .c = GREEN,
                            .label = -1,
                            .low = 0.0,
                            .high = 1.0,
                            .means = {1.5, 2.5, 3.5},
                            .mean_count = 2,
                            .parts = parts,
                            .part_count = 2,
                            .best = &parts[1],
                            .told = true,
                            .reals = {.values = reals, .rows = 1, .columns = 3},
                            .counts = {.counts = counts, .rows = 2, .columns = 2, .names = sides},
                            .shape = {.rank = 2, .dim = {-1, 28}},
                            .unknown = {.rank = -1},
                            .own = {{"x", 0.5, 1}, {"y", 0.5, 1}},
                            .own_count = 1};

static bool is_told(const void *of)
{
    return ((const result *)of)->told;
}

static px_datum twice(const void *of, char *text)
{
    (void)text;
    return px_datum_int(2 * *(const int *)of);
}

static px_datum both(const void *of, char *text)
{
    const result *r = of;
    return px_datum_format(text, "%s/%d", r->name, r->small);
}

static void write_extra(const void *of, px_json *json)
{
    px_json_bool(json, "extra", ((const result *)of)->yes);
}

/* Rows of a triangle, which exist nowhere. */
typedef struct triangle_row {
    int row;
} triangle_row;

static const void *triangle_row_get(const void *of, size_t i, void *place)
{
    (void)of;
    triangle_row *row = place;
    row->row = (int)i;
    return i < 2 ? row : NULL;
}

static const void *triangle_number(const void *of, size_t i, void *place)
{
    const triangle_row *row = of;
    *(int *)place = 10 * row->row + (int)i;
    return i <= (size_t)row->row ? place : NULL;
}

static const void *first_part(const void *of, size_t i, void *place)
{
    const result *r = of;
    part *p = place;
    if (i > 0 || !r->parts)
        return NULL;
    *p = r->parts[0];
    p->count++;
    return p;
}

static const void *square(const void *of, size_t i, void *place)
{
    (void)of;
    *(double *)place = (double)(i * i);
    return i < 2 ? place : NULL;
}

static const px_field number_fields[] = {
    {.kind = PX_FIELD_INT, .size = sizeof(int), .key = "", .help = "a number"}, PX_FIELDS_END};
static const px_field triangle_fields[] = {PX_LIST_MADE(triangle_number, number_fields, ""),
                                           PX_FIELDS_END};

static const px_field part_fields[] = {
    PX_FIELD(part, id, "id", "of the part", .title = "PART"),
    PX_FIELD(part, share, "share", "of the whole", .unit = PX_SHARE, .format = "%.1f%%",
             .title = "SHARE"),
    PX_FIELD(part, count, "count", "of pieces", .format = ",", .title = "PIECES"),
    PX_FIELDS_END,
};
static const px_field share_by_id[] = {
    PX_FIELD(part, id, "part", "name of a part"),
    PX_FIELD(part, share, "", "its share", .format = "%.2f"),
    PX_FIELDS_END,
};
static const char *const colours[] = {"red", "green", NULL};

static const px_field fields[] = {
    PX_FIELD(result, yes, "yes", "a truth", .title = "yes"),
    PX_FIELD(result, small, "small", "an int"),
    PX_FIELD(result, large, "large", "an int64_t"),
    PX_FIELD(result, byte, "byte", "an unsigned char"),
    PX_HASH(result, hash, "hash", "of something"),
    PX_FIELD(result, third, "third", "a float", .unit = "s"),
    PX_FIELD(result, odd, "odd", "no number", .title = "odd", .none = "undefined"),
    PX_FIELD(result, odd, "odd_too", "left out where it is no number", .optional = true,
             .title = "odd too"),
    PX_FIELD(result, words, "words", "a text"),
    PX_CHARS(result, name, "name", "characters", .title = "name"),
    PX_CHOICE(result, c, colours, "colour", "one of two"),
    PX_INDEX(result, label, "label", "null: none"),
    PX_SPAN(result, low, 2, "range", "low and high"),
    PX_ARRAY(result, means, "all_means", "three of them"),
    PX_ARRAY_USED(result, means, mean_count, "means", "those that are used"),
    PX_LIST(result, parts, part_count, part_fields, "parts", "of the whole"),
    PX_MAP(result, parts, part_count, share_by_id, "shares", "of the parts"),
    PX_OBJECT_AT(result, best, part_fields, "best", "part"),
    PX_OBJECT_AT(result, best, part_fields, "", .when = is_told),
    PX_MAP(result, parts, part_count, share_by_id, "", "a member per part"),
    PX_LIST_MADE(triangle_row_get, triangle_fields, "triangle", "numbers"),
    PX_MADE_OF(INT, twice, result, small, "twice", "the int"),
    PX_MADE(TEXT, both, "both", "name and int", .when = is_told),
    PX_OBJECT_MADE(first_part, part_fields, "first", "part, one piece more"),
    PX_FIELD(result, reals, "reals", "a matrix", PX_IF(result, yes)),
    PX_FIELD(result, counts, "counts", "of sides"),
    PX_VALUES_MADE(square, double, "squares", "of 0 and 1"),
    PX_FIELD(result, shape, "shape", "a batch of rows"),
    PX_FIELD(result, unknown, "unknown", "no shape"),
    PX_LIST_USED(result, own, own_count, part_fields, "own", "parts"),
    PX_WRITTEN(write_extra, "extra", "by a function"),
    PX_FIELDS_END,
};

static char *json_of(const px_field *table, const void *record)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_fields_json(table, record, &json);
    px_json_end(&json);
    return px_text_take(&json.text);
}

static void test_json(void **state)
{
    (void)state;
    char *text = json_of(fields, &full);
    assert_string_equal(
        text,
        "{\n  \"yes\": true,\n  \"small\": -3,\n  \"large\": -9223372036854775808,\n"
        "  \"byte\": 200,\n  \"hash\": \"0000000000abcdef\",\n  \"third\": 0.5,\n"
        "  \"odd\": null,\n  \"words\": \"=1+1\",\n  \"name\": \"seven\",\n"
        "  \"colour\": \"green\",\n  \"label\": null,\n  \"range\": [\n    0,\n    1\n  ],\n"
        "  \"all_means\": [\n    1.5,\n    2.5,\n    3.5\n  ],\n"
        "  \"means\": [\n    1.5,\n    2.5\n  ],\n"
        "  \"parts\": [\n    {\n      \"id\": \"b\",\n      \"share\": 0.25,\n"
        "      \"count\": 1234567\n    },\n    {\n      \"id\": \"a,\\\"c\\\"\",\n"
        "      \"share\": null,\n      \"count\": -1000\n    }\n  ],\n"
        "  \"shares\": {\n    \"b\": 0.25,\n    \"a,\\\"c\\\"\": null\n  },\n"
        "  \"best\": {\n    \"id\": \"a,\\\"c\\\"\",\n    \"share\": null,\n"
        "    \"count\": -1000\n  },\n"
        "  \"id\": \"a,\\\"c\\\"\",\n  \"share\": null,\n  \"count\": -1000,\n"
        "  \"b\": 0.25,\n  \"a,\\\"c\\\"\": null,\n"
        "  \"triangle\": [\n    [\n      0\n    ],\n    [\n      10,\n      11\n    ]\n  ],\n"
        "  \"twice\": -6,\n  \"both\": \"seven/-3\",\n"
        "  \"first\": {\n    \"id\": \"b\",\n    \"share\": 0.25,\n    \"count\": 1234568\n  },\n"
        "  \"reals\": [\n    [\n      0.5,\n      null,\n      1.5\n    ]\n  ],\n"
        "  \"counts\": {\n    \"left\": {\n      \"left\": 1,\n      \"right\": 2\n    },\n"
        "    \"right\": {\n      \"left\": 3,\n      \"right\": 1000000\n    }\n  },\n"
        "  \"squares\": [\n    0,\n    1\n  ],\n  \"shape\": [\n    null,\n    28\n  ],\n"
        "  \"unknown\": null,\n  \"own\": [\n    {\n      \"id\": \"x\",\n      \"share\": 0.5,\n"
        "      \"count\": 1\n    }\n  ],\n  \"extra\": true\n}\n");
    free(text);
}

static void test_what_is_not_there(void **state)
{
    (void)state;
    static const px_field some[] = {
        PX_FIELD(result, words, "words", "null"),
        PX_FIELD(result, words, "left_out", "not there", .optional = true),
        PX_LIST(result, parts, part_count, part_fields, "parts", "none"),
        PX_LIST(result, parts, part_count, part_fields, "few", "not there", .optional = true),
        PX_OBJECT_AT(result, best, part_fields, "best", "null"),
        PX_OBJECT_AT(result, best, part_fields, "better", "not there", .optional = true),
        PX_OBJECT_AT(result, best, part_fields, ""),
        PX_OBJECT_MADE(first_part, part_fields, "first", "null"),
        PX_FIELD(result, yes, NULL, "no member", .title = "YES"),
        PX_FIELD(result, small, "small", "not there", PX_IF(result, best)),
        PX_FIELD(result, small, "smaller", "not there", PX_IF(result, yes)),
        PX_FIELD(result, small, "there", "as there is a count", PX_IF(result, part_count)),
        PX_FIELDS_END,
    };
    const result empty = {.part_count = 7};
    char *text = json_of(some, &empty);
    assert_string_equal(text, "{\n  \"words\": null,\n  \"parts\": [],\n  \"best\": null,\n"
                              "  \"first\": null,\n"
                              "  \"there\": 0\n}\n");
    free(text);
}

/* --- for people ------------------------------------------------------------------------------ */

static void add_cell(void *context, const px_field *field, const char *title, const char *text)
{
    (void)field;
    px_text_format(context, "%s=%s|", title, text ? text : "(left out)");
}

static const px_field along[] = {
    PX_MAP(result, parts, part_count, share_by_id, NULL, NULL, .title = "of %s"),
    PX_ARRAY(result, means, NULL, NULL, .title = "mean %s"),
    PX_FIELD(result, odd, NULL, NULL, .title = "odd", .none = "undefined"),
    PX_OBJECT(result, small, number_fields, NULL), /* has no column */
    PX_OBJECT_AT(result, best, part_fields, NULL),
    PX_FIELDS_END,
};

static void test_cells(void **state)
{
    (void)state;
    px_text row = {0};
    px_fields_cells(part_fields, &parts[0], add_cell, &row);
    px_fields_cells(part_fields, &parts[1], add_cell, &row);
    assert_string_equal(px_text_get(&row), "PART=b|SHARE=25.0%|PIECES=1,234,567|"
                                           "PART=a,\"c\"|SHARE=-|PIECES=-1,000|");
    px_text_clear(&row);
    px_fields_cells(part_fields, NULL, add_cell, &row);
    assert_string_equal(px_text_get(&row), "PART=(left out)|SHARE=(left out)|PIECES=(left out)|");
    px_text_clear(&row);
    px_fields_cells(along, &full, add_cell, &row);
    assert_string_equal(px_text_get(&row),
                        "of b=0.25|of a,\"c\"=-|mean 1=1.5|mean 2=2.5|mean 3=3.5|odd=undefined|"
                        "PART=a,\"c\"|SHARE=-|PIECES=-1,000|");
    px_text_done(&row);
}

static void test_find(void **state)
{
    (void)state;
    static const px_field inner[] = {
        PX_LIST(result, parts, part_count, part_fields, "parts", "of it"), PX_FIELDS_END};
    struct outer {
        const result *of;
    } outer = {&full};
    const px_field table[] = {PX_OBJECT_AT(struct outer, of, inner, ""), PX_FIELDS_END};
    const void *record = &outer;
    assert_null(px_field_find(table, "words", &record));
    const px_field *list = px_field_find(table, "parts", &record);
    assert_ptr_equal(list, &inner[0]);
    assert_ptr_equal(record, &full);
    assert_ptr_equal(px_field_item(list, record, 1, NULL), &parts[1]);
    assert_null(px_field_item(list, record, 2, NULL));
}

static void test_csv(void **state)
{
    (void)state;
    static const px_field columns[] = {
        PX_FIELD(result, words, "words", "a formula is defused"),
        PX_FIELD(result, odd, "odd", "as text has it"),
        PX_INDEX(result, label, "label", "empty"),
        PX_INDEX(result, label, "shown", "in words", .none = "all"),
        PX_FIELD(result, small, "small", "left out: empty", PX_IF(result, parts_left)),
        PX_FIELD(result, yes, "yes", "a word"),
        PX_FIELD(result, third, "third", "shortest"),
        PX_FIELD(result, third, "rounded", "as told", .format = "%.3f"),
        PX_FIELD(result, large, "large", "whole"),
        PX_LIST(result, parts, part_count, part_fields, "parts", "no column"),
        PX_FIELD(result, yes, NULL, NULL, .title = "YES"),
        PX_OBJECT_AT(result, best, part_fields, "best", "no column"),
        PX_OBJECT(result, own[0], part_fields, ""),
        PX_FIELDS_END,
    };
    px_text text = {0};
    px_fields_csv(columns, NULL, &text);
    px_fields_csv(columns, &full, &text);
    px_fields_csv(part_fields, &parts[1], &text);
    assert_string_equal(px_text_get(&text),
                        "words,odd,label,shown,small,yes,third,rounded,large,id,share,count\n"
                        "'=1+1,nan,,all,,yes,0.5,0.500,-9223372036854775808,x,0.5,1\n"
                        "\"a,\"\"c\"\"\",nan,-1000\n");
    px_text_done(&text);
}

/* --- what there is --------------------------------------------------------------------------- */

static const px_json_value *member(const px_json_value *list, const char *key)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(px_json_member(&list->items[i], "key")->string, key) == 0)
            return &list->items[i];
    fail_msg("no field '%s' is described", key);
    return NULL;
}

static const char *said(const px_json_value *list, const char *key, const char *what)
{
    const px_json_value *value = px_json_member(member(list, key), what);
    return value && value->kind == PX_JSON_STRING ? value->string : "";
}

static void test_described(void **state)
{
    (void)state;
    px_json json = {0};
    px_json_document *document = NULL;
    px_fields_describe(fields, NULL, &json);
    const char *text = px_json_text(&json);
    assert_int_equal(px_json_parse(text, strlen(text), &document, NULL), PX_OK);
    const px_json_value *all = px_json_root(document);
    static const struct {
        const char *key, *what, *is;
    } cases[] = {
        {"yes", "type", "bool"},
        {"byte", "type", "integer"},
        {"hash", "type", "text"},
        {"third", "type", "number"},
        {"third", "unit", "s"},
        {"third", "help", "a float"},
        {"colour", "type", "text"},
        {"range", "of", "number"},
        {"parts", "type", "list"},
        {"parts", "of", "object"},
        {"shares", "type", "map"},
        {"shares", "by", "part"},
        {"shares", "of", "number"},
        {"best", "type", "object"},
        {"triangle", "of", "list"},
        {"triangle", "of_of", "integer"},
        {"reals", "type", "matrix"},
        {"squares", "of", "number"},
        {"extra", "help", "by a function"},
        {"*", "of", "number"},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++)
        if (strcmp(said(all, cases[i].key, cases[i].what), cases[i].is) != 0)
            fail_msg("'%s': %s is '%s', not '%s'", cases[i].key, cases[i].what,
                     said(all, cases[i].key, cases[i].what), cases[i].is);
    assert_int_equal(px_json_member(member(all, "colour"), "choices")->count, 2);
    assert_true(px_json_member(member(all, "odd_too"), "optional")->boolean);
    assert_true(px_json_member(member(all, "share"), "optional")->boolean); /* as its part is */
    assert_null(px_json_member(member(all, "odd"), "optional"));
    const px_json_value *inner = px_json_member(member(all, "parts"), "fields");
    assert_string_equal(said(inner, "share", "unit"), PX_SHARE);
    px_json_free(document);
    px_json_done(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),  cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_cells), cmocka_unit_test(test_find),
        cmocka_unit_test(test_csv),   cmocka_unit_test(test_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
