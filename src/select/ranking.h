/* src/select/ranking.h - candidates in order, all of them or the best so far
 *
 * Added in any order by any number of rankings that are merged, the result is the same: candidates
 * are ordered by (score descending, index ascending), NaN last.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_RANKING_H
#define PXI_SELECT_RANKING_H

#include <plexor/select.h>

typedef struct pxi_ranking_heap { /* the worst on top */
    px_ranked *entry;
    size_t count, capacity;
} pxi_ranking_heap;

typedef struct pxi_ranking {
    int64_t keep;           /* per stratum */
    int strata;             /* classes + 1, the last one for candidates without a class; or 1 */
    pxi_ranking_heap *heap; /* per stratum */
    int64_t added, unscored;
    double least, most; /* of the scores that are numbers; least > most: none */
} pxi_ranking;

/* a comes before b. */
bool pxi_ranked_before(const px_ranked *a, const px_ranked *b);
void pxi_ranked_sort(px_ranked *entries, int64_t count);

/* `classes` 0: not stratified. */
px_status pxi_ranking_init(pxi_ranking *ranking, int64_t keep, int classes, px_error *err);
void pxi_ranking_done(pxi_ranking *ranking); /* {0} is fine */
px_status pxi_ranking_add(pxi_ranking *ranking, const px_ranked *candidate, px_error *err);
px_status pxi_ranking_merge(pxi_ranking *ranking, const pxi_ranking *other, px_error *err);
/* The kept ones of all strata, sorted; the caller frees *out. */
px_status pxi_ranking_take(const pxi_ranking *ranking, px_ranked **out, int64_t *count,
                           px_error *err);

/* Entries in ranking order become turns: the first of each class, the second of each, ... */
px_status pxi_ranked_stratify(px_ranked *entries, int64_t count, int classes, px_error *err);

#endif
