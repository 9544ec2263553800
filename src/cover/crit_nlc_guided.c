/* src/cover/crit_nlc_guided.c - NLC as fuzzers use it: only what widens a layer is taken in
 *
 * Yuan et al., NeuraL-Coverage (ICSE 2023); CSM A.11, guided mode. Each input is tried on each
 * layer by itself; it moves the layer's mean and covariance only if that raises the layer's norm.
 * The value never falls and depends on the order of inputs. The first input of a layer is always
 * taken: its covariance is 0, and so is its gain. A merge tries the other state's layers as one
 * batch each, by the same rule.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/nlc.h"

#include "base/memory.h"
#include "cover/moments.h"
#include "cover/slots.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct guided_layer {
    int64_t width;           /* m */
    int64_t neuron, product; /* where its mean and its covariance start */
    int64_t count;           /* of inputs it took */
    double norm;             /* sum of the absolute covariances */
} guided_layer;

typedef struct guided_state {
    const pxi_nlc_prepared *prepared; /* NULL: from a file alone */
    guided_layer *layers;
    size_t layer_count;
    int64_t neurons, products, widest;
    double *mean, *cov;
    double *scratch; /* [widest] */
    bool sum;
    int64_t start;
} guided_state;

static void guided_clear(guided_state *guided)
{
    free(guided->layers);
    free(guided->mean);
    free(guided->cov);
    free(guided->scratch);
    guided->layers = NULL;
    guided->mean = guided->cov = guided->scratch = NULL;
    guided->layer_count = 0;
}

static void guided_close(void *state)
{
    if (state)
        guided_clear(state);
    free(state);
}

/* Layers of these widths, without inputs. */
static px_status guided_make(guided_state *guided, const int64_t *widths, size_t layers,
                             px_error *err)
{
    PX_TRY(PX_NEW(guided->layers, layers, err));
    guided->layer_count = layers;
    guided->neurons = guided->products = guided->widest = 0;
    for (size_t l = 0; l < layers; l++) {
        const int64_t m = widths[l];
        if (m < 1 || m > PXI_MOMENTS_WIDEST)
            return px_fail(err, PX_E_USAGE,
                           "layer %zu has %" PRId64 " neurons; a covariance of more than %d is out "
                           "of reach: take --neurons chan, or leave the layer out (--layers)",
                           l, m, PXI_MOMENTS_WIDEST);
        guided->layers[l] = (guided_layer){.width = m,
                                           .neuron = guided->neurons,
                                           .product = guided->products,
                                           .count = guided->start};
        guided->neurons += m;
        guided->products += m * (m + 1) / 2;
        guided->widest = PX_MAX(guided->widest, m);
    }
    PX_TRY(PX_NEW(guided->mean, guided->neurons, err));
    PX_TRY(PX_NEW(guided->cov, guided->products, err));
    PX_TRY(PX_NEW(guided->scratch, guided->widest, err));
    return PX_OK;
}

static px_status guided_open(const void *prepared, void **state, px_error *err)
{
    guided_state *guided = NULL;
    PX_TRY(PX_NEW(guided, 1, err));
    px_status status = PX_OK;
    if (prepared) {
        guided->prepared = prepared;
        guided->sum = guided->prepared->sum;
        guided->start = guided->prepared->start;
        const px_extractor *extractor = guided->prepared->extractor;
        int64_t *widths = pxi_calloc(extractor->layer_count, sizeof *widths);
        for (size_t l = 0; widths && l < extractor->layer_count; l++)
            widths[l] = extractor->layers[l].count;
        status =
            widths ? guided_make(guided, widths, extractor->layer_count, err) : pxi_no_memory(err);
        free(widths);
    }
    if (status != PX_OK)
        guided_close(guided);
    else
        *state = guided;
    return status;
}

/* The norm with one more input; d gets its distance from the mean. */
static double guided_try(const guided_state *guided, const guided_layer *layer, const float *row,
                         double *d)
{
    const double *mean = guided->mean + layer->neuron;
    const float *x = row + layer->neuron;
    for (int64_t n = 0; n < layer->width; n++)
        d[n] = mean[n] - (double)x[n];
    return pxi_covariance_norm_with(guided->cov + layer->product, layer->width, d,
                                    1.0 / (double)(layer->count + 1));
}

static px_status guided_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    guided_state *guided = state;
    for (int64_t i = 0; i < rows->count; i++)
        for (size_t l = 0; !rows->rejected[i] && l < guided->layer_count; l++) {
            guided_layer *layer = &guided->layers[l];
            const double norm = guided_try(guided, layer, pxi_row(rows, i), guided->scratch);
            if (layer->count > 0 && !(norm > layer->norm))
                continue;
            const double w = 1.0 / (double)++layer->count;
            double *mean = guided->mean + layer->neuron;
            pxi_covariance_add(guided->cov + layer->product, layer->width, guided->scratch, w);
            for (int64_t n = 0; n < layer->width; n++)
                mean[n] -= w * guided->scratch[n];
            layer->norm = norm;
        }
    return PX_OK;
}

enum { GUIDED_STACK = 1024 };

static double guided_gain(const void *state, const px_rows *rows, int64_t i)
{
    const guided_state *guided = state;
    if (rows->rejected[i])
        return 0.0;
    double near[GUIDED_STACK];
    double *d = near;
    if (guided->widest > GUIDED_STACK && !(d = pxi_calloc((size_t)guided->widest, sizeof *d)))
        return NAN;
    double gain = 0.0;
    for (size_t l = 0; l < guided->layer_count; l++) {
        const guided_layer *layer = &guided->layers[l];
        const double more = guided_try(guided, layer, pxi_row(rows, i), d) - layer->norm;
        if (layer->count > 0 && more > 0.0)
            gain += pxi_nlc_part(more, layer->width, guided->sum);
    }
    if (d != near)
        free(d);
    return gain;
}

/* The layer with another's inputs as one batch (Chan): mean [m] and covariance are written to
 * mean_out and cov_out, the norm is returned. `from` has inputs; its share of inputs at zero is
 * taken out again, since this layer has its own. */
static double guided_joined(const guided_state *guided, const guided_layer *layer,
                            const guided_state *more, const guided_layer *from, double *mean_out,
                            double *cov_out)
{
    const int64_t count = from->count - more->start;
    const double w = (double)count / (double)(layer->count + count);
    const double scale = (double)from->count / (double)count; /* 1 where none was at zero */
    const double *m1 = guided->mean + layer->neuron, *s1 = guided->cov + layer->product;
    const double *m2 = more->mean + from->neuron, *s2 = more->cov + from->product;
    double norm = 0.0;
    for (int64_t i = 0; i < layer->width; i++) {
        for (int64_t j = 0; j <= i; j++) {
            const double s = scale * *s2++ - scale * (scale - 1.0) * m2[i] * m2[j];
            const double c = (1.0 - w) * *s1++ + w * s +
                             w * (1.0 - w) * (m1[i] - scale * m2[i]) * (m1[j] - scale * m2[j]);
            *cov_out++ = c;
            norm += (j < i ? 2.0 : 1.0) * fabs(c);
        }
        mean_out[i] = (1.0 - w) * m1[i] + w * scale * m2[i];
    }
    return norm;
}

static px_status guided_merge(void *state, const void *other, px_error *err)
{
    guided_state *guided = state;
    const guided_state *more = other;
    bool same = guided->layer_count == more->layer_count && guided->sum == more->sum &&
                guided->start == more->start;
    for (size_t l = 0; same && l < guided->layer_count; l++)
        same = guided->layers[l].width == more->layers[l].width;
    if (!same)
        return px_fail(err, PX_E_MISMATCH, "the two states are of other layers or settings");
    double *mean = pxi_calloc((size_t)guided->widest, sizeof *mean);
    double *cov = pxi_calloc((size_t)(guided->widest * (guided->widest + 1) / 2), sizeof *cov);
    if (!mean || !cov) {
        free(mean);
        free(cov);
        return pxi_no_memory(err);
    }
    for (size_t l = 0; l < guided->layer_count; l++) {
        guided_layer *layer = &guided->layers[l];
        const guided_layer *from = &more->layers[l];
        const size_t m = (size_t)layer->width;
        if (from->count <= more->start)
            continue;
        double norm = from->norm;
        const double *new_mean = more->mean + from->neuron, *new_cov = more->cov + from->product;
        if (layer->count > guided->start) {
            norm = guided_joined(guided, layer, more, from, mean, cov);
            new_mean = mean;
            new_cov = cov;
        }
        if (layer->count > guided->start && !(norm > layer->norm))
            continue;
        memcpy(guided->mean + layer->neuron, new_mean, m * sizeof *mean);
        memcpy(guided->cov + layer->product, new_cov, m * (m + 1) / 2 * sizeof *cov);
        layer->count += from->count - more->start;
        layer->norm = norm;
    }
    free(mean);
    free(cov);
    return PX_OK;
}

static px_coverage guided_layer_value(const void *state, size_t layer)
{
    const guided_state *guided = state;
    const guided_layer *which = &guided->layers[layer];
    return (px_coverage){.value = pxi_nlc_part(which->norm, which->width, guided->sum)};
}

static px_coverage guided_value(const void *state)
{
    const guided_state *guided = state;
    px_coverage all = {0};
    for (size_t l = 0; l < guided->layer_count; l++)
        all.value += guided_layer_value(state, l).value;
    return all;
}

static px_status guided_save(const void *state, px_npz_writer *to, const char *prefix,
                             px_error *err)
{
    const guided_state *guided = state;
    const px_shape two = {.rank = 1, .dim = {2}};
    const px_shape layers = {.rank = 1, .dim = {(int64_t)guided->layer_count}};
    const px_shape pairs = {.rank = 2, .dim = {(int64_t)guided->layer_count, 2}};
    const px_shape means = {.rank = 1, .dim = {guided->neurons}};
    const px_shape covs = {.rank = 1, .dim = {guided->products}};
    const int64_t settings[] = {guided->sum, guided->start};
    int64_t *sizes = pxi_calloc(2 * guided->layer_count, sizeof *sizes);
    double *norms = pxi_calloc(guided->layer_count, sizeof *norms);
    px_status status = PX_OK;
    if (!sizes || !norms) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t l = 0; l < guided->layer_count; l++) {
        sizes[2 * l] = guided->layers[l].width;
        sizes[2 * l + 1] = guided->layers[l].count;
        norms[l] = guided->layers[l].norm;
    }
    status = px_npz_put(to, prefix, "settings", PX_INT64, &two, settings, err);
    PX_THEN(status, px_npz_put(to, prefix, "sizes", PX_INT64, &pairs, sizes, err));
    PX_THEN(status, px_npz_put(to, prefix, "norms", PX_FLOAT64, &layers, norms, err));
    PX_THEN(status, px_npz_put(to, prefix, "means", PX_FLOAT64, &means, guided->mean, err));
    PX_THEN(status, px_npz_put(to, prefix, "covariances", PX_FLOAT64, &covs, guided->cov, err));
done:
    free(norms);
    free(sizes);
    return status;
}

static bool all_finite(const double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Whether widths add up to the arrays of the file, and counts make sense. */
static bool guided_sizes_fit(const int64_t *sizes, int64_t layers, int64_t neurons,
                             int64_t products, int64_t start)
{
    for (int64_t l = 0; l < layers; l++) {
        const int64_t m = sizes[2 * l], count = sizes[2 * l + 1];
        if (m < 1 || m > PXI_MOMENTS_WIDEST || m > neurons || m * (m + 1) / 2 > products ||
            count < start || count > (int64_t)1 << 48)
            return false;
        neurons -= m;
        products -= m * (m + 1) / 2;
    }
    return layers > 0 && neurons == 0 && products == 0;
}

static px_status guided_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    guided_state *guided = state;
    const px_shape two = {.rank = 1, .dim = {2}}, any = {.rank = 1, .dim = {-1}};
    const px_shape pairs = {.rank = 2, .dim = {-1, 2}};
    const void *settings, *sizes, *norms, *means, *covs;
    px_shape layers, neurons, products;
    PX_TRY(px_npz_take(from, prefix, "settings", PX_INT64, &two, &settings, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "sizes", PX_INT64, &pairs, &sizes, &layers, err));
    const px_shape per_layer = {.rank = 1, .dim = {layers.dim[0]}};
    PX_TRY(px_npz_take(from, prefix, "norms", PX_FLOAT64, &per_layer, &norms, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "means", PX_FLOAT64, &any, &means, &neurons, err));
    PX_TRY(px_npz_take(from, prefix, "covariances", PX_FLOAT64, &any, &covs, &products, err));
    const int64_t *setting = settings, *size = sizes;
    if (setting[0] < 0 || setting[0] > 1 || setting[1] < 0 || setting[1] > 1 ||
        !guided_sizes_fit(size, layers.dim[0], neurons.dim[0], products.dim[0], setting[1]) ||
        !all_finite(norms, layers.dim[0]) || !all_finite(means, neurons.dim[0]) ||
        !all_finite(covs, products.dim[0]))
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: its numbers do not fit", prefix);
    bool same = guided->prepared && (int64_t)guided->layer_count == layers.dim[0] &&
                setting[0] == guided->sum && setting[1] == guided->start;
    for (size_t l = 0; same && l < guided->layer_count; l++)
        same = guided->layers[l].width == size[2 * l];
    if (guided->prepared && !same)
        return px_fail(err, PX_E_MISMATCH, "'%.100s' is of other layers or settings", prefix);
    if (!guided->prepared) {
        guided_clear(guided);
        guided->sum = setting[0] != 0;
        guided->start = setting[1];
        int64_t *widths = pxi_calloc((size_t)layers.dim[0], sizeof *widths);
        for (int64_t l = 0; widths && l < layers.dim[0]; l++)
            widths[l] = size[2 * l];
        const px_status status =
            widths ? guided_make(guided, widths, (size_t)layers.dim[0], err) : pxi_no_memory(err);
        free(widths);
        PX_TRY(status);
    }
    for (size_t l = 0; l < guided->layer_count; l++) {
        guided->layers[l].count = size[2 * l + 1];
        guided->layers[l].norm = ((const double *)norms)[l];
    }
    memcpy(guided->mean, means, (size_t)guided->neurons * sizeof *guided->mean);
    memcpy(guided->cov, covs, (size_t)guided->products * sizeof *guided->cov);
    return PX_OK;
}

const px_criterion px_criterion_nlc_guided = {
    .entry = {.id = "nlc-guided",
              .title = "layer-wise distribution coverage, guided",
              .source = "Yuan et al., NeuraL-Coverage, ICSE 2023",
              .params = pxi_nlc_params,
              .config_size = sizeof(pxi_nlc_config)},
    .unit = "",
    .tap = PX_TAP_PRE,
    .neurons = PX_VIEW_CHAN,
    .ordered = true,
    .extract = pxi_nlc_extract,
    .prepare = pxi_nlc_prepare,
    .release = free,
    .open = guided_open,
    .close = guided_close,
    .observe = guided_observe,
    .gain = guided_gain,
    .merge = guided_merge,
    .value = guided_value,
    .layer_value = guided_layer_value,
    .save = guided_save,
    .load = guided_load,
};
