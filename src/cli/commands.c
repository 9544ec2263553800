/* src/cli/commands.c - the table of commands */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "cli/cli.h"

#include <assert.h>
#include <string.h>

#define COMMAND_DECLARE(id) extern const cli_command cli_command_##id;
CLI_COMMANDS(COMMAND_DECLARE)

#define COMMAND_ROW(id) &cli_command_##id,
#define COMMAND_ROOM(id) NULL,
const cli_command *cli_commands[] = {
    CLI_COMMANDS(COMMAND_ROW) CLI_PROGRAM_COMMANDS(COMMAND_ROOM) NULL,
};
enum { COMMANDS_MAX = sizeof cli_commands / sizeof cli_commands[0] - 1 };

#define COMMAND_NAME(id) #id,
static const char *const of_program[] = {CLI_PROGRAM_COMMANDS(COMMAND_NAME)};

static bool command_of_program(const char *name)
{
    for (size_t i = 0; i < sizeof of_program / sizeof of_program[0]; i++)
        if (strcmp(of_program[i], name) == 0)
            return true;
    return false;
}

void cli_command_add(const cli_command *command, const char *before)
{
    size_t at = 0, count = 0;
    while (cli_commands[count])
        count++;
    assert(count < COMMANDS_MAX && command_of_program(command->name));
    while (cli_commands[at] && strcmp(cli_commands[at]->name, before) != 0)
        at++;
    memmove(cli_commands + at + 1, cli_commands + at, (count - at) * sizeof cli_commands[0]);
    cli_commands[at] = command;
}

bool cli_command_elsewhere(const char *name)
{
    return command_of_program(name) && !cli_command_find(name);
}
