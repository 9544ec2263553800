/* src/doctor/doctor_duplicates.c - pictures that come twice: among the inputs, and in the training
 *
 * A picture becomes a sketch: the means of 8 x 8 pieces, less their mean, of length 1, so that
 * brightness and contrast do not count. The nearest sketch of the training within SKETCH_FAR of
 * every input is looked for, and the two pictures are compared pixel by pixel: equal, or nearly so
 * (their correlation is NEARLY or more), as after another compression.
 *
 * Sums of four neighbouring pieces halved are a projection of the sketch, never farther apart than
 * sketches are: most pairs end there.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/worker_pool.h"
#include "doctor/doctor_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, FINE = SIDE * SIDE, COARSE = FINE / 4 };
#define SKETCH_FAR 0.02f /* squared */
#define NEARLY 0.995

typedef struct sketches {
    const px_dataset *set;
    int64_t count;
    float (*fine)[FINE];
    float (*coarse)[COARSE]; /* infinite where there is nothing to see: far from all others */
} sketches;

typedef struct twin {
    int64_t index; /* in the other set; -1: none */
    bool equal;
} twin;

typedef struct twin_search {
    const sketches *inputs, *among;
    twin *twins;
} twin_search;

/* --- sketches -------------------------------------------------------------------------------- */

static void sketch_make(const float *pixels, const px_shape *shape, float fine[FINE],
                        float coarse[COARSE])
{
    const int64_t channels = shape->dim[0], height = shape->dim[1], width = shape->dim[2];
    double mean = 0.0, squares = 0.0, pieces[FINE];
    for (int p = 0; p < FINE; p++) {
        const int64_t top = p / SIDE * height / SIDE, left = p % SIDE * width / SIDE;
        const int64_t bottom = (p / SIDE + 1) * height / SIDE;
        const int64_t right = (p % SIDE + 1) * width / SIDE;
        double sum = 0.0;
        for (int64_t c = 0; c < channels; c++)
            for (int64_t y = top; y < bottom; y++)
                for (int64_t x = left; x < right; x++)
                    sum += (double)pixels[(c * height + y) * width + x];
        pieces[p] = sum / (double)(channels * (bottom - top) * (right - left));
        mean += pieces[p] / FINE;
    }
    for (int p = 0; p < FINE; p++)
        squares += (pieces[p] - mean) * (pieces[p] - mean);
    if (!(squares > 1e-9) || !isfinite(squares)) { /* of one colour, or no picture */
        coarse[0] = INFINITY;
        return;
    }
    for (int p = 0; p < FINE; p++) {
        fine[p] = (float)((pieces[p] - mean) / sqrt(squares));
        coarse[p / SIDE / 2 * (SIDE / 2) + p % SIDE / 2] += fine[p] / 2.0f;
    }
}

static px_status sketch_job(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    sketches *s = context;
    const px_shape shape = px_dataset_shape(s->set);
    float *pixels = NULL;
    PX_TRY(PX_NEW(pixels, (size_t)px_shape_count(&shape), err));
    const px_status status = px_dataset_pixels(s->set, index, pixels, err);
    if (status == PX_OK)
        sketch_make(pixels, &shape, s->fine[index], s->coarse[index]);
    free(pixels);
    return status;
}

static px_status sketches_make(sketches *s, const px_doctor *d, px_pool *pool, px_error *err)
{
    s->count = px_dataset_count(s->set);
    PX_TRY(PX_NEW(s->fine, s->count, err));
    PX_TRY(PX_NEW(s->coarse, s->count, err));
    return pxi_pool_run(pool, s->count, sketch_job, s, d->o.progress, d->o.context, err);
}

static void sketches_done(sketches *s)
{
    free(s->fine);
    free(s->coarse);
}

/* --- twins ----------------------------------------------------------------------------------- */

static float distance2(const float *a, const float *b, int count)
{
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* Correlation of all values; 2 where they are equal. */
static double likeness(const float *a, const float *b, size_t count)
{
    double mean_a = 0.0, mean_b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    if (memcmp(a, b, count * sizeof *a) == 0)
        return 2.0;
    for (size_t i = 0; i < count; i++) {
        mean_a += (double)a[i] / (double)count;
        mean_b += (double)b[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double x = (double)a[i] - mean_a, y = (double)b[i] - mean_b;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

/* Reads both and compares them. */
static px_status twin_verify(const twin_search *t, int64_t index, int64_t at, px_error *err)
{
    const px_shape shape = px_dataset_shape(t->inputs->set);
    const size_t floats = (size_t)px_shape_count(&shape);
    float *pixels = NULL;
    px_status status = PX_NEW(pixels, 2 * floats, err);
    PX_THEN(status, px_dataset_pixels(t->inputs->set, index, pixels, err));
    PX_THEN(status, px_dataset_pixels(t->among->set, at, pixels + floats, err));
    if (status == PX_OK) {
        const double like = likeness(pixels, pixels + floats, floats);
        t->twins[index] = (twin){.index = like >= NEARLY ? at : -1, .equal = like > 1.0};
    }
    free(pixels);
    return status;
}

static px_status twin_job(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const twin_search *t = context;
    const float *fine = t->inputs->fine[index], *coarse = t->inputs->coarse[index];
    float nearest = SKETCH_FAR;
    int64_t at = -1;
    t->twins[index] = (twin){.index = -1};
    if (isinf(coarse[0]))
        return PX_OK;
    for (int64_t i = 0; i < t->among->count; i++) {
        if (distance2(coarse, t->among->coarse[i], COARSE) >= nearest)
            continue;
        const float far = distance2(fine, t->among->fine[i], FINE);
        if (far < nearest) {
            nearest = far;
            at = i;
        }
    }
    return at < 0 ? PX_OK : twin_verify(t, index, at, err);
}

typedef struct place {
    const float *fine;
    int64_t index;
} place;

static int place_compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    const int order = memcmp(x->fine, y->fine, FINE * sizeof *x->fine);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Of inputs among themselves only equal ones are looked for: their sketches are the same bytes. */
static px_status twins_own(const twin_search *t, px_error *err)
{
    const int64_t n = t->inputs->count;
    place *places = NULL;
    px_status status = PX_NEW(places, n, err);
    for (int64_t i = 0; status == PX_OK && i < n; i++) {
        places[i] = (place){t->inputs->fine[i], i};
        t->twins[i] = (twin){.index = -1};
    }
    if (status == PX_OK)
        qsort(places, (size_t)n, sizeof *places, place_compare);
    for (int64_t i = 1, first = 0; status == PX_OK && i < n; i++) {
        if (memcmp(places[i].fine, places[first].fine, FINE * sizeof *places->fine) != 0)
            first = i;
        else if (!isinf(t->inputs->coarse[places[i].index][0]))
            status = twin_verify(t, places[i].index, places[first].index, err);
    }
    free(places);
    return status;
}

/* --- findings -------------------------------------------------------------------------------- */

static px_status name_pair(px_doctor *d, const twin_search *t, int64_t i, px_error *err)
{
    char pair[600], one[256], other[256];
    snprintf(pair, sizeof pair, "%s = %s", px_dataset_name(t->inputs->set, i, one, sizeof one),
             px_dataset_name(t->among->set, t->twins[i].index, other, sizeof other));
    return pxi_doctor_name(d, pair, err);
}

static px_status report_train(px_doctor *d, const twin_search *t, px_error *err)
{
    int64_t equal = 0, nearly = 0, named = 0;
    for (int64_t i = 0; i < t->inputs->count; i++) {
        equal += t->twins[i].index >= 0 && t->twins[i].equal;
        nearly += t->twins[i].index >= 0 && !t->twins[i].equal;
    }
    if (equal + nearly == 0)
        return PX_OK;
    PX_TRY(pxi_doctor_add(
        d, "in-training", PX_FINDING_WARNING, equal + nearly,
        "leave them out of one of both: results on them say nothing of new inputs", err,
        "%" PRId64 " of %" PRId64 " inputs are among the training data, and %" PRId64 " nearly so",
        equal, t->inputs->count, nearly));
    for (int64_t i = 0; i < t->inputs->count && named < PXI_DOCTOR_NAMES; i++)
        if (t->twins[i].index >= 0 && t->twins[i].equal == (equal > 0)) {
            PX_TRY(name_pair(d, t, i, err));
            named++;
        }
    return PX_OK;
}

/* Only equal ones: of two that are nearly so, labels may well differ. */
static bool contradicts(const twin_search *t, int64_t i)
{
    const int64_t label = px_dataset_label(t->inputs->set, i), other = t->twins[i].index;
    return other >= 0 && t->twins[i].equal && label >= 0 &&
           px_dataset_label(t->among->set, other) >= 0 &&
           px_dataset_label(t->among->set, other) != label;
}

static px_status report_own(px_doctor *d, const twin_search *t, px_error *err)
{
    int64_t equal = 0, contrary = 0, named = 0;
    for (int64_t i = 0; i < t->inputs->count; i++) {
        equal += t->twins[i].index >= 0 && t->twins[i].equal;
        contrary += contradicts(t, i);
    }
    if (contrary) {
        PX_TRY(pxi_doctor_add(d, "two-labels", PX_FINDING_WARNING, contrary,
                              "one label of each pair is wrong", err,
                              "%" PRId64 " of %" PRId64 " inputs come before with another label",
                              contrary, t->inputs->count));
        for (int64_t i = 0; i < t->inputs->count && named < PXI_DOCTOR_NAMES; i++)
            if (contradicts(t, i)) {
                PX_TRY(name_pair(d, t, i, err));
                named++;
            }
    }
    if (equal > contrary)
        PX_TRY(pxi_doctor_add(d, "twice", PX_FINDING_INFO, equal - contrary, NULL, err,
                              "%" PRId64 " of %" PRId64 " inputs come before with the same label",
                              equal - contrary, t->inputs->count));
    return PX_OK;
}

px_status pxi_doctor_duplicates(px_doctor *d, px_error *err)
{
    const px_shape shape = px_dataset_shape(d->o.set);
    sketches own = {.set = d->o.set}, train = {.set = d->o.train};
    px_pool *pool = NULL;
    if (d->o.quick || d->o.failures || !pxi_doctor_pictures(d) || shape.dim[1] < SIDE ||
        shape.dim[2] < SIDE)
        return PX_OK;
    const px_shape other = train.set ? px_dataset_shape(train.set) : shape;
    if (!px_shape_equal(&shape, &other))
        return px_fail(
            err, PX_E_MISMATCH,
            "training data and inputs are not of the same size; --size HxW resizes both");
    twin_search search = {.inputs = &own, .among = &own};
    px_status status = PX_NEW(search.twins, (size_t)px_dataset_count(d->o.set), err);
    PX_THEN(status, pxi_pool_new(d->o.threads, &pool, err));
    PX_THEN(status, sketches_make(&own, d, pool, err));
    PX_THEN(status, twins_own(&search, err));
    PX_THEN(status, report_own(d, &search, err));
    if (status == PX_OK && train.set) {
        search.among = &train;
        status = sketches_make(&train, d, pool, err);
        PX_THEN(status,
                pxi_pool_run(pool, own.count, twin_job, &search, d->o.progress, d->o.context, err));
        PX_THEN(status, report_train(d, &search, err));
    }
    pxi_pool_free(pool);
    free(search.twins);
    sketches_done(&own);
    sketches_done(&train);
    return status;
}
