/* src/base/mem_names.c - what "mem:NAME" stands for */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem_names.h"

#include "base/memory.h"

#include <internal/system.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MEM_PREFIX "mem:"

typedef struct mem_entry {
    char *name;
    const pxi_mem_kind *kind;
    void *thing;
} mem_entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static mem_entry *entries;
static size_t entry_count, entry_capacity;

bool pxi_mem_is_name(const char *spec)
{
    return strncmp(spec, MEM_PREFIX, strlen(MEM_PREFIX)) == 0;
}

px_status pxi_mem_no_folder(const char *path, px_error *err)
{
    return pxi_mem_is_name(path)
               ? px_fail(err, PX_E_USAGE,
                         "'%.100s': a folder is wanted, and memory has none; name one on disk",
                         path)
               : PX_OK;
}

static mem_entry *mem_find(const char *name)
{
    for (size_t i = 0; i < entry_count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    return NULL;
}

px_status pxi_mem_put(const char *name, const pxi_mem_kind *kind, void *thing, px_error *err)
{
    char *copy = NULL;
    mem_entry before = {0};
    if (!*name)
        return px_fail(err, PX_E_USAGE, "what is put into memory needs a name");
    PX_TRY(PX_DUP(copy, name, err));
    pthread_mutex_lock(&lock);
    px_status status = PX_OK;
    mem_entry *entry = mem_find(name);
    if (!entry && (status = PX_GROW(entries, entry_capacity, entry_count + 1, err)) == PX_OK) {
        entry = &entries[entry_count++];
        *entry = (mem_entry){0};
    }
    if (status == PX_OK) {
        before = *entry;
        *entry = (mem_entry){copy, kind, thing};
        copy = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(copy);
    free(before.name);
    if (before.thing)
        before.kind->release(before.thing);
    return status;
}

px_status pxi_mem_take(const char *spec, const pxi_mem_kind *kind, void **out, px_error *err)
{
    const char *there = NULL;
    pthread_mutex_lock(&lock);
    const mem_entry *entry = mem_find(spec + strlen(MEM_PREFIX));
    const bool found = entry && entry->kind == kind;
    if (entry)
        there = entry->kind->what;
    if (found) {
        kind->retain(entry->thing);
        *out = entry->thing;
    }
    pthread_mutex_unlock(&lock);
    if (found)
        return PX_OK;
    return there ? px_fail(err, PX_E_INPUT, "'%.100s': is a %s, a %s is wanted", spec, there,
                           kind->what)
                 : px_fail(err, PX_E_INPUT,
                           "'%.100s': nothing in memory has this name; a program gives it one with "
                           "px_mem_put()",
                           spec);
}

bool pxi_mem_remove(const char *name)
{
    mem_entry gone = {0};
    pthread_mutex_lock(&lock);
    mem_entry *entry = mem_find(name);
    if (entry) {
        gone = *entry;
        *entry = entries[--entry_count];
    }
    if (entry_count == 0) { /* nothing is left behind at the end of the process */
        free(entries);
        entries = NULL;
        entry_capacity = 0;
    }
    pthread_mutex_unlock(&lock);
    free(gone.name);
    if (gone.thing)
        gone.kind->release(gone.thing);
    return gone.thing != NULL;
}

/* --- files ----------------------------------------------------------------------------------- */

static _Thread_local px_taker taker_here;

px_taker px_take_here(px_taker taker)
{
    const px_taker before = taker_here;
    taker_here = taker;
    return before;
}

px_status pxi_mem_check(const char *path, px_error *err)
{
    return taker_here.take
               ? PX_OK
               : px_fail(err, PX_E_USAGE,
                         "'%.200s': only a program that calls px_call() takes files in memory",
                         path);
}

px_status pxi_mem_give(const char *path, const char *name, px_tensor *tensor, px_error *err)
{
    px_status status = pxi_mem_check(path, err);
    PX_THEN(status,
            taker_here.take(taker_here.context, path + strlen(MEM_PREFIX), name, tensor, err));
    if (status != PX_OK)
        px_tensor_done(tensor);
    *tensor = (px_tensor){0};
    return status;
}
