/* include/plexor/fault_curve.h - how soon an order of inputs meets the faults
 *
 *     px_fault_curve curve;
 *     px_fault_curve_init(&curve, order, ranked, labels, predicted, count, &err);
 *     double fdr = px_fdr(&curve, px_percent_count(5, count));
 *     double rauc = px_rauc(&curve, PX_FAULT_TYPES, px_percent_count(20, count));
 *     px_fault_curve_done(&curve);
 *
 * A *fault* is an input whose predicted class is not its label; its *type* is the pair (label,
 * predicted). What is undefined (no faults; more inputs than were ranked) is NaN.
 */
#ifndef PLEXOR_FAULT_CURVE_H
#define PLEXOR_FAULT_CURVE_H

#include <plexor/error.h>
#include <stdint.h>

PX_BEGIN_DECLS

/* max(1, ceil(percent * count / 100)), at most count; 0 of nothing. */
PX_API int64_t px_percent_count(double percent, int64_t count);

typedef enum px_fault_unit {
    PX_FAULTS,      /* every faulty input is a fault of its own */
    PX_FAULT_TYPES, /* all of one type are one fault */
} px_fault_unit;

typedef struct px_fault_curve {
    int64_t count;    /* candidates */
    int64_t ranked;   /* of these, how many have a place in the order: the first ones */
    int64_t total[2]; /* by unit: among all candidates */
    int64_t *met[2];  /* by unit: [ranked], how many among the first t + 1 */
} px_fault_curve;

/* order[ranked] are indices of candidates, best first, each at most once (PX_E_INPUT if not);
 * labels[count] and predicted[count] are by index. A prediction outside the classes (-1) is a
 * fault like any other class; a negative label is PX_E_INPUT. */
PX_API px_status px_fault_curve_init(px_fault_curve *curve, const int64_t *order, int64_t ranked,
                                     const int64_t *labels, const int32_t *predicted, int64_t count,
                                     px_error *err);
PX_API void px_fault_curve_done(px_fault_curve *curve); /* of zeros is fine */

/* The share of candidates that are faults. */
PX_API double px_fault_rate(const px_fault_curve *curve);

/* Fault detection rate: the share of faults among the first t. */
PX_API double px_fdr(const px_fault_curve *curve, int64_t t);

/* The area below the curve of the first t, over that of the ideal curve, which meets a new fault
 * (or type) with every input until there are no more. */
PX_API double px_rauc(const px_fault_curve *curve, px_fault_unit unit, int64_t t);

/* The same of the points at 1%, 2%, ... `percent`% only, as figures plot it. */
PX_API double px_rauc_percent_steps(const px_fault_curve *curve, px_fault_unit unit, int percent);

/* Average percentage of faults detected: 1 - sum TF / (n m) + 1 / (2 n), TF being the place of the
 * first input that shows a fault (Rothermel et al., TSE 27, 2001; the sum is over the m faults).
 * Needs the whole order. By faults it lies in [m / (2 n), 1 - m / (2 n)], which `normalised` maps
 * to [0, 1]. By types only `value` is there. */
typedef struct px_apfd_result {
    double value, least, most, normalised;
} px_apfd_result;
PX_API px_apfd_result px_apfd(const px_fault_curve *curve, px_fault_unit unit);

/* Cuts the whole order into `groups` runs of (nearly) equal size, [g n / groups, (g + 1) n /
 * groups), and gives the accuracy of each: accuracy[groups], from the best-ranked on. NaN for an
 * empty run, or where the order is not whole. */
PX_API void px_accuracy_by_group(const px_fault_curve *curve, int groups, double *accuracy);

PX_END_DECLS
#endif
