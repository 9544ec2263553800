/* include/internal/data_index.h - indexes of data sets that take long to list
 *
 *     px_index_made made;
 *     PX_TRY(px_data_index("imagenet", "train", NULL, NULL, &made, err));
 *     printf("%lld inputs, in %s\n", (long long)made.count, made.path);
 *
 * Whoever opens the data set then finds it (docs/data.md).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_DATA_INDEX_H
#define PXI_INTERNAL_DATA_INDEX_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

typedef struct px_index_made {
    char path[4096];      /* of the index */
    char kind[48];        /* "pictures", "shards" */
    int64_t count, parts; /* inputs; folders or tar files that they lie in */
    int class_count;
    int64_t bytes; /* of the index */
    double seconds;
} px_index_made;

/* SPEC is a folder of class folders, or tar shards; `split` as it will be asked for, NULL: not.
 * PX_E_UNSUPPORTED: data of other kinds, which open fast or are read whole. `progress` (may be
 * NULL) is told of shards that were read; false: PX_E_CANCELLED. */
px_status px_data_index(const char *spec, const char *split,
                        bool (*progress)(void *context, int64_t done, int64_t total), void *context,
                        px_index_made *out, px_error *err);

PX_END_DECLS
#endif
