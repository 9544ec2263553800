/* include/plexor/system.h - the program's version, and the machine it runs on */
#ifndef PLEXOR_SYSTEM_H
#define PLEXOR_SYSTEM_H

#include <plexor/error.h>
#include <stdint.h>

PX_BEGIN_DECLS

PX_API const char *px_version(void); /* "0.1.0" */

PX_API double px_clock_s(void);         /* seconds since some fixed moment, never backwards */
PX_API int px_cpu_count(void);          /* cores this process may use, at least 1 */
PX_API int64_t px_peak_rss_bytes(void); /* the most memory this process has had resident */
PX_API int64_t px_memory_bytes(void);   /* of the machine or of the container, what is smaller */

PX_END_DECLS
#endif
