/* src/train/checkpoint.h - the file that a run can be taken up from
 *
 * An NPZ: `meta` is JSON (format, version, facts, state), `history` [epochs][columns], `weights/I`
 * by the weight's number, `best/I` likewise with keep_best, `optimizer/NAME` and `schedule` as
 * <internal/optimizer.h> names them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_CHECKPOINT_H
#define PXI_TRAIN_CHECKPOINT_H

#include "train/trainer.h"

#include <plexor/field.h>

#define PXI_CHECKPOINT_FORMAT "plexor checkpoint"
enum { PXI_CHECKPOINT_VERSION = 1, PXI_CHECKPOINT_NAME = 80 };

extern const px_field pxi_train_state_fields[];

#endif
