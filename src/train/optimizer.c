/* src/train/optimizer.c - the optimiser as an object: its tensors, pieces, steps and state
 *
 * State of all tensors lies in one block per slot, each tensor on a cache line of its own, so that
 * two threads never write to the same line.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/choice.h"
#include "train/optimizer_kind.h"

#include "base/memory.h"

#include <assert.h>
#include <internal/tensor.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTIMIZER_PIECE =
        16384,           /* elements: with all state of one piece within the second-level cache */
    OPTIMIZER_LINE = 16, /* elements of a cache line */
};

typedef struct optimizer_tensor {
    px_shape shape;
    size_t count, offset; /* offset: into each slot */
    bool decays;
} optimizer_tensor;

struct px_optimizer {
    const pxi_optimizer_kind *kind;
    double settings[PXI_CHOICE_SETTINGS];
    char *spec;
    optimizer_tensor *tensors;
    size_t tensor_count;
    px_piece *pieces;
    size_t piece_count;
    float *slots[PXI_OPTIMIZER_SLOTS]; /* NULL: not used with these settings */
    size_t slot_elements;
    int64_t step;
    pxi_motion motion; /* of the current step; decay is each tensor's own */
};

static const px_entry *const optimizers[] = {
#define OPTIMIZER_ENTRY(id) &pxi_optimizer_##id.choice.entry,
    PXI_OPTIMIZERS(OPTIMIZER_ENTRY)
#undef OPTIMIZER_ENTRY
};
const px_registry pxi_optimizers = {
    .kind = "optimizer", .plural = "optimizers", PX_REGISTRY_POINTERS(optimizers)};

static px_status optimizer_lay_out(px_optimizer *opt, const px_shape *shapes, px_error *err)
{
    size_t elements = 0, pieces = 0;
    for (size_t i = 0; i < opt->tensor_count; i++) {
        PX_TRY(px_shape_check(&shapes[i], err));
        optimizer_tensor *t = &opt->tensors[i];
        t->shape = shapes[i];
        t->count = (size_t)px_shape_count(&shapes[i]);
        t->offset = elements;
        t->decays = shapes[i].rank > 1 || opt->settings[PXI_SET_DECAY_ALL] != 0.0;
        const size_t room = (t->count + OPTIMIZER_LINE - 1) / OPTIMIZER_LINE * OPTIMIZER_LINE;
        if (room > SIZE_MAX / sizeof(float) - 64 - elements)
            return pxi_no_memory(err);
        elements += room;
        pieces += (t->count + OPTIMIZER_PIECE - 1) / OPTIMIZER_PIECE;
    }
    opt->slot_elements = elements;
    PX_TRY(PX_NEW(opt->pieces, pieces, err));
    for (size_t i = 0; i < opt->tensor_count; i++)
        for (size_t first = 0; first < opt->tensors[i].count; first += OPTIMIZER_PIECE) {
            const size_t left = opt->tensors[i].count - first;
            opt->pieces[opt->piece_count++] =
                (px_piece){i, first, left < OPTIMIZER_PIECE ? left : OPTIMIZER_PIECE};
        }
    return PX_OK;
}

static px_status optimizer_make_slots(px_optimizer *opt, px_error *err)
{
    const double *own = opt->settings + PXI_SET_OWN;
    for (int s = 0; s < PXI_OPTIMIZER_SLOTS; s++) {
        if (!opt->kind->slots[s] || !opt->kind->has_slot(own, s))
            continue;
        opt->slots[s] = pxi_alloc_aligned(opt->slot_elements * sizeof(float));
        if (!opt->slots[s])
            return pxi_no_memory_for(err, "%zu MiB of an optimiser's state",
                                     opt->slot_elements * sizeof(float) >> 20);
        const float initial = opt->kind->initial ? (float)opt->kind->initial(own) : 0.0f;
        for (size_t i = 0; i < opt->slot_elements; i++)
            opt->slots[s][i] = initial;
    }
    return PX_OK;
}

static px_status optimizer_fill(px_optimizer *opt, const pxi_chosen *chosen, const px_shape *shapes,
                                px_error *err)
{
    memcpy(opt->settings, chosen->values, sizeof opt->settings);
    opt->motion.own = opt->settings + PXI_SET_OWN;
    px_text text = {0};
    pxi_choice_write(&opt->kind->choice, opt->settings, &text);
    opt->spec = px_text_take(&text);
    opt->tensors = pxi_calloc(opt->tensor_count, sizeof *opt->tensors);
    if (!opt->spec || !opt->tensors)
        return pxi_no_memory(err);
    PX_TRY(optimizer_lay_out(opt, shapes, err));
    return optimizer_make_slots(opt, err);
}

px_status px_optimizer_new(const char *spec, const px_shape *shapes, size_t count,
                           px_optimizer **out, px_error *err)
{
    pxi_chosen chosen;
    PX_TRY(pxi_choice_read(&pxi_optimizers, spec, strlen(spec), &chosen, err));
    px_optimizer *opt = NULL;
    PX_TRY(PX_NEW(opt, 1, err));
    opt->kind = (const void *)chosen.choice;
    opt->tensor_count = count;
    const px_status status = optimizer_fill(opt, &chosen, shapes, err);
    return PX_GIVE(status, opt, out, px_optimizer_free);
}

void px_optimizer_free(px_optimizer *opt)
{
    if (!opt)
        return;
    for (int s = 0; s < PXI_OPTIMIZER_SLOTS; s++)
        free(opt->slots[s]);
    free(opt->pieces);
    free(opt->tensors);
    free(opt->spec);
    free(opt);
}

const char *px_optimizer_spec(const px_optimizer *opt)
{
    return opt->spec;
}

bool px_optimizer_has_momentum(const px_optimizer *opt)
{
    return opt->kind->momentum >= 0 && opt->slots[opt->kind->momentum];
}

void px_optimizer_begin(px_optimizer *opt, px_pace pace, double scale)
{
    opt->step++;
    opt->motion.lr = pace.lr;
    opt->motion.momentum = pace.momentum;
    opt->motion.scale = scale;
    opt->motion.step = opt->step;
}

void px_optimizer_move(px_optimizer *opt, px_piece piece, float *weights, const float *gradient)
{
    assert(opt->step > 0 && piece.tensor < opt->tensor_count);
    const optimizer_tensor *tensor = &opt->tensors[piece.tensor];
    assert(piece.first <= tensor->count && piece.count <= tensor->count - piece.first);
    pxi_motion motion = opt->motion;
    motion.decay = tensor->decays ? opt->settings[PXI_SET_DECAY] : 0.0;
    float *slots[PXI_OPTIMIZER_SLOTS];
    for (int s = 0; s < PXI_OPTIMIZER_SLOTS; s++)
        slots[s] = opt->slots[s] ? opt->slots[s] + tensor->offset + piece.first : NULL;
    opt->kind->move(&motion, piece.count, weights + piece.first, gradient + piece.first, slots);
}

size_t px_optimizer_piece_count(const px_optimizer *opt)
{
    return opt->piece_count;
}

px_piece px_optimizer_piece(const px_optimizer *opt, size_t i)
{
    assert(i < opt->piece_count);
    return opt->pieces[i];
}

size_t px_optimizer_state_count(const px_optimizer *opt)
{
    size_t count = 1;
    for (int s = 0; s < PXI_OPTIMIZER_SLOTS; s++)
        count += opt->slots[s] ? opt->tensor_count : 0;
    return count;
}

px_state px_optimizer_state(px_optimizer *opt, size_t i)
{
    assert(i < px_optimizer_state_count(opt));
    px_state state = {.name = "step", .tensor = {.dtype = PX_INT64, .data = &opt->step}};
    if (i == 0)
        return state;
    int s = 0;
    for (i--; !opt->slots[s] || i >= opt->tensor_count; s++)
        i -= opt->slots[s] ? opt->tensor_count : 0;
    snprintf(state.name, sizeof state.name, "%s/%zu", opt->kind->slots[s], i);
    state.tensor =
        (px_tensor){PX_FLOAT32, opt->tensors[i].shape, opt->slots[s] + opt->tensors[i].offset};
    return state;
}

static px_status optimizer_check_state(const px_state *own, const px_tensor *given, px_error *err)
{
    char want[PX_SHAPE_TEXT], have[PX_SHAPE_TEXT];
    if (!given)
        return px_fail(err, PX_E_MISMATCH, "the optimiser's state has no '%s'", own->name);
    if (given->dtype != own->tensor.dtype || !px_shape_equal(&given->shape, &own->tensor.shape))
        return px_fail(err, PX_E_MISMATCH, "the optimiser's state '%s' is %s %s, expected is %s %s",
                       own->name, px_dtype_name(given->dtype), px_shape_text(&given->shape, have),
                       px_dtype_name(own->tensor.dtype), px_shape_text(&own->tensor.shape, want));
    if (own->tensor.dtype == PX_INT64) {
        int64_t step;
        memcpy(&step, given->data, sizeof step);
        if (step < 0)
            return px_fail(err, PX_E_MISMATCH, "the optimiser's state counts %" PRId64 " steps",
                           step);
    }
    return PX_OK;
}

px_status px_optimizer_restore(px_optimizer *opt, px_state_find find, const void *context,
                               px_error *err)
{
    const size_t count = px_optimizer_state_count(opt);
    for (size_t i = 0; i < count; i++) {
        const px_state own = px_optimizer_state(opt, i);
        PX_TRY(optimizer_check_state(&own, find(context, own.name), err));
    }
    for (size_t i = 0; i < count; i++) {
        const px_state own = px_optimizer_state(opt, i);
        const size_t bytes = px_tensor_bytes(&own.tensor);
        if (bytes)
            memcpy(own.tensor.data, find(context, own.name)->data, bytes);
    }
    return PX_OK;
}
