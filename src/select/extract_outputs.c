/* src/select/extract_outputs.c - rows that are the network's class scores */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/select.h>

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct outputs_extractor {
    px_extractor base;
    px_scores scores;
    px_row_layer layer;
    char definition[64];
} outputs_extractor;

static px_status outputs_finish(const px_extractor *self, void *scratch, const px_session *session,
                                int64_t samples, const px_input_facts *facts, float *rows,
                                px_error *err)
{
    (void)scratch;
    (void)facts;
    const outputs_extractor *e = (const outputs_extractor *)(const void *)self;
    const px_view view = px_session_view(session, e->scores.value);
    if (!view.data || view.shape.rank < 2 || view.shape.dim[1] != self->width)
        return px_fail(err, PX_E_INTERNAL, "the plan does not keep the class scores");
    for (int64_t i = 0; i < samples; i++)
        for (int64_t c = 0; c < self->width; c++)
            rows[i * self->width + c] = view.data[i * view.stride[0] + c * view.stride[1]];
    return PX_OK;
}

static void outputs_free(px_extractor *self)
{
    free(self);
}

static const px_extractor_kind outputs_kind = {.finish = outputs_finish, .free = outputs_free};

px_status px_extractor_scores(const px_model *model, px_extractor **out, px_error *err)
{
    outputs_extractor *e = NULL;
    PX_TRY(PX_NEW(e, 1, err));
    const px_status status = px_model_scores(model, &e->scores, err);
    if (status != PX_OK) {
        free(e);
        return status;
    }
    const char *what = e->scores.probabilities ? "probabilities" : "logits";
    snprintf(e->definition, sizeof e->definition, "%s of %d classes", what, e->scores.classes);
    e->layer = (px_row_layer){.name = what, .count = e->scores.classes};
    e->base = (px_extractor){.kind = &outputs_kind,
                             .key = "class scores",
                             .definition = e->definition,
                             .width = e->scores.classes,
                             .layers = &e->layer,
                             .layer_count = 1,
                             .keep = &e->scores.value,
                             .keep_count = 1};
    *out = &e->base;
    return PX_OK;
}
