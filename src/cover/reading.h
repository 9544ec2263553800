/* src/cover/reading.h - what criteria and selectors read: extractors chosen, each once; and what of
 * a profile is theirs */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_READING_H
#define PXI_COVER_READING_H

#include <plexor/cover.h>

typedef struct pxi_reading { /* the part of a descriptor that is about rows */
    const char *layers;
    px_tap tap;
    px_neurons neurons;
    void (*choose)(const void *config, px_probe_options *options);
    px_status (*extract)(const px_model *model, const px_probe_options *options, const void *config,
                         px_extractor **out, px_error *err);
    const void *config;
} pxi_reading;

typedef struct pxi_reader_wish { /* what the user wants instead; NULL: as it is */
    const char *layers, *tap, *neurons;
    const px_feed *feed; /* the input's shape; NULL: as declared */
} pxi_reader_wish;

typedef struct pxi_extractors { /* {0}: none */
    px_extractor **item;
    size_t count, capacity;
} pxi_extractors;

/* Finds or makes the extractor; *at is its place in the list. */
px_status pxi_extractors_add(pxi_extractors *list, const px_model *model,
                             const pxi_reading *reading, const pxi_reader_wish *wish, size_t *at,
                             px_error *err);
void pxi_extractors_done(pxi_extractors *list);

/* The profile's section per learner (NULL-terminated list; NULL: none); the caller frees the array,
 * not the names. PX_E_USAGE where there is no profile. */
px_status pxi_learned_find(const px_profile *profile, const px_learner *const *learners,
                           const px_extractor *extractor, const void *config, const char ***learned,
                           px_error *err);

/* Adds lessons for all learners; *given: the lessons have the extractor now (and it must be left
 * alone by whoever frees the list), also after a failure. */
px_status pxi_lessons_of(px_lessons *lessons, const px_learner *const *learners,
                         px_extractor *extractor, const void *config, size_t config_size,
                         bool *given, px_error *err);

#endif
