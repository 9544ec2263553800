/* src/data/zip.h - .zip files read in place: stored and deflated members, zip64 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_ZIP_H
#define PXI_DATA_ZIP_H

#include <internal/tree.h>

/* Adds the members of tree->zip to the tree. */
px_status pxi_zip_list(pxi_tree *tree, px_error *err);

/* A stored member is a slice of the file (its checksum is not looked at: it may be huge and read
 * sample by sample); a deflated one is unpacked into memory and checked. */
px_status pxi_zip_bytes(const pxi_bytes *zip, const pxi_entry *entry, const char *name,
                        pxi_bytes *out, px_error *err);

/* Reads everything once and compares the checksum. */
px_status pxi_zip_check(const pxi_bytes *member, const pxi_entry *entry, const char *name,
                        px_error *err);

#endif
