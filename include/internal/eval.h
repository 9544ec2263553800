/* include/internal/eval.h - <plexor/eval.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_EVAL_H
#define PXI_INTERNAL_EVAL_H

#include <plexor/eval.h>
#include <plexor/field.h>

PX_BEGIN_DECLS

/* Writes the inputs whose prediction is not their label into an NPZ that is a data set of its own:
 * x (pixels as stored, in the network's size), y (labels), indices (in the source) and predictions.
 * *count gets how many were written. */
px_status px_predictions_save_wrong(const px_predictions *said, const px_dataset *set,
                                    const char *path, int64_t *count, px_error *err);

/* Of a class, for whoever shows figures. */
extern const px_field px_eval_class_fields[];

/* Of the numbers of a network of regression. */
extern const px_field px_eval_errors_fields[];

PX_END_DECLS
#endif
