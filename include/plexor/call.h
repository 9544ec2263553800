/* include/plexor/call.h - the command line as a function: the door for other languages
 *
 *     const char *words[] = {"list", "archs", "--json"};
 *     px_call_result result = px_call_result_default();
 *     const int status = px_call(3, words, NULL, &result);
 *     puts(status == 0 ? result.json : result.error);
 *     px_call_done(&result);
 *
 * Every command and option of the program `plexor` but `study` works here, and gives the same
 * bytes. Nothing is written to stdout or stderr, no signal handler is set, and the process never
 * ends. `plexor help --json` describes commands, options and their defaults, so that a wrapper can
 * be made from it.
 *
 * Calls may be made in any number of threads at once; the callbacks of a call come from the thread
 * that made it, `cancelled` from its worker threads too. A call may be made in a callback.
 *
 * Structs that cross this door begin with their size and only ever grow at the end: a program that
 * was built with an older header goes on working.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CALL_H
#define PLEXOR_CALL_H

#include <plexor/tensor.h>

PX_BEGIN_DECLS

/* Rises when a program built before would go wrong with this library. */
#define PX_ABI_VERSION 1
PX_API int px_abi_version(void); /* of the library at hand */

/* How far some work is. */
typedef struct px_call_progress {
    size_t size;
    const char *label;   /* "eval" */
    int64_t done, total; /* total 0: nobody knows */
    const char *text;    /* more to say, a line; NULL: nothing */
} px_call_progress;

/* An input that a network gets wrong, as a campaign has it from now on. All is borrowed. */
typedef struct px_call_finding {
    size_t size;
    const char *json;          /* "id", "label", "prediction" ...: docs/campaign.md has them */
    px_tensor input, original; /* of the campaign's type and shape, planes */
} px_call_finding;

/* What a caller wants to hear and decide. Every function may be NULL; strings are borrowed for the
 * time of the call of the function. */
typedef struct px_call_io {
    size_t size;
    void *context; /* handed to the functions */
    /* Some ten times a second, and once when all is done. Returns false to end the work in order,
     * after the batches at work. */
    bool (*progress)(void *context, const px_call_progress *progress);
    /* What the program says on stderr, a sentence. */
    void (*remark)(void *context, const char *sentence);
    /* Asked often, and by any thread: true ends networks between two layers. */
    bool (*cancelled)(void *context);
    /* For callers whose functions take long to call: as soon as it is not 0, which another thread
     * or a signal handler sees to, that is as if cancelled() were true. NULL: there is none. */
    const volatile int *stop;
    /* A failure was committed to the campaign that the command writes. Returns false to end the
     * work in order. */
    bool (*found)(void *context, const px_call_finding *finding);
} px_call_io;

/* What a command was told to write into a file "mem:NAME", as in `-o mem:probs.npz`: each array of
 * an NPZ; of an NPY its array, and of any other file its bytes (uint8), with the name "". */
typedef struct px_call_array {
    size_t size;
    const char *file; /* "probs.npz" */
    const char *name; /* "probabilities" */
    px_tensor tensor;
} px_call_array;

typedef struct px_call_result {
    size_t size;
    void *owned;       /* all that is below; the library's */
    int status;        /* 0 to 3, the exit status; `plexor help eval` says what they mean */
    const char *error; /* why it failed, one sentence; NULL: it did not */
    const char *json;  /* what --json prints; NULL where it was not given */
    const char *text;  /* what else the program prints on stdout; "" is nothing */
    size_t array_count;
    const px_call_array *const *arrays; /* in the order in which they came */
} px_call_result;

/* The words of a command line behind `plexor`: the command first. `io` may be NULL. Returns
 * result->status; *result is to be given back with px_call_done() whatever that is. */
PX_API int px_call(int argc, const char *const *argv, const px_call_io *io, px_call_result *result);
PX_API void px_call_done(px_call_result *result); /* leaves it as it was before */

/* The program `plexor`: main()'s words, stdout, stderr, Ctrl-C and all; returns the exit status. */
PX_API int px_main(int argc, char **argv);

static inline px_call_io px_call_io_default(void)
{
    const px_call_io io = {sizeof io, NULL, NULL, NULL, NULL, NULL, NULL};
    return io;
}

static inline px_call_result px_call_result_default(void)
{
    const px_call_result result = {sizeof result, NULL, 0, NULL, NULL, NULL, 0, NULL};
    return result;
}

PX_END_DECLS
#endif
