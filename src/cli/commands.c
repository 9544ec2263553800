/* src/cli/commands.c - the table of commands */
#include "cli/commands.h"

#include "cli/cli.h"

#define COMMAND_DECLARE(id) extern const cli_command cli_command_##id;
CLI_COMMANDS(COMMAND_DECLARE)

const cli_command *const cli_commands[] = {
#define COMMAND_ROW(id) &cli_command_##id,
    CLI_COMMANDS(COMMAND_ROW) NULL,
};
