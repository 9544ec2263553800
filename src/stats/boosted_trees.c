/* src/stats/boosted_trees.c - histograms of gradients, and trees grown level by level
 *
 * A job is one feature: its worker adds up the histograms of all nodes of a level in the order of
 * the rows and finds the feature's best cut in each. Cuts of different features are compared
 * afterwards, in the order of the features, the earlier winning ties.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/boosted_trees.h"

#include "base/arena.h"
#include "base/ascending.h"
#include "base/memory.h"
#include "base/worker_pool.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct boost_node {
    int feature;     /* -1: a leaf */
    float threshold; /* up to it: left */
    int left;        /* the right child follows it */
    double value;    /* of a leaf, the rate taken into account */
    double gain;     /* of a split */
} boost_node;

struct pxi_boosted {
    size_t d;
    double start; /* log odds of the share of yes */
    boost_node *nodes;
    size_t node_count, node_capacity;
    size_t *roots; /* [tree_count] in nodes */
    int tree_count;
};

pxi_boost_options pxi_boost_options_default(void)
{
    return (pxi_boost_options){.trees = 100,
                               .depth = 5,
                               .bins = PXI_BOOST_MAX_BINS,
                               .rate = 0.05,
                               .lambda = 1.0,
                               .min_hessian = 1.0,
                               .columns = 0.5};
}

void pxi_boosted_free(pxi_boosted *model)
{
    if (!model)
        return;
    free(model->nodes);
    free(model->roots);
    free(model);
}

double pxi_boosted_score(const pxi_boosted *model, const float *row)
{
    double score = model->start;
    for (int t = 0; t < model->tree_count; t++) {
        const boost_node *node = &model->nodes[model->roots[t]];
        while (node->feature >= 0)
            node = &model->nodes[node->left + !(row[node->feature] <= node->threshold)];
        score += node->value;
    }
    return score;
}

void pxi_boosted_gains(const pxi_boosted *model, double *gains)
{
    memset(gains, 0, model->d * sizeof *gains);
    for (size_t i = 0; i < model->node_count; i++)
        if (model->nodes[i].feature >= 0)
            gains[model->nodes[i].feature] += model->nodes[i].gain;
}

/* --- fitting --------------------------------------------------------------------------------- */

typedef struct boost_cell {
    double gradient, hessian;
} boost_cell;

typedef struct boost_cut { /* the best of one feature in one node */
    double gain;           /* 0: there is none */
    boost_cell left;
    int bin; /* up to it: left */
} boost_cut;

typedef struct boost_open { /* a node of the level that grows */
    size_t from, to;        /* its rows */
    boost_cell sum;
    size_t node; /* in the model */
} boost_open;

typedef struct boost_fit {
    const float *x;
    const bool *y;
    size_t n, d;
    const pxi_boost_options *options;
    pxi_boosted *model;
    px_arena *memory; /* of all that follows */
    uint8_t *bin;     /* [d][n] */
    float *threshold; /* [d][bins]: of bin b's upper end */
    int *bin_count;   /* [d] */
    float *sorted;    /* [workers][n] */
    double *score;    /* [n] */
    boost_cell *cell; /* [n] */
    uint32_t *rows;   /* [n], those of a node together, ascending */
    uint32_t *spare;  /* [n] */
    int64_t *columns; /* a permutation of the features; this tree's are the first */
    size_t column_count;
    boost_open *open, *next; /* [1 << depth] */
    size_t open_count;
    boost_cut *cuts; /* [column][1 << depth] */
} boost_fit;

static void boost_fit_done(boost_fit *f)
{
    pxi_arena_free(f->memory);
}

static px_status boost_fit_alloc(boost_fit *f, int workers, px_error *err)
{
    const size_t n = f->n, d = f->d, bins = (size_t)f->options->bins;
    const size_t level = (size_t)1 << f->options->depth;
    f->memory = pxi_arena_new();
    f->bin = pxi_arena_alloc(f->memory, d, n * sizeof *f->bin);
    f->threshold = pxi_arena_alloc(f->memory, d, bins * sizeof *f->threshold);
    f->bin_count = pxi_arena_alloc(f->memory, d, sizeof *f->bin_count);
    f->sorted = pxi_arena_alloc(f->memory, n, (size_t)workers * sizeof *f->sorted);
    f->score = pxi_arena_alloc(f->memory, n, sizeof *f->score);
    f->cell = pxi_arena_alloc(f->memory, n, sizeof *f->cell);
    f->rows = pxi_arena_alloc(f->memory, n, sizeof *f->rows);
    f->spare = pxi_arena_alloc(f->memory, n, sizeof *f->spare);
    f->columns = pxi_arena_alloc(f->memory, d, sizeof *f->columns);
    f->open = pxi_arena_alloc(f->memory, level, sizeof *f->open);
    f->next = pxi_arena_alloc(f->memory, level, sizeof *f->next);
    f->cuts = pxi_arena_alloc(f->memory, d, level * sizeof *f->cuts);
    f->model->roots = pxi_calloc((size_t)f->options->trees, sizeof *f->model->roots);
    if (pxi_arena_whole(f->memory) && f->model->roots)
        return PX_OK;
    return pxi_no_memory_for(err, "trees over %zu rows of %zu features", n, d);
}

static int float_compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A number t with low <= t < high, in the middle where there is room. */
static float between(float low, float high)
{
    const float middle = (float)(((double)low + (double)high) / 2.0);
    return middle >= low && middle < high ? middle : low; /* infinities, neighbours */
}

/* Cuts feature j: a bin per distinct value where they are few enough, else bins of about equally
 * many rows. NaN, above everything, is in the last. */
static px_status bin_feature(void *context, int worker, int64_t j, px_error *err)
{
    (void)err;
    const boost_fit *f = context;
    const size_t n = f->n, bins = (size_t)f->options->bins;
    float *sorted = f->sorted + (size_t)worker * n, *threshold = f->threshold + (size_t)j * bins;
    size_t numbers = 0, distinct = 0, cuts = 0;
    for (size_t i = 0; i < n; i++) {
        const float x = f->x[i * f->d + (size_t)j];
        if (x == x)
            sorted[numbers++] = x;
    }
    if (numbers > 0)
        qsort(sorted, numbers, sizeof *sorted, float_compare);
    for (size_t i = 0; i < numbers; i++)
        distinct += i == 0 || sorted[i] != sorted[i - 1];
    const size_t room = bins - 1 - (numbers < n); /* cuts; NaN needs a bin of its own */
    const bool every = distinct <= room + 1;
    for (size_t i = 1; i < numbers && cuts < room; i++)
        if (sorted[i] != sorted[i - 1] && (every || i * (room + 1) >= (cuts + 1) * numbers))
            threshold[cuts++] = between(sorted[i - 1], sorted[i]);
    if (numbers < n && numbers > 0)
        threshold[cuts++] = sorted[numbers - 1];
    f->bin_count[j] = (int)cuts + 1;
    uint8_t *bin = f->bin + (size_t)j * n;
    for (size_t i = 0; i < n; i++) {
        const float x = f->x[i * f->d + (size_t)j];
        size_t low = 0, high = cuts; /* the first threshold that x does not exceed */
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (x <= threshold[middle])
                high = middle;
            else
                low = middle + 1;
        }
        bin[i] = (uint8_t)low;
    }
    return PX_OK;
}

static double part_score(boost_cell c, double lambda)
{
    return c.gradient * c.gradient / (c.hessian + lambda);
}

static boost_cut best_cut(const boost_fit *f, const boost_cell *histogram, int bins, boost_cell sum)
{
    const pxi_boost_options *o = f->options;
    const double whole = part_score(sum, o->lambda);
    boost_cut best = {0};
    boost_cell left = {0};
    for (int b = 0; b + 1 < bins; b++) {
        left.gradient += histogram[b].gradient;
        left.hessian += histogram[b].hessian;
        const boost_cell right = {sum.gradient - left.gradient, sum.hessian - left.hessian};
        if (left.hessian < o->min_hessian || right.hessian < o->min_hessian)
            continue;
        const double gain = part_score(left, o->lambda) + part_score(right, o->lambda) - whole;
        if (gain > best.gain)
            best = (boost_cut){gain, left, b};
    }
    return best;
}

static px_status cut_feature(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    (void)err;
    const boost_fit *f = context;
    const size_t j = (size_t)f->columns[index];
    const uint8_t *bin = f->bin + j * f->n;
    boost_cell histogram[PXI_BOOST_MAX_BINS];
    for (size_t k = 0; k < f->open_count; k++) {
        const boost_open *open = &f->open[k];
        memset(histogram, 0, (size_t)f->bin_count[j] * sizeof *histogram);
        for (size_t i = open->from; i < open->to; i++) {
            const uint32_t row = f->rows[i];
            histogram[bin[row]].gradient += f->cell[row].gradient;
            histogram[bin[row]].hessian += f->cell[row].hessian;
        }
        f->cuts[(size_t)index * f->open_count + k] =
            best_cut(f, histogram, f->bin_count[j], open->sum);
    }
    return PX_OK;
}

/* Makes `open` a leaf: its rows get its value. */
static void close_leaf(boost_fit *f, const boost_open *open)
{
    const pxi_boost_options *o = f->options;
    const double value = -o->rate * open->sum.gradient / (open->sum.hessian + o->lambda);
    f->model->nodes[open->node] = (boost_node){.feature = -1, .value = value};
    for (size_t i = open->from; i < open->to; i++)
        f->score[f->rows[i]] += value;
}

/* Parts the rows of `open`, keeping their order; where the right ones begin. */
static size_t part_rows(boost_fit *f, const boost_open *open, const uint8_t *bin, int up_to)
{
    size_t left = open->from, right = 0;
    for (size_t i = open->from; i < open->to; i++) {
        const uint32_t row = f->rows[i];
        if (bin[row] <= up_to)
            f->rows[left++] = row;
        else
            f->spare[right++] = row;
    }
    memcpy(f->rows + left, f->spare, right * sizeof *f->rows);
    return left;
}

static px_status grow_level(boost_fit *f, px_pool *pool, px_error *err)
{
    pxi_boosted *m = f->model;
    PX_TRY(pxi_pool_run(pool, (int64_t)f->column_count, cut_feature, f, pxi_pool_unwatched, NULL,
                        err));
    PX_TRY(PX_GROW(m->nodes, m->node_capacity, m->node_count + 2 * f->open_count, err));
    size_t next_count = 0;
    for (size_t k = 0; k < f->open_count; k++) {
        const boost_open *open = &f->open[k];
        const boost_cut *best = NULL;
        size_t column = 0;
        for (size_t c = 0; c < f->column_count; c++) {
            const boost_cut *cut = &f->cuts[c * f->open_count + k];
            if (cut->gain > (best ? best->gain : 0.0)) {
                best = cut;
                column = c;
            }
        }
        if (!best) {
            close_leaf(f, open);
            continue;
        }
        const size_t j = (size_t)f->columns[column], left = m->node_count;
        const size_t middle = part_rows(f, open, f->bin + j * f->n, best->bin);
        const float threshold = f->threshold[j * (size_t)f->options->bins + (size_t)best->bin];
        m->nodes[open->node] = (boost_node){
            .feature = (int)j, .threshold = threshold, .left = (int)left, .gain = best->gain};
        m->node_count += 2;
        const boost_cell rest = {open->sum.gradient - best->left.gradient,
                                 open->sum.hessian - best->left.hessian};
        f->next[next_count++] = (boost_open){open->from, middle, best->left, left};
        f->next[next_count++] = (boost_open){middle, open->to, rest, left + 1};
    }
    boost_open *const other = f->open;
    f->open = f->next;
    f->next = other;
    f->open_count = next_count;
    return PX_OK;
}

static px_status grow_tree(boost_fit *f, px_pool *pool, int tree, px_error *err)
{
    pxi_boosted *m = f->model;
    boost_cell sum = {0};
    for (size_t i = 0; i < f->n; i++) {
        const double p = 1.0 / (1.0 + exp(-f->score[i]));
        f->cell[i] = (boost_cell){p - f->y[i], p * (1.0 - p)};
        f->rows[i] = (uint32_t)i;
        sum.gradient += f->cell[i].gradient;
        sum.hessian += f->cell[i].hessian;
    }
    px_random random = px_rng(f->options->seed, PX_RNG_TREES, (uint32_t)tree, 0);
    px_rng_permutation(&random, f->columns, (uint32_t)f->d);
    qsort(f->columns, f->column_count, sizeof *f->columns, pxi_order_int64);
    PX_TRY(PX_GROW(m->nodes, m->node_capacity, m->node_count + 1, err));
    m->roots[tree] = m->node_count;
    f->open[0] = (boost_open){0, f->n, sum, m->node_count++};
    f->open_count = 1;
    for (int level = 0; level < f->options->depth && f->open_count > 0; level++)
        PX_TRY(grow_level(f, pool, err));
    for (size_t k = 0; k < f->open_count; k++)
        close_leaf(f, &f->open[k]);
    m->tree_count = tree + 1;
    return PX_OK;
}

static px_status check_options(const pxi_boost_options *o, size_t n, size_t d, px_error *err)
{
    if (o->trees < 1 || o->depth < 1 || o->depth > PXI_BOOST_MAX_DEPTH || o->bins < 3 ||
        o->bins > PXI_BOOST_MAX_BINS || !(o->rate > 0.0) || !(o->lambda >= 0.0) ||
        !(o->min_hessian >= 0.0) || !(o->lambda + o->min_hessian > 0.0) || !(o->columns > 0.0))
        return px_fail(err, PX_E_USAGE,
                       "boosted trees: %d trees of depth %d with %d bins, rate %g, lambda %g and "
                       "column share %g are not possible",
                       o->trees, o->depth, o->bins, o->rate, o->lambda, o->columns);
    if (n > INT32_MAX || d > INT32_MAX || d == 0)
        return px_fail(err, PX_E_INPUT, "boosted trees over %zu rows of %zu features", n, d);
    return PX_OK;
}

px_status pxi_boosted_fit(const float *x, const bool *y, size_t n, size_t d,
                          const pxi_boost_options *options, pxi_boosted **out, px_error *err)
{
    PX_TRY(check_options(options, n, d, err));
    size_t yes = 0;
    for (size_t i = 0; i < n; i++)
        yes += y[i];
    if (yes == 0 || yes == n)
        return px_fail(err, PX_E_INPUT,
                       "boosted trees need both answers, and all %zu rows have the same", n);
    boost_fit f = {.x = x, .y = y, .n = n, .d = d, .options = options};
    px_pool *pool = NULL;
    px_status status = PX_OK;
    if ((status = PX_NEW(f.model, 1, err)) != PX_OK)
        goto done;
    f.model->d = d;
    f.model->start = log((double)yes / (double)(n - yes));
    f.column_count = (size_t)fmax(1.0, fmin(ceil(options->columns * (double)d - 1e-9), (double)d));
    status = pxi_pool_new(options->threads, &pool, err);
    PX_THEN(status, boost_fit_alloc(&f, pxi_pool_threads(pool), err));
    PX_THEN(status, pxi_pool_run(pool, (int64_t)d, bin_feature, &f, pxi_pool_unwatched, NULL, err));
    for (size_t i = 0; i < n && status == PX_OK; i++)
        f.score[i] = f.model->start;
    for (int tree = 0; tree < options->trees && status == PX_OK; tree++)
        status = grow_tree(&f, pool, tree, err);
    if (status == PX_OK) {
        *out = f.model;
        f.model = NULL;
    }
done:
    pxi_pool_free(pool);
    boost_fit_done(&f);
    pxi_boosted_free(f.model);
    return status;
}
