/* tests/cover/crit_helpers.h - criteria on rows that a test writes down
 *
 *     crit c = crit_new("kmnc", (const char *[]){"kmnc.k=5", NULL}, LAYERS(1), profile_rows);
 *     crit_observe(&c, rows);
 *     assert_int_equal(crit_value(&c).covered, 4);
 *     crit_free(&c);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CRIT_HELPERS_H
#define TEST_CRIT_HELPERS_H

#include "cmocka_all.h"
#include <plexor/cover.h>

enum { CRIT_LAYERS = 4, CRIT_CLASSES = 3 };

typedef struct crit_layout { /* widths of up to CRIT_LAYERS layers; 0: no more */
    int64_t width[CRIT_LAYERS];
} crit_layout;
#define LAYERS(...) ((crit_layout){.width = {__VA_ARGS__}})

typedef struct crit_table { /* rows for any number of criteria; values are borrowed */
    const float *values;
    int64_t count;
} crit_table;
/* Of an array of rows: TABLE(rows), rows being float[][n]. */
#define TABLE(array) \
    ((crit_table){.values = &(array)[0][0], .count = sizeof(array) / sizeof((array)[0])})

typedef struct crit {
    const px_criterion *criterion;
    px_extractor extractor;
    px_row_layer layers[CRIT_LAYERS];
    void *config;
    px_profile *profile;
    const char *section; /* of the profile: the ranges */
    void *prepared, *state;
} crit;

/* Settings are texts, NULL-terminated (NULL: none); `profile` are training rows, if it has any.
 * Fails the test on an error. */
crit *crit_new(const char *id, const char *const *settings, crit_layout layout, crit_table profile);
void crit_free(crit *c);

/* Rows with a NaN or an infinity are rejected, as the driver does. Criteria that want classes get
 * CRIT_CLASSES of them in turn, row by row: class and label are the row's number modulo that. */
px_rows crit_rows(const crit *c, crit_table table, int64_t first, int64_t count);
void crit_rows_done(px_rows *rows);

void *crit_state(const crit *c); /* one more, empty */
void crit_observe(crit *c, crit_table table);
void crit_observe_into(const crit *c, void *state, crit_table table, int64_t first, int64_t count);
px_coverage crit_value(const crit *c);

/* Saves a state; the caller frees the bytes. */
char *crit_save(const crit *c, const void *state, size_t *size);
/* The file of the last crit_save(). */
const char *crit_file(void);

/* Random rows: normal values, some of them rounded (ties), a few rows not finite. Caller frees. */
float *crit_random(uint32_t seed, int64_t rows, int64_t width, bool broken);

#endif
