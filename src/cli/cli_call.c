/* src/cli/cli_call.c - one run of the command line */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <assert.h>
#include <internal/text.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local cli_call *now;

cli_call *cli_now(void)
{
    assert(now); /* commands run in the thread of their call */
    return now;
}

void cli_call_begin(cli_call *call)
{
    call->before = now;
    now = call;
    call->before_canceller = px_cancel_here(cli_canceller(call));
}

void cli_call_end(cli_call *call)
{
    assert(now == call);
    now = call->before;
    (void)px_cancel_here(call->before_canceller);
    px_json_done(&call->result);
    for (size_t i = 0; i < call->remark_count; i++)
        free(call->remarks[i]);
    free(call->remarks);
    for (size_t i = 0; i < call->kept_count; i++)
        free(call->kept[i]);
    free(call->kept);
}

void *cli_keep_alloc(size_t count, size_t size)
{
    cli_call *call = cli_now();
    if (call->kept_count == call->kept_capacity) {
        const size_t capacity = call->kept_capacity ? 2 * call->kept_capacity : 16;
        void **grown = reallocarray(call->kept, capacity, sizeof *grown);
        if (!grown)
            return NULL;
        call->kept = grown;
        call->kept_capacity = capacity;
    }
    void *memory = calloc(count, size);
    if (memory)
        call->kept[call->kept_count++] = memory;
    return memory;
}

/* --- commands -------------------------------------------------------------------------------- */

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

static int call_unknown(const char *name)
{
    const char *names[64];
    size_t count = 0;
    if (cli_command_elsewhere(name))
        return cli_usage_error(NULL,
                               "'%s' is a command of the program 'plexor', which the library does "
                               "not have",
                               name);
    while (count < 64 && cli_commands[count]) {
        names[count] = cli_commands[count]->name;
        count++;
    }
    const char *nearest = px_nearest_word(name, names, count);
    return cli_usage_error(NULL, "there is no command '%s'%s%s%s; 'plexor help' lists them", name,
                           nearest ? ", did you mean '" : "", nearest ? nearest : "",
                           nearest ? "'" : "");
}

int cli_call_run(cli_call *call)
{
    static char nothing[] = "help";
    char *alone[] = {nothing, NULL}, **argv = call->argc > 0 ? call->argv : alone;
    const char *name = argv[0];
    for (int i = 0; i < call->argc && strcmp(argv[i], "--") != 0; i++)
        call->as_json = call->as_json || strcmp(argv[i], "--json") == 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const cli_command *command = cli_command_find(name);
    int status =
        command ? command->run(command, call->argc > 0 ? call->argc : 1, argv) : call_unknown(name);
    if (status == CLI_DONE && cli_interrupted() && !(command && command->signal_is_done))
        status = cli_fail(
            command, &(px_error){PX_E_CANCELLED,
                                 "interrupted; what was printed may be about a part of the work"});
    return cli_message_end(status);
}
