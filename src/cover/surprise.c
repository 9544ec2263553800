/* src/cover/surprise.c - surprise adequacy: what its methods share
 *
 * Rows are sorted by class and cut into blocks; a block of one class is what a method works on, and
 * blocks go to whoever is free.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/surprise_method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct px_surprise {
    const pxi_sa_kind *kind;
    px_surprise_options options;
    int classes;
    pxi_sa_set set;
    void *model;
};

static const pxi_sa_kind *const kinds[PX_SURPRISE_METHODS] = {
    [PX_LSA] = &pxi_sa_lsa,   [PX_DSA] = &pxi_sa_dsa,     [PX_MDSA] = &pxi_sa_mdsa,
    [PX_MLSA] = &pxi_sa_mlsa, [PX_MMDSA] = &pxi_sa_mmdsa,
};

const char *px_surprise_id(px_surprise_method method)
{
    return (unsigned)method < PX_SURPRISE_METHODS ? kinds[method]->id : NULL;
}

px_surprise_options px_surprise_options_default(px_surprise_method method)
{
    return (px_surprise_options){
        .method = method,
        .filter = method == PX_LSA ? PX_FILTER_CLASS : PX_FILTER_NONE,
        .variance = 1e-5,
        .columns = 300,
        .sample = 1.0,
        .components = 2,
        .least_clusters = 2,
        .most_clusters = 5,
        .restarts = 10,
        .cluster_sample = 0.3,
    };
}

int64_t px_surprise_bytes(const px_surprise_options *options, int64_t count, int64_t width,
                          int classes)
{
    const int64_t used =
        options->sample < 1.0 ? (int64_t)ceil(options->sample * (double)count) : count;
    /* Widths that could overflow are refused elsewhere. */
    if (width > INT32_MAX || used > INT32_MAX)
        return INT64_MAX;
    return kinds[options->method]->bytes(options, used, width, classes) + 16 * count;
}

/* --- work ------------------------------------------------------------------------------------ */

px_status pxi_sa_each(px_pool *pool, int64_t count, pxi_pool_fn run, void *context, px_error *err)
{
    if (pool && count > 1)
        return pxi_pool_run(pool, count, run, context, pxi_pool_unwatched, NULL, err);
    for (int64_t i = 0; i < count; i++)
        PX_TRY(run(context, 0, i, err));
    return PX_OK;
}

void pxi_sa_work_done(pxi_sa_work *work)
{
    free(work->row);
    free(work->block);
    *work = (pxi_sa_work){0};
}

px_status pxi_sa_work_init(pxi_sa_work *work, const px_rows *rows, const int *group, int groups,
                           px_error *err)
{
    const int64_t n = rows->count;
    *work = (pxi_sa_work){.rows = rows};
    int64_t *start = pxi_calloc((size_t)groups + 1, sizeof *start);
    work->row = pxi_calloc((size_t)n, sizeof *work->row);
    work->block =
        pxi_calloc((size_t)(n / PXI_SA_ROWS + PX_MIN(n, (int64_t)groups)) + 1, sizeof *work->block);
    if (!start || !work->row || !work->block) {
        free(start);
        pxi_sa_work_done(work);
        return pxi_sa_no_memory(err);
    }
    for (int64_t i = 0; i < n; i++)
        if (group[i] >= 0)
            start[group[i] + 1]++;
    for (int c = 0; c < groups; c++)
        start[c + 1] += start[c];
    for (int c = 0; c < groups; c++)
        for (int64_t first = start[c]; first < start[c + 1]; first += PXI_SA_ROWS)
            work->block[work->block_count++] =
                (pxi_sa_block){.group = c,
                               .first = first,
                               .count = PX_MIN(start[c + 1] - first, (int64_t)PXI_SA_ROWS)};
    for (int64_t i = 0; i < n; i++)
        if (group[i] >= 0)
            work->row[start[group[i]]++] = i;
    free(start);
    return PX_OK;
}

/* --- making ---------------------------------------------------------------------------------- */

static px_status options_check(const px_traces *traces, int classes,
                               const px_surprise_options *options, px_error *err)
{
    if ((unsigned)options->method >= PX_SURPRISE_METHODS)
        return px_fail(err, PX_E_USAGE, "there is no surprise method %d", (int)options->method);
    const pxi_sa_kind *kind = kinds[options->method];
    const char *id = kind->id;
    if (classes < 1 && !kind->whole)
        return px_fail(err, PX_E_INPUT,
                       "%s goes by predicted classes, and the network is no classifier", id);
    if (traces->count < 1 || traces->width < 1)
        return px_fail(err, PX_E_INPUT, "%s has no training traces to go by", id);
    if (traces->count > INT32_MAX || traces->width > INT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "%lld traces of %lld neurons are too many for %s",
                       (long long)traces->count, (long long)traces->width, id);
    if (options->filter == PX_FILTER_TOP &&
        (options->method == PX_DSA || options->method == PX_MMDSA))
        return px_fail(err, PX_E_USAGE,
                       "%s compares traces of different classes, so the filter "
                       "'top', which is per class, does not fit",
                       id);
    if (!(options->sample > 0.0 && options->sample <= 1.0))
        return px_fail(err, PX_E_USAGE, "a sample of %g of the traces is not above 0 and up to 1",
                       options->sample);
    if (options->components < 1 || options->columns < 1 || options->restarts < 1 ||
        options->least_clusters < 2 || options->most_clusters < options->least_clusters ||
        options->most_clusters > 64)
        return px_fail(err, PX_E_USAGE,
                       "%s needs at least one component, column and restart, and 2 to 64 clusters",
                       id);
    return PX_OK;
}

static px_status memory_check(const px_surprise *s, px_error *err)
{
    const bool factors =
        s->options.method != PX_DSA && !(s->options.method == PX_LSA && s->options.bandwidth > 0.0);
    for (int c = 0; c < s->set.classes && factors; c++)
        if (s->set.columns[c].count > PXI_SA_COLUMNS_MOST)
            return px_fail(err, PX_E_UNSUPPORTED,
                           "%s needs a covariance of all %lld neurons; choose at most %d "
                           "(--layers, --neurons chan, or the filter 'top')",
                           s->kind->id, (long long)s->set.columns[c].count, PXI_SA_COLUMNS_MOST);
    const int64_t bytes =
        px_surprise_bytes(&s->options, s->set.traces.count, s->set.traces.width, s->classes);
    if (s->options.memory_bytes > 0 && bytes > s->options.memory_bytes)
        return px_fail(err, PX_E_USAGE,
                       "%s over %lld traces of %lld neurons needs %.1f MiB beside them, and %.1f "
                       "are allowed; fewer traces (--train-limit) or neurons (--layers) need less",
                       s->kind->id, (long long)s->set.traces.count, (long long)s->set.traces.width,
                       (double)bytes / 0x1p20, (double)s->options.memory_bytes / 0x1p20);
    return PX_OK;
}

px_status px_surprise_new(const px_traces *traces, int classes, const px_surprise_options *options,
                          px_surprise **out, px_error *err)
{
    PX_TRY(options_check(traces, classes, options, err));
    px_surprise *s = pxi_calloc(1, sizeof *s);
    if (!s)
        return pxi_sa_no_memory(err);
    s->kind = kinds[options->method];
    s->options = *options;
    s->classes = s->kind->whole ? 1 : classes;
    px_pool *pool = NULL;
    px_status status = pxi_sa_set_init(&s->set, traces, s->classes, s->kind->whole, options, err);
    PX_THEN(status, memory_check(s, err));
    PX_THEN_IF(status, options->threads != 1, pxi_pool_new(options->threads, &pool, err));
    PX_THEN(status, s->kind->fit(&s->set, &s->options, pool, &s->model, err));
    pxi_pool_free(pool);
    return PX_GIVE(status, s, out, px_surprise_free);
}

void px_surprise_free(px_surprise *surprise)
{
    if (!surprise)
        return;
    surprise->kind->free(surprise->model);
    pxi_sa_set_done(&surprise->set);
    free(surprise);
}

/* --- scoring --------------------------------------------------------------------------------- */

static bool row_rejected(const px_rows *rows, int64_t i)
{
    if (rows->rejected)
        return rows->rejected[i];
    for (int64_t j = 0; j < rows->width; j++)
        if (!isfinite(rows->values[i * rows->width + j]))
            return true;
    return false;
}

/* The class of each row, or -1 with its score decided already. */
static px_status rows_group(const px_surprise *s, const px_rows *rows, int *group, double *scores,
                            px_error *err)
{
    const bool by_label = s->options.by == PX_SURPRISE_LABEL;
    for (int64_t i = 0; i < rows->count; i++) {
        group[i] = -1;
        scores[i] = NAN;
        if (row_rejected(rows, i))
            continue;
        const int64_t c = s->kind->whole ? 0
                          : by_label     ? rows->facts[i].label
                                         : rows->facts[i].predicted;
        if (c < 0 && by_label)
            return px_fail(err, PX_E_INPUT,
                           "%s by label needs labelled inputs, and input %lld has no label",
                           s->kind->id, (long long)rows->facts[i].index);
        if (c < 0)
            continue;
        if (c >= s->classes || s->set.start[c + 1] == s->set.start[c])
            scores[i] = INFINITY;
        else
            group[i] = (int)c;
    }
    return PX_OK;
}

typedef struct details { /* of dsa; each may be NULL */
    int64_t *nearest;
    double *dist_a, *dist_b;
} details;

static px_status surprise_score(const px_surprise *s, const px_rows *rows, int threads,
                                double *scores, const details *wanted, px_error *err)
{
    if (rows->width != s->set.traces.width)
        return px_fail(err, PX_E_MISMATCH, "rows have %lld neurons and the training traces %lld",
                       (long long)rows->width, (long long)s->set.traces.width);
    if (rows->count == 0)
        return PX_OK;
    pxi_sa_work work = {0};
    px_pool *pool = NULL;
    int *group = pxi_calloc((size_t)rows->count, sizeof *group);
    px_status status = group ? rows_group(s, rows, group, scores, err) : pxi_sa_no_memory(err);
    PX_THEN(status, pxi_sa_work_init(&work, rows, group, s->classes, err));
    PX_THEN_IF(status, threads != 1 && work.block_count > 1, pxi_pool_new(threads, &pool, err));
    if (status == PX_OK) {
        work.pool = pool;
        work.scores = scores;
        status = wanted ? pxi_sa_dsa_details(&s->set, s->model, &work, wanted->nearest,
                                             wanted->dist_a, wanted->dist_b, err)
                        : s->kind->score(&s->set, s->model, &work, err);
    }
    pxi_pool_free(pool);
    pxi_sa_work_done(&work);
    free(group);
    return status;
}

px_status px_surprise_score(const px_surprise *surprise, const px_rows *rows, int threads,
                            double *scores, px_error *err)
{
    return surprise_score(surprise, rows, threads, scores, NULL, err);
}

px_status px_surprise_neighbours(const px_surprise *surprise, const px_rows *rows, int threads,
                                 int64_t *nearest, double *dist_a, double *dist_b, px_error *err)
{
    if (surprise->options.method != PX_DSA)
        return px_fail(err, PX_E_USAGE, "%s has no nearest traces; dsa has", surprise->kind->id);
    double *scores = pxi_calloc((size_t)rows->count, sizeof *scores);
    if (!scores)
        return pxi_sa_no_memory(err);
    const details wanted = {.nearest = nearest, .dist_a = dist_a, .dist_b = dist_b};
    const px_status status = surprise_score(surprise, rows, threads, scores, &wanted, err);
    free(scores);
    return status;
}

px_status px_surprise_lowest(const px_surprise *surprise, int threads, double *lowest,
                             px_error *err)
{
    const px_traces *traces = &surprise->set.traces;
    const size_t n = (size_t)traces->count;
    px_input_facts *facts = pxi_calloc(n, sizeof *facts);
    double *scores = pxi_calloc(n, sizeof *scores);
    bool *rejected = pxi_calloc(n, sizeof *rejected);
    px_status status = facts && scores && rejected ? PX_OK : pxi_sa_no_memory(err);
    if (status == PX_OK) {
        memset(rejected, true, n); /* all but those that took part */
        for (int c = 0; c < surprise->classes; c++)
            for (int64_t i = surprise->set.start[c]; i < surprise->set.start[c + 1]; i++) {
                const int64_t row = surprise->set.row[i];
                facts[row] = (px_input_facts){.index = row, .label = c, .predicted = c};
                rejected[row] = false;
            }
        const px_rows rows = {.count = traces->count,
                              .width = traces->width,
                              .values = traces->values,
                              .facts = facts,
                              .rejected = rejected};
        status = px_surprise_score(surprise, &rows, threads, scores, err);
    }
    if (status == PX_OK) {
        *lowest = NAN;
        for (size_t i = 0; i < n; i++)
            if (isfinite(scores[i]) && !(scores[i] >= *lowest)) /* also while it is NaN */
                *lowest = scores[i];
    }
    free(facts);
    free(scores);
    free(rejected);
    return status;
}

int px_surprise_clusters(const px_surprise *surprise)
{
    return surprise->options.method == PX_MMDSA ? pxi_sa_mmdsa_clusters(surprise->model) : 0;
}

void px_surprise_remark(const px_surprise *surprise, px_text *text)
{
    const pxi_sa_set *set = &surprise->set;
    const char *id = surprise->kind->id;
    if (set->not_finite > 0)
        px_text_format(text, "%s leaves %lld traces out: they have values that are not numbers\n",
                       id, (long long)set->not_finite);
    if (set->no_class > 0)
        px_text_format(text, "%s leaves %lld traces out: they have no class\n", id,
                       (long long)set->no_class);
    int64_t unseen = 0;
    for (int c = 0; c < set->classes; c++)
        unseen += set->start[c + 1] == set->start[c];
    if (unseen > 0)
        px_text_format(text,
                       "%lld of %d classes have no training traces: inputs of them score +Inf in "
                       "%s\n",
                       (long long)unseen, set->classes, id);
    if (set->columns[0].count < set->traces.width)
        px_text_format(text, "%s uses %lld of %lld neurons: the others hardly vary%s\n", id,
                       (long long)set->columns[0].count, (long long)set->traces.width,
                       set->columns[0].count == 0 ? "; with none left every input scores 0" : "");
    if (surprise->kind->remark)
        surprise->kind->remark(set, surprise->model, text);
}
