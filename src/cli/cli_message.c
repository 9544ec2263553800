/* src/cli/cli_message.c - what a command says: its result as JSON, remarks, why it failed
 *
 * Nothing of a JSON object is on stdout before the command is over: what is remarked on and what
 * goes wrong after the result is made are members of the same object.
 */
#include "cli/cli.h"
#include "cli/cli_safe.h"

#include <plexor/plexor.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_quiet = false;

static struct {
    int argc;
    char **argv;
    bool as_json, has_result, failed;
    px_json result;
    px_error error; /* the first one */
    char **remarks;
    size_t remark_count, remark_capacity;
} said;

void cli_message_start(int argc, char **argv)
{
    said.argc = argc;
    said.argv = argv;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        said.as_json = said.as_json || strcmp(argv[i], "--json") == 0;
}

void cli_json_command(px_json *json, int argc, char **argv)
{
    px_json_string(json, "version", px_version());
    px_json_array(json, "command");
    px_json_string(json, NULL, "plexor");
    for (int i = 0; i < argc; i++)
        px_json_string(json, NULL, argv[i]);
    px_json_end(json);
}

void cli_json_open(px_json *json)
{
    px_json_object(json, NULL);
    cli_json_command(json, said.argc - 1, said.argv + 1);
}

static void message_error(px_json *json, int exit_status)
{
    px_json_object(json, "error");
    px_json_string(json, "status", px_status_name(said.error.status));
    px_json_int(json, "exit", exit_status);
    px_json_string(json, "message", said.error.message);
    px_json_end(json);
}

static void message_remarks(px_json *json)
{
    px_json_array(json, "remarks");
    for (size_t i = 0; i < said.remark_count; i++)
        px_json_string(json, NULL, said.remarks[i]);
    px_json_end(json);
}

int cli_message_end(int status)
{
    if (!said.has_result && !(said.as_json && said.failed))
        return status;
    if (said.has_result)
        px_json_reopen(&said.result);
    else
        cli_json_open(&said.result);
    if (said.failed)
        message_error(&said.result, status);
    message_remarks(&said.result);
    px_json_end(&said.result);
    const char *text = px_json_text(&said.result);
    if (text)
        fputs(text, stdout);
    else
        fputs("plexor: out of memory for the JSON result\n", stderr);
    px_json_done(&said.result);
    return text || status != CLI_DONE ? status : CLI_TROUBLE;
}

/* A command has one result; a second one could not be told from it. */
int cli_print_json(const cli_command *self, px_json *json)
{
    if (!px_json_text(json)) {
        px_json_done(json);
        return cli_fail(self, &(px_error){PX_E_NOMEM, "out of memory for the JSON result"});
    }
    px_json_done(&said.result);
    said.result = *json;
    said.has_result = true;
    *json = (px_json){0};
    return CLI_DONE;
}

int cli_print_json_text(const cli_command *self, const char *text)
{
    px_json json = {.filled = {true}};
    px_text_add(&json.text, text);
    return cli_print_json(self, &json);
}

static void message_print(const cli_command *self, const char *message)
{
    fflush(stdout); /* what was printed so far comes first */
    fprintf(stderr, "plexor%s%s: ", self ? " " : "", self ? self->name : "");
    cli_safe_text(stderr, message);
    fputc('\n', stderr);
}

int cli_fail(const cli_command *self, const px_error *err)
{
    const bool mendable = err->status >= PX_E_USAGE && err->status <= PX_E_MISMATCH;
    const char *message = *err->message ? err->message : px_status_text(err->status);
    if (!said.failed)
        px_fail(&said.error, err->status, "%s", message);
    said.failed = true;
    message_print(self, message);
    return mendable ? CLI_BAD_INPUT : CLI_TROUBLE;
}

int cli_usage_error(const cli_command *self, const char *format, ...)
{
    px_error err = {.status = PX_E_USAGE};
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    return cli_fail(self, &err);
}

/* Memory that a remark lacks is no reason to fail: stderr has it. */
static void message_keep(char *remark)
{
    if (said.remark_count == said.remark_capacity) {
        const size_t capacity = said.remark_capacity ? 2 * said.remark_capacity : 16;
        char **grown = reallocarray(said.remarks, capacity, sizeof *grown);
        if (!grown) {
            free(remark);
            return;
        }
        said.remarks = grown;
        said.remark_capacity = capacity;
    }
    said.remarks[said.remark_count++] = remark;
}

void cli_note(const cli_command *self, const char *format, ...)
{
    char *remark = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&remark, format, args) < 0)
        remark = NULL;
    va_end(args);
    if (!remark)
        return;
    if (!cli_quiet)
        message_print(self, remark);
    message_keep(remark);
}
