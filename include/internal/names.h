/* include/internal/names.h - from names to indices
 *
 * An open-addressing table. It borrows the texts, so they must outlive it. The hash is seeded per
 * table: a stranger's file cannot be built to collide, and nothing ever walks the table in its
 * own order, so the seed shows in no result.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_NAMES_H
#define PXI_INTERNAL_NAMES_H

#include <stddef.h>
#include <stdint.h>

typedef struct pxi_names {
    struct pxi_name *slots;
    size_t capacity, used; /* capacity is zero or a power of two */
    uint64_t seed;
} pxi_names;

/* A zeroed pxi_names is an empty table. Returns the index already held under `name`, `index` if it
 * was added now, or -1 when out of memory. Indices are not negative. */
int pxi_names_add(pxi_names *names, const char *name, int index);
int pxi_names_find(const pxi_names *names, const char *name); /* -1: not there */
void pxi_names_done(pxi_names *names);

#endif
