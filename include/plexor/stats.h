/* include/plexor/stats.h - values that statistics are given in */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_STATS_H
#define PLEXOR_STATS_H

#include <plexor/error.h>

PX_BEGIN_DECLS

/* A correlation, its t and two-sided p on count - 2 degrees of freedom. All are NaN where the
 * correlation is undefined: a constant vector, fewer than two pairs, a value that is not finite.
 * With two pairs r is 1 or -1 and p 1; with r of 1 or -1 and more pairs, t is infinite and p 0. */
typedef struct px_correlation {
    double r, t, p;
} px_correlation;

PX_END_DECLS
#endif
