/* src/cli/assess_partners.h - the two sides of an assessment, opened and paired up */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_ASSESS_PARTNERS_H
#define PLEXOR_CLI_ASSESS_PARTNERS_H

#include "cli/cli_net.h"

#include <internal/assess.h>

typedef struct assess_sides {
    cli_inputs original, adversarial;
    int64_t *partners;
    const char *how; /* they were paired: "campaign", "name", "index" */
    int64_t left;    /* originals without a partner */
} assess_sides;

typedef enum assess_pairing {
    ASSESS_PAIR_AUTO,
    ASSESS_PAIR_INDEX,
    ASSESS_PAIR_NAME
} assess_pairing;
#define ASSESS_PAIRINGS "auto|index|name" /* their words */

typedef struct assess_wish {
    cli_data
        data; /* spec: of the originals, NULL: the campaign's own; limit, offset, seed: of both */
    const char *adversarial, *adversarial_split;
    int pair; /* an assess_pairing */
} assess_wish;

px_status assess_sides_open(const px_model *model, const assess_wish *wish, assess_sides *out,
                            px_error *err);
void assess_sides_close(assess_sides *sides);

#endif
