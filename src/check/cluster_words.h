/* src/check/cluster_words.h - what the members of a cluster of failures have in common, in words */
#ifndef PXI_CLUSTER_WORDS_H
#define PXI_CLUSTER_WORDS_H

#include "check/check_inside.h"

/* Below this average silhouette there is no substantial grouping (Kaufman & Rousseeuw, Finding
 * Groups in Data, 1990, table 4 of chapter 2). */
#define PXI_CLUSTER_WEAK 0.25

typedef struct pxi_member {
    int64_t label, prediction;
    const char *method;          /* "data", "synthesize", "attack", "fuzz" */
    const px_mutation *mutation; /* of fuzz: the last one; NULL: unknown */
    int band;
} pxi_member;

/* Members `kinds` and `made`, the largest up to three of each with their shares, and `title`. */
px_status pxi_cluster_words(const px_check *c, const pxi_member *members, size_t count,
                            px_json *out, px_error *err);

#endif
