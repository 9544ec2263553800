/* src/base/cache_folder.c - where the program keeps what it can make again */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cache_folder.h"

#include <internal/ranks.h>
#include <plexor/text.h>

#include <stdlib.h>
#include <sys/stat.h>

static bool folder_ready(const px_text *path, bool make)
{
    struct stat facts;
    return path->length > 0 && !px_text_failed(path) &&
           (pxi_ranks_mute() || (make && mkdir(px_text_get(path), 0777) == 0) ||
            (stat(px_text_get(path), &facts) == 0 && S_ISDIR(facts.st_mode)));
}

static char *cache_path(const char *name, bool make)
{
    const char *own = getenv("PLEXOR_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    px_text path = {0};
    if (own && *own) {
        px_text_add(&path, own);
    } else if ((xdg && *xdg) || (home && *home)) {
        px_text_add(&path, xdg && *xdg ? xdg : home);
        px_text_add(&path, xdg && *xdg ? "" : "/.cache");
        if (folder_ready(&path, make))
            px_text_add(&path, "/plexor");
    }
    if (folder_ready(&path, make)) {
        px_text_format(&path, "/%s", name);
        return px_text_take(&path);
    }
    px_text_done(&path);
    return NULL;
}

char *pxi_cache_path(const char *name)
{
    return cache_path(name, /* make= */ true);
}

char *pxi_cache_find(const char *name)
{
    return cache_path(name, /* make= */ false);
}
