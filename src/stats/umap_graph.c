/* src/stats/umap_graph.c - UMAP: from neighbours to edges with weights
 *
 * w_ij = exp(-max(0, d_ij - rho_i) / sigma_i) for j among the nearest of i, and w + w^T - w w^T of
 * both directions: McInnes, Healy and Melville, section 3.1 and algorithm 3. As in the authors'
 * code, k counts the point itself, and sigma is at least a thousandth of the mean distance, its own
 * of 0 included: of a point's neighbours, or of everyone's where all of them are duplicates. The
 * search for sigma begins at the mean distance, so that the scale of the points does not matter.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "stats/umap_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { TRIES_MOST = 64, CURVE_POINTS = 300, FIT_TRIES = 500 };
static const double sum_good = 1e-5, sigma_share = 1e-3;

/* --- the curve on the map -------------------------------------------------------------------- */

typedef struct curve_fit {
    double x[CURVE_POINTS], y[CURVE_POINTS];
} curve_fit;

/* Squares of what is missed at a = exp(u), b = exp(v); normal equations where `h` is not NULL. */
static double fit_error(const curve_fit *fit, double u, double v, double h[3], double g[2])
{
    const double a = exp(u), b = exp(v);
    double error = 0.0;
    if (h)
        h[0] = h[1] = h[2] = g[0] = g[1] = 0.0;
    for (size_t i = 0; i < CURVE_POINTS; i++) {
        const double t = fit->x[i] > 0.0 ? a * pow(fit->x[i], 2.0 * b) : 0.0;
        const double f = 1.0 / (1.0 + t), miss = fit->y[i] - f;
        error += miss * miss;
        if (!h || !(t > 0.0))
            continue;
        const double du = -f * f * t, dv = du * 2.0 * b * log(fit->x[i]);
        h[0] += du * du;
        h[1] += du * dv;
        h[2] += dv * dv;
        g[0] += du * miss;
        g[1] += dv * miss;
    }
    return error;
}

/* Levenberg and Marquardt, in logarithms: both stay positive. */
void pxi_umap_curve(double min_dist, double spread, double *a, double *b)
{
    curve_fit fit;
    for (size_t i = 0; i < CURVE_POINTS; i++) {
        fit.x[i] = 3.0 * spread * (double)i / (CURVE_POINTS - 1);
        fit.y[i] = fit.x[i] < min_dist ? 1.0 : exp(-(fit.x[i] - min_dist) / spread);
    }
    double u = -2.0 * log(spread), v = 0.0, damping = 1e-3, h[3], g[2];
    double error = fit_error(&fit, u, v, h, g);
    for (int i = 0; i < FIT_TRIES && damping < 1e12; i++) {
        const double p = h[0] * (1.0 + damping), q = h[2] * (1.0 + damping);
        const double determinant = p * q - h[1] * h[1];
        const double du = (q * g[0] - h[1] * g[1]) / determinant;
        const double dv = (p * g[1] - h[1] * g[0]) / determinant;
        const double there = fit_error(&fit, u + du, v + dv, NULL, NULL);
        if (!(there < error)) { /* NaN too */
            damping *= 4.0;
            continue;
        }
        u += du;
        v += dv;
        error = fit_error(&fit, u, v, h, g);
        damping /= 4.0;
        if (fabs(du) + fabs(dv) < 1e-12)
            break;
    }
    *a = exp(u);
    *b = exp(v);
}

/* --- weights --------------------------------------------------------------------------------- */

static double weights_sum(const double *distances, size_t count, double rho, double sigma)
{
    double sum = 0.0;
    for (size_t j = 0; j < count; j++)
        sum += distances[j] > rho ? exp(-(distances[j] - rho) / sigma) : 1.0;
    return sum;
}

pxi_umap_band pxi_umap_bandwidth(const double *distances, size_t count, double mean)
{
    assert(count > 0);
    const double target = log2((double)count + 1.0);
    double rho = INFINITY, own_mean = 0.0;
    for (size_t j = 0; j < count; j++) {
        if (distances[j] > 0.0)
            rho = fmin(rho, distances[j]);
        own_mean += distances[j] / (double)(count + 1);
    }
    if (isinf(rho)) { /* nothing but duplicates: all weights are 1 */
        const bool vague = fabs((double)count - target) > sum_good;
        return (pxi_umap_band){.rho = 0.0, .sigma = sigma_share * mean, .vague = vague};
    }
    double low = 0.0, high = INFINITY, sigma = own_mean, miss = INFINITY;
    for (int i = 0; i < TRIES_MOST; i++) {
        miss = weights_sum(distances, count, rho, sigma) - target;
        if (fabs(miss) < sum_good)
            break;
        *(miss > 0.0 ? &high : &low) = sigma;
        sigma = isinf(high) ? 2.0 * sigma : (low + high) / 2.0;
    }
    return (pxi_umap_band){
        .rho = rho, .sigma = fmax(sigma, sigma_share * own_mean), .vague = fabs(miss) >= sum_good};
}

px_status pxi_umap_graph(pxi_sparse *graph, pxi_neighbours *near, px_error *err)
{
    const size_t n = near->n, k = near->k;
    double *weights = pxi_calloc(n, k * sizeof *weights), mean = 0.0;
    if (!weights)
        return pxi_no_memory_for(err, "neighbours of %zu points", n);
    for (size_t e = 0; e < n * k; e++) {
        near->distance2[e] = sqrt(near->distance2[e]);
        mean += near->distance2[e];
    }
    mean /= (double)n * (double)(k + 1);
    size_t vague = 0;
    for (size_t i = 0; i < n; i++) {
        const double *distances = near->distance2 + i * k;
        const pxi_umap_band band = pxi_umap_bandwidth(distances, k, mean);
        vague += band.vague;
        for (size_t e = 0; e < k; e++)
            weights[i * k + e] =
                distances[e] > band.rho ? exp(-(distances[e] - band.rho) / band.sigma) : 1.0;
    }
    const px_status status = pxi_sparse_join(graph, near, weights, PXI_SPARSE_UNION, err);
    graph->vague = vague;
    free(weights);
    return status;
}

/* --- edges ----------------------------------------------------------------------------------- */

px_status pxi_umap_edges(const pxi_sparse *graph, int epochs, pxi_umap_edge **out, size_t *count,
                         px_error *err)
{
    const size_t all = graph->row[graph->n];
    double most = 0.0;
    for (size_t e = 0; e < all; e++)
        most = fmax(most, graph->p[e]);
    const double least = most / (double)epochs;
    size_t kept = 0;
    for (size_t e = 0; e < all; e++)
        kept += graph->p[e] >= least;
    pxi_umap_edge *edge = NULL;
    PX_TRY(PX_NEW(edge, kept, err));
    kept = 0;
    for (size_t i = 0; i < graph->n; i++)
        for (size_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
            if (!(graph->p[e] >= least))
                continue;
            const double period = most / graph->p[e];
            edge[kept++] = (pxi_umap_edge){
                .head = (uint32_t)i, .tail = graph->column[e], .period = period, .next = period};
        }
    *out = edge;
    *count = kept;
    return PX_OK;
}
