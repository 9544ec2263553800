/* src/cover/surprise_dsa.c - DSA, distance-based surprise: own class against the others
 *
 * x_a is the trace of the own class nearest to the input, dist_a their distance, dist_b that from
 * x_a to the nearest trace of any other class; DSA = dist_a / dist_b. The search is exact. Products
 * of floats give every squared distance with a proven bound on its error,
 *
 *     |d2 - (q2 + b2 - 2 q.b)| <= e = (d + 16) 2^-24 (q2 + b2) + d 2^-124,
 *
 * and whatever could be the nearest by that is computed anew, by subtraction in double from the
 * traces as they are; ties go to the lowest index. The products see traces about their overall
 * mean, rounded to float: that makes q2 + b2 small, and its rounding is within the 16 (the worst
 * case is 4 for it, 8 for the rest). So ties are those of the traces as they are.
 *
 * In the inner loop both bounds are compared in float, rounded to the safe side.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ascending.h"
#include "base/memory.h"
#include "base/wide.h"
#include "cover/surprise_method.h"
#include "engine/prim.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    DSA_TRACES = 1024, /* of a product */
    DSA_CANDIDATES = 64,
};

/* Beyond, in the units of the products, a float could overflow: such rows are searched in double.
 */
static const double dsa_most = 0x1p50;

typedef struct dsa {
    const pxi_sa_set *set;
    pxi_sa_columns columns;
    size_t d;
    bool from_input, squared;
    double least_dist;
    double scale;        /* products are of (a - mean) scale, a power of 2 */
    double *mean;        /* [d] */
    float *centred;      /* [n][d] by position */
    double *norm2;       /* [n] of the above */
    float *low2, *high2; /* [n] norm2 less and plus its part of the error, rounded outwards */
    double tolerance, tiny;
    _Atomic double *other; /* [n] dist_b of a trace; NaN: not known yet. Any thread may fill in the
                              one value that it can have */
} dsa;

static float float_up(double x)
{
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static float float_down(double x)
{
    const float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

/* --- exact distances ------------------------------------------------------------------------- */

PXI_WIDE static double difference_norm2(const float *x, const float *y, int64_t d)
{
    double sum[8] = {0};
    int64_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (int k = 0; k < 8; k++) {
            const double by = (double)x[j + k] - (double)y[j + k];
            sum[k] += by * by;
        }
    for (int k = 0; j + k < d; k++) {
        const double by = (double)x[j + k] - (double)y[j + k];
        sum[k] += by * by;
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* Squared, in the traces' own units. */
static double dsa_exact(const dsa *m, const float *row, int64_t position)
{
    const float *trace = pxi_sa_trace(m->set, position);
    if (!m->columns.at)
        return difference_norm2(row, trace, m->columns.count);
    double sum = 0.0;
    for (int64_t j = 0; j < m->columns.count; j++) {
        const int64_t at = m->columns.at[j];
        const double by = (double)row[at] - (double)trace[at];
        sum += by * by;
    }
    return sum;
}

/* --- the search ------------------------------------------------------------------------------ */

typedef struct candidate {
    int64_t position;
    double low2; /* no nearer than this */
} candidate;

typedef struct dsa_seeker {       /* one row's search */
    const float *row;             /* as it came */
    double norm2;                 /* in the units of the products */
    double bound2;                /* the nearest is no farther than this */
    int64_t nearest;              /* the best of those computed exactly; -1: none */
    double exact2;                /* its distance, in own units */
    int64_t skip_begin, skip_end; /* positions that do not count */
    int count;
    bool wide; /* too large for the products */
    candidate candidate[DSA_CANDIDATES];
} dsa_seeker;

/* Puts the row into the products' units; out is [d]. */
static void seeker_init(const dsa *m, const float *row, float *out, dsa_seeker *s)
{
    *s = (dsa_seeker){.row = row, .bound2 = INFINITY, .nearest = -1, .exact2 = INFINITY};
    double norm2 = 0.0;
    for (size_t j = 0; j < m->d; j++) {
        const float value = row[m->columns.at ? m->columns.at[j] : (int64_t)j];
        const double centred = ((double)value - m->mean[j]) * m->scale;
        s->wide |= !(fabs(centred) < dsa_most);
        out[j] = s->wide ? 0.0f : (float)centred;
        norm2 += (double)out[j] * (double)out[j];
    }
    s->norm2 = norm2;
}

static void seeker_try(const dsa *m, dsa_seeker *s, int64_t position)
{
    const double exact2 = dsa_exact(m, s->row, position);
    if (exact2 < s->exact2 || s->nearest < 0) {
        s->exact2 = exact2;
        s->nearest = position;
    }
}

/* Computes the candidates that can still win, and forgets all. They come in ascending order, so
 * that the first of equals stays. */
static void seeker_settle(const dsa *m, dsa_seeker *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->candidate[i].low2 <= s->bound2)
            seeker_try(m, s, s->candidate[i].position);
    s->count = 0;
}

static void seeker_compact(const dsa *m, dsa_seeker *s)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++)
        if (s->candidate[i].low2 <= s->bound2)
            s->candidate[kept++] = s->candidate[i];
    s->count = kept;
    if (kept == DSA_CANDIDATES) /* that many as good as equal */
        seeker_settle(m, s);
}

/* The least of high2[j] - 2 g[j]. */
PXI_WIDE static float least_high(const float *g, const float *high2, int64_t count)
{
    float lane[16];
    for (int k = 0; k < 16; k++)
        lane[k] = INFINITY;
    int64_t j = 0;
    for (; j + 16 <= count; j += 16)
        for (int k = 0; k < 16; k++) {
            const float high = high2[j + k] - 2.0f * g[j + k];
            lane[k] = high < lane[k] ? high : lane[k];
        }
    for (; j < count; j++) {
        const float high = high2[j] - 2.0f * g[j];
        lane[0] = high < lane[0] ? high : lane[0];
    }
    for (int k = 1; k < 16; k++)
        lane[0] = lane[k] < lane[0] ? lane[k] : lane[0];
    return lane[0];
}

/* Whether any of up to 64 has low2[j] - 2 g[j] <= bound. */
PXI_WIDE static bool any_low(const float *g, const float *low2, int64_t count, float bound)
{
    int any = 0;
    for (int64_t j = 0; j < count; j++)
        any |= low2[j] - 2.0f * g[j] <= bound;
    return any;
}

/* One row against a block of traces: g[count] are products. */
static void seeker_look(const dsa *m, dsa_seeker *s, const float *g, int64_t first, int64_t count)
{
    const double own_high = s->norm2 * (1.0 + m->tolerance) + m->tiny;
    const double own_low = s->norm2 * (1.0 - m->tolerance) - m->tiny;
    const double least = (double)least_high(g, m->high2 + first, count);
    s->bound2 = fmin(s->bound2, own_high + least + fabs(least) * 0x1p-22 + 0x1p-140);
    const double room = s->bound2 - own_low;
    const float bound = float_up(room + fabs(room) * 0x1p-22 + 0x1p-140);
    for (int64_t from = 0; from < count; from += 64) {
        const int64_t n = PX_MIN(count - from, (int64_t)64);
        if (!any_low(g + from, m->low2 + first + from, n, bound))
            continue;
        for (int64_t j = from; j < from + n; j++) {
            const double low2 =
                own_low + m->norm2[first + j] * (1.0 - m->tolerance) - 2.0 * (double)g[j];
            if (!(low2 <= s->bound2))
                continue;
            if (s->count == DSA_CANDIDATES)
                seeker_compact(m, s);
            s->candidate[s->count++] = (candidate){.position = first + j, .low2 = low2};
        }
    }
}

/* Finds the nearest of positions [begin, end), without those of the rows' own classes if they have
 * one, for n rows. queries is [n][d], g has room for n x DSA_TRACES. Rows of several classes share
 * the products: a few are not needed, but many rows at once are what makes products fast. */
static px_status dsa_search(const dsa *m, dsa_seeker *seeker, const float *queries, int64_t n,
                            int64_t begin, int64_t end, float *g, px_error *err)
{
    for (int64_t first = begin; first < end; first += DSA_TRACES) {
        const int64_t count = PX_MIN(end - first, (int64_t)DSA_TRACES);
        PX_TRY(pxi_sgemm_nt(n, count, (int64_t)m->d, 1.0f, queries,
                            m->centred + (size_t)first * m->d, 0.0f, g, err));
        for (int64_t i = 0; i < n; i++) {
            dsa_seeker *s = &seeker[i];
            const int64_t until = PX_MIN(first + count, PX_MAX(first, s->skip_begin));
            const int64_t from = PX_MIN(first + count, PX_MAX(until, s->skip_end));
            if (s->wide)
                for (int64_t j = first; j < first + count; j++) {
                    if (j < until || j >= from)
                        seeker_try(m, s, j);
                }
            else {
                if (until > first)
                    seeker_look(m, s, g + i * count, first, until - first);
                if (first + count > from)
                    seeker_look(m, s, g + i * count + (from - first), from, first + count - from);
            }
        }
    }
    for (int64_t i = 0; i < n; i++)
        seeker_settle(m, &seeker[i]);
    return PX_OK;
}

/* Makes a row look for traces of other classes than c, from the start. */
static void seeker_others(const dsa *m, dsa_seeker *s, int c)
{
    s->skip_begin = m->set->start[c];
    s->skip_end = m->set->start[c + 1];
    s->bound2 = s->exact2 = INFINITY;
    s->nearest = -1;
    s->count = 0;
}

/* --- fitting --------------------------------------------------------------------------------- */

static int64_t dsa_bytes(const px_surprise_options *options, int64_t count, int64_t width,
                         int classes)
{
    (void)options;
    (void)classes;
    return count * (4 * width + 4 * 2 + 8 * 2);
}

static void dsa_free(void *model)
{
    dsa *m = model;
    if (!m)
        return;
    free(m->mean);
    free(m->centred);
    free(m->norm2);
    free(m->low2);
    free(m->high2);
    free(m->other);
    free(m);
}

/* A power of 2 that brings the largest value near 1 where squares could leave the floats. */
static double dsa_scale(const dsa *m)
{
    double most = 0.0;
    for (int64_t i = 0; i < m->set->count; i++) {
        const float *trace = pxi_sa_trace(m->set, i);
        for (size_t j = 0; j < m->d; j++) {
            const int64_t at = m->columns.at ? m->columns.at[j] : (int64_t)j;
            const double off = fabs((double)trace[at] - m->mean[j]);
            most = PX_MAX(off, most); /* as fmax(), which gcc 12 cannot compile here for arm64 */
        }
    }
    int exponent = 0;
    if (most > 0.0)
        frexp(most, &exponent);
    return abs(exponent) > 20 ? ldexp(1.0, -exponent) : 1.0;
}

static px_status dsa_fit_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    (void)err;
    dsa *m = context;
    const int64_t first = index * DSA_TRACES, end = PX_MIN(first + DSA_TRACES, m->set->count);
    for (int64_t i = first; i < end; i++) {
        dsa_seeker s; /* traces are rows like others */
        seeker_init(m, pxi_sa_trace(m->set, i), m->centred + (size_t)i * m->d, &s);
        m->norm2[i] = s.norm2;
        m->low2[i] = float_down(s.norm2 * (1.0 - m->tolerance));
        m->high2[i] = float_up(s.norm2 * (1.0 + m->tolerance));
        atomic_init(&m->other[i], NAN);
    }
    return PX_OK;
}

static px_status dsa_fit(const pxi_sa_set *set, const px_surprise_options *options, px_pool *pool,
                         void **model, px_error *err)
{
    int used = 0;
    for (int c = 0; c < set->classes; c++)
        used += set->start[c + 1] > set->start[c];
    if (used < 2)
        return px_fail(err, PX_E_INPUT,
                       "dsa compares classes, and all %lld traces are of one; give training data "
                       "of more classes",
                       (long long)set->count);
    if (set->columns[0].count == 0)
        return px_fail(err, PX_E_INPUT,
                       "dsa has nothing to compare: no neuron's variance reaches the filter's");
    dsa *m = pxi_calloc(1, sizeof *m);
    if (!m)
        return pxi_sa_no_memory(err);
    const size_t n = (size_t)set->count, d = (size_t)set->columns[0].count;
    *m = (dsa){
        .set = set,
        .columns = set->columns[0],
        .d = d,
        .from_input = options->from_input,
        .squared = options->squared,
        .least_dist = options->least_dist,
        .tolerance = ((double)d + 16.0) * 0x1p-24,
        .tiny = (double)d * 0x1p-124,
        .mean = pxi_calloc(d, sizeof *m->mean),
        .norm2 = pxi_calloc(n, sizeof *m->norm2),
        .low2 = pxi_calloc(n, sizeof *m->low2),
        .high2 = pxi_calloc(n, sizeof *m->high2),
        .other = pxi_calloc(n, sizeof *m->other),
    };
    size_t elements;
    if (!__builtin_mul_overflow(n, d, &elements) && elements <= SIZE_MAX / sizeof(float))
        m->centred = pxi_alloc_aligned(elements * sizeof(float));
    px_status status = PX_OK;
    if (!m->mean || !m->norm2 || !m->low2 || !m->high2 || !m->other || !m->centred)
        status = pxi_sa_no_memory(err);
    if (status == PX_OK) {
        pxi_sa_mean(set, NULL, 0, set->count, &m->columns, m->mean);
        m->scale = dsa_scale(m);
        status =
            pxi_sa_each(pool, (set->count + DSA_TRACES - 1) / DSA_TRACES, dsa_fit_block, m, err);
    }
    if (status == PX_OK)
        *model = m;
    else
        dsa_free(m);
    return status;
}

/* --- scoring --------------------------------------------------------------------------------- */

typedef struct dsa_request {
    const dsa *m;
    const pxi_sa_work *work;
    int64_t *nearest;       /* [rows] position */
    double *near2, *other;  /* [rows] dist_a squared; dist_b where it starts at the input */
    const int64_t *missing; /* positions whose dist_b is wanted, ascending */
    int64_t missing_count;
} dsa_request;

typedef struct dsa_scratch {
    float *queries, *g;
    dsa_seeker *seeker;
} dsa_scratch;

static void scratch_done(dsa_scratch *s)
{
    free(s->queries);
    free(s->g);
    free(s->seeker);
}

static px_status scratch_init(dsa_scratch *s, const dsa *m, int64_t rows, px_error *err)
{
    const size_t n = (size_t)rows;
    *s = (dsa_scratch){
        .queries = pxi_alloc_aligned(n * m->d * sizeof *s->queries),
        .g = pxi_alloc_aligned(n * DSA_TRACES * sizeof *s->g),
        .seeker = pxi_calloc(n, sizeof *s->seeker),
    };
    if (s->queries && s->g && s->seeker)
        return PX_OK;
    scratch_done(s);
    return pxi_sa_no_memory(err);
}

/* Pass a: the nearest trace of the own class. */
static px_status dsa_near_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const dsa_request *r = context;
    const dsa *m = r->m;
    const pxi_sa_block *block = &r->work->block[index];
    const int64_t *row = r->work->row + block->first;
    dsa_scratch s;
    PX_TRY(scratch_init(&s, m, block->count, err));
    for (int64_t i = 0; i < block->count; i++)
        seeker_init(m, pxi_sa_row(r->work, block->first + i), s.queries + (size_t)i * m->d,
                    &s.seeker[i]);
    px_status status = dsa_search(m, s.seeker, s.queries, block->count, m->set->start[block->group],
                                  m->set->start[block->group + 1], s.g, err);
    for (int64_t i = 0; i < block->count && status == PX_OK; i++) {
        r->nearest[row[i]] = s.seeker[i].nearest;
        r->near2[row[i]] = s.seeker[i].exact2;
        seeker_others(m, &s.seeker[i], block->group);
    }
    if (status == PX_OK && m->from_input) {
        status = dsa_search(m, s.seeker, s.queries, block->count, 0, m->set->count, s.g, err);
        for (int64_t i = 0; i < block->count && status == PX_OK; i++)
            r->other[row[i]] = sqrt(s.seeker[i].exact2);
    }
    scratch_done(&s);
    return status;
}

/* Pass b: dist_b of traces, PXI_SA_ROWS of them at a time. */
static px_status dsa_other_block(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    const dsa_request *r = context;
    const dsa *m = r->m;
    const int64_t *missing = r->missing + index * PXI_SA_ROWS;
    const int64_t n = PX_MIN(r->missing_count - index * PXI_SA_ROWS, (int64_t)PXI_SA_ROWS);
    dsa_scratch s;
    PX_TRY(scratch_init(&s, m, n, err));
    int c = 0; /* positions ascend, and so do their classes */
    for (int64_t i = 0; i < n; i++) {
        while (missing[i] >= m->set->start[c + 1])
            c++;
        seeker_init(m, pxi_sa_trace(m->set, missing[i]), s.queries + (size_t)i * m->d,
                    &s.seeker[i]);
        seeker_others(m, &s.seeker[i], c);
    }
    const px_status status = dsa_search(m, s.seeker, s.queries, n, 0, m->set->count, s.g, err);
    for (int64_t i = 0; i < n && status == PX_OK; i++)
        atomic_store_explicit(&m->other[missing[i]], sqrt(s.seeker[i].exact2),
                              memory_order_relaxed);
    scratch_done(&s);
    return status;
}

/* The distinct positions among nearest[n] whose dist_b is not known, ascending; how many. */
static int64_t missing_find(const dsa *m, const int64_t *nearest, int64_t n, int64_t *missing)
{
    int64_t count = 0, distinct = 0;
    for (int64_t i = 0; i < n; i++)
        if (nearest[i] >= 0 &&
            isnan(atomic_load_explicit(&m->other[nearest[i]], memory_order_relaxed)))
            missing[count++] = nearest[i];
    qsort(missing, (size_t)count, sizeof *missing, pxi_order_int64);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || missing[i] != missing[i - 1])
            missing[distinct++] = missing[i];
    return distinct;
}

static double dsa_value(const dsa *m, double near2, double other)
{
    if (other == 0.0 && m->least_dist > 0.0)
        other = m->least_dist;
    if (other == 0.0)
        return near2 == 0.0 ? 0.0 : INFINITY;
    return m->squared ? near2 / (other * other) : sqrt(near2) / other;
}

px_status pxi_sa_dsa_details(const pxi_sa_set *set, const void *model, pxi_sa_work *work,
                             int64_t *nearest, double *dist_a, double *dist_b, px_error *err)
{
    const dsa *m = model;
    const int64_t n = work->rows->count;
    dsa_request request = {.m = m, .work = work};
    request.nearest = pxi_calloc((size_t)n, sizeof *request.nearest);
    request.near2 = pxi_calloc((size_t)n, sizeof *request.near2);
    request.other = pxi_calloc((size_t)n, sizeof *request.other);
    int64_t *missing = pxi_calloc((size_t)n, sizeof *missing);
    px_status status = PX_OK;
    if (!request.nearest || !request.near2 || !request.other || !missing) {
        status = pxi_sa_no_memory(err);
        goto done;
    }
    for (int64_t i = 0; i < n; i++) {
        request.nearest[i] = -1;
        request.near2[i] = request.other[i] = NAN;
    }
    status = pxi_sa_each(work->pool, work->block_count, dsa_near_block, &request, err);
    if (status == PX_OK && !m->from_input) {
        request.missing = missing;
        request.missing_count = missing_find(m, request.nearest, n, missing);
        status = pxi_sa_each(work->pool, (request.missing_count + PXI_SA_ROWS - 1) / PXI_SA_ROWS,
                             dsa_other_block, &request, err);
    }
    for (int64_t i = 0; i < n && status == PX_OK; i++) {
        const int64_t position = request.nearest[i];
        if (position >= 0 && !m->from_input)
            request.other[i] = atomic_load_explicit(&m->other[position], memory_order_relaxed);
        if (position >= 0 && work->scores)
            work->scores[i] = dsa_value(m, request.near2[i], request.other[i]);
        if (nearest)
            nearest[i] = position >= 0 ? set->row[position] : -1;
        if (dist_a)
            dist_a[i] = sqrt(request.near2[i]);
        if (dist_b)
            dist_b[i] = request.other[i];
    }
done:
    free(request.nearest);
    free(request.near2);
    free(request.other);
    free(missing);
    return status;
}

static px_status dsa_score(const pxi_sa_set *set, const void *model, pxi_sa_work *work,
                           px_error *err)
{
    return pxi_sa_dsa_details(set, model, work, NULL, NULL, NULL, err);
}

const pxi_sa_kind pxi_sa_dsa = {
    .id = "dsa",
    .bytes = dsa_bytes,
    .fit = dsa_fit,
    .free = dsa_free,
    .score = dsa_score,
};
