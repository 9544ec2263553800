/* src/cover/nlc.h - what NLC's plain and guided form share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_NLC_H
#define PXI_COVER_NLC_H

#include <plexor/cover.h>

typedef struct pxi_nlc_config {
    int norm;
    int64_t start;
} pxi_nlc_config;
extern const px_param pxi_nlc_params[];

/* What both prepare; it is freed with free(). */
typedef struct pxi_nlc_prepared {
    const px_extractor *extractor;
    bool sum;      /* no division by m^2 */
    int64_t start; /* inputs at zero that are counted before the first */
} pxi_nlc_prepared;
px_status pxi_nlc_prepare(const px_criterion_request *request, void **out, px_error *err);
/* The extractor: `pre` channel means without taking fused layers apart (extract_windows.h). */
px_status pxi_nlc_extract(const px_model *model, const px_probe_options *options,
                          const void *config, px_extractor **out, px_error *err);

size_t pxi_nlc_bytes(const pxi_nlc_prepared *prepared); /* of one state */

/* What a layer's sum of absolute covariances adds to NLC. */
static inline double pxi_nlc_part(double norm, int64_t m, bool sum)
{
    return sum ? norm : norm / ((double)m * (double)m);
}

#endif
