/* src/train/choice.h - reading NAME[:ITEM,...], where an item is KEY=VALUE or a bare VALUE
 *
 * Strict: an unknown name or key, a value out of range, a key given twice and an empty item are
 * refused, and the message says what there is.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_CHOICE_H
#define PXI_TRAIN_CHOICE_H

#include <internal/optimizer.h>
#include <plexor/text.h>

enum { PXI_CHOICE_SETTINGS = 12, PXI_CHOICE_LIST = 64 };

typedef struct pxi_chosen {
    const px_choice *choice;
    double values[PXI_CHOICE_SETTINGS]; /* as its settings are ordered */
    double list[PXI_CHOICE_LIST];       /* bare numbers, where px_choice.list names them */
    size_t list_count;
} pxi_chosen;

/* Of a registry of px_choice; the first `length` bytes of `spec` are read. */
px_status pxi_choice_read(const px_registry *choices, const char *spec, size_t length,
                          pxi_chosen *out, px_error *err);

/* The same choice in full, every setting by name. */
void pxi_choice_write(const px_choice *choice, const double *values, px_text *text);

#endif
