/* src/data/picture_sizes.c - which pictures are of another size than the first one */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/picture_sizes.h"

#include "base/memory.h"
#include "data/dataset_internal.h"

#include <internal/data.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct pxi_picture_sizes {
    int width, height;    /* of the first picture */
    pthread_mutex_t lock; /* of all below */
    uint8_t *other;       /* per picture: whether it is of another size */
    int64_t others, first;
    int first_width, first_height;
};

px_status pxi_picture_sizes_new(int64_t pictures, int width, int height, pxi_picture_sizes **out,
                                px_error *err)
{
    pxi_picture_sizes *sizes = pxi_calloc(1, sizeof *sizes);
    uint8_t *other = pxi_calloc((size_t)pictures, 1);
    if (!sizes || !other) {
        free(sizes);
        free(other);
        return pxi_no_memory_for(err, "%lld pictures", (long long)pictures);
    }
    *sizes = (pxi_picture_sizes){.width = width, .height = height, .other = other, .first = -1};
    pthread_mutex_init(&sizes->lock, NULL);
    *out = sizes;
    return PX_OK;
}

void pxi_picture_sizes_free(pxi_picture_sizes *sizes)
{
    if (!sizes)
        return;
    pthread_mutex_destroy(&sizes->lock);
    free(sizes->other);
    free(sizes);
}

void pxi_picture_sizes_see(pxi_picture_sizes *sizes, int64_t index, int width, int height)
{
    if (width == sizes->width && height == sizes->height)
        return;
    pthread_mutex_lock(&sizes->lock);
    if (!sizes->other[index]) {
        sizes->other[index] = 1;
        sizes->others++;
        if (sizes->first < 0 || index < sizes->first) {
            sizes->first = index;
            sizes->first_width = width;
            sizes->first_height = height;
        }
    }
    pthread_mutex_unlock(&sizes->lock);
}

const char *px_dataset_sizes_remark(const px_dataset *set, char buffer[PX_SIZES_TEXT])
{
    char name[256];
    pxi_picture_sizes *sizes = set->sizes;
    if (!sizes)
        return NULL;
    pthread_mutex_lock(&sizes->lock);
    const bool any = sizes->others > 0;
    if (any)
        snprintf(buffer, PX_SIZES_TEXT,
                 "%lld of %lld pictures were resized from other sizes than the first one's %dx%d "
                 "(width x height); '%s' is %dx%d",
                 (long long)sizes->others, (long long)set->count, sizes->width, sizes->height,
                 px_dataset_name(set, sizes->first, name, sizeof name), sizes->first_width,
                 sizes->first_height);
    pthread_mutex_unlock(&sizes->lock);
    return any ? buffer : NULL;
}
