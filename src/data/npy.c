/* src/data/npy.c - the .npy format (numpy.lib.format, versions 1 to 3)
 *
 * A header is a Python dict literal with the keys descr, fortran_order and shape. Only what numpy
 * writes is accepted; object and structured arrays are refused, they could not be tensors.
 * bfloat16, which numpy lacks, is stored as the two-byte void "|V2", as ml_dtypes does.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/npy.h"

#include "base/file.h"
#include "base/mem_names.h"
#include "base/memory.h"
#include <internal/tensor.h>
#include <plexor/data.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest header that is read; numpy's own limit is 10,000. */
#define NPY_HEADER_LIMIT 65536

static const struct {
    px_dtype dtype;
    char kind[3]; /* numpy's letter and size */
} npy_types[] = {
    {PX_FLOAT32, "f4"},  {PX_UINT8, "u1"},   {PX_INT8, "i1"},   {PX_UINT16, "u2"},
    {PX_INT16, "i2"},    {PX_INT32, "i4"},   {PX_INT64, "i8"},  {PX_BOOL, "b1"},
    {PX_FLOAT16, "f2"},  {PX_FLOAT64, "f8"}, {PX_UINT32, "u4"}, {PX_UINT64, "u8"},
    {PX_BFLOAT16, "V2"},
};

/* --- reading a header ------------------------------------------------------------------------ */

typedef struct npy_cursor {
    const char *at, *end;
} npy_cursor;

static void cursor_blanks(npy_cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool cursor_take(npy_cursor *c, const char *token)
{
    cursor_blanks(c);
    const size_t length = strlen(token);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, token, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool cursor_string(npy_cursor *c, char *to, size_t room)
{
    cursor_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char quote = *c->at++;
    const char *close = memchr(c->at, quote, (size_t)(c->end - c->at));
    if (!close || (size_t)(close - c->at) >= room)
        return false;
    memcpy(to, c->at, (size_t)(close - c->at));
    to[close - c->at] = '\0';
    c->at = close + 1;
    return true;
}

static bool cursor_extent(npy_cursor *c, int64_t *value)
{
    cursor_blanks(c);
    const char *first = c->at;
    int64_t v = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c->at - '0', &v))
            return false;
    *value = v;
    return c->at > first;
}

static px_status npy_shape(npy_cursor *c, const char *name, px_shape *shape, px_error *err)
{
    bool comma = true;
    if (!cursor_take(c, "("))
        return px_fail(err, PX_E_INPUT, "'%s': the .npy header has no shape tuple", name);
    while (!cursor_take(c, ")")) {
        int64_t extent;
        if (!comma || !cursor_extent(c, &extent))
            return px_fail(err, PX_E_INPUT, "'%s': the shape in the .npy header is damaged", name);
        if (shape->rank == PX_MAX_RANK)
            return px_fail(err, PX_E_UNSUPPORTED, "'%s': more than %d axes", name, PX_MAX_RANK);
        shape->dim[shape->rank++] = extent;
        (void)cursor_take(c, "L"); /* Python 2 wrote long integers so */
        comma = cursor_take(c, ",");
    }
    return px_shape_check(shape, err) == PX_OK ? PX_OK : px_fail_in(err, PX_E_INPUT, "'%s'", name);
}

static px_status npy_descr(const char *descr, const char *name, pxi_npy *out, px_error *err)
{
    if (strlen(descr) == 3 && strchr("<>|=", descr[0]))
        for (size_t i = 0; i < PX_LEN(npy_types); i++)
            if (memcmp(descr + 1, npy_types[i].kind, 2) == 0) {
                out->dtype = npy_types[i].dtype;
                out->item = (size_t)(descr[2] - '0');
                out->swapped = descr[0] == '>' && out->item > 1;
                return PX_OK;
            }
    return px_fail(err, PX_E_UNSUPPORTED,
                   "'%s': arrays of type '%.40s' are not supported; save it as float32", name,
                   descr);
}

static px_status npy_dict(npy_cursor *c, const char *name, pxi_npy *out, px_error *err)
{
    char key[32], descr[64];
    bool has_descr = false, has_order = false, has_shape = false;
    if (!cursor_take(c, "{"))
        return px_fail(err, PX_E_INPUT, "'%s': the .npy header is not a dict", name);
    while (!cursor_take(c, "}")) {
        if (!cursor_string(c, key, sizeof key) || !cursor_take(c, ":"))
            return px_fail(err, PX_E_INPUT, "'%s': the .npy header is damaged", name);
        if (strcmp(key, "descr") == 0 && !has_descr) {
            if (!cursor_string(c, descr, sizeof descr))
                return px_fail(err, PX_E_UNSUPPORTED,
                               "'%s': structured arrays are not supported; save plain numbers",
                               name);
            has_descr = true;
            PX_TRY(npy_descr(descr, name, out, err));
        } else if (strcmp(key, "fortran_order") == 0 && !has_order) {
            out->fortran = cursor_take(c, "True");
            if (!out->fortran && !cursor_take(c, "False"))
                return px_fail(err, PX_E_INPUT, "'%s': fortran_order is neither True nor False",
                               name);
            has_order = true;
        } else if (strcmp(key, "shape") == 0 && !has_shape) {
            has_shape = true;
            PX_TRY(npy_shape(c, name, &out->shape, err));
        } else {
            return px_fail(err, PX_E_INPUT, "'%s': unexpected key '%s' in the .npy header", name,
                           key);
        }
        if (!cursor_take(c, ",")) {
            if (!cursor_take(c, "}"))
                return px_fail(err, PX_E_INPUT, "'%s': the .npy header is damaged", name);
            break;
        }
    }
    if (!has_descr || !has_order || !has_shape)
        return px_fail(err, PX_E_INPUT, "'%s': the .npy header lacks descr, fortran_order or shape",
                       name);
    return PX_OK;
}

/* `bytes` may be the beginning of a file of `size` bytes. */
static px_status npy_header(const pxi_bytes *bytes, uint64_t size, const char *name, pxi_npy *out,
                            px_error *err)
{
    static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    uint8_t start[12] = {0};
    if (bytes->size < 10)
        return px_fail(err, PX_E_INPUT, "'%s': not a .npy file: %llu bytes are too few", name,
                       (unsigned long long)bytes->size);
    PX_TRY(pxi_bytes_read(bytes, 0, start, (size_t)PX_MIN(bytes->size, 12u), name, err));
    if (memcmp(start, magic, sizeof magic) != 0)
        return px_fail(err, PX_E_INPUT, "'%s': not a .npy file: it does not begin with \\x93NUMPY",
                       name);
    if (start[6] < 1 || start[6] > 3)
        return px_fail(err, PX_E_UNSUPPORTED, "'%s': .npy version %d is not known", name, start[6]);
    const size_t prefix = start[6] == 1 ? 10 : 12;
    size_t length = (size_t)start[8] | (size_t)start[9] << 8;
    if (start[6] > 1)
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (length > NPY_HEADER_LIMIT || prefix + length > bytes->size)
        return px_fail(err, PX_E_INPUT, "'%s': a .npy header of %zu bytes does not fit", name,
                       length);
    char *text = pxi_calloc(length, 1);
    if (!text)
        return pxi_no_memory(err);
    pxi_npy npy = {.offset = prefix + length};
    npy_cursor cursor = {text, text + length};
    px_status status = pxi_bytes_read(bytes, prefix, text, length, name, err);
    PX_THEN(status, npy_dict(&cursor, name, &npy, err));
    free(text);
    if (status != PX_OK)
        return status;

    const uint64_t count = (uint64_t)px_shape_count(&npy.shape);
    if (count > (size - npy.offset) / npy.item) {
        char shape[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_INPUT, "'%s': truncated: %s of %s does not fit in %llu bytes",
                       name, px_shape_text(&npy.shape, shape), px_dtype_name(npy.dtype),
                       (unsigned long long)(size - npy.offset));
    }
    *out = npy;
    return PX_OK;
}

px_status pxi_npy_header(const pxi_bytes *bytes, const char *name, pxi_npy *out, px_error *err)
{
    return npy_header(bytes, bytes->size, name, out, err);
}

px_status pxi_npy_check_deflated(const pxi_bytes *packed, uint64_t size, const char *name,
                                 px_error *err)
{
    enum { BEGINNING = 12 + NPY_HEADER_LIMIT, BEHIND = 4096 }; /* other writers may pad */
    size_t got = 0;
    pxi_npy npy;
    uint8_t *head = pxi_calloc(BEGINNING, 1);
    if (!head)
        return pxi_no_memory(err);
    px_status status = pxi_bytes_peek_deflated(packed, head, BEGINNING, &got, name, err);
    const pxi_bytes beginning = pxi_bytes_view(head, got);
    PX_THEN(status, npy_header(&beginning, size, name, &npy, err));
    free(head);
    PX_TRY(status);
    const uint64_t needed = npy.offset + (uint64_t)px_shape_count(&npy.shape) * npy.item;
    if (size - needed > BEHIND)
        return px_fail(err, PX_E_INPUT, "'%s': damaged: %llu bytes for an array of %llu", name,
                       (unsigned long long)size, (unsigned long long)needed);
    return PX_OK;
}

/* --- elements -------------------------------------------------------------------------------- */

static void npy_swap(uint8_t *data, size_t count, size_t item)
{
    for (size_t i = 0; i < count; i++, data += item)
        for (size_t a = 0, b = item - 1; a < b; a++, b--) {
            const uint8_t byte = data[a];
            data[a] = data[b];
            data[b] = byte;
        }
}

/* Column-major `from` to row-major `to`. */
static void npy_transpose(const px_shape *shape, size_t item, const uint8_t *from, uint8_t *to)
{
    int64_t index[PX_MAX_RANK] = {0}, stride[PX_MAX_RANK] = {0};
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++) {
        stride[i] = count;
        count *= shape->dim[i];
    }
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * item, from + (size_t)at * item, item);
        for (int axis = shape->rank - 1; axis >= 0; axis--) {
            at += stride[axis];
            if (++index[axis] < shape->dim[axis])
                break;
            at -= stride[axis] * shape->dim[axis];
            index[axis] = 0;
        }
    }
}

px_status pxi_npy_tensor(const pxi_bytes *bytes, const char *name, px_tensor *out, px_error *err)
{
    pxi_npy npy;
    px_tensor tensor = {0}, column_major = {0};
    PX_TRY(pxi_npy_header(bytes, name, &npy, err));
    px_status status = px_tensor_init(&tensor, npy.dtype, &npy.shape, err);
    if (status != PX_OK)
        goto done;
    const size_t size = (size_t)px_shape_count(&npy.shape) * npy.item;
    status = pxi_bytes_read(bytes, npy.offset, tensor.data, size, name, err);
    if (status != PX_OK)
        goto done;
    if (npy.swapped)
        npy_swap(tensor.data, size / npy.item, npy.item);
    if (npy.fortran && npy.shape.rank > 1) {
        column_major = tensor;
        tensor = (px_tensor){0};
        status = px_tensor_init(&tensor, npy.dtype, &npy.shape, err);
        if (status != PX_OK)
            goto done;
        npy_transpose(&npy.shape, npy.item, column_major.data, tensor.data);
    }
    *out = tensor;
    tensor = (px_tensor){0};
done:
    px_tensor_done(&column_major);
    px_tensor_done(&tensor);
    return status;
}

static void npy_to_floats(px_dtype dtype, const uint8_t *from, size_t count, float *to)
{
/* memcpy: the bytes of a file have no alignment. */
#define NPY_CONVERT(type, expression)              \
    for (size_t i = 0; i < count; i++) {           \
        type v;                                    \
        memcpy(&v, from + i * sizeof v, sizeof v); \
        to[i] = (float)(expression);               \
    }                                              \
    break
    switch (dtype) {
    case PX_FLOAT32:
        NPY_CONVERT(float, v);
    case PX_UINT8:
        NPY_CONVERT(uint8_t, v);
    case PX_INT8:
        NPY_CONVERT(int8_t, v);
    case PX_UINT16:
        NPY_CONVERT(uint16_t, v);
    case PX_INT16:
        NPY_CONVERT(int16_t, v);
    case PX_INT32:
        NPY_CONVERT(int32_t, v);
    case PX_INT64:
        NPY_CONVERT(int64_t, v);
    case PX_BOOL:
        NPY_CONVERT(uint8_t, v != 0);
    case PX_FLOAT16:
        NPY_CONVERT(uint16_t, px_half_to_float(v));
    case PX_FLOAT64:
        NPY_CONVERT(double, v);
    case PX_UINT32:
        NPY_CONVERT(uint32_t, v);
    case PX_UINT64:
        NPY_CONVERT(uint64_t, v);
    case PX_BFLOAT16:
        NPY_CONVERT(uint16_t, px_bfloat_to_float(v));
    case PX_UINT4: /* no array of a file is of these */
    case PX_INT4:
    case PX_NONE:
        break;
    }
#undef NPY_CONVERT
}

px_status pxi_npy_floats(const pxi_bytes *bytes, const pxi_npy *npy, const char *name,
                         int64_t first, int64_t count, float *to, px_error *err)
{
    uint8_t chunk[1 << 14]; /* a multiple of every item size */
    uint64_t offset = npy->offset + (uint64_t)first * npy->item;
    for (size_t left = (size_t)count; left > 0;) {
        const size_t n = PX_MIN(left, sizeof chunk / npy->item);
        PX_TRY(pxi_bytes_read(bytes, offset, chunk, n * npy->item, name, err));
        if (npy->swapped)
            npy_swap(chunk, n, npy->item);
        npy_to_floats(npy->dtype, chunk, n, to);
        to += n;
        left -= n;
        offset += n * npy->item;
    }
    return PX_OK;
}

/* --- writing --------------------------------------------------------------------------------- */

size_t pxi_npy_format(px_dtype dtype, const px_shape *shape, uint8_t to[PXI_NPY_HEADER_MAX])
{
    const char *kind = "V1";
    for (size_t i = 0; i < PX_LEN(npy_types); i++)
        if (npy_types[i].dtype == dtype)
            kind = npy_types[i].kind;
    const char order = kind[1] == '1' || kind[0] == 'V' ? '|' : '<';
    char text[PXI_NPY_HEADER_MAX], dims[PX_SHAPE_TEXT] = "";
    size_t used = 0;
    for (int i = 0; i < shape->rank; i++)
        used += (size_t)snprintf(dims + used, sizeof dims - used, "%s%lld", i ? ", " : "",
                                 (long long)shape->dim[i]);
    const size_t length = (size_t)snprintf(
        text, sizeof text, "{'descr': '%c%.2s', 'fortran_order': False, 'shape': (%s%s), }", order,
        kind, dims, shape->rank == 1 ? "," : "");
    const size_t total = (10 + length + 1 + 63) / 64 * 64;
    const uint8_t start[10] = {0x93,
                               'N',
                               'U',
                               'M',
                               'P',
                               'Y',
                               1,
                               0,
                               (uint8_t)((total - 10) & 255),
                               (uint8_t)((total - 10) >> 8)};
    memcpy(to, start, sizeof start);
    memset(to + 10, ' ', total - 10);
    memcpy(to + 10, text, length);
    to[total - 1] = '\n';
    return total;
}

px_status px_npy_load(const char *path, px_tensor *out, px_error *err)
{
    pxi_bytes bytes = {0};
    PX_TRY(pxi_bytes_open(&bytes, path, err));
    const px_status status = pxi_npy_tensor(&bytes, path, out, err);
    pxi_bytes_done(&bytes);
    return status;
}

px_status px_npy_save(const char *path, const px_tensor *tensor, px_error *err)
{
    uint8_t header[PXI_NPY_HEADER_MAX];
    px_file_writer writer = {0};
    const size_t size = pxi_npy_format(tensor->dtype, &tensor->shape, header);
    if (pxi_mem_is_name(path)) {
        px_tensor copy = {0};
        PX_TRY(px_tensor_init(&copy, tensor->dtype, &tensor->shape, err));
        memcpy(copy.data, tensor->data, px_tensor_bytes(tensor));
        return pxi_mem_give(path, "", &copy, err);
    }
    PX_TRY(pxi_file_create(path, &writer, err));
    fwrite(header, 1, size, writer.stream);
    fwrite(tensor->data, 1, px_tensor_bytes(tensor), writer.stream);
    return pxi_file_commit(&writer, err);
}
