/* src/train/until.c - under-training on purpose: stopping at an accuracy
 *
 * The accuracy on the whole test set is checked every UNTIL_COARSE steps, every UNTIL_FINE once it
 * is within UNTIL_NEAR of the goal, and at each epoch's end; less often where a test set is so much
 * larger than a batch that the checks would take longer than the steps between them. Within
 * UNTIL_BAND of the goal is the end. Past that, training goes back one check (weights, optimiser,
 * place in the data): the first time to look more closely, from then on with half the learning
 * rate, and running statistics of batch normalisation that move half as far. As both fall the steps
 * between two checks change less and less, so some check falls into the band.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include <math.h>

enum { UNTIL_COARSE = 50, UNTIL_FINE = 10, UNTIL_HALVINGS = 30 };
enum { UNTIL_BACKWARD = 3 }; /* a training input costs so much more than a test input, roughly */
static const double UNTIL_NEAR = 0.05, UNTIL_BAND = 0.005;
static const double UNTIL_ROUNDING = 1e-9; /* 0.7949 - 0.7899 is not 0.005 in binary */

bool pxi_until_due(const px_trainer *t)
{
    const int64_t even =
        px_dataset_count(t->o.test.set) / (UNTIL_BACKWARD * px_feeder_batch(t->o.feeder));
    const int64_t fine = even > UNTIL_FINE ? even : UNTIL_FINE;
    const int64_t coarse = 2 * fine > UNTIL_COARSE ? 2 * fine : UNTIL_COARSE;
    return pxi_train_steps_done(t) % (t->state.until_fine ? fine : coarse) == 0;
}

static bool until_is_past(const px_trainer *t)
{
    return t->state.test_accuracy > t->o.until_accuracy + UNTIL_BAND + UNTIL_ROUNDING;
}

/* Notes how near the accuracy just measured is. */
static void until_note(px_trainer *t)
{
    const double left = t->o.until_accuracy - t->state.test_accuracy;
    if (fabs(left) <= UNTIL_BAND + UNTIL_ROUNDING)
        t->state.reached = true;
    if (left <= UNTIL_NEAR + UNTIL_ROUNDING)
        t->state.until_fine = true;
}

px_status pxi_until_start(px_trainer *t, px_error *err)
{
    PX_TRY(pxi_train_judge(t, err));
    if (until_is_past(t))
        return px_fail(err, PX_E_MISMATCH,
                       "the network has %.2f%% accuracy before any training, more than the %.2f%% "
                       "that it should stop at",
                       100.0 * t->state.test_accuracy, 100.0 * t->o.until_accuracy);
    until_note(t);
    return PX_OK;
}

px_status pxi_until_check(px_trainer *t, px_error *err)
{
    if (!until_is_past(t)) {
        until_note(t);
        return PX_OK;
    }
    const double accuracy = t->state.test_accuracy;
    const int64_t halvings = t->state.halvings + t->state.until_fine;
    if (halvings > UNTIL_HALVINGS)
        return px_fail(err, PX_E_MISMATCH,
                       "no step is small enough to stop at %.2f%%: the accuracy goes from %.2f%% "
                       "to %.2f%% at once",
                       100.0 * t->o.until_accuracy, 100.0 * t->back.state.test_accuracy,
                       100.0 * accuracy);
    PX_TRY(pxi_snapshot_restore(t, err));
    t->state.halvings = halvings;
    t->state.until_fine = true;
    t->back.state.halvings = halvings; /* what is saved on cancellation */
    t->back.state.until_fine = true;
    return PX_OK;
}
