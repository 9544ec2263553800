/* src/cover/npc.h - decision paths: the neurons that carry most of a prediction's relevance
 *
 * Xie et al., NPC: Neuron Path Coverage via Characterizing Decision Logic of Deep Neural Networks,
 * TOSEM 2022; CSM A.9. A path is a flag per neuron. The abstract paths of a class are what the
 * paths of correctly classified training inputs of that class have in common.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_NPC_H
#define PXI_COVER_NPC_H

#include <plexor/cover.h>

typedef struct pxi_npc_config { /* what is learned depends on the first four */
    double alpha, beta;
    int64_t k;
    int compat; /* 1: as the public code counts */
    double lrp;
    int64_t m;
    int over; /* SNPC: layers or the path */
    double u; /* ANPC: the upper end */
} pxi_npc_config;

/* The critical decision path of one input, per layer: the shortest prefix of positive relevances,
 * largest first (ties: lower index), whose sum reaches alpha times the sum of all positive ones, up
 * to 1e-9 of it. `heap` has room for the largest layer. */
void pxi_npc_path(const px_row_layer *layers, size_t layer_count, const float *relevance,
                  double alpha, uint8_t *path, int32_t *heap);

/* |a & b| / |a | b| over `count` neurons, 1 where both are empty. */
double pxi_npc_jaccard(const uint8_t *a, const uint8_t *b, int64_t count);

/* floor(j m), at most m - 1; `compat`: ceil(j m), which can be m. Both up to 1e-9. */
int64_t pxi_npc_bucket(double j, int64_t m, bool compat);

/* Neurons of [0, count) that so many of `members` paths have: at least beta of them. `compat`: one
 * is added to every count, and the first neuron that falls short is kept, too. */
void pxi_npc_abstract(const int64_t *counts, int64_t members, int64_t count, double beta,
                      bool compat, uint8_t *abstract);

/* --- SNPC's elements, one input at a time: for selectors -----------------------------------------
 *
 * An input is compared with the k abstract paths of its predicted class, layer by layer (or as a
 * whole): so many *columns*, and in each of them it is in one bucket.
 */
typedef struct pxi_npc pxi_npc; /* what SNPC and ANPC prepare; immutable, shared */
px_status pxi_snpc_new(const px_criterion_request *request, pxi_npc **out, px_error *err);
void pxi_npc_free(void *npc); /* NULL is fine */
int64_t pxi_snpc_columns(const pxi_npc *npc);
int64_t pxi_snpc_buckets(const pxi_npc *npc); /* of a column */

typedef struct pxi_npc_scratch { /* a worker's */
    uint8_t *path;
    int32_t *heap;
    double *nearest; /* per layer */
} pxi_npc_scratch;
bool pxi_npc_scratch_init(pxi_npc_scratch *scratch, const pxi_npc *npc); /* false: no memory */
void pxi_npc_scratch_done(pxi_npc_scratch *scratch);                     /* after a failure too */

/* bucket[columns] of row i, -1 where there is none: a class without abstract paths. */
void pxi_snpc_find(const pxi_npc *npc, pxi_npc_scratch *scratch, const px_rows *rows, int64_t i,
                   int32_t *bucket);

/* --- what is learned ------------------------------------------------------------------------- */

/* `paths` uint8 [classes, k, neurons], `sizes` int64 [classes, k]: members of each cluster. */
extern const px_learner pxi_learner_paths;
/* The same, with `members` float32 [sum of size times neurons in the abstract path]: activations,
 * cluster by cluster in the order of the data set, and `limits` float64 [layers]: the largest
 * distance of a member to its nearest fellow. */
extern const px_learner pxi_learner_members;

#endif
