/* include/internal/folder.h - folders of results that appear whole, and that are plexor's own
 *
 *     px_folder *folder = NULL;
 *     PX_TRY(px_folder_begin("out", "export", fresh, &folder, err));
 *     // here files are written below px_folder_path(folder)
 *     return px_folder_commit(folder, err);              // or px_folder_abandon(folder)
 *
 * Until it is committed the folder has a temporary name beside the final one (out.tmp-PID-N), so
 * that a process that dies leaves nothing under the name that was asked for. A committed folder
 * has a mark, FOLDER/.plexor, that names the command and every file it wrote. `fresh` replaces
 * what an earlier run of the same command wrote, by that mark and nothing else: files that
 * somebody put beside stay.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_FOLDER_H
#define PXI_INTERNAL_FOLDER_H

#include <plexor/error.h>
#include <stdbool.h>

PX_BEGIN_DECLS

typedef struct px_folder px_folder;

/* PX_E_USAGE, before anything is made, where `path` is there and is neither an empty folder nor,
 * with `fresh`, one that an earlier run of `command` made. On PX_OK the caller owns *out. */
px_status px_folder_begin(const char *path, const char *command, bool fresh, px_folder **out,
                          px_error *err);
/* Where to write until the commit; borrowed. */
const char *px_folder_path(const px_folder *folder);
/* Gives the folder its name and frees `folder` in any case; after a failure there is no new folder.
 */
px_status px_folder_commit(px_folder *folder, px_error *err);
void px_folder_abandon(px_folder *folder); /* removes all that was written; NULL is fine */

/* Whether `path` lies in one that this process has begun and not ended. */
bool pxi_folder_is_making(const char *path);

/* A plain folder, in one that is there; fine where it is there already. */
px_status px_folder_make(const char *path, px_error *err);

PX_END_DECLS
#endif
