/* src/data/shards.h - tar files as WebDataset makes them, read as they are
 *
 *     shard-000000.tar: 000000001.jpg 000000001.cls 000000002.jpg 000000002.cls ...
 *
 * Members that follow each other under one name up to the first dot are a sample: a picture (.jpg,
 * .jpeg, .png) and its class, in .cls as a number or a name, or in .json as `label`, `class`,
 * `cls` or `target`. The order of samples is that of the shards.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_SHARDS_H
#define PXI_DATA_SHARDS_H

#include "data/index_file.h"

#include <internal/tree.h>

typedef struct pxi_shards { /* {0}: none */
    char *folder;           /* what the names are below */
    char **names;
    size_t count, room;
    size_t watched; /* behind these: folders whose list of files they are */
    char *stem;     /* what an index of them is called, below the folder or, "", beside it */
} pxi_shards;

/* Whether `spec` has a range in braces, as in "shard-{000000..000099}.tar". */
bool pxi_shards_is_range(const char *spec);
px_status pxi_shards_of_range(const char *spec, pxi_shards *out, px_error *err);
/* One tar file, where its first members are a sample of that kind; *out stays empty otherwise. */
px_status pxi_shards_of_file(const char *path, pxi_shards *out, px_error *err);
/* The tar files in a folder that has no pictures; *out stays empty where it has none. */
px_status pxi_shards_of_tree(const pxi_tree *tree, const char *split, pxi_shards *out,
                             px_error *err);
void pxi_shards_done(pxi_shards *shards);

/* Reads the headers of all and writes their index to `to`, whose parts are the shards. `progress`
 * (may be NULL) is told how many were read; false: PX_E_CANCELLED. */
px_status pxi_shards_index(const pxi_shards *shards, const char *split, FILE *to,
                           bool (*progress)(void *, int64_t, int64_t), void *context,
                           px_error *err);

#endif
