/* src/base/file.h - files read whole, and files that appear whole or not at all
 *
 *     px_file_writer w = {0};
 *     PX_TRY(pxi_file_create("y.npy", &w, err));
 *     fwrite(bytes, 1, n, w.stream);          // errors are found at commit
 *     return pxi_file_commit(&w, err);        // flush, fsync, rename; or pxi_file_abandon(&w)
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_FILE_H
#define PXI_BASE_FILE_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdio.h>

/* What a number of errno means: ENOENT and the like are the user's to mend (PX_E_INPUT), a full or
 * failing disk is PX_E_IO, ENOMEM is PX_E_NOMEM. */
px_status pxi_errno_status(int number);
/* "'PATH': cannot WHAT: No space left on device", by errno. */
px_status pxi_file_fail(px_error *err, const char *path, const char *what);

bool pxi_has_suffix(const char *path, const char *suffix); /* whatever the case */
const char *pxi_base_name(const char *path);               /* behind the last slash */

/* Reads a file of at most `cap` bytes; the caller frees *out, which has a NUL behind its last byte.
 * Folders and files beyond the cap are PX_E_INPUT, trouble while reading is PX_E_IO. */
px_status pxi_file_read(const char *path, size_t cap, char **out, size_t *size, px_error *err);

typedef struct pxi_file_sink pxi_file_sink;
typedef struct px_file_writer {
    FILE *stream; /* NULL: not open; has no descriptor of its own */
    pxi_file_sink *sink;
    char *path; /* the final name, symbolic links resolved */
    char *temp; /* the name until commit; NULL: a device or pipe, written in place */
    bool meets; /* all ranks have come so far when it appears, and go on when it is there */
} px_file_writer;

/* A link that a user names is followed; one inside a campaign or a folder of plexor's own, where a
 * stranger may have put it, is PX_E_INPUT. */
px_status pxi_file_create(const char *path, px_file_writer *out, px_error *err);
/* Closes the writer in any case; after a failure there is no new file and an old one is untouched.
 */
px_status pxi_file_commit(px_file_writer *writer, px_error *err);
/* A file that is bytes in the end, whatever happens to `name` is the caller's: *bytes are freed by
 * it. Takes the place of commit. */
px_status pxi_file_create_bytes(const char *name, px_file_writer *out, px_error *err);
px_status pxi_file_take(px_file_writer *writer, char **bytes, size_t *size, px_error *err);
void pxi_file_abandon(px_file_writer *writer); /* removes the temporary file; {0} is fine */

/* All three in one step. */
px_status pxi_file_write(const char *path, const void *bytes, size_t size, px_error *err);

#endif
