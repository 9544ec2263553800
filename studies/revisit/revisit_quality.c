/* studies/revisit/revisit_quality.c - the eleven metrics of a network over test cases (CSM D.5) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "revisit/revisit.h"

#include <internal/assess.h>
#include <string.h>

px_status rv_quality(const rv_bench *b, const px_model *model, const rv_pictures *cases,
                     cell_list *list, px_error *err)
{
    const px_assess_job job = {.model = model,
                               .original = {b->test.set, &b->test.pre},
                               .adversarial = {cases->set, &cases->pre}};
    px_assess_options o = px_assess_options_default();
    px_assess *assess = NULL;
    px_text ids = {0};
    for (size_t m = 0; m < RV_METRICS; m++)
        px_text_format(&ids, "%s%s", m ? "," : "", rv_metrics[m].id);
    o.metrics = px_text_get(&ids);
    o.threads = b->study->options.threads;
    o.progress = b->study->options.progress;
    o.progress_context = b->study->options.context;
    const px_status status =
        px_text_failed(&ids) ? pxi_no_memory(err) : px_assess_run(&job, &o, &assess, err);
    for (size_t m = 0; status == PX_OK && m < RV_METRICS; m++)
        for (size_t i = 0; i < px_assess_metric_count(assess); i++) {
            const px_metric_value v = px_assess_metric(assess, i);
            if (strcmp(v.metric->entry.id, rv_metrics[m].id) == 0)
                pxi_cell_put(list, v.value, "%s", rv_metrics[m].cell);
        }
    px_assess_free(assess);
    px_text_done(&ids);
    return status;
}
