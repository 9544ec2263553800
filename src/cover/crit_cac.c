/* src/cover/crit_cac.c - CAC, causality-aware coverage: edges whose dependence inputs establish
 *
 * Ji et al., CC: Causality-Aware Coverage Criterion for Deep Neural Networks, ICSE 2023; CSM A.10.
 * An edge leads from input channel n of a layer to its neuron m. For each input the layer is
 * computed with every other channel i scaled by 1 - alpha_ni; v_n and the changed y'_m are put into
 * `bins` equal bins of their ranges in training, and the pair is counted in the edge's table (not
 * where either is out of range). An edge is covered if chi-square of its table reaches the critical
 * value of (bins - 1)^2 degrees of freedom at p, and every expected count is at least `floor`.
 *
 * Edges are tested after every block of inputs, by all that was observed so far, and the verdict of
 * the last test counts: it depends on the tables alone, so that neither order nor shards show. (The
 * paper keeps an edge once it was covered. A dependence that is there only grows with more inputs.)
 * The gain of one input is what one more count in each table changes.
 *
 * With equal bins and the tails that neurons have, some pair of bins is nearly always expected less
 * than five times, and then no edge is ever covered: so on LeNet-5 with 10,000 MNIST images. The
 * authors' program takes the row mean times the column mean for the expected count, which is no
 * chi-square test but what their numbers come from: compat=dl-cc.
 *
 * CAC_m of the paper is --layers: a chosen layer brings the edges that lead into it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/cac.h"
#include "cover/slots.h"

#include <internal/cover.h>
#include <internal/profile.h>
#include <internal/stats.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

enum { CAC_MOST_BINS = 64 };

static const char *const cac_compats[] = {"none", "dl-cc", NULL};

typedef struct cac_config {
    int64_t bins;
    double p;
    double floor;
    double mem;
    int compat;
} cac_config;

static const px_param cac_params[] = {
    PX_PARAM_INT(cac_config, bins, 8, 2, CAC_MOST_BINS, "bins of a neuron's range"),
    PX_PARAM_REAL(cac_config, p, 0.05, 1e-12, 0.5, "level of significance"),
    PX_PARAM_REAL(cac_config, floor, 5, 0, 1e6, "least expected count of any pair of bins"),
    PX_PARAM_REAL(cac_config, mem, 1024, 1, 1e6, "MiB of tables at most, for each worker"),
    PX_PARAM_CHOICE(
        cac_config, compat, 0, cac_compats,
        "dl-cc: expected counts as in the authors' program (row mean times column mean)"),
    PX_PARAM_END,
};

typedef struct cac {
    const pxi_cac_net *net;
    pxi_cac_rule rule;
    double p;
    float *v, *y, *keep; /* as learned */
} cac;

typedef struct cac_state {
    const cac *cac; /* NULL: from a file alone */
    pxi_cac_rule rule;
    double p;
    int64_t edges, covered;
    uint32_t *tables; /* [edges][bins][bins] */
    bool *is_covered; /* by the tables as they are */
    float *u, *changed;
} cac_state;

static void cac_release(void *prepared)
{
    cac *c = prepared;
    if (!c)
        return;
    free(c->v);
    free(c->y);
    free(c->keep);
    free(c);
}

static px_status cac_extract(const px_model *model, const px_probe_options *options,
                             const void *config, px_extractor **out, px_error *err)
{
    return pxi_extractor_cac(model, options, (int)((const cac_config *)config)->bins, out, err);
}

/* --- what was learned ------------------------------------------------------------------------ */

static px_status cac_read(const px_criterion_request *request, const char *name,
                          const px_shape *shape, bool ranges, float **out, px_error *err)
{
    const px_tensor *tensor;
    PX_TRY(px_profile_get(request->profile, request->learned[0], name, PX_FLOAT32, shape, &tensor,
                          err));
    const size_t count = (size_t)px_shape_count(&tensor->shape);
    *out = pxi_calloc(count, sizeof **out);
    if (!*out)
        return pxi_no_memory(err);
    memcpy(*out, tensor->data, count * sizeof **out);
    bool fits = true;
    for (size_t i = 0; i < count; i++)
        fits &= ranges ? !isnan((*out)[i]) : (*out)[i] >= 0.0f && (*out)[i] <= 1.0f;
    return fits ? PX_OK
                : px_fail(err, PX_E_INPUT, "'%.200s': its '%s' are damaged; make it again",
                          px_profile_name(request->profile), name);
}

static px_status cac_check_memory(const pxi_cac_net *net, const cac_config *config, px_error *err)
{
    const double bins = (double)config->bins;
    const double mib = (double)net->edges * bins * bins * sizeof(uint32_t) / 1048576.0;
    if (mib <= config->mem)
        return PX_OK;
    return px_fail(err, PX_E_USAGE,
                   "cac: tables of %" PRId64 " edges with %g x %g bins take %.0f MiB per worker, "
                   "more than %g; choose fewer layers with --layers (front, middle, back), or "
                   "allow it with --set cac.mem=%.0f",
                   net->edges, bins, bins, mib, config->mem, ceil(mib));
}

static px_status cac_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    const cac_config *config = request->config;
    const pxi_cac_net *net = pxi_cac_net_of(request->extractor);
    if (!net)
        return px_fail(err, PX_E_INTERNAL, "cac reads its own rows only");
    PX_TRY(cac_check_memory(net, config, err));
    cac *c = NULL;
    PX_TRY(PX_NEW(c, 1, err));
    const double bins = (double)config->bins;
    c->net = net;
    c->p = config->p;
    c->rule = (pxi_cac_rule){.bins = (int)bins,
                             .critical = px_chi2_critical(c->p, (bins - 1.0) * (bins - 1.0)),
                             .floor = config->floor,
                             .code = config->compat != 0};
    int64_t kept = 0;
    for (size_t l = 0; l < net->count; l++)
        kept += net->layers[l].inputs * (net->layers[l].inputs / net->layers[l].group);
    const px_shape of_v = {.rank = 2, .dim = {2, net->channels}};
    const px_shape of_y = {.rank = 2, .dim = {2, net->outputs}};
    const px_shape of_keep = {.rank = 1, .dim = {kept}};
    px_status status = cac_read(request, "v", &of_v, /* ranges= */ true, &c->v, err);
    PX_THEN(status, cac_read(request, "y", &of_y, /* ranges= */ true, &c->y, err));
    PX_THEN(status, cac_read(request, "keep", &of_keep, /* ranges= */ false, &c->keep, err));
    return PX_GIVE(status, c, out, cac_release);
}

/* --- states ---------------------------------------------------------------------------------- */

static void cac_close(void *state)
{
    cac_state *s = state;
    if (!s)
        return;
    free(s->tables);
    free(s->is_covered);
    free(s->u);
    free(s->changed);
    free(s);
}

static size_t table_size(const cac_state *s)
{
    return (size_t)s->rule.bins * (size_t)s->rule.bins;
}

static px_status state_size(cac_state *s, int64_t edges, px_error *err)
{
    s->edges = edges;
    s->tables = pxi_calloc((size_t)edges, table_size(s) * sizeof *s->tables);
    s->is_covered = pxi_calloc((size_t)edges, sizeof *s->is_covered);
    return s->tables && s->is_covered
               ? PX_OK
               : pxi_no_memory_for(err, "the tables of %" PRId64 " edges", edges);
}

static px_status cac_open(const void *prepared, void **state, px_error *err)
{
    const cac *c = prepared;
    cac_state *s = NULL;
    px_status status = PX_NEW(s, 1, err);
    if (status == PX_OK && c) {
        s->cac = c;
        s->rule = c->rule;
        s->p = c->p;
        s->u = pxi_calloc((size_t)c->net->widest, sizeof *s->u);
        s->changed = pxi_calloc((size_t)c->net->widest, sizeof *s->changed);
        status = s->u && s->changed ? state_size(s, c->net->edges, err) : pxi_no_memory(err);
    }
    if (status == PX_OK)
        *state = s;
    else
        cac_close(s);
    return status;
}

static void state_test(cac_state *s)
{
    s->covered = 0;
    for (int64_t e = 0; e < s->edges; e++) {
        s->is_covered[e] = pxi_cac_dependent(&s->rule, s->tables + (size_t)e * table_size(s));
        s->covered += s->is_covered[e];
    }
}

/* Calls `hit` with the table's cell of every edge that has one for this row. */
typedef void (*cac_hit)(void *context, int64_t edge, int cell);

static void row_hits(const cac *c, const float *row, float *u, float *changed, cac_hit hit,
                     void *context)
{
    const pxi_cac_net *net = c->net;
    const float *keep = c->keep;
    const int bins = c->rule.bins;
    for (size_t l = 0; l < net->count; l++) {
        const pxi_cac_layer *layer = &net->layers[l];
        const int64_t pg = layer->inputs / layer->group, qg = layer->outputs / layer->group;
        for (int64_t g = 0; g < layer->group; g++, keep += pg * pg) {
            pxi_cac_contributions(layer, g, row, u);
            pxi_cac_changed(layer, g, keep, u, changed);
            for (int64_t k = 0; k < pg; k++) {
                const int64_t n = layer->v + g * pg + k;
                const int front = pxi_cac_bin(row[n], c->v[n], c->v[net->channels + n], bins);
                for (int64_t m = 0; front >= 0 && m < qg; m++) {
                    const int64_t out = layer->out + g * qg + m;
                    const int back =
                        pxi_cac_bin(changed[k * qg + m], c->y[out], c->y[net->outputs + out], bins);
                    if (back >= 0)
                        hit(context, layer->edge + (g * pg + k) * qg + m, front * bins + back);
                }
            }
        }
    }
}

static void hit_count(void *context, int64_t edge, int cell)
{
    cac_state *s = context;
    uint32_t *count = s->tables + (size_t)edge * table_size(s) + cell;
    *count += *count < UINT32_MAX;
}

static px_status cac_observe(void *state, const px_rows *rows, px_error *err)
{
    (void)err;
    cac_state *s = state;
    for (int64_t r = 0; r < rows->count; r++)
        if (!rows->rejected[r])
            row_hits(s->cac, pxi_row(rows, r), s->u, s->changed, hit_count, s);
    state_test(s);
    return PX_OK;
}

typedef struct cac_try {
    const cac_state *state;
    int64_t change;
} cac_try;

static void hit_try(void *context, int64_t edge, int cell)
{
    cac_try *t = context;
    const cac_state *s = t->state;
    const size_t size = table_size(s);
    uint32_t table[CAC_MOST_BINS * CAC_MOST_BINS];
    double total = 1.0;
    memcpy(table, s->tables + (size_t)edge * size, size * sizeof *table);
    for (size_t i = 0; i < size; i++)
        total += (double)table[i];
    if (!s->rule.code && !s->is_covered[edge] && total < s->rule.floor * (double)size)
        return; /* some expected count is below the floor */
    table[cell] += table[cell] < UINT32_MAX;
    t->change += pxi_cac_dependent(&s->rule, table) - s->is_covered[edge];
}

static double cac_gain(const void *state, const px_rows *rows, int64_t i)
{
    const cac_state *s = state;
    if (rows->rejected[i] || s->edges == 0)
        return 0.0;
    const size_t widest = (size_t)s->cac->net->widest;
    float *u = pxi_calloc(2 * widest, sizeof *u);
    cac_try try = {.state = s};
    if (u)
        row_hits(s->cac, pxi_row(rows, i), u, u + widest, hit_try, &try);
    free(u);
    return (double)try.change / (double)s->edges;
}

static px_status cac_merge(void *state, const void *other, px_error *err)
{
    cac_state *s = state;
    const cac_state *o = other;
    if (s->edges != o->edges || s->rule.bins != o->rule.bins)
        return px_fail(err, PX_E_MISMATCH, "one state has %" PRId64 " edges, the other %" PRId64,
                       s->edges, o->edges);
    const size_t count = (size_t)s->edges * table_size(s);
    for (size_t i = 0; i < count; i++) {
        const uint32_t sum = s->tables[i] + o->tables[i];
        s->tables[i] = sum < s->tables[i] ? UINT32_MAX : sum;
    }
    state_test(s);
    return PX_OK;
}

static px_coverage cac_share(int64_t covered, int64_t total)
{
    return (px_coverage){.value = total > 0 ? (double)covered / (double)total : 0.0,
                         .covered = covered,
                         .total = total};
}

static px_coverage cac_value(const void *state)
{
    const cac_state *s = state;
    return cac_share(s->covered, s->edges);
}

static px_coverage cac_layer_value(const void *state, size_t layer)
{
    const cac_state *s = state;
    const pxi_cac_layer *l = &s->cac->net->layers[layer];
    const int64_t total = l->inputs * (l->outputs / l->group);
    int64_t covered = 0;
    for (int64_t e = l->edge; e < l->edge + total; e++)
        covered += s->is_covered[e];
    return cac_share(covered, total);
}

static void cac_remark(const void *state, px_text *text)
{
    const cac_state *s = state;
    int64_t ready = 0;
    for (int64_t e = 0; e < s->edges; e++) {
        double least;
        pxi_cac_chi2(&s->rule, s->tables + (size_t)e * table_size(s), &least);
        ready += least >= s->rule.floor;
    }
    if (ready < s->edges)
        px_text_format(text,
                       "%" PRId64 " of %" PRId64
                       " edges have too few inputs in some bins to be judged (expected counts "
                       "below %g)\n",
                       s->edges - ready, s->edges, s->rule.floor);
}

/* --- files ----------------------------------------------------------------------------------- */

static px_status cac_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const cac_state *s = state;
    const px_shape three = {.rank = 1, .dim = {3}};
    const px_shape tables = {.rank = 3, .dim = {s->edges, s->rule.bins, s->rule.bins}};
    const double rule[] = {s->p, s->rule.floor, s->rule.code};
    PX_TRY(px_npz_put(to, prefix, "rule", PX_FLOAT64, &three, rule, err));
    return px_npz_put(to, prefix, "tables", PX_UINT32, &tables, s->tables, err);
}

static px_status cac_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    cac_state *s = state;
    const px_shape three = {.rank = 1, .dim = {3}}, any = {.rank = 3, .dim = {-1, -1, -1}};
    const void *values;
    double rule[3];
    px_shape found;
    PX_TRY(px_npz_take(from, prefix, "rule", PX_FLOAT64, &three, &values, NULL, err));
    memcpy(rule, values, sizeof rule);
    PX_TRY(px_npz_take(from, prefix, "tables", PX_UINT32, &any, &values, &found, err));
    const int64_t bins = found.dim[1];
    if (bins < 2 || bins > CAC_MOST_BINS || found.dim[2] != bins || found.dim[0] < 1 ||
        !(rule[0] > 0.0 && rule[0] < 1.0) || !(rule[1] >= 0.0 && rule[1] <= 1e6) ||
        (rule[2] != 0.0 && rule[2] != 1.0))
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: tables and rule do not fit", prefix);
    if (s->cac && (bins != s->rule.bins || found.dim[0] != s->edges || rule[0] != s->p ||
                   rule[1] != s->rule.floor || (rule[2] != 0.0) != s->rule.code))
        return px_fail(err, PX_E_MISMATCH,
                       "'%.100s' has %" PRId64 " edges, this network and these settings %" PRId64,
                       prefix, found.dim[0], s->edges);
    if (!s->cac) {
        free(s->tables);
        free(s->is_covered);
        s->tables = NULL;
        s->is_covered = NULL;
        const double freedom = (double)((bins - 1) * (bins - 1));
        s->p = rule[0];
        s->rule = (pxi_cac_rule){.bins = (int)bins,
                                 .critical = px_chi2_critical(rule[0], freedom),
                                 .floor = rule[1],
                                 .code = rule[2] != 0.0};
        PX_TRY(state_size(s, found.dim[0], err));
    }
    memcpy(s->tables, values, (size_t)s->edges * table_size(s) * sizeof *s->tables);
    state_test(s);
    return PX_OK;
}

static const px_learner *const cac_learners[] = {&pxi_learner_cac, NULL};

const px_criterion px_criterion_cac = {
    .entry = {.id = "cac",
              .title = "causality-aware coverage",
              .source = "Ji et al., CC, ICSE 2023",
              .params = cac_params,
              .config_size = sizeof(cac_config)},
    .unit = "edges",
    .learners = cac_learners,
    .tap = PX_TAP_PRE,
    .neurons = PX_VIEW_CHAN,
    .extract = cac_extract,
    .prepare = cac_prepare,
    .release = cac_release,
    .open = cac_open,
    .close = cac_close,
    .observe = cac_observe,
    .gain = cac_gain,
    .merge = cac_merge,
    .value = cac_value,
    .layer_value = cac_layer_value,
    .remark = cac_remark,
    .save = cac_save,
    .load = cac_load,
};
