/* include/internal/fault_curve.h - <plexor/fault_curve.h>, and the functions of it
 *
 *     px_fault_curve curve;
 *     px_fault_curve_init(&curve, order, ranked, labels, predicted, count, &err);
 *     double fdr = px_fdr(&curve, px_percent_count(5, count));
 *     double rauc = px_rauc(&curve, PX_FAULT_TYPES, px_percent_count(20, count));
 *     px_fault_curve_done(&curve);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_FAULT_CURVE_H
#define PXI_INTERNAL_FAULT_CURVE_H

#include <plexor/fault_curve.h>

PX_BEGIN_DECLS

/* max(1, ceil(percent * count / 100)), at most count; 0 of nothing. */
int64_t px_percent_count(double percent, int64_t count);

/* order[ranked] are indices of candidates, best first, each at most once (PX_E_INPUT if not);
 * labels[count] and predicted[count] are by index. A prediction outside the classes (-1) is a
 * fault like any other class; a negative label is PX_E_INPUT. */
px_status px_fault_curve_init(px_fault_curve *curve, const int64_t *order, int64_t ranked,
                              const int64_t *labels, const int32_t *predicted, int64_t count,
                              px_error *err);

void px_fault_curve_done(px_fault_curve *curve); /* of zeros is fine */

/* The share of candidates that are faults. */
double px_fault_rate(const px_fault_curve *curve);

/* Fault detection rate: the share of faults among the first t. */
double px_fdr(const px_fault_curve *curve, int64_t t);

/* The area below the curve of the first t, over that of the ideal curve, which meets a new fault
 * (or type) with every input until there are no more. */
double px_rauc(const px_fault_curve *curve, px_fault_unit unit, int64_t t);

px_apfd_result px_apfd(const px_fault_curve *curve, px_fault_unit unit);

/* Cuts the whole order into `groups` runs of (nearly) equal size, [g n / groups, (g + 1) n /
 * groups), and gives the accuracy of each: accuracy[groups], from the best-ranked on. NaN for an
 * empty run, or where the order is not whole. */
void px_accuracy_by_group(const px_fault_curve *curve, int groups, double *accuracy);

PX_END_DECLS
#endif
