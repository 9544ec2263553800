/* src/attack/nearest_tokens.c - from a place in an embedding back to a text
 *
 * What an attack makes of a text lies between the vectors of the network's table, and no text leads
 * there. Every vector becomes the nearest one that stands for a token (L2, the lower number of
 * equals), and the network is asked again about those tokens.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/nearest_tokens.h>

#include "base/memory.h"

#include <internal/graph.h>
#include <internal/pass.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct px_nearest {
    const px_inputs *inputs; /* with the table */
    int64_t tokens;
    size_t floats; /* of the parts */
    const float *asked;
    px_scores scores;
    pxi_pass *pass;
    int64_t predicted;
    double confidence;
};

static px_status nearest_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const px_nearest *n = lane->context;
    (void)item;
    (void)view;
    (void)err;
    memcpy(input, n->asked, n->floats * sizeof *input);
    return PX_OK;
}

static px_status nearest_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    px_nearest *n = lane->context;
    double loss = NAN;
    PX_TRY(
        px_session_judge(lane->session, &n->scores, NULL, batch->count, &n->predicted, NULL, err));
    PX_TRY(px_session_judge(lane->session, &n->scores, &n->predicted, batch->count, &n->predicted,
                            &loss, err));
    n->confidence = exp(-loss);
    return PX_OK;
}

px_status px_nearest_new(const px_model *model, const px_inputs *inputs, int64_t tokens,
                         px_nearest **out, px_error *err)
{
    px_nearest *n = NULL;
    PX_TRY(PX_NEW(n, 1, err));
    n->inputs = inputs;
    n->tokens = tokens;
    n->floats = (size_t)(inputs->count * tokens);
    const px_shape sample = inputs->count > 1
                                ? (px_shape){.rank = 2, .dim = {inputs->count, tokens}}
                                : (px_shape){.rank = 1, .dim = {tokens}};
    const pxi_task task = {.model = model, .sample = sample, .count = 1, .threads = 1};
    const pxi_visitor visitor = {.context = n, .fill = nearest_fill, .visit = nearest_visit};
    px_status status = px_model_scores(model, &n->scores, err);
    const px_plan_options wants = pxi_wants_scores(&n->scores);
    PX_THEN(status, pxi_pass_open(&task, &wants, &visitor, &n->pass, err));
    if (status == PX_OK)
        *out = n;
    else
        px_nearest_free(n);
    return status;
}

void px_nearest_free(px_nearest *n)
{
    if (!n)
        return;
    pxi_pass_close(n->pass);
    free(n);
}

static int64_t nearest_of(const px_tensor *table, const float *vector)
{
    const int64_t words = table->shape.dim[0], width = table->shape.dim[1];
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t w = 0; w < words; w++) {
        const float *row = (const float *)table->data + w * width;
        double sum = 0.0;
        for (int64_t d = 0; d < width && sum < least; d++) {
            const double apart = (double)row[d] - (double)vector[d];
            sum += apart * apart;
        }
        if (sum < least) {
            least = sum;
            best = w;
        }
    }
    return best;
}

px_status px_nearest_ask(px_nearest *n, const float *embedded, const float *original, float *parts,
                         px_nearest_answer *out, px_error *err)
{
    const px_inputs *in = n->inputs;
    const int64_t width = in->table->shape.dim[1];
    const float *mask = NULL; /* what fills up stays what it is */
    px_nearest_answer answer = {.changed = 0};
    for (int i = 0; i < in->count; i++)
        if (strcasestr(in->part[i].name, "mask"))
            mask = original + i * n->tokens;
    memcpy(parts, original, n->floats * sizeof *parts);
    float *ids = parts + in->ids * n->tokens;
    for (int64_t t = 0; t < n->tokens; t++) {
        if (mask && mask[t] == 0.0f)
            continue;
        const float id = (float)nearest_of(in->table, embedded + t * width);
        answer.changed += id != ids[t];
        ids[t] = id;
    }
    n->asked = parts;
    PX_TRY(pxi_pass_all(n->pass, err));
    answer.predicted = n->predicted;
    answer.confidence = n->confidence;
    *out = answer;
    return PX_OK;
}
