/* src/cover/surprise_sections.h - buckets of surprise */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_SURPRISE_SECTIONS_H
#define PXI_COVER_SURPRISE_SECTIONS_H

#include <stdint.h>

#define PXI_SC_BUCKETS_MOST 65534

/* Which of m buckets over [low, u) a score is in: -1 below, m at or above u. Not for NaN. */
int64_t pxi_sc_bucket(double sa, double low, double u, int64_t m);

#endif
