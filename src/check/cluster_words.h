/* src/check/cluster_words.h - what the members of a cluster of failures have in common, in words */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_CLUSTER_WORDS_H
#define PXI_CLUSTER_WORDS_H

#include "check/check_internal.h"

#include <plexor/mutate.h>

/* Below this average silhouette there is no substantial grouping (Kaufman & Rousseeuw, Finding
 * Groups in Data, 1990, table 4 of chapter 2). */
#define PXI_CLUSTER_WEAK 0.25

typedef struct pxi_member {
    int64_t label, prediction;
    const char *method;          /* "data", "synthesize", "attack", "fuzz" */
    const px_mutation *mutation; /* of fuzz: the last one; NULL: unknown */
    int band;
} pxi_member;

enum { PXI_WORDS_SHOWN = 3 };

typedef struct pxi_cluster_part { /* a kind of failure, or a way of making them */
    int64_t label, prediction;
    char text[PX_BAND_TEXT];
    int64_t count;
    double share;
} pxi_cluster_part;

typedef struct pxi_cluster_words {
    pxi_cluster_part kinds[PXI_WORDS_SHOWN], made[PXI_WORDS_SHOWN]; /* the largest */
    size_t kind_count, made_count;
    char *title;
} pxi_cluster_words;
extern const px_field pxi_cluster_words_fields[];

/* What the members have in common; the caller frees the title, after a failure too. */
px_status pxi_cluster_words_find(const px_check *c, const pxi_member *members, size_t count,
                                 pxi_cluster_words *out, px_error *err);

#endif
