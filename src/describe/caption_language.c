/* src/describe/caption_language.c - p(d): a language model of captions, with gradients */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/caption_language.h"

#include "base/memory.h"
#include "describe/caption_math.h"
#include "describe/lstm_cell.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_language_room_init(pxi_language_room *room, const pxi_net *net, size_t rows,
                                 size_t steps, bool learns, px_error *err)
{
    assert(rows > 0 && steps > 0);
    const pxi_caption_sizes *s = &net->sizes;
    const size_t n = rows * steps, h = s->hidden;
    *room = (pxi_language_room){0};
    const pxi_room_part parts[] = {
        {&room->layers[0].x, n * s->embedding},
        {&room->layers[0].gates, n * 4 * h},
        {&room->layers[0].h_in, n * h},
        {&room->layers[0].c, n * h},
        {&room->layers[0].tanh_c, n * h},
        {&room->layers[0].h, n * h},
        {&room->layers[1].x, n * h},
        {&room->layers[1].gates, n * 4 * h},
        {&room->layers[1].h_in, n * h},
        {&room->layers[1].c, n * h},
        {&room->layers[1].tanh_c, n * h},
        {&room->layers[1].h, n * h},
        {&room->scores, n * s->words},
        {&room->dout, learns ? n * h : 0},
        {&room->dh, learns ? rows * h : 0},
        {&room->dc, learns ? rows * h : 0},
    };
    size_t bytes = 0;
    room->memory = pxi_room_make(parts, PX_LEN(parts), &bytes);
    room->losses = pxi_calloc(n, sizeof *room->losses);
    if (room->memory && room->losses)
        return PX_OK;
    pxi_language_room_done(room);
    return pxi_no_memory_for(err, "a language model of %zu MiB", bytes >> 20);
}

void pxi_language_room_done(pxi_language_room *room)
{
    free(room->memory);
    free(room->losses);
    *room = (pxi_language_room){0};
}

/* All steps of a layer whose inputs are in place. */
static px_status layer_forward(const pxi_language_task *task, int number, pxi_language_layer *layer,
                               px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_block *block = task->block;
    const size_t h = net->sizes.hidden;
    const int base = number * PXI_LANGUAGE_LAYER;
    const pxi_linear input = pxi_net_linear(net, task->weights, base + PXI_LANGUAGE_INPUT,
                                            base + PXI_LANGUAGE_INPUT_BIAS);
    pxi_linear state = pxi_net_linear(net, task->weights, base + PXI_LANGUAGE_STATE, -1);
    state.adds = true;
    const float *bias = task->weights + net->tensors[base + PXI_LANGUAGE_STATE_BIAS].first;
    PX_TRY(pxi_linear_run(&input, block->total, layer->x, input.inputs, layer->gates, 4 * h, err));
    for (size_t i = 0; i < block->total; i++)
        for (size_t j = 0; j < 4 * h; j++)
            layer->gates[i * 4 * h + j] += bias[j];
    for (size_t t = 0; t < block->steps; t++) {
        const size_t first = block->offset[t], rows = block->active[t];
        const size_t past = t ? block->offset[t - 1] : 0;
        float *h_in = layer->h_in + first * h, *gates = layer->gates + first * 4 * h;
        if (t) {
            memcpy(h_in, layer->h + past * h, rows * h * sizeof *h_in);
            PX_TRY(pxi_linear_run(&state, rows, h_in, h, gates, 4 * h, err));
        } else {
            memset(h_in, 0, rows * h * sizeof *h_in);
        }
        pxi_lstm_cell(rows, h, gates, 4 * h, t ? layer->c + past * h : NULL, layer->c + first * h,
                      layer->tanh_c + first * h, layer->h + first * h);
    }
    return PX_OK;
}

/* Takes the gradients of the layer's states from room->dout; leaves those of its sums in its gates,
 * writes those of its matrices. */
static px_status layer_back(const pxi_language_task *task, int number, pxi_language_room *room,
                            px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_block *block = task->block;
    pxi_language_layer *layer = &room->layers[number];
    const size_t h = net->sizes.hidden, n = block->total;
    const int base = number * PXI_LANGUAGE_LAYER;
    const pxi_linear state = pxi_net_linear(net, task->weights, base + PXI_LANGUAGE_STATE, -1);
    for (size_t t = block->steps; t-- > 0;) {
        const size_t first = block->offset[t], rows = block->active[t];
        const size_t later = t + 1 < block->steps ? block->active[t + 1] : 0;
        memset(room->dc + later * h, 0, (rows - later) * h * sizeof *room->dc);
        memset(room->dh + later * h, 0, (rows - later) * h * sizeof *room->dh);
        for (size_t i = 0; i < rows * h; i++)
            room->dh[i] += room->dout[first * h + i];
        pxi_lstm_cell_back(rows, h, layer->gates + first * 4 * h, 4 * h,
                           t ? layer->c + block->offset[t - 1] * h : NULL,
                           layer->tanh_c + first * h, room->dh, room->dc);
        if (t)
            PX_TRY(pxi_linear_back(&state, rows, layer->gates + first * 4 * h, 4 * h, room->dh, h,
                                   err));
    }
    float *g = task->gradients;
    const size_t inputs = number ? h : net->sizes.embedding;
    float *bias = g + net->tensors[base + PXI_LANGUAGE_INPUT_BIAS].first;
    pxi_column_sums(n, 4 * h, layer->gates, 4 * h, bias);
    memcpy(g + net->tensors[base + PXI_LANGUAGE_STATE_BIAS].first, bias, 4 * h * sizeof *g);
    PX_TRY(pxi_linear_weights(inputs, 4 * h, n, layer->gates, 4 * h, layer->x, inputs,
                              g + net->tensors[base + PXI_LANGUAGE_INPUT].first, err));
    return pxi_linear_weights(h, 4 * h, n, layer->gates, 4 * h, layer->h_in, h,
                              g + net->tensors[base + PXI_LANGUAGE_STATE].first, err);
}

static px_status language_back(const pxi_language_task *task, pxi_language_room *room,
                               px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_block *block = task->block;
    const size_t n = block->total, h = net->sizes.hidden, words = net->sizes.words;
    const size_t d = net->sizes.embedding;
    float *g = task->gradients;
    const pxi_linear out = pxi_net_linear(net, task->weights, PXI_LANGUAGE_OUT, -1);
    PX_TRY(pxi_linear_weights(h, words, n, room->scores, words, room->layers[1].h, h,
                              g + net->tensors[PXI_LANGUAGE_OUT].first, err));
    pxi_column_sums(n, words, room->scores, words, g + net->tensors[PXI_LANGUAGE_OUT_BIAS].first);
    PX_TRY(pxi_linear_back(&out, n, room->scores, words, room->dout, h, err));
    PX_TRY(layer_back(task, 1, room, err));

    const pxi_linear between =
        pxi_net_linear(net, task->weights, PXI_LANGUAGE_LAYER + PXI_LANGUAGE_INPUT, -1);
    PX_TRY(pxi_linear_back(&between, n, room->layers[1].gates, 4 * h, room->dout, h, err));
    if (block->dropped)
        pxi_times(n * h, room->dout, block->mask, room->dout);
    PX_TRY(layer_back(task, 0, room, err));

    const pxi_linear input = pxi_net_linear(net, task->weights, PXI_LANGUAGE_INPUT, -1);
    float *embedding = g + net->tensors[PXI_LANGUAGE_EMBEDDING].first;
    memset(embedding, 0, net->tensors[PXI_LANGUAGE_EMBEDDING].count * sizeof *g);
    PX_TRY(pxi_linear_back(&input, n, room->layers[0].gates, 4 * h, room->layers[0].x, d, err));
    pxi_embed_back(n, d, block->inputs, room->layers[0].x, d, embedding);
    return PX_OK;
}

px_status pxi_language_run(const pxi_language_task *task, pxi_language_room *room, px_error *err)
{
    const pxi_net *net = task->net;
    const pxi_block *block = task->block;
    const size_t n = block->total, h = net->sizes.hidden, words = net->sizes.words;
    pxi_language_layer *low = &room->layers[0], *high = &room->layers[1];
    pxi_embed(n, net->sizes.embedding, task->weights + net->tensors[PXI_LANGUAGE_EMBEDDING].first,
              block->inputs, low->x, net->sizes.embedding);
    PX_TRY(layer_forward(task, 0, low, err));
    if (block->dropped)
        pxi_times(n * h, low->h, block->mask, high->x);
    else
        memcpy(high->x, low->h, n * h * sizeof *high->x);
    PX_TRY(layer_forward(task, 1, high, err));
    const pxi_linear out =
        pxi_net_linear(net, task->weights, PXI_LANGUAGE_OUT, PXI_LANGUAGE_OUT_BIAS);
    PX_TRY(pxi_linear_run(&out, n, high->h, h, room->scores, words, err));

    memset(room->losses, 0, n * sizeof *room->losses);
    pxi_word_losses(n, words, room->scores, block->targets, task->gradients ? task->scale : 0.0,
                    room->losses);
    pxi_block_losses(block, room->losses, task->losses);
    return task->gradients ? language_back(task, room, err) : PX_OK;
}
