/* src/data/shard_samples.h - from the members of shards to samples with labels */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_SHARD_SAMPLES_H
#define PXI_DATA_SHARD_SAMPLES_H

#include "data/index_file.h"
#include "data/tar_members.h"

typedef struct pxi_shard_samples { /* {0} but for the maker */
    pxi_index_maker *maker;        /* borrowed */
    char **labels;                 /* different texts, in the order in which they came */
    size_t label_count, label_room;
    uint32_t *sorted; /* of them, by text */
    size_t sorted_room;
    int32_t last; /* of them: classes mostly come in a row, or one is all there is */
    int64_t labelled, pictureless; /* samples */
    char unlabelled[128];          /* the first one */
} pxi_shard_samples;

/* All samples of one shard, which is part `part` of the index. */
px_status pxi_shard_samples_read(pxi_shard_samples *samples, const pxi_bytes *bytes,
                                 const char *name, uint32_t part, px_error *err);
/* When all were read: numbers the labels, and says so in `about`, which borrows the names. */
px_status pxi_shard_samples_label(pxi_shard_samples *samples, pxi_index_about *about, char *remark,
                                  size_t size, px_error *err);
void pxi_shard_samples_done(pxi_shard_samples *samples);

/* Whether the first members of a tar file are a picture with a class beside it. What is no tar file
 * is none of these. */
px_status pxi_shard_is_samples(const pxi_bytes *bytes, const char *name, bool *out, px_error *err);

#endif
