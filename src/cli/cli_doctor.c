/* src/cli/cli_doctor.c - findings of <internal/doctor.h> as remarks */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_doctor.h"

#include <string.h>

void cli_note_findings(const cli_command *self, const px_doctor *doctor)
{
    for (size_t i = 0; i < px_doctor_count(doctor); i++) {
        const px_finding *f = px_doctor_get(doctor, i);
        const bool said = !f->advice || strcmp(f->id, "preprocess") == 0; /* in the sentence */
        cli_note(self, "%s%s%s", f->sentence, said ? "" : "; ", said ? "" : f->advice);
    }
}
