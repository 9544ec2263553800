/* src/store/campaign_source.c - a campaign as a data set: its failures, kept inputs, seeds
 *
 * The list of inputs is read once; pixels when they are asked for, from one connection, by one
 * thread at a time. Inputs that are damaged are left out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"
#include <internal/source.h>

#include <internal/closeness.h>
#include <internal/store.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct campaign_item {
    int64_t id;
    int32_t label; /* -1: none */
} campaign_item;

typedef struct campaign_source {
    pxi_source base;
    px_campaign *campaign;
    pthread_mutex_t lock; /* of `campaign`, which reading uses */
    campaign_item *items;
    size_t capacity;
    const char **class_names; /* borrowed from the campaign */
} campaign_source;

/* The first is what is taken where none is named. */
static const char *const split_names[] = {"faults", "close", "kept", "seeds", "generated", "all"};
static const unsigned split_kinds[] = {
    PX_INPUT_FAULT, PX_INPUT_FAULT, PX_INPUT_KEPT, PX_INPUT_SEED, PX_INPUT_FAULT + PX_INPUT_KEPT,
    PX_INPUT_ANY};
enum { SPLIT_CLOSE = 1 }; /* of those: faults that are close to their originals */

bool px_campaign_part_fails(const char *folder, const char *split)
{
    const int chosen = split ? pxi_split_find(split_names, PX_LEN(split_names), split) : 0;
    return px_campaign_is(folder) && chosen >= 0 && split_kinds[chosen] == PX_INPUT_FAULT;
}

static px_status source_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    campaign_source *self = (campaign_source *)(uintptr_t)source; /* the lock makes it one's own */
    const size_t count = px_campaign_size(self->campaign);
    const bool bytes = source->is_8bit;
    px_campaign_input in;
    uint8_t *planes = bytes ? pxi_calloc(count, 1) : NULL;
    if (bytes && !planes)
        return pxi_no_memory(err);
    pthread_mutex_lock(&self->lock);
    const px_status status = px_campaign_read(self->campaign, self->items[index].id, &in,
                                              bytes ? (void *)planes : (void *)out, err);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; bytes && status == PX_OK && i < count; i++)
        out[i] = (float)planes[i];
    free(planes);
    return status;
}

static int64_t source_label(const pxi_source *source, int64_t index)
{
    return ((const campaign_source *)source)->items[index].label;
}

/* The input's id: "17". */
static const char *source_name(const pxi_source *source, int64_t index, char *buffer, size_t size)
{
    snprintf(buffer, size, "%" PRId64, ((const campaign_source *)source)->items[index].id);
    return buffer;
}

static void source_free(pxi_source *source)
{
    campaign_source *self = (campaign_source *)source;
    px_campaign_close(self->campaign);
    pthread_mutex_destroy(&self->lock);
    free(self->items);
    free(self->class_names);
    free(self);
}

static const pxi_source_type campaign_source_type = {
    .values = source_values, .label = source_label, .name = source_name, .free = source_free};

/* All of them or none. */
static px_status source_classes(campaign_source *self, int classes, px_error *err)
{
    PX_TRY(PX_NEW(self->class_names, (size_t)PX_MAX(classes, self->base.class_count) + 1, err));
    for (int c = 0; c < self->base.class_count; c++)
        if (!(self->class_names[c] = px_campaign_class_name(self->campaign, c)))
            return PX_OK;
    self->base.class_names = self->base.class_count ? self->class_names : NULL;
    return PX_OK;
}

static px_status source_list(campaign_source *self, int split, px_error *err)
{
    px_campaign_input in = {0};
    int64_t damaged = 0, most = -1;
    for (;;) {
        PX_TRY(
            px_campaign_next(self->campaign, in.id, split_kinds[split], &in, NULL, &damaged, err));
        if (!in.id)
            break;
        if (split == SPLIT_CLOSE && !in.measured) {
            const px_status status = px_campaign_measure(self->campaign, in.id, &in.near, err);
            if (status != PX_E_INPUT &&
                status != PX_E_USAGE) /* else its root or chain is damaged */
                PX_TRY(status);
        }
        if (split == SPLIT_CLOSE && !px_is_close(&in.near))
            continue;
        if (in.label >= PXI_CLASSES_MAX)
            return px_fail(err, PX_E_INPUT,
                           "'%s': label %" PRId64 " of input %" PRId64 " is too large",
                           px_campaign_folder(self->campaign), in.label, in.id);
        PX_TRY(PX_GROW(self->items, self->capacity, (size_t)self->base.count + 1, err));
        self->items[self->base.count++] = (campaign_item){.id = in.id, .label = (int32_t)in.label};
        most = PX_MAX(most, in.label);
    }
    px_campaign_identity identity = {0};
    px_campaign_identity_get(self->campaign, &identity);
    self->base.class_count = (int)PX_MAX((int64_t)identity.classes, most + 1);
    PX_TRY(source_classes(self, identity.classes, err));
    self->base.shape = identity.shape;
    self->base.is_8bit = identity.dtype == PX_UINT8;
    return PX_OK;
}

px_status pxi_campaign_source_open(const char *folder, const char *split, pxi_source **out,
                                   px_error *err)
{
    px_campaign *campaign = NULL;
    int chosen = 0;
    if (split && (chosen = pxi_split_find(split_names, PX_LEN(split_names), split)) < 0)
        return pxi_split_fail(folder, split_names, PX_LEN(split_names), split, err);
    PX_TRY(px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, err));
    campaign_source *self = pxi_calloc(1, sizeof *self);
    if (!self) {
        px_campaign_close(campaign);
        return pxi_no_memory(err);
    }
    pthread_mutex_init(&self->lock, NULL);
    self->campaign = campaign;
    self->base.type = &campaign_source_type;
    snprintf(self->base.kind, sizeof self->base.kind, "campaign's %s", split_names[chosen]);
    px_status status = source_list(self, chosen, err);
    if (status == PX_OK && self->base.count == 0)
        status = px_fail(err, PX_E_INPUT, "'%s': has no inputs in '%s'; choose another --split",
                         folder, split_names[chosen]);
    if (status != PX_OK) {
        source_free(&self->base);
        return status;
    }
    *out = &self->base;
    return PX_OK;
}
