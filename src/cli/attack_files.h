/* src/cli/attack_files.h - results of an attack as a campaign, and on a contact sheet */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_ATTACK_FILES_H
#define PLEXOR_CLI_ATTACK_FILES_H

#include "cli/pair_campaign.h"

#include <internal/picture.h>
#include <plexor/attack.h>

typedef struct attack_files {
    const cli_inputs *inputs;
    const cli_classes *classes;
    px_attack_options options; /* complete */
    pair_campaign pairs;
    px_attack_row *known; /* results of an earlier run that was stopped */
    int64_t known_count;
    px_sheet *sheets[2]; /* that reached the goal; others. NULL: none */
    int64_t on_sheet[2];
    uint8_t *picture; /* three of one input, channels together */
} attack_files;

/* Says what it is about, and reads what is there; files->options are complete. */
px_status attack_campaign_begin(attack_files *files, const px_model *model, int classes,
                                const char *settings, int64_t seed, px_error *err);
/* PX_E_MISMATCH where the inputs are no pictures. */
px_status attack_sheet_open(attack_files *files, px_error *err);

/* For px_attack_options.emit. */
px_status attack_files_add(void *files, const px_attack_made *made, px_error *err);

px_status attack_files_finish(attack_files *files, const char *sheet, const char *command,
                              double seconds, px_error *err);
void attack_files_close(attack_files *files);

#endif
