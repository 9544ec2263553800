/* src/cover/profile_internal.h - the inside of px_profile */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_PROFILE_INTERNAL_H
#define PXI_COVER_PROFILE_INTERNAL_H

#include <internal/profile.h>

typedef struct pxi_profile_section {
    char *key;        /* learner, its settings, extractor */
    char *definition; /* of the extractor, for people */
    char *prefix;     /* of its arrays' names */
} pxi_profile_section;

typedef struct pxi_profile_array {
    char *name; /* with the section's prefix */
    px_tensor tensor;
} pxi_profile_array;

struct px_profile {
    char *path; /* NULL: was made here */
    uint64_t model_hash, data_hash, seed;
    int64_t count, rejected;
    int classes;
    bool labelled;
    int64_t *by_label, *by_prediction; /* [classes] */
    pxi_profile_section *sections;
    size_t section_count, section_capacity;
    pxi_profile_array *arrays;
    size_t array_count, array_capacity;
    uint64_t hash; /* of everything */
};

/* Copies the texts. *prefix gets what px_profile_put() wants. */
px_status pxi_profile_add_section(px_profile *profile, const char *learner, const char *key,
                                  const char *definition, const char **prefix, px_error *err);
px_status pxi_profile_set_classes(px_profile *profile, int classes, px_error *err);
/* Computes the hash, once all arrays are there. */
px_status pxi_profile_seal(px_profile *profile, px_error *err);

/* px_profile_open() without its file; takes arrays out of `npz`. */
px_status pxi_profile_read(px_npz *npz, const char *path, px_profile **out, px_error *err);

#endif
