/* src/base/canceller.h - who may end what this thread does, for threads that work for it */
#ifndef PXI_BASE_CANCELLER_H
#define PXI_BASE_CANCELLER_H

#include <plexor/system.h>

px_canceller pxi_canceller(void);

#endif
