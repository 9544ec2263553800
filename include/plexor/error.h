/* include/plexor/error.h - status codes, error details, export macros
 *
 * Every fallible function returns a px_status; results come through *out and are set on success
 * only; details go to a caller-owned px_error, the last parameter, which may be NULL.
 *
 *     px_error err = {0};
 *     if (px_model_load("net.onnx", &model, &err) != PX_OK)
 *         fprintf(stderr, "%s\n", err.message);
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_ERROR_H
#define PLEXOR_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
#define PX_BEGIN_DECLS extern "C" {
#define PX_END_DECLS }
#else
#define PX_BEGIN_DECLS
#define PX_END_DECLS
#endif

#if defined(__GNUC__)
#define PX_API __attribute__((visibility("default")))
#define PX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PX_API
#define PX_PRINTF(fmt, args)
#endif

PX_BEGIN_DECLS

/* X(name, number, text): the one list that names, numbers and texts come from. Numbers never
 * change. 1 to 4 are the caller's to mend (exit status 2), 5 to 8 are trouble (exit status 3). */
#define PX_STATUSES(X)                                \
    X(PX_OK, 0, "done")                               \
    X(PX_E_USAGE, 1, "wrong usage")                   \
    X(PX_E_INPUT, 2, "unusable input")                \
    X(PX_E_UNSUPPORTED, 3, "not supported")           \
    X(PX_E_MISMATCH, 4, "things do not fit together") \
    X(PX_E_IO, 5, "input or output failed")           \
    X(PX_E_NOMEM, 6, "out of memory")                 \
    X(PX_E_CANCELLED, 7, "cancelled")                 \
    X(PX_E_INTERNAL, 8, "internal error")

typedef enum px_status {
#define PX_STATUS_ENUM(name, number, text) name = number,
    PX_STATUSES(PX_STATUS_ENUM)
#undef PX_STATUS_ENUM
} px_status;

typedef struct px_error {
    px_status status;
    char message[512]; /* one sentence: what, where, what next; no full stop */
} px_error;

/* Fills *err (may be NULL) and returns `status`, so that `return px_fail(...)` reads as one step.
 */
PX_API px_status px_fail(px_error *err, px_status status, const char *format, ...) PX_PRINTF(3, 4);

/* Puts "WHERE: " before the message already in *err; for callers that know the file or node. */
PX_API px_status px_fail_in(px_error *err, px_status status, const char *format, ...)
    PX_PRINTF(3, 4);

PX_API const char *px_status_name(px_status status); /* "PX_E_INPUT" */
PX_API const char *px_status_text(px_status status); /* "unusable input" */

/* Passes a failure up unchanged. */
#define PX_TRY(call)                      \
    do {                                  \
        const px_status px_try_ = (call); \
        if (px_try_ != PX_OK)             \
            return px_try_;               \
    } while (0)

/* One of several steps after which something is given back: taken only where all before it went
 * well. What has nothing to give back says PX_TRY(). */
#define PX_THEN(status, call)  \
    do {                       \
        if ((status) == PX_OK) \
            (status) = (call); \
    } while (0)
/* The same where a step is needed only sometimes; `wanted` is looked at where all went well. */
#define PX_THEN_IF(status, wanted, call) PX_THEN(status, (wanted) ? (call) : PX_OK)

PX_END_DECLS
#endif
