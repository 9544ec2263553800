/* src/select/ats_lines.c - ATS: inputs that are unsure in different ways
 *
 * as_program follows the authors' public program where it differs from the paper: the coordinate of
 * p has q's formula, which mirrors every piece; an input whose probability is exactly `up` belongs
 * nowhere (it comes last here); and the length of an input that greedy left is looked up at its
 * place among the class's lengths in ascending order, not at its own.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/ats_lines.h"

#include "base/arena.h"
#include "base/memory.h"
#include "select/lazy_greedy.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

pxi_ats_options pxi_ats_options_default(void)
{
    return (pxi_ats_options){.up = 0.99, .least = 0.001, .radius = 0.005};
}

pxi_ats_piece pxi_ats_piece_of(double of_i, double of_p, double of_q,
                               const pxi_ats_options *options)
{
    const pxi_ats_piece none = {0, 0};
    const double at_i = (2.0 * of_i - of_p - of_q + 1.0) / 3.0;
    const double at_p = options->as_program ? (2.0 * of_q - of_p - of_i + 1.0) / 3.0
                                            : (2.0 * of_p - of_i - of_q + 1.0) / 3.0;
    const double t = at_p / (1.0 - at_i), r = options->radius * (options->up - at_i);
    if (!(r >= 0.0 && t >= 0.0 && t <= 1.0)) /* also where at_i is 1 */
        return none;
    const double from = nearbyint(fmax(t - r, 0.0) * PXI_ATS_UNITS);
    const double to = nearbyint(fmin(t + r, 1.0) * PXI_ATS_UNITS);
    return (pxi_ats_piece){.from = (int32_t)from, .to = (int32_t)to};
}

/* --- unions ---------------------------------------------------------------------------------- */

/* The first piece that ends at `at` or after it. */
static size_t union_find(const pxi_ats_union *set, int32_t at)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (set->piece[mid].to < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int64_t pxi_ats_union_overlap(const pxi_ats_union *set, pxi_ats_piece piece)
{
    int64_t both = 0;
    for (size_t i = union_find(set, piece.from); i < set->count && set->piece[i].from < piece.to;
         i++)
        both += PX_MIN(set->piece[i].to, piece.to) - PX_MAX(set->piece[i].from, piece.from);
    return both;
}

bool pxi_ats_union_add(pxi_ats_union *set, pxi_ats_piece piece)
{
    if (piece.from >= piece.to)
        return true;
    const size_t first = union_find(set, piece.from);
    size_t end = first;
    for (; end < set->count && set->piece[end].from <= piece.to; end++) {
        piece.from = PX_MIN(piece.from, set->piece[end].from);
        piece.to = PX_MAX(piece.to, set->piece[end].to);
    }
    if (end == first && pxi_grow(&set->piece, &set->capacity, set->count + 1, sizeof piece) != 0)
        return false;
    memmove(set->piece + first + 1, set->piece + end, (set->count - end) * sizeof piece);
    set->piece[first] = piece;
    set->count = set->count + 1 - (end - first);
    return true;
}

/* --- one class ------------------------------------------------------------------------------- */

typedef struct ats_line {
    int p, q; /* the classes it lies between */
    pxi_ats_union covered;
} ats_line;

typedef struct ats_class {
    const float *p;
    int classes, own;
    const pxi_ats_options *options;
    ats_line *lines;
    size_t line_count;
} ats_class;

static pxi_ats_piece class_piece(const ats_class *c, int64_t item, const ats_line *line)
{
    const float *p = c->p + item * c->classes;
    return pxi_ats_piece_of((double)p[c->own], (double)p[line->p], (double)p[line->q], c->options);
}

static int64_t class_gain(const void *context, int64_t item)
{
    const ats_class *c = context;
    int64_t gain = 0;
    for (size_t i = 0; i < c->line_count; i++) {
        const pxi_ats_piece piece = class_piece(c, item, &c->lines[i]);
        gain += piece.to - piece.from - pxi_ats_union_overlap(&c->lines[i].covered, piece);
    }
    return gain;
}

static px_status class_take(void *context, int64_t item, px_error *err)
{
    const ats_class *c = context;
    for (size_t i = 0; i < c->line_count; i++)
        if (!pxi_ats_union_add(&c->lines[i].covered, class_piece(c, item, &c->lines[i])))
            return pxi_no_memory(err);
    return PX_OK;
}

static void class_begin(ats_class *c, int own)
{
    ats_line *line = c->lines;
    c->own = own;
    for (int p = 0; p < c->classes; p++)
        for (int q = p + 1; p != own && q < c->classes; q++)
            if (q != own) {
                line->p = p;
                line->q = q;
                line++->covered.count = 0;
            }
}

/* --- the order ------------------------------------------------------------------------------- */

typedef struct ats {
    px_arena *memory; /* of all arrays */
    ats_class one;    /* the class that is being looked at */
    const int32_t *predicted;
    const int64_t *items;
    int64_t count;
    int64_t *members, *taken, *gains; /* of the class */
    pxi_keyed *lengths;               /* of the class: its members, in ascending order */
    bool *is_taken;                   /* per member */
    pxi_keyed *chosen, *others;
    int64_t *sure, *nowhere;
    int64_t chosen_count, other_count, sure_count, nowhere_count;
} ats;

static void ats_done(ats *a)
{
    for (size_t i = 0; a->one.lines && i < a->one.line_count; i++)
        free(a->one.lines[i].covered.piece);
    pxi_arena_free(a->memory);
}

static bool ats_init(ats *a)
{
    const size_t others = (size_t)a->one.classes - 1, n = (size_t)a->count + 1;
    a->one.line_count = others * (others - 1) / 2;
    a->memory = pxi_arena_new();
    a->one.lines = pxi_arena_alloc(a->memory, a->one.line_count, sizeof *a->one.lines);
    a->members = pxi_arena_alloc(a->memory, n, sizeof *a->members);
    a->taken = pxi_arena_alloc(a->memory, n, sizeof *a->taken);
    a->gains = pxi_arena_alloc(a->memory, n, sizeof *a->gains);
    a->lengths = pxi_arena_alloc(a->memory, n, sizeof *a->lengths);
    a->is_taken = pxi_arena_alloc(a->memory, n, sizeof *a->is_taken);
    a->chosen = pxi_arena_alloc(a->memory, n, sizeof *a->chosen);
    a->others = pxi_arena_alloc(a->memory, n, sizeof *a->others);
    a->sure = pxi_arena_alloc(a->memory, n, sizeof *a->sure);
    a->nowhere = pxi_arena_alloc(a->memory, n, sizeof *a->nowhere);
    return pxi_arena_whole(a->memory);
}

/* Members of the class that are not sure; the others go where they belong. */
static int64_t class_split(ats *a)
{
    int64_t members = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const int64_t item = a->items[i];
        if (a->predicted[item] != a->one.own)
            continue;
        const float p = a->one.p[item * a->one.classes + a->one.own];
        const double up = a->one.options->up;
        if (a->one.options->as_program && p == (float)up) /* it compares in float */
            a->nowhere[a->nowhere_count++] = item;
        else if ((double)p >= up)
            a->sure[a->sure_count++] = item;
        else
            a->members[members++] = item;
    }
    return members;
}

static int ascending(const void *left, const void *right)
{
    const pxi_keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

static px_status class_order(ats *a, int own, px_error *err)
{
    class_begin(&a->one, own);
    const int64_t members = class_split(a);
    for (int64_t i = 0; i < members; i++) {
        a->lengths[i] = (pxi_keyed){.key = (double)class_gain(&a->one, a->members[i]), .item = i};
        a->is_taken[i] = false;
    }
    const pxi_lazy lazy = {
        .gain = class_gain,
        .take = class_take,
        .context = &a->one,
        .above = (int64_t)floor(a->one.options->least * PXI_ATS_UNITS + 1e-6),
    };
    int64_t taken = 0;
    PX_TRY(pxi_lazy_run(&lazy, a->members, members, a->taken, a->gains, &taken, err));
    for (int64_t i = 0; i < taken; i++) {
        a->chosen[a->chosen_count++] = (pxi_keyed){.key = (double)a->gains[i], .item = a->taken[i]};
        int64_t low = 0, high = members; /* its place: members ascend */
        while (low < high) {
            const int64_t mid = low + (high - low) / 2;
            if (a->members[mid] < a->taken[i])
                low = mid + 1;
            else
                high = mid;
        }
        a->is_taken[low] = true;
    }
    if (a->one.options->as_program && members > 1)
        qsort(a->lengths, (size_t)members, sizeof *a->lengths, ascending);
    for (int64_t i = 0; i < members; i++)
        if (!a->is_taken[i])
            a->others[a->other_count++] =
                (pxi_keyed){.key = a->lengths[i].key, .item = a->members[i]};
    return PX_OK;
}

static px_status ats_finish(ats *a, uint64_t seed, int64_t *order, double *lengths, px_error *err)
{
    int64_t at = 0;
    pxi_keyed_sort(a->chosen, a->chosen_count);
    pxi_keyed_sort(a->others, a->other_count);
    for (int64_t i = 0; i < a->chosen_count + a->other_count; i++, at++) {
        const pxi_keyed *k = i < a->chosen_count ? &a->chosen[i] : &a->others[i - a->chosen_count];
        order[at] = k->item;
        lengths[at] = k->key / PXI_ATS_UNITS;
    }
    if (a->sure_count >= (int64_t)UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "%lld inputs are too many to be shuffled",
                       (long long)a->sure_count);
    px_random random = px_rng(seed, PX_RNG_SELECT, 0, 2);
    px_rng_permutation(&random, a->taken, (uint32_t)a->sure_count); /* nobody needs it any more */
    for (int64_t i = 0; i < a->sure_count; i++, at++)
        order[at] = a->sure[a->taken[i]];
    for (int64_t i = 0; i < a->nowhere_count; i++, at++)
        order[at] = a->nowhere[i];
    for (int64_t i = a->chosen_count + a->other_count; i < at; i++)
        lengths[i] = 0.0;
    return PX_OK;
}

px_status pxi_ats_order(const float *p, const int32_t *predicted, int classes, const int64_t *items,
                        int64_t count, const pxi_ats_options *options, int64_t *order,
                        double *lengths, pxi_ats_counts *counts, px_error *err)
{
    ats a = {.one = {.p = p, .classes = classes, .options = options},
             .predicted = predicted,
             .items = items,
             .count = count};
    px_status status = ats_init(&a) ? PX_OK : pxi_no_memory(err);
    for (int c = 0; c < classes && status == PX_OK; c++)
        status = class_order(&a, c, err);
    PX_THEN(status, ats_finish(&a, options->seed, order, lengths, err));
    if (status == PX_OK && counts)
        *counts = (pxi_ats_counts){.chosen = a.chosen_count,
                                   .others = a.other_count,
                                   .sure = a.sure_count + a.nowhere_count};
    ats_done(&a);
    return status;
}
