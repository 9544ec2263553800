/* src/cli/cli_call.h - one run of the command line, and what it has of its own
 *
 * plexor is a program and a function, which may run in several threads at once. What a run keeps
 * outside the variables of its functions is here, and belongs to the thread that runs it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_CALL_H
#define PLEXOR_CLI_CALL_H

#include <plexor/call.h>
#include <plexor/json.h>
#include <plexor/system.h>
#include <stdio.h>

struct cli_command;

typedef struct cli_progress {
    const char *label;
    double started, shown;
    bool terminal, drawn;
} cli_progress;

typedef struct cli_call {
    const px_call_io *io; /* NULL: the program, with stderr and signals of its own */
    FILE *out;            /* where results are printed */
    int argc;
    char **argv; /* as typed, without "plexor" */

    const struct cli_command *command; /* NULL: none yet */
    bool json, quiet;                  /* --json, --quiet */
    const char *class_list;            /* --classes: of the network that is loaded next */
    const char *task, *tolerance;      /* --task and --tolerance likewise */
    const char *tokenizer;
    int64_t tokens;
    px_json *described; /* that plexor help --json is writing; NULL else */

    cli_progress bar; /* label NULL: there is none */
    bool as_json;     /* --json was typed, whether or not it was understood */
    bool has_result, failed;
    px_json result;
    px_error error; /* the first one */
    char **remarks;
    size_t remark_count, remark_capacity;

    bool stopped, in_order; /* progress() said so; only cli_interrupted() still asks */
    void **kept;            /* memory that ends with the call */
    size_t kept_count, kept_capacity;
    px_call_array **arrays;
    size_t array_count, array_capacity;
    px_canceller before_canceller;
    struct cli_call *before; /* whose callback made this one */
} cli_call;

/* The one that this thread is in. */
cli_call *cli_now(void);

/* Between the two the thread is in `call`, whose io, out and words the caller has filled in. */
void cli_call_begin(cli_call *call);
void cli_call_end(cli_call *call);
/* Finds the command and runs it; returns the exit status. */
int cli_call_run(cli_call *call);
/* Asks whoever may end the call. */
px_canceller cli_canceller(cli_call *call);

#endif
