/* src/predict/predictions.h - predictions that were not made by px_predict() */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PREDICT_PREDICTIONS_H
#define PXI_PREDICT_PREDICTIONS_H

#include <plexor/predict.h>

/* Arrays for out->count inputs, zeroed; out->scores is needed for `probabilities`.
 * px_predictions_done() in any case. */
px_status pxi_predictions_reserve(px_predictions *out, bool probabilities, px_error *err);

#endif
