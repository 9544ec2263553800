/* src/store/campaign_folder.c - a campaign's folder: which files are the campaign's, and nobody
 * else's
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything that a campaign writes. The database is removed last and the lock stays: so that a
 * process killed in between leaves a campaign, or nothing. */
static const char *const campaign_names[] = {
    "fuzzer_stats",        "plot_data",           "threshold.json", PXI_STORE_FILE "-journal",
    PXI_STORE_FILE "-wal", PXI_STORE_FILE "-shm", PXI_STORE_FILE,   PXI_STORE_LOCK,
};

const char *const *px_campaign_names(size_t *count)
{
    *count = PX_LEN(campaign_names);
    return campaign_names;
}

static px_status folder_open(const px_campaign *campaign, int *fd, px_error *err)
{
    *fd = open(campaign->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? PX_OK : pxi_file_fail(err, campaign->folder, "open");
}

/* --- before anything is made ----------------------------------------------------------------- */

/* A tar carries links, and a campaign may come from a stranger: none is written through. */
static px_status folder_links(const px_campaign *campaign, px_error *err)
{
    int fd = -1;
    PX_TRY(folder_open(campaign, &fd, err));
    px_status status = PX_OK;
    for (size_t i = 0; i < PX_LEN(campaign_names) && status == PX_OK; i++) {
        struct stat info;
        if (fstatat(fd, campaign_names[i], &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(info.st_mode))
            status = px_fail(err, PX_E_INPUT,
                             "'%.200s/%s': is a symbolic link, and plexor does not write through "
                             "links in its folders; remove it",
                             campaign->folder, campaign_names[i]);
    }
    close(fd);
    return status;
}

/* Whether a campaign may begin there: nothing is in the folder, or the lock of one that got no
 * further or was removed, which makes the folder a campaign's whatever lies beside it. */
static px_status folder_is_free(const px_campaign *campaign, bool *is_free, px_error *err)
{
    struct stat info;
    int fd = -1;
    PX_TRY(folder_open(campaign, &fd, err));
    *is_free = fstatat(fd, PXI_STORE_LOCK, &info, AT_SYMLINK_NOFOLLOW) == 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        const px_status status = pxi_file_fail(err, campaign->folder, "open");
        close(fd);
        return status;
    }
    bool empty = true;
    for (const struct dirent *entry; empty && (entry = readdir(dir)) != NULL;)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(dir);
    *is_free = *is_free || empty;
    return PX_OK;
}

/* Whether the folder is marked, and as whose. */
static px_status folder_owner(const px_campaign *campaign, bool *marked, px_error *err)
{
    pxi_mark mark = {0};
    PX_TRY(pxi_mark_read(campaign->folder, &mark, err));
    px_status status = PX_OK;
    *marked = mark.command != NULL;
    if (mark.command && (!campaign->owner || strcmp(mark.command, campaign->owner) != 0))
        status =
            px_fail(err, PX_E_USAGE, "'%.200s' holds what 'plexor %.40s' made; name another folder",
                    campaign->folder, mark.command);
    pxi_mark_done(&mark);
    return status;
}

static px_status folder_to_begin(const px_campaign *campaign, bool is, px_error *err)
{
    bool marked = false, is_free = false;
    PX_TRY(folder_owner(campaign, &marked, err));
    if (is && campaign->mode == PX_CAMPAIGN_CREATE)
        return px_fail(err, PX_E_USAGE,
                       "'%s' holds a campaign; --resume goes on with it (fuzz, attack, "
                       "synthesize), --fresh begins it anew, or name another folder",
                       campaign->folder);
    if (is || marked)
        return PX_OK;
    PX_TRY(folder_is_free(campaign, &is_free, err));
    return is_free ? PX_OK
                   : px_fail(err, PX_E_USAGE,
                             "'%s' is there and is not empty; name another folder, or remove it",
                             campaign->folder);
}

px_status pxi_campaign_folder_check(const px_campaign *campaign, px_error *err)
{
    const char *folder = campaign->folder;
    const bool begins = campaign->mode == PX_CAMPAIGN_CREATE || campaign->mode == PX_CAMPAIGN_FRESH;
    struct stat info;
    if (stat(folder, &info) != 0) {
        if (errno != ENOENT)
            return pxi_file_fail(err, folder, "open");
        return begins ? PX_OK : px_fail(err, PX_E_INPUT, "'%s': no such campaign", folder);
    }
    if (!S_ISDIR(info.st_mode))
        return px_fail(err, PX_E_INPUT, "'%s': is a file; a campaign is a folder", folder);
    if (campaign->mode != PX_CAMPAIGN_READ)
        PX_TRY(folder_links(campaign, err));
    const bool is = px_campaign_is(folder);
    if (!is && pxi_errno_status(errno) != PX_E_INPUT)
        return pxi_file_fail(err, folder, "open");
    if (begins)
        return folder_to_begin(campaign, is, err);
    bool is_free = false;
    if (!is && campaign->mode == PX_CAMPAIGN_RESUME)
        PX_TRY(folder_is_free(campaign, &is_free, err));
    if (is || is_free)
        return PX_OK;
    return px_fail(err, PX_E_INPUT, "'%s': is no campaign: it holds no %s", folder, PXI_STORE_FILE);
}

/* --- beginning anew -------------------------------------------------------------------------- */

/* Of a file that SQLite cannot open any more: whether its head says that it was a campaign's. */
static bool head_is_campaign(int folder)
{
    uint8_t head[100];
    static const uint8_t magic[] = "SQLite format 3", application[] = {0x50, 0x4c, 0x58, 0x52};
    const int fd = openat(folder, PXI_STORE_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    if (fd >= 0)
        close(fd);
    return got == 0 || (got == (ssize_t)sizeof head && memcmp(head, magic, sizeof magic) == 0 &&
                        memcmp(head + 68, application, sizeof application) == 0);
}

static bool is_campaign(const px_campaign *campaign, int folder)
{
    px_campaign *reader = NULL;
    px_error why = {0};
    const px_status status = px_campaign_open(campaign->folder, PX_CAMPAIGN_READ, &reader, &why);
    px_campaign_close(reader);
    return status == PX_OK || head_is_campaign(folder);
}

/* With the lock held: whoever reads it keeps what was open, nobody writes it. */
px_status pxi_campaign_folder_clear(const px_campaign *campaign, px_error *err)
{
    int fd = -1;
    if (!px_campaign_is(campaign->folder))
        return PX_OK;
    PX_TRY(folder_open(campaign, &fd, err));
    px_status status = PX_OK;
    if (!is_campaign(campaign, fd))
        status = px_fail(err, PX_E_INPUT,
                         "'%.200s': is not a campaign of plexor's; --fresh leaves it alone: remove "
                         "it, or name another folder",
                         campaign->file);
    for (size_t i = 0; i < PX_LEN(campaign_names) && status == PX_OK; i++)
        if (strcmp(campaign_names[i], PXI_STORE_LOCK) != 0 &&
            unlinkat(fd, campaign_names[i], 0) != 0 && errno != ENOENT)
            status = pxi_file_fail(err, campaign->folder, "remove what is in it");
    close(fd);
    return status;
}
