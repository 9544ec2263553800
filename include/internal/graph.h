/* include/internal/graph.h - <plexor/graph.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_GRAPH_H
#define PXI_INTERNAL_GRAPH_H

#include <internal/inputs.h>
#include <plexor/graph.h>

PX_BEGIN_DECLS

const char *px_model_producer(const px_model *model);

const px_inputs *px_model_inputs(const px_model *model); /* NULL: it takes one array of float32 */

/* What texts are made tokens with: a file (NULL: beside the network), and how many (0: as the
 * network says, or PX_TOKENS_DEFAULT). */
px_status px_model_set_tokenizer(px_model *model, const char *file, int64_t tokens, px_error *err);

/* Whether it takes rows of whole numbers, which stand for something and cannot be changed a little.
 */
bool px_model_takes_tokens(const px_model *model);

/* Cuts it open behind the table that token numbers are looked up in: samples are [tokens, width] of
 * floats then, with what the network takes beside them (pxi_lane_beside). For a network of its own:
 * neurons and results are those of the other one. */
px_status px_model_embed(px_model *model, px_error *err);

/* Values to try the network with, a sample that `which` tells from others: whole numbers are 0 and
 * 1, which any vocabulary has. */
void px_model_try_sample(const px_model *model, uint32_t which, float *input, size_t floats);

/* --- regression ---------------------------------------------------------------------------------
 *
 * A network that gives numbers becomes a classifier of two classes: `within` the tolerance of the
 * target, and `beyond`. The nodes behind it give tolerance - error and error - tolerance, where the
 * error is the largest |output - target|; so gradients of the scores are those of the error, and
 * whoever looks for wrong answers needs to know nothing of it. The target is a second input, which
 * passes fill beside every sample (pxi_lane_beside).
 */
typedef struct px_regression {
    int output; /* value: the numbers, [N, count] */
    int target; /* value: the input beside */
    int count;  /* of numbers */
    double tolerance;
} px_regression;

px_status px_model_set_regression(px_model *model, double tolerance, px_error *err);
const px_regression *px_model_regression(const px_model *model); /* NULL: it classifies */

PX_END_DECLS
#endif
