/* src/data/npz.h - .npz from any bytes; the public functions take paths */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_NPZ_H
#define PXI_DATA_NPZ_H

#include <internal/bytes.h>
#include <plexor/data.h>

/* All arrays of a file that is read at once; a data set is read sample by sample instead. */
#define PXI_NPZ_MAX ((uint64_t)64 << 30)

/* Takes over `bytes` in any case. */
px_status pxi_npz_read(const char *name, pxi_bytes *bytes, px_npz **out, px_error *err);

#endif
