/* src/data/index.h - where indexes are kept, how they are found again, and when they are not used
 *
 * The index of a folder lies beside it, FOLDER.plexor-index (of split `train`, if that was asked
 * for, FOLDER.train.plexor-index), or, where nobody may write there, in the cache folder. It is
 * used as long as its parts - folders, tar files - were not changed: a file that is added, removed
 * or renamed changes its folder. A file that is written anew under its name does not, and need not:
 * files are read when they are needed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_INDEX_H
#define PXI_DATA_INDEX_H

#include "data/shards.h"

#include <internal/source.h>
#include <time.h>

/* Data sets of so many inputs are told to have themselves indexed. */
#define PXI_INDEX_ADVICE 100000

typedef struct pxi_index_place { /* {0}: none */
    char *folder;                /* with links resolved, what parts lie in */
    char *beside, *cached;       /* where its index may be; cached: may be NULL */
} pxi_index_place;
/* `stem` as in pxi_shards; "" for a folder itself. `make`: one is to be written. */
px_status pxi_index_place_of(const char *folder, const char *stem, const char *split, bool make,
                             pxi_index_place *out, px_error *err);
void pxi_index_place_done(pxi_index_place *place);

/* *out stays NULL where there is none, or none that can be used: then `why` says so, else "". */
px_status pxi_index_find(const char *folder, const char *stem, const char *split, pxi_source **out,
                         char *why, size_t size, px_error *err);

/* Shards by their index, or, where that is not there, by one that is made for this time. */
px_status pxi_shards_open(const pxi_shards *shards, const char *spec, const char *split,
                          pxi_source **out, px_error *err);

/* An index of class folders that were listed: of pictures, by their own names. PX_E_UNSUPPORTED:
 * of anything else. Folders that were changed at `since` or later are refused. */
px_status pxi_folder_index(const pxi_source *source, const char *split,
                           const struct timespec *since, FILE *to, px_error *err);

/* Adds a sentence to the source's remark. */
void pxi_source_remark(pxi_source *source, const char *sentence);

#endif
