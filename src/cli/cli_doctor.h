/* src/cli/cli_doctor.h - findings of <internal/doctor.h> as remarks */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_DOCTOR_H
#define PLEXOR_CLI_DOCTOR_H

#include "cli/cli.h"

#include <internal/doctor.h>

/* One remark for each finding. */
void cli_note_findings(const cli_command *self, const px_doctor *doctor);

#endif
