/* src/store/campaign.c - a campaign's folder: making, locking, opening, closing */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/file.h"
#include "base/mem_names.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <internal/ranks.h>
#include <internal/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 10, LOCK_WAIT_MS = 20 };

/* The room of data sets comes before this one and cannot name it. */
__attribute__((constructor)) static void campaign_register(void)
{
    pxi_source_register_folder(PXI_STORE_FILE, pxi_campaign_source_open);
}

static char *campaign_path(const char *folder, const char *name)
{
    px_text text = {0};
    px_text_format(&text, "%s/%s", folder, name);
    return px_text_take(&text);
}

/* Relative to the folder, so that no memory is needed that might not be there. Where it is none,
 * errno says whether nobody could look. */
bool px_campaign_is(const char *folder)
{
    struct stat info;
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool there = fd >= 0 && fstatat(fd, PXI_STORE_FILE, &info, 0) == 0;
    const int number = there ? ENOENT : errno;
    if (fd >= 0)
        close(fd);
    errno = number;
    return there && S_ISREG(info.st_mode);
}

const char *px_campaign_folder(const px_campaign *campaign)
{
    return campaign->folder;
}

/* --- the lock ------------------------------------------------------------------------------------
 *
 * flock() on a file that says who holds it. The kernel lets go when the process ends, however it
 * ends, so nothing is ever left to clean up.
 */

static long lock_pid(int fd)
{
    char text[32] = "";
    const ssize_t got = pread(fd, text, sizeof text - 1, 0);
    const long pid = got > 0 ? strtol(text, NULL, 10) : 0;
    return pid > 0 ? pid : 0;
}

/* Readers who ask for the writer hold the lock for a moment; hence the tries. */
static bool lock_take(int fd)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_MS * 1000000L}, NULL);
        errno = EWOULDBLOCK;
    }
    return false;
}

static px_status campaign_lock(px_campaign *campaign, px_error *err)
{
    char *path = campaign_path(campaign->folder, PXI_STORE_LOCK);
    if (!path)
        return pxi_store_nomem(campaign, err);
    campaign->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    free(path);
    if (campaign->lock < 0)
        return px_fail(err, pxi_errno_status(errno), "'%s': cannot be locked: %s", campaign->folder,
                       strerror(errno));
    if (!lock_take(campaign->lock)) {
        const int number = errno;
        const long pid = lock_pid(campaign->lock);
        close(campaign->lock);
        campaign->lock = -1;
        if (number != EWOULDBLOCK)
            return px_fail(err, PX_E_IO, "'%s': cannot be locked: %s", campaign->folder,
                           strerror(number));
        return px_fail(err, PX_E_USAGE, "'%s': another process (pid %ld) works on this campaign",
                       campaign->folder, pid);
    }
    char text[32];
    const int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(campaign->lock, 0) != 0 || pwrite(campaign->lock, text, (size_t)size, 0) != size)
        return px_fail(err, PX_E_IO, "'%s': cannot be locked: %s", campaign->folder,
                       strerror(errno));
    return PX_OK;
}

long px_campaign_writer(const px_campaign *campaign)
{
    if (campaign->lock >= 0)
        return (long)getpid();
    char *path = campaign_path(campaign->folder, PXI_STORE_LOCK);
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    long pid = 0;
    free(path);
    if (fd < 0)
        return 0;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        pid = lock_pid(fd);
    close(fd);
    return pid;
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status campaign_start(px_campaign *campaign, px_error *err)
{
    bool empty = false;
    const bool begins = campaign->mode == PX_CAMPAIGN_CREATE || campaign->mode == PX_CAMPAIGN_FRESH;
    const bool writes = campaign->mode != PX_CAMPAIGN_READ && !pxi_ranks_mute();
    if (writes || campaign->mode == PX_CAMPAIGN_READ)
        PX_TRY(pxi_campaign_folder_check(campaign, err));
    if (begins && writes && mkdir(campaign->folder, 0777) != 0 && errno != EEXIST)
        return px_fail(err, pxi_errno_status(errno), "'%s': cannot be made: %s", campaign->folder,
                       strerror(errno));
    if (writes) {
        PX_TRY(campaign_lock(campaign, err));
        pxi_mark_sweep(campaign->folder);
        if (campaign->mode == PX_CAMPAIGN_FRESH)
            PX_TRY(pxi_campaign_folder_clear(campaign, err));
        if (begins && px_campaign_is(campaign->folder))
            return px_fail(err, PX_E_USAGE, "'%s': another process made a campaign of it",
                           campaign->folder);
    }
    PX_TRY(pxi_store_connect(campaign, err));
    PX_TRY(pxi_store_migrate(campaign, &empty, err));
    if (empty && campaign->mode == PX_CAMPAIGN_READ)
        return px_fail(err, PX_E_INPUT, "'%s': holds nothing yet", campaign->folder);
    PX_TRY(pxi_store_identity_load(campaign, err));
    PX_TRY(pxi_store_classes_load(campaign, err));
    if (campaign->mode != PX_CAMPAIGN_READ) {
        PX_TRY(px_campaign_last(campaign, &campaign->last, err));
        campaign->committed = campaign->last;
    }
    return PX_OK;
}

px_status px_campaign_open(const char *folder, px_campaign_mode mode, px_campaign **out,
                           px_error *err)
{
    return px_campaign_open_as(folder, mode, NULL, out, err);
}

px_status px_campaign_open_as(const char *folder, px_campaign_mode mode, const char *owner,
                              px_campaign **out, px_error *err)
{
    px_status status;
    if (*folder == '\0')
        return px_fail(err, PX_E_USAGE, "the name of the campaign is empty");
    PX_TRY(pxi_mem_no_folder(folder, err));
    px_campaign *campaign = NULL;
    PX_TRY(PX_NEW(campaign, 1, err));
    campaign->mode = mode;
    campaign->owner = owner;
    campaign->lock = -1;
    campaign->class_count = -1;
    campaign->folder = pxi_strdup(folder);
    if (!campaign->folder || !(campaign->file = campaign_path(folder, PXI_STORE_FILE)))
        status = pxi_no_memory(err);
    else
        status = campaign_start(campaign, err);
    campaign->owner = NULL; /* the caller's, for opening only */
    return PX_GIVE(status, campaign, out, px_campaign_close);
}

void px_campaign_close(px_campaign *campaign)
{
    if (!campaign)
        return;
    px_campaign_rollback(campaign);
    for (size_t i = 0; i < PX_LEN(campaign->statements); i++)
        sqlite3_finalize(campaign->statements[i]);
    sqlite3_close(campaign->db); /* the last one moves the WAL into the database */
    if (campaign->lock >= 0) {
        (void)!ftruncate(campaign->lock, 0);
        close(campaign->lock);
    }
    px_text_done(&campaign->chain);
    px_text_done(&campaign->name);
    pxi_store_classes_forget(campaign);
    pxi_store_pack_done(campaign);
    free(campaign->packed);
    free(campaign->plain);
    free(campaign->settings);
    free(campaign->file);
    free(campaign->folder);
    free(campaign);
}
