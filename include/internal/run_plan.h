/* include/internal/run_plan.h - what a long run would take, from two short ones
 *
 * A command is run on few inputs and on some more, each time in a process of its own that does all
 * that one of several ranks does (internal/ranks.h, rehearsal): seconds of work that ranks divide,
 * seconds that each spends by itself, memory, and bytes that would go to the others. Each of these
 * is taken for a line: so much to begin with, and so much for each input.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_RUN_PLAN_H
#define PXI_INTERNAL_RUN_PLAN_H

#include <plexor/error.h>
#include <stdint.h>

PX_BEGIN_DECLS

typedef struct px_run_sample { /* of one short run */
    int64_t inputs;
    double divided_s, own_s;
    double processor_s;     /* of all threads */
    double memory, traffic; /* bytes; the most that was resident */
} px_run_sample;

typedef struct px_run_line {
    double base, slope; /* per input */
} px_run_line;

typedef struct px_run_cost {
    px_run_line divided_s, own_s, processor_s, memory, traffic;
    double open_s;       /* of own_s.base: listing all of the data set, */
    int64_t open_inputs; /* which has so many inputs */
} px_run_cost;

typedef struct px_run_aim {
    int64_t images;
    int ranks;
    double network; /* bytes per second into a rank */
} px_run_aim;

typedef struct px_run_prediction {
    double seconds; /* the sum of: */
    double divided_s, own_s, network_s;
    double processor_s; /* of all ranks together */
    double memory;      /* bytes of a rank */
    double traffic;     /* bytes that each rank receives */
    double speedup;     /* against one rank */
    double efficiency;
} px_run_prediction;

/* The lines through two runs; `more` has more inputs. What grows less than nothing is constant. */
px_run_cost px_run_cost_fit(const px_run_sample *few, const px_run_sample *more);
px_run_prediction px_run_predict(const px_run_cost *cost, const px_run_aim *aim);

/* Runs `program` with `words` (NULL-terminated, words[0] its name) to its end, its output thrown
 * away. PX_E_INPUT with what it said last where it fails; PX_E_CANCELLED after Ctrl-C. */
px_status px_run_measure(const char *program, char *const *words, int64_t inputs,
                         px_run_sample *out, px_error *err);

PX_END_DECLS
#endif
