/* src/repair/robust.c - test inputs under the attack that was trained against (LGR F.4, 4)
 *
 * The attack is made anew on each network, with the same starts. What is judged is the stored form.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair/robust.h"

#include "base/memory.h"
#include "predict/predictions.h"
#include <plexor/attack.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

static px_attack_options robust_options(const px_repair *repair)
{
    const px_adversary *a = &repair->report.adversary;
    px_attack_options o = px_attack_options_default();
    o.method = a->method;
    o.norm = PX_NORM_LINF;
    o.eps = a->eps;
    o.step_size = a->step_size;
    o.steps = a->steps;
    o.low = a->low;
    o.high = a->high;
    o.seed = repair->o.seed;
    o.threads = repair->o.threads;
    o.progress = repair->o.judging;
    o.progress_context = repair->o.context;
    return o;
}

px_status pxi_robust_init(px_repair *repair, px_error *err)
{
    enum { ROBUST = 3 };
    const px_repair_options *o = &repair->o;
    if (!repair->report.adversary.method)
        return PX_OK;
    px_attack_options options = robust_options(repair);
    px_status status = px_attack_complete(&options, o->test.set, o->test.pre, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "the test set cannot be attacked");
    pxi_items items = {.count = repair->clean.items.count};
    PX_TRY(PX_NEW(items.index, (size_t)PX_MAX(items.count, 1), err));
    memcpy(items.index, repair->clean.items.index, (size_t)items.count * sizeof *items.index);
    status = pxi_items_limit(&items, o->robust_limit, o->seed, ROBUST, err);
    if (status == PX_OK)
        pxi_judged_init(&repair->robust, &o->test, &items);
    pxi_items_done(&items);
    return status;
}

px_status pxi_robust_run(px_repair *repair, const px_model *model, int when, px_error *err)
{
    pxi_judged *judged = &repair->robust;
    if (judged->items.count == 0)
        return PX_OK;
    const px_attack_options options = robust_options(repair);
    const px_attack_job job = {
        .model = model,
        .set = judged->data.set,
        .pre = judged->data.pre,
        .inputs = judged->items.index,
        .count = judged->items.count,
    };
    px_predictions *out = &judged->said[when];
    px_attack *attack = NULL;
    PX_TRY(px_attack_run(&job, &options, &attack, err));
    out->count = judged->items.count;
    px_status status = px_model_scores(model, &out->scores, err);
    PX_THEN(status, pxi_predictions_reserve(out, /* probabilities= */ false, err));
    for (int64_t i = 0; i < out->count && status == PX_OK; i++) {
        const px_attack_form *form = &px_attack_rows(attack)[i].stored;
        out->label[i] = px_dataset_label(judged->data.set, judged->items.index[i]);
        out->predicted[i] = form->predicted;
        out->confidence[i] = (float)form->confidence;
        out->given[i] = NAN;
        out->loss[i] = form->loss;
    }
    px_attack_free(attack);
    return status == PX_OK ? px_eval_make(out, &judged->eval[when], err) : status;
}
