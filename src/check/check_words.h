/* src/check/check_words.h - what neurons respond to, in words */
#ifndef PXI_CHECK_WORDS_H
#define PXI_CHECK_WORDS_H

#include "check/check_inside.h"

#include <plexor/bank.h>

/* The bank that was given (borrowed from the check), or labels measured on the spot for the units
 * of some layers, in the network's order. *own is what the caller has to free. PX_E_MISMATCH or
 * PX_E_USAGE where nothing can be measured: no pictures, layers without maps. */
px_status pxi_words_open(px_check *c, const char *layers, px_bank **own, const px_bank **out,
                         px_error *err);
/* Members about the whole bank: describer, validation, what has to be said of it. */
px_status pxi_words_about(const px_bank *bank, px_json *out, px_error *err);
/* Members about one unit; nothing where the bank does not know it. `own`: the bank has labels
 * measured on the spot. */
void pxi_words_unit(const px_bank *bank, bool own, const char *layer, int64_t unit, px_json *out);

#endif
