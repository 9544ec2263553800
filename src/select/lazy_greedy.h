/* src/select/lazy_greedy.h - lazy greedy set cover, for items whose gains only shrink
 *
 *     pxi_lazy lazy = {.gain = ..., .take = ..., .context = &cover};
 *     pxi_lazy_run(&lazy, items, count, order, gains, &taken, &err);
 *
 * CSM B.3; Minoux, Accelerated Greedy Algorithms for Maximizing Submodular Set Functions, 1978. A
 * heap has the gain that each item had when it was last looked at, which is never below what it is
 * now. If the best one is up to date, it is the best of all; if not, it is looked at again. So the
 * order is that of plain greedy, ties by index included, and few gains are worked out more than
 * once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_LAZY_GREEDY_H
#define PXI_SELECT_LAZY_GREEDY_H

#include <plexor/error.h>
#include <stdint.h>

#define PXI_LAZY_MOST UINT32_MAX /* items: their numbers are below it */

typedef struct pxi_lazy {
    int64_t (*gain)(const void *context, int64_t item); /* what taking it now would add */
    px_status (*take)(void *context, int64_t item, px_error *err);
    void *context;
    int64_t above; /* greedy stops where no gain is above it */
} pxi_lazy;

/* Items by number, ascending; NULL: 0 .. count-1. order[count] gets those that were taken, in that
 * order, and gains (may be NULL) what each of them added, by its place there. */
px_status pxi_lazy_run(const pxi_lazy *lazy, const int64_t *items, int64_t count, int64_t *order,
                       int64_t *gains, int64_t *taken, px_error *err);

/* --- an order by plain numbers, for what greedy leaves --------------------------------------- */

typedef struct pxi_keyed {
    double key, tie; /* larger first; none is NaN */
    int64_t item;    /* equals: smaller first */
} pxi_keyed;
void pxi_keyed_sort(pxi_keyed *keyed, int64_t count);

/* Candidates whose score is a number, ascending; returns how many. Those whose score is none come
 * last in every order, by index: the other appends them at `at`. */
int64_t pxi_scored_items(const double *scores, int64_t count, int64_t *items);
void pxi_append_unscored(const double *scores, int64_t count, int64_t *order, int64_t at);

#endif
