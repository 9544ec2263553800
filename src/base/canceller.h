/* src/base/canceller.h - who may end what this thread does, for threads that work for it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_CANCELLER_H
#define PXI_BASE_CANCELLER_H

#include <plexor/system.h>

px_canceller pxi_canceller(void);

#endif
