/* src/assess/metrics.h - X(id) per metric pxi_metric_<id>, in the order in which they are shown */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ASSESS_METRICS_H
#define PXI_ASSESS_METRICS_H

#include "assess/assess_internal.h"

#define PXI_METRICS(X) \
    X(mr)              \
    X(asr)             \
    X(acac)            \
    X(actc)            \
    X(nte)             \
    X(ald_0)           \
    X(ald_2)           \
    X(ald_inf)         \
    X(ass)             \
    X(psd)             \
    X(rgb)             \
    X(ric)

#define PXI_METRIC_DECLARE(id) extern const pxi_metric pxi_metric_##id;
PXI_METRICS(PXI_METRIC_DECLARE)
#undef PXI_METRIC_DECLARE

#endif
