/* src/cli/attack_print.h - what a run of `plexor attack` has to say */
#ifndef PLEXOR_CLI_ATTACK_PRINT_H
#define PLEXOR_CLI_ATTACK_PRINT_H

#include "cli/cli_net.h"

#include <plexor/attack.h>

typedef struct attack_report {
    const cli_inputs *inputs;
    const px_attack *attack;
    px_attack_summary sum;
    const char *goal;       /* as --target has it; NULL: any wrong class */
    const char *settings;   /* of the method, as a text; "": it has none */
    int64_t known;          /* inputs that an earlier run attacked */
    const char *to, *sheet; /* files; NULL: none */
} attack_report;

void attack_print(const attack_report *report);
void attack_json(const attack_report *report, px_json *json);

#endif
