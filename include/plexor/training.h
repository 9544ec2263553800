/* include/plexor/training.h - the data that ranges, traces and thresholds are learned from
 *
 * Everything that has to know a network's training data finds them by the same rules: those that
 * are named, else 1,000 inputs of the train part of the data that are examined.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_TRAINING_H
#define PLEXOR_TRAINING_H

#include <plexor/decision_path.h>
#include <plexor/profile.h>

PX_BEGIN_DECLS

typedef struct px_training { /* what it points to is borrowed */
    const char *spec; /* of the training data, whose train part is taken, where they have one */
    const char *own;  /* without: of the data that are examined; they must have a train part */
    const px_preprocess *pre; /* how those are fed, whether opened with it or not */
    int64_t limit; /* so many of them, drawn by the seed; 0: all of `spec`, 1,000 of `own` */
    int64_t first; /* or the first so many; 0: not so */
    bool skip_damaged;
    uint64_t seed;
    int64_t memory_bytes; /* refuse to keep more; 0: three quarters of the machine's */
    int threads;          /* <= 0: one per core */
    int64_t batch;        /* micro-batch; 0: chosen */
    /* NULL, or told what is going on ("profile", "calibrate") and how far; false: stop. */
    bool (*progress)(void *context, const char *what, int64_t done, int64_t total);
    /* NULL, or told what a user should know, a sentence at a time. */
    void (*note)(void *context, const char *sentence);
    void *context;
} px_training;

PX_END_DECLS
#endif
