/* studies/revisit/revisit_retrain.c - networks trained further
 *
 * CSM E.2, step 6, has the optimiser, the loss, batch and epochs; the rate is Adam's usual one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit.h"

#include <internal/train.h>

enum { RETRAIN_RETRIES = 3 };

static bool retrain_progress(void *context, const px_train_progress *p)
{
    const px_study *study = context;
    return !study->options.progress ||
           study->options.progress(study->options.context, p->done, p->total);
}

px_status rv_retrain(const rv_bench *b, const rv_retraining *how, px_model **out, double *accuracy,
                     px_error *err)
{
    px_feeder *feeder = NULL;
    px_trainer *trainer = NULL;
    px_scores scores;
    px_status status = px_model_scores(how->start, &scores, err);
    px_feeder_options feed = px_feeder_options_default();
    feed.base = (px_feeder_set){.set = how->base->set, .pre = &how->base->pre};
    if (how->added && (how->count > 0 || !how->items))
        feed.added = (px_feeder_set){.set = how->added->set,
                                     .pre = &how->added->pre,
                                     .items = how->items,
                                     .count = how->count};
    feed.mix = PX_MIX_APPEND;
    feed.classes = scores.classes;
    feed.batch = how->batch ? how->batch : RV_BATCH;
    feed.seed = how->seed;
    if (status == PX_OK)
        status = px_feeder_new(&feed, &feeder, err);
    px_trainer_options o = px_trainer_options_default();
    o.model = how->start;
    o.feeder = feeder;
    o.test = (px_judge_set){b->test.set, &b->test.pre};
    o.optimizer = "adam";
    o.lr = how->rate > 0.0 ? how->rate : RV_RATE;
    if (how->adversary)
        o.adversary = *how->adversary;
    o.retries = how->halvings ? RETRAIN_RETRIES : 0;
    o.epochs = how->epochs;
    o.eval_every = 0;
    o.until_accuracy = -1.0;
    o.threads = b->study->options.threads;
    o.seed = how->seed;
    o.progress = retrain_progress;
    o.context = b->study;
    if (status == PX_OK)
        status = px_trainer_new(&o, &trainer, err);
    if (status == PX_OK)
        status = px_trainer_run(trainer, err);
    if (status == PX_OK)
        status = px_trainer_freeze(trainer, NULL, 0, out, err);
    if (status == PX_OK)
        *accuracy = px_trainer_result(trainer).test_accuracy;
    if (status == PX_OK && how->halvings)
        *how->halvings += px_trainer_result(trainer).halvings;
    px_trainer_free(trainer);
    px_feeder_free(feeder);
    return status;
}
