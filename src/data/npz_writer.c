/* src/data/npz_writer.c - .npz files: stored members, the same bytes for the same arrays
 *
 * As numpy.savez writes them, but with a fixed time stamp (1980-01-01) and without extra fields
 * where none are needed. The checksum of a member is known at its end only and is then written into
 * the header before it, so the target must be a file. Sizes beyond 32 bits use zip64.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>
#include <internal/tensor.h>

#include "base/file.h"
#include "base/mem_names.h"
#include "base/memory.h"
#include "data/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { ZIP_DATE = 0x21, ZIP64_VERSION = 45, ZIP_VERSION = 20 };
#define ZIP32_MAX ((uint64_t)0xffffffff)

typedef struct npz_member {
    char *name; /* with ".npy" */
    uint64_t place, size;
    uint32_t crc;
    px_tensor tensor; /* in memory only */
} npz_member;

struct px_npz_writer {
    px_file_writer file; /* of "mem:NAME" its path alone: arrays are given away, not written */
    bool in_memory;
    npz_member *members;
    size_t count, capacity;
    uint64_t at;   /* end of the file so far */
    uint64_t left; /* bytes still missing from the last member */
};

typedef struct zip_record {
    uint8_t bytes[96];
    size_t size;
} zip_record;

static void put(zip_record *record, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        record->bytes[record->size++] = (uint8_t)(value >> 8 * i);
}

static void npz_emit(px_npz_writer *writer, const void *bytes, size_t size)
{
    if (size)
        fwrite(bytes, 1, size, writer->file.stream); /* errors are found at commit */
    writer->at += size;
}

px_status px_npz_create(const char *path, px_npz_writer **out, px_error *err)
{
    px_npz_writer *writer = NULL;
    PX_TRY(PX_NEW(writer, 1, err));
    writer->in_memory = pxi_mem_is_name(path);
    const px_status status = pxi_file_create(path, &writer->file, err);
    return PX_GIVE(status, writer, out, free);
}

px_status px_npz_create_bytes(px_npz_writer **out, px_error *err)
{
    px_npz_writer *writer = NULL;
    PX_TRY(PX_NEW(writer, 1, err));
    const px_status status = pxi_file_create_bytes("what ranks exchange", &writer->file, err);
    if (status == PX_OK)
        *out = writer;
    else
        free(writer);
    return status;
}

static void npz_free(px_npz_writer *writer)
{
    pxi_file_abandon(&writer->file);
    for (size_t i = 0; i < writer->count; i++) {
        px_tensor_done(&writer->members[i].tensor);
        free(writer->members[i].name);
    }
    free(writer->members);
    free(writer);
}

/* The fields that local and central headers share, from "version needed" to "uncompressed size". */
static void put_common(zip_record *record, const npz_member *member)
{
    const bool large = member->size >= ZIP32_MAX;
    put(record, large ? ZIP64_VERSION : ZIP_VERSION, 2);
    put(record, 0x0800, 2); /* names are UTF-8 */
    put(record, 0, 2);      /* stored */
    put(record, 0, 2);
    put(record, ZIP_DATE, 2);
    put(record, member->crc, 4);
    put(record, large ? ZIP32_MAX : member->size, 4);
    put(record, large ? ZIP32_MAX : member->size, 4);
    put(record, strlen(member->name), 2);
}

static zip_record local_header(const npz_member *member)
{
    zip_record record = {.size = 0};
    put(&record, 0x04034b50, 4);
    put_common(&record, member);
    put(&record, member->size >= ZIP32_MAX ? 20 : 0, 2);
    return record;
}

static zip_record local_extra(const npz_member *member)
{
    zip_record record = {.size = 0};
    if (member->size < ZIP32_MAX)
        return record;
    put(&record, 1, 2);
    put(&record, 16, 2);
    put(&record, member->size, 8);
    put(&record, member->size, 8);
    return record;
}

px_status px_npz_begin(px_npz_writer *writer, const char *name, px_dtype dtype,
                       const px_shape *shape, px_error *err)
{
    uint8_t header[PXI_NPY_HEADER_MAX];
    PX_TRY(px_shape_check(shape, err));
    if (writer->left)
        return px_fail(err, PX_E_INTERNAL, "'%s': array '%s' lacks %llu bytes", writer->file.path,
                       writer->members[writer->count - 1].name, (unsigned long long)writer->left);
    if (px_dtype_size(dtype) == 0 || strlen(name) == 0 || strlen(name) > 4000)
        return px_fail(err, PX_E_USAGE, "'%s': array '%.100s' cannot be stored", writer->file.path,
                       name);
    const size_t room = strlen(name) + sizeof ".npy";
    char *copy = pxi_calloc(room, 1);
    if (!copy || pxi_grow(&writer->members, &writer->capacity, writer->count + 1,
                          sizeof *writer->members) != 0) {
        free(copy);
        return pxi_no_memory(err);
    }
    snprintf(copy, room, "%s.npy", name);
    const size_t header_size = pxi_npy_format(dtype, shape, header);
    npz_member *member = &writer->members[writer->count++];
    *member = (npz_member){.name = copy, .place = writer->at};
    writer->left = (uint64_t)px_shape_count(shape) * px_dtype_size(dtype);
    member->size = header_size + writer->left;
    if (writer->in_memory)
        return px_tensor_init(&member->tensor, dtype, shape, err);
    const zip_record local = local_header(member), extra = local_extra(member);
    npz_emit(writer, local.bytes, local.size);
    npz_emit(writer, copy, room - 1);
    npz_emit(writer, extra.bytes, extra.size);
    member->crc = (uint32_t)crc32(0, header, (uInt)header_size);
    npz_emit(writer, header, header_size);
    return px_npz_write(writer, NULL, 0, err); /* an empty array is complete at once */
}

px_status px_npz_write(px_npz_writer *writer, const void *bytes, size_t size, px_error *err)
{
    npz_member *member = writer->count ? &writer->members[writer->count - 1] : NULL;
    const uint8_t *at = bytes;
    if (!member || size > writer->left)
        return px_fail(err, PX_E_INTERNAL, "'%s': %zu bytes more than the array has",
                       writer->file.path, size);
    if (writer->in_memory && size) {
        const size_t whole = px_tensor_bytes(&member->tensor);
        memcpy((uint8_t *)member->tensor.data + (whole - writer->left), bytes, size);
    }
    writer->left -= size;
    if (writer->in_memory)
        return PX_OK;
    npz_emit(writer, bytes, size);
    for (size_t left = size; left > 0;) {
        const uInt n = (uInt)PX_MIN(left, (size_t)1 << 30);
        member->crc = (uint32_t)crc32(member->crc, at, n);
        at += n;
        left -= n;
    }
    if (writer->left)
        return PX_OK;
    const zip_record local = local_header(member); /* again, now with the checksum */
    FILE *stream = writer->file.stream;
    if (fseeko(stream, (off_t)member->place, SEEK_SET) != 0 ||
        fwrite(local.bytes, 1, local.size, stream) != local.size ||
        fseeko(stream, (off_t)writer->at, SEEK_SET) != 0)
        return px_fail(err, PX_E_IO, "'%s': cannot write: %s", writer->file.path, strerror(errno));
    return PX_OK;
}

px_status px_npz_add(px_npz_writer *writer, const char *name, const px_tensor *tensor,
                     px_error *err)
{
    PX_TRY(px_npz_begin(writer, name, tensor->dtype, &tensor->shape, err));
    const size_t size = px_tensor_bytes(tensor);
    return size ? px_npz_write(writer, tensor->data, size, err) : PX_OK;
}

static void npz_central(px_npz_writer *writer, const npz_member *member)
{
    const bool large = member->size >= ZIP32_MAX, far = member->place >= ZIP32_MAX;
    zip_record record = {.size = 0}, extra = {.size = 0};
    if (large || far) {
        put(&extra, 1, 2);
        put(&extra, (large ? 16u : 0u) + (far ? 8u : 0u), 2);
        if (large) {
            put(&extra, member->size, 8);
            put(&extra, member->size, 8);
        }
        if (far)
            put(&extra, member->place, 8);
    }
    put(&record, 0x02014b50, 4);
    put(&record, 3 << 8 | ZIP64_VERSION, 2); /* made on Unix */
    put_common(&record, member);
    put(&record, extra.size, 2);
    put(&record, 0, 2 + 2 + 2);               /* comment, disk, internal attributes */
    put(&record, (uint64_t)0100644 << 16, 4); /* an ordinary file */
    put(&record, far ? ZIP32_MAX : member->place, 4);
    npz_emit(writer, record.bytes, record.size);
    npz_emit(writer, member->name, strlen(member->name));
    npz_emit(writer, extra.bytes, extra.size);
}

static void npz_end(px_npz_writer *writer)
{
    const uint64_t start = writer->at;
    for (size_t i = 0; i < writer->count; i++)
        npz_central(writer, &writer->members[i]);
    const uint64_t size = writer->at - start, count = writer->count;
    const bool large = start >= ZIP32_MAX || size >= ZIP32_MAX || count >= 0xffff;
    zip_record record = {.size = 0};
    if (large) {
        const uint64_t place = writer->at;
        put(&record, 0x06064b50, 4);
        put(&record, 44, 8);
        put(&record, 3 << 8 | ZIP64_VERSION, 2);
        put(&record, ZIP64_VERSION, 2);
        put(&record, 0, 8); /* this disk, the directory's disk */
        put(&record, count, 8);
        put(&record, count, 8);
        put(&record, size, 8);
        put(&record, start, 8);
        put(&record, 0x07064b50, 4); /* the locator */
        put(&record, 0, 4);
        put(&record, place, 8);
        put(&record, 1, 4);
        npz_emit(writer, record.bytes, record.size);
        record.size = 0;
    }
    put(&record, 0x06054b50, 4);
    put(&record, 0, 4);
    put(&record, large ? 0xffff : count, 2);
    put(&record, large ? 0xffff : count, 2);
    put(&record, large ? ZIP32_MAX : size, 4);
    put(&record, large ? ZIP32_MAX : start, 4);
    put(&record, 0, 2);
    npz_emit(writer, record.bytes, record.size);
}

static px_status npz_give(px_npz_writer *writer, px_error *err)
{
    px_status status = PX_OK;
    for (size_t i = 0; i < writer->count && status == PX_OK; i++) {
        npz_member *member = &writer->members[i];
        member->name[strlen(member->name) - strlen(".npy")] = '\0';
        status = pxi_mem_give(writer->file.path, member->name, &member->tensor, err);
    }
    return status;
}

px_status px_npz_commit(px_npz_writer *writer, px_error *err)
{
    px_status status;
    if (writer->left) {
        status = px_fail(err, PX_E_INTERNAL, "'%s': array '%s' lacks %llu bytes", writer->file.path,
                         writer->members[writer->count - 1].name, (unsigned long long)writer->left);
    } else if (writer->in_memory) {
        status = npz_give(writer, err);
    } else {
        npz_end(writer);
        status = pxi_file_commit(&writer->file, err);
    }
    npz_free(writer);
    return status;
}

px_status px_npz_take_bytes(px_npz_writer *writer, char **bytes, size_t *size, px_error *err)
{
    npz_end(writer);
    const px_status status = pxi_file_take(&writer->file, bytes, size, err);
    npz_free(writer);
    return status;
}

void px_npz_abandon(px_npz_writer *writer)
{
    if (writer)
        npz_free(writer);
}
