/* src/cli/cli_message.c - what a command says: its result as JSON, remarks, why it failed
 *
 * Nothing of a JSON object is on stdout before the command is over: what is remarked on and what
 * goes wrong after the result is made are members of the same object.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/cli_safe.h"

#include <internal/field.h>
#include <internal/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const void *word_item(const void *at, size_t i, void *row)
{
    static const char *const program = "plexor";
    const cli_call *call = at;
    (void)row;
    return i == 0 ? (const void *)&program : (int)i <= call->argc ? &call->argv[i - 1] : NULL;
}

static px_datum version_of(const void *at, char *text)
{
    (void)at;
    (void)text;
    return px_datum_text(px_version());
}

static const px_field begin_fields[] = {
    PX_MADE(TEXT, version_of, "version"),
    PX_VALUES_MADE(word_item, const char *, "command"),
    PX_FIELDS_END,
};

typedef struct message_end {
    const char *status; /* NULL: nothing failed */
    px_error error;
    int exit_status;
    const cli_call *call;
} message_end;

static const px_field error_fields[] = {
    PX_FIELD(message_end, status, "status"),
    PX_FIELD(message_end, exit_status, "exit"),
    PX_CHARS(message_end, error.message, "message"),
    PX_FIELDS_END,
};

static const px_field remark_fields[] = {
    PX_VALUES(cli_call, remarks, remark_count, "remarks"),
    PX_FIELDS_END,
};

static const px_field end_fields[] = {
    PX_OBJECT_OF(error_fields, "error", PX_IF(message_end, status)),
    PX_OBJECT_AT(message_end, call, remark_fields, ""),
    PX_FIELDS_END,
};

/* The object stays open for what the command has to say. */
void cli_json_open(px_json *json)
{
    px_json_object(json, NULL);
    px_fields_json(begin_fields, cli_now(), json);
}

int cli_message_end(int status)
{
    cli_call *call = cli_now();
    cli_bar_end();
    if (!call->has_result && !(call->as_json && call->failed))
        return status;
    if (call->has_result)
        px_json_reopen(&call->result);
    else
        cli_json_open(&call->result);
    call->has_result = true;
    const message_end end = {.status = call->failed ? px_status_name(call->error.status) : NULL,
                             .error = call->error,
                             .exit_status = status,
                             .call = call};
    px_fields_json(end_fields, &end, &call->result);
    px_json_end(&call->result);
    const char *text = px_json_text(&call->result);
    if (!text)
        return cli_no_memory(NULL);
    if (!call->io)
        fputs(text, call->out);
    return status;
}

/* A command has one result; a second one could not be told from it. */
int cli_print_json(const cli_command *self, px_json *json)
{
    if (!px_json_text(json)) {
        px_json_done(json);
        return cli_no_memory(self);
    }
    cli_call *call = cli_now();
    px_json_done(&call->result);
    call->result = *json;
    call->has_result = true;
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
    const cli_call *call = cli_now();
    cli_bar_end();
    if (call->io) {
        if (call->io->remark)
            call->io->remark(call->io->context, message);
        return;
    }
    fflush(call->out); /* what was printed so far comes first */
    fprintf(stderr, "plexor%s%s: ", self ? " " : "", self ? self->name : "");
    cli_safe_text(stderr, message);
    fputc('\n', stderr);
}

int cli_fail(const cli_command *self, const px_error *err)
{
    const bool mendable = err->status >= PX_E_USAGE && err->status <= PX_E_MISMATCH;
    const char *message = *err->message ? err->message : px_status_text(err->status);
    cli_call *call = cli_now();
    if (!call->io || call->failed) /* the first one is the call's error */
        message_print(self, message);
    if (!call->failed)
        px_fail(&call->error, err->status, "%s", message);
    call->failed = true;
    return mendable ? CLI_BAD_INPUT : CLI_TROUBLE;
}

int cli_no_memory(const cli_command *self)
{
    px_error err = {0};
    pxi_no_memory(&err);
    return cli_fail(self, &err);
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

/* However often a command opens its data, and whether the doctor says it too. */
static bool message_was_said(const cli_call *call, const char *remark)
{
    for (size_t i = 0; i < call->remark_count; i++)
        if (strcmp(call->remarks[i], remark) == 0)
            return true;
    return false;
}

/* Memory that a remark lacks is no reason to fail: stderr has it. */
static void message_keep(cli_call *call, char *remark)
{
    if (call->remark_count == call->remark_capacity) {
        const size_t capacity = call->remark_capacity ? 2 * call->remark_capacity : 16;
        char **grown = reallocarray(call->remarks, capacity, sizeof *grown);
        if (!grown) {
            free(remark);
            return;
        }
        call->remarks = grown;
        call->remark_capacity = capacity;
    }
    call->remarks[call->remark_count++] = remark;
}

void cli_note(const cli_command *self, const char *format, ...)
{
    char *remark = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&remark, format, args) < 0)
        remark = NULL;
    va_end(args);
    if (!remark || !*remark || message_was_said(cli_now(), remark)) {
        free(remark);
        return;
    }
    if (!cli_now()->quiet)
        message_print(self, remark);
    message_keep(cli_now(), remark);
}
