/* include/internal/tree.h - named files, in a folder or in an archive
 *
 * Readers look at one list of relative paths, sorted by bytes. A folder is listed, its files are
 * opened when they are read. A .zip is read in place. Other archives (.tar and compressed .tar)
 * cannot be entered in the middle; they are unpacked into memory once, never to disk.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_TREE_H
#define PXI_INTERNAL_TREE_H

#include <internal/bytes.h>

/* Limits: entries, nested folders, and PXI_UNPACK_MAX bytes in all of an unpacked archive. */
#define PXI_TREE_ENTRIES_MAX ((size_t)20 << 20)
#define PXI_TREE_DEPTH_MAX 16

typedef struct pxi_entry {
    const char *path; /* "test/cat/0001.png" */
    uint64_t size;    /* in bytes, unpacked */
    uint64_t place;   /* private: where in the archive */
    uint64_t packed;  /* private: bytes there */
    uint32_t crc, method;
} pxi_entry;

typedef struct pxi_tree pxi_tree;

/* Lists a folder. Where it holds folders named like splits, only the chosen one is entered
 * (pxi_split_find(); `split` may be NULL), so that a test run does not walk a million training
 * files. Hidden files are left out; an empty folder is listed as "path/". */
px_status pxi_tree_open_folder(const char *path, const char *split, pxi_tree **out, px_error *err);
/* A folder whose files are only ever looked up; nothing is listed. */
px_status pxi_tree_open_unlisted(const char *path, pxi_tree **out, px_error *err);
px_status pxi_tree_open_archive(const char *path, pxi_tree **out, px_error *err);
/* A .zip or .npz; takes over `zip` in any case. */
px_status pxi_tree_open_zip(const char *name, pxi_bytes *zip, pxi_tree **out, px_error *err);
bool pxi_tree_is_archive(const char *path); /* by its name */
void pxi_tree_free(pxi_tree *tree);

const char *pxi_tree_name(const pxi_tree *tree); /* as the user gave it */
size_t pxi_tree_count(const pxi_tree *tree);
const pxi_entry *pxi_tree_entry(const pxi_tree *tree, size_t i);
const pxi_entry *pxi_tree_find(const pxi_tree *tree, const char *path); /* NULL: absent */
/* The half-open range of entries below `folder` ("" or "a/b/"). */
void pxi_tree_range(const pxi_tree *tree, const char *folder, size_t *first, size_t *end);

/* "NAME/PATH" for messages; at most `size` bytes with the NUL. */
#define PXI_TREE_TEXT 512
const char *pxi_tree_text(const pxi_tree *tree, const char *path, char buffer[PXI_TREE_TEXT]);

/* Thread-safe. The caller ends *out with pxi_bytes_done(); the tree must outlive it. */
px_status pxi_tree_bytes(const pxi_tree *tree, const pxi_entry *entry, pxi_bytes *out,
                         px_error *err);
/* By path; in a folder, of any file whether listed or not. */
px_status pxi_tree_bytes_at(const pxi_tree *tree, const char *path, pxi_bytes *out, px_error *err);
/* All of a file in memory; one of more than `cap` bytes is refused before it is unpacked. */
px_status pxi_tree_load(const pxi_tree *tree, const char *path, uint64_t cap, pxi_bytes *out,
                        px_error *err);
bool pxi_tree_has(const pxi_tree *tree, const char *path);
uint64_t pxi_tree_size(const pxi_tree *tree, const char *path); /* in bytes; 0 if it is not there */

/* Pictures and recordings in formats that plexor does not read, below a folder: how many, and the
 * names of the first ones. */
typedef struct pxi_foreign {
    size_t count;
    const char *names[4];
} pxi_foreign;
bool pxi_foreign_is_name(const char *path);
pxi_foreign pxi_tree_foreign(const pxi_tree *tree, const char *folder);
/* "3 files are of formats that are not read: a.webp, b.bmp"; false, and "", where there are none.
 */
bool pxi_foreign_text(const pxi_foreign *foreign, char *to, size_t size);

/* --- splits ---------------------------------------------------------------------------------- */

/* The index in `names` of the split that is wanted (NULL: "test"), -1 if there is none. Usual
 * synonyms are understood (t10k is test, training is train, valid and dev are val). */
int pxi_split_find(const char *const *names, size_t count, const char *wanted);
bool pxi_split_is_name(const char *name); /* train, test, val or a synonym */
/* "'NAME' has no split 'test'; it has train, val: choose one with --split" */
px_status pxi_split_fail(const char *name, const char *const *names, size_t count,
                         const char *wanted, px_error *err);

/* --- for the two kinds of archive ------------------------------------------------------------ */

typedef struct px_arena px_arena;
struct pxi_tree {
    char *name;
    px_arena *arena; /* paths */
    pxi_entry *entries;
    size_t count, capacity;
    int folder; /* an open folder, or -1 */
    bool listed;
    bool texts; /* samples are .txt files */
    bool is_zip;
    pxi_bytes zip;   /* the archive, read in place */
    uint8_t *memory; /* the unpacked archive; `place` points into it */
    size_t memory_capacity;
};
px_status pxi_tree_add(pxi_tree *tree, const char *path, uint64_t size, pxi_entry **out,
                       px_error *err);
px_status pxi_tree_read_tar(pxi_tree *tree, const char *path, px_error *err);
/* Hidden files, resource forks, folders: not data. Steps over a leading "./". */
bool pxi_tree_skips(const char **path);

#endif
