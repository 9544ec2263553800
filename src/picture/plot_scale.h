/* src/picture/plot_scale.h - from values to pixels, and the ticks along the way */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PICTURE_PLOT_SCALE_H
#define PXI_PICTURE_PLOT_SCALE_H

#include <internal/picture.h>

#define PXI_VALUE_MOST 1e300 /* beyond it differences could overflow: as good as infinite */

typedef struct pxi_scale {
    bool log;
    double least, most; /* values; least < most; above 0 if log */
    double from, to;    /* the pixels they come to */
} pxi_scale;

enum { PXI_TICKS_MOST = 48, PXI_TICK_TEXT = 32 };
typedef struct pxi_ticks {
    size_t count;
    struct {
        double value;
        char label[PXI_TICK_TEXT]; /* "": a minor one */
    } tick[PXI_TICKS_MOST];
} pxi_ticks;

/* Finite, and positive where it must be. */
bool pxi_value_fits(const px_plot_axis *axis, double value);

/* The range to show: the axis' own, or that of the data (least > most: there are none) with some
 * air around it; `zero`: 0 is in it (bars). `from` and `to` are not set. */
pxi_scale pxi_scale_fit(const px_plot_axis *axis, double least, double most, bool zero, double air);
double pxi_scale_share(const pxi_scale *scale, double value); /* 0 at least, 1 at most */
double pxi_scale_at(const pxi_scale *scale, double value);    /* pixels, within +-1e6 */

/* About `target` labelled ticks at round values. */
void pxi_ticks_make(const pxi_scale *scale, double target, pxi_ticks *out);

/* A value in three digits, as it stands on bars and in cells; returns `text`. */
const char *pxi_value_text(double value, char text[PXI_TICK_TEXT]);

#endif
