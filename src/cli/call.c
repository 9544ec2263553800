/* src/cli/call.c - the command line as a program and as a function */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/ranks.h>
#include <internal/system.h>
#include <plexor/call.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/cli_safe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int px_abi_version(void)
{
    return PX_ABI_VERSION;
}

/* --- the program ----------------------------------------------------------------------------- */

/* A result that did not reach its reader is no result. */
static int main_flush(FILE *out, int status)
{
    errno = 0;
    const bool failed = fflush(out) != 0 || ferror(out);
    if (failed)
        fprintf(stderr, "plexor: cannot write to standard output%s%s\n", errno ? ": " : "",
                errno ? strerror(errno) : "");
    return failed && status == CLI_DONE ? CLI_TROUBLE : status;
}

/* The others print nothing: what they say is in what the first says. */
static void main_mute(void)
{
    FILE *nowhere = fopen("/dev/null", "we");
    if (!nowhere || dup2(fileno(nowhere), STDOUT_FILENO) < 0)
        abort(); /* mpirun says so */
    stderr = nowhere;
}

/* Before anything of the command's own is read. */
static bool main_is_quiet(const cli_call *call)
{
    for (int i = 1; i < call->argc && strcmp(call->argv[i], "--") != 0; i++)
        if (strcmp(call->argv[i], "-q") == 0 || strcmp(call->argv[i], "--quiet") == 0)
            return true;
    return false;
}

static int main_run(cli_call *call)
{
    const cli_command *command = call->argc > 0 ? cli_command_find(call->argv[0]) : NULL;
    cli_safe safe;
    if (pxi_rank_count() > 1 && !(command && command->ranks)) {
        pxi_ranks_follow_first();
        if (pxi_ranks_mute())
            return CLI_DONE;
        if (command && !main_is_quiet(call))
            fprintf(stderr, "plexor %s: is not divided among ranks: the first does all of it\n",
                    command->name);
    }
    if (!(call->out = cli_safe_open(&safe, NULL))) {
        fprintf(stderr, "plexor: %s\n", px_status_text(PX_E_NOMEM));
        return CLI_TROUBLE;
    }
    const int status = main_flush(call->out, cli_call_run(call));
    fclose(call->out);
    return status;
}

int px_main(int argc, char **argv)
{
    px_error failure = {0};
    cli_call call = {.argc = argc > 1 ? argc - 1 : 0, .argv = argv + (argc > 1)};
    cli_catch_signals();
    px_status joined = pxi_ranks_join(argc, argv, &failure);
    if (pxi_ranks_mute())
        main_mute();
    cli_call_begin(&call);
    int status = joined == PX_OK ? main_run(&call) : cli_fail(NULL, &failure);
    const px_error *own = joined != PX_OK ? &failure : call.failed ? &call.error : NULL;
    px_error other = {0};
    status = pxi_ranks_leave(status, own, &other);
    if (other.status != PX_OK)
        (void)cli_fail(NULL, &other);
    cli_call_end(&call);
    return status;
}

/* --- the function ---------------------------------------------------------------------------- */

typedef struct call_owned { /* what a result points to */
    char *error, *json, *text;
    px_call_array **arrays;
    size_t array_count;
} call_owned;

static void array_free(px_call_array *array)
{
    if (!array)
        return;
    free((char *)array->file);
    free((char *)array->name);
    px_tensor_done(&array->tensor);
    free(array);
}

static void owned_free(call_owned *owned)
{
    if (!owned)
        return;
    for (size_t i = 0; i < owned->array_count; i++)
        array_free(owned->arrays[i]);
    free(owned->arrays);
    free(owned->error);
    free(owned->json);
    free(owned->text);
    free(owned);
}

/* A px_taker. */
static px_status call_take(void *context, const char *file, const char *name,
                           const px_tensor *tensor, px_error *err)
{
    cli_call *call = context;
    if (call->array_count == call->array_capacity) {
        const size_t capacity = call->array_capacity ? 2 * call->array_capacity : 16;
        px_call_array **grown = reallocarray(call->arrays, capacity, sizeof(px_call_array *));
        if (!grown)
            return pxi_no_memory(err);
        call->arrays = grown;
        call->array_capacity = capacity;
    }
    px_call_array *array = calloc(1, sizeof *array);
    if (array)
        *array = (px_call_array){sizeof *array, strdup(file), strdup(name), {0}};
    if (!array || !array->file || !array->name) {
        array_free(array);
        return pxi_no_memory(err);
    }
    array->tensor = *tensor;
    call->arrays[call->array_count++] = array;
    return PX_OK;
}

/* Structs of an older program are shorter than ours: what they lack is zero. */
static px_call_io io_of(const px_call_io *given)
{
    px_call_io io = {0};
    if (given)
        memcpy(&io, given, given->size < sizeof io ? given->size : sizeof io);
    return io;
}

static void result_set(px_call_result *to, const px_call_result *from)
{
    const size_t size = to->size < from->size ? to->size : from->size;
    memcpy((char *)to + sizeof to->size, (const char *)from + sizeof to->size,
           size - sizeof to->size);
}

/* A command gets words of its own, as main() would. */
static char **words_copy(int argc, const char *const *argv)
{
    char **words = cli_keep_alloc((size_t)argc + 1, sizeof *words);
    for (int i = 0; words && i < argc; i++) {
        const size_t size = strlen(argv[i]) + 1;
        if (!(words[i] = cli_keep_alloc(size, 1)))
            return NULL;
        memcpy(words[i], argv[i], size);
    }
    return words;
}

static int call_run(cli_call *call, int argc, const char *const *argv, px_text *text)
{
    cli_safe *safe = cli_keep_alloc(1, sizeof *safe);
    char **words = words_copy(argc, argv);
    if (!safe || !words || !(call->out = cli_safe_open(safe, text)))
        return cli_no_memory(NULL);
    call->argc = argc;
    call->argv = words;
    int status = cli_call_run(call);
    if (fclose(call->out) != 0 && status == CLI_DONE)
        status = cli_no_memory(NULL);
    return status;
}

int px_call(int argc, const char *const *argv, const px_call_io *io, px_call_result *result)
{
    const char *const no_memory = px_status_text(PX_E_NOMEM);
    const px_call_io asked = io_of(io);
    px_call_result made = px_call_result_default();
    px_text text = {0};
    cli_call call = {.io = &asked};
    cli_call_begin(&call);
    const px_taker before = px_take_here((px_taker){call_take, &call});
    call_owned *owned = calloc(1, sizeof *owned);
    made.status = owned ? call_run(&call, argc, argv, &text) : CLI_TROUBLE;
    made.error = owned ? NULL : no_memory;
    made.text = "";
    made.owned = owned;
    if (owned) {
        owned->text = px_text_take(&text);
        owned->json = call.has_result ? px_text_take(&call.result.text) : NULL;
        owned->error = call.failed ? strdup(call.error.message) : NULL;
        made.error = call.failed && !owned->error ? no_memory : owned->error;
        made.json = owned->json;
        made.text = owned->text ? owned->text : "";
        owned->arrays = call.arrays;
        made.arrays = (const px_call_array *const *)owned->arrays;
        made.array_count = owned->array_count = call.array_count;
    }
    px_text_done(&text);
    (void)px_take_here(before);
    cli_call_end(&call);
    result_set(result, &made);
    return made.status;
}

void px_call_done(px_call_result *result)
{
    owned_free(result->owned);
    const px_call_result nothing = px_call_result_default();
    result_set(result, &nothing);
}
