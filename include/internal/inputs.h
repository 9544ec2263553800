/* include/internal/inputs.h - networks that take more, or other, than one array of float32
 *
 * A text classifier has `input_ids` and `attention_mask` of int64; a driving network has a picture
 * and a speed. Everything that runs data through networks knows one float32 input, and goes on
 * knowing one: the graph itself is given a new input, all of a sample in one row, and nodes in
 * front that take it apart, cast it, and make what the network's inputs were. Data follow the
 * layout below, which px_model_data_options() hands them.
 *
 * Inputs that are [N, length] all, as of text, become [N, inputs, length], so that the length may
 * be open; others, whose sizes must be declared, [N, all of them].
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_INPUTS_H
#define PXI_INTERNAL_INPUTS_H

#include <plexor/tensor.h>

PX_BEGIN_DECLS

typedef struct px_input_part { /* one of the network's own inputs */
    const char *name;
    px_dtype dtype;
    px_shape shape; /* without the batch axis; -1: open */
} px_input_part;

typedef struct px_inputs {
    int count;
    const px_input_part *part;
    bool rows;              /* every part is a row of the same length */
    const char *model_path; /* a tokeniser's files lie beside it */
    const char *tokenizer;  /* its file; NULL: beside the network */
    int64_t tokens;         /* of a text, where the length is open */
    const px_tensor *table; /* samples are rows of it, by the numbers of part `ids`, and the
                               parts stand beside; NULL: samples are the parts */
    int ids;
} px_inputs;

enum { PX_TOKENS_DEFAULT = 128 };

PX_END_DECLS

#endif
