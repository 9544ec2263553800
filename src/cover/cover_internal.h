/* src/cover/cover_internal.h - the inside of px_cover */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_COVER_INTERNAL_H
#define PXI_COVER_COVER_INTERNAL_H

#include "cover/reading.h"
#include "cover/seen.h"
#include <internal/row_reader.h>

typedef struct pxi_cover_slot { /* one criterion of a cover */
    const px_criterion *criterion;
    void *config;
    char *settings_text, *definition;
    uint64_t rows_hash; /* of the extractor's key and width */
    size_t extractor;   /* of a cover with a network */
    void *prepared, *state;
    int64_t observed, rejected;
    double seconds, prepare_seconds;
} pxi_cover_slot;

struct px_cover {
    const px_model *model; /* NULL: from a file alone */
    uint64_t model_hash;
    bool has_profile;
    uint64_t profile_hash;
    uint64_t seed;
    int threads;
    pxi_extractors extractors;
    pxi_row_set rows;
    pxi_cover_slot *slots;
    size_t count, capacity;
    pxi_seen seen;
    px_cover_point *points; /* of the last run */
    size_t point_count, point_capacity;
};

/* Makes slots with settings and extractors, without preparing anything (cover.c). */
px_status pxi_cover_choose(px_cover *cover, const px_shape *input_shape,
                           const px_cover_options *options, px_error *err);
px_status pxi_cover_slot_open(pxi_cover_slot *slot, px_error *err); /* its state, if none is open */
void pxi_cover_forget_curve(px_cover *cover);

/* px_cover_open() without its file (cover_state.c). */
px_status pxi_cover_read(const px_npz *npz, px_cover **out, px_error *err);

#endif
