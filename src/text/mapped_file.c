/* src/text/mapped_file.c - a large file, read where it lies
 *
 * Files of word vectors are gigabytes, of which a run looks at a few rows.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

px_status pxi_map_file(const char *path, px_mapped *out, px_error *err)
{
    struct stat info;
    px_status status = PX_OK;
    px_mapped mapped = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return px_fail(err, PX_E_INPUT, "'%s' cannot be opened: %s", path, strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = px_fail(err, PX_E_INPUT, "'%s' is no regular file", path);
    } else if (info.st_size > 0) {
        mapped.size = (size_t)info.st_size;
        void *bytes = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            status = px_fail(err, PX_E_IO, "'%s' cannot be mapped: %s", path, strerror(errno));
        else
            mapped.bytes = bytes;
    }
    close(fd);
    if (status == PX_OK)
        *out = mapped;
    return status;
}

void pxi_unmap_file(px_mapped *mapped)
{
    if (mapped->bytes)
        munmap((void *)mapped->bytes, mapped->size);
    *mapped = (px_mapped){0};
}
