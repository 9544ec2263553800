/* src/attack/attack_seat.h - one input on its way through an attack */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTACK_ATTACK_SEAT_H
#define PXI_ATTACK_ATTACK_SEAT_H

#include "attack/attack_internal.h"

typedef enum pxi_seat_phase {
    SEAT_EMPTY,
    SEAT_CLEAN,  /* x is the original, to be judged before a random start */
    SEAT_STEP,   /* x wants gradients */
    SEAT_EXACT,  /* x is a result, to be judged */
    SEAT_STORED, /* x is the rounded result, to be judged */
} pxi_seat_phase;

typedef struct pxi_seat {
    pxi_slot seen;
    pxi_attack_run *run;
    pxi_seat_phase phase;
    px_attack_row *row;
    int64_t place;   /* in the chunk */
    int64_t restart; /* the one at work */
    bool kept;       /* `exact` has the result of an earlier one, */
    double goal;     /* with so much of what is wanted */
} pxi_seat;

/* Takes in row `place` of the chunk. PX_E_INPUT: a value outside the range. */
px_status pxi_seat_load(pxi_seat *s, int64_t place, px_error *err);

/* The scores of x, which wants no gradient. */
void pxi_seat_judge(pxi_seat *s, const float *scores);

/* The scores of x, which wants gradients: whether it still does. */
bool pxi_seat_look(pxi_seat *s, const float *scores);

/* From the network's own order to planes, by scaled units. Returns whether all is 0. */
bool pxi_seat_gradient(pxi_seat *s, const float *net, float *unit);

/* This start has come to its end, at x with these scores. */
void pxi_seat_settle(pxi_seat *s, const float *scores);

#endif
