/* src/describe/bank_internal.h - a bank as its own files see it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_BANK_INTERNAL_H
#define PXI_DESCRIBE_BANK_INTERNAL_H

#include "base/arena.h"
#include <internal/bank.h>

struct px_bank {
    px_arena *arena; /* all texts and lists of exemplars */
    px_bank_about about;
    px_gates gates;
    px_validation verdict;
    px_bank_unit *units;
    size_t count, capacity;
    uint32_t *places; /* open addressing by (layer, unit): 1 + index, 0 is free */
    size_t place_count;
};

/* px_bank_load() of a text in memory; `name` is for messages. */
px_status pxi_bank_parse(const char *text, size_t size, const char *name, px_bank **out,
                         px_error *err);

#endif
