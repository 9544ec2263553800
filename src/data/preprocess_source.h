/* src/data/preprocess_source.h - what --preprocess NAME|FILE stands for */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PREPROCESS_SOURCE_H
#define PXI_PREPROCESS_SOURCE_H

#include <plexor/preprocess.h>

typedef struct pxi_preprocess_source { /* texts as the options have them; "": nothing is said */
    char mean[400], std[400], size[32];
    double range;
    bool bgr;
    char note[PX_PREPROCESS_NOTE]; /* what plexor does otherwise than a file says */
} pxi_preprocess_source;

/* PX_E_USAGE, with the nearest name, where there is neither such a preset nor such a file. */
px_status pxi_preprocess_source_read(const char *text, pxi_preprocess_source *out, px_error *err);

#endif
