/* src/cover/clusters.h - vectors of which no two are near: the centres of CC
 *
 * Centres are kept sixteen at a time, element by element beside each other, so that sixteen
 * distances are worked out at once without sums across a register. A distance is taken in float
 * first; only where that is too close to the threshold to be sure is it taken again in double,
 * which decides. The most recent centres are asked first, and the first that is near ends the
 * search.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_CLUSTERS_H
#define PXI_COVER_CLUSTERS_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

#define PXI_CLUSTER_LANES 16

typedef struct pxi_clusters { /* of one layer */
    int64_t dim, count;
    float *groups;   /* [ceil(count / lanes)][dim][lanes] */
    size_t capacity; /* of groups, in floats */
} pxi_clusters;

void pxi_clusters_done(pxi_clusters *clusters);
/* Whether a centre is within the threshold: squared Euclidean distance <= t, in double. */
bool pxi_clusters_near(const pxi_clusters *clusters, const float *x, double t);
px_status pxi_clusters_add(pxi_clusters *clusters, const float *x, px_error *err);
void pxi_clusters_get(const pxi_clusters *clusters, int64_t i, float *x);

#endif
