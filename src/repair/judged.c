/* src/repair/judged.c - before and after repair: flips, McNemar, verdict (LGR F.4) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "repair/repair_state.h"
#include <assert.h>
#include <internal/stats.h>

void pxi_judged_init(pxi_judged *judged, const px_judge_set *data, pxi_items *items)
{
    judged->data = *data;
    judged->items = *items;
    *items = (pxi_items){0};
}

void pxi_judged_done(pxi_judged *judged)
{
    for (int when = PX_BEFORE; when <= PX_AFTER; when++) {
        px_predictions_done(&judged->said[when]);
        px_eval_done(&judged->eval[when]);
    }
    pxi_items_done(&judged->items);
}

px_status pxi_judged_run(px_repair *repair, pxi_judged *judged, const px_model *model, int when,
                         px_error *err)
{
    assert(when == PX_BEFORE || when == PX_AFTER);
    px_predict_options how = px_predict_options_default();
    if (judged->items.count == 0)
        return PX_OK;
    how.indices = judged->items.index;
    how.index_count = judged->items.count;
    how.threads = repair->o.threads;
    how.progress = repair->o.judging;
    how.context = repair->o.context;
    PX_TRY(px_predict(model, judged->data.set, judged->data.pre, &how, &judged->said[when], err));
    return px_eval_make(&judged->said[when], &judged->eval[when], err);
}

int px_repair_flip(const px_repair_set *set, int64_t i)
{
    assert(i >= 0 && i < set->count);
    const px_predictions *was = &set->said[PX_BEFORE], *is = &set->said[PX_AFTER];
    return (is->predicted[i] == is->label[i]) - (was->predicted[i] == was->label[i]);
}

void pxi_judged_compare(const pxi_judged *judged, px_repair_set *out)
{
    px_repair_set set = {
        .set = judged->data.set, .count = judged->items.count, .index = judged->items.index};
    for (int when = PX_BEFORE; when <= PX_AFTER; when++) {
        set.said[when] = judged->said[when];
        set.eval[when] = judged->eval[when];
    }
    for (int64_t i = 0; i < set.count; i++) {
        const int flip = px_repair_flip(&set, i);
        set.regressions += flip < 0;
        set.fixed += flip > 0;
    }
    set.mcnemar = px_mcnemar(set.regressions, set.fixed);
    *out = set;
}

static bool set_changed(const px_repair_set *set)
{
    for (int64_t i = 0; i < set->count; i++)
        if (set->said[PX_BEFORE].predicted[i] != set->said[PX_AFTER].predicted[i])
            return true;
    return false;
}

px_repair_verdict pxi_repair_verdict(const px_repair_report *report)
{
    const px_repair_set *clean = &report->clean, *failing = &report->failing;
    const px_repair_set *robust = &report->robust;
    const px_repair_set *mended = failing->count ? failing : robust->count ? robust : clean;
    if (!report->trained || (!set_changed(clean) && !set_changed(failing) && !set_changed(robust)))
        return PX_REPAIR_UNCHANGED;
    /* more than one point, without rounding */
    if (100 * (clean->regressions - clean->fixed) > clean->count)
        return PX_REPAIR_REGRESSED;
    return mended->fixed > mended->regressions ? PX_REPAIR_REPAIRED : PX_REPAIR_FAILED;
}

const char *px_repair_verdict_name(px_repair_verdict verdict)
{
    static const char *const names[] = {
        [PX_REPAIR_UNCHANGED] = "unchanged",
        [PX_REPAIR_REGRESSED] = "regressed",
        [PX_REPAIR_REPAIRED] = "repaired",
        [PX_REPAIR_FAILED] = "not repaired",
    };
    return names[verdict];
}
