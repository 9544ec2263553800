/* tests/generate/minimize_helpers.h - a campaign with real faults, made without a fuzzer */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_MINIMIZE_HELPERS_H
#define TESTS_MINIMIZE_HELPERS_H

#include "generate_helpers.h"

#include <internal/minimize.h>
#include <plexor/engine.h>

enum { DIGIT_SIDE = 28, DIGIT_SIZE = DIGIT_SIDE * DIGIT_SIDE };

typedef struct judge { /* the network of tests/cli/models, and what it says */
    px_model *model;
    px_preprocess pre;
    px_scores scores;
    px_plan *plan;
    px_session *session;
} judge;

judge judge_open(void);
void judge_close(judge *j);
int64_t judge_answer(const judge *j, const uint8_t *pixels);

/* `seeds` digits that the network gets right, and what chains of up to four mutations make of them:
 * `tries` each, the wrong ones as faults, some of the others as kept. Identity of the network. */
void faulty_campaign(const judge *j, const char *folder, int seeds, int tries);

/* The campaign as a data set for the network; `pre` is completed. */
px_dataset *campaign_set(judge *j, const char *folder, const char *split);

#endif
