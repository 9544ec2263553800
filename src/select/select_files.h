/* src/select/select_files.h - a row of a selection that is written */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_SELECT_FILES_H
#define PXI_SELECT_SELECT_FILES_H

#include <internal/select.h>

enum { PXI_SELECT_NAME = 4096 };

typedef struct pxi_select_row {
    int64_t rank, index; /* index: in the source */
    char name[PXI_SELECT_NAME];
    double score, confidence;
    int predicted; /* -1: there is no class */
    const char *predicted_name;
    bool has_class;
} pxi_select_row;

void pxi_select_row_of(const px_select *s, const px_ranked *r, pxi_select_row *row);

/* The first `count` rows as CSV; `get` fills all but rank and has_class. */
typedef void pxi_select_row_fn(const void *context, int64_t k, pxi_select_row *row);
px_status pxi_select_write(const char *path, int64_t count, pxi_select_row_fn *get,
                           const void *context, px_error *err);

/* The state of a part, of a file that is open; for fuzzing. */
px_status pxi_selection_read(const px_npz *npz, px_selection **out, px_error *err);

#endif
