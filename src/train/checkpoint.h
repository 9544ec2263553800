/* src/train/checkpoint.h - the file that a run can be taken up from
 *
 * An NPZ: `meta` is JSON (format, version, facts, state), `history` [epochs][columns], `weights/I`
 * by the weight's number, `best/I` likewise with keep_best, `optimizer/NAME` and `schedule` as
 * <internal/optimizer.h> names them.
 */
#ifndef PXI_TRAIN_CHECKPOINT_H
#define PXI_TRAIN_CHECKPOINT_H

#include "train/trainer.h"

#define PXI_CHECKPOINT_FORMAT "plexor checkpoint"
enum { PXI_CHECKPOINT_VERSION = 1, PXI_CHECKPOINT_NAME = 80 };

/* The members of train_state, under these names: X(kind, name) with kind whole, real or flag. */
#define PXI_TRAIN_STATE(X) \
    X(whole, epoch)        \
    X(whole, step)         \
    X(whole, halvings)     \
    X(whole, retries)      \
    X(real, loss_sum)      \
    X(whole, seen)         \
    X(whole, correct)      \
    X(real, lr)            \
    X(real, test_loss)     \
    X(real, test_accuracy) \
    X(whole, best_epoch)   \
    X(real, best_accuracy) \
    X(flag, until_fine)    \
    X(flag, reached)       \
    X(real, epoch_s)       \
    X(real, train_s)       \
    X(whole, trained)      \
    X(whole, history_count)

#endif
