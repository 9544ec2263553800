/* src/cli/cmd_version.c - plexor version */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"

static const px_field version_fields[] = {PX_FIELDS_END}; /* those of all results */

static int version_run(const cli_command *self, int argc, char **argv)
{
    const cli_option options[] = {CLI_OUTPUT_OPTIONS, CLI_END};
    CLI_TRY(cli_parse(self, argc, argv, options, NULL, 0, 0));
    if (!cli_now()->json) {
        cli_print("plexor %s\n", px_version());
        return CLI_DONE;
    }
    return cli_print_result(self, version_fields, NULL);
}

const cli_command cli_command_version = {
    .name = "version",
    .usage = "[--json]",
    .help = "print the version",
    .run = version_run,
};
