/* src/select/vote_scores.c - what many stochastic passes over one input say about it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/vote_scores.h"

#include "base/memory.h"
#include "select/softmax_scores.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pxi_votes_init(pxi_votes *v, int classes)
{
    assert(classes > 0);
    *v = (pxi_votes){.classes = classes};
    v->votes = pxi_calloc((size_t)classes, sizeof *v->votes);
    v->sum = pxi_calloc((size_t)classes, sizeof *v->sum);
    return v->votes && v->sum;
}

void pxi_votes_done(pxi_votes *v)
{
    free(v->votes);
    free(v->sum);
    *v = (pxi_votes){0};
}

void pxi_votes_clear(pxi_votes *v)
{
    memset(v->votes, 0, (size_t)v->classes * sizeof *v->votes);
    memset(v->sum, 0, (size_t)v->classes * sizeof *v->sum);
    v->passes = 0;
    v->entropies = 0.0;
}

void pxi_votes_add(pxi_votes *v, const double *p)
{
    int best = 0;
    for (int c = 0; c < v->classes; c++) {
        v->sum[c] += p[c];
        if (p[c] > p[best])
            best = c;
    }
    v->votes[best]++;
    v->entropies += pxi_unsure_entropy(p, v->classes);
    v->passes++;
}

pxi_vote_scores pxi_votes_value(const pxi_votes *v)
{
    const double passes = (double)v->passes;
    int64_t most = 0;
    double best = 0.0, entropy = 0.0;
    for (int c = 0; c < v->classes; c++) {
        const double mean = v->sum[c] / passes; /* 0 / 0 where there was no pass */
        most = PX_MAX(most, v->votes[c]);
        best = mean > best ? mean : best;
        entropy -= mean == 0.0 ? 0.0 : mean * log2(mean);
    }
    if (isnan(entropy))
        return (pxi_vote_scores){NAN, NAN, NAN, NAN};
    return (pxi_vote_scores){.variation = 1.0 - (double)most / passes,
                             .entropy = entropy,
                             .information = entropy - v->entropies / passes,
                             .softmax = 1.0 - best};
}
