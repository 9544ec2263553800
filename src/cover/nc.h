/* src/cover/nc.h - when a neuron counts as activated */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_NC_H
#define PXI_COVER_NC_H

#include <stdbool.h>

/* The raw value above which a neuron counts: t, or the value whose sigmoid is t. The latter is
 * exact at t = 0.5, where computing sigmoids would swallow small values. */
double pxi_nc_cut(double t, bool sigmoid);

#endif
