/* src/describe/caption_decoder.c - p(d|R): the LSTM that attends and tells, forward */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/caption_decoder.h"

#include "base/memory.h"
#include "base/vector_math.h"
#include "describe/caption_attention.h"
#include "describe/caption_decoder_internal.h"
#include "describe/caption_math.h"
#include "describe/lstm_cell.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------------- */

px_status pxi_decoder_room_init(pxi_decoder_room *room, const pxi_net *net, size_t rows,
                                size_t steps, bool learns, px_error *err)
{
    assert(rows > 0 && steps > 0);
    const pxi_caption_sizes *s = &net->sizes;
    const size_t n = rows * steps, h = s->hidden, f = s->size, ka = s->k * s->attention;
    *room = (pxi_decoder_room){.rows = rows, .steps = steps};
    const pxi_room_part parts[] = {
        {&room->mean, rows * f},
        {&room->h0, rows * h},
        {&room->c0, rows * h},
        {&room->keys, rows * ka},
        {&room->joint, n * (s->attention + f + 4 * h)},
        {&room->x, n * (s->embedding + f)},
        {&room->z, n * f},
        {&room->tanhs, n * ka},
        {&room->alpha, n * s->k},
        {&room->tanh_c, n * h},
        {&room->h_in, learns ? n * h : 0},
        {&room->c, learns ? n * h : 0},
        {&room->h, learns ? n * h : 0},
        {&room->out, learns ? n * h : 0},
        {&room->scores, learns ? n * s->words : 0},
        {&room->sums, learns ? rows * s->k : 0},
        {&room->push, learns ? rows * s->k : 0},
        {&room->dkeys, learns ? rows * ka : 0},
        {&room->dh, learns ? rows * h : 0},
        {&room->dc, learns ? rows * h : 0},
        {&room->dgated, learns ? rows * f : 0},
    };
    size_t bytes = 0;
    room->memory = pxi_room_make(parts, PX_LEN(parts), &bytes);
    room->losses = pxi_calloc(n, sizeof *room->losses);
    if (room->memory && room->losses)
        return PX_OK;
    pxi_decoder_room_done(room);
    return pxi_no_memory_for(err, "a decoder of %zu MiB", bytes >> 20);
}

void pxi_decoder_room_done(pxi_decoder_room *room)
{
    free(room->memory);
    free(room->losses);
    *room = (pxi_decoder_room){0};
}

/* --- forward --------------------------------------------------------------------------------- */

PXI_WIDE static void tanh_all(size_t count, float *x)
{
    for (size_t i = 0; i < count; i++)
        x[i] = pxi_tanh(x[i]);
}

static void mean_vectors(const pxi_caption_sizes *s, size_t units, const float *features,
                         float *mean)
{
    const float share = 1.0f / (float)s->k;
    for (size_t u = 0; u < units; u++) {
        float *to = mean + u * s->size;
        pxi_column_sums(s->k, s->size, features + u * s->k * s->size, s->size, to);
        for (size_t i = 0; i < s->size; i++)
            to[i] *= share;
    }
}

px_status pxi_decoder_look(const pxi_net *net, const float *weights, const float *features,
                           size_t units, pxi_decoder_room *room, px_error *err)
{
    const pxi_caption_sizes *s = &net->sizes;
    const pxi_linear start_h =
        pxi_net_linear(net, weights, PXI_DECODER_START_H, PXI_DECODER_START_H_BIAS);
    const pxi_linear start_c =
        pxi_net_linear(net, weights, PXI_DECODER_START_C, PXI_DECODER_START_C_BIAS);
    const pxi_linear key = pxi_net_linear(net, weights, PXI_DECODER_KEY, PXI_DECODER_KEY_BIAS);
    mean_vectors(s, units, features, room->mean);
    PX_TRY(pxi_linear_run(&start_h, units, room->mean, s->size, room->h0, s->hidden, err));
    PX_TRY(pxi_linear_run(&start_c, units, room->mean, s->size, room->c0, s->hidden, err));
    tanh_all(units * s->hidden, room->h0);
    tanh_all(units * s->hidden, room->c0);
    return pxi_linear_run(&key, units * s->k, features, s->size, room->keys, s->attention, err);
}

/* The query, gate and state matrices lie together: one product reads the state for all three. */
pxi_linear pxi_decoder_joint(const pxi_net *net, const float *weights)
{
    pxi_linear joint = pxi_net_linear(net, weights, PXI_DECODER_QUERY, PXI_DECODER_QUERY_BIAS);
    joint.outputs = net->sizes.attention + net->sizes.size + 4 * net->sizes.hidden;
    return joint;
}

pxi_attention pxi_decoder_attention(const pxi_net *net, const float *weights,
                                    const pxi_decoder_room *room, size_t first, size_t rows)
{
    const pxi_caption_sizes *s = &net->sizes;
    const size_t joint = s->attention + s->size + 4 * s->hidden;
    return (pxi_attention){
        .sizes = s,
        .v = weights + net->tensors[PXI_DECODER_SCORE].first,
        .v_bias = weights + net->tensors[PXI_DECODER_SCORE_BIAS].first,
        .rows = rows,
        .keys = room->keys,
        .features_row = s->k * s->size,
        .keys_row = s->k * s->attention,
        .state = room->joint + first * joint,
        .state_row = joint,
        .tanhs = room->tanhs + first * s->k * s->attention,
        .alpha = room->alpha + first * s->k,
        .z = room->z + first * s->size,
    };
}

/* One step of rows first .. first + rows - 1 of N, from `h` and `c` to h_new and c_new. */
static px_status decoder_advance(const pxi_net *net, const float *weights,
                                 const pxi_decoder_step *step, size_t first, pxi_decoder_room *room,
                                 px_error *err)
{
    const pxi_caption_sizes *s = &net->sizes;
    const size_t wide = s->embedding + s->size, before = s->attention + s->size;
    const size_t joint_row = before + 4 * s->hidden;
    const pxi_linear joint = pxi_decoder_joint(net, weights);
    pxi_linear input = pxi_net_linear(net, weights, PXI_DECODER_INPUT, /* bias= */ -1);
    input.adds = true;
    float *x = room->x + first * wide, *all = room->joint + first * joint_row;
    PX_TRY(pxi_linear_run(&joint, step->rows, step->h, s->hidden, all, joint_row, err));
    const float *bias = weights + net->tensors[PXI_DECODER_INPUT_BIAS].first;
    for (size_t r = 0; r < step->rows; r++)
        for (size_t i = 0; i < 4 * s->hidden; i++)
            all[r * joint_row + before + i] += bias[i];

    pxi_attention attention = pxi_decoder_attention(net, weights, room, first, step->rows);
    attention.features = step->features;
    if (step->shared)
        attention.features_row = attention.keys_row = 0;
    pxi_attention_run(&attention, x + s->embedding, wide);
    pxi_embed(step->rows, s->embedding, weights + net->tensors[PXI_DECODER_EMBEDDING].first,
              step->words, x, wide);
    PX_TRY(pxi_linear_run(&input, step->rows, x, wide, all + before, joint_row, err));
    pxi_lstm_cell(step->rows, s->hidden, all + before, joint_row, step->c, step->c_new,
                  room->tanh_c + first * s->hidden, step->h_new);
    return PX_OK;
}

px_status pxi_decoder_say(const pxi_net *net, const float *weights, const pxi_decoder_step *step,
                          pxi_decoder_room *room, px_error *err)
{
    const pxi_linear out = pxi_net_linear(net, weights, PXI_DECODER_OUT, PXI_DECODER_OUT_BIAS);
    PX_TRY(decoder_advance(net, weights, step, 0, room, err));
    return pxi_linear_run(&out, step->rows, step->h_new, net->sizes.hidden, step->scores,
                          net->sizes.words, err);
}

static px_status decoder_forward(const pxi_decoder_task *task, pxi_decoder_room *room,
                                 px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_block *block = task->block;
    const size_t h = net->sizes.hidden, k = net->sizes.k, n = block->total;
    PX_TRY(pxi_decoder_look(net, task->weights, block->features, block->rows, room, err));
    memset(room->sums, 0, block->rows * k * sizeof *room->sums);
    for (size_t t = 0; t < block->steps; t++) {
        const size_t first = block->offset[t], rows = block->active[t];
        const float *c = t ? room->c + block->offset[t - 1] * h : room->c0;
        float *h_in = room->h_in + first * h;
        memcpy(h_in, t ? room->h + block->offset[t - 1] * h : room->h0, rows * h * sizeof *h_in);
        const pxi_decoder_step step = {.rows = rows,
                                       .words = block->inputs + first,
                                       .features = block->features,
                                       .h = h_in,
                                       .c = c,
                                       .h_new = room->h + first * h,
                                       .c_new = room->c + first * h};
        PX_TRY(decoder_advance(net, task->weights, &step, first, room, err));
        for (size_t i = 0; i < rows * k; i++)
            room->sums[i] += room->alpha[first * k + i];
    }
    const float *said = room->h;
    if (block->dropped) {
        pxi_times(n * h, room->h, block->mask, room->out);
        said = room->out;
    }
    const pxi_linear out =
        pxi_net_linear(net, task->weights, PXI_DECODER_OUT, PXI_DECODER_OUT_BIAS);
    return pxi_linear_run(&out, n, said, h, room->scores, net->sizes.words, err);
}

px_status pxi_decoder_run(const pxi_decoder_task *task, pxi_decoder_room *room, px_error *err)
{
    const pxi_block *block = task->block;
    const size_t k = task->net->sizes.k;
    PX_TRY(decoder_forward(task, room, err));
    memset(room->losses, 0, block->total * sizeof *room->losses);
    pxi_word_losses(block->total, task->net->sizes.words, room->scores, block->targets,
                    task->gradients ? task->word_scale : 0.0, room->losses);
    pxi_block_losses(block, room->losses, task->losses);
    for (size_t r = 0; r < block->rows; r++)
        task->penalties[r] = pxi_attention_penalty(room->sums + r * k, k);
    return task->gradients ? pxi_decoder_back(task, room, err) : PX_OK;
}
