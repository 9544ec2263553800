/* include/plexor/fault_curve.h - how soon an order of inputs meets the faults
 *
 * A *fault* is an input whose predicted class is not its label; its *type* is the pair (label,
 * predicted). What is undefined (no faults; more inputs than were ranked) is NaN.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_FAULT_CURVE_H
#define PLEXOR_FAULT_CURVE_H

#include <plexor/error.h>
#include <stdint.h>

PX_BEGIN_DECLS

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

/* Average percentage of faults detected: 1 - sum TF / (n m) + 1 / (2 n), TF being the place of the
 * first input that shows a fault (Rothermel et al., TSE 27, 2001; the sum is over the m faults).
 * Needs the whole order. By faults it lies in [m / (2 n), 1 - m / (2 n)], which `normalised` maps
 * to [0, 1]. By types only `value` is there. */
typedef struct px_apfd_result {
    double value, least, most, normalised;
} px_apfd_result;

PX_END_DECLS
#endif
