/* src/cli/attack_print.h - what a run of `plexor attack` has to say */
#ifndef PLEXOR_CLI_ATTACK_PRINT_H
#define PLEXOR_CLI_ATTACK_PRINT_H

#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <plexor/attack.h>

typedef struct attack_report {
    cli_origin origin;
    const cli_inputs *inputs;
    int64_t seed, attacked;
    px_attack_options used;
    px_attack_summary sum;
    const char *goal;     /* as --target has it; NULL: any wrong class */
    const char *settings; /* of the method, as a text; "": it has none */
    const char *norm, *stored_as;
    bool rounds, all_steps; /* to 8 bits; and none is left out */
    int64_t known;          /* inputs that an earlier run attacked */
    const char *to, *sheet; /* files; NULL: none */
} attack_report;
extern const px_field attack_fields[];

void attack_print(const attack_report *report);

#endif
