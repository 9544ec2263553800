/* src/cover/crit_nc.c - NC, neuron coverage: NC(T, t) = |{n : some x in T has g(x, n) > t}| / |N|
 *
 * Pei et al., DeepXplore (SOSP 2017); CSM A.1. The literature means five things by g:
 *   raw       the neuron's value (dnn-tip; "NAC" of NSS; Revisiting eq. 5-6)
 *   scaled    the layer's tensor min-max scaled per input, then channel means: DeepXplore
 *   rescaled  channel means, then min-max scaled per input: the code of NLC and NSGen
 *   suite     scaled by the layer's extremes over the whole suite: nc_suite.h
 *   sigmoid   1 / (1 + exp(-value)): DeepGini's and ATS's code
 * scaled and rescaled are views of the probe, which choose() asks for; a layer that is constant on
 * an input scales to 0. Dead neurons count among |N|.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/nc.h"
#include "cover/nc_suite.h"
#include "cover/slots.h"

#include <internal/cover.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { NC_RAW, NC_SCALED, NC_RESCALED, NC_SUITE, NC_SIGMOID };

static const char *const nc_variants[] = {"raw", "scaled", "rescaled", "suite", "sigmoid", NULL};

typedef struct nc_config {
    double t;
    int variant;
} nc_config;

static const px_param nc_params[] = {
    PX_PARAM_REAL(nc_config, t, 0.5, -1e30, 1e30, "a neuron counts once it was above this"),
    PX_PARAM_CHOICE(nc_config, variant, 0, nc_variants,
                    "what is compared with t: the value itself (raw); scaled to 0..1 "
                    "within its layer per input (scaled, as DeepXplore does; rescaled: "
                    "after channel means) or over the whole suite; or its sigmoid"),
    PX_PARAM_END,
};

typedef struct nc_prepared {
    pxi_slots_plan plan;
    double cut; /* of the raw value */
    double t;
    bool suite;
} nc_prepared;

typedef struct nc_state {
    const nc_prepared *prepared; /* NULL: from a file alone */
    pxi_slots *slots;            /* one of the two */
    pxi_nc_suite *suite;
} nc_state;

static void nc_choose(const void *config, px_probe_options *options)
{
    const int variant = ((const nc_config *)config)->variant;
    options->neurons = variant == NC_SCALED     ? PX_VIEW_CHAN_SCALED
                       : variant == NC_RESCALED ? PX_VIEW_CHAN_RESCALED
                       : variant == NC_SUITE    ? PX_VIEW_UNIT
                                                : PX_VIEW_CHAN;
}

double pxi_nc_cut(double t, bool sigmoid)
{
    if (!sigmoid)
        return t;
    return t <= 0.0 ? -INFINITY : t >= 1.0 ? INFINITY : log(t / (1.0 - t));
}

static px_status nc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    PX_TRY(pxi_slots_check("nc", request->extractor->width, 1, err));
    const nc_config *config = request->config;
    nc_prepared *prepared = NULL;
    PX_TRY(PX_NEW(prepared, 1, err));
    prepared->plan = (pxi_slots_plan){.extractor = request->extractor, .per_neuron = 1, .share = 1};
    prepared->t = config->t;
    prepared->cut = pxi_nc_cut(config->t, config->variant == NC_SIGMOID);
    prepared->suite = config->variant == NC_SUITE;
    *out = prepared;
    return PX_OK;
}

static void nc_close(void *state)
{
    nc_state *nc = state;
    if (!nc)
        return;
    pxi_slots_close(nc->slots);
    if (nc->suite)
        pxi_nc_suite_done(nc->suite);
    free(nc->suite);
    free(nc);
}

/* Makes one of the two inner states; empty where nothing was prepared. */
static px_status nc_fill(nc_state *nc, bool suite, px_error *err)
{
    if (!suite) {
        void *slots = NULL;
        PX_TRY(pxi_slots_open(nc->prepared, &slots, err));
        nc->slots = slots;
        return PX_OK;
    }
    PX_TRY(PX_NEW(nc->suite, 1, err));
    if (!nc->prepared)
        return PX_OK;
    return pxi_nc_suite_init(nc->suite, nc->prepared->plan.extractor, nc->prepared->t, err);
}

static px_status nc_open(const void *prepared, void **state, px_error *err)
{
    nc_state *nc = NULL;
    PX_TRY(PX_NEW(nc, 1, err));
    nc->prepared = prepared;
    const px_status status = prepared ? nc_fill(nc, nc->prepared->suite, err) : PX_OK;
    if (status != PX_OK) {
        nc_close(nc);
        return status;
    }
    *state = nc;
    return PX_OK;
}

static px_status nc_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    nc_state *nc = state;
    if (nc->suite) {
        pxi_nc_suite_observe(nc->suite, rows);
        return PX_OK;
    }
    pxi_slots *slots = nc->slots;
    pxi_rows_extremes(rows, slots->low, slots->high);
    for (int64_t n = 0; n < rows->width; n++)
        if ((double)slots->high[n] > nc->prepared->cut)
            pxi_bitset_add(&slots->bits, n);
    return PX_OK;
}

static double nc_gain(const void *state, const px_rows *rows, int64_t i)
{
    const nc_state *nc = state;
    if (rows->rejected[i])
        return 0.0;
    if (nc->suite)
        return (double)pxi_nc_suite_gain(nc->suite, rows, i) / (double)rows->width;
    const float *x = pxi_row(rows, i);
    int64_t gain = 0;
    for (int64_t n = 0; n < rows->width; n++)
        gain += (double)x[n] > nc->prepared->cut && !pxi_bitset_has(&nc->slots->bits, n);
    return pxi_slots_gain(nc->slots, gain);
}

static px_status nc_merge(void *state, const void *other, px_error *err)
{
    nc_state *nc = state;
    const nc_state *more = other;
    if (nc->slots && more->slots)
        return pxi_slots_merge(nc->slots, more->slots, err);
    if (nc->suite && more->suite)
        return pxi_nc_suite_merge(nc->suite, more->suite, err);
    return px_fail(err, PX_E_MISMATCH, "the two states are of other variants");
}

static px_coverage nc_share(int64_t covered, int64_t total)
{
    return (px_coverage){.value = total > 0 ? (double)covered / (double)total : 0.0,
                         .covered = covered,
                         .total = total};
}

static px_coverage nc_value(const void *state)
{
    const nc_state *nc = state;
    if (nc->slots)
        return pxi_slots_value(nc->slots);
    return nc->suite ? nc_share(pxi_nc_suite_covered(nc->suite, -1), nc->suite->neurons)
                     : (px_coverage){0};
}

static px_coverage nc_layer_value(const void *state, size_t layer)
{
    const nc_state *nc = state;
    if (nc->slots)
        return pxi_slots_layer_value(nc->slots, layer);
    return nc_share(pxi_nc_suite_covered(nc->suite, (int64_t)layer), nc->suite->counts[layer]);
}

static void nc_neurons_covered(const void *state, bool *covered)
{
    const nc_state *nc = state;
    if (nc->slots)
        pxi_slots_neurons_covered(nc->slots, covered);
    else
        pxi_nc_suite_neurons(nc->suite, covered);
}

static px_status nc_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const nc_state *nc = state;
    const px_shape one = {.rank = 1, .dim = {1}};
    const int64_t suite = nc->suite != NULL;
    PX_TRY(px_npz_put(to, prefix, "suite", PX_INT64, &one, &suite, err));
    return suite ? pxi_nc_suite_save(nc->suite, to, prefix, err)
                 : pxi_slots_save(nc->slots, to, prefix, err);
}

static px_status nc_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    nc_state *nc = state;
    const px_shape one = {.rank = 1, .dim = {1}};
    const void *values;
    PX_TRY(px_npz_take(from, prefix, "suite", PX_INT64, &one, &values, NULL, err));
    const bool suite = *(const int64_t *)values != 0;
    if (nc->prepared && suite != nc->prepared->suite)
        return px_fail(err, PX_E_MISMATCH, "'%.100s' is of another variant of nc", prefix);
    if (!nc->slots && !nc->suite)
        PX_TRY(nc_fill(nc, suite, err));
    return suite ? pxi_nc_suite_load(nc->suite, from, prefix, err)
                 : pxi_slots_load(nc->slots, from, prefix, err);
}

const px_criterion px_criterion_nc = {
    .entry = {.id = "nc",
              .title = "neuron coverage",
              .source = "Pei et al., DeepXplore, SOSP 2017",
              .params = nc_params,
              .config_size = sizeof(nc_config)},
    .unit = "neurons",
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .choose = nc_choose,
    .prepare = nc_prepare,
    .release = free,
    .open = nc_open,
    .close = nc_close,
    .observe = nc_observe,
    .gain = nc_gain,
    .merge = nc_merge,
    .value = nc_value,
    .layer_value = nc_layer_value,
    .neurons_covered = nc_neurons_covered,
    .save = nc_save,
    .load = nc_load,
};
