/* include/plexor/system.h - the program's version, the machine it runs on, and a wish to stop */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_SYSTEM_H
#define PLEXOR_SYSTEM_H

#include <plexor/tensor.h>

PX_BEGIN_DECLS

PX_API double px_clock_s(void); /* seconds since some fixed moment, never backwards */
PX_API int px_cpu_count(void);  /* cores this process may use, at least 1 */

/* A program's wish to stop, such as a signal that was caught. While `asked` returns true, whatever
 * runs a network ends between two layers, and other long work soon, with PX_E_CANCELLED; weights
 * and files are left as they were before the step at work. Progress functions that return false end
 * a run in order, after the batches at work; this is for ending it at once. One function for the
 * process, called often and from any thread; NULL, as it is at first: nobody asks. */
PX_API void px_cancel_when(bool (*asked)(void));

/* The same for a part of the process: for what this thread does from now on, and worker threads do
 * for it. `asked` NULL: nobody asks. Returns the one before, for putting it back. */
typedef struct px_canceller {
    bool (*asked)(void *context); /* from any thread */
    void *context;
} px_canceller;
PX_API px_canceller px_cancel_here(px_canceller canceller);

/* Who gets the files named "mem:NAME" that this thread writes, when they are complete: of an NPZ
 * each array with its name; of an NPY its array, and of any other file its bytes as uint8, with the
 * name "". On PX_OK `take` has taken over the tensor's memory. Returns the one before. */
typedef struct px_taker {
    px_status (*take)(void *context, const char *file, const char *name, const px_tensor *tensor,
                      px_error *err);
    void *context;
} px_taker;

PX_API const char *px_version(void); /* "0.1.0" */

PX_END_DECLS
#endif
