/* src/check/check_words.h - what neurons respond to, in words */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_CHECK_WORDS_H
#define PXI_CHECK_WORDS_H

#include "check/check_internal.h"

#include <plexor/bank.h>

/* The bank that was given (borrowed from the check), or labels measured on the spot for the units
 * of some layers, in the network's order. *own is what the caller has to free. PX_E_MISMATCH or
 * PX_E_USAGE where nothing can be measured: no pictures, layers without maps. */
px_status pxi_words_open(px_check *c, const char *layers, px_bank **own, const px_bank **out,
                         px_error *err);
enum {
    PXI_WORDS_SENTENCES = 3
}; /* those about words; the others are about similarities of texts */

typedef struct pxi_words_about { /* the whole bank, and what has to be said of it */
    const char *describer, *help, *validation;
    int64_t pictures;
    char *sentences[PXI_WORDS_SENTENCES];
    size_t sentence_count;
} pxi_words_about;
extern const px_field pxi_words_about_fields[];
px_status pxi_words_about_make(const px_bank *bank, pxi_words_about *out, px_error *err);
void pxi_words_about_done(pxi_words_about *about);

typedef struct pxi_words_unit { /* one unit; NULL where the bank does not know it */
    const px_bank_unit *unit;
    const char *words; /* NULL: nothing can be said */
} pxi_words_unit;
extern const px_field pxi_words_unit_fields[];
/* `own`: the bank has labels measured on the spot. */
pxi_words_unit pxi_words_of(const px_bank *bank, bool own, const char *layer, int64_t unit);

#endif
