/* src/describe/exemplar_internal.h - what the files of exemplars share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_EXEMPLAR_INTERNAL_H
#define PXI_DESCRIBE_EXEMPLAR_INTERNAL_H

#include "base/arena.h"
#include "data/npy.h"
#include <internal/exemplars.h>

typedef struct pxi_exemplar_file { /* an array that stays on disk */
    char *path;
    pxi_bytes bytes;
    pxi_npy npy;
} pxi_exemplar_file;

typedef struct pxi_exemplar_units { /* one layer */
    px_exemplar_layer info;
    px_unit *units;                  /* [info.units] */
    px_exemplar *top;                /* [info.units][count] */
    float *maps;                     /* [info.units][count][h * w]; NULL: unknown */
    int64_t *numbers;                /* [info.units]; NULL: 0, 1, 2 ... */
    pxi_exemplar_file images, masks; /* of loaded ones */
} pxi_exemplar_units;

struct px_exemplars {
    px_arena *arena; /* names */
    px_exemplar_facts facts;
    pxi_exemplar_units *layers;
    size_t layer_count;
    bool loaded;
};

/* Adds the arrays of a layer with that many exemplars per unit; maps where with_maps. */
px_status pxi_exemplar_units_init(pxi_exemplar_units *layer, int64_t count, bool with_maps,
                                  px_error *err);

/* --- names on disk; the caller frees, NULL: out of memory ------------------------------------ */

char *pxi_exemplar_folder(const char *layer);                  /* a name that may stand in a path */
char *pxi_exemplar_layer_name(const char *folder);             /* the other way */
char *pxi_exemplar_path(const char *folder, const char *name); /* "folder/name" */

/* --- pictures -------------------------------------------------------------------------------- */

/* An input as planes of red, green and blue, 3 * height * width bytes. One channel is repeated, of
 * more than three the first three are shown; floats between 0 and 1 become 0..255, others from
 * their least to their largest value. PX_E_USAGE where inputs are no [C,H,W]. */
px_status pxi_exemplar_rgb(const px_dataset *set, int64_t index, uint8_t *planes, px_error *err);

/* The exemplars of one unit, without anything that tells which it is. */
px_status pxi_exemplar_blind_sheet(const px_exemplars *exemplars, const px_dataset *set,
                                   size_t layer, int64_t unit, const char *path, px_error *err);

#define PXI_EXEMPLARS_FILE "exemplars.json"

#endif
