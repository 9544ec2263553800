/* studies/deepsensor/deepsensor_project.c - the same examples within one bound, and asked again
 *
 * Methods move inputs by very different amounts. To compare what they find at one distance, every
 * example is cut to the same Linf ball around its seed. 8-bit data are rounded towards the seed. To
 * see what their size alone does, every example gives way to noise that is as far from the seed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_rows.h"
#include "deepsensor/deepsensor_trail.h"

#include "base/memory.h"

#include <internal/classes.h>
#include <internal/preprocess.h>
#include <internal/rng.h>
#include <internal/store.h>
#include <math.h>
#include <plexor/predict.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct distance {
    double l2, linf, ssim; /* the last NaN: not known */
} distance;

typedef struct projection {
    const ds_trail *trail;
    px_campaign *campaign;
    const ds_bound *bound;
    double unit;    /* a scaled unit in stored values */
    double range;   /* of what a value may be: a unit for pictures, else what seeds have */
    uint8_t *seed;  /* the pixels of one */
    int64_t *place; /* by id: its place among the distinct examples; -1: none */
    ds_rows rows;   /* the examples, moved */
    int64_t *answers;
    distance *distances;
} projection;

static void projection_free(projection *p)
{
    free(p->seed);
    free(p->place);
    ds_rows_free(&p->rows);
    free(p->answers);
    free(p->distances);
}

/* Which examples there are. */
static px_status projection_list(projection *p, px_error *err)
{
    const ds_trail *t = p->trail;
    px_campaign_identity identity;
    int64_t last = 0, count = 0;
    if (!px_campaign_identity_get(p->campaign, &identity))
        return px_fail(err, PX_E_INPUT, "'%s' is empty", px_campaign_folder(p->campaign));
    PX_TRY(px_campaign_last(p->campaign, &last, err));
    PX_TRY(PX_NEW(p->place, (size_t)last + 1, err));
    for (int64_t i = 0; i <= last; i++)
        p->place[i] = -1;
    for (int64_t i = 0; i < t->seeds * t->iterations; i++)
        if (t->examples[i].id && p->place[t->examples[i].id] < 0)
            p->place[t->examples[i].id] = count++;
    PX_TRY(ds_rows_new(identity.dtype, &identity.shape, count, &p->rows, err));
    p->seed = pxi_calloc(1, p->rows.bytes);
    p->answers = pxi_calloc((size_t)PX_MAX(count, (int64_t)1), sizeof *p->answers);
    p->distances = pxi_calloc((size_t)PX_MAX(count, (int64_t)1), sizeof *p->distances);
    return p->seed && p->answers && p->distances ? PX_OK : pxi_no_memory(err);
}

/* --- changes that nobody looked for ---------------------------------------------------------- */

static double row_value(const projection *p, const void *row, size_t i)
{
    return p->rows.dtype == PX_UINT8 ? (double)((const uint8_t *)row)[i]
                                     : (double)((const float *)row)[i];
}

/* Bytes keep their range; what else there is has none of its own. */
static void row_put(const projection *p, void *row, size_t i, double value)
{
    if (p->rows.dtype == PX_UINT8)
        ((uint8_t *)row)[i] = (uint8_t)(fmin(fmax(value, 0.0), 255.0) + 0.5);
    else
        ((float *)row)[i] = (float)value;
}

static double row_distance(const projection *p, const void *a, const void *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->rows.size; i++) {
        const double d = row_value(p, a, i) - row_value(p, b, i);
        sum += d * d;
    }
    return sqrt(sum);
}

/* Noise from -amplitude to amplitude, the same draws for every amplitude. */
static void noise_draw(const projection *p, const void *seed, uint32_t item, double amplitude,
                       void *pixels)
{
    px_random random = px_rng(p->bound->seed, PX_RNG_STUDY, item, DS_NOISE);
    for (size_t i = 0; i < p->rows.size; i++)
        row_put(p, pixels, i,
                row_value(p, seed, i) + (2.0 * px_rng_u01(&random) - 1.0) * amplitude);
}

/* As far from the seed as the example was, by halving intervals: distance grows with amplitude. */
static void projection_noise(const projection *p, const void *seed, uint32_t item, void *pixels)
{
    enum { HALVINGS = 24 };
    const double wanted = row_distance(p, seed, pixels);
    double low = 0.0, high = 4.0 * p->range;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        noise_draw(p, seed, item, middle, pixels);
        *(row_distance(p, seed, pixels) < wanted ? &low : &high) = middle;
    }
    noise_draw(p, seed, item, high, pixels);
}

static px_status projection_shuffle(const projection *p, const void *seed, uint32_t item,
                                    void *pixels, px_error *err)
{
    px_random random = px_rng(p->bound->seed, PX_RNG_STUDY, item, DS_SHUFFLED);
    int64_t *order = NULL;
    double *moved = NULL;
    px_status status = PX_NEW(order, p->rows.size, err);
    if (status == PX_OK)
        status = PX_NEW(moved, p->rows.size, err);
    if (status == PX_OK) {
        px_rng_permutation(&random, order, (uint32_t)p->rows.size);
        for (size_t i = 0; i < p->rows.size; i++)
            moved[i] = row_value(p, pixels, i) - row_value(p, seed, i);
        for (size_t i = 0; i < p->rows.size; i++)
            row_put(p, pixels, i, row_value(p, seed, i) + moved[order[i]]);
    }
    free(order);
    free(moved);
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

static distance projection_move(const projection *p, const void *seed, void *pixels)
{
    const bool whole = p->rows.dtype == PX_UINT8;
    const double most = p->bound->linf * p->range;
    const double step = whole ? floor(most + 1e-9) : most;
    distance d = {.ssim = (double)NAN};
    for (size_t i = 0; i < p->rows.size; i++) {
        const double from = whole ? ((const uint8_t *)seed)[i] : (double)((const float *)seed)[i];
        const double to = whole ? ((const uint8_t *)pixels)[i] : (double)((const float *)pixels)[i];
        const double moved = fmin(fmax(to - from, -step), step);
        if (whole)
            ((uint8_t *)pixels)[i] = (uint8_t)(from + moved);
        else if (moved != to - from)
            ((float *)pixels)[i] = (float)(from + moved);
        d.l2 += moved * moved;
        d.linf = fmax(d.linf, fabs(moved));
    }
    d.l2 = sqrt(d.l2) / p->unit;
    d.linf /= p->unit;
    return d;
}

/* Whether examples stay as they are, and what was stored of them is true. */
static bool projection_keeps(const projection *p)
{
    return p->bound->change == DS_CUT && !isfinite(p->bound->linf);
}

/* Features have no range of their own: that of all seeds' values. */
static px_status projection_range(projection *p, px_error *err)
{
    const ds_trail *t = p->trail;
    const float *values = (const float *)(const void *)p->seed;
    px_campaign_input in;
    float low = INFINITY, high = -INFINITY;
    p->range = p->unit;
    for (int64_t s = 0; s < t->seeds && p->rows.dtype != PX_UINT8; s++) {
        PX_TRY(px_campaign_read(p->campaign, t->roots[s], &in, p->seed, err));
        for (size_t i = 0; i < p->rows.size; i++) {
            low = fminf(low, values[i]);
            high = fmaxf(high, values[i]);
        }
    }
    if (high > low)
        p->range = (double)high - (double)low;
    return PX_OK;
}

static px_status projection_read(projection *p, px_error *err)
{
    const ds_trail *t = p->trail;
    px_campaign_input in;
    for (int64_t s = 0; s < t->seeds; s++) {
        PX_TRY(px_campaign_read(p->campaign, t->roots[s], &in, p->seed, err));
        for (int64_t g = 0; g < t->iterations; g++) {
            const ds_example *e = &t->examples[s * t->iterations + g];
            const int64_t at = e->id ? p->place[e->id] : -1;
            if (at < 0 || (g > 0 && e[-1].id == e->id))
                continue;
            uint8_t *pixels = ds_rows_at(&p->rows, at);
            PX_TRY(px_campaign_read(p->campaign, e->id, &in, pixels, err));
            if (p->bound->change == DS_NOISE)
                projection_noise(p, p->seed, (uint32_t)at, pixels);
            if (p->bound->change == DS_SHUFFLED)
                PX_TRY(projection_shuffle(p, p->seed, (uint32_t)at, pixels, err));
            p->distances[at] = projection_move(p, p->seed, pixels);
            if (projection_keeps(p) && in.measured)
                p->distances[at].ssim = in.near.similarity;
            p->rows.labels[at] = t->labels[s];
            p->answers[at] = e->answer;
        }
    }
    return PX_OK;
}

static px_status projection_ask(projection *p, px_error *err)
{
    const ds_bound *b = p->bound;
    px_preprocess pre = *b->pre;
    px_data_options options = px_model_data_options(b->model);
    px_dataset *set = NULL;
    px_predict_options how = px_predict_options_default();
    px_predictions said = {0};
    const px_graph *graph = px_model_graph(b->model);
    how.threads = b->threads;
    PX_TRY(ds_rows_save(&p->rows, b->scratch, err));
    px_status status = px_dataset_open_for(&pre, &graph->values[graph->inputs[0]].shape, b->scratch,
                                           &options, &set, err);
    if (status == PX_OK)
        status = px_predict(b->model, set, &pre, &how, &said, err);
    if (status == PX_OK)
        memcpy(p->answers, said.predicted, (size_t)said.count * sizeof *p->answers);
    px_predictions_done(&said);
    px_dataset_close(set);
    unlink(b->scratch);
    return status;
}

/* Counts the trail with the new answers, and adds the distances. */
static px_status projection_count(const projection *p, int64_t polluted_class, ds_counts *counts,
                                  px_error *err)
{
    ds_trail t = *p->trail;
    const int64_t all = t.seeds * t.iterations;
    double wrong = 0.0, known = 0.0;
    distance sum = {0}, last = {0};
    PX_TRY(PX_NEW(t.examples, all, err));
    for (int64_t i = 0; i < all; i++) {
        ds_example *e = &t.examples[i];
        *e = p->trail->examples[i];
        const int64_t at = e->id ? p->place[e->id] : -1;
        const distance d = at < 0 ? (distance){.ssim = (double)NAN} : p->distances[at];
        if (at >= 0)
            e->answer = p->answers[at];
        if (e->answer != t.labels[i / t.iterations]) {
            wrong++;
            sum.l2 += d.l2;
            sum.linf += d.linf;
            if (!isnan(d.ssim)) {
                known++;
                sum.ssim += d.ssim;
            }
        }
        if ((i + 1) % t.iterations == 0) {
            last.l2 += d.l2;
            last.linf += d.linf;
        }
    }
    ds_trail_count(&t, polluted_class, counts);
    if (wrong > 0.0) {
        counts->l2 = sum.l2 / wrong;
        counts->linf = sum.linf / wrong;
    }
    if (known > 0.0)
        counts->ssim = sum.ssim / known;
    counts->last_l2 = last.l2 / (double)t.seeds;
    counts->last_linf = last.linf / (double)t.seeds;
    free(t.examples);
    return PX_OK;
}

px_status ds_trail_project(const ds_trail *trail, px_campaign *campaign, const ds_bound *bound,
                           int64_t polluted_class, ds_counts *counts, px_error *err)
{
    projection p = {.trail = trail, .campaign = campaign, .bound = bound};
    p.unit = px_length_levels(bound->pre, 1.0);
    px_status status = projection_list(&p, err);
    if (status == PX_OK)
        status = projection_range(&p, err);
    if (status == PX_OK)
        status = projection_read(&p, err);
    if (status == PX_OK && p.rows.count > 0 && !projection_keeps(&p))
        status = projection_ask(&p, err);
    if (status == PX_OK)
        status = projection_count(&p, polluted_class, counts, err);
    projection_free(&p);
    return status;
}

px_status ds_trail_save(const ds_trail *trail, px_campaign *campaign, bool seeds, const char *path,
                        px_error *err)
{
    px_campaign_identity identity;
    px_campaign_input in;
    ds_rows rows;
    if (!px_campaign_identity_get(campaign, &identity))
        return px_fail(err, PX_E_INPUT, "'%s' is empty", px_campaign_folder(campaign));
    PX_TRY(ds_rows_new(identity.dtype, &identity.shape, trail->seeds, &rows, err));
    px_status status = PX_NEW(rows.indices, trail->seeds, err);
    for (int64_t s = 0; s < trail->seeds && status == PX_OK; s++) {
        const int64_t id = seeds ? trail->roots[s] : ds_trail_id(trail, s, trail->iterations - 1);
        rows.labels[s] = trail->labels[s];
        rows.indices[s] = trail->indices[s];
        status = px_campaign_read(campaign, id, &in, ds_rows_at(&rows, s), err);
    }
    if (status == PX_OK)
        status = ds_rows_save(&rows, path, err);
    ds_rows_free(&rows);
    return status;
}
