/* src/semantics/bank_inside.h - a bank as its own files see it */
#ifndef PXI_SEMANTICS_BANK_INSIDE_H
#define PXI_SEMANTICS_BANK_INSIDE_H

#include "base/arena.h"
#include <plexor/bank.h>

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

#endif
