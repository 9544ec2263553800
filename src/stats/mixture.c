/* src/stats/mixture.c - Gaussian mixtures with full covariances, fitted by EM */
/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/mixture.h"

#include "base/memory.h"
#include <internal/kmeans.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double log_two_pi = 1.8378770664093454836;

enum { MIXTURE_ROWS = 256, MIXTURE_RESTARTS = 1, MIXTURE_SEED_ITERATIONS = 100 };

static px_status no_memory(size_t d, px_error *err)
{
    return pxi_no_memory_for(err, "a mixture over %zu neurons", d);
}

void pxi_mixture_done(pxi_mixture *mixture)
{
    for (int k = 0; k < mixture->g && mixture->whitener; k++)
        pxi_whitener_done(&mixture->whitener[k]);
    free(mixture->weight);
    free(mixture->mean);
    free(mixture->covariance);
    free(mixture->whitener);
    *mixture = (pxi_mixture){0};
}

static px_status mixture_alloc(pxi_mixture *mixture, int g, size_t d, px_error *err)
{
    const size_t n = (size_t)g;
    *mixture = (pxi_mixture){.g = g, .d = d};
    mixture->weight = pxi_calloc(n, sizeof *mixture->weight);
    mixture->mean = pxi_calloc(n * d, sizeof *mixture->mean);
    mixture->covariance = pxi_calloc(n * d * d, sizeof *mixture->covariance);
    mixture->whitener = pxi_calloc(n, sizeof *mixture->whitener);
    if (mixture->weight && mixture->mean && mixture->covariance && mixture->whitener)
        return PX_OK;
    pxi_mixture_done(mixture);
    return no_memory(d, err);
}

/* Factors the covariance of component k; `factor` is d x d of scratch. */
static px_status component_factor(pxi_mixture *mixture, int k, double *factor, px_error *err)
{
    const size_t d = mixture->d;
    double ridge;
    PX_TRY(pxi_cholesky_ridge(mixture->covariance + (size_t)k * d * d, d, /* singular= */ false,
                              factor, &ridge, err));
    if (isnan(ridge))
        return px_fail(err, PX_E_INPUT,
                       "a mixture's covariance has no factor: traces are not "
                       "finite or far too large");
    pxi_whitener_done(&mixture->whitener[k]);
    return pxi_whitener_init(&mixture->whitener[k], factor, d, 1.0, err);
}

px_status pxi_mixture_init(pxi_mixture *mixture, int g, size_t d, const double *weight,
                           const double *mean, const double *covariance, px_error *err)
{
    assert(g > 0 && d > 0);
    PX_TRY(mixture_alloc(mixture, g, d, err));
    memcpy(mixture->weight, weight, (size_t)g * sizeof *weight);
    memcpy(mixture->mean, mean, (size_t)g * d * sizeof *mean);
    memcpy(mixture->covariance, covariance, (size_t)g * d * d * sizeof *covariance);
    double *factor = pxi_calloc(d * d, sizeof *factor);
    px_status status = factor ? PX_OK : no_memory(d, err);
    for (int k = 0; k < g && status == PX_OK; k++)
        status = component_factor(mixture, k, factor, err);
    free(factor);
    if (status != PX_OK)
        pxi_mixture_done(mixture);
    return status;
}

static double log_sum(const double *parts, int g)
{
    double most = -INFINITY, sum = 0.0;
    for (int k = 0; k < g; k++)
        most = fmax(most, parts[k]);
    if (isinf(most))
        return most;
    for (int k = 0; k < g; k++)
        sum += exp(parts[k] - most);
    return most + log(sum);
}

px_status pxi_mixture_log(const pxi_mixture *mixture, const double *x, size_t rows, double *out,
                          double *parts, px_error *err)
{
    const size_t d = mixture->d, g = (size_t)mixture->g;
    const size_t most = PX_MIN(rows, (size_t)MIXTURE_ROWS);
    double *centred = pxi_calloc(most * d, sizeof *centred);
    double *white = pxi_calloc(most * d, sizeof *white);
    double *own = pxi_calloc(most * g, sizeof *own);
    px_status status = centred && white && own ? PX_OK : no_memory(d, err);
    for (size_t first = 0; first < rows && status == PX_OK; first += most) {
        const size_t n = PX_MIN(rows - first, most);
        for (size_t k = 0; k < g; k++) {
            const double *mean = mixture->mean + k * d;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < d; j++)
                    centred[i * d + j] = x[(first + i) * d + j] - mean[j];
            pxi_whiten(&mixture->whitener[k], centred, n, white);
            for (size_t i = 0; i < n; i++)
                own[i * g + k] = log(mixture->weight[k]) - 0.5 * (double)d * log_two_pi -
                                 mixture->whitener[k].log_det -
                                 0.5 * pxi_dot(white + i * d, white + i * d, d);
        }
        for (size_t i = 0; i < n; i++)
            out[first + i] = log_sum(own + i * g, mixture->g);
        if (parts)
            memcpy(parts + first * g, own, n * g * sizeof *own);
    }
    free(centred);
    free(white);
    free(own);
    return status;
}

typedef struct maximizer { /* scratch of the M step */
    double *factor, *block, *scratch;
    pxi_panels panels;
} maximizer;

static void maximizer_done(maximizer *m)
{
    free(m->factor);
    free(m->block);
    free(m->scratch);
    pxi_panels_done(&m->panels);
}

static px_status maximizer_init(maximizer *m, size_t d, px_error *err)
{
    *m = (maximizer){
        .factor = pxi_calloc(d * d, sizeof(double)),
        .block = pxi_calloc(PXI_MOMENT_ROWS * d, sizeof(double)),
        .scratch = pxi_calloc(PXI_MOMENT_ROWS * d, sizeof(double)),
    };
    px_status status = m->factor && m->block && m->scratch ? PX_OK : no_memory(d, err);
    PX_THEN(status, pxi_panels_init(&m->panels, d, PXI_MOMENT_ROWS, err));
    if (status != PX_OK)
        maximizer_done(m);
    return status;
}

/* S_k about the component's mean with weights share[i * g + k], sum `total`; NULL: all 1. */
static void component_spread(pxi_mixture *mixture, size_t k, const double *x, size_t n,
                             const double *share, double total, double ridge, maximizer *m)
{
    const size_t d = mixture->d, g = (size_t)mixture->g;
    const double *mean = mixture->mean + k * d;
    double *s = mixture->covariance + k * d * d;
    memset(s, 0, d * d * sizeof *s);
    for (size_t first = 0; first < n; first += PXI_MOMENT_ROWS) {
        const size_t rows = PX_MIN(n - first, (size_t)PXI_MOMENT_ROWS);
        for (size_t i = 0; i < rows; i++) {
            const double root = share ? sqrt(share[(first + i) * g + k]) : 1.0;
            for (size_t j = 0; j < d; j++)
                m->block[i * d + j] = root * (x[(first + i) * d + j] - mean[j]);
        }
        pxi_moment_add(m->block, rows, d, s, m->scratch, &m->panels);
    }
    for (size_t i = 0; i < d * d; i++)
        s[i] /= total;
    for (size_t j = 0; j < d; j++)
        s[j * d + j] += ridge;
}

/* New parameters from responsibilities share[n][g]; `explained` are the log densities that tell
 * where an empty component goes (NULL: to the first point). */
static px_status mixture_maximize(pxi_mixture *mixture, const double *x, size_t n, double ridge,
                                  const double *share, const double *explained, px_error *err)
{
    const size_t d = mixture->d, g = (size_t)mixture->g;
    const double empty = 1e-9; /* of a point */
    maximizer m;
    PX_TRY(maximizer_init(&m, d, err));
    px_status status = PX_OK;
    double weights = 0.0;
    for (size_t k = 0; k < g && status == PX_OK; k++) {
        double *mean = mixture->mean + k * d, total = 0.0;
        memset(mean, 0, d * sizeof *mean);
        for (size_t i = 0; i < n; i++) {
            total += share[i * g + k];
            for (size_t j = 0; j < d; j++)
                mean[j] += share[i * g + k] * x[i * d + j];
        }
        if (total > empty) {
            for (size_t j = 0; j < d; j++)
                mean[j] /= total;
            component_spread(mixture, k, x, n, share, total, ridge, &m);
        } else { /* the spread of all about the worst point */
            size_t worst = 0;
            for (size_t i = 1; i < n && explained; i++)
                worst = explained[i] < explained[worst] ? i : worst;
            memcpy(mean, x + worst * d, d * sizeof *mean);
            component_spread(mixture, k, x, n, NULL, (double)n, ridge, &m);
            total = 1.0;
        }
        mixture->weight[k] = total / (double)n;
        weights += mixture->weight[k];
        status = component_factor(mixture, (int)k, m.factor, err);
    }
    for (size_t k = 0; k < g; k++)
        mixture->weight[k] /= weights;
    maximizer_done(&m);
    return status;
}

px_status pxi_mixture_step(pxi_mixture *mixture, const double *x, size_t n, double ridge,
                           double *likelihood, px_error *err)
{
    const size_t g = (size_t)mixture->g;
    double *share = pxi_calloc(n * g, sizeof *share), *density = pxi_calloc(n, sizeof *density);
    px_status status = share && density ? PX_OK : no_memory(mixture->d, err);
    PX_THEN(status, pxi_mixture_log(mixture, x, n, density, share, err));
    if (status == PX_OK) {
        *likelihood = 0.0;
        for (size_t i = 0; i < n; i++) {
            *likelihood += density[i];
            for (size_t k = 0; k < g; k++) /* far from everything: all have their part */
                share[i * g + k] =
                    isinf(density[i]) ? 1.0 / (double)g : exp(share[i * g + k] - density[i]);
        }
        status = mixture_maximize(mixture, x, n, ridge, share, density, err);
    }
    free(share);
    free(density);
    return status;
}

px_status pxi_mixture_fit(const double *x, size_t n, size_t d, const pxi_mixture_options *options,
                          pxi_mixture *out, px_error *err)
{
    px_status status;
    pxi_mixture mixture = {0};
    pxi_kmeans start = {0};
    double *share = NULL;
    const size_t fits = n / (d + 1);
    const pxi_kmeans_options seeding = {
        .k = fits < 1 ? 1 : (int)PX_MIN((size_t)options->g, fits),
        .restarts = MIXTURE_RESTARTS,
        .iterations = MIXTURE_SEED_ITERATIONS,
        .seed = options->seed,
        .item = options->item,
    };
    status = pxi_kmeans_fit(x, n, d, &seeding, NULL, &start, err);
    if (status != PX_OK)
        goto done;
    const size_t g = (size_t)start.k;
    share = pxi_calloc(n * g, sizeof *share);
    status = share ? mixture_alloc(&mixture, start.k, d, err) : no_memory(d, err);
    if (status != PX_OK)
        goto done;
    for (size_t i = 0; i < n; i++)
        share[i * g + (size_t)start.label[i]] = 1.0;
    status = mixture_maximize(&mixture, x, n, options->ridge, share, NULL, err);
    double before = -INFINITY;
    while (status == PX_OK && mixture.iterations < options->iterations) {
        double likelihood = 0.0;
        status = pxi_mixture_step(&mixture, x, n, options->ridge, &likelihood, err);
        mixture.likelihood = likelihood / (double)n;
        mixture.iterations++;
        if (fabs(mixture.likelihood - before) < options->tolerance)
            break;
        before = mixture.likelihood;
    }
done:
    free(share);
    pxi_kmeans_done(&start);
    if (status == PX_OK)
        *out = mixture;
    else
        pxi_mixture_done(&mixture);
    return status;
}
