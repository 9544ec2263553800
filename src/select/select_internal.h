/* src/select/select_internal.h - the inside of px_select */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_SELECT_INTERNAL_H
#define PXI_SELECT_SELECT_INTERNAL_H

#include "cover/reading.h"
#include "select/ranking.h"
#include <internal/row_reader.h>

typedef struct pxi_select_slot { /* one selector of a selection */
    const px_selector *selector;
    void *config;
    char *settings_text;
    bool has_extractor;
    size_t extractor; /* in px_select.extractors */
    size_t row;       /* of the kind that reads rows: in px_select.read */
    void *prepared;
    double *scores;      /* of all candidates; NULL: only the best are kept */
    pxi_ranking ranking; /* where only the best are kept */
    px_ranked *ranked;   /* the result */
    int64_t ranked_count;
    px_select_facts facts;
} pxi_select_slot;

struct px_select {
    const px_model *model;
    const px_dataset *set;
    const px_preprocess *pre;
    px_select_options options; /* pointers are borrowed */
    int64_t count, keep;
    int threads;
    bool has_scores;
    int classes; /* 0: none that mean anything */
    px_scores scores;
    pxi_extractors extractors;
    px_extractor **read; /* those of the shared pass */
    size_t read_count;
    pxi_row_set rows;
    pxi_select_slot *slots;
    size_t slot_count, slot_capacity;
    px_text left_out;
    /* Of all candidates, where a slot needs them; NULL otherwise. */
    int32_t *predicted;
    float *confidence;
    bool predicts; /* and they are there */
    bool ran;
};

#endif
