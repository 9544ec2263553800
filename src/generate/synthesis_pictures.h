/* src/generate/synthesis_pictures.h - synthesised inputs as pictures */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_SYNTHESIS_PICTURES_H
#define PXI_GENERATE_SYNTHESIS_PICTURES_H

#include <internal/picture.h>
#include <internal/synthesize.h>

enum { TRIPLE_ORIGINAL, TRIPLE_INPUT, TRIPLE_PERTURBATION, TRIPLE };

/* How values become pixels. */
typedef struct pxi_picture_form {
    int width, height, channels; /* 0: these data are no pictures */
    size_t count;                /* values */
    double low, high;            /* of raw values: black and white */
    bool absolute;
} pxi_picture_form;

pxi_picture_form pxi_picture_form_of(const px_dataset *set, const px_preprocess *pre,
                                     const px_synthesis_options *options, bool absolute);

/* An original, what became of it, and ten times the difference, channels together: `out` has room
 * for TRIPLE times form->count bytes. */
px_status pxi_picture_triple(const pxi_picture_form *form, const px_synthesis_made *made,
                             uint8_t *out, px_error *err);

/* A contact sheet that fills up as inputs come: those whose class changed go first. */
typedef struct pxi_triples {
    const px_dataset *set;
    pxi_picture_form form;
    int64_t most;           /* on the sheet */
    struct triple *kept[2]; /* changed class; others: most of each */
    int64_t count[2];
} pxi_triples;

px_status pxi_triples_add(pxi_triples *triples, const px_synthesis_row *row, const uint8_t *triple,
                          px_error *err);
px_status pxi_triples_save(const pxi_triples *triples, const char *title, const char *path,
                           px_error *err);
void pxi_triples_done(pxi_triples *triples);

#endif
