/* src/describe/caption_net.c - the numbers of a captioner's networks, and blocks of captions */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/caption_net.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

/* Sizes are below 2^21 each: products of two fit. */
static void net_add(pxi_net *net, const char *name, size_t rows, size_t columns, double spread)
{
    pxi_net_tensor *t = &net->tensors[net->tensor_count++];
    *t = (pxi_net_tensor){.name = name, .first = net->count, .spread = spread};
    t->shape.rank = columns ? 2 : 1;
    t->shape.dim[0] = (int64_t)rows;
    if (columns)
        t->shape.dim[1] = (int64_t)columns;
    t->count = rows * (columns ? columns : 1);
    net->count += t->count;
}

static double spread_of(size_t inputs) /* PyTorch's default of linear layers, and of LSTMs */
{
    return 1.0 / sqrt((double)inputs);
}

static px_status net_check(const pxi_net *net, const char *what, px_error *err)
{
    return net->count <= PXI_CAPTION_MOST_WEIGHTS
               ? PX_OK
               : px_fail(err, PX_E_UNSUPPORTED, "%s would have %zu weights; %zu is the most", what,
                         net->count, PXI_CAPTION_MOST_WEIGHTS);
}

px_status pxi_decoder_net(const pxi_caption_sizes *s, pxi_net *net, px_error *err)
{
    *net = (pxi_net){.sizes = *s};
    const size_t d = s->embedding, h = s->hidden, a = s->attention, f = s->size;
    const double of_h = spread_of(h), of_f = spread_of(f), of_a = spread_of(a);
    net_add(net, "embedding", s->words, d, 0.0);
    net_add(net, "start_h", h, f, of_f);
    net_add(net, "start_c", h, f, of_f);
    net_add(net, "start_h_bias", h, 0, of_f);
    net_add(net, "start_c_bias", h, 0, of_f);
    net_add(net, "key", a, f, of_f);
    net_add(net, "key_bias", a, 0, of_f);
    net_add(net, "query", a, h, of_h);
    net_add(net, "gate", f, h, of_h);
    net_add(net, "state", 4 * h, h, of_h);
    net_add(net, "query_bias", a, 0, of_h);
    net_add(net, "gate_bias", f, 0, of_h);
    net_add(net, "state_bias", 4 * h, 0, of_h);
    net_add(net, "score", 1, a, of_a);
    net_add(net, "score_bias", 1, 0, of_a);
    net_add(net, "input", 4 * h, d + f, of_h);
    net_add(net, "input_bias", 4 * h, 0, of_h);
    net_add(net, "out", s->words, h, of_h);
    net_add(net, "out_bias", s->words, 0, of_h);
    return net_check(net, "the decoder", err);
}

px_status pxi_language_net(const pxi_caption_sizes *s, pxi_net *net, px_error *err)
{
    static const char *const names[2][PXI_LANGUAGE_LAYER] = {
        {"input_0", "state_0", "input_bias_0", "state_bias_0"},
        {"input_1", "state_1", "input_bias_1", "state_bias_1"},
    };
    *net = (pxi_net){.sizes = *s};
    const size_t h = s->hidden;
    const double of_h = spread_of(h);
    net_add(net, "embedding", s->words, s->embedding, 0.0);
    for (int layer = 0; layer < 2; layer++) {
        net_add(net, names[layer][0], 4 * h, layer ? h : s->embedding, of_h);
        net_add(net, names[layer][1], 4 * h, h, of_h);
        net_add(net, names[layer][2], 4 * h, 0, of_h);
        net_add(net, names[layer][3], 4 * h, 0, of_h);
    }
    net_add(net, "out", s->words, h, of_h);
    net_add(net, "out_bias", s->words, 0, of_h);
    return net_check(net, "the language model", err);
}

void pxi_net_start(const pxi_net *net, uint64_t seed, uint32_t item, float *weights)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const pxi_net_tensor *t = &net->tensors[i];
        px_random r = px_rng(seed, PX_RNG_INIT, item + (uint32_t)i, 0);
        float *w = weights + t->first;
        for (size_t j = 0; j < t->count; j++)
            w[j] = (float)(t->spread > 0.0 ? t->spread * (2.0 * px_rng_u01(&r) - 1.0)
                                           : px_rng_normal(&r));
    }
}

/* --- blocks of captions ---------------------------------------------------------------------- */

px_status pxi_block_init(pxi_block *block, size_t rows, size_t steps,
                         const pxi_caption_sizes *sizes, bool features, px_error *err)
{
    const size_t most = rows * steps;
    const size_t numbers = features ? rows * sizes->k * sizes->size : 0;
    *block = (pxi_block){
        .active = pxi_calloc(steps, sizeof *block->active),
        .offset = pxi_calloc(steps, sizeof *block->offset),
        .inputs = pxi_calloc(most, sizeof *block->inputs),
        .targets = pxi_calloc(most, sizeof *block->targets),
        .mask = pxi_alloc_aligned(most * sizes->hidden * sizeof *block->mask),
        .features = numbers ? pxi_alloc_aligned(numbers * sizeof *block->features) : NULL,
    };
    if (block->active && block->offset && block->inputs && block->targets && block->mask &&
        (block->features || !numbers))
        return PX_OK;
    pxi_block_done(block);
    return pxi_no_memory_for(err, "%zu captions of %zu words", rows, steps);
}

void pxi_block_done(pxi_block *block)
{
    free(block->active);
    free(block->offset);
    free(block->inputs);
    free(block->targets);
    free(block->mask);
    free(block->features);
    *block = (pxi_block){0};
}

void pxi_block_fill(pxi_block *block, const pxi_sample *const *samples, size_t rows, int32_t start)
{
    block->rows = rows;
    block->steps = rows ? samples[0]->length : 0;
    block->dropped = false;
    size_t n = 0, going = rows;
    for (size_t t = 0; t < block->steps; t++) {
        while (samples[going - 1]->length <= t)
            going--;
        block->active[t] = going;
        block->offset[t] = n;
        for (size_t r = 0; r < going; r++, n++) {
            block->inputs[n] = t ? samples[r]->words[t - 1] : start;
            block->targets[n] = samples[r]->words[t];
        }
    }
    block->total = n;
}

void pxi_block_losses(const pxi_block *block, const double *words, double *rows)
{
    for (size_t r = 0; r < block->rows; r++) {
        rows[r] = 0.0;
        for (size_t t = 0; t < block->steps && r < block->active[t]; t++)
            rows[r] += words[block->offset[t] + r];
    }
}

void pxi_standardise(const pxi_standard *standard, const pxi_caption_sizes *sizes,
                     const float *features, float *out)
{
    for (size_t j = 0; j < sizes->k; j++)
        for (size_t i = 0; i < sizes->size; i++)
            out[j * sizes->size + i] =
                (features[j * sizes->size + i] - standard->mean[i]) * standard->scale[i];
}
