/* src/probe/trace_writer.c - neuron values of many inputs as an NPZ file
 *
 * The spill file holds one region per layer, [count][neurons of the layer], so that each region is
 * an array of the NPZ as it stands.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/trace_writer.h"

#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <internal/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRACE_COPY_BYTES = 1 << 20 };

struct pxi_trace_writer {
    const px_probe *probe;
    char *path;
    int64_t count;
    int fd; /* the spill file: has no name, so nothing is left behind whatever happens */
};

static px_status trace_fail(const pxi_trace_writer *writer, px_error *err)
{
    return px_fail(err, PX_E_IO, "'%s': cannot keep traces in a temporary file: %s", writer->path,
                   strerror(errno));
}

/* Beside the result, where there must be room anyway; else where temporary files go. */
static int trace_open_spill(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : pxi_strdup(".");
    int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    free(folder);
    if (fd < 0) {
        const char *temp = getenv("TMPDIR");
        fd = open(temp && *temp ? temp : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    if (fd < 0) { /* a file system without O_TMPFILE */
        FILE *stream = tmpfile();
        if (stream) {
            fd = dup(fileno(stream));
            fclose(stream);
        }
    }
    return fd;
}

px_status pxi_trace_create(const char *path, const px_probe *probe, int64_t count,
                           pxi_trace_writer **out, px_error *err)
{
    pxi_trace_writer *writer = pxi_calloc(1, sizeof *writer);
    char *copy = pxi_strdup(path);
    if (!writer || !copy) {
        free(writer);
        free(copy);
        return pxi_no_memory(err);
    }
    *writer = (pxi_trace_writer){.probe = probe, .path = copy, .count = count};
    writer->fd = trace_open_spill(path);
    if (writer->fd < 0) {
        const px_status status = trace_fail(writer, err);
        pxi_trace_abandon(writer);
        return status;
    }
    *out = writer;
    return PX_OK;
}

static px_status trace_write_at(const pxi_trace_writer *writer, const void *bytes, size_t size,
                                off_t at, px_error *err)
{
    const char *from = bytes;
    while (size > 0) {
        const ssize_t wrote = pwrite(writer->fd, from, size, at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return trace_fail(writer, err);
        from += wrote;
        at += wrote;
        size -= (size_t)wrote;
    }
    return PX_OK;
}

px_status pxi_trace_put(pxi_trace_writer *writer, int64_t first, int64_t samples, const float *rows,
                        px_error *err)
{
    assert(first >= 0 && samples >= 0 && first + samples <= writer->count);
    const int64_t width = px_probe_neuron_count(writer->probe);
    float *columns = NULL;
    PX_TRY(PX_NEW(columns, (samples * width), err));
    px_status status = PX_OK;
    for (size_t l = 0; l < px_probe_layer_count(writer->probe) && status == PX_OK; l++) {
        const px_layer *layer = px_probe_layer(writer->probe, l);
        const int64_t n = layer->neuron_count;
        for (int64_t s = 0; s < samples; s++)
            memcpy(columns + s * n, rows + s * width + layer->neuron_offset,
                   (size_t)n * sizeof *columns);
        const int64_t at = writer->count * layer->neuron_offset + first * n;
        status = trace_write_at(writer, columns, (size_t)(samples * n) * sizeof *columns,
                                (off_t)(at * (int64_t)sizeof *columns), err);
    }
    free(columns);
    return status;
}

static px_status trace_read_at(const pxi_trace_writer *writer, char *to, size_t size, off_t at,
                               px_error *err)
{
    while (size > 0) {
        const ssize_t got = pread(writer->fd, to, size, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got == 0)
                errno = EIO; /* rows that were never put */
            return trace_fail(writer, err);
        }
        to += got;
        at += got;
        size -= (size_t)got;
    }
    return PX_OK;
}

px_status pxi_trace_pack(const pxi_trace_writer *writer, int64_t first, int64_t samples,
                         px_text *to, px_error *err)
{
    assert(first >= 0 && first < writer->count && samples > 0); /* the last batch may end behind */
    const int64_t rows = PX_MIN(samples, writer->count - first);
    char *buffer = NULL;
    PX_TRY(
        PX_NEW(buffer, rows * px_probe_neuron_count(writer->probe) * (int64_t)sizeof(float), err));
    px_status status = PX_OK;
    for (size_t l = 0; l < px_probe_layer_count(writer->probe) && status == PX_OK; l++) {
        const px_layer *layer = px_probe_layer(writer->probe, l);
        const size_t row = (size_t)layer->neuron_count * sizeof(float);
        const int64_t at = writer->count * layer->neuron_offset + first * layer->neuron_count;
        status = trace_read_at(writer, buffer, (size_t)rows * row,
                               (off_t)(at * (int64_t)sizeof(float)), err);
        if (status == PX_OK)
            px_text_add_bytes(to, buffer, (size_t)rows * row);
    }
    free(buffer);
    return status;
}

px_status pxi_trace_unpack(const pxi_trace_writer *writer, int64_t first, const char *bytes,
                           size_t size, px_error *err)
{
    const int64_t width = px_probe_neuron_count(writer->probe);
    const int64_t rows = (int64_t)(size / sizeof(float)) / width;
    if (rows < 0 || first + rows > writer->count || size != (size_t)(rows * width) * sizeof(float))
        return px_fail(err, PX_E_INTERNAL, "another rank left other rows than it should");
    for (size_t l = 0; l < px_probe_layer_count(writer->probe); l++) {
        const px_layer *layer = px_probe_layer(writer->probe, l);
        const size_t part = (size_t)(rows * layer->neuron_count) * sizeof(float);
        const int64_t at = writer->count * layer->neuron_offset + first * layer->neuron_count;
        PX_TRY(trace_write_at(writer, bytes, part, (off_t)(at * (int64_t)sizeof(float)), err));
        bytes += part;
    }
    return PX_OK;
}

static px_status trace_copy_layer(const pxi_trace_writer *writer, const px_layer *layer,
                                  char *buffer, px_npz_writer *npz, px_error *err)
{
    const px_shape shape = {.rank = 2, .dim = {writer->count, layer->neuron_count}};
    PX_TRY(px_npz_begin(npz, layer->name, PX_FLOAT32, &shape, err));
    int64_t at = writer->count * layer->neuron_offset * (int64_t)sizeof(float);
    int64_t left = px_shape_count(&shape) * (int64_t)sizeof(float);
    while (left > 0) {
        const int64_t part = PX_MIN(left, (int64_t)TRACE_COPY_BYTES);
        PX_TRY(trace_read_at(writer, buffer, (size_t)part, (off_t)at, err));
        PX_TRY(px_npz_write(npz, buffer, (size_t)part, err));
        at += part;
        left -= part;
    }
    return PX_OK;
}

static px_status trace_fill(const pxi_trace_writer *writer, char *buffer, px_npz_writer *npz,
                            const int64_t *labels, const int64_t *predictions,
                            const int64_t *indices, px_error *err)
{
    for (size_t l = 0; l < px_probe_layer_count(writer->probe); l++)
        PX_TRY(trace_copy_layer(writer, px_probe_layer(writer->probe, l), buffer, npz, err));
    const struct {
        const char *name;
        const int64_t *values;
    } columns[] = {{"labels", labels}, {"predictions", predictions}, {"indices", indices}};
    for (size_t i = 0; i < PX_LEN(columns); i++) {
        if (!columns[i].values)
            continue;
        const px_shape shape = {.rank = 1, .dim = {writer->count}};
        PX_TRY(px_npz_begin(npz, columns[i].name, PX_INT64, &shape, err));
        PX_TRY(px_npz_write(npz, columns[i].values,
                            (size_t)writer->count * sizeof *columns[i].values, err));
    }
    return PX_OK;
}

px_status pxi_trace_commit(pxi_trace_writer *writer, const int64_t *labels,
                           const int64_t *predictions, const int64_t *indices, px_error *err)
{
    px_npz_writer *npz = NULL;
    char *buffer = pxi_calloc(TRACE_COPY_BYTES, 1);
    px_status status = buffer ? px_npz_create(writer->path, &npz, err) : pxi_no_memory(err);
    PX_THEN(status, trace_fill(writer, buffer, npz, labels, predictions, indices, err));
    if (status == PX_OK)
        status = px_npz_commit(npz, err);
    else
        px_npz_abandon(npz);
    free(buffer);
    pxi_trace_abandon(writer);
    return status;
}

void pxi_trace_abandon(pxi_trace_writer *writer)
{
    if (!writer)
        return;
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->path);
    free(writer);
}
