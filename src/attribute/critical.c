/* src/attribute/critical.c - critical units: which decided in a layer, what two paths share */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/paths_internal.h"

#include <internal/decision_path.h>
#include <math.h>

int32_t pxi_critical_unit(const double *contributions, const bool *competes, int64_t units)
{
    int64_t best = -1;
    bool some = false; /* that is not zero */
    for (int64_t u = 0; u < units; u++) {
        if (!competes[u] || isnan(contributions[u]))
            continue;
        some = some || contributions[u] != 0.0;
        if (best < 0 || contributions[u] > contributions[best])
            best = u;
    }
    return some ? (int32_t)best : -1;
}

double px_path_jaccard(const px_path *a, const px_path *b)
{
    int shared = 0, all = 0;
    for (int32_t l = 0; l < PX_PATH_LAYERS_MOST; l++) {
        const int32_t first = l < a->layers ? a->step[l].unit : -1;
        const int32_t second = l < b->layers ? b->step[l].unit : -1;
        const bool same = first >= 0 && first == second;
        shared += same;
        all += (first >= 0) + (second >= 0) - same;
    }
    return all > 0 ? (double)shared / all : 1.0;
}
