/* tests/select/sel_helpers.h - selectors on rows that a test writes down
 *
 *     sel_new(&s, "dsa", settings, 2, &training_rows, count, classes, false, &err);
 *     sel_run(&s, &rows, scores, order, &err);
 *     sel_done(&s);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SELECT_HELPERS_H
#define TESTS_SELECT_HELPERS_H

#include "cover_helpers.h"

#include <plexor/select.h>

enum { MOST = 16, WIDE = 8 };

typedef struct table { /* rows and their predicted classes */
    int64_t count;
    float rows[MOST][WIDE];
    int predicted[MOST];
} table;

typedef struct sel {
    const px_selector *selector;
    px_extractor extractor;
    px_row_layer layer;
    void *config;
    px_profile *profile;
    small_data data; /* as many candidates */
    px_model *model;
    int64_t count;
    int classes;
    const char *section; /* of the profile */
    void *prepared, *worker;
} sel;

/* Learns from `train` if the selector learns, and prepares nothing. `same`: the candidates are what
 * the profile was made of. Settings are texts, NULL-terminated (NULL: none). */
void sel_new(sel *s, const char *id, const char *const *settings, int64_t width, const table *train,
             int64_t count, int classes, bool same);
px_status sel_prepare(sel *s, px_error *err);
void sel_release(sel *s); /* what was prepared */
void sel_done(sel *s);    /* everything */

/* Scores and order as the driver makes them; the order only where the selector has one. */
px_status sel_run(sel *s, const table *t, double *scores, int64_t *order, px_error *err);

#endif
