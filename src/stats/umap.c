/* src/stats/umap.c - UMAP: from points to a map
 *
 * Principal components, neighbours, weights, then stochastic gradient descent: an edge's two points
 * attract each other whenever its turn comes, and its head is repelled by points drawn at random
 * (McInnes, Healy and Melville, algorithms 5 and 6, with the steps of the authors' code). Edges
 * come one after the other, in the order of heads and tails, and draws are addressed by edge and
 * epoch: so the map depends on points and settings alone. We differ in the start, which is not
 * spectral but the first two principal components, and in that each visit draws the same number of
 * points.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "stats/principal.h"
#include "stats/umap_internal.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

enum { EPOCHS_FEW = 500, EPOCHS_MANY = 200, POINTS_MANY = 10000 };
enum {
    STREAM_START,
    STREAM_UNIFORM,
    STREAM_EPOCH
}; /* iterations of the streams; the last and on */
static const double start_size = 10.0, start_noise = 1e-4;
static const double step_most = 4.0, repulsion_soft = 1e-3;

px_umap_options px_umap_options_default(void)
{
    return (px_umap_options){
        .neighbours = 15,
        .min_dist = 0.1,
        .spread = 1.0,
        .negatives = 5,
        .learning_rate = 1.0,
        .components = 50,
    };
}

void px_umap_map_done(px_umap_map *map)
{
    free(map->y);
    *map = (px_umap_map){0};
}

static px_status umap_check(size_t n, size_t d, const px_umap_options *o, px_error *err)
{
    if (n < PX_UMAP_LEAST || n > PX_UMAP_POINTS_MOST || d == 0)
        return px_fail(err, PX_E_USAGE, "a map is made of %zu to %zu points, not of %zu",
                       PX_UMAP_LEAST, PX_UMAP_POINTS_MOST, d == 0 ? (size_t)0 : n);
    if (o->neighbours < 2 || o->neighbours > PX_UMAP_NEIGHBOURS_MOST)
        return px_fail(err, PX_E_USAGE,
                       "UMAP takes 2 to %d neighbours, the point itself among them, not %d",
                       PX_UMAP_NEIGHBOURS_MOST, o->neighbours);
    if (!(o->spread >= 1e-3 && o->spread <= 1e3) ||
        !(o->min_dist >= 0.0 && o->min_dist <= o->spread))
        return px_fail(err, PX_E_USAGE,
                       "UMAP takes a spread of 0.001 to 1000 and a least distance of 0 to the "
                       "spread, not %g and %g",
                       o->spread, o->min_dist);
    if (o->epochs < 0 || o->epochs > PX_UMAP_EPOCHS_MOST || o->components < 0 || o->negatives < 0 ||
        o->negatives > 1000 || !(o->learning_rate > 0.0 && o->learning_rate <= 100.0))
        return px_fail(err, PX_E_USAGE,
                       "UMAP takes 1 to %d epochs, 0 to 1000 points that repel and a learning rate "
                       "above 0, 100 at most",
                       PX_UMAP_EPOCHS_MOST);
    return PX_OK;
}

/* --- the descent ----------------------------------------------------------------------------- */

static double bounded(double step)
{
    return fmax(-step_most, fmin(step_most, step));
}

/* Two points towards each other: the derivative of log(1 + a d^2b). */
static void edge_attract(const pxi_umap_layout *layout, double *head, double *tail, double rate)
{
    const double dx = head[0] - tail[0], dy = head[1] - tail[1], d2 = dx * dx + dy * dy;
    if (!(d2 > 0.0))
        return;
    const double power = pow(d2, layout->b);
    const double pull = -2.0 * layout->a * layout->b * power / (d2 * (1.0 + layout->a * power));
    const double step[2] = {rate * bounded(pull * dx), rate * bounded(pull * dy)};
    for (int c = 0; c < 2; c++) {
        head[c] += step[c];
        tail[c] -= step[c];
    }
}

/* The head away from another point; two in one place do not know which way. */
static void edge_repel(const pxi_umap_layout *layout, double *head, const double *other,
                       double rate)
{
    const double dx = head[0] - other[0], dy = head[1] - other[1], d2 = dx * dx + dy * dy;
    if (!(d2 > 0.0))
        return;
    const double push =
        2.0 * layout->b / ((repulsion_soft + d2) * (1.0 + layout->a * pow(d2, layout->b)));
    head[0] += rate * bounded(push * dx);
    head[1] += rate * bounded(push * dy);
}

void pxi_umap_epoch(pxi_umap_layout *layout, int epoch, double rate)
{
    for (size_t e = 0; e < layout->edge_count; e++) {
        pxi_umap_edge *edge = &layout->edge[e];
        if (edge->next > (double)epoch)
            continue;
        edge->next += edge->period;
        double *head = layout->y + 2 * (size_t)edge->head;
        edge_attract(layout, head, layout->y + 2 * (size_t)edge->tail, rate);
        px_random random =
            px_rng(layout->seed, PX_RNG_UMAP, (uint32_t)e, STREAM_EPOCH + (uint32_t)epoch);
        for (int s = 0; s < layout->negatives; s++) {
            const uint32_t other = px_rng_below(&random, (uint32_t)layout->n);
            edge_repel(layout, head, layout->y + 2 * (size_t)other, rate); /* itself: no distance */
        }
    }
}

static px_status descend(pxi_umap_layout *layout, const px_umap_options *o, int epochs,
                         px_error *err)
{
    for (int epoch = 1; epoch <= epochs; epoch++) {
        const double left = 1.0 - (double)(epoch - 1) / (double)epochs;
        pxi_umap_epoch(layout, epoch, o->learning_rate * left);
        if (o->progress && !o->progress(o->progress_context, epoch, epochs))
            return px_fail(err, PX_E_CANCELLED, "cancelled after %d of %d epochs", epoch, epochs);
    }
    return PX_OK;
}

/* --- where it begins ------------------------------------------------------------------------- */

/* Scores [n][k] of the first components so that the farthest is at 10, and a little noise, without
 * which duplicates would stay in one place. */
static void start_points(double *y, const double *scores, size_t n, size_t k,
                         const double *variance, const px_umap_options *o)
{
    const size_t used = k > 1 && variance[1] > 1e-12 * variance[0] ? 2 : 1;
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < used; c++)
            most = fmax(most, fabs(scores[i * k + c]));
    for (size_t i = 0; i < n; i++) {
        px_random random = px_rng(o->seed, PX_RNG_UMAP, (uint32_t)i,
                                  o->random_start ? STREAM_UNIFORM : STREAM_START);
        for (size_t c = 0; c < 2; c++) {
            double *to = &y[2 * i + c];
            if (o->random_start)
                *to = start_size * (2.0 * px_rng_u01(&random) - 1.0);
            else
                *to = (c < used ? scores[i * k + c] * start_size / most : 0.0) +
                      start_noise * px_rng_normal(&random);
        }
    }
}

static void centre(double *y, size_t n)
{
    double mean[2] = {0.0, 0.0};
    for (size_t i = 0; i < 2 * n; i++)
        mean[i % 2] += y[i] / (double)n;
    for (size_t i = 0; i < 2 * n; i++)
        y[i] -= mean[i % 2];
}

/* --- all of it ------------------------------------------------------------------------------- */

static px_status umap_lay(const double *x, size_t d, const px_umap_options *o, px_pool *pool,
                          px_umap_map *out, px_error *err)
{
    const size_t n = out->count;
    pxi_neighbours near = {0};
    pxi_sparse graph = {0};
    pxi_umap_layout layout = {
        .n = n, .y = out->y, .a = out->a, .b = out->b, .negatives = o->negatives, .seed = o->seed};
    px_status status = pxi_neighbours_init(&near, x, n, d, (size_t)o->neighbours - 1, pool, err);
    out->neighbours = (int)near.k + 1;
    PX_THEN(status, pxi_umap_graph(&graph, &near, err));
    pxi_neighbours_done(&near);
    out->vague = graph.vague;
    PX_THEN(status, pxi_umap_edges(&graph, out->epochs, &layout.edge, &layout.edge_count, err));
    pxi_sparse_done(&graph);
    out->edges = layout.edge_count;
    PX_THEN(status, descend(&layout, o, out->epochs, err));
    if (status == PX_OK)
        centre(out->y, n);
    free(layout.edge);
    return status;
}

static px_status umap_make(const double *x, size_t d, const px_umap_options *o, px_pool *pool,
                           px_umap_map *out, px_error *err)
{
    const size_t n = out->count;
    const bool reduce = o->components > 0 && d > (size_t)o->components;
    const size_t k = PX_MIN(reduce ? (size_t)o->components : 2, PX_MIN(n, d));
    double *scores = pxi_calloc(n, k * sizeof *scores), *variance = pxi_calloc(k, sizeof *variance);
    px_status status = PX_OK;
    if (!scores || !variance) {
        status = pxi_no_memory_for(err, "a map of %zu points", n);
        goto done;
    }
    status = pxi_principal(x, n, d, k, o->seed, pool, scores, variance, err);
    if (status == PX_OK && !(variance[0] > 0.0))
        status =
            px_fail(err, PX_E_INPUT, "all %zu points are the same; there is nothing to map", n);
    if (status != PX_OK)
        goto done;
    start_points(out->y, scores, n, k, variance, o);
    out->dimensions = reduce ? k : d;
    status = umap_lay(reduce ? scores : x, out->dimensions, o, pool, out, err);
done:
    free(scores);
    free(variance);
    return status;
}

px_status px_umap(const float *x, size_t n, size_t d, const px_umap_options *options,
                  px_umap_map *out, px_error *err)
{
    const px_umap_options defaults = px_umap_options_default();
    const px_umap_options *o = options ? options : &defaults;
    PX_TRY(umap_check(n, d, o, err));
    px_umap_map map = {.count = n,
                       .epochs = o->epochs          ? o->epochs
                                 : n <= POINTS_MANY ? EPOCHS_FEW
                                                    : EPOCHS_MANY};
    px_pool *pool = NULL;
    double *centred = NULL;
    px_status status = pxi_centred(x, n, d, &centred, err);
    PX_THEN(status, pxi_pool_new(o->threads, &pool, err));
    if (status == PX_OK && !(map.y = pxi_calloc(n, 2 * sizeof *map.y)))
        status = pxi_no_memory_for(err, "a map of %zu points", n);
    if (status == PX_OK) {
        pxi_umap_curve(o->min_dist, o->spread, &map.a, &map.b);
        status = umap_make(centred, d, o, pool, &map, err);
    }
    if (status == PX_OK) {
        *out = map;
        map.y = NULL;
    }
    free(centred);
    free(map.y);
    pxi_pool_free(pool);
    return status;
}
