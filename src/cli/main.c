/* src/cli/main.c - plexor COMMAND [MODEL] [options] */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/cmd_study.h"

#include <plexor/call.h>

int main(int argc, char **argv)
{
    cli_command_add(&cli_command_study, "bench");
    list_add(&list_studies, list_print_studies, "archs");
    return px_main(argc, argv);
}
