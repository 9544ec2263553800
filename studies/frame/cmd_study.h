/* studies/frame/cmd_study.h - what the program adds to the library's commands */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_FRAME_CMD_STUDY_H
#define PXI_FRAME_CMD_STUDY_H

#include "cli/cli.h"
#include "cli/list.h"

extern const cli_command cli_command_study; /* plexor study */
extern const px_field list_studies;         /* plexor list studies */
void list_print_studies(void);

#endif
