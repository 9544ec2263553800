/* src/data/index_file.h - where the inputs of a large data set lie: a file that is made once
 *
 * Listing a million files, or reading the headers of a million members of tar files, takes longer
 * than much of what is done with them, and the list takes memory. An index has it on disk: for
 * every input its name, its place, its size and its label, in the order of the data set. Nothing
 * but the labels is in memory, four bytes for each input; the rest is read where it is needed.
 *
 *     "plexor index 1\n"                                 magic
 *     blocks of 256 inputs: index_record[n], names       names lie behind each other, without NUL
 *     directory of blocks:  index_block[blocks + 1]      where each begins, and its hash
 *     labels:               int32[count]
 *     about:                texts with NUL, and parts    what the parts were like: index_part_head
 *     foot:                 index_foot                   at the end, so that it is written in one
 * go
 *
 * Numbers are little endian. A *part* is what an input lies in: a folder below the data set's, or a
 * tar file. Files come from anywhere: everything that is read is held against what is there, and
 * names lead nowhere but down.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_INDEX_FILE_H
#define PXI_DATA_INDEX_FILE_H

#include <internal/bytes.h>

#include <stdio.h>

#define PXI_INDEX_NAME 1024 /* the longest name of an input below its part, with the NUL */

typedef enum pxi_index_kind { PXI_INDEX_FOLDERS, PXI_INDEX_SHARDS, PXI_INDEX_KINDS } pxi_index_kind;

typedef struct pxi_index_part {
    const char *name; /* below the data set: "n0001", or "" for that itself; "shard-000001.tar" */
    uint64_t size;    /* in bytes, of a tar file; 0 */
    int64_t changed_s, changed_ns; /* when it was changed */
} pxi_index_part;

typedef struct pxi_index_item {
    char name[PXI_INDEX_NAME]; /* below its part */
    uint64_t place, size;      /* in a tar file; of folders place is 0 */
    uint32_t part;
} pxi_index_item;

typedef struct pxi_index_about {
    pxi_index_kind kind;
    const char *split;  /* as it was asked for; "": the default one */
    const char *remark; /* what a user should know of the files; "": nothing */
    int class_count;
    const char *const *class_names; /* NULL: unknown */
    const pxi_index_part *parts;
    size_t part_count;
} pxi_index_about;

/* --- making one ------------------------------------------------------------------------------ */

typedef struct pxi_index_maker pxi_index_maker;

/* Writes to a stream that is the caller's; what fails there shows when it is closed. */
px_status pxi_index_maker_new(FILE *to, pxi_index_maker **out, px_error *err);
void pxi_index_maker_free(pxi_index_maker *maker); /* NULL is fine */
px_status pxi_index_maker_add(pxi_index_maker *maker, const pxi_index_item *item, int32_t label,
                              px_error *err);
int64_t pxi_index_maker_count(const pxi_index_maker *maker);
/* For labels that are known when all was seen: label i becomes to[i]. */
void pxi_index_maker_relabel(pxi_index_maker *maker, const int32_t *to);
px_status pxi_index_maker_finish(pxi_index_maker *maker, const pxi_index_about *about,
                                 px_error *err);

/* --- reading one ----------------------------------------------------------------------------- */

typedef struct pxi_index pxi_index;

/* Takes over `bytes` in any case; `name` is what messages quote. PX_E_IO: it is no index, or it is
 * damaged; likewise below, so that nobody takes an input for the damaged one. */
px_status pxi_index_open(pxi_bytes *bytes, const char *name, pxi_index **out, px_error *err);
void pxi_index_free(pxi_index *index); /* NULL is fine */
const pxi_index_about *pxi_index_tell(const pxi_index *index);
int64_t pxi_index_count(const pxi_index *index);            /* at least 1 */
int32_t pxi_index_label(const pxi_index *index, int64_t i); /* -1: none */
/* By many threads at once. */
px_status pxi_index_get(const pxi_index *index, int64_t i, pxi_index_item *out, px_error *err);

#endif
