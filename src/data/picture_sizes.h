/* src/data/picture_sizes.h - which pictures are of another size than the first one
 *
 * Sizes are known once pictures were decoded, so this fills as they are read; nothing is read for
 * it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_PICTURE_SIZES_H
#define PXI_DATA_PICTURE_SIZES_H

#include <plexor/error.h>
#include <stdint.h>

typedef struct pxi_picture_sizes pxi_picture_sizes;

px_status pxi_picture_sizes_new(int64_t pictures, int width, int height, pxi_picture_sizes **out,
                                px_error *err);
void pxi_picture_sizes_free(pxi_picture_sizes *sizes); /* NULL is fine */
void pxi_picture_sizes_see(pxi_picture_sizes *sizes, int64_t index, int width, int height);

#endif
