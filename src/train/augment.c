/* src/train/augment.c - the list of augmentations: its table, its text form, its application */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/augment.h"

#include "base/memory.h"
#include <internal/feeder.h>

#include <string.h>

static const px_entry *const augmentations[] = {
#define AUGMENTATION_ENTRY(name) &pxi_augmentation_##name.choice.entry,
    PXI_AUGMENTATIONS(AUGMENTATION_ENTRY)
#undef AUGMENTATION_ENTRY
};
const px_registry pxi_augmentations = {
    .kind = "augmentation", .plural = "augmentations", PX_REGISTRY_POINTERS(augmentations)};

/* One entry, NUL-terminated: NAME or NAME:ARGUMENT. */
static px_status augment_parse_link(char *entry, const px_shape *shape, pxi_augment_link *link,
                                    px_error *err)
{
    char *argument = strchr(entry, ':');
    if (argument)
        *argument++ = '\0';
    const px_choice *choice = NULL;
    PX_TRY(px_augmentation_choose(entry, &choice, err));
    link->kind = (const void *)choice;
    return link->kind->parse(argument, shape, link, err);
}

px_status pxi_augment_parse(const char *text, const px_shape *shape, pxi_augment *out,
                            px_error *err)
{
    pxi_augment list = {0};
    while (text && *text) {
        char entry[64];
        const size_t length = strcspn(text, ",");
        if (list.count == PXI_AUGMENT_MOST)
            return px_fail(err, PX_E_USAGE, "more than %d augmentations", PXI_AUGMENT_MOST);
        if (length == 0 || length >= sizeof entry || strcmp(text + length, ",") == 0)
            return px_fail(err, PX_E_USAGE,
                           "augmentations '%.100s': expected a comma list such as crop:4,flip",
                           text);
        memcpy(entry, text, length);
        entry[length] = '\0';
        PX_TRY(augment_parse_link(entry, shape, &list.link[list.count++], err));
        text += length + (text[length] == ',');
    }
    *out = list;
    return PX_OK;
}

px_status pxi_augment_apply(const pxi_augment *augment, const px_shape *shape, bool unit,
                            float *pixels, px_random *random, px_error *err)
{
    for (int i = 0; i < augment->count; i++) {
        const pxi_augment_link *link = &augment->link[i];
        PX_TRY(link->kind->apply(link, shape, unit, pixels, random, err));
    }
    return PX_OK;
}
