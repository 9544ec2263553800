/* src/generate/fuzz_loop.h - the inside of engine `loop` */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_FUZZ_LOOP_H
#define PXI_GENERATE_FUZZ_LOOP_H

#include "generate/fuzz_energy.h"
#include <internal/fuzz_mutant.h>

enum { PXI_LOOP_SHARE = 64 }; /* entries picked in a turn, at most */

typedef struct pxi_loop_entry {
    int64_t id;
    uint32_t parent, root; /* places among the entries; a seed is its own */
    uint32_t depth;        /* links */
    px_drawn link;         /* the last one */
    px_lineage lineage;
    uint8_t *pixels;    /* NULL: in the campaign */
    uint8_t *reference; /* NULL: not made yet, or the root's pixels */
    px_path *path;      /* NULL: not found yet, or nobody asks (fuzz_paths.c) */
} pxi_loop_entry;

typedef struct pxi_loop_turn { /* what is picked, and how many mutants of each are made */
    int64_t turn;
    size_t count;
    size_t entry[PXI_LOOP_SHARE];
    int64_t end[PXI_LOOP_SHARE]; /* numbers of mutants: of pick k up to here */
    bool found[PXI_LOOP_SHARE];
} pxi_loop_turn;

typedef struct pxi_wave_wish { /* the first valid one of mutants from..end-1 of a pick */
    int64_t turn, from, end;
    size_t entry;
    size_t item; /* that has it; SIZE_MAX: none yet */
} pxi_wave_wish;

typedef struct pxi_wave_item { /* such a mutant, made and judged beforehand */
    pxi_wave_wish wish;
    bool used;
    pxi_mutant_parent parent;           /* for as long as the wave runs */
    int64_t number;                     /* the last that was tried */
    uint32_t tried[PXI_MUTANT_ENTRIES]; /* over all of them */
    pxi_mutant made;
    pxi_fuzz_verdict verdict;
    size_t slot; /* reader and row that hold what the guide reads */
    int64_t row;
    px_path path; /* where the guide reads paths: the mutant's, and how like its parent's */
    double similarity, label_similarity;
} pxi_wave_item;

typedef struct pxi_loop_paths pxi_loop_paths;

typedef struct pxi_loop {
    px_fuzz *fuzz;
    pxi_loop_paths *paths; /* NULL: the guide does not read them */
    pxi_queue queue;
    pxi_mutant_rule rule;
    int64_t energy;
    size_t share;
    bool first;         /* the first accepted mutant ends a pick */
    bool queues_faults; /* and failing ones are accepted and stay */

    pxi_loop_entry *entries;
    size_t count, capacity;
    uint8_t *seed_bytes; /* of float seeds; NULL: the frame's are bytes */
    int64_t kept_bytes, kept_most;
    int64_t depth;
    size_t current;
    int64_t cycle_found; /* the last cycle with a find */
    px_fuzz_yield yields[PXI_MUTANT_ENTRIES];
    px_text chain;   /* scratch */
    px_drawn *moves; /* scratch: affine links of a chain */
    size_t moves_room;
    float *reals;   /* scratch: a picture as float */
    uint8_t *bytes; /* scratch: a picture */

    /* The wave: mutants of this and, guessing, the next turns (fuzz_wave.c). */
    pxi_wave_item *items; /* [room], in no order */
    size_t room;
    size_t *order; /* items of the wave by turn and number */
    size_t item_count, at;
    pxi_wave_wish *wishes; /* for the next one */
    size_t wish_count;
    size_t *fresh; /* items that are new in it */
    size_t fresh_count;
    size_t *slots;              /* that are free, for the batches of those */
    bool *live;                 /* per slot: it has rows of an item */
    uint8_t *pixels;            /* [item][size] */
    pxi_fuzz_verdict *verdicts; /* [slot][batch] */
    double accepted, found;     /* lately: of valid mutants, and of picks that gave an entry */
    uint8_t **loans;            /* pixels for this wave only */
    size_t loan_count, loan_capacity;
} pxi_loop;

/* fuzz_entries.c */
px_status pxi_loop_push(pxi_loop *loop, const pxi_loop_entry *entry, const uint8_t *pixels,
                        px_error *err);
px_status pxi_loop_parent(pxi_loop *loop, size_t entry, pxi_mutant_parent *out, px_error *err);
px_status pxi_loop_rebuild(pxi_loop *loop, px_error *err);
/* The links that move content, in order, into loop->moves. */
px_status pxi_loop_moves(pxi_loop *loop, size_t parent, const px_drawn *link, size_t *count,
                         px_error *err);
const char *pxi_loop_chain(pxi_loop *loop, size_t parent, const px_drawn *link); /* NULL: memory */
/* As stored: for float campaigns in loop->reals. */
px_status pxi_loop_stored(pxi_loop *loop, const uint8_t *pixels, const void **out, px_error *err);

/* fuzz_wave.c */
px_status pxi_wave_open(pxi_loop *loop, px_error *err);
void pxi_wave_close(pxi_loop *loop);
/* Mutant `number` of the turn, made and judged, or the first valid one after it; with more of them
 * beforehand. */
px_status pxi_wave_get(pxi_loop *loop, const pxi_loop_turn *turn, size_t pick, int64_t number,
                       const pxi_wave_item **out, px_error *err);
void pxi_wave_unlend(pxi_loop *loop);
/* A picture of the loop as the network's input. */
px_status pxi_wave_input(const pxi_loop *loop, const uint8_t *pixels, float *input, px_error *err);

/* fuzz_loop.c: the picks of a turn; *out has a count of 0 where nothing is left. */
px_status pxi_loop_picks(pxi_loop *loop, int64_t turn, pxi_loop_turn *out, px_error *err);

#endif
