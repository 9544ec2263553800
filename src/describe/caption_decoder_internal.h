/* src/describe/caption_decoder_internal.h - what forward and backward of the decoder share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTION_DECODER_INTERNAL_H
#define PXI_DESCRIBE_CAPTION_DECODER_INTERNAL_H

#include "describe/caption_attention.h"
#include "describe/caption_decoder.h"
#include "describe/caption_math.h"

/* Query, gate and state in one. */
pxi_linear pxi_decoder_joint(const pxi_net *net, const float *weights);

/* Of rows first .. first + rows - 1 of N; the features are the caller's to set. */
pxi_attention pxi_decoder_attention(const pxi_net *net, const float *weights,
                                    const pxi_decoder_room *room, size_t first, size_t rows);

/* caption_decoder_back.c: after the forward pass and the losses, which left the gradients of the
 * scores in their place. */
px_status pxi_decoder_back(const pxi_decoder_task *task, pxi_decoder_room *room, px_error *err);

#endif
