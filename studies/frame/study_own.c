/* studies/frame/study_own.c - what in a study's folder is its own: FOLDER/.plexor names it
 *
 * Whatever a study writes is named before it is written, and only that goes with --fresh: networks
 * that somebody put into models/ stay. Several processes may work in one folder, so that one at a
 * time changes the mark.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_internal.h"

#include "base/file.h"
#include "base/folder_mark.h"
#include "base/memory.h"

#include <fcntl.h>
#include <internal/folder.h>
#include <internal/ranks.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define OWNER "study"

/* The mark as it is, until own_close(), which writes it where `changed`. */
typedef struct own_mark {
    const char *folder;
    pxi_mark mark;
    bool changed;
    int lock;
} own_mark;

static px_status own_open(own_mark *own, const px_study *study, px_error *err)
{
    *own = (own_mark){.folder = study->folder};
    own->lock = open(study->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own->lock < 0)
        return pxi_file_fail(err, study->folder, "open");
    (void)flock(own->lock, LOCK_EX); /* a filesystem may have no locks */
    PX_TRY(pxi_mark_read(study->folder, &own->mark, err));
    if (own->mark.command && strcmp(own->mark.command, OWNER) != 0)
        return px_fail(err, PX_E_USAGE,
                       "'%.200s' holds what 'plexor %.40s' made; name another folder with -o",
                       study->folder, own->mark.command);
    own->changed = !own->mark.command;
    return own->mark.command ? PX_OK : PX_DUP(own->mark.command, OWNER, err);
}

static px_status own_close(own_mark *own, px_status status, px_error *err)
{
    const bool apart = pxi_ranks_apart(true); /* of ranks, the first alone writes it */
    if (status == PX_OK && own->changed)
        status = pxi_mark_write(own->folder, &own->mark, err);
    (void)pxi_ranks_apart(apart);
    if (own->lock >= 0)
        close(own->lock);
    pxi_mark_done(&own->mark);
    return status;
}

static px_status own_add(own_mark *own, const char *name, px_error *err)
{
    if (pxi_mark_has(&own->mark, name))
        return PX_OK;
    own->changed = true;
    return pxi_mark_add(&own->mark, name, err);
}

/* A file, with the folders on the way, which are made. */
static px_status own_path(own_mark *own, const char *path, px_error *err)
{
    const char *name = path + strlen(own->folder) + 1;
    px_text part = {0};
    px_status status = PX_OK;
    for (const char *slash = name; status == PX_OK && (slash = strchr(slash, '/')); slash++) {
        px_text_clear(&part);
        px_text_add_bytes(&part, path, (size_t)(slash - path) + 1);
        status =
            px_text_failed(&part) ? pxi_no_memory(err) : px_folder_make(px_text_get(&part), err);
        if (status == PX_OK)
            status = own_add(own, px_text_get(&part) + (name - path), err);
    }
    px_text_done(&part);
    return status == PX_OK ? own_add(own, name, err) : status;
}

px_status pxi_study_own(const px_study *study, const char *path, px_error *err)
{
    own_mark own;
    if (pxi_ranks_mute())
        return PX_OK;
    px_status status = own_open(&own, study, err);
    if (status == PX_OK)
        status = own_path(&own, path, err);
    return own_close(&own, status, err);
}

px_status pxi_study_disown(const px_study *study, const char *path, px_error *err)
{
    own_mark own;
    if (pxi_ranks_mute())
        return PX_OK;
    px_status status = own_open(&own, study, err);
    pxi_mark *mark = &own.mark;
    for (size_t i = 0; status == PX_OK && i < mark->count; i++)
        if (strcmp(mark->names[i], path + strlen(study->folder) + 1) == 0) {
            free(mark->names[i]);
            mark->names[i] = mark->names[--mark->count];
            own.changed = true;
        }
    return own_close(&own, status, err);
}

static px_status own_campaign(const px_study *study, const char *path, px_error *err)
{
    size_t count = 0;
    const char *const *names = px_campaign_names(&count);
    own_mark own;
    if (pxi_ranks_mute())
        return PX_OK;
    px_status status = own_open(&own, study, err);
    for (size_t i = 0; i < count && status == PX_OK; i++) {
        px_text file = {0};
        px_text_format(&file, "%s/%s", path, names[i]);
        status =
            px_text_failed(&file) ? pxi_no_memory(err) : own_path(&own, px_text_get(&file), err);
        px_text_done(&file);
    }
    return own_close(&own, status, err);
}

px_status pxi_study_campaign(const px_study *study, const char *path, px_campaign **out,
                             px_error *err)
{
    PX_TRY(own_campaign(study, path, err));
    return px_campaign_open(path, px_campaign_is(path) ? PX_CAMPAIGN_RESUME : PX_CAMPAIGN_CREATE,
                            out, err);
}

px_status pxi_study_fresh(const px_study *study, const char *cells, px_error *err)
{
    own_mark own;
    if (pxi_ranks_mute())
        return PX_OK;
    px_status status = own_open(&own, study, err);
    if (status == PX_OK && access(cells, F_OK) == 0 &&
        !pxi_mark_has(&own.mark, cells + strlen(study->folder) + 1))
        status = px_fail(err, PX_E_USAGE,
                         "'%.200s' has no mark of what a study made there; --fresh leaves it "
                         "alone: remove it, or name another folder with -o",
                         study->folder);
    if (status == PX_OK)
        status = pxi_mark_clear(study->folder, NULL, err);
    for (size_t i = 0; status == PX_OK && i < own.mark.count; i++)
        free(own.mark.names[i]);
    if (status == PX_OK) {
        own.mark.count = 0;
        own.changed = true;
    }
    return own_close(&own, status, err);
}
