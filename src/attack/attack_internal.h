/* src/attack/attack_internal.h - the frame that methods work in
 *
 * A method sees one input at a time, as a *slot*: the scores at its current pixels, then the
 * gradients it asked for, then it moves the pixels. The frame runs many slots in one micro-batch,
 * and knows when to stop, to begin again, to round and to judge.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTACK_ATTACK_INTERNAL_H
#define PXI_ATTACK_ATTACK_INTERNAL_H

#include <internal/pass.h>
#include <internal/pixel_rule.h>

#include <plexor/attack.h>
#include <plexor/rng.h>

typedef struct pxi_attack_run pxi_attack_run;

typedef struct pxi_slot { /* what a method sees of an input */
    const pxi_attack_run *run;
    const float *original; /* levels */
    float *x;              /* levels: the method moves it */
    void *state;           /* the method's own, zeroed when a start begins */
    const float *scores;   /* of x */
    int before;            /* class of the original */
    int predicted;         /* class of x; never -1 when a method sees it */
    int truth, target;     /* target -1: none */
    int64_t step;          /* taken so far */
} pxi_slot;

typedef struct pxi_attack_method {
    px_attack_method shown;
    int64_t steps;                                    /* the default number */
    double share;                                     /* of eps: the default step_size */
    int (*passes)(const pxi_attack_run *run);         /* backward passes per step; NULL: 1 */
    size_t (*state_bytes)(const pxi_attack_run *run); /* NULL: none */
    /* The step limit where it depends on the data; NULL: options.steps. */
    int64_t (*limit)(const pxi_attack_run *run);
    /* Looks at scores before the gradients come. False: there is nothing to do any more. NULL:
     * true.
     */
    bool (*look)(pxi_slot *slot);
    /* The cotangent of the class scores (zeroed before) in pass 0, 1, ...; false: this slot needs
     * no such pass. */
    bool (*seed)(const pxi_slot *slot, int pass, float *cotangent);
    /* The gradient by scaled units, CHW, without NaN. */
    void (*gradient)(pxi_slot *slot, int pass, const float *g);
    /* Moves slot->x. False: it cannot. NULL: gradient() did. */
    bool (*move)(pxi_slot *slot);
} pxi_attack_method;

struct pxi_attack_run {
    const px_attack_job *job;
    px_attack *out;
    const pxi_attack_method *method;
    px_attack_options options; /* complete */
    void *config;              /* the method's settings */
    pxi_pixel_rule rule;
    double eps, step; /* in levels */
    int64_t limit;    /* steps */
    int passes;
    size_t state_bytes;
    pxi_pass *pass;
    px_scores scores;
    int input;   /* value */
    bool early;  /* a slot that reached its goal is done */
    bool random; /* starts are drawn */

    /* The inputs at work: rows `first` on, at most `room` of them. */
    int64_t first, room, samples;
    float *original, *exact;
    uint8_t *bytes; /* NULL: nothing is rounded */
};

struct px_attack {
    px_attack_options options;
    bool rounds;
    int classes;
    int64_t count;
    px_attack_row *rows;
    double seconds, emit_seconds;
};

const pxi_attack_method *pxi_attack_find(const char *id, px_error *err);

/* Plan, lanes and their seats (attack_worker.c). */
px_status pxi_attack_open(pxi_attack_run *run, px_error *err);
/* Takes `samples` inputs from `first` on to their ends. */
px_status pxi_attack_work(pxi_attack_run *run, px_error *err);

/* Where restart number `restart` begins: a draw from the ball around the original, in the range
 * (attack_start.c). The address is (seed, PX_RNG_ATTACK, index in the source, restart). */
void pxi_attack_start(const pxi_attack_run *run, const float *original, int64_t item,
                      int64_t restart, float *x);
/* The same by a stream of the caller's. */
void pxi_attack_draw(const pxi_attack_run *run, px_random *r, const float *original, float *x);

/* A gradient by the network's input, in its order, as one by scaled units, CHW. Values that are no
 * numbers become 0 and are added to *odd. Returns whether all is 0. */
bool pxi_attack_gradient(const pxi_pixel_rule *rule, const float *net, float *unit, int64_t *odd);

/* The seed of cross-entropy and the step that it leads to (descent.c): what FGSM, BIM and PGD have
 * in common. */
bool pxi_descent_seed(const pxi_slot *slot, int pass, float *cotangent);
void pxi_descent_step(pxi_slot *slot, int pass, const float *g);
/* Back into the ball of eps around the original by L2, then into the range. */
void pxi_descent_project_l2(const pxi_attack_run *run, const float *original, float *x);

/* JSMA's best pair (jsma_pair.c): the p < q, both free, with A = alpha_p + alpha_q > 0 and
 * B = beta_p + beta_q < 0 that have the largest -A B; the first of equals. False: there is none. */
bool pxi_jsma_pair(const float *alpha, const float *beta, const uint8_t *free, size_t count,
                   size_t *p, size_t *q);

#endif
