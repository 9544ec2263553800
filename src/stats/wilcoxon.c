/* src/stats/wilcoxon.c - Wilcoxon's signed-rank test (Biometrics Bulletin 1, 1945)
 *
 * Differences of 0 are left out, as Wilcoxon did. The exact distribution counts the subsets of
 * {1..n} by their sum: (1 + q)(1 + q^2)...(1 + q^n). Up to 50 differences all counts are whole
 * numbers below 2^53, so doubles hold them exactly.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_MOST = 50, EXACT_COUNTS = EXACT_MOST * (EXACT_MOST + 1) / 2 + 1 };

/* P(W >= w) of n differences under the null hypothesis. */
static double exact_tail(int n, double w)
{
    double counts[EXACT_COUNTS] = {1.0}, tail = 0.0;
    const int most = n * (n + 1) / 2;
    for (int rank = 1; rank <= n; rank++)
        for (int sum = most; sum >= rank; sum--)
            counts[sum] += counts[sum - rank];
    for (int sum = (int)ceil(w); sum <= most; sum++)
        tail += counts[sum];
    return ldexp(tail, -n);
}

static double exact_p(int n, double plus, px_alternative alternative)
{
    const double minus = n * (n + 1) / 2.0 - plus;
    switch (alternative) {
    case PX_GREATER:
        return exact_tail(n, plus);
    case PX_LESS:
        return exact_tail(n, minus);
    default:
        return fmin(1.0, 2.0 * exact_tail(n, fmax(plus, minus)));
    }
}

static double normal_p(double from_mean, double sd, px_alternative alternative)
{
    if (!(sd > 0.0))
        return 1.0;
    switch (alternative) {
    case PX_GREATER:
        return px_normal_survival((from_mean - 0.5) / sd);
    case PX_LESS:
        return px_normal_survival(-(from_mean + 0.5) / sd);
    default:
        return fmin(1.0, 2.0 * px_normal_survival((fabs(from_mean) - 0.5) / sd));
    }
}

static double sd_of(double n, double ties)
{
    return sqrt(fmax(0.0, (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0));
}

/* Differences that are not 0, then their sizes; false: one is no number. */
static bool differences(const double *a, const double *b, size_t count, double *d, size_t *left)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const double difference = b ? a[i] - b[i] : a[i];
        if (difference != difference)
            return false;
        if (difference != 0.0)
            d[n++] = difference;
    }
    *left = n;
    return true;
}

static px_status wilcoxon_of(const double *d, size_t n, double *sizes, double *ranks,
                             px_alternative alternative, bool normal, px_wilcoxon_result *r,
                             px_error *err)
{
    double ties = 0.0;
    for (size_t i = 0; i < n; i++)
        sizes[i] = fabs(d[i]);
    PX_TRY(px_ranks(sizes, n, ranks, &ties, err));
    r->plus = r->minus = 0.0;
    for (size_t i = 0; i < n; i++)
        *(d[i] > 0.0 ? &r->plus : &r->minus) += ranks[i];
    const double all = (double)n * ((double)n + 1.0) / 2.0;
    const double extreme = alternative == PX_LESS ? 0.0 : all;
    const bool small = n <= EXACT_MOST && !normal;
    r->n = n;
    r->sd = sd_of((double)n, ties);
    r->effect = n > 0 ? (r->plus - r->minus) / all : 0.0;
    r->exact = small && ties == 0.0 && r->zeros == 0;
    r->p = n == 0     ? 1.0
           : r->exact ? exact_p((int)n, r->plus, alternative)
                      : normal_p(r->plus - all / 2.0, r->sd, alternative);
    r->smallest_p = n == 0  ? 1.0
                    : small ? exact_p((int)n, extreme, alternative)
                            : normal_p(extreme - all / 2.0, sd_of((double)n, 0.0), alternative);
    return PX_OK;
}

px_status px_wilcoxon(const double *a, const double *b, size_t count, px_alternative alternative,
                      bool normal, px_wilcoxon_result *out, px_error *err)
{
    px_wilcoxon_result r = {NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, false};
    px_status status = PX_OK;
    double *room = NULL;
    size_t n = 0;
    if (count == 0)
        goto done;
    room = pxi_calloc(count, 3 * sizeof *room);
    if (!room) {
        status = pxi_no_memory_for(err, "ranks of %zu pairs", count);
        goto done;
    }
    if (!differences(a, b, count, room, &n))
        goto done;
    r.zeros = count - n;
    status = wilcoxon_of(room, n, room + count, room + 2 * count, alternative, normal, &r, err);
done:
    free(room);
    if (status == PX_OK)
        *out = r;
    return status;
}
