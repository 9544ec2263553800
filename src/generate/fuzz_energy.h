/* src/generate/fuzz_energy.h - the queue and its energy: which entry next (LGR D.3), its worth
 *
 *     pxi_queue_push(&queue)                          // entry number count - 1
 *     if (pxi_queue_pick(&queue, turn, 0, &entry))    // false: nothing is left
 *         pxi_queue_finish(&queue, entry, found);     // the pick gave an entry, or not
 *
 * Everything follows from the rule, the seed, the turns' numbers and what finish() was told. A
 * *guess* is a stretch of such calls that is taken back: what would come next, if.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_FUZZ_ENERGY_H
#define PXI_GENERATE_FUZZ_ENERGY_H

#include "generate/fuzz_internal.h"

typedef enum pxi_pick { /* in the order of the setting's choices */
                        PXI_PICK_PROB,
                        PXI_PICK_NLC,
                        PXI_PICK_UNIFORM,
                        PXI_PICK_RECENT,
                        PXI_PICK_STACK,
} pxi_pick;

typedef struct pxi_queue_rule {
    pxi_pick pick;
    bool by_finds;       /* p(c) counts picks that gave an entry; else all picks */
    bool code;           /* DeepHunter's published form of the probability */
    double gamma, least; /* of p(c) */
} pxi_queue_rule;

typedef struct pxi_queue_entry {
    uint32_t picks, finds;
    bool gone; /* stack: taken off */
} pxi_queue_entry;

typedef struct pxi_queue {
    pxi_queue_rule rule;
    uint64_t seed;
    pxi_queue_entry *entries;
    size_t count, capacity;
    int64_t *tree; /* nlc: sums of weights, [room + 1] (Fenwick); room is a power of two */
    size_t room;
    size_t cursor;  /* prob: where the scan goes on */
    size_t top;     /* stack: entries from here on are gone */
    int64_t cycles; /* a cycle is as many picks as there were entries when it began */
    int64_t cycle_done, cycle_size;
    int64_t unpicked; /* entries that were never picked */

    /* A guess: what is to be put back. */
    bool guessing, wrapped;
    struct {
        size_t count, cursor, top;
        int64_t cycles, cycle_done, cycle_size, unpicked;
    } before;
    struct pxi_queue_change {
        size_t index;
        pxi_queue_entry entry;
    } * changes;
    size_t change_count, change_capacity;
} pxi_queue;

/* p(c) = 1 - c/gamma while c < (1 - least) gamma, else `least`. The published code's: starts at
 * 0.8, and after f picks is 0.8 - f/5 as long as it was above 0.3. */
double pxi_queue_chance(const pxi_queue_rule *rule, uint32_t c);

void pxi_queue_init(pxi_queue *queue, const pxi_queue_rule *rule, uint64_t seed);
void pxi_queue_done(pxi_queue *queue);
px_status pxi_queue_push(pxi_queue *queue, px_error *err);
/* The pick number `which` of a turn. */
bool pxi_queue_pick(pxi_queue *queue, int64_t turn, uint32_t which, size_t *entry);
px_status pxi_queue_finish(pxi_queue *queue, size_t entry, bool found, px_error *err);

void pxi_queue_guess(pxi_queue *queue);
/* Whether the last pick of a guess would have to look at entries that may have come meanwhile. */
bool pxi_queue_guess_ends(const pxi_queue *queue);
void pxi_queue_forget(pxi_queue *queue);

void pxi_queue_save(const pxi_queue *queue, px_text *bytes);
/* All entries have been pushed; bytes may lie. */
bool pxi_queue_load(pxi_queue *queue, pxi_fuzz_bytes *from);

/* NLC's power schedule: `energy` mutants are shared out among entries by how far they may still
 * move: potential = beta * 255 * (positive values) - sum of |pixels - reference|, at least 0;
 * shares[i] = ceil(energy * potential_i / sum). Nothing where no entry has any. */
void pxi_power_share(const double *potentials, size_t count, int64_t energy, int64_t *shares);
double pxi_power_potential(const uint8_t *pixels, const uint8_t *reference, size_t size,
                           double beta);

#endif
