/* src/cli/main.c - plexor COMMAND [MODEL] [options] */
#include "cli/cli.h"
#include "cli/cli_safe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

static int main_unknown(const char *name)
{
    const char *names[64];
    size_t count = 0;
    while (count < 64 && cli_commands[count]) {
        names[count] = cli_commands[count]->name;
        count++;
    }
    const char *nearest = px_nearest_word(name, names, count);
    return cli_usage_error(NULL, "there is no command '%s'%s%s%s; 'plexor help' lists them", name,
                           nearest ? ", did you mean '" : "", nearest ? nearest : "",
                           nearest ? "'" : "");
}

/* A result that did not reach its reader is no result. */
static int main_flush(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "plexor: cannot write to standard output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return status == CLI_DONE ? CLI_TROUBLE : status;
}

int main(int argc, char **argv)
{
    cli_catch_signals();
    cli_safe_stdout();
    cli_message_start(argc, argv);
    const char *name = argc > 1 ? argv[1] : NULL;
    if (name && (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0))
        name = "help";
    else if (name && (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0))
        name = "version";
    const cli_command *command = cli_command_find(name ? name : "help");
    int status = command
                     ? command->run(command, argc > 1 ? argc - 1 : 1, argc > 1 ? argv + 1 : argv)
                     : main_unknown(name);
    if (status == CLI_DONE && cli_interrupted() && !(command && command->signal_is_done)) {
        fputs("plexor: interrupted; what was printed may be about a part of the work\n", stderr);
        status = CLI_TROUBLE;
    }
    return main_flush(cli_message_end(status));
}
