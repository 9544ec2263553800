/* src/cover/crit_nlc.c - NLC, layer-wise distribution coverage
 *
 * Yuan et al., NeuraL-Coverage (ICSE 2023); CSM A.11. NLC = sum over layers of
 * (1 / m^2) sum_ij |S_ij|, S the population covariance of the layer's m neurons over all inputs:
 * channel means before normalisation and activation. Not a share; it can shrink as inputs come.
 * `norm=sum` leaves out the division (NSGen's code), `start=1` counts one input at zero before the
 * first. crit_nlc_guided.c is the form for fuzzing.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/nlc.h"

#include "base/memory.h"
#include "cover/extract_windows.h"
#include "cover/moments.h"
#include "cover/slots.h"

#include <internal/cover.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static const char *const nlc_norms[] = {"mean", "sum", NULL};

const px_param pxi_nlc_params[] = {
    PX_PARAM_CHOICE(pxi_nlc_config, norm, 0, nlc_norms,
                    "of a layer's covariance: mean of the absolute values, or their sum "
                    "(code of NSGen)"),
    PX_PARAM_INT(pxi_nlc_config, start, 0, 0, 1, "inputs at zero that count before the first"),
    PX_PARAM_END,
};

px_status pxi_nlc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const pxi_nlc_config *config = request->config;
    pxi_nlc_prepared *prepared = NULL;
    PX_TRY(PX_NEW(prepared, 1, err));
    *prepared = (pxi_nlc_prepared){
        .extractor = request->extractor, .sum = config->norm != 0, .start = config->start};
    *out = prepared;
    return PX_OK;
}

px_status pxi_nlc_extract(const px_model *model, const px_probe_options *options,
                          const void *config, px_extractor **out, px_error *err)
{
    (void)config;
    return pxi_extractor_windows(model, options, out, err);
}

size_t pxi_nlc_bytes(const pxi_nlc_prepared *prepared)
{
    size_t bytes = 0;
    for (size_t l = 0; l < prepared->extractor->layer_count; l++) {
        const size_t m = (size_t)prepared->extractor->layers[l].count;
        bytes += m * (m + 1) / 2 * sizeof(pxi_exact);
    }
    return bytes;
}

typedef struct nlc_state {
    const pxi_nlc_prepared *prepared; /* NULL: from a file alone */
    pxi_moments moments;
    bool sum;
    int64_t start;
    /* For gain(): the covariances as they are, made when first asked for after a change. Several
     * threads may ask; `fresh` is set once all of it can be read. */
    pthread_mutex_t lock;
    atomic_bool fresh;
    double *mean, *cov, *norm; /* as moments.sum and moments.product lie; per layer */
} nlc_state;

static void nlc_close(void *state)
{
    nlc_state *nlc = state;
    if (!nlc)
        return;
    pxi_moments_done(&nlc->moments);
    pthread_mutex_destroy(&nlc->lock);
    free(nlc->mean);
    free(nlc->cov);
    free(nlc->norm);
    free(nlc);
}

static px_status nlc_open(const void *prepared, void **state, px_error *err)
{
    nlc_state *nlc = NULL;
    PX_TRY(PX_NEW(nlc, 1, err));
    pthread_mutex_init(&nlc->lock, NULL);
    px_status status = PX_OK;
    if (prepared) {
        nlc->prepared = prepared;
        nlc->sum = nlc->prepared->sum;
        nlc->start = nlc->prepared->start;
        const px_extractor *extractor = nlc->prepared->extractor;
        int64_t *widths = pxi_calloc(extractor->layer_count, sizeof *widths);
        for (size_t l = 0; widths && l < extractor->layer_count; l++)
            widths[l] = extractor->layers[l].count;
        status = widths ? pxi_moments_init(&nlc->moments, widths, extractor->layer_count, true, err)
                        : pxi_no_memory(err);
        free(widths);
    }
    if (status != PX_OK)
        nlc_close(nlc);
    else
        *state = nlc;
    return status;
}

static px_status nlc_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    nlc_state *nlc = state;
    pxi_moments_observe(&nlc->moments, rows);
    atomic_store(&nlc->fresh, false);
    return PX_OK;
}

/* Whether mean, cov and norm are there; false: out of memory. */
static bool nlc_digest(nlc_state *nlc)
{
    if (atomic_load_explicit(&nlc->fresh, memory_order_acquire))
        return true;
    pthread_mutex_lock(&nlc->lock);
    const pxi_moments *moments = &nlc->moments;
    if (!nlc->cov) {
        nlc->mean = pxi_calloc((size_t)moments->neurons, sizeof *nlc->mean);
        nlc->cov = pxi_calloc((size_t)moments->products, sizeof *nlc->cov);
        nlc->norm = pxi_calloc(moments->layer_count, sizeof *nlc->norm);
        if (!nlc->mean || !nlc->cov || !nlc->norm) {
            free(nlc->mean);
            free(nlc->cov);
            free(nlc->norm);
            nlc->mean = nlc->cov = nlc->norm = NULL;
        }
    }
    const bool there = nlc->cov != NULL;
    if (there && !atomic_load(&nlc->fresh)) {
        for (size_t l = 0; l < moments->layer_count; l++)
            nlc->norm[l] = pxi_moments_covariance(moments, l, nlc->start,
                                                  nlc->mean + moments->layers[l].neuron,
                                                  nlc->cov + moments->layers[l].product);
        atomic_store_explicit(&nlc->fresh, true, memory_order_release);
    }
    pthread_mutex_unlock(&nlc->lock);
    return there;
}

enum { NLC_STACK = 1024 }; /* neurons of a layer whose distances lie on the stack */

static double nlc_gain(const void *state, const px_rows *rows, int64_t i)
{
    /* Behind the lock the digest may be made for a state that is otherwise only read. */
    nlc_state *nlc = (nlc_state *)state;
    if (rows->rejected[i])
        return 0.0;
    if (nlc->moments.lost || !nlc_digest(nlc))
        return NAN;
    double near[NLC_STACK];
    double *d = near;
    if (nlc->moments.widest > NLC_STACK &&
        !(d = pxi_calloc((size_t)nlc->moments.widest, sizeof *d)))
        return NAN;
    const double w = 1.0 / (double)(nlc->moments.count + nlc->start + 1);
    double gain = 0.0;
    for (size_t l = 0; l < nlc->moments.layer_count; l++) {
        const pxi_moments_layer *layer = &nlc->moments.layers[l];
        const float *x = pxi_row(rows, i) + layer->neuron;
        for (int64_t n = 0; n < layer->width; n++)
            d[n] = nlc->mean[layer->neuron + n] - (double)x[n];
        const double after =
            pxi_covariance_norm_with(nlc->cov + layer->product, layer->width, d, w);
        gain += pxi_nlc_part(after - nlc->norm[l], layer->width, nlc->sum);
    }
    if (d != near)
        free(d);
    return gain;
}

static px_status nlc_merge(void *state, const void *other, px_error *err)
{
    nlc_state *nlc = state;
    const nlc_state *more = other;
    if (nlc->sum != more->sum || nlc->start != more->start)
        return px_fail(err, PX_E_MISMATCH, "the two states are of other settings");
    PX_TRY(pxi_moments_merge(&nlc->moments, &more->moments, err));
    atomic_store(&nlc->fresh, false);
    return PX_OK;
}

static px_coverage nlc_layer_value(const void *state, size_t layer)
{
    const nlc_state *nlc = state;
    if (nlc->moments.lost)
        return (px_coverage){.value = NAN};
    const double norm = pxi_moments_covariance(&nlc->moments, layer, nlc->start, NULL, NULL);
    return (px_coverage){.value = pxi_nlc_part(norm, nlc->moments.layers[layer].width, nlc->sum)};
}

static px_coverage nlc_value(const void *state)
{
    const nlc_state *nlc = state;
    px_coverage all = {0};
    for (size_t l = 0; l < nlc->moments.layer_count; l++)
        all.value += nlc_layer_value(state, l).value;
    return all;
}

static void nlc_remark(const void *state, px_text *text)
{
    if (((const nlc_state *)state)->moments.lost)
        px_text_add(text, "nlc: some neuron values are so large (beyond 4e10) that there is no "
                          "covariance\n");
}

static px_status nlc_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const nlc_state *nlc = state;
    const px_shape two = {.rank = 1, .dim = {2}};
    const int64_t settings[] = {nlc->sum, nlc->start};
    PX_TRY(px_npz_put(to, prefix, "settings", PX_INT64, &two, settings, err));
    return pxi_moments_save(&nlc->moments, to, prefix, err);
}

static px_status nlc_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    nlc_state *nlc = state;
    const px_shape two = {.rank = 1, .dim = {2}};
    const void *values;
    PX_TRY(px_npz_take(from, prefix, "settings", PX_INT64, &two, &values, NULL, err));
    const int64_t *settings = values;
    if (settings[0] < 0 || settings[0] > 1 || settings[1] < 0 || settings[1] > 1)
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: its settings make no sense", prefix);
    if (nlc->prepared && (settings[0] != nlc->sum || settings[1] != nlc->start))
        return px_fail(err, PX_E_MISMATCH, "'%.100s' is of other settings", prefix);
    PX_TRY(pxi_moments_load(&nlc->moments, from, prefix, err));
    nlc->sum = settings[0] != 0;
    nlc->start = settings[1];
    atomic_store(&nlc->fresh, false);
    return PX_OK;
}

const px_criterion px_criterion_nlc = {
    .entry = {.id = "nlc",
              .title = "layer-wise distribution coverage",
              .source = "Yuan et al., NeuraL-Coverage, ICSE 2023",
              .params = pxi_nlc_params,
              .config_size = sizeof(pxi_nlc_config)},
    .unit = "",
    .tap = PX_TAP_PRE,
    .neurons = PX_VIEW_CHAN,
    .extract = pxi_nlc_extract,
    .prepare = pxi_nlc_prepare,
    .release = free,
    .open = nlc_open,
    .close = nlc_close,
    .observe = nlc_observe,
    .gain = nlc_gain,
    .merge = nlc_merge,
    .value = nlc_value,
    .layer_value = nlc_layer_value,
    .remark = nlc_remark,
    .save = nlc_save,
    .load = nlc_load,
};
