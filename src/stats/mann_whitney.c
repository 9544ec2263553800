/* src/stats/mann_whitney.c - Mann & Whitney, Annals of Mathematical Statistics 18 (1947)
 *
 * The exact distribution counts, for each u, the orders of n1 + n2 values that give it. They obey
 * c(u; n1, n2) = c(u - n2; n1 - 1, n2) + c(u; n1, n2 - 1), whose solution is the Gaussian binomial.
 * The counts of 20 and 20 values stay below 2^53, so doubles hold them exactly.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_MOST = 20, EXACT_COUNTS = EXACT_MOST * EXACT_MOST + 1 };

/* counts[u], 0 <= u <= n1 n2, of n1, n2 <= EXACT_MOST: the coefficients of the product of
 * (1 - q^(n2 + i)) / (1 - q^i) over i = 1..n1, each factor applied in place. */
static void exact_counts(int n1, int n2, double *counts)
{
    const int most = n1 * n2;
    memset(counts, 0, EXACT_COUNTS * sizeof *counts);
    counts[0] = 1.0;
    for (int i = 1; i <= n1; i++) {
        for (int u = most; u >= n2 + i; u--)
            counts[u] -= counts[u - n2 - i];
        for (int u = i; u <= most; u++)
            counts[u] += counts[u - i];
    }
}

/* P(U >= u) under the null hypothesis. */
static double exact_tail(const double *counts, int most, int u)
{
    double all = 0.0, tail = 0.0;
    for (int i = 0; i <= most; i++) {
        all += counts[i];
        tail += i >= u ? counts[i] : 0.0;
    }
    return tail / all;
}

static double exact_p(int n1, int n2, double u, px_alternative alternative)
{
    double counts[EXACT_COUNTS];
    const int most = n1 * n2, whole = (int)u;
    exact_counts(n1, n2, counts);
    switch (alternative) {
    case PX_GREATER:
        return exact_tail(counts, most, whole);
    case PX_LESS:
        return exact_tail(counts, most, most - whole);
    default:
        return fmin(1.0, 2.0 * exact_tail(counts, most, PX_MAX(whole, most - whole)));
    }
}

static double normal_p(double from_mean, double sd, px_alternative alternative, bool legacy)
{
    if (!(sd > 0.0))
        return 1.0;
    const double tail = px_normal_survival((fabs(from_mean) - 0.5) / sd);
    if (legacy)
        return tail;
    switch (alternative) {
    case PX_GREATER:
        return px_normal_survival((from_mean - 0.5) / sd);
    case PX_LESS:
        return px_normal_survival(-(from_mean + 0.5) / sd);
    default:
        return fmin(1.0, 2.0 * tail);
    }
}

px_status px_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count,
                          px_alternative alternative, px_u_method method,
                          px_mann_whitney_result *out, px_error *err)
{
    const size_t count = a_count + b_count;
    const double n1 = (double)a_count, n2 = (double)b_count, n = n1 + n2;
    px_mann_whitney_result r = {NAN, NAN, NAN, NAN, NAN, false};
    px_status status = PX_OK;
    double *values = NULL, *ranks = NULL;
    if (a_count == 0 || b_count == 0)
        goto done;
    values = pxi_calloc(count, sizeof *values);
    ranks = pxi_calloc(count, sizeof *ranks);
    if (!values || !ranks) {
        status = pxi_no_memory_for(err, "ranks of %zu values", count);
        goto done;
    }
    memcpy(values, a, a_count * sizeof *values);
    memcpy(values + a_count, b, b_count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        if (values[i] != values[i])
            goto done;
    double ties, rank_sum = 0.0;
    status = px_ranks(values, count, ranks, &ties, err);
    if (status != PX_OK)
        goto done;
    for (size_t i = 0; i < a_count; i++)
        rank_sum += ranks[i];
    r.u = rank_sum - n1 * (n1 + 1.0) / 2.0;
    r.effect = r.u / (n1 * n2);
    r.sd = sqrt(fmax(0.0, n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)))));
    const bool small = method == PX_U_AUTO && a_count <= EXACT_MOST && b_count <= EXACT_MOST;
    const bool legacy = method == PX_U_LEGACY;
    const double mean = n1 * n2 / 2.0;
    r.exact = small && ties == 0.0;
    if (r.exact)
        r.p = exact_p((int)a_count, (int)b_count, r.u, alternative);
    else
        r.p = normal_p(r.u - mean, r.sd, alternative, legacy);
    const double extreme = alternative == PX_LESS && !legacy ? 0.0 : n1 * n2;
    r.smallest_p =
        small ? exact_p((int)a_count, (int)b_count, extreme, alternative)
              : normal_p(extreme - mean, sqrt(n1 * n2 * (n + 1.0) / 12.0), alternative, legacy);
done:
    free(values);
    free(ranks);
    if (status == PX_OK)
        *out = r;
    return status;
}

/* Vargha & Delaney, J. Educational and Behavioral Statistics 25, 2000, section 5: .56, .64 and .71,
 * or as far below one half. */
const char *px_a12_size(double a12)
{
    const double from_half = fabs(a12 - 0.5);
    if (a12 != a12)
        return "undefined";
    return from_half < 0.06   ? "negligible"
           : from_half < 0.14 ? "small"
           : from_half < 0.21 ? "medium"
                              : "large";
}
