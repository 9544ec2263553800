/* src/base/foreign.h - files of other programs, told by what is in them
 *
 * Whoever has a network in another format should read how to export it, not that the file is
 * damaged; the same for data.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_FOREIGN_H
#define PXI_BASE_FOREIGN_H

#include <plexor/error.h>

typedef enum pxi_wanted { PXI_WANTED_NETWORK, PXI_WANTED_DATA } pxi_wanted;

/* PX_OK where the bytes are nothing that is known here, else PX_E_UNSUPPORTED, with a message that
 * says what they are and what to do about it. The beginning of a file will do; of archives more
 * tells more. */
px_status pxi_foreign_check(const void *bytes, size_t size, pxi_wanted wanted, px_error *err);

/* The same for a file, and for a folder that a network was saved as. */
px_status pxi_foreign_check_file(const char *path, pxi_wanted wanted, px_error *err);

#endif
