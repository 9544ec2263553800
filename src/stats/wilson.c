/* src/stats/wilson.c - Wilson's interval of a share
 *
 * E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22,
 * 1927: the shares from which `part` of `all` is less than 1.96 standard deviations away. Unlike
 * the textbook interval it is none of nothing at 0 and at 1, and holds for small counts.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/stats.h>

#include <assert.h>
#include <math.h>

void px_wilson(int64_t part, int64_t all, double *low, double *high)
{
    assert(part >= 0 && part <= all);
    *low = 0.0;
    *high = 1.0;
    if (all <= 0)
        return;
    const double n = (double)all, p = (double)part / n, z = 1.959963984540054;
    const double middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    const double half = z / (1.0 + z * z / n) * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));
    *low = part > 0 ? fmax(0.0, middle - half) : 0.0;
    *high = part < all ? fmin(1.0, middle + half) : 1.0;
}
