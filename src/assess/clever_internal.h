/* src/assess/clever_internal.h - a CLEVER run, as its files see it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ASSESS_CLEVER_INTERNAL_H
#define PXI_ASSESS_CLEVER_INTERNAL_H

#include <internal/pixel_rule.h>

#include <internal/clever.h>
#include <plexor/rng.h>

struct px_clever {
    px_clever_options options;
    int64_t count;
    px_clever_row *rows;
    px_clever_target *targets;
    int64_t target_count;
    double points, seconds;
};

/* A point of the ball around `original`, cut to the range (clever_ball.c). In levels. */
void pxi_ball_draw(px_ball ball, double radius, const pxi_pixel_rule *rule, px_random *r,
                   const float *original, float *x);

/* The dual norm of a gradient by the network's input, as one by scaled units; *odd counts values
 * that are no numbers, which are taken as 0. */
double pxi_ball_dual(px_ball ball, const pxi_pixel_rule *rule, const float *net, int64_t *odd);

#endif
