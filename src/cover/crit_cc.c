/* src/cover/crit_cc.c - CC, cluster coverage: how many inputs are far from all that came before
 *
 * Odena et al., TensorFuzz (ICML 2019); CSM A.7. Per layer a list of centres: an input whose layer
 * vector has a squared Euclidean distance above t to every centre becomes one. CC = centres of all
 * layers. The logits alone by default, as in TensorFuzz; NLC's and NSGen's code takes every layer
 * (--layers). Depends on the order of inputs. A merge inserts the centres of the other state by the
 * same rule: a packing as good as any, but not the one a single run would have found.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/clusters.h"
#include "cover/slots.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct cc_config {
    double t;
} cc_config;

static const px_param cc_params[] = {
    PX_PARAM_REAL(cc_config, t, 10, 0, 1e30,
                  "squared distance to all centres beyond which an input is a new one; papers "
                  "take about the number of classes"),
    PX_PARAM_END,
};

typedef struct cc_prepared {
    const px_extractor *extractor;
    double t;
} cc_prepared;

typedef struct cc_state {
    const cc_prepared *prepared; /* NULL: from a file alone */
    pxi_clusters *layers;
    size_t count;
    double t;
} cc_state;

static px_status cc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const cc_config *config = request->config;
    cc_prepared *prepared = NULL;
    PX_TRY(PX_NEW(prepared, 1, err));
    *prepared = (cc_prepared){.extractor = request->extractor, .t = config->t};
    *out = prepared;
    return PX_OK;
}

static void cc_clear(cc_state *cc)
{
    for (size_t l = 0; cc->layers && l < cc->count; l++)
        pxi_clusters_done(&cc->layers[l]);
    free(cc->layers);
    cc->layers = NULL;
    cc->count = 0;
}

static void cc_close(void *state)
{
    if (state)
        cc_clear(state);
    free(state);
}

static px_status cc_open(const void *prepared, void **state, px_error *err)
{
    cc_state *cc = pxi_calloc(1, sizeof *cc);
    if (cc && prepared) {
        cc->prepared = prepared;
        cc->t = cc->prepared->t;
        const px_extractor *extractor = cc->prepared->extractor;
        cc->layers = pxi_calloc(extractor->layer_count, sizeof *cc->layers);
        cc->count = extractor->layer_count;
        for (size_t l = 0; cc->layers && l < cc->count; l++)
            cc->layers[l].dim = extractor->layers[l].count;
    }
    if (!cc || (prepared && !cc->layers)) {
        free(cc);
        return pxi_no_memory(err);
    }
    *state = cc;
    return PX_OK;
}

static px_status cc_observe(void *state, const px_rows *rows, px_error *err)
{
    cc_state *cc = state;
    for (int64_t i = 0; i < rows->count; i++)
        for (size_t l = 0; !rows->rejected[i] && l < cc->count; l++) {
            const float *x = pxi_row(rows, i) + cc->prepared->extractor->layers[l].offset;
            if (!pxi_clusters_near(&cc->layers[l], x, cc->t))
                PX_TRY(pxi_clusters_add(&cc->layers[l], x, err));
        }
    return PX_OK;
}

static double cc_gain(const void *state, const px_rows *rows, int64_t i)
{
    const cc_state *cc = state;
    int64_t gain = 0;
    for (size_t l = 0; !rows->rejected[i] && l < cc->count; l++) {
        const float *x = pxi_row(rows, i) + cc->prepared->extractor->layers[l].offset;
        gain += !pxi_clusters_near(&cc->layers[l], x, cc->t);
    }
    return (double)gain;
}

static px_status cc_insert(pxi_clusters *into, const pxi_clusters *from, double t, px_error *err)
{
    if (from->count == 0)
        return PX_OK;
    float *x = NULL;
    px_status status = PX_NEW(x, from->dim, err);
    for (int64_t i = 0; status == PX_OK && i < from->count; i++) {
        pxi_clusters_get(from, i, x);
        if (!pxi_clusters_near(into, x, t))
            status = pxi_clusters_add(into, x, err);
    }
    free(x);
    return status;
}

static px_status cc_merge(void *state, const void *other, px_error *err)
{
    cc_state *cc = state;
    const cc_state *more = other;
    bool same = cc->count == more->count && cc->t == more->t;
    for (size_t l = 0; same && l < cc->count; l++)
        same = cc->layers[l].dim == more->layers[l].dim;
    if (!same)
        return px_fail(err, PX_E_MISMATCH, "the two states are of other layers or thresholds");
    for (size_t l = 0; l < cc->count; l++)
        PX_TRY(cc_insert(&cc->layers[l], &more->layers[l], cc->t, err));
    return PX_OK;
}

static px_coverage cc_layer_value(const void *state, size_t layer)
{
    const int64_t count = ((const cc_state *)state)->layers[layer].count;
    return (px_coverage){.value = (double)count, .covered = count};
}

static px_coverage cc_value(const void *state)
{
    const cc_state *cc = state;
    int64_t count = 0;
    for (size_t l = 0; l < cc->count; l++)
        count += cc->layers[l].count;
    return (px_coverage){.value = (double)count, .covered = count};
}

/* All centres in one array, layer after layer, each [count][dim]. */
static px_status cc_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const cc_state *cc = state;
    int64_t *sizes = pxi_calloc(2 * cc->count, sizeof *sizes), total = 0;
    for (size_t l = 0; l < cc->count; l++)
        total += cc->layers[l].count * cc->layers[l].dim;
    float *all = pxi_calloc((size_t)PX_MAX(total, 1), sizeof *all), *next = all;
    px_status status = PX_OK;
    if (!sizes || !all) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t l = 0; l < cc->count; l++) {
        const pxi_clusters *layer = &cc->layers[l];
        sizes[2 * l] = layer->count;
        sizes[2 * l + 1] = layer->dim;
        for (int64_t i = 0; i < layer->count; i++, next += layer->dim)
            pxi_clusters_get(layer, i, next);
    }
    const px_shape one = {.rank = 1, .dim = {1}}, of_all = {.rank = 1, .dim = {total}};
    const px_shape of_sizes = {.rank = 2, .dim = {(int64_t)cc->count, 2}};
    status = px_npz_put(to, prefix, "t", PX_FLOAT64, &one, &cc->t, err);
    PX_THEN(status, px_npz_put(to, prefix, "sizes", PX_INT64, &of_sizes, sizes, err));
    PX_THEN(status, px_npz_put(to, prefix, "centres", PX_FLOAT32, &of_all, all, err));
done:
    free(all);
    free(sizes);
    return status;
}

/* Whether counts and widths of `layers` layers add up to `total` numbers. */
static bool cc_sizes_fit(const int64_t *sizes, int64_t layers, int64_t total)
{
    for (int64_t l = 0; l < layers; l++) {
        const int64_t count = sizes[2 * l], dim = sizes[2 * l + 1];
        if (count < 0 || dim < 1 || dim > INT32_MAX || count > total / dim)
            return false;
        total -= count * dim;
    }
    return layers > 0 && total == 0;
}

static px_status cc_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    cc_state *cc = state;
    const px_shape one = {.rank = 1, .dim = {1}}, any = {.rank = 1, .dim = {-1}};
    const px_shape pairs = {.rank = 2, .dim = {-1, 2}};
    const void *t, *sizes, *centres;
    px_shape layers, total;
    PX_TRY(px_npz_take(from, prefix, "t", PX_FLOAT64, &one, &t, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "sizes", PX_INT64, &pairs, &sizes, &layers, err));
    PX_TRY(px_npz_take(from, prefix, "centres", PX_FLOAT32, &any, &centres, &total, err));
    const int64_t *size = sizes;
    const float *x = centres;
    const double threshold = *(const double *)t;
    bool sound =
        threshold >= 0.0 && isfinite(threshold) && cc_sizes_fit(size, layers.dim[0], total.dim[0]);
    for (int64_t i = 0; sound && i < total.dim[0]; i++)
        sound = isfinite(x[i]);
    if (!sound)
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: sizes and centres do not fit",
                       prefix);
    bool same = !cc->prepared || (cc->count == (size_t)layers.dim[0] && cc->t == threshold);
    for (size_t l = 0; same && cc->prepared && l < cc->count; l++)
        same = cc->layers[l].dim == size[2 * l + 1];
    if (!same)
        return px_fail(err, PX_E_MISMATCH, "'%.100s' is of other layers or another threshold",
                       prefix);
    cc_clear(cc);
    PX_TRY(PX_NEW(cc->layers, (size_t)layers.dim[0], err));
    cc->count = (size_t)layers.dim[0];
    cc->t = threshold;
    for (size_t l = 0; l < cc->count; l++) {
        cc->layers[l].dim = size[2 * l + 1];
        for (int64_t i = 0; i < size[2 * l]; i++, x += cc->layers[l].dim)
            PX_TRY(pxi_clusters_add(&cc->layers[l], x, err));
    }
    return PX_OK;
}

const px_criterion px_criterion_cc = {
    .entry = {.id = "cc",
              .title = "cluster coverage",
              .source = "Odena et al., TensorFuzz, ICML 2019",
              .params = cc_params,
              .config_size = sizeof(cc_config)},
    .unit = "centres",
    .layers = "logits",
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .ordered = true,
    .prepare = cc_prepare,
    .release = free,
    .open = cc_open,
    .close = cc_close,
    .observe = cc_observe,
    .gain = cc_gain,
    .merge = cc_merge,
    .value = cc_value,
    .layer_value = cc_layer_value,
    .save = cc_save,
    .load = cc_load,
};
