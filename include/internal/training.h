/* include/internal/training.h - <plexor/training.h>, and what only plexor itself uses of it
 *
 *     const px_training training = {.own = "photos/", .pre = &pre}; // or spec, for other data
 *     px_training_learn(model, &training, "criteria", &lessons, NULL, NULL, &profile, &err);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_TRAINING_H
#define PXI_INTERNAL_TRAINING_H

#include <plexor/training.h>

PX_BEGIN_DECLS

/* `who` needs them: "criteria", for messages. On PX_OK *pre is what the inputs are fed with and the
 * caller owns *out. */
px_status px_training_open(const px_model *model, const px_training *training, const char *who,
                           px_preprocess *pre, px_dataset **out, px_error *err);

/* Learns; tells of the inputs if nobody chose them, of classes without any, and of those that were
 * left out. `set` and `pre` are the training data where they are open already, else NULL. */
px_status px_training_learn(const px_model *model, const px_training *training, const char *who,
                            const px_lessons *lessons, const px_dataset *set,
                            const px_preprocess *pre, px_profile **out, px_error *err);

/* The last two of these, of a profile from elsewhere. */
void px_training_remarks(const px_training *training, const px_model *model,
                         const px_profile *profile);

/* Tau of decision paths: what `file` has (px_threshold_save()), or with NULL found from training
 * data. */
px_status px_training_threshold(const px_model *model, const px_training *training,
                                const char *file, const px_path_tools *tools, px_threshold *out,
                                px_error *err);

PX_END_DECLS
#endif
