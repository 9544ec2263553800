/* tests/cover/relevance_rows.c - relevance of a network's layers, for compare_relevance.py
 *
 *     relevance_rows MODEL.onnx LAYERS COUNT < float32 inputs > float32 rows
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/extract_relevance.h"
#include <internal/engine.h>
#include <internal/profile.h>
#include <plexor/onnx.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    px_error err = {0};
    px_model *model = NULL;
    px_extractor *e = NULL;
    px_plan *plan = NULL;
    px_session *session = NULL;
    px_scores scores;
    void *scratch = NULL;
    float *rows = NULL;
    px_input_facts *facts = NULL;
    int64_t *predicted = NULL;
    const int64_t count = argc == 4 ? atoll(argv[3]) : 0;
    px_probe_options options = px_probe_options_default();
    px_plan_options plan_options = px_plan_options_default();
    px_status status = count > 0 && count < 10000
                           ? px_model_load(argv[1], &model, &err)
                           : px_fail(&err, PX_E_USAGE, "relevance_rows MODEL LAYERS COUNT");
    if (status == PX_OK) {
        options.layers = argv[2];
        status = pxi_extractor_relevance(model, &options, 0.5, &e, &err);
    }
    if (status == PX_OK) {
        plan_options.batch = count;
        plan_options.keep = e->keep;
        plan_options.keep_count = e->keep_count;
        status = px_plan_new(model, &plan_options, &plan, &err);
    }
    if (status == PX_OK)
        status = px_session_new(plan, &session, &err);
    if (status == PX_OK)
        status = e->kind->scratch_new(e, count, &scratch, &err);
    if (status == PX_OK)
        status = px_model_scores(model, &scores, &err);
    if (status == PX_OK) {
        const px_shape shape = px_plan_feed_shape(plan, 0);
        const size_t values = (size_t)px_shape_count(&shape);
        rows = pxi_calloc((size_t)(count * e->width), sizeof *rows);
        facts = pxi_calloc((size_t)count, sizeof *facts);
        predicted = pxi_calloc((size_t)count, sizeof *predicted);
        if (!rows || !facts || !predicted ||
            fread(px_session_input(session, 0), sizeof(float), values, stdin) != values)
            status = px_fail(&err, PX_E_INPUT, "too few inputs");
    }
    if (status == PX_OK)
        status = px_session_forward(session, &err);
    if (status == PX_OK)
        status = px_session_judge(session, &scores, NULL, count, predicted, NULL, &err);
    for (int64_t i = 0; status == PX_OK && i < count; i++)
        facts[i].predicted = (int)predicted[i];
    if (status == PX_OK)
        status = e->kind->finish(e, scratch, session, count, facts, rows, &err);
    if (status == PX_OK)
        fwrite(rows, sizeof *rows, (size_t)(count * e->width), stdout);
    else
        fprintf(stderr, "%s\n", err.message);
    if (e)
        e->kind->scratch_free(scratch);
    free(rows);
    free(facts);
    free(predicted);
    px_session_free(session);
    px_plan_free(plan);
    px_extractor_free(e);
    px_model_free(model);
    return status == PX_OK ? 0 : 1;
}
