/* src/base/folder_mark.h - the file that says which things in a folder are plexor's own
 *
 *     plexor folder 1
 *     command check
 *     name check.json
 *     name fuzz/
 *
 * FOLDER/.plexor is written before anything else is put there. Only what it names is ever removed,
 * and of a folder that it names ("fuzz/") only what that folder's own mark names in turn. A mark
 * may come from a stranger: names that lead out of the folder are refused, and symbolic links are
 * never followed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_FOLDER_MARK_H
#define PXI_BASE_FOLDER_MARK_H

#include <plexor/error.h>
#include <stdbool.h>

#define PXI_MARK ".plexor"
#define PXI_CAMPAIGN_FILE "campaign.db" /* a folder with it is a campaign, and needs no mark */

typedef struct pxi_mark { /* {0}: there is none */
    char *command;        /* who made the folder: "check" */
    char **names;         /* relative, with "/" behind those of folders */
    size_t count, room;
} pxi_mark;

/* Reads FOLDER/.plexor; `out` is {0} where there is none. */
px_status pxi_mark_read(const char *folder, pxi_mark *out, px_error *err);
px_status pxi_mark_write(const char *folder, const pxi_mark *mark, px_error *err);
px_status pxi_mark_add(pxi_mark *mark, const char *name, px_error *err);
bool pxi_mark_has(const pxi_mark *mark, const char *name);
void pxi_mark_done(pxi_mark *mark);

/* Whether `folder` may take what `command` writes under `names` (as in a mark): it is absent, is
 * marked as that command's, or has nothing of these names. PX_E_USAGE, saying what is in the way,
 * otherwise, and PX_E_INPUT where one of the names is a symbolic link. Changes nothing. */
px_status pxi_mark_look(const char *folder, const char *command, const char *const *names,
                        size_t count, px_error *err);
/* The same; then makes the folder where it is absent, and its mark. */
px_status pxi_mark_claim(const char *folder, const char *command, const char *const *names,
                         size_t count, px_error *err);
/* Removes what the mark names but for `keep` (NULL: nothing is kept); the mark and the folder
 * stay, as does all that it does not name. A folder without a mark is left as it is. */
px_status pxi_mark_clear(const char *folder, const char *keep, px_error *err);
/* The same for one name of it, "fuzz/" for a folder with all that its own mark names. */
px_status pxi_mark_remove(const char *folder, const char *name, px_error *err);

/* Whether the folder that `path` lies in is marked, or a campaign. */
bool pxi_mark_is_own(const char *path);

/* Removes temporary files of writers that are no more (NAME.tmp-PID-N). Only for whoever has the
 * folder locked: a PID says nothing of processes on other machines. */
void pxi_mark_sweep(const char *folder);

#endif
