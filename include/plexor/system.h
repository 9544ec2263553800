/* include/plexor/system.h - the program's version, the machine it runs on, and a wish to stop */
#ifndef PLEXOR_SYSTEM_H
#define PLEXOR_SYSTEM_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

PX_BEGIN_DECLS

PX_API const char *px_version(void); /* "0.1.0" */

PX_API double px_clock_s(void);         /* seconds since some fixed moment, never backwards */
PX_API int px_cpu_count(void);          /* cores this process may use, at least 1 */
PX_API int64_t px_peak_rss_bytes(void); /* the most memory this process has had resident */
PX_API int64_t px_memory_bytes(void);   /* of the machine or of the container, what is smaller */

/* A program's wish to stop, such as a signal that was caught. While `asked` returns true, whatever
 * runs a network ends between two layers, and other long work soon, with PX_E_CANCELLED; weights
 * and files are left as they were before the step at work. Progress functions that return false end
 * a run in order, after the batches at work; this is for ending it at once. One function for the
 * process, called often and from any thread; NULL, as it is at first: nobody asks. */
PX_API void px_cancel_when(bool (*asked)(void));
PX_API bool px_cancelled(void); /* whether it is asked for now */

PX_END_DECLS
#endif
