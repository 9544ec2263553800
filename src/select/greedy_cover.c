/* src/select/greedy_cover.c - orders by coverage: total (CTM) and additional (CAM) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/greedy_cover.h"

#include "base/memory.h"
#include "select/lazy_greedy.h"

#include <assert.h>
#include <internal/rng.h>
#include <stdlib.h>
#include <string.h>

/* Counting bits is one instruction where there is one, and one for eight words where that is. */
#if defined __x86_64__
#define COUNT_CLONES \
    __attribute__((target_clones("arch=icelake-server", "avx512f", "avx2", "popcnt", "default")))
#else
#define COUNT_CLONES
#endif

/* --- rows ------------------------------------------------------------------------------------ */

static px_status rows_too_many(const char *id, int64_t count, int64_t width, px_error *err)
{
    return px_fail(err, PX_E_USAGE,
                   "%s would keep %lld elements for each of %lld inputs; choose fewer neurons "
                   "(--layers, --neurons chan)",
                   id, (long long)width, (long long)count);
}

px_status pxi_cover_rows_bits(pxi_cover_rows *rows, const char *id, int64_t count, int64_t elements,
                              px_error *err)
{
    if (elements > INT32_MAX)
        return rows_too_many(id, count, elements, err);
    *rows = (pxi_cover_rows){.count = count, .words = PX_MAX((elements + 63) / 64, (int64_t)1)};
    const size_t words = (size_t)rows->words;
    rows->bits = pxi_calloc((size_t)PX_MAX(count, (int64_t)1), words * sizeof *rows->bits);
    return rows->bits ? PX_OK : pxi_no_memory(err);
}

/* Words of the covered sections of one column: one more bit, for none. */
static int64_t column_words(const pxi_cover_rows *rows)
{
    return rows->per / 32 + 1;
}

px_status pxi_cover_rows_sections(pxi_cover_rows *rows, const char *id, int64_t count,
                                  int64_t columns, int32_t per, int64_t groups, px_error *err)
{
    *rows = (pxi_cover_rows){.count = count, .columns = columns, .groups = groups, .per = per};
    if (columns > INT32_MAX / column_words(rows) ||
        groups > INT32_MAX / PX_MAX(columns * column_words(rows), (int64_t)1))
        return rows_too_many(id, count, columns, err);
    const size_t width = (size_t)PX_MAX(columns, (int64_t)1);
    const size_t some = (size_t)PX_MAX(count, (int64_t)1);
    rows->sections = pxi_calloc(some, width * sizeof *rows->sections);
    rows->group = groups > 1 ? pxi_calloc(some, sizeof *rows->group) : NULL;
    if (!rows->sections || (groups > 1 && !rows->group)) {
        pxi_cover_rows_done(rows);
        return pxi_no_memory(err);
    }
    for (int64_t i = 0; i < count * columns; i++)
        rows->sections[i] = (uint16_t)per;
    return PX_OK;
}

int64_t pxi_cover_rows_bytes(int64_t count, int64_t width, bool sections)
{
    const int64_t each = sections ? 2 * width : (width + 63) / 64 * 8;
    return each > INT64_MAX / PX_MAX(count, (int64_t)1) ? INT64_MAX : each * count;
}

void pxi_cover_rows_done(pxi_cover_rows *rows)
{
    free(rows->bits);
    free(rows->sections);
    free(rows->group);
    *rows = (pxi_cover_rows){0};
}

/* --- gains ----------------------------------------------------------------------------------- */

typedef struct covered_set {
    const pxi_cover_rows *rows;
    size_t size;       /* in words of either kind */
    uint64_t *bits;    /* covered elements */
    uint32_t *columns; /* covered sections, and everywhere the bit of none */
} covered_set;

static void covered_clear(covered_set *set)
{
    const pxi_cover_rows *rows = set->rows;
    if (set->bits) {
        memset(set->bits, 0, set->size * sizeof *set->bits);
        return;
    }
    memset(set->columns, 0, set->size * sizeof *set->columns);
    const int64_t step = column_words(rows);
    for (int64_t c = 0; c < rows->columns * rows->groups; c++)
        set->columns[c * step + rows->per / 32] |= UINT32_C(1) << (rows->per % 32);
}

static bool covered_init(covered_set *set, const pxi_cover_rows *rows)
{
    *set = (covered_set){.rows = rows};
    set->size = rows->bits ? (size_t)rows->words
                           : (size_t)(rows->columns * rows->groups * column_words(rows));
    const size_t some = PX_MAX(set->size, 1);
    if (rows->bits)
        set->bits = pxi_calloc(some, sizeof *set->bits);
    else
        set->columns = pxi_calloc(some, sizeof *set->columns);
    if (!set->bits && !set->columns)
        return false;
    covered_clear(set);
    return true;
}

static void covered_done(covered_set *set)
{
    free(set->bits);
    free(set->columns);
}

COUNT_CLONES static int64_t new_bits(const uint64_t *restrict row, const uint64_t *restrict covered,
                                     int64_t words)
{
    int64_t count = 0;
    for (int64_t w = 0; w < words; w++)
        count += __builtin_popcountll(row[w] & ~covered[w]);
    return count;
}

COUNT_CLONES static int64_t new_sections(const uint16_t *restrict row,
                                         const uint32_t *restrict covered, int32_t columns,
                                         int32_t step)
{
    int32_t old = 0;
    for (int32_t c = 0; c < columns; c++) {
        const uint32_t section = row[c];
        old += (int32_t)(covered[c * step + (int32_t)(section >> 5)] >> (section & 31) & 1);
    }
    return columns - old;
}

static uint32_t *group_columns(const covered_set *set, int64_t i)
{
    const pxi_cover_rows *rows = set->rows;
    const int64_t group = rows->group ? rows->group[i] : 0;
    return set->columns + group * rows->columns * column_words(rows);
}

static int64_t covered_gain(const void *context, int64_t i)
{
    const covered_set *set = context;
    const pxi_cover_rows *rows = set->rows;
    if (rows->bits)
        return new_bits(rows->bits + i * rows->words, set->bits, rows->words);
    return new_sections(rows->sections + i * rows->columns, group_columns(set, i),
                        (int32_t)rows->columns, (int32_t)column_words(rows));
}

static px_status covered_take(void *context, int64_t i, px_error *err)
{
    (void)err;
    const covered_set *set = context;
    const pxi_cover_rows *rows = set->rows;
    for (int64_t w = 0; rows->bits && w < rows->words; w++)
        set->bits[w] |= rows->bits[i * rows->words + w];
    if (!rows->bits) {
        uint32_t *columns = group_columns(set, i);
        for (int64_t c = 0; c < rows->columns; c++) {
            const uint32_t section = rows->sections[i * rows->columns + c];
            columns[c * column_words(rows) + (section >> 5)] |= UINT32_C(1) << (section & 31);
        }
    }
    return PX_OK;
}

int64_t pxi_cover_rows_total(const pxi_cover_rows *rows, int64_t i)
{
    assert(i >= 0 && i < rows->count);
    int64_t total = 0;
    for (int64_t w = 0; rows->bits && w < rows->words; w++)
        total += __builtin_popcountll(rows->bits[i * rows->words + w]);
    for (int64_t c = 0; !rows->bits && c < rows->columns; c++)
        total += rows->sections[i * rows->columns + c] < rows->per;
    return total;
}

/* --- orders ---------------------------------------------------------------------------------- */

typedef struct greedy {
    const pxi_cover_rows *rows;
    const pxi_greedy_options *options;
    covered_set covered;
    int64_t *left; /* items that are not in the order yet, ascending */
    int64_t left_count;
    pxi_keyed *keyed;
    bool *taken; /* per row */
    int64_t *order, *gains;
    int64_t done;
} greedy;

static void greedy_put(greedy *g, int64_t item, int64_t gain)
{
    g->order[g->done] = item;
    g->gains[g->done++] = gain;
    g->taken[item] = true;
}

static void greedy_forget_taken(greedy *g)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < g->left_count; i++)
        if (!g->taken[g->left[i]])
            g->left[kept++] = g->left[i];
    g->left_count = kept;
}

/* All that is left by what each covers on its own; with `counts` that is its gain. */
static void greedy_by_total(greedy *g, bool counts)
{
    for (int64_t i = 0; i < g->left_count; i++)
        g->keyed[i] = (pxi_keyed){.key = (double)pxi_cover_rows_total(g->rows, g->left[i]),
                                  .item = g->left[i]};
    pxi_keyed_sort(g->keyed, g->left_count);
    for (int64_t i = 0; i < g->left_count; i++)
        greedy_put(g, g->keyed[i].item, counts ? (int64_t)g->keyed[i].key : 0);
    g->left_count = 0;
}

static px_status greedy_at_random(greedy *g, px_error *err)
{
    if (g->left_count > UINT32_MAX - 1)
        return px_fail(err, PX_E_UNSUPPORTED, "%lld inputs are too many to be shuffled",
                       (long long)g->left_count);
    int64_t *at = NULL;
    PX_TRY(PX_NEW(at, (size_t)g->left_count + 1, err));
    px_random random = px_rng(g->options->seed, PX_RNG_SELECT, 1, 1);
    px_rng_permutation(&random, at, (uint32_t)g->left_count);
    for (int64_t i = 0; i < g->left_count; i++)
        greedy_put(g, g->left[at[i]], 0);
    g->left_count = 0;
    free(at);
    return PX_OK;
}

/* One round of CAM over what is left. */
static px_status greedy_round(greedy *g, px_error *err)
{
    const pxi_lazy lazy = {.gain = covered_gain, .take = covered_take, .context = &g->covered};
    int64_t taken = 0;
    PX_TRY(pxi_lazy_run(&lazy, g->left, g->left_count, g->order + g->done, g->gains + g->done,
                        &taken, err));
    for (int64_t i = 0; i < taken; i++)
        g->taken[g->order[g->done + i]] = true;
    g->done += taken;
    greedy_forget_taken(g);
    return PX_OK;
}

static px_status greedy_cam(greedy *g, int64_t *useful, px_error *err)
{
    if (g->options->random_start && g->left_count > 0) {
        px_random random = px_rng(g->options->seed, PX_RNG_SELECT, 0, 1);
        const uint32_t most = (uint32_t)PX_MIN(g->left_count, (int64_t)UINT32_MAX);
        const int64_t first = g->left[px_rng_below(&random, most)];
        greedy_put(g, first, covered_gain(&g->covered, first));
        PX_TRY(covered_take(&g->covered, first, err));
        greedy_forget_taken(g);
    }
    PX_TRY(greedy_round(g, err));
    *useful = g->done;
    if (g->options->rest == PXI_REST_RANDOM)
        return greedy_at_random(g, err);
    for (int64_t before = -1; g->options->rest == PXI_REST_RESTART && before != g->done;) {
        before = g->done;
        covered_clear(&g->covered);
        PX_TRY(greedy_round(g, err));
    }
    greedy_by_total(g, /* counts= */ false);
    return PX_OK;
}

px_status pxi_greedy_order(const pxi_cover_rows *rows, const int64_t *items, int64_t count,
                           const pxi_greedy_options *options, int64_t *order, int64_t *gains,
                           int64_t *useful, px_error *err)
{
    greedy g = {.rows = rows, .options = options, .order = order, .gains = gains};
    const size_t some = (size_t)PX_MAX(count, (int64_t)1);
    int64_t added = 0;
    g.left = pxi_calloc(some, sizeof *g.left);
    g.keyed = pxi_calloc(some, sizeof *g.keyed);
    g.taken = pxi_calloc((size_t)PX_MAX(rows->count, (int64_t)1), sizeof *g.taken);
    px_status status =
        g.left && g.keyed && g.taken && covered_init(&g.covered, rows) ? PX_OK : pxi_no_memory(err);
    if (status == PX_OK) {
        for (int64_t i = 0; i < count; i++)
            g.left[i] = items ? items[i] : i;
        g.left_count = count;
        if (options->method == PXI_GREEDY_CTM) {
            greedy_by_total(&g, /* counts= */ true);
            while (added < count && gains[added] > 0)
                added++;
        } else {
            status = greedy_cam(&g, &added, err);
        }
    }
    if (status == PX_OK && useful)
        *useful = added;
    covered_done(&g.covered);
    free(g.left);
    free(g.keyed);
    free(g.taken);
    return status;
}
