/* src/data/picture_source.h - samples that are files of their own (class folders, manifests):
 * PNG and JPEG pictures, or WAV and FLAC recordings */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_PICTURE_SOURCE_H
#define PXI_DATA_PICTURE_SOURCE_H

#include "base/arena.h"
#include <internal/source.h>

typedef struct pxi_picture_item {
    const char *path;    /* in the tree */
    int32_t label;       /* -1: none */
    uint32_t line;       /* of the manifest; 0: none */
    const float *target; /* of regression; NULL: none */
} pxi_picture_item;

typedef struct pxi_picture_source {
    pxi_source base;
    pxi_tree *tree;
    px_arena *arena;      /* class names, and paths that are not the tree's own */
    const char *manifest; /* its name, for messages; NULL: none */
    pxi_picture_item *items;
    size_t capacity;
    struct pxi_audio_part *recordings; /* NULL: pictures */
    pxi_text_coder coder;              /* own NULL: pictures. Items are files, or texts */
} pxi_picture_source;

bool pxi_sample_is_name(const char *path); /* a picture or a recording */
bool pxi_tree_is_sample(const pxi_tree *tree,
                        const char *path); /* or, where it has those, a text */

/* Takes over `tree` in any case. */
px_status pxi_picture_source_new(const char *kind, pxi_tree *tree, pxi_picture_source **out,
                                 px_error *err);
/* The path must live as long as the source. */
px_status pxi_picture_source_add(pxi_picture_source *source, pxi_picture_item item, px_error *err);
/* Copies the names, which are `count` class names in label order. */
px_status pxi_picture_source_set_classes(pxi_picture_source *source, const char *const *names,
                                         size_t count, px_error *err);

/* Once all are added: pictures, or recordings, but not both. */
px_status pxi_picture_source_finish(pxi_picture_source *source, px_error *err);

/* Makes it a source of recordings. */
px_status pxi_picture_source_record(pxi_picture_source *source, px_error *err);
void pxi_audio_part_free(struct pxi_audio_part *part); /* NULL is fine */

/* NULL: it is another one. */
const pxi_picture_source *pxi_picture_source_of(const pxi_source *source);

/* What all files have in common. */
int64_t pxi_picture_source_label(const pxi_source *source, int64_t index);
const char *pxi_picture_source_name(const pxi_source *source, int64_t index, char *buffer,
                                    size_t size);
bool pxi_picture_source_place(const pxi_source *source, int64_t index, char *buffer, size_t size);
uint64_t pxi_picture_source_size(const pxi_source *source, int64_t index);
void pxi_picture_source_free(pxi_source *source);

#endif
