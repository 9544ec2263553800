/* src/onnx/decode.h - bytes to protobuf-c messages, safely
 *
 * protobuf-c's unpacker recurses as deep as a file nests, merges repeated occurrences of a singular
 * message in quadratic time, and allocates hundreds of bytes for two on the wire. So the bytes are
 * walked first (structure, depth, lengths, texts), and the unpacker works on a budget.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ONNX_DECODE_H
#define PXI_ONNX_DECODE_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

#include "onnx/onnx.pb-c.h"

enum {
    PXI_PB_MAX_BYTES = 0x7fffffff, /* protobuf's own limit */
    PXI_PB_MAX_DEPTH = 100,        /* messages inside messages */
    PXI_PB_MAX_NAME = 4096,        /* bytes of a text that names something */
    PXI_PB_MAX_TEXT = 1 << 20,     /* bytes of documentation or of a metadata value */
};

/* Decoding may take PXI_PB_BUDGET_BASE bytes and this many times the size of the file: a packed
 * integer of one byte on the wire is eight in memory. */
#define PXI_PB_BUDGET_BASE ((size_t)64 << 20)
#define PXI_PB_BUDGET_FACTOR 8

typedef struct pxi_pb {
    ProtobufCMessage *message;
    ProtobufCAllocator allocator;
    size_t left;        /* of the budget */
    int failure;        /* an enum of decode.c */
    const void *mapped; /* the file's bytes, whose pages can be had again; NULL: they cannot */
    size_t mapped_size, taken; /* taken: bytes since they were let go */
} pxi_pb;

/* On PX_OK *out is to be returned with pxi_pb_free(). `bytes` are not needed any more. `mapped`:
 * they are those of a mapped file, whose pages are let go on the way, so that a network is not in
 * memory twice. */
px_status pxi_pb_decode(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                        bool mapped, pxi_pb **out, px_error *err);
void pxi_pb_free(pxi_pb *pb); /* NULL is fine */

#endif
