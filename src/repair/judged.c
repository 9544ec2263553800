/* src/repair/judged.c - the same inputs before and after: flips, McNemar, verdict (spec F.4) */
#include "repair/repair_state.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

px_status pxi_judged_init(pxi_judged *judged, const px_judge_set *data, pxi_items *items,
                          int classes, px_error *err)
{
    judged->data = *data;
    judged->items = *items;
    *items = (pxi_items){0};
    const size_t count = (size_t)PX_MAX(judged->items.count, 1), wide = (size_t)classes;
    judged->labels = pxi_calloc(count, sizeof *judged->labels);
    judged->class_count = pxi_calloc(wide, sizeof *judged->class_count);
    for (int when = PX_BEFORE; when <= PX_AFTER; when++)
        judged->class_correct[when] = pxi_calloc(wide, sizeof *judged->class_correct[when]);
    if (!judged->labels || !judged->class_count || !judged->class_correct[PX_BEFORE] ||
        !judged->class_correct[PX_AFTER])
        return px_fail(err, PX_E_NOMEM, "out of memory for %" PRId64 " inputs",
                       judged->items.count);
    for (int64_t i = 0; i < judged->items.count; i++) {
        judged->labels[i] = px_dataset_label(data->set, judged->items.index[i]);
        judged->class_count[judged->labels[i]]++;
    }
    return PX_OK;
}

void pxi_judged_done(pxi_judged *judged)
{
    for (int when = PX_BEFORE; when <= PX_AFTER; when++) {
        pxi_outcome_done(&judged->outcome[when]);
        free(judged->class_correct[when]);
    }
    pxi_items_done(&judged->items);
    free(judged->labels);
    free(judged->class_count);
}

px_status pxi_judged_run(px_repair *repair, pxi_judged *judged, const px_model *model, int when,
                         px_error *err)
{
    if (judged->items.count == 0)
        return PX_OK;
    return pxi_outcome_make(model, &judged->data, judged->items.index, judged->labels,
                            judged->items.count, repair->o.threads, repair->o.judging,
                            repair->o.context, &judged->outcome[when], err);
}

void pxi_judged_compare(const pxi_judged *judged, px_repair_set *out)
{
    px_repair_set set = {
        .set = judged->data.set,
        .count = judged->items.count,
        .index = judged->items.index,
        .labels = judged->labels,
        .class_count = judged->class_count,
    };
    for (int when = PX_BEFORE; when <= PX_AFTER; when++) {
        const pxi_outcome *outcome = &judged->outcome[when];
        set.predictions[when] = outcome->predictions;
        set.confidences[when] = outcome->confidences;
        set.class_correct[when] = judged->class_correct[when];
        set.measure[when] =
            pxi_outcome_measure(outcome, judged->labels, set.count, judged->class_correct[when]);
    }
    for (int64_t i = 0; i < set.count; i++) {
        const bool was = set.predictions[PX_BEFORE][i] == set.labels[i];
        const bool is = set.predictions[PX_AFTER][i] == set.labels[i];
        set.regressions += was && !is;
        set.fixed += is && !was;
    }
    set.mcnemar = px_mcnemar(set.regressions, set.fixed);
    *out = set;
}

static bool set_changed(const px_repair_set *set)
{
    for (int64_t i = 0; i < set->count; i++)
        if (set->predictions[PX_BEFORE][i] != set->predictions[PX_AFTER][i])
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
