/* src/data/damage.c - samples of a data set that cannot be read: all of them, not the first one
 *
 * Only files of their own are looked at (pictures, recordings): arrays are checked as they are
 * opened. Where nobody asked, nothing is read beforehand; the first sample that cannot be read has
 * the others looked for, so that a user mends them in one go.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/damage.h"

#include "base/memory.h"
#include "base/worker_pool.h"
#include "data/dataset_internal.h"

#include <internal/data.h>
#include <internal/system.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* --- looking for them ------------------------------------------------------------------------ */

typedef struct damage_search {
    const px_dataset *set;
    pthread_mutex_t lock; /* of all below */
    px_damage *found;
    size_t count, capacity;
} damage_search;

/* Trouble with disk or memory is not damage. */
static bool status_is_damage(px_status status)
{
    return status >= PX_E_USAGE && status <= PX_E_MISMATCH;
}

static px_status damage_add(damage_search *search, int64_t index, const char *reason, px_error *err)
{
    char name[4096];
    px_status status = PX_OK;
    px_damage one = {.index = index,
                     .name = pxi_strdup(px_dataset_name(search->set, index, name, sizeof name)),
                     .reason = pxi_strdup(reason)};
    pthread_mutex_lock(&search->lock);
    if (!one.name || !one.reason ||
        pxi_grow(&search->found, &search->capacity, search->count + 1, sizeof one) != 0)
        status = pxi_no_memory(err);
    else
        search->found[search->count++] = one;
    pthread_mutex_unlock(&search->lock);
    if (status != PX_OK) {
        free(one.name);
        free(one.reason);
    }
    return status;
}

static px_status damage_job(void *context, int worker, int64_t index, px_error *err)
{
    (void)worker;
    damage_search *search = context;
    const pxi_source *source = search->set->source;
    px_error why = {0};
    const px_status status = source->type->verify(source, pxi_dataset_at(search->set, index), &why);
    if (status == PX_OK)
        return PX_OK;
    if (!status_is_damage(status))
        return px_fail(err, status, "%s", why.message);
    return damage_add(search, index, why.message, err);
}

static int damage_compare(const void *a, const void *b)
{
    const int64_t x = ((const px_damage *)a)->index, y = ((const px_damage *)b)->index;
    return (x > y) - (x < y);
}

/* What was found stays in the search, in order, whether it ended well or not. */
static px_status search_run(damage_search *search, int threads, pxi_pool_tick tick, void *context,
                            px_error *err)
{
    px_pool *pool = NULL;
    if (!search->set->source->type->verify)
        return PX_OK;
    PX_TRY(pxi_pool_new(threads, &pool, err));
    const px_status status =
        pxi_pool_run(pool, search->set->count, damage_job, search, tick, context, err);
    pxi_pool_free(pool);
    if (search->count)
        qsort(search->found, search->count, sizeof *search->found, damage_compare);
    return status;
}

void px_damage_free(px_damage *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) {
        free(list[i].name);
        free(list[i].reason);
    }
    free(list);
}

px_status px_dataset_damaged(const px_dataset *set, int threads,
                             bool (*progress)(void *, int64_t, int64_t), void *context,
                             px_damage **out, size_t *count, px_error *err)
{
    damage_search search = {.set = set, .lock = PTHREAD_MUTEX_INITIALIZER};
    const px_status status = search_run(&search, threads, progress, context, err);
    if (status != PX_OK) {
        px_damage_free(search.found, search.count);
        return status;
    }
    *out = search.found;
    *count = search.count;
    return PX_OK;
}

/* --- leaving them out ------------------------------------------------------------------------ */

const px_damage *px_dataset_skipped(const px_dataset *set, size_t *count)
{
    *count = set->skipped_count;
    return set->skipped;
}

static px_status skip_remarks(px_dataset *set, int64_t all, px_error *err)
{
    enum { SHOWN = 10 };
    char sentence[640];
    snprintf(sentence, sizeof sentence, "%zu of %lld inputs %s damaged and left out",
             set->skipped_count, (long long)all, set->skipped_count == 1 ? "is" : "are");
    PX_TRY(pxi_dataset_say(set, sentence, err));
    for (size_t i = 0; i < set->skipped_count && i < SHOWN; i++) {
        snprintf(sentence, sizeof sentence, "left out: %s", set->skipped[i].reason);
        PX_TRY(pxi_dataset_say(set, sentence, err));
    }
    if (set->skipped_count <= SHOWN)
        return PX_OK;
    snprintf(sentence, sizeof sentence, "left out: %zu more; --json names all",
             set->skipped_count - SHOWN);
    return pxi_dataset_say(set, sentence, err);
}

/* Where nobody is shown how far it is, it can be stopped all the same. */
static bool skip_tick(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return !px_cancelled();
}

px_status pxi_dataset_skip_damaged(px_dataset *set, const px_data_options *options, px_error *err)
{
    const int64_t all = set->count;
    int64_t kept = 0;
    if (!options->skip_damaged)
        return PX_OK;
    PX_TRY(px_dataset_damaged(set, /* threads= */ 0,
                              options->progress ? options->progress : skip_tick, options->context,
                              &set->skipped, &set->skipped_count, err));
    if (set->skipped_count == 0)
        return PX_OK;
    if ((int64_t)set->skipped_count == all)
        return px_fail(err, PX_E_INPUT,
                       "'%.100s': all of its %lld inputs are damaged; the first: %.300s", set->spec,
                       (long long)all, set->skipped[0].reason);
    int64_t *order = pxi_calloc((size_t)all, sizeof *order);
    if (!order)
        return px_fail_in(err, pxi_no_memory(err), "'%s'", set->spec);
    for (int64_t i = 0, next = 0; i < all; i++) {
        if ((size_t)next < set->skipped_count && set->skipped[next].index == i)
            set->skipped[next++].index = px_dataset_index(set, i); /* where it came from */
        else
            order[kept++] = pxi_dataset_at(set, i);
    }
    free(set->order);
    set->order = order;
    set->first = 0;
    set->count = kept;
    return skip_remarks(set, all, err);
}

/* --- where nobody asked ---------------------------------------------------------------------- */

struct pxi_damage_told {
    pthread_mutex_t lock; /* of all below */
    bool looked;
    px_damage *found;
    size_t count;
    px_error error;
};

px_status pxi_damage_told_new(pxi_damage_told **out, px_error *err)
{
    pxi_damage_told *told = NULL;
    PX_TRY(PX_NEW(told, 1, err));
    pthread_mutex_init(&told->lock, NULL);
    *out = told;
    return PX_OK;
}

void pxi_damage_told_free(pxi_damage_told *told)
{
    if (!told)
        return;
    pthread_mutex_destroy(&told->lock);
    px_damage_free(told->found, told->count);
    free(told);
}

/* A command that fails must not take long to say why. */
typedef struct damage_patience {
    double until_s;
    int64_t looked_at;
} damage_patience;

static bool patience_tick(void *context, int64_t done, int64_t total)
{
    damage_patience *patience = context;
    patience->looked_at = done;
    return done == total || px_clock_s() < patience->until_s;
}

static void told_sentence(const px_dataset *set, const damage_search *search, int64_t looked_at,
                          px_error *err)
{
    char names[160], of[96];
    const char *others[8];
    const size_t more = search->count - 1, listed = PX_MIN(more, PX_LEN(others));
    for (size_t i = 0; i < listed; i++)
        others[i] = search->found[1 + i].name;
    pxi_class_list(others, listed, names, sizeof names);
    if (looked_at < set->count)
        snprintf(of, sizeof of, "the %lld of %lld inputs that were looked at", (long long)looked_at,
                 (long long)set->count);
    else
        snprintf(of, sizeof of, "%lld inputs", (long long)set->count);
    if (more == 0)
        px_fail(err, err->status,
                "%.300s; of %s it is the only one that is damaged: --skip-damaged leaves it out",
                search->found[0].reason, of);
    else
        px_fail(err, err->status,
                "%.230s; %zu more of %s %s damaged too (%s%s): --skip-damaged leaves them out",
                search->found[0].reason, more, of, more == 1 ? "is" : "are", names,
                more > listed ? ", ..." : "");
}

px_status pxi_dataset_damage_fail(const px_dataset *set, int64_t index, px_status status,
                                  px_error *err)
{
    enum { PATIENCE_S = 3 };
    pxi_damage_told *told = set->told;
    if (!err || !status_is_damage(status) || !set->source->type->verify || set->count < 2)
        return status;
    pthread_mutex_lock(&told->lock);
    if (!told->looked) {
        damage_search search = {.set = set, .lock = PTHREAD_MUTEX_INITIALIZER};
        damage_patience patience = {.until_s = px_clock_s() + PATIENCE_S};
        px_error ignored = {0};
        told->looked = true;
        (void)search_run(&search, /* threads= */ 0, patience_tick, &patience, &ignored);
        told->error.status = status;
        if (search.count)
            told_sentence(set, &search, patience.looked_at, &told->error);
        told->found = search.found;
        told->count = search.count;
    }
    const px_damage key = {.index = index};
    if (told->count && bsearch(&key, told->found, told->count, sizeof key, damage_compare))
        *err = told->error; /* else: damaged since, or not found in time */
    pthread_mutex_unlock(&told->lock);
    return err->status;
}
