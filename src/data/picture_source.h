/* src/data/picture_source.h - samples that are PNG or JPEG files (class folders, manifests) */
#ifndef PXI_DATA_PICTURE_SOURCE_H
#define PXI_DATA_PICTURE_SOURCE_H

#include "base/arena.h"
#include "data/source.h"

typedef struct pxi_picture_item {
    const char *path; /* in the tree */
    int32_t label;    /* -1: none */
} pxi_picture_item;

typedef struct pxi_picture_source {
    pxi_source base;
    pxi_tree *tree;
    px_arena *arena; /* class names, and paths that are not the tree's own */
    pxi_picture_item *items;
    size_t capacity;
} pxi_picture_source;

/* Takes over `tree` in any case. */
px_status pxi_picture_source_new(const char *kind, pxi_tree *tree, pxi_picture_source **out,
                                 px_error *err);
/* `path` must live as long as the source. */
px_status pxi_picture_source_add(pxi_picture_source *source, const char *path, int32_t label,
                                 px_error *err);
/* Copies the names, which are `count` class names in label order. */
px_status pxi_picture_source_set_classes(pxi_picture_source *source, const char *const *names,
                                         size_t count, px_error *err);

#endif
