/* src/stats/tsne.c - t-SNE: from points to a map
 *
 * Principal components, affinities, then gradient descent with momentum and a gain for each
 * coordinate (Jacobs 1988, as in van der Maaten's code): v = m v - eta gain g, y += v. During the
 * first iterations attraction is exaggerated, so that groups form before they spread. Learning rate
 * and start are those of Belkina et al., Nature Communications 10, 2019, and of Kobak and Berens in
 * the same volume.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "stats/principal.h"
#include "stats/tsne_internal.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

enum {
    EARLY = 250,   /* iterations of exaggerated attraction and little momentum */
    LOOK = 50,     /* iterations between looks at the divergence */
    PATIENCE = 300 /* iterations without progress */
};
static const double momentum_early = 0.5, momentum_late = 0.8;
static const double gain_up = 0.2, gain_down = 0.8, gain_least = 0.01;
static const double gradient_least = 1e-7;
static const double start_size = 1e-4; /* standard deviation of the first coordinate */

px_tsne_options px_tsne_options_default(void)
{
    return (px_tsne_options){
        .perplexity = 30.0,
        .iterations = 1000,
        .components = 50,
        .theta = 0.5,
        .exaggeration = 12.0,
    };
}

void px_tsne_map_done(px_tsne_map *map)
{
    free(map->y);
    *map = (px_tsne_map){0};
}

static px_status tsne_check(size_t n, size_t d, const px_tsne_options *o, px_error *err)
{
    if (n < PX_TSNE_LEAST || n > PX_TSNE_POINTS_MOST || d == 0)
        return px_fail(err, PX_E_USAGE, "a map is made of %zu to %zu points, not of %zu",
                       PX_TSNE_LEAST, PX_TSNE_POINTS_MOST, d == 0 ? (size_t)0 : n);
    if (!(o->perplexity >= 1.0) || !((double)n > 3.0 * o->perplexity))
        return px_fail(
            err, PX_E_USAGE,
            "a perplexity of %g needs more than %g points, and there are %zu; take more, "
            "or a perplexity of 1 to %g",
            o->perplexity, 3.0 * o->perplexity, n, ceil((double)n / 3.0) - 1.0);
    if (o->iterations < 1 || o->iterations > 1000000 || o->components < 0 ||
        !(o->theta >= 0.0 && o->theta <= 1.0) ||
        !(o->exaggeration >= 1.0 && o->exaggeration <= 1e3) ||
        !(o->learning_rate >= 0.0 && o->learning_rate <= 1e9))
        return px_fail(err, PX_E_USAGE,
                       "t-SNE takes 1 to 1000000 iterations, theta of 0 to 1, an exaggeration of 1 "
                       "to 1000 and a positive learning rate");
    if (o->method == PX_TSNE_ALL_PAIRS && n > PX_TSNE_EXACT_MOST)
        return px_fail(err, PX_E_USAGE,
                       "all pairs of %zu points are too many, the most is %zu points; let "
                       "Barnes-Hut do it",
                       n, PX_TSNE_EXACT_MOST);
    return PX_OK;
}

/* --- the descent ----------------------------------------------------------------------------- */

typedef struct descent {
    size_t n;
    px_pool *pool;
    pxi_dense dense;
    pxi_sparse sparse;
    pxi_exact_map exact;
    pxi_tree_map tree;
    bool all_pairs;
    double *y, *velocity, *gain, *gradient; /* [2][n] */
} descent;

static void descent_done(descent *run)
{
    pxi_exact_map_done(&run->exact);
    pxi_tree_map_done(&run->tree);
    pxi_dense_done(&run->dense);
    pxi_sparse_done(&run->sparse);
    pxi_pool_free(run->pool);
    free(run->y);
    free(run->velocity);
    free(run->gain);
    free(run->gradient);
}

static px_status descent_gradient(descent *run, double exaggeration, double *kl, px_error *err)
{
    return run->all_pairs ? pxi_exact_gradient(&run->exact, run->y, exaggeration, run->pool,
                                               run->gradient, kl, err)
                          : pxi_tree_gradient(&run->tree, run->y, exaggeration, run->pool,
                                              run->gradient, kl, err);
}

static void descent_step(descent *run, double momentum, double rate)
{
    const size_t n = run->n;
    for (size_t i = 0; i < 2 * n; i++) {
        const double g = run->gradient[i];
        double *gain = &run->gain[i], *v = &run->velocity[i];
        *gain = fmax(*v * g < 0.0 ? *gain + gain_up : *gain * gain_down, gain_least);
        *v = momentum * *v - rate * *gain * g;
        run->y[i] += *v;
    }
    for (int c = 0; c < 2; c++) { /* the mean stays 0 */
        double *y = run->y + (size_t)c * n, mean = 0.0;
        for (size_t i = 0; i < n; i++)
            mean += y[i];
        mean /= (double)n;
        for (size_t i = 0; i < n; i++)
            y[i] -= mean;
    }
}

static double norm(const double *x, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static px_status descend(descent *run, const px_tsne_options *o, px_tsne_map *out, px_error *err)
{
    const double early = o->exaggeration;
    const double rate =
        o->learning_rate > 0.0 ? o->learning_rate : fmax((double)run->n / early / 4.0, 50.0);
    double best = INFINITY;
    int best_at = 0, i = 0;
    while (i < o->iterations) {
        const bool first = i < EARLY, look = !first && i % LOOK == 0;
        PX_TRY(descent_gradient(run, first ? early : 1.0, look ? &out->kl : NULL, err));
        if (look) {
            if (out->kl < best) {
                best = out->kl;
                best_at = i;
            }
            if (i - best_at >= PATIENCE || norm(run->gradient, 2 * run->n) < gradient_least)
                break;
        }
        descent_step(run, first ? momentum_early : momentum_late, rate);
        i++;
        if (o->progress && !o->progress(o->progress_context, i, o->iterations))
            return px_fail(err, PX_E_CANCELLED, "cancelled after %d of %d iterations", i,
                           o->iterations);
    }
    out->iterations = i;
    PX_TRY(descent_gradient(run, 1.0, &out->kl, err)); /* of where it ended */
    out->gradient_norm = norm(run->gradient, 2 * run->n);
    return PX_OK;
}

/* --- where it begins ------------------------------------------------------------------------- */

static void start_random(double *y, size_t n, uint64_t seed, uint32_t coordinate)
{
    for (size_t i = 0; i < n; i++) {
        px_random random = px_rng(seed, PX_RNG_TSNE, (uint32_t)i, 2 + coordinate);
        y[i] = start_size * px_rng_normal(&random);
    }
}

/* From scores [n][k] in which the first two are the components; a direction in which the data do
 * not extend would stay flat, so there chance decides. */
static void start_points(descent *run, const double *scores, size_t k, const double *variance,
                         const px_tsne_options *o)
{
    for (uint32_t c = 0; c < 2; c++) {
        double *y = run->y + c * run->n;
        if (o->random_start || c >= k || !(variance[c] > 1e-12 * variance[0])) {
            start_random(y, run->n, o->seed, c);
            continue;
        }
        const double scale = start_size / sqrt(variance[0]);
        for (size_t i = 0; i < run->n; i++)
            y[i] = scale * scores[i * k + c];
    }
}

static px_status descent_init(descent *run, const double *x, size_t d, const px_tsne_options *o,
                              px_error *err)
{
    if (run->all_pairs) {
        PX_TRY(pxi_dense_init(&run->dense, x, run->n, d, o->perplexity, run->pool, err));
        return pxi_exact_map_init(&run->exact, &run->dense, err);
    }
    PX_TRY(pxi_sparse_init(&run->sparse, x, run->n, d, o->perplexity,
                           (size_t)floor(3.0 * o->perplexity), run->pool, err));
    return pxi_tree_map_init(&run->tree, &run->sparse, o->theta, err);
}

static px_status tsne_make(const double *x, size_t d, const px_tsne_options *o, descent *run,
                           px_tsne_map *out, px_error *err)
{
    const size_t n = run->n;
    const bool reduce = o->components > 0 && d > (size_t)o->components;
    const size_t k = PX_MIN(reduce ? (size_t)o->components : 2, PX_MIN(n, d));
    double *scores = pxi_calloc(n, k * sizeof *scores), *variance = pxi_calloc(k, sizeof *variance);
    px_status status = PX_OK;
    if (!scores || !variance) {
        status = pxi_no_memory_for(err, "a map of %zu points", n);
        goto done;
    }
    status = pxi_principal(x, n, d, k, o->seed, run->pool, scores, variance, err);
    if (status == PX_OK && !(variance[0] > 0.0))
        status =
            px_fail(err, PX_E_INPUT, "all %zu points are the same; there is nothing to map", n);
    if (status != PX_OK)
        goto done;
    start_points(run, scores, k, variance, o);
    out->dimensions = reduce ? k : d;
    status = descent_init(run, reduce ? scores : x, out->dimensions, o, err);
    out->vague = run->all_pairs ? run->dense.vague : run->sparse.vague;
    PX_THEN(status, descend(run, o, out, err));
done:
    free(scores);
    free(variance);
    return status;
}

px_status px_tsne(const float *x, size_t n, size_t d, const px_tsne_options *options,
                  px_tsne_map *out, px_error *err)
{
    const px_tsne_options defaults = px_tsne_options_default();
    const px_tsne_options *o = options ? options : &defaults;
    PX_TRY(tsne_check(n, d, o, err));
    descent run = {.n = n};
    run.all_pairs =
        o->method == PX_TSNE_ALL_PAIRS || (o->method == PX_TSNE_AUTO && n <= PX_TSNE_EXACT);
    px_tsne_map map = {.count = n, .exact = run.all_pairs};
    double *centred = NULL;
    px_status status = pxi_centred(x, n, d, &centred, err);
    PX_THEN(status, pxi_pool_new(o->threads, &run.pool, err));
    if (status != PX_OK)
        goto done;
    run.y = pxi_calloc(n, 2 * sizeof *run.y);
    run.velocity = pxi_calloc(n, 2 * sizeof *run.velocity);
    run.gain = pxi_calloc(n, 2 * sizeof *run.gain);
    run.gradient = pxi_calloc(n, 2 * sizeof *run.gradient);
    map.y = pxi_calloc(n, 2 * sizeof *map.y);
    if (!run.y || !run.velocity || !run.gain || !run.gradient || !map.y) {
        status = pxi_no_memory_for(err, "a map of %zu points", n);
        goto done;
    }
    for (size_t i = 0; i < 2 * n; i++)
        run.gain[i] = 1.0;
    status = tsne_make(centred, d, o, &run, &map, err);
    for (size_t i = 0; status == PX_OK && i < n; i++) {
        map.y[2 * i] = run.y[i];
        map.y[2 * i + 1] = run.y[n + i];
        if (!isfinite(run.y[i]) || !isfinite(run.y[n + i]))
            status = px_fail(err, PX_E_USAGE,
                             "the map flew apart at a learning rate of %g; take a smaller one",
                             o->learning_rate);
    }
    if (status == PX_OK) {
        *out = map;
        map.y = NULL;
    }
done:
    free(centred);
    free(map.y);
    descent_done(&run);
    return status;
}
