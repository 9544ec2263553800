/* src/generate/fuzz_mutant.h - one mutant of an entry (LGR D.5): a function of its address */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_FUZZ_MUTANT_H
#define PXI_GENERATE_FUZZ_MUTANT_H

#include <internal/mutate.h>

enum { PXI_MUTANT_ENTRIES = 32 }; /* of a set, at most */

typedef struct pxi_mutant_rule {
    px_mutations all;
    px_mutations again; /* what is left after the affine one; entries 0: nothing */
    px_validity validity;
    uint32_t tries;
    uint64_t seed;
    int height, width, channels;
    size_t size;    /* bytes */
    size_t samples; /* the bytes are recordings of so many 16-bit samples; 0: pictures */
} pxi_mutant_rule;

/* `shape` is that of pictures; recordings have `samples`. */
void pxi_mutant_rule_init(pxi_mutant_rule *rule, const px_mutations *from, px_validity validity,
                          uint32_t tries, uint64_t seed, const px_shape *shape, size_t samples);

typedef struct pxi_mutant_parent {
    const uint8_t *pixels, *reference; /* the latter: what must stay near */
    const uint8_t *origin;             /* the root */
    px_lineage lineage;
} pxi_mutant_parent;

typedef struct pxi_mutant {
    bool valid; /* and not the parent itself; only then what follows but `tried` is set */
    px_drawn drawn;
    px_lineage lineage;
    size_t entry;                      /* of the set */
    uint8_t tried[PXI_MUTANT_ENTRIES]; /* how often each entry of the set was */
} pxi_mutant;

/* A link of a chain that began with `origin`. */
px_status pxi_mutant_apply(const pxi_mutant_rule *rule, const px_drawn *drawn,
                           const uint8_t *origin, const uint8_t *in, uint8_t *out, px_error *err);
/* px_validity_judge() of a mutant of `parent`. */
bool pxi_mutant_judge(const pxi_mutant_rule *rule, const pxi_mutant_parent *parent,
                      const px_mutation *mutation, const uint8_t *after, px_lineage *next,
                      bool *moves_reference);

/* Mutant `number` of a turn, into `out`. */
px_status pxi_mutant_make(const pxi_mutant_rule *rule, const pxi_mutant_parent *parent,
                          int64_t turn, uint32_t number, uint8_t *out, pxi_mutant *made,
                          px_error *err);

#endif
