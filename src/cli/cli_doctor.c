/* src/cli/cli_doctor.c - findings of <plexor/doctor.h> as remarks */
#include "cli/cli_doctor.h"

void cli_note_findings(const cli_command *self, const px_doctor *doctor)
{
    for (size_t i = 0; i < px_doctor_count(doctor); i++)
        cli_note(self, "%s", px_doctor_get(doctor, i)->sentence);
}
