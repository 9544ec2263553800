/* src/onnx/decode.c - bytes to protobuf-c messages, safely */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/decode.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- the walk: is this what protobuf calls a message, and is it sane? ------------------------ */

typedef struct wire {
    const uint8_t *start, *at, *end;
    px_error *err;
} wire;

static px_status wire_fail(const wire *in, const ProtobufCMessageDescriptor *type, const char *what)
{
    return px_fail(
        in->err, PX_E_INPUT,
        "damaged or not an ONNX file: %s in a %s at byte %zu; get a fresh copy of the file", what,
        type->short_name, (size_t)(in->at - in->start));
}

static bool wire_varint(wire *in, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && in->at < in->end; shift += 7) {
        const uint8_t byte = *in->at++;
        if (shift < 64)
            *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static bool wire_type_fits(const ProtobufCFieldDescriptor *field, unsigned wire_type)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return wire_type == WIRE_BYTES;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return wire_type == WIRE_32 ||
               (wire_type == WIRE_BYTES && field->label == PROTOBUF_C_LABEL_REPEATED);
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return wire_type == WIRE_64 ||
               (wire_type == WIRE_BYTES && field->label == PROTOBUF_C_LABEL_REPEATED);
    default:
        return wire_type == WIRE_VARINT ||
               (wire_type == WIRE_BYTES && field->label == PROTOBUF_C_LABEL_REPEATED);
    }
}

static px_status wire_message(wire *in, const ProtobufCMessageDescriptor *type, int depth);

/* A length-delimited field's content, `length` bytes from in->at on; moves past it. */
static px_status wire_content(wire *in, const ProtobufCMessageDescriptor *type,
                              const ProtobufCFieldDescriptor *field, size_t length, int depth)
{
    if (field && field->type == PROTOBUF_C_TYPE_STRING) {
        if (memchr(in->at, 0, length))
            return wire_fail(in, type, "a text with a NUL byte");
        const bool is_name =
            strcmp(field->name, "doc_string") != 0 && strcmp(field->name, "value") != 0;
        if (length > (is_name ? PXI_PB_MAX_NAME : PXI_PB_MAX_TEXT))
            return wire_fail(
                in, type, is_name ? "a name of more than 4096 bytes" : "a text of more than 1 MiB");
    }
    if (field && field->type == PROTOBUF_C_TYPE_MESSAGE) {
        wire inner = {.start = in->start, .at = in->at, .end = in->at + length, .err = in->err};
        PX_TRY(wire_message(&inner, field->descriptor, depth + 1));
    }
    in->at += length;
    return PX_OK;
}

static px_status wire_message(wire *in, const ProtobufCMessageDescriptor *type, int depth)
{
    if (depth > PXI_PB_MAX_DEPTH)
        return wire_fail(in, type, "more than 100 messages inside each other");
    uint64_t seen = 0; /* singular messages met so far, by their place in the descriptor */
    while (in->at < in->end) {
        uint64_t tag, number;
        if (!wire_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
            return wire_fail(in, type, "a bad field number");
        const unsigned wire_type = tag & 7;
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
        if (field && !wire_type_fits(field, wire_type))
            return wire_fail(in, type, "a field of the wrong kind");
        if (field && field->type == PROTOBUF_C_TYPE_MESSAGE &&
            field->label != PROTOBUF_C_LABEL_REPEATED) {
            const size_t place = (size_t)(field - type->fields);
            if (place >= 64 || seen >> place & 1)
                return wire_fail(in, type, "a field that is there twice");
            seen |= (uint64_t)1 << place;
        }
        const size_t left = (size_t)(in->end - in->at);
        switch (wire_type) {
        case WIRE_VARINT:
            if (!wire_varint(in, &number))
                return wire_fail(in, type, "a number that does not end");
            break;
        case WIRE_64:
        case WIRE_32: {
            const size_t width = wire_type == WIRE_64 ? 8 : 4;
            if (left < width)
                return wire_fail(in, type, "a number that is cut off");
            in->at += width;
            break;
        }
        case WIRE_BYTES:
            if (!wire_varint(in, &number) || number > (uint64_t)(in->end - in->at))
                return wire_fail(in, type, "a length beyond the bytes that are left");
            PX_TRY(wire_content(in, type, field, (size_t)number, depth));
            break;
        default:
            return wire_fail(in, type, "an unknown kind of field");
        }
    }
    return PX_OK;
}

/* --- the budget ------------------------------------------------------------------------------ */

enum { PB_FINE, PB_OVER_BUDGET, PB_NO_MEMORY };

/* In front of every block, so that freeing gives back to the budget; keeps malloc's alignment. */
typedef union pb_header {
    size_t size;
    max_align_t align;
} pb_header;

enum { PB_LET_GO = 16 << 20 }; /* bytes that may be there twice */

static void *pb_alloc(void *data, size_t size)
{
    pxi_pb *pb = data;
    if (size > pb->left || pb->left - size < sizeof(pb_header)) {
        pb->failure = PB_OVER_BUDGET;
        return NULL;
    }
    pb_header *header = malloc(sizeof *header + size);
    if (!header) {
        pb->failure = PB_NO_MEMORY;
        return NULL;
    }
    pb->left -= sizeof *header + size;
    header->size = size;
    pb->taken += size;
    if (pb->mapped && pb->taken > PB_LET_GO) {
        union {
            const void *from;
            void *to;
        } alias = {.from = pb->mapped};
        madvise(alias.to, pb->mapped_size, MADV_DONTNEED); /* what is read again comes again */
        pb->taken = 0;
    }
    return header + 1;
}

static void pb_free(void *data, void *block)
{
    if (!block)
        return;
    pxi_pb *pb = data;
    pb_header *header = (pb_header *)block - 1;
    pb->left += sizeof *header + header->size;
    free(header);
}

px_status pxi_pb_decode(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                        bool mapped, pxi_pb **out, px_error *err)
{
    if (size > PXI_PB_MAX_BYTES)
        return px_fail(err, PX_E_INPUT,
                       "%zu bytes are more than a protobuf may have (2 GiB); save the model with "
                       "external data",
                       size);
    wire in = {.start = bytes, .at = bytes, .err = err};
    in.end = in.start + size;
    PX_TRY(wire_message(&in, type, 0));

    pxi_pb *pb = NULL;
    PX_TRY(PX_NEW(pb, 1, err));
    pb->allocator = (ProtobufCAllocator){.alloc = pb_alloc, .free = pb_free, .allocator_data = pb};
    pb->left = PXI_PB_BUDGET_BASE + PXI_PB_BUDGET_FACTOR * size;
    pb->mapped = mapped ? bytes : NULL;
    pb->mapped_size = size;
    pb->message = protobuf_c_message_unpack(type, &pb->allocator, size, bytes);
    pb->mapped = NULL;
    if (pb->message) {
        *out = pb;
        return PX_OK;
    }
    const int failure = pb->failure;
    free(pb);
    if (failure == PB_NO_MEMORY)
        return pxi_no_memory_for(err, "a file of %zu bytes", size);
    if (failure == PB_OVER_BUDGET)
        return px_fail(err, PX_E_INPUT,
                       "%zu bytes would take more than %zu in memory; no honest model does that",
                       size, PXI_PB_BUDGET_BASE + PXI_PB_BUDGET_FACTOR * size);
    return px_fail(err, PX_E_INPUT,
                   "damaged or not an ONNX file: no %s could be made of it; get a fresh copy",
                   type->short_name);
}

void pxi_pb_free(pxi_pb *pb)
{
    if (!pb)
        return;
    if (pb->message)
        protobuf_c_message_free_unpacked(pb->message, &pb->allocator);
    free(pb);
}
