/* src/cover/pattern_set.c - sets of patterns, each known by a 128-bit hash */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/pattern_set.h"

#include "base/memory.h"

#include <assert.h>
#include <internal/cover.h>
#include <inttypes.h>
#include <stdlib.h>

enum { SET_FIRST = 256 };
#define SET_MOST ((int64_t)1 << 36) /* patterns: a tebibyte; far more than inputs are */

static bool pattern_is_zero(pxi_pattern p)
{
    return p.low == 0 && p.high == 0;
}

static bool pattern_equal(pxi_pattern a, pxi_pattern b)
{
    return a.low == b.low && a.high == b.high;
}

void pxi_pattern_set_done(pxi_pattern_set *set)
{
    free(set->table);
    *set = (pxi_pattern_set){0};
}

/* Where it is, or where it would go. */
static int64_t set_place(const pxi_pattern *table, int64_t capacity, pxi_pattern pattern)
{
    assert(capacity > 0 && (capacity & (capacity - 1)) == 0);
    const uint64_t mask = (uint64_t)capacity - 1;
    uint64_t at = pattern.low & mask;
    while (!pattern_is_zero(table[at]) && !pattern_equal(table[at], pattern))
        at = (at + 1) & mask;
    return (int64_t)at;
}

bool pxi_pattern_set_has(const pxi_pattern_set *set, pxi_pattern pattern)
{
    if (pattern_is_zero(pattern))
        return set->has_zero;
    return set->capacity > 0 &&
           !pattern_is_zero(set->table[set_place(set->table, set->capacity, pattern)]);
}

/* Makes room for `count` patterns below three quarters. */
static px_status set_reserve(pxi_pattern_set *set, int64_t count, px_error *err)
{
    int64_t capacity = set->capacity ? set->capacity : SET_FIRST;
    while (capacity - capacity / 4 < count && capacity < SET_MOST)
        capacity *= 2;
    if (capacity == set->capacity)
        return PX_OK;
    pxi_pattern *table = capacity < SET_MOST ? pxi_calloc((size_t)capacity, sizeof *table) : NULL;
    if (!table)
        return pxi_no_memory_for(err, "%" PRId64 " patterns", count);
    for (int64_t i = 0; i < set->capacity; i++)
        if (!pattern_is_zero(set->table[i]))
            table[set_place(table, capacity, set->table[i])] = set->table[i];
    free(set->table);
    set->table = table;
    set->capacity = capacity;
    return PX_OK;
}

px_status pxi_pattern_set_add(pxi_pattern_set *set, pxi_pattern pattern, px_error *err)
{
    if (pattern_is_zero(pattern)) {
        set->count += !set->has_zero;
        set->has_zero = true;
        return PX_OK;
    }
    if (set->count + 1 > set->capacity - set->capacity / 4)
        PX_TRY(set_reserve(set, set->count + 1, err));
    pxi_pattern *place = &set->table[set_place(set->table, set->capacity, pattern)];
    if (pattern_is_zero(*place)) {
        *place = pattern;
        set->count++;
    }
    return PX_OK;
}

px_status pxi_pattern_set_join(pxi_pattern_set *set, const pxi_pattern_set *other, px_error *err)
{
    if (other->has_zero)
        PX_TRY(pxi_pattern_set_add(set, (pxi_pattern){0}, err));
    for (int64_t i = 0; i < other->capacity; i++)
        if (!pattern_is_zero(other->table[i]))
            PX_TRY(pxi_pattern_set_add(set, other->table[i], err));
    return PX_OK;
}

static int pattern_order(const void *a, const void *b)
{
    const pxi_pattern *x = a, *y = b;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->low < y->low ? -1 : x->low > y->low;
}

px_status pxi_pattern_sets_save(const pxi_pattern_set *sets, size_t count, px_npz_writer *to,
                                const char *prefix, px_error *err)
{
    int64_t total = 0;
    for (size_t s = 0; s < count; s++)
        total += sets[s].count;
    int64_t *counts = pxi_calloc(count, sizeof *counts);
    pxi_pattern *all = pxi_calloc((size_t)PX_MAX(total, 1), sizeof *all);
    px_status status = PX_OK;
    if (!counts || !all) {
        status = pxi_no_memory(err);
        goto done;
    }
    pxi_pattern *next = all;
    for (size_t s = 0; s < count; s++) {
        counts[s] = sets[s].count;
        pxi_pattern *first = next;
        if (sets[s].has_zero)
            *next++ = (pxi_pattern){0};
        for (int64_t i = 0; i < sets[s].capacity; i++)
            if (!pattern_is_zero(sets[s].table[i]))
                *next++ = sets[s].table[i];
        qsort(first, (size_t)(next - first), sizeof *first, pattern_order);
    }
    const px_shape of_sets = {.rank = 1, .dim = {(int64_t)count}};
    const px_shape of_all = {.rank = 2, .dim = {total, 2}};
    status = px_npz_put(to, prefix, "counts", PX_INT64, &of_sets, counts, err);
    PX_THEN(status, px_npz_put(to, prefix, "patterns", PX_UINT64, &of_all, all, err));
done:
    free(all);
    free(counts);
    return status;
}

void pxi_pattern_sets_free(pxi_pattern_set *sets, size_t count)
{
    for (size_t s = 0; sets && s < count; s++)
        pxi_pattern_set_done(&sets[s]);
    free(sets);
}

px_status pxi_pattern_sets_load(pxi_pattern_set **sets, size_t *count, const px_npz *from,
                                const char *prefix, px_error *err)
{
    const px_shape any = {.rank = 1, .dim = {-1}}, pairs = {.rank = 2, .dim = {-1, 2}};
    const void *values;
    px_shape of_sets, of_all;
    PX_TRY(px_npz_take(from, prefix, "counts", PX_INT64, &any, &values, &of_sets, err));
    const int64_t *counts = values;
    PX_TRY(px_npz_take(from, prefix, "patterns", PX_UINT64, &pairs, &values, &of_all, err));
    const pxi_pattern *all = values;
    const size_t found = (size_t)of_sets.dim[0];
    if (*count > 0 && found != *count)
        return px_fail(err, PX_E_MISMATCH, "'%.100s' has %zu sets of patterns instead of %zu",
                       prefix, found, *count);
    int64_t left = of_all.dim[0];
    for (size_t s = 0; s < found && left >= 0; s++)
        left = counts[s] < 0 || counts[s] > left ? -1 : left - counts[s];
    if (left != 0 || found == 0)
        return px_fail(err, PX_E_INPUT, "'%.100s' is damaged: counts and patterns do not fit",
                       prefix);
    pxi_pattern_set *read = NULL;
    px_status status = PX_NEW(read, found, err);
    for (size_t s = 0; status == PX_OK && s < found; s++) {
        status = set_reserve(&read[s], counts[s], err);
        for (int64_t i = 0; status == PX_OK && i < counts[s]; i++, all++) {
            if (i > 0 && pattern_order(all - 1, all) >= 0)
                status = px_fail(err, PX_E_INPUT,
                                 "'%.100s' is damaged: its patterns are not in order", prefix);
            else
                status = pxi_pattern_set_add(&read[s], *all, err);
        }
    }
    if (status != PX_OK) {
        pxi_pattern_sets_free(read, found);
        return status;
    }
    pxi_pattern_sets_free(*sets, *count);
    *sets = read;
    *count = found;
    return PX_OK;
}
