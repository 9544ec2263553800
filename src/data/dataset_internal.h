/* src/data/dataset_internal.h - the inside of px_dataset, for the files that make one up */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_DATASET_INTERNAL_H
#define PXI_DATA_DATASET_INTERNAL_H

#include "data/class_map.h"
#include "data/damage.h"
#include "data/picture_sizes.h"

#include <assert.h>

struct px_dataset {
    pxi_source *source;
    char *spec;
    int64_t first, count;
    int64_t *order; /* of samples of the source, shuffled or without some; NULL: as they are */
    px_shape shape;
    int targets;       /* as asked for: labels of data without them mean nothing */
    bool converts;     /* samples go through pxi_image on their way */
    bool free_axis[3]; /* not asked for: every picture must have it like the first one */
    pxi_class_map classes;
    char **remarks;
    size_t remark_count, remark_capacity;
    px_damage *skipped; /* left out as damaged; their indices are the source's */
    size_t skipped_count;
    pxi_damage_told *told;
    pxi_picture_sizes *sizes; /* NULL: samples are not pictures of their own size */
    char describe[256];
};

/* Which sample of the source it is. */
static inline int64_t pxi_dataset_at(const px_dataset *set, int64_t index)
{
    assert(index >= 0 && index < set->count);
    return set->order ? set->order[set->first + index] : set->first + index;
}

/* Adds a remark. */
px_status pxi_dataset_say(px_dataset *set, const char *sentence, px_error *err);

#endif
