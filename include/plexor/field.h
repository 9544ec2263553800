/* include/plexor/field.h - what a result is made of: one table per struct, read by all writers
 *
 *     typedef struct score { const char *name; double mean; int64_t count; } score;
 *     static const px_field score_fields[] = {
 *         PX_FIELD(score, name, "name", "of the input", .title = "INPUT"),
 *         PX_FIELD(score, mean, "value", "mean over the classes", .title = "SCORE"),
 *         PX_FIELD(score, count, "n", "classes that have a score"),
 *         PX_FIELDS_END,
 *     };
 *     px_fields_json(score_fields, &s, &json);    // "name": "7.png", "value": 0.25, "n": 9
 *
 * A field with a key is a member of the JSON object, one with a title a column of tables for
 * people; most are both. Their order is that of the table. The help of fields is where what is
 * documented of the JSON comes from.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_FIELD_H
#define PLEXOR_FIELD_H

#include <plexor/json.h>
#include <plexor/tensor.h>
#include <stddef.h>

PX_BEGIN_DECLS

typedef enum px_field_kind {
    PX_FIELD_END,
    PX_FIELD_BOOL,
    PX_FIELD_INT, /* of any size; COUNT: without a sign */
    PX_FIELD_COUNT,
    PX_FIELD_INDEX,  /* an int below 0 is none: null */
    PX_FIELD_HASH,   /* uint64_t, as 16 hexadecimal digits */
    PX_FIELD_REAL,   /* NaN and, in JSON, infinities are null */
    PX_FIELD_TEXT,   /* const char *; NULL is null */
    PX_FIELD_CHARS,  /* char [] */
    PX_FIELD_CHOICE, /* an int or enum, as one of names[] */
    PX_FIELD_READY,  /* const char *: JSON already, taken as it is; NULL is null */
    PX_FIELD_OBJECT,
    PX_FIELD_LIST,
    PX_FIELD_MAP,    /* the first field of each item is its key */
    PX_FIELD_SHAPE,  /* px_shape: a list of numbers, null where one is not known; rank -1: null */
    PX_FIELD_MATRIX, /* px_matrix */
    PX_FIELD_JSON,   /* written by a function */
} px_field_kind;

#define PX_FIELD_TEXT_MOST 4096 /* bytes of a text made on the way out */
#define PX_FIELD_ROW_MOST 8192  /* of an item made on the way out */
#define PX_SHARE "share"        /* a unit: 0 to 1, shown to people as per cent */

typedef struct px_datum { /* one value on its way out */
    px_field_kind kind;   /* BOOL, INT, REAL, TEXT; END: null */
    int64_t whole;
    double real;
    const char *text;
} px_datum;

typedef struct px_field px_field;
struct px_field {
    px_field_kind kind;
    size_t size;                     /* of the member, or of an item of its list */
    bool pointer;                    /* OBJECT, LIST, MAP: the member points there */
    size_t count;                    /* of items: fixed, or at most so many of */
    size_t count_offset, count_size; /* a member's */
    const px_field *fields;          /* of the object, or of each item */
    /* Item i, which may be made in `row`; NULL beyond the last. Items are asked for in order, and
     * the row is as the one before left it. */
    const void *(*item)(const void *at, size_t i, void *row);
    px_datum (*get)(const void *at, char *text); /* the value, where no member holds it */
    void (*write)(const void *at, px_json *json);
    const char *const *names;
    size_t offset;
    const char *key;   /* NULL: not in JSON; "": its members, or its value, stand in place of it */
    const char *help;  /* lower case, no full stop */
    const char *title; /* over its column; NULL: it has none; of a list, each item has a column:
                          "%s" is its key, or its number from 1 */
    const char *unit;
    const char *format;        /* for people: of printf() for a double, or "," for 1,234,567 */
    const char *none;          /* for people, instead of "-" where there is no value */
    char align;                /* of the column: 'l' or 'r'; 0: by its kind */
    bool optional;             /* left out where it is null or empty */
    size_t if_offset, if_size; /* left out where this member is NULL, false or 0: PX_IF() */
    bool (*when)(const void *record); /* left out where this is false */
};

typedef struct px_matrix { /* a member of this type is a list of lists, or a map of maps */
    const double *values;  /* [rows][columns], or */
    const int64_t *counts;
    size_t rows, columns;
    const char *const *names; /* of both; NULL: it is a list of lists */
} px_matrix;

/* clang-format off */
/* The macros end in a key, a sentence of help and, designated, what else is set. */
#define PX_FIELD(type, member, ...) \
    {.kind = PX_FIELD_KIND_OF(((type *)0)->member), PX_FIELD_PLACE(type, member), __VA_ARGS__}
/* Members that are written as another kind. */
#define PX_INDEX(type, member, ...) \
    {.kind = PX_FIELD_INDEX, PX_FIELD_PLACE(type, member), __VA_ARGS__}
#define PX_HASH(type, member, ...) \
    {.kind = PX_FIELD_HASH, PX_FIELD_PLACE(type, member), __VA_ARGS__}
#define PX_CHARS(type, member, ...) \
    {.kind = PX_FIELD_CHARS, PX_FIELD_PLACE(type, member), __VA_ARGS__}
#define PX_READY(type, member, ...) \
    {.kind = PX_FIELD_READY, PX_FIELD_PLACE(type, member), __VA_ARGS__}
#define PX_CHOICE(type, member, texts, ...) /* texts: NULL behind the last */ \
    {.kind = PX_FIELD_CHOICE, .names = texts, PX_FIELD_PLACE(type, member), __VA_ARGS__}
/* What a function makes of the record, or of one member, whose address it gets. */
#define PX_MADE(kind_, function, ...) \
    {.kind = PX_FIELD_##kind_, .get = function, .offset = 0, __VA_ARGS__}
#define PX_MADE_OF(kind_, function, type, member, ...) \
    {.kind = PX_FIELD_##kind_, .get = function, PX_FIELD_PLACE(type, member), __VA_ARGS__}
#define PX_WRITTEN(function, ...) \
    {.kind = PX_FIELD_JSON, .write = function, .offset = 0, __VA_ARGS__}

/* A struct within, or one that a member points to. With the key "" its fields are the outer one's.
 */
#define PX_OBJECT(type, member, table, ...) \
    {.kind = PX_FIELD_OBJECT, .fields = table, PX_FIELD_PLACE(type, member), __VA_ARGS__}
#define PX_OBJECT_AT(type, member, table, ...) \
    {.kind = PX_FIELD_OBJECT, .pointer = true, .fields = table, PX_FIELD_PLACE(type, member), \
     __VA_ARGS__}
/* An object that no struct of its own stands for: the record itself by another table. */
#define PX_OBJECT_OF(table, ...) \
    {.kind = PX_FIELD_OBJECT, .fields = table, .offset = 0, __VA_ARGS__}

/* One that a function makes, as it makes items: it is asked for item 0. NULL: there is none. */
#define PX_OBJECT_MADE(function, table, ...) \
    {.kind = PX_FIELD_OBJECT, .fields = table, .item = function, .offset = 0, __VA_ARGS__}

/* Structs that a member points to, counted by another; structs that a function finds or makes. An
 * item whose first field has the key "" is that value, not an object, unless it is left out. */
#define PX_LIST(type, member, number, table, ...) \
    {.kind = PX_FIELD_LIST, .fields = table, PX_FIELD_ITEMS(type, member, number), __VA_ARGS__}
#define PX_LIST_USED(type, member, number, table, ...) /* of an array within */ \
    {.kind = PX_FIELD_LIST, .fields = table, PX_FIELD_NUMBER(type, number), \
     .count = PX_FIELD_ROOM(type, member), PX_FIELD_PLACE(type, member[0]), __VA_ARGS__}
#define PX_LIST_MADE(function, table, ...) \
    {.kind = PX_FIELD_LIST, .fields = table, .item = function, .offset = 0, __VA_ARGS__}
#define PX_MAP(type, member, number, table, ...) \
    {.kind = PX_FIELD_MAP, .fields = table, PX_FIELD_ITEMS(type, member, number), __VA_ARGS__}
#define PX_MAP_MADE(function, table, ...) \
    {.kind = PX_FIELD_MAP, .fields = table, .item = function, .offset = 0, __VA_ARGS__}
/* Plain values, in tables outside functions: that a member points to; members of one type one
 * behind the other; an array within, all of it or as much as another member says. */
#define PX_VALUES(type, member, number, ...) \
    {.kind = PX_FIELD_LIST, .fields = PX_FIELD_PLAIN(*((type *)0)->member), \
     PX_FIELD_ITEMS(type, member, number), __VA_ARGS__}
#define PX_SPAN(type, first, number, ...) \
    {.kind = PX_FIELD_LIST, .fields = PX_FIELD_PLAIN(((type *)0)->first), .count = number, \
     PX_FIELD_PLACE(type, first), __VA_ARGS__}
#define PX_ARRAY(type, member, ...) \
    PX_SPAN(type, member[0], PX_FIELD_ROOM(type, member), __VA_ARGS__)
#define PX_ARRAY_USED(type, member, number, ...) \
    {.kind = PX_FIELD_LIST, .fields = PX_FIELD_PLAIN(((type *)0)->member[0]), \
     PX_FIELD_NUMBER(type, number), .count = PX_FIELD_ROOM(type, member), \
     PX_FIELD_PLACE(type, member[0]), __VA_ARGS__}
#define PX_VALUES_MADE(function, type, ...) /* the function puts one into the row */ \
    {.kind = PX_FIELD_LIST, .fields = PX_FIELD_PLAIN(*(type *)0), .item = function, .offset = 0, \
     __VA_ARGS__}
/* Among what is designated: left out where another member is NULL, false or 0. */
#define PX_IF(type, member) \
    .if_size = sizeof ((type *)0)->member, .if_offset = offsetof(type, member)
#define PX_FIELDS_END {.kind = PX_FIELD_END}

#define PX_FIELD_KIND_OF(x) _Generic((x), bool: PX_FIELD_BOOL, \
    int: PX_FIELD_INT, long: PX_FIELD_INT, long long: PX_FIELD_INT, \
    unsigned char: PX_FIELD_COUNT, unsigned: PX_FIELD_COUNT, \
    unsigned long: PX_FIELD_COUNT, unsigned long long: PX_FIELD_COUNT, \
    float: PX_FIELD_REAL, double: PX_FIELD_REAL, \
    char *: PX_FIELD_TEXT, const char *: PX_FIELD_TEXT, \
    px_shape: PX_FIELD_SHAPE, px_matrix: PX_FIELD_MATRIX)
#define PX_FIELD_PLACE(type, member) \
    .size = sizeof ((type *)0)->member, .offset = offsetof(type, member)
#define PX_FIELD_ROOM(type, member) (sizeof ((type *)0)->member / sizeof ((type *)0)->member[0])
#define PX_FIELD_NUMBER(type, member) \
    .count_size = sizeof ((type *)0)->member, .count_offset = offsetof(type, member)
#define PX_FIELD_ITEMS(type, member, number) .pointer = true, PX_FIELD_NUMBER(type, number), \
    .size = sizeof *((type *)0)->member, .offset = offsetof(type, member)
#define PX_FIELD_PLAIN(x) \
    (const px_field[]){{.kind = PX_FIELD_KIND_OF(x), .size = sizeof (x), .key = ""}, PX_FIELDS_END}
/* clang-format on */

/* The members of a record, into the object that is open. */
PX_API void px_fields_json(const px_field *fields, const void *record, px_json *json);

/* Calls `cell` for each field with a title, in order: with its text, or NULL where it is left out.
 * `record` NULL leaves out all of them. */
typedef void px_cell_fn(void *context, const px_field *field, const char *title, const char *text);

/* A row of a CSV, with quotes where they are needed: plain fields that have a key, also of objects
 * in place. What is null or left out is empty, or the field's `none`. `record` NULL: the names of
 * the columns. */
PX_API void px_fields_csv(const px_field *fields, const void *record, px_text *text);

PX_END_DECLS
#endif
