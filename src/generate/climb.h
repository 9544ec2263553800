/* src/generate/climb.h - a group of inputs that climb side by side
 *
 * What a turn of DeepXplore, DLFuzz and ADAPT has in common. Seeds are visited in their order,
 * again and again; visits are numbered through, and address all random numbers. A turn takes the
 * next `group` visits and goes on until each has come to its end: in every round the rows that are
 * still active get their gradients in the same micro-batches, take a step, are rounded to what
 * would be stored, and are looked at by all networks. Then the engine walks them in order. So all
 * that it decides follows from the group, never from the number of threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_CLIMB_H
#define PXI_GENERATE_CLIMB_H

#include "generate/ascent.h"
#include "generate/fuzz_internal.h"
#include "generate/unit_facts.h"

enum { PXI_CLIMB_NETS = 3, PXI_CLIMB_GROUP_MOST = 4096 };

typedef struct pxi_climb_entry { /* something to climb from later */
    int64_t id, depth;
    void *pixels; /* stored form */
} pxi_climb_entry;

typedef struct pxi_climb_row {
    bool active; /* set by pxi_climb_begin(), cleared by the engine */
    bool fresh;  /* it is somewhere new: wants to be looked at before it takes a step */
    bool stuck;  /* its gradient was no number; it did not move */
    size_t seed; /* place among fuzz->seeds */
    int64_t visit, label;
    int64_t parent;     /* id of what it climbs from */
    float *start;       /* the seed's levels */
    float *levels;      /* where it is, unrounded */
    float *gradient;    /* of the last step, for who wants to change it before it is taken */
    const void *pixels; /* its stored form, as it was looked at */
    int64_t place;      /* in what was looked at last */
    pxi_term *classes[PXI_CLIMB_NETS], *units[PXI_CLIMB_NETS]; /* the objective */
    size_t class_count[PXI_CLIMB_NETS], unit_count[PXI_CLIMB_NETS];
    int64_t entry, depth, steps; /* which of its list is at work, links from the seed, and steps */
    pxi_climb_entry *list;       /* those to come; empty between turns */
    size_t list_next, list_count, list_room;
} pxi_climb_row;

typedef struct pxi_climb {
    px_fuzz *fuzz;
    pxi_ascent *nets[PXI_CLIMB_NETS];
    pxi_unit_tally tallies[PXI_CLIMB_NETS]; /* of neurons that fired */
    size_t net_count;
    int64_t group, rows_used;
    pxi_climb_row *rows; /* [group] */
    pxi_seen seen[PXI_CLIMB_NETS];

    /* How far it is; saved. */
    int64_t visits, last_find; /* visits before the last output */
    int64_t tried, changed, kept, faults, depth;
    px_fuzz_yield yield; /* the same, for the report */

    pxi_climber *climbers; /* scratch, [group] */
    float *reals;
    uint8_t *bytes;
    pxi_term *terms;
} pxi_climb;

typedef struct pxi_climb_options {
    int64_t group;
    size_t class_terms, unit_terms; /* of an objective at most, per network */
    const char *what;               /* tried here: a name for the report; outlives the climb */
    const px_preprocess *pres;      /* one per network */
} pxi_climb_options;

/* Makes the networks' plans for all of fuzz->models. */
px_status pxi_climb_open(pxi_climb *climb, px_fuzz *fuzz, const pxi_climb_options *options,
                         px_error *err);
void pxi_climb_close(pxi_climb *climb); /* {0} is fine */

/* Puts the next `rows` visits (at most the group) into rows, active and fresh, at their seeds. */
void pxi_climb_begin(pxi_climb *climb, int64_t rows);
/* To somewhere else, from stored pixels of input `id`. */
void pxi_climb_place(pxi_climb *climb, pxi_climb_row *row, const void *pixels, int64_t id);
bool pxi_climb_active(const pxi_climb *climb); /* some row is */
/* Adds the row as it was looked at last, which is input `id`, to its own list. */
px_status pxi_climb_push(const pxi_climb *climb, pxi_climb_row *row, int64_t id, px_error *err);
/* Goes to the next entry of the row's list. Without any it is not active any more. */
void pxi_climb_next(pxi_climb *climb, pxi_climb_row *row);

/* Rounds and shows all active rows to all networks; `fresh`: only those that are, which ends it. */
px_status pxi_climb_look(pxi_climb *climb, bool fresh, px_error *err);
/* The gradient of each active row's objective, summed over the networks. */
px_status pxi_climb_gradients(pxi_climb *climb, px_error *err);
/* levels += step (in units) * gradient, within the range of stored values; `free`: without it. */
void pxi_climb_move(const pxi_climb *climb, pxi_climb_row *row, double step, bool free);

/* What network `net` made of the row. */
static inline int64_t pxi_climb_prediction(const pxi_climb *climb, size_t net,
                                           const pxi_climb_row *row)
{
    return climb->seen[net].predictions[row->place];
}
static inline const float *pxi_climb_values(const pxi_climb *climb, size_t net,
                                            const pxi_climb_row *row)
{
    return climb->seen[net].values + row->place * climb->tallies[net].count;
}
static inline const float *pxi_climb_scores(const pxi_climb *climb, size_t net,
                                            const pxi_climb_row *row)
{
    return climb->seen[net].scores + row->place * pxi_ascent_classes(climb->nets[net]);
}
/* Counts a step. False: its gradient, or what some network made of it, was no number. */
bool pxi_climb_count(pxi_climb *climb, pxi_climb_row *row);
/* Relative L2 distance of the stored form from the seed; `scratch` has room for an input. */
double pxi_climb_distance(const pxi_climb *climb, const pxi_climb_row *row, float *scratch);
/* Whether a step led anywhere in what would be stored, against the seed. */
bool pxi_climb_changed(const pxi_climb *climb, const pxi_climb_row *row);

/* Whether there is nothing left to see: less than a tenth of the seed's contrast. */
bool pxi_climb_blank(const pxi_climb *climb, const pxi_climb_row *row);

/* Puts the row as it was looked at last: a fault where the first network errs, else kept. The chain
 * is the open JSON object, which is closed and freed. */
px_status pxi_climb_put(pxi_climb *climb, const pxi_climb_row *row, px_json *chain, bool needed,
                        int64_t *id, px_error *err);
/* Begins a chain: {"engine": ..., "visit": ... */
void pxi_climb_chain(const pxi_climb *climb, const pxi_climb_row *row, px_json *chain);
/* "neurons": the row's objective in network `net`, by name. */
void pxi_climb_chain_units(const pxi_climb *climb, const pxi_climb_row *row, size_t net,
                           const char *key, px_json *chain);

void pxi_climb_save(const pxi_climb *climb, px_text *bytes);
bool pxi_climb_load(pxi_climb *climb, pxi_fuzz_bytes *from);
/* What the report borrows; to be called after a turn. */
void pxi_climb_tell(pxi_climb *climb);

/* Queue, cycles, coverage of the first network, and what the steps yielded. */
void pxi_climb_report(const pxi_climb *climb, px_fuzz_report *report);
void pxi_climb_note(px_fuzz_report *report, const char *name, int64_t value);
px_coverage pxi_climb_coverage(const pxi_climb *climb);

#endif
