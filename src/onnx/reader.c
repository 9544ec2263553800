/* src/onnx/reader.c - from a file or bytes to a model */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include "base/file.h"
#include "base/foreign.h"
#include "base/mem_names.h"
#include "base/memory.h"

#include <internal/model.h>
#include <internal/tensor.h>

#include <fcntl.h>
#include <internal/onnx.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* What a model from an ONNX file keeps alive besides its arena. */
typedef struct onnx_source {
    pxi_pb *pb;
    pxi_external external;
} onnx_source;

static void source_release(void *owned)
{
    onnx_source *source = owned;
    pxi_pb_free(source->pb);
    pxi_external_done(&source->external);
    free(source);
}

const char *px_model_warnings(const px_model *model)
{
    return model->warnings ? model->warnings : "";
}

static px_status read_header(px_model *model, const Onnx__ModelProto *proto, px_error *err)
{
    if (!proto->graph)
        return px_fail(err, PX_E_INPUT, "holds no graph; is it an ONNX model?");
    if (proto->ir_version < 0 || proto->ir_version > INT_MAX)
        return px_fail(err, PX_E_INPUT, "has the impossible IR version %" PRId64,
                       proto->ir_version);
    model->ir_version = (int)proto->ir_version;
    model->producer = pxi_text(proto->producer_name);
    model->opset = pxi_onnx_opset(proto->opset_import, proto->n_opset_import, "");
    if (!model->opset)
        model->opset = pxi_onnx_implied_opset(proto);
    if (model->opset > PXI_ONNX_NEWEST_OPSET) {
        char text[160];
        snprintf(text, sizeof text,
                 "opset %d is newer than the newest that plexor knows (%d); operators that changed "
                 "since may behave differently\n",
                 model->opset, PXI_ONNX_NEWEST_OPSET);
        model->warnings = pxi_arena_strdup(model->arena, text);
        if (!model->warnings)
            return pxi_no_memory(err);
    }
    px_property *properties = NULL;
    PX_TRY(PX_ARENA_NEW(properties, model->arena, proto->n_metadata_props, err));
    for (size_t i = 0; i < proto->n_metadata_props; i++)
        properties[i] = (px_property){.key = pxi_text(proto->metadata_props[i]->key),
                                      .value = pxi_text(proto->metadata_props[i]->value)};
    model->properties = properties;
    model->property_count = proto->n_metadata_props;
    return PX_OK;
}

/* `folder` is NULL where external data is not allowed. */
static px_status read_model(const void *bytes, size_t size, bool mapped, const char *path,
                            const char *folder, px_model **out, px_error *err)
{
    px_status status = PX_OK;
    px_model *model = pxi_calloc(1, sizeof *model);
    onnx_source *source = pxi_calloc(1, sizeof *source);
    if (!model || !source || !(model->arena = pxi_arena_new()) ||
        !(model->path = pxi_arena_strdup(model->arena, path))) {
        free(source);
        status = pxi_no_memory(err);
        goto done;
    }
    model->owned = source;
    model->release = source_release;
    source->external.folder = folder;
    source->external.hash = XXH3_64bits(bytes, size);

    status = pxi_pb_decode(&onnx__model_proto__descriptor, bytes, size, mapped, &source->pb, err);
    if (status != PX_OK)
        goto done;
    const Onnx__ModelProto *proto = (const Onnx__ModelProto *)source->pb->message;
    status = read_header(model, proto, err);
    PX_THEN(status, pxi_model_read_classes(model, err));
    PX_THEN(status, pxi_onnx_build(model, proto, &source->external, err));
    if (status != PX_OK)
        goto done;
    model->hash = source->external.hash;
    source->external.folder = NULL; /* the caller's; not needed any more */
    *out = model;
    model = NULL;
done:
    px_model_free(model);
    return status;
}

/* Why bytes are no ONNX: because they are something else, if that can be told. */
static px_status read_explain(const void *bytes, size_t size, px_status status, px_error *err)
{
    if (status != PX_E_INPUT)
        return status;
    const px_status foreign = pxi_foreign_check(bytes, size, PXI_WANTED_NETWORK, err);
    return foreign == PX_OK ? status : foreign;
}

px_status px_model_parse(const void *bytes, size_t size, const char *name, px_model **out,
                         px_error *err)
{
    px_status status = read_model(bytes, size, false, "", NULL, out, err);
    status = read_explain(bytes, size, status, err);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", name);
}

/* --- networks in memory ---------------------------------------------------------------------- */

typedef struct model_bytes {
    atomic_int owners;
    size_t size;
    unsigned char bytes[];
} model_bytes;

static void bytes_retain(void *thing)
{
    atomic_fetch_add(&((model_bytes *)thing)->owners, 1);
}

static void bytes_release(void *thing)
{
    if (atomic_fetch_sub(&((model_bytes *)thing)->owners, 1) == 1)
        free(thing);
}

static const pxi_mem_kind mem_model = {"network", bytes_retain, bytes_release};

px_status px_mem_put_model(const char *name, const void *bytes, size_t size, px_error *err)
{
    if (size > PXI_PB_MAX_BYTES)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': %zu bytes are too many for a network", name,
                       size);
    model_bytes *model = pxi_calloc(1, sizeof *model + size);
    if (!model)
        return pxi_no_memory(err);
    atomic_init(&model->owners, 1);
    model->size = size;
    memcpy(model->bytes, bytes, size);
    const px_status status = pxi_mem_put(name, &mem_model, model, err);
    if (status != PX_OK)
        bytes_release(model);
    return status;
}

static px_status load_mem(const char *path, px_model **out, px_error *err)
{
    void *thing = NULL;
    PX_TRY(pxi_mem_take(path, &mem_model, &thing, err));
    const model_bytes *model = thing;
    px_status status = read_model(model->bytes, model->size, false, path, NULL, out, err);
    status = read_explain(model->bytes, model->size, status, err);
    bytes_release(thing);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", path);
}

/* A regular file's bytes; NULL: it is to be read, or what is wrong with it found out, otherwise. */
static char *file_map(const char *path, size_t *size)
{
    struct stat facts;
    void *bytes = MAP_FAILED;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 &&
        facts.st_size <= PXI_PB_MAX_BYTES) {
        *size = (size_t)facts.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return bytes == MAP_FAILED ? NULL : bytes;
}

px_status px_model_load(const char *path, px_model **out, px_error *err)
{
    if (pxi_mem_is_name(path))
        return load_mem(path, out, err);
    char *folder = NULL;
    size_t size = 0;
    char *const map = file_map(path, &size), *bytes = map;
    px_status status = map ? PX_OK : pxi_file_read(path, PXI_PB_MAX_BYTES, &bytes, &size, err);
    if (status == PX_E_INPUT && pxi_foreign_check_file(path, PXI_WANTED_NETWORK, err) != PX_OK)
        return px_fail_in(err, PX_E_UNSUPPORTED, "'%s'", path);
    if (status != PX_OK)
        return status;
    const char *slash = strrchr(path, '/');
    folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
    if (!folder)
        status = pxi_no_memory(err);
    else
        status = read_model(bytes, size, map != NULL, path, folder, out, err);
    status = read_explain(bytes, size, status, err);
    free(folder);
    if (map)
        munmap(map, size);
    else
        free(bytes);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", path);
}

/* One TensorProto's bytes to a tensor that owns its data. */
static px_status tensor_decode(const void *bytes, size_t size, px_tensor *out, char **name,
                               px_error *err)
{
    pxi_pb *pb = NULL;
    px_arena *arena = NULL;
    char *copied = NULL;
    px_tensor view = {0}, tensor = {0};
    px_status status = pxi_pb_decode(&onnx__tensor_proto__descriptor, bytes, size, false, &pb, err);
    if (status != PX_OK)
        return status;
    const Onnx__TensorProto *proto = (const Onnx__TensorProto *)pb->message;
    arena = pxi_arena_new();
    copied = pxi_strdup(pxi_text(proto->name));
    if (!arena || !copied) {
        status = pxi_no_memory(err);
        goto done;
    }
    status = pxi_onnx_tensor(proto, arena, NULL, &view, err);
    PX_THEN(status, px_tensor_init(&tensor, view.dtype, &view.shape, err));
    if (status != PX_OK)
        goto done;
    memcpy(tensor.data, view.data, px_tensor_bytes(&view));
    *out = tensor;
    if (name) {
        *name = copied;
        copied = NULL;
    }
done:
    free(copied);
    pxi_arena_free(arena);
    pxi_pb_free(pb);
    return status;
}

px_status px_tensor_load_pb(const char *path, px_tensor *out, char **name, px_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    PX_TRY(pxi_file_read(path, PXI_PB_MAX_BYTES, &bytes, &size, err));
    const px_status status = tensor_decode(bytes, size, out, name, err);
    if (status != PX_OK)
        px_fail_in(err, status, "'%s'", path);
    free(bytes);
    return status;
}

/* A number of the wire format; false at the end of the bytes, or where it is too long. */
static bool wire_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        *out |= (uint64_t)(byte & 0x7fu) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* SequenceProto is in a schema of its own, of which a list of tensors is all that matters here:
 * name = 1, elem_type = 2 (1: tensors), tensor_values = 3. */
px_status pxi_sequence_load_pb(const char *path, px_tensor *out, px_error *err)
{
    enum { WIRE_VARINT = 0, WIRE_BYTES = 2, FIELD_TYPE = 2, FIELD_TENSOR = 3, TYPE_TENSOR = 1 };
    char *bytes = NULL;
    size_t size = 0, capacity = 0;
    px_tensor *items = NULL;
    px_tensor made = {.dtype = PX_SEQUENCE, .shape = {.rank = 1}};
    PX_TRY(pxi_file_read(path, PXI_PB_MAX_BYTES, &bytes, &size, err));
    const uint8_t *at = (const uint8_t *)bytes, *end = at + size;
    px_status status = PX_OK;
    while (at < end && status == PX_OK) {
        uint64_t key, value;
        const bool read = wire_number(&at, end, &key) && wire_number(&at, end, &value);
        const uint64_t field = read ? key >> 3 : 0, type = read ? key & 7u : 0;
        if (!read || (type != WIRE_VARINT && type != WIRE_BYTES) ||
            (type == WIRE_BYTES && value > (uint64_t)(end - at))) {
            status = px_fail(err, PX_E_INPUT, "is no sequence of tensors");
        } else if (field == FIELD_TYPE && value != TYPE_TENSOR) {
            status =
                px_fail(err, PX_E_UNSUPPORTED, "sequences of what is no tensor are not supported");
        } else if (field == FIELD_TENSOR && type == WIRE_BYTES) {
            const size_t count = (size_t)made.shape.dim[0];
            if (pxi_grow(&items, &capacity, count + 1, sizeof *items) != 0) {
                status = pxi_no_memory(err);
                break;
            }
            status = tensor_decode(at, (size_t)value, &items[count], NULL, err);
            made.shape.dim[0] += status == PX_OK;
        }
        at += type == WIRE_BYTES ? value : 0;
    }
    free(bytes);
    made.data = items;
    if (status == PX_OK) {
        *out = made;
        return PX_OK;
    }
    px_tensor_done(&made);
    return px_fail_in(err, status, "'%s'", path);
}
