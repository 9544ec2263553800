/* src/onnx/external.c - tensor data that lies in other files of the model's folder */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/external.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct pxi_mapping {
    struct pxi_mapping *next;
    char *location;
    void *bytes;
    size_t size;
} pxi_mapping;

enum { EXTERNAL_MAX_LOCATION = 4096 };

/* Relative, and no step upwards. What links do is seen to when opening. */
static bool location_is_inside(const char *location)
{
    if (!*location || *location == '/' || strlen(location) >= EXTERNAL_MAX_LOCATION)
        return false;
    for (const char *part = location; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
            return false;
    }
    return true;
}

int pxi_external_open_plain(int folder, const char *location)
{
    char parts[EXTERNAL_MAX_LOCATION];
    strcpy(parts, location); /* location_is_inside() has seen its length */
    int at = dup(folder);
    char *rest = parts;
    for (char *part = strtok_r(parts, "/", &rest); part && at >= 0;) {
        char *next = strtok_r(NULL, "/", &rest);
        const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (next ? O_DIRECTORY : 0);
        const int inner = openat(at, part, flags);
        const int reason = errno;
        close(at);
        errno = reason;
        at = inner;
        part = next;
    }
    return at;
}

static int open_inside(const char *folder_path, const char *location)
{
    const int folder = open(*folder_path ? folder_path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, folder, location, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = pxi_external_open_plain(folder, location);
    const int reason = errno;
    close(folder);
    errno = reason;
    return (int)fd;
}

static px_status external_map(pxi_external *external, const char *location, pxi_mapping **out,
                              px_error *err)
{
    px_status status = PX_OK;
    struct stat info;
    pxi_mapping *mapping = pxi_calloc(1, sizeof *mapping);
    const int fd = open_inside(external->folder, location);
    if (fd < 0) {
        if (errno == EXDEV)
            status = px_fail(err, PX_E_INPUT,
                             "external data '%s' leads out of the model's folder; copy it there",
                             location);
        else if (errno == ELOOP) /* the plain way follows no links at all */
            status = px_fail(err, PX_E_INPUT,
                             "external data '%s' is a link that cannot be followed here; put the "
                             "file itself into the model's folder",
                             location);
        else
            status = px_fail(err, PX_E_INPUT, "external data '%s' cannot be opened: %s", location,
                             strerror(errno));
        goto done;
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = px_fail(err, PX_E_INPUT, "external data '%s' is no regular file", location);
        goto done;
    }
    if (!mapping || !(mapping->location = pxi_strdup(location))) {
        status = pxi_no_memory(err);
        goto done;
    }
    mapping->size = (size_t)info.st_size;
    if (mapping->size) {
        mapping->bytes = mmap(NULL, mapping->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapping->bytes == MAP_FAILED) {
            mapping->bytes = NULL;
            status = px_fail(err, PX_E_IO, "external data '%s' cannot be mapped: %s", location,
                             strerror(errno));
            goto done;
        }
    }
    mapping->next = external->mappings;
    external->mappings = mapping;
    *out = mapping;
    mapping = NULL;
done:
    if (fd >= 0)
        close(fd);
    if (mapping)
        free(mapping->location);
    free(mapping);
    return status;
}

/* A decimal number without sign or blanks. */
static bool parse_size(const char *text, uint64_t *out)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    *out = strtoumax(text, &end, 10);
    return errno == 0 && !*end;
}

px_status pxi_external_find(pxi_external *external, const Onnx__TensorProto *tensor, size_t bytes,
                            const void **data, px_error *err)
{
    const char *location = NULL;
    uint64_t offset = 0, length = bytes;
    for (size_t i = 0; i < tensor->n_external_data; i++) {
        const char *key = tensor->external_data[i]->key, *text = tensor->external_data[i]->value;
        if (!key || !text)
            continue;
        if (strcmp(key, "location") == 0)
            location = text;
        else if ((strcmp(key, "offset") == 0 && !parse_size(text, &offset)) ||
                 (strcmp(key, "length") == 0 && !parse_size(text, &length)))
            return px_fail(err, PX_E_INPUT, "external data has the %s '%s'; a number is expected",
                           key, text);
    }
    if (!location)
        return px_fail(err, PX_E_INPUT, "external data names no location");
    if (!external || !external->folder)
        return px_fail(err, PX_E_INPUT,
                       "external data '%s' cannot be used: there is no model folder to look in",
                       location);
    if (!location_is_inside(location))
        return px_fail(err, PX_E_INPUT,
                       "external data '%s' is refused: it must lie inside the model's folder",
                       location);
    if (length != bytes)
        return px_fail(err, PX_E_INPUT,
                       "external data '%s' gives %" PRIu64 " bytes; type and shape need %zu",
                       location, length, bytes);
    pxi_mapping *mapping = external->mappings;
    while (mapping && strcmp(mapping->location, location) != 0)
        mapping = mapping->next;
    if (!mapping)
        PX_TRY(external_map(external, location, &mapping, err));
    if (offset > mapping->size || bytes > mapping->size - offset)
        return px_fail(err, PX_E_INPUT,
                       "external data '%s' has %zu bytes; %zu from byte %" PRIu64
                       " on do not lie inside it",
                       location, mapping->size, bytes, offset);
    *data = bytes ? (const char *)mapping->bytes + offset : NULL;
    if (bytes)
        external->hash = XXH3_64bits_withSeed(*data, bytes, external->hash);
    return PX_OK;
}

void pxi_external_done(pxi_external *external)
{
    while (external->mappings) {
        pxi_mapping *next = external->mappings->next;
        if (external->mappings->bytes)
            munmap(external->mappings->bytes, external->mappings->size);
        free(external->mappings->location);
        free(external->mappings);
        external->mappings = next;
    }
}
