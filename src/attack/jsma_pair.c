/* src/attack/jsma_pair.c - the best pair of features, exactly, in far fewer than D^2/2 products
 *
 * For a fixed p no pair has A > alpha_p + max alpha or B < beta_p + min beta, so -A B is at most
 * the product of those two, and a p whose bound does not exceed the best found so far is passed
 * over.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/attack_internal.h"

static float pair_score(float alpha, float beta, bool free)
{
    return free && alpha > 0.0f && beta < 0.0f ? -(alpha * beta) : 0.0f;
}

/* The largest score of p with one of from..count-1; 0: none qualifies. */
static float pair_row(const float *alpha, const float *beta, const uint8_t *free, size_t count,
                      size_t p)
{
    const float a = alpha[p], b = beta[p];
    float most = 0.0f;
#pragma omp simd reduction(max : most)
    for (size_t q = p + 1; q < count; q++) {
        const float score = pair_score(a + alpha[q], b + beta[q], free[q]);
        most = score > most ? score : most;
    }
    return most;
}

bool pxi_jsma_pair(const float *alpha, const float *beta, const uint8_t *free, size_t count,
                   size_t *p, size_t *q)
{
    float most_alpha = 0.0f, least_beta = 0.0f, best = 0.0f;
    bool some = false;
    for (size_t i = 0; i < count; i++) {
        if (!free[i])
            continue;
        most_alpha = !some || alpha[i] > most_alpha ? alpha[i] : most_alpha;
        least_beta = !some || beta[i] < least_beta ? beta[i] : least_beta;
        some = true;
    }
    for (size_t i = 0; i < count; i++) {
        const float a = free[i] ? alpha[i] + most_alpha : 0.0f;
        const float b = free[i] ? beta[i] + least_beta : 0.0f;
        if (!(a > 0.0f) || !(b < 0.0f) || !(-(a * b) > best))
            continue;
        const float score = pair_row(alpha, beta, free, count, i);
        if (!(score > best))
            continue;
        best = score;
        *p = i;
    }
    if (!(best > 0.0f))
        return false;
    for (*q = *p + 1; *q < count; ++*q)
        if (pair_score(alpha[*p] + alpha[*q], beta[*p] + beta[*q], free[*q]) == best)
            break;
    return true;
}
