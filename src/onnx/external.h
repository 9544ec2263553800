/* src/onnx/external.h - tensor data that lies in other files of the model's folder */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ONNX_EXTERNAL_H
#define PXI_ONNX_EXTERNAL_H

#include <plexor/error.h>
#include <stdint.h>

#include "onnx/onnx.pb-c.h"

typedef struct pxi_external {
    const char *folder; /* NULL: external data is refused; "" is the working directory */
    struct pxi_mapping *mappings;
    uint64_t hash; /* of all ranges handed out; starts as that of the model file */
} pxi_external;

/* The tensor's `bytes` bytes in a read-only mapping that lasts until pxi_external_done(). The file
 * must be a regular one inside the folder: absolute paths, "..", and symbolic links that lead
 * outside are refused. */
px_status pxi_external_find(pxi_external *external, const Onnx__TensorProto *tensor, size_t bytes,
                            const void **data, px_error *err);
void pxi_external_done(pxi_external *external);

/* How files are opened on kernels without openat2: one part of the path after the other, following
 * no link at all. The path is relative and has no "..". -1 and errno on failure. */
int pxi_external_open_plain(int folder, const char *location);

#endif
