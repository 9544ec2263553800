/* src/cover/extract_windows.h - `pre` channel means without taking fused layers apart */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_EXTRACT_WINDOWS_H
#define PXI_COVER_EXTRACT_WINDOWS_H

#include <internal/profile.h>

/* The neurons of px_extractor_probe() with the same options, to within rounding. With any other tap
 * or view it is that extractor itself. */
px_status pxi_extractor_windows(const px_model *model, const px_probe_options *options,
                                px_extractor **out, px_error *err);

#endif
