/* src/generate/swarm.h - a swarm of inputs around one seed (LGR B.5)
 *
 *     PX_TRY(pxi_swarm_room(&swarm, &rule, size, err));
 *     pxi_swarm_begin(&swarm, &rule, levels, low, high, visit);
 *     pxi_swarm_draw(&swarm, &rule, i);                          // every particle i, any thread
 *     for (g = 1; g <= rule.iters; g++) {
 *         ... fit[i] = fitness of pxi_swarm_at(&swarm, i) ...
 *         pxi_swarm_judge(&swarm, fit);                          // Pbest and Gbest
 *         pxi_swarm_move(&swarm, &rule, g, i);                   // every particle i, any thread
 *         pxi_swarm_moved(&swarm, &rule);
 *     }
 *
 * DeepSensor, Eq 7 to 9 and Algorithm 1, with the value and the place of a best apart. Two other
 * ways to spend the same number of evaluations are there to compare with: places at random, and a
 * genetic algorithm. All lengths are in levels (px_dataset_pixels()), per value of an input. Random
 * numbers are addressed by (visit, iteration, particle), then drawn value by value.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_SWARM_H
#define PXI_GENERATE_SWARM_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PXI_SWARM_MOST = 65536 }; /* particles, and iterations: a draw's address has room for both */

typedef enum pxi_swarm_kind { PXI_SWARM_PSO, PXI_SWARM_RANDOM, PXI_SWARM_GA } pxi_swarm_kind;

typedef struct pxi_swarm_rule {
    pxi_swarm_kind kind;
    size_t particles;
    int64_t iters;        /* G: what the inertia is spread over */
    double c1, c2;        /* pull towards a particle's own best place, and the swarm's */
    double w_init, w_end; /* inertia */
    bool scalar;          /* one r1 and r2 per particle and iteration, not per value */
    bool fixed;           /* all begin at the seed */
    /* Shares of each value's range; infinite: no such limit. */
    double radius; /* of where they begin, and of how fast */
    double vmax;   /* of a step */
    double bound;  /* around the seed */
    double mutate; /* ga: share of values that a child changes */
    uint64_t seed;
} pxi_swarm_rule;

typedef struct pxi_swarm {
    size_t particles, size;
    uint32_t visit;
    const float *seed;       /* borrowed, as are these: the seed's levels, */
    const float *low, *high; /* and the range of each value */
    float *places, *speeds;  /* [particles][size]; ga: the second is the next generation */
    float *bests;            /* Pbest */
    double *fits, *best_fits;
    size_t leader; /* whose best is Gbest */
} pxi_swarm;

/* Takes memory for swarms of this size; may follow on {0} or on a smaller one. */
px_status pxi_swarm_room(pxi_swarm *swarm, const pxi_swarm_rule *rule, size_t size, px_error *err);
void pxi_swarm_free(pxi_swarm *swarm); /* what it holds; {0} is fine */

void pxi_swarm_begin(pxi_swarm *swarm, const float *seed, const float *low, const float *high,
                     uint32_t visit);
/* Where particle i begins, and how fast. */
void pxi_swarm_draw(pxi_swarm *swarm, const pxi_swarm_rule *rule, size_t i);
static inline const float *pxi_swarm_at(const pxi_swarm *swarm, size_t i)
{
    return swarm->places + i * swarm->size;
}
static inline const float *pxi_swarm_best(const pxi_swarm *swarm)
{
    return swarm->bests + swarm->leader * swarm->size;
}

/* A number in [0, 1) that says nothing of particle i in iteration g: what to compare a guide with.
 */
double pxi_swarm_chance(const pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g, size_t i);

/* Takes what every place is worth: NaN is nothing. A best is replaced by what is better, never by
 * what is as good; of equal bests the first leads. True: Gbest is another place than before. */
bool pxi_swarm_judge(pxi_swarm *swarm, const double *fits);

/* Iteration `g` (from 1) is over: on to the places of the next one. */
void pxi_swarm_move(pxi_swarm *swarm, const pxi_swarm_rule *rule, int64_t g, size_t i);
void pxi_swarm_moved(pxi_swarm *swarm, const pxi_swarm_rule *rule);

/* --- arithmetic ------------------------------------------------------------------------------ */

/* Eq 9: (w_init - w_end)(G - g)/G + w_end. */
double pxi_swarm_inertia(const pxi_swarm_rule *rule, int64_t g);

/* Eq 7. */
static inline double pxi_swarm_speed(double inertia, double v, double own_pull, double own,
                                     double pull, double best, double x)
{
    return inertia * v + own_pull * (own - x) + pull * (best - x);
}

static inline double pxi_swarm_cut(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

#endif
