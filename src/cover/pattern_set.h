/* src/cover/pattern_set.h - sets of patterns, each known by a 128-bit hash
 *
 * Open addressing with linear probing; grows at three quarters. With 10^9 patterns the chance that
 * two of them share a hash is below 10^-20. Saved in ascending order, so the same set gives the
 * same bytes.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_PATTERN_SET_H
#define PXI_COVER_PATTERN_SET_H

#include <plexor/cover.h>

typedef struct pxi_pattern {
    uint64_t low, high;
} pxi_pattern;

typedef struct pxi_pattern_set { /* {0} is empty */
    pxi_pattern *table;          /* {0, 0}: free */
    int64_t capacity, count;     /* capacity: 0 or a power of two */
    bool has_zero;               /* the one pattern that looks free in the table */
} pxi_pattern_set;

void pxi_pattern_set_done(pxi_pattern_set *set);
bool pxi_pattern_set_has(const pxi_pattern_set *set, pxi_pattern pattern);
px_status pxi_pattern_set_add(pxi_pattern_set *set, pxi_pattern pattern, px_error *err);
px_status pxi_pattern_set_join(pxi_pattern_set *set, const pxi_pattern_set *other, px_error *err);

/* `count` sets as PREFIX/counts [count] and PREFIX/patterns [sum][2]. */
px_status pxi_pattern_sets_save(const pxi_pattern_set *sets, size_t count, px_npz_writer *to,
                                const char *prefix, px_error *err);
/* *count 0: as many as the file has, into new memory at *sets; otherwise exactly those. */
px_status pxi_pattern_sets_load(pxi_pattern_set **sets, size_t *count, const px_npz *from,
                                const char *prefix, px_error *err);
void pxi_pattern_sets_free(pxi_pattern_set *sets, size_t count);

#endif
