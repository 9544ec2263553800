/* src/cover/clusters.c - vectors of which no two are near: the centres of CC */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/clusters.h"

#include "base/memory.h"
#include "base/vector_math.h"

#include <assert.h>
#include <stdlib.h>

enum { LANES = PXI_CLUSTER_LANES };

void pxi_clusters_done(pxi_clusters *clusters)
{
    free(clusters->groups);
    clusters->groups = NULL;
    clusters->count = 0;
    clusters->capacity = 0;
}

/* Squared distances from x to the sixteen centres of a group. */
PXI_WIDE static void group_distances(const float *restrict group, const float *restrict x,
                                     int64_t dim, float *restrict out)
{
    float sum[LANES] = {0};
    for (int64_t d = 0; d < dim; d++)
        for (int j = 0; j < LANES; j++) {
            const float difference = x[d] - group[d * LANES + j];
            sum[j] += difference * difference;
        }
    for (int j = 0; j < LANES; j++)
        out[j] = sum[j];
}

static double lane_distance(const float *group, const float *x, int64_t dim, int lane)
{
    double sum = 0.0;
    for (int64_t d = 0; d < dim; d++) {
        const double difference = (double)x[d] - (double)group[d * LANES + lane];
        sum += difference * difference;
    }
    return sum;
}

bool pxi_clusters_near(const pxi_clusters *clusters, const float *x, double t)
{
    const int64_t dim = clusters->dim;
    /* A sum of dim squares of rounded differences, none below 0: relative error at most
     * (dim + 2) units of 2^-24, and what underflows. */
    const double doubt = (double)(dim + 8) * 0x1p-24;
    const double sure_near = t * (1.0 - doubt) - (double)dim * 0x1p-120;
    const double sure_far = t * (1.0 + doubt) + (double)dim * 0x1p-120;
    for (int64_t g = (clusters->count - 1) / LANES; clusters->count > 0 && g >= 0; g--) {
        const float *group = clusters->groups + g * dim * LANES;
        const int64_t left = clusters->count - g * LANES;
        const int lanes = left < LANES ? (int)left : LANES;
        float distance[LANES];
        group_distances(group, x, dim, distance);
        for (int j = lanes - 1; j >= 0; j--) {
            const double d = (double)distance[j];
            if (d < sure_near)
                return true;
            if (!(d > sure_far && d < INFINITY) && lane_distance(group, x, dim, j) <= t)
                return true;
        }
    }
    return false;
}

px_status pxi_clusters_add(pxi_clusters *clusters, const float *x, px_error *err)
{
    const int lane = (int)(clusters->count % LANES);
    const size_t group = (size_t)clusters->dim * LANES, at = (size_t)(clusters->count / LANES);
    if (lane == 0) {
        if (pxi_grow(&clusters->groups, &clusters->capacity, (at + 1) * group,
                     sizeof *clusters->groups) != 0)
            return pxi_no_memory_for(err, "%lld centres", (long long)clusters->count + 1);
        memset(clusters->groups + at * group, 0, group * sizeof *clusters->groups);
    }
    for (int64_t d = 0; d < clusters->dim; d++)
        clusters->groups[at * group + (size_t)(d * LANES + lane)] = x[d];
    clusters->count++;
    return PX_OK;
}

void pxi_clusters_get(const pxi_clusters *clusters, int64_t i, float *x)
{
    assert(i >= 0 && i < clusters->count);
    const float *group = clusters->groups + i / LANES * clusters->dim * LANES;
    for (int64_t d = 0; d < clusters->dim; d++)
        x[d] = group[d * LANES + i % LANES];
}
