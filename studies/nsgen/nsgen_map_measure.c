/* studies/nsgen/nsgen_map_measure.c - faults that one guide alone finds: error types, and regions
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "nsgen/nsgen_map.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MOST = 65536 };

/* --- error types ------------------------------------------------------------------------------ */

int64_t ng_map_pair(int64_t label, int64_t prediction)
{
    if (label < 0 || label >= CLASSES_MOST || prediction < 0 || prediction >= CLASSES_MOST)
        return -1;
    return label * CLASSES_MOST + prediction;
}

static int pair_order(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t ng_map_pairs_sort(int64_t *pair, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(pair, count, sizeof *pair, pair_order);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || pair[i] != pair[kept - 1])
            pair[kept++] = pair[i];
    return kept;
}

static bool pairs_have(const int64_t *pair, size_t count, int64_t what)
{
    return count > 0 && bsearch(&what, pair, count, sizeof *pair, pair_order);
}

static bool rivals_have(const ng_map_work *w, size_t g, int64_t pair)
{
    for (size_t r = 0; r < NG_MAP_ALL; r++)
        if (ng_map_rival(g, r) && pairs_have(w->guide[r].pair, w->guide[r].pair_count, pair))
            return true;
    return false;
}

/* Pairs among the faults that are used; the caller frees them. */
static px_status drawn_pairs(const ng_map_work *w, size_t g, int64_t **out, size_t *count,
                             px_error *err)
{
    const ng_map_guide *guide = &w->guide[g];
    int64_t *pair = pxi_calloc(guide->used + 1, sizeof *pair);
    size_t n = 0;
    if (!pair)
        return pxi_no_memory(err);
    for (size_t i = guide->first; i < guide->first + guide->used; i++) {
        const px_map_point p = px_map_get(w->map, i);
        if (ng_map_pair(p.label, p.prediction) >= 0)
            pair[n++] = ng_map_pair(p.label, p.prediction);
    }
    *count = ng_map_pairs_sort(pair, n);
    *out = pair;
    return PX_OK;
}

/* Pairs that no rival has, among those. */
static px_status drawn_only(const ng_map_work *w, size_t g, double *out, px_error *err)
{
    int64_t *pair[NG_MAP_ALL] = {NULL};
    size_t count[NG_MAP_ALL] = {0};
    px_status status = PX_OK;
    *out = 0.0;
    for (size_t r = 0; r < NG_MAP_ALL && status == PX_OK; r++)
        if (r == g || ng_map_rival(g, r))
            status = drawn_pairs(w, r, &pair[r], &count[r], err);
    for (size_t i = 0; i < count[g] && status == PX_OK; i++) {
        bool known = false;
        for (size_t r = 0; r < NG_MAP_ALL; r++)
            known |= r != g && pairs_have(pair[r], count[r], pair[g][i]);
        *out += !known;
    }
    for (size_t r = 0; r < NG_MAP_ALL; r++)
        free(pair[r]);
    return status;
}

px_status ng_map_types(ng_map_work *w, size_t g, px_error *err)
{
    const ng_map_guide *guide = &w->guide[g];
    const char *id = ng_map_guides[g];
    double only = 0.0, drawn = 0.0, shown = 0.0;
    for (size_t i = 0; i < guide->pair_count; i++)
        only += !rivals_have(w, g, guide->pair[i]);
    for (size_t i = guide->first; i < guide->first + guide->count; i++) {
        const px_map_point p = px_map_get(w->map, i);
        const int64_t pair = ng_map_pair(p.label, p.prediction);
        w->only[i] = pair >= 0 && !rivals_have(w, g, pair);
        shown += w->only[i];
    }
    PX_TRY(drawn_only(w, g, &drawn, err));
    pxi_cell_put(&w->cell, guide->faults, "faults_%s", id);
    pxi_cell_put(&w->cell, (double)guide->used, "used_%s", id);
    pxi_cell_put(&w->cell, (double)guide->pair_count, "pairs_%s", id);
    pxi_cell_put(&w->cell, only, "only_%s", id);
    pxi_cell_put(&w->cell, drawn, "drawn_%s", id);
    pxi_cell_put(&w->cell, guide->count > 0 ? shown / (double)guide->count : (double)NAN,
                 "share_%s", id);
    return PX_OK;
}

/* --- regions ---------------------------------------------------------------------------------- */

static double alone_share(const uint32_t *near, size_t n, size_t k, const bool *own, bool *flags)
{
    size_t all = 0, alone = 0;
    for (size_t i = 0; i < n; i++) {
        bool is = own[i];
        for (size_t e = 0; e < k && is; e++)
            is = own[near[i * k + e]];
        all += own[i];
        alone += is;
        if (flags)
            flags[i] = is;
    }
    return all > 0 ? (double)alone / (double)all : (double)NAN;
}

ng_map_alone ng_map_count_alone(const uint32_t *near, size_t n, size_t k, const bool *own,
                                bool *flags, bool *scratch, uint64_t seed, uint32_t item)
{
    ng_map_alone out = {.share = alone_share(near, n, k, own, flags), .chance = 1.0};
    size_t mine = 0, as_large = 0;
    for (size_t i = 0; i < n; i++) {
        mine += own[i];
        scratch[i] = own[i];
    }
    if (mine == 0)
        return (ng_map_alone){.share = (double)NAN, .chance = (double)NAN, .p = (double)NAN};
    for (size_t e = 0; e < k; e++) /* k of the others, none of which is a rival's */
        out.chance *= mine > e + 1 ? (double)(mine - 1 - e) / (double)(n - 1 - e) : 0.0;
    for (uint32_t draw = 0; draw < NG_MAP_DRAWS; draw++) {
        px_random random = px_rng(seed, PX_RNG_STUDY, item, draw);
        for (size_t i = n; i > 1; i--) {
            const size_t j = px_rng_below(&random, (uint32_t)i);
            const bool swap = scratch[i - 1];
            scratch[i - 1] = scratch[j];
            scratch[j] = swap;
        }
        as_large += alone_share(near, n, k, scratch, NULL) >= out.share;
    }
    out.p = (double)(1 + as_large) / (double)(1 + NG_MAP_DRAWS);
    return out;
}

typedef struct map_pool { /* a guide's faults and its rivals' */
    size_t n;
    size_t *point; /* on the map */
    float *x;
    bool *own, *flags, *scratch;
    uint32_t *near; /* [n][k] */
} map_pool;

static void pool_done(map_pool *p)
{
    free(p->point);
    free(p->x);
    free(p->own);
    free(p->flags);
    free(p->scratch);
    free(p->near);
}

static px_status pool_fill(const ng_map_work *w, size_t g, map_pool *p, px_error *err)
{
    const size_t most = px_map_count(w->map);
    size_t width = 0;
    const float *rows = px_map_rows(w->map, &width);
    p->point = pxi_calloc(most, sizeof *p->point);
    p->x = pxi_calloc(most, width * sizeof *p->x);
    p->own = pxi_calloc(most, sizeof *p->own);
    p->flags = pxi_calloc(most, sizeof *p->flags);
    p->scratch = pxi_calloc(most, sizeof *p->scratch);
    if (!p->point || !p->x || !p->own || !p->flags || !p->scratch)
        return pxi_no_memory_for(err, "%zu faults", most);
    for (size_t r = 0; r < NG_MAP_ALL; r++) {
        if (r != g && !ng_map_rival(g, r))
            continue;
        for (size_t i = w->guide[r].first; i < w->guide[r].first + w->guide[r].used; i++) {
            memcpy(p->x + p->n * width, rows + i * width, width * sizeof *p->x);
            p->own[p->n] = r == g;
            p->point[p->n++] = i;
        }
    }
    return PX_OK;
}

px_status ng_map_regions(ng_map_work *w, size_t g, px_pool *workers, px_error *err)
{
    const char *id = ng_map_guides[g];
    map_pool p = {.n = 0};
    px_status status = pool_fill(w, g, &p, err);
    if (status == PX_OK && p.n > w->guide[g].used && w->guide[g].used > 0) {
        size_t width = 0, k = NG_MAP_NEAR;
        (void)px_map_rows(w->map, &width);
        status = px_neighbours(p.x, p.n, width, &k, workers, &p.near, err);
        if (status == PX_OK) {
            const ng_map_alone alone = ng_map_count_alone(p.near, p.n, k, p.own, p.flags, p.scratch,
                                                          w->study->options.seed, (uint32_t)g);
            for (size_t i = 0; i < p.n; i++)
                if (p.own[i])
                    w->alone[p.point[i]] = p.flags[i];
            pxi_cell_put(&w->cell, alone.share, "alone_%s", id);
            pxi_cell_put(&w->cell, alone.chance, "chance_%s", id);
            pxi_cell_put(&w->cell, alone.p, "p_%s", id);
        }
    }
    pool_done(&p);
    return status;
}
