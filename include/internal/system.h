/* include/internal/system.h - <plexor/system.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SYSTEM_H
#define PXI_INTERNAL_SYSTEM_H

#include <plexor/system.h>

PX_BEGIN_DECLS

int64_t px_peak_rss_bytes(void); /* the most memory this process has had resident */

int64_t px_memory_bytes(void); /* of the machine or of the container, what is smaller */

/* Before anything asks: what this process may use of both, where others share the machine. */
void pxi_system_share(int cores, int64_t memory_bytes);

bool px_cancelled(void); /* whether it is asked for now */

px_taker px_take_here(px_taker taker);

PX_END_DECLS
#endif
