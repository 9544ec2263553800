/* include/internal/nearest_tokens.h - texts near a place in an embedding, and what a network says
 * of them */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_NEAREST_TOKENS_H
#define PXI_INTERNAL_NEAREST_TOKENS_H

#include <internal/inputs.h>
#include <plexor/engine.h>

PX_BEGIN_DECLS

typedef struct px_nearest px_nearest;
typedef struct px_nearest_answer {
    int64_t changed;   /* tokens that are others than the original's */
    int64_t predicted; /* -1: the scores are not numbers */
    double confidence;
} px_nearest_answer;

/* `model` takes the parts (px_model_join_inputs()); `inputs` are those of the same network cut open
 * (px_model_embed()). Both are borrowed. */
px_status px_nearest_new(const px_model *model, const px_inputs *inputs, int64_t tokens,
                         px_nearest **out, px_error *err);
void px_nearest_free(px_nearest *nearest); /* NULL is fine */

/* parts[inputs][tokens] become those of `original` with the tokens nearest to embedded[tokens]
 * [width], but where a mask leaves them out; and the network is asked about them. */
px_status px_nearest_ask(px_nearest *nearest, const float *embedded, const float *original,
                         float *parts, px_nearest_answer *out, px_error *err);

PX_END_DECLS
#endif
