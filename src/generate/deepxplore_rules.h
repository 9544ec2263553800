/* src/generate/deepxplore_rules.h - what DeepXplore lets a gradient change (LGR D.9) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_DEEPXPLORE_RULES_H
#define PXI_GENERATE_DEEPXPLORE_RULES_H

#include <stddef.h>
#include <stdint.h>

/* The order of the setting `constraint`. */
typedef enum pxi_xplore_rule {
    PXI_XPLORE_LIGHT,    /* all lighter, or all darker */
    PXI_XPLORE_OCCL,     /* as it is within a rectangle, nothing elsewhere */
    PXI_XPLORE_BLACKOUT, /* darker within a small rectangle, nothing elsewhere */
    PXI_XPLORE_NONE,
} pxi_xplore_rule;

typedef struct pxi_box { /* rows and columns of a picture */
    int64_t top, left, height, width;
} pxi_box;

/* `gradient` is planes of height x width. A box that sticks out is cut. LIGHT: every value becomes
 * the mean. OCCL: zero outside the box. BLACKOUT: -1 in the box where the mean there is negative,
 * and zero everywhere else. */
void pxi_xplore_constrain(pxi_xplore_rule rule, const pxi_box *box, int64_t channels,
                          int64_t height, int64_t width, float *gradient);

#endif
