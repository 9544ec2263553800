/* src/describe/caption_decoder_back.c - gradients of the decoder
 *
 * The steps backwards leave the gradients of all sums (query, gate, LSTM gates) where these were;
 * then every matrix's gradient is one product over all steps of the block. Vectors of exemplars are
 * given: nothing goes on to them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/caption_decoder_internal.h"
#include "describe/lstm_cell.h"

#include <string.h>

/* The regulariser's gradient by each alpha, which is the same at every step of a row. */
static void back_push(const pxi_decoder_task *task, pxi_decoder_room *room)
{
    const size_t count = task->block->rows * task->net->sizes.k;
    for (size_t i = 0; i < count; i++)
        room->push[i] = (float)(-2.0 * task->unit_scale * (1.0 - (double)room->sums[i]));
}

/* Scores to states: room->out becomes the gradient of the states by what was said. */
static px_status back_scores(const pxi_decoder_task *task, pxi_decoder_room *room, px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_block *block = task->block;
    const size_t n = block->total, h = net->sizes.hidden, words = net->sizes.words;
    const pxi_linear out = pxi_net_linear(net, task->weights, PXI_DECODER_OUT, -1);
    PX_TRY(pxi_linear_weights(h, words, n, room->scores, words,
                              block->dropped ? room->out : room->h, h,
                              task->gradients + net->tensors[PXI_DECODER_OUT].first, err));
    pxi_column_sums(n, words, room->scores, words,
                    task->gradients + net->tensors[PXI_DECODER_OUT_BIAS].first);
    PX_TRY(pxi_linear_back(&out, n, room->scores, words, room->out, h, err));
    if (block->dropped)
        pxi_times(n * h, room->out, block->mask, room->out);
    return PX_OK;
}

/* One step: room->dh and dc hold what the next step left for its rows, and get what this one leaves
 * for the step before. */
static px_status back_step(const pxi_decoder_task *task, size_t t, pxi_decoder_room *room,
                           px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_caption_sizes *s = &net->sizes;
    const pxi_block *block = task->block;
    const size_t first = block->offset[t], rows = block->active[t], h = s->hidden;
    const size_t later = t + 1 < block->steps ? block->active[t + 1] : 0;
    const size_t before = s->attention + s->size, joint_row = before + 4 * h;
    float *all = room->joint + first * joint_row;
    memset(room->dc + later * h, 0, (rows - later) * h * sizeof *room->dc);
    memset(room->dh + later * h, 0, (rows - later) * h * sizeof *room->dh);
    for (size_t i = 0; i < rows * h; i++)
        room->dh[i] += room->out[first * h + i];
    pxi_lstm_cell_back(rows, h, all + before, joint_row,
                       t ? room->c + block->offset[t - 1] * h : room->c0, room->tanh_c + first * h,
                       room->dh, room->dc);

    pxi_linear input = pxi_net_linear(net, task->weights, PXI_DECODER_INPUT, -1);
    input.weights += s->embedding; /* the columns of what the gate let through */
    input.inputs = s->size;
    PX_TRY(pxi_linear_back(&input, rows, all + before, joint_row, room->dgated, s->size, err));
    pxi_attention attention = pxi_decoder_attention(net, task->weights, room, first, rows);
    attention.features = block->features;
    pxi_attention_back(&attention, room->dgated, s->size, room->push, room->dkeys,
                       task->gradients + net->tensors[PXI_DECODER_SCORE].first,
                       task->gradients + net->tensors[PXI_DECODER_SCORE_BIAS].first);
    const pxi_linear joint = pxi_decoder_joint(net, task->weights);
    return pxi_linear_back(&joint, rows, all, joint_row, room->dh, h, err);
}

/* What read the state, and the words; room->joint holds the gradients of all sums. */
static px_status back_matrices(const pxi_decoder_task *task, pxi_decoder_room *room, px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_caption_sizes *s = &net->sizes;
    const pxi_block *block = task->block;
    const size_t n = block->total, h = s->hidden, wide = s->embedding + s->size;
    const size_t before = s->attention + s->size, joint_row = before + 4 * h;
    float *g = task->gradients;
    PX_TRY(pxi_linear_weights(h, joint_row, n, room->joint, joint_row, room->h_in, h,
                              g + net->tensors[PXI_DECODER_QUERY].first, err));
    pxi_column_sums(n, joint_row, room->joint, joint_row,
                    g + net->tensors[PXI_DECODER_QUERY_BIAS].first);
    memcpy(g + net->tensors[PXI_DECODER_INPUT_BIAS].first,
           g + net->tensors[PXI_DECODER_STATE_BIAS].first, 4 * h * sizeof *g);
    PX_TRY(pxi_linear_weights(wide, 4 * h, n, room->joint + before, joint_row, room->x, wide,
                              g + net->tensors[PXI_DECODER_INPUT].first, err));
    pxi_linear input = pxi_net_linear(net, task->weights, PXI_DECODER_INPUT, -1);
    input.inputs = s->embedding; /* the columns of words; x itself is done with */
    PX_TRY(pxi_linear_back(&input, n, room->joint + before, joint_row, room->x, wide, err));
    float *embedding = g + net->tensors[PXI_DECODER_EMBEDDING].first;
    memset(embedding, 0, net->tensors[PXI_DECODER_EMBEDDING].count * sizeof *g);
    pxi_embed_back(n, s->embedding, block->inputs, room->x, wide, embedding);
    return PX_OK;
}

/* One of the two first states; `d` becomes the gradient of its sum. */
static px_status back_start(const pxi_decoder_task *task, const pxi_decoder_room *room, int tensor,
                            int bias, const float *state, float *d, px_error *err)
{
    const pxi_net *net = task->net;
    const size_t h = net->sizes.hidden, f = net->sizes.size, rows = task->block->rows;
    for (size_t i = 0; i < rows * h; i++)
        d[i] *= 1.0f - state[i] * state[i];
    pxi_column_sums(rows, h, d, h, task->gradients + net->tensors[bias].first);
    return pxi_linear_weights(f, h, rows, d, h, room->mean, f,
                              task->gradients + net->tensors[tensor].first, err);
}

px_status pxi_decoder_back(const pxi_decoder_task *task, pxi_decoder_room *room, px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_caption_sizes *s = &net->sizes;
    const pxi_block *block = task->block;
    float *g = task->gradients;
    back_push(task, room);
    PX_TRY(back_scores(task, room, err));
    memset(room->dkeys, 0, block->rows * s->k * s->attention * sizeof *room->dkeys);
    memset(g + net->tensors[PXI_DECODER_SCORE].first, 0, (s->attention + 1) * sizeof *g);
    for (size_t t = block->steps; t-- > 0;)
        PX_TRY(back_step(task, t, room, err));
    PX_TRY(back_matrices(task, room, err));
    PX_TRY(pxi_linear_weights(s->size, s->attention, block->rows * s->k, room->dkeys, s->attention,
                              block->features, s->size, g + net->tensors[PXI_DECODER_KEY].first,
                              err));
    pxi_column_sums(block->rows * s->k, s->attention, room->dkeys, s->attention,
                    g + net->tensors[PXI_DECODER_KEY_BIAS].first);
    PX_TRY(back_start(task, room, PXI_DECODER_START_H, PXI_DECODER_START_H_BIAS, room->h0, room->dh,
                      err));
    return back_start(task, room, PXI_DECODER_START_C, PXI_DECODER_START_C_BIAS, room->c0, room->dc,
                      err);
}
