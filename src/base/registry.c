/* src/base/registry.c - what can be chosen by name */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/param.h>
#include <plexor/registry.h>

#include "base/additions.h"
#include "base/memory.h"

#include <ctype.h>
#include <internal/text.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static size_t registry_added(const px_registry *registry)
{
    return registry->added ? atomic_load_explicit(&registry->added->count, memory_order_acquire)
                           : 0;
}

static size_t registry_own(const px_registry *registry)
{
    size_t count = registry->count;
    while (registry->own && registry->own(count))
        count++;
    return count;
}

size_t px_registry_count(const px_registry *registry)
{
    return registry_own(registry) + registry_added(registry);
}

const px_entry *px_registry_at(const px_registry *registry, size_t i)
{
    const size_t own = registry_own(registry), added = registry_added(registry);
    if (i >= own)
        return i - own < added ? registry->added->entry[i - own] : NULL;
    if (registry->own)
        return registry->own(i);
    return registry->entries ? registry->entries[i]
                             : (const px_entry *)(const void *)((const char *)registry->first +
                                                                i * registry->stride);
}

const px_entry *px_registry_word(const px_registry *registry, const char *text, size_t length)
{
    for (size_t i = 0; i < px_registry_count(registry); i++) {
        const px_entry *entry = px_registry_at(registry, i);
        if (strlen(entry->id) == length && strncmp(entry->id, text, length) == 0)
            return entry;
    }
    return NULL;
}

const px_entry *px_registry_find(const px_registry *registry, const char *id)
{
    return px_registry_word(registry, id, strlen(id));
}

px_status px_registry_unknown(const px_registry *registry, const char *text, size_t length,
                              px_error *err)
{
    enum { WORD = 60, NAMES = 128 };
    char word[WORD + 1] = "";
    const char *names[NAMES];
    size_t count = 0;
    px_text advice = {0};
    strncat(word, text, PX_MIN(length, WORD));
    for (; count < PX_MIN(px_registry_count(registry), NAMES); count++)
        names[count] = px_registry_at(registry, count)->id;
    const char *nearest = registry->many ? px_nearest_word(word, names, count) : NULL;
    if (nearest)
        px_text_format(&advice, ", did you mean '%s'", nearest);
    if (registry->many)
        px_text_format(&advice, "; 'plexor list %s' names them", registry->plural);
    for (size_t i = 0; !registry->many && i < count; i++)
        px_text_format(&advice, "%s%s", i ? ", " : "; there are ", names[i]);
    const px_status status = px_fail(err, PX_E_USAGE, "there is no %s '%s'%s", registry->kind, word,
                                     px_text_get(&advice));
    px_text_done(&advice);
    return status;
}

px_status px_registry_choose(const px_registry *registry, const char *id, const px_entry **out,
                             px_error *err)
{
    const px_entry *found = px_registry_find(registry, id);
    if (!found)
        return px_registry_unknown(registry, id, strlen(id), err);
    *out = found;
    return PX_OK;
}

/* --- what a program adds --------------------------------------------------------------------- */

/* Where a setting lies beyond the config, or a default beyond its bounds. */
static const char *entry_flaw(const px_entry *entry)
{
    if (!entry->id || !*entry->id || entry->id[0] == '-' ||
        strspn(entry->id, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(entry->id))
        return "its id is made of a-z, 0-9 and '-'";
    if (!entry->title || !*entry->title)
        return "it needs a title";
    for (const px_param *p = entry->params; p && p->name; p++) {
        if (p->offset + p->size > entry->config_size)
            return "a setting lies outside its config";
        if (p->type != PX_TYPE_CHOICE && !(p->min <= p->def && p->def <= p->max))
            return "a default is out of range";
    }
    return NULL;
}

px_status pxi_registry_add(const px_registry *registry, const px_entry *entry, px_error *err)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    struct px_additions *added = registry->added;
    const char *flaw = entry_flaw(entry);
    if (flaw)
        return px_fail(err, PX_E_USAGE, "the %s '%.60s' cannot be added: %s", registry->kind,
                       entry->id ? entry->id : "", flaw);
    pthread_mutex_lock(&one_at_a_time);
    const size_t count = registry_added(registry);
    px_status status = PX_OK;
    if (px_registry_find(registry, entry->id))
        status = px_fail(err, PX_E_USAGE, "there is a %s '%s' already", registry->kind, entry->id);
    else if (count == PXI_ADDITIONS_MAX)
        status = px_fail(err, PX_E_USAGE, "%d %s have been added, and no more can be",
                         PXI_ADDITIONS_MAX, registry->plural);
    else {
        added->entry[count] = entry;
        atomic_store_explicit(&added->count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

/* --- settings -------------------------------------------------------------------------------- */

static px_status entry_no_setting(const px_registry *registry, const char *text, px_error *err)
{
    px_text kind = {0};
    for (const char *c = registry->kind; *c; c++)
        px_text_format(&kind, "%c", toupper((unsigned char)*c));
    const px_status status =
        px_fail(err, PX_E_USAGE, "'%.100s' is no setting; write %s.NAME=VALUE, as in %s", text,
                px_text_get(&kind), registry->example);
    px_text_done(&kind);
    return status;
}

static px_status entry_lacks(const px_entry *entry, const char *text, px_error *err)
{
    px_text names = {0};
    for (const px_param *p = entry->params; p && p->name; p++)
        px_text_format(&names, "%s%s", p == entry->params ? "; it has " : ", ", p->name);
    const px_status status = px_fail(err, PX_E_USAGE, "'%.100s': %s has no such setting%s", text,
                                     entry->id, px_text_get(&names));
    px_text_done(&names);
    return status;
}

px_status px_entry_set(const px_registry *registry, const px_entry *entry, const char *text,
                       void *config, px_error *err)
{
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    if (!dot || !equals || dot > equals || dot == text)
        return entry_no_setting(registry, text, err);
    const size_t length = (size_t)(dot - text), named = (size_t)(equals - dot - 1);
    const bool mine = strlen(entry->id) == length && strncmp(entry->id, text, length) == 0;
    const px_entry *owner = mine ? entry : px_registry_word(registry, text, length);
    if (!owner)
        return px_fail(err, PX_E_USAGE,
                       "'%.100s': there is no %s '%.*s'; 'plexor list %s' names them", text,
                       registry->kind, (int)PX_MIN(length, 60), text, registry->plural);
    const px_param *p = owner->params;
    while (p && p->name && (strlen(p->name) != named || strncmp(p->name, dot + 1, named) != 0))
        p++;
    if (!p || !p->name)
        return entry_lacks(owner, text, err);
    return px_param_read(p, owner->id, equals + 1, mine ? config : NULL, err);
}

px_status px_entry_configure(const px_registry *registry, const px_entry *entry,
                             const char *const *texts, size_t count, void **out, px_error *err)
{
    char *config = NULL;
    PX_TRY(PX_NEW(config, PX_MAX(entry->config_size, 1), err));
    px_status status = PX_OK;
    px_params_default(entry->params, config);
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = px_entry_set(registry, entry, texts[i], config, err);
    return PX_GIVE(status, config, out, free);
}
