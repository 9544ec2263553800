/* src/data/class_map.h - where the classes of data and of a network meet: by name */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_CLASS_MAP_H
#define PXI_DATA_CLASS_MAP_H

#include <internal/source.h>

typedef struct pxi_class_map { /* {0}: labels and names are the source's own */
    char **names;              /* of the network's classes, copied */
    int count;
    int32_t *to; /* from a class of the source to the network's; NULL: the numbers are the same */
    char absent[256]; /* on classes of the network that never come; "": all do */
    px_error unknown; /* on classes that the network lacks, with any_classes */
    int absent_count, unknown_count;
} pxi_class_map;

/* Works out what the source's labels are for the network whose class names are in `options`. A
 * class with samples whose name the network lacks is PX_E_MISMATCH, or `unknown` with any_classes.
 * `spec` is for messages. */
px_status pxi_class_map_make(const pxi_source *source, const char *spec,
                             const px_data_options *options, pxi_class_map *out, px_error *err);
void pxi_class_map_done(pxi_class_map *map);

/* "cat, dog, frog and 7 more" in at most `size` bytes with the NUL; returns `to`. */
const char *pxi_class_list(const char *const *names, size_t count, char *to, size_t size);

/* Where a sample's label was written down, quoted: a line of a manifest, else the data set. */
const char *pxi_label_place(const pxi_source *source, const char *spec, int64_t index, char *to,
                            size_t size);

#endif
