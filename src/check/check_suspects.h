/* src/check/check_suspects.h - the hit spectrum of an examination, and rankings of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_CHECK_SUSPECTS_H
#define PXI_CHECK_SUSPECTS_H

#include "check/check_internal.h"

#include <plexor/localize.h>

#define PXI_SPECTRUM_FILE "spectrum.npz"
#define PXI_SUSPICIOUS_FILE "suspicious.csv" /* the first of every class */
#define PXI_MAPS_FILE "exemplars.npz"        /* where the described ones are active */

px_status pxi_spectrum_open(const px_check *c, px_spectrum **out, px_error *err);
px_status pxi_suspects_rank(const px_spectrum *spectrum, bool pooled, int64_t k,
                            px_suspicious **out, px_error *err);

#endif
