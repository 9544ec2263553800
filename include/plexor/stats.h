/* include/plexor/stats.h - statistics of plain arrays of doubles */
#ifndef PLEXOR_STATS_H
#define PLEXOR_STATS_H

#include <plexor/error.h>

PX_BEGIN_DECLS

/* Quantile of type 7 (linear; what numpy and R do by default) of an ascending array, 0 <= p <= 1.
 * NaN where count is 0 or p is outside. */
PX_API double px_quantile_sorted(const double *values, size_t count, double p);

/* The same of an array in any order, which is sorted in place. NaN if any value is NaN. */
PX_API double px_quantile(double *values, size_t count, double p);

PX_END_DECLS
#endif
