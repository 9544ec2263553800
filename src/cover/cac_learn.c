/* src/cover/cac_learn.c - CAC's warm-up: ranges of neurons, and how input channels go together */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/cac.h"
#include "cover/moments.h"
#include "cover/slots.h"

#include <internal/cover.h>
#include <internal/profile.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct warm {
    const pxi_cac_net *net;
    pxi_moments moments; /* of v */
    float *v, *y;        /* [2][channels], [2][outputs]: least, largest */
    float *u;            /* scratch: contributions of a group */
    double *sum;         /* scratch: its outputs */
} warm;

static void warm_close(void *state)
{
    warm *w = state;
    if (!w)
        return;
    pxi_moments_done(&w->moments);
    free(w->v);
    free(w->y);
    free(w->u);
    free(w->sum);
    free(w);
}

static int64_t warm_bytes(const px_learner_request *request)
{
    const pxi_cac_net *net = pxi_cac_net_of(request->extractor);
    int64_t bytes = 0;
    for (size_t l = 0; net && l < net->count; l++)
        bytes +=
            net->layers[l].inputs * (net->layers[l].inputs + 1) / 2 * (int64_t)sizeof(pxi_exact);
    return bytes;
}

static px_status warm_open(const px_learner_request *request, void **state, px_error *err)
{
    const pxi_cac_net *net = pxi_cac_net_of(request->extractor);
    if (!net)
        return px_fail(err, PX_E_INTERNAL, "cac learns from its own rows only");
    warm *w = pxi_calloc(1, sizeof *w);
    int64_t *widths = pxi_calloc(net->count, sizeof *widths);
    px_status status = w && widths ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK) {
        w->net = net;
        for (size_t l = 0; l < net->count; l++)
            widths[l] = net->layers[l].inputs;
        status = pxi_moments_init(&w->moments, widths, net->count, /* scratch= */ true, err);
    }
    if (status == PX_OK) {
        w->v = pxi_calloc(2 * (size_t)net->channels, sizeof *w->v);
        w->y = pxi_calloc(2 * (size_t)net->outputs, sizeof *w->y);
        w->u = pxi_calloc((size_t)net->widest, sizeof *w->u);
        w->sum = pxi_calloc((size_t)net->outputs, sizeof *w->sum);
        if (!w->v || !w->y || !w->u || !w->sum)
            status = pxi_no_memory(err);
    }
    free(widths);
    if (status != PX_OK) {
        warm_close(w);
        return status;
    }
    for (int64_t i = 0; i < 2 * net->channels; i++)
        w->v[i] = i < net->channels ? INFINITY : -INFINITY;
    for (int64_t i = 0; i < 2 * net->outputs; i++)
        w->y[i] = i < net->outputs ? INFINITY : -INFINITY;
    *state = w;
    return PX_OK;
}

static void widen(float *range, int64_t count, int64_t i, float x)
{
    range[i] = fminf(range[i], x);
    range[count + i] = fmaxf(range[count + i], x);
}

static void warm_row(warm *w, const float *row)
{
    const pxi_cac_net *net = w->net;
    for (size_t l = 0; l < net->count; l++) {
        const pxi_cac_layer *layer = &net->layers[l];
        const int64_t pg = layer->inputs / layer->group, qg = layer->outputs / layer->group;
        for (int64_t i = 0; i < layer->inputs; i++)
            widen(w->v, net->channels, layer->v + i, row[layer->v + i]);
        for (int64_t g = 0; g < layer->group; g++) {
            pxi_cac_contributions(layer, g, row, w->u);
            for (int64_t m = 0; m < qg; m++) {
                double y = (double)layer->bias[g * qg + m];
                for (int64_t i = 0; i < pg; i++)
                    y += (double)w->u[i * qg + m];
                widen(w->y, net->outputs, layer->out + g * qg + m, (float)y);
            }
        }
    }
}

static px_status warm_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    warm *w = state;
    pxi_moments_observe(&w->moments, rows);
    for (int64_t r = 0; r < rows->count; r++)
        if (!rows->rejected[r])
            warm_row(w, pxi_row(rows, r));
    return PX_OK;
}

static px_status warm_merge(void *state, void *other, px_error *err)
{
    warm *w = state;
    const warm *o = other;
    PX_TRY(pxi_moments_merge(&w->moments, &o->moments, err));
    for (int64_t i = 0; i < w->net->channels; i++) {
        w->v[i] = fminf(w->v[i], o->v[i]);
        w->v[w->net->channels + i] = fmaxf(w->v[w->net->channels + i], o->v[w->net->channels + i]);
    }
    for (int64_t i = 0; i < w->net->outputs; i++) {
        w->y[i] = fminf(w->y[i], o->y[i]);
        w->y[w->net->outputs + i] = fmaxf(w->y[w->net->outputs + i], o->y[w->net->outputs + i]);
    }
    return PX_OK;
}

static px_status warm_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const warm *w = state;
    const px_shape v = {.rank = 2, .dim = {2, w->net->channels}};
    const px_shape y = {.rank = 2, .dim = {2, w->net->outputs}};
    PX_TRY(pxi_moments_save(&w->moments, to, prefix, err));
    PX_TRY(px_npz_put(to, prefix, "v", PX_FLOAT32, &v, w->v, err));
    return px_npz_put(to, prefix, "y", PX_FLOAT32, &y, w->y, err);
}

static px_status warm_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    warm *w = state;
    const px_shape v = {.rank = 2, .dim = {2, w->net->channels}};
    const px_shape y = {.rank = 2, .dim = {2, w->net->outputs}};
    const void *of_v, *of_y;
    PX_TRY(pxi_moments_load(&w->moments, from, prefix, err));
    PX_TRY(px_npz_take(from, prefix, "v", PX_FLOAT32, &v, &of_v, NULL, err));
    PX_TRY(px_npz_take(from, prefix, "y", PX_FLOAT32, &y, &of_y, NULL, err));
    memcpy(w->v, of_v, 2 * (size_t)w->net->channels * sizeof *w->v);
    memcpy(w->y, of_y, 2 * (size_t)w->net->outputs * sizeof *w->y);
    return PX_OK;
}

/* 1 - alpha, of one layer, within its groups; returns where the next layer's starts. */
static px_status layer_keep(const warm *w, size_t l, float **to, px_error *err)
{
    const pxi_cac_layer *layer = &w->net->layers[l];
    const int64_t p = layer->inputs, pg = p / layer->group;
    double *cov = pxi_calloc((size_t)(p * (p + 1) / 2), sizeof *cov);
    double *alpha = pxi_calloc((size_t)(p * p), sizeof *alpha);
    if (cov && alpha) {
        pxi_moments_covariance(&w->moments, l, 0, NULL, cov);
        pxi_cac_alpha(cov, p, alpha);
        for (int64_t n = 0; n < p; n++)
            for (int64_t i = 0; i < pg; i++)
                *(*to)++ = (float)(1.0 - alpha[n * p + n / pg * pg + i]);
    }
    const bool done = cov && alpha;
    free(cov);
    free(alpha);
    return done ? PX_OK : pxi_no_memory(err);
}

static px_status warm_finish(void *state, px_profile *to, const char *section, px_error *err)
{
    warm *w = state;
    const pxi_cac_net *net = w->net;
    int64_t kept = 0;
    if (w->moments.lost)
        return px_fail(err, PX_E_INPUT,
                       "means of channels are too large to be added up exactly; is the network's "
                       "input scaled as it should be?");
    for (size_t l = 0; l < net->count; l++)
        kept += net->layers[l].inputs * (net->layers[l].inputs / net->layers[l].group);
    const px_shape of_v = {.rank = 2, .dim = {2, net->channels}};
    const px_shape of_y = {.rank = 2, .dim = {2, net->outputs}};
    const px_shape of_keep = {.rank = 1, .dim = {kept}};
    px_tensor v = {0}, y = {0}, keep = {0};
    px_status status = px_tensor_init(&v, PX_FLOAT32, &of_v, err);
    PX_THEN(status, px_tensor_init(&y, PX_FLOAT32, &of_y, err));
    PX_THEN(status, px_tensor_init(&keep, PX_FLOAT32, &of_keep, err));
    float *next = keep.data;
    for (size_t l = 0; status == PX_OK && l < net->count; l++)
        status = layer_keep(w, l, &next, err);
    if (status == PX_OK) {
        memcpy(v.data, w->v, px_tensor_bytes(&v));
        memcpy(y.data, w->y, px_tensor_bytes(&y));
        status = px_profile_put(to, section, "v", &v, err);
    }
    PX_THEN(status, px_profile_put(to, section, "y", &y, err));
    PX_THEN(status, px_profile_put(to, section, "keep", &keep, err));
    px_tensor_done(&v);
    px_tensor_done(&y);
    px_tensor_done(&keep);
    return status;
}

const px_learner pxi_learner_cac = {
    .id = "edges",
    .help = "ranges of neurons, and how the input channels of a layer go together",
    .bytes = warm_bytes,
    .open = warm_open,
    .close = warm_close,
    .observe = warm_observe,
    .merge = warm_merge,
    .save = warm_save,
    .load = warm_load,
    .finish = warm_finish,
};
