/* src/repair/robust.c - test inputs under the attack that was trained against (spec F.4, 4)
 *
 * The attack is made anew on each network, with the same starts. What is judged is the stored form.
 */
#include "repair/robust.h"

#include "base/memory.h"
#include <plexor/attack.h>

#include <inttypes.h>
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
    items.index = pxi_calloc((size_t)PX_MAX(items.count, 1), sizeof *items.index);
    if (!items.index)
        return px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " inputs", items.count);
    memcpy(items.index, repair->clean.items.index, (size_t)items.count * sizeof *items.index);
    status = pxi_items_limit(&items, o->robust_limit, o->seed, ROBUST, err);
    if (status == PX_OK)
        status = pxi_judged_init(&repair->robust, &o->test, &items, repair->report.classes, err);
    pxi_items_done(&items);
    return status;
}

px_status pxi_robust_run(px_repair *repair, const px_model *model, int when, px_error *err)
{
    pxi_judged *judged = &repair->robust;
    const size_t count = (size_t)judged->items.count;
    if (count == 0)
        return PX_OK;
    const px_attack_options options = robust_options(repair);
    const px_attack_job job = {
        .model = model,
        .set = judged->data.set,
        .pre = judged->data.pre,
        .inputs = judged->items.index,
        .count = judged->items.count,
    };
    pxi_outcome *out = &judged->outcome[when];
    px_attack *attack = NULL;
    PX_TRY(px_attack_run(&job, &options, &attack, err));
    out->predictions = pxi_calloc(count, sizeof *out->predictions);
    out->confidences = pxi_calloc(count, sizeof *out->confidences);
    out->losses = pxi_calloc(count, sizeof *out->losses);
    px_status status = PX_OK;
    if (!out->predictions || !out->confidences || !out->losses)
        status = px_fail(err, PX_E_NOMEM, "out of memory for %zu attacked inputs", count);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        const px_attack_form *form = &px_attack_rows(attack)[i].stored;
        out->predictions[i] = form->predicted;
        out->confidences[i] = (float)form->confidence;
        out->losses[i] = form->loss;
    }
    px_attack_free(attack);
    return status;
}
