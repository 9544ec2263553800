/* src/text/mapped_file.h - a large file, read where it lies */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_MAPPED_FILE_H
#define PXI_TEXT_MAPPED_FILE_H

#include <plexor/error.h>

typedef struct px_mapped { /* {0}: none */
    const char *bytes;     /* NULL where the file is empty */
    size_t size;
} px_mapped;

px_status pxi_map_file(const char *path, px_mapped *out, px_error *err);
void pxi_unmap_file(px_mapped *mapped);

#endif
