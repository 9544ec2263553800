/* src/data/dataset_inside.h - the inside of px_dataset, for the files that make one up */
#ifndef PXI_DATA_DATASET_INSIDE_H
#define PXI_DATA_DATASET_INSIDE_H

#include "data/class_map.h"

#include <assert.h>

struct px_dataset {
    pxi_source *source;
    char *spec;
    int64_t first, count;
    int64_t *order; /* of all samples of the source, shuffled; NULL: as they are */
    px_shape shape;
    bool converts;     /* samples go through pxi_image on their way */
    bool free_axis[3]; /* not asked for: every picture must have it like the first one */
    pxi_class_map classes;
    char **remarks;
    size_t remark_count, remark_capacity;
    char describe[256];
};

/* Which sample of the source it is. */
static inline int64_t pxi_dataset_at(const px_dataset *set, int64_t index)
{
    assert(index >= 0 && index < set->count);
    return set->order ? set->order[set->first + index] : set->first + index;
}

#endif
