/* src/engine/team_ranks.c - a team on several ranks
 *
 * Nothing depends on who ran what: meetings read the states of all micro-batches in their order,
 * and gradients are added up element by element in that order too. So that no rank has to hold the
 * gradients of all, chunks of them are dealt out: a rank gets the micro-batches' parts of its
 * chunks, and all get the sums.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/team_internal.h"

#include "base/memory.h"

#include <internal/ranks.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_BYTES = 16 << 20 }; /* that a rank receives at a time */

static const char AT[] = "a step of training";

static px_status group_room(pxi_team_ranks *group, size_t bytes, px_error *err)
{
    if (bytes <= group->room)
        return PX_OK;
    free(group->mine);
    free(group->all);
    group->mine = pxi_alloc_aligned(bytes);
    group->all = pxi_alloc_aligned(bytes);
    group->room = group->mine && group->all ? bytes : 0;
    return group->room ? PX_OK : pxi_no_memory(err);
}

/* States of the micro-batches that other ranks run. */
static px_status group_guests(px_team *team, px_error *err)
{
    const px_plan *plan = team->plan;
    size_t most = 0;
    PX_TRY(PX_NEW(team->group->guests, plan->unit_count, err));
    for (int u = 0; u < plan->unit_count; u++) {
        const pxi_unit *unit = &plan->units[u];
        if (!unit->kind->meet)
            continue;
        void **guests = team->group->guests[u] = pxi_calloc((size_t)team->most, sizeof *guests);
        if (!guests)
            return pxi_no_memory(err);
        for (int m = 0; m < team->most; m++) {
            size_t count = 0;
            if (m % team->ranks != team->rank)
                PX_TRY(unit->kind->attach(unit, team->sessions[0], &guests[m], err));
            (void)unit->kind->said(unit, pxi_team_state(team, m, u), /* backward= */ false, &count);
            most = PX_MAX(most, count);
        }
    }
    return group_room(team->group, (size_t)team->most * most * sizeof(double), err);
}

px_status pxi_team_ranks_open(px_team *team, px_error *err)
{
    if (team->ranks == 1)
        return PX_OK;
    const size_t chunk = (size_t)team->most * PXI_TEAM_CHUNK * sizeof(float);
    if (chunk > INT32_MAX / 2)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "%d micro-batches are more than ranks add up; a larger --micro-batch helps",
                       team->most);
    PX_TRY(PX_NEW(team->group, 1, err));
    pxi_team_ranks *group = team->group;
    PX_TRY(PX_NEW(group->to, team->ranks, err));
    PX_TRY(PX_NEW(group->from, team->ranks, err));
    group->round = PX_MAX((size_t)ROUND_BYTES / chunk, (size_t)1);
    /* What is sent: of the chunks of all ranks in a round, this one's micro-batches. */
    const size_t own = (size_t)(team->most + team->ranks - 1) / (size_t)team->ranks;
    PX_TRY(group_room(group,
                      PX_MAX(own * (size_t)team->ranks, (size_t)team->most) * group->round *
                          PXI_TEAM_CHUNK * sizeof(float),
                      err));
    return group_guests(team, err);
}

void pxi_team_ranks_close(px_team *team)
{
    pxi_team_ranks *group = team->group;
    if (!group)
        return;
    for (int u = 0; group->guests && u < team->plan->unit_count; u++) {
        for (int m = 0; group->guests[u] && m < team->most; m++)
            team->plan->units[u].kind->detach(group->guests[u][m]);
        free(group->guests[u]);
    }
    free(group->guests);
    free(group->to);
    free(group->from);
    free(group->mine);
    free(group->all);
    free(group);
}

px_status pxi_team_ranks_at(px_team *team, px_status status, int *at, px_error *err)
{
    uint64_t number = (uint64_t)(int64_t)*at;
    if (team->ranks == 1)
        return status;
    PX_TRY(pxi_ranks_first(AT, status, atomic_load(&team->failed), &number, err));
    *at = (int)(int64_t)number; /* a rank without a share does not know */
    return PX_OK;
}

/* How many of the step's micro-batches a rank has. */
static int rank_share(const px_team *team, int rank)
{
    return team->micro_count / team->ranks + (rank < team->micro_count % team->ranks);
}

void pxi_team_ranks_say(px_team *team, int unit, bool backward)
{
    const pxi_unit *met = &team->plan->units[unit];
    pxi_team_ranks *group = team->group;
    size_t count = 0, at = 0;
    if (team->ranks == 1)
        return;
    for (int m = team->rank; m < team->micro_count; m += team->ranks) {
        const double *said = met->kind->said(met, pxi_team_state(team, m, unit), backward, &count);
        memcpy(group->mine + at, said, count * sizeof *said);
        at += count * sizeof *said;
    }
    (void)met->kind->said(met, pxi_team_state(team, 0, unit), backward, &count);
    for (int r = 0; r < team->ranks; r++)
        group->from[r] = (size_t)rank_share(team, r) * count * sizeof(double);
    pxi_ranks_gather(group->mine, group->from, group->all);
    const char *all = group->all;
    for (int r = 0; r < team->ranks; r++)
        for (int m = r; m < team->micro_count; m += team->ranks, all += count * sizeof(double))
            memcpy(met->kind->said(met, pxi_team_state(team, m, unit), backward, &count), all,
                   count * sizeof(double));
}

/* --- gradients ------------------------------------------------------------------------------- */

/* Chunk `index` of a round is rank index % ranks's; the round ends with the gradients. */
static size_t round_chunks(const px_team *team)
{
    const size_t left = team->chunks[team->gradient_count] - team->first;
    return PX_MIN(left, team->group->round * (size_t)team->ranks);
}

/* Elements of a rank's chunks of the round. */
static size_t round_elements(const px_team *team, int rank)
{
    size_t sum = 0, first, count;
    for (size_t c = (size_t)rank; c < round_chunks(team); c += (size_t)team->ranks) {
        (void)pxi_team_chunk(team, team->first + c, &first, &count);
        sum += count;
    }
    return sum;
}

static void round_send(px_team *team)
{
    pxi_team_ranks *group = team->group;
    float *to = (float *)(void *)group->mine;
    for (int r = 0; r < team->ranks; r++) {
        for (size_t c = (size_t)r; c < round_chunks(team); c += (size_t)team->ranks) {
            size_t first, count;
            const pxi_team_gradient *g = pxi_team_chunk(team, team->first + c, &first, &count);
            for (int s = 0; s < team->used; s++, to += count)
                memcpy(to, pxi_cell_grad(team->sessions[s], g->value) + first, count * sizeof *to);
        }
        group->to[r] = round_elements(team, r) * (size_t)team->used * sizeof *to;
        group->from[r] =
            round_elements(team, team->rank) * (size_t)rank_share(team, r) * sizeof *to;
    }
    pxi_ranks_trade(group->mine, group->to, group->all, group->from);
}

/* One of this rank's chunks: where its sums stand in the gradient. */
static px_status round_add(void *context, int worker, int64_t index, px_error *err)
{
    px_team *team = context;
    const pxi_team_ranks *group = team->group;
    const size_t own = (size_t)index * (size_t)team->ranks + (size_t)team->rank;
    size_t first, count, before = 0;
    const float **parts = team->parts + worker * team->most;
    (void)err;
    for (size_t c = (size_t)team->rank; c < own; c += (size_t)team->ranks) {
        (void)pxi_team_chunk(team, team->first + c, &first, &count);
        before += count;
    }
    const pxi_team_gradient *g = pxi_team_chunk(team, team->first + own, &first, &count);
    const char *from = group->all;
    for (int r = 0; r < team->ranks; r++) {
        const float *all = (const float *)(const void *)from;
        const size_t share = (size_t)rank_share(team, r);
        for (size_t s = 0; s < share; s++)
            parts[s * (size_t)team->ranks + (size_t)r] = all + before * share + s * count;
        from += group->from[r];
    }
    pxi_team_add_up(parts, team->micro_count, count, g->sum + first);
    return PX_OK;
}

/* Everybody's sums for all. */
static void round_gather(px_team *team)
{
    pxi_team_ranks *group = team->group;
    float *mine = (float *)(void *)group->mine;
    const float *all = (const float *)(const void *)group->all;
    for (int r = 0; r < team->ranks; r++)
        group->from[r] = round_elements(team, r) * sizeof *mine;
    for (int r = -1; r < team->ranks; r++) { /* first what this one has */
        if (r == 0)
            pxi_ranks_gather(group->mine, group->from, group->all);
        for (size_t c = (size_t)(r < 0 ? team->rank : r); c < round_chunks(team);
             c += (size_t)team->ranks) {
            size_t first, count;
            const pxi_team_gradient *g = pxi_team_chunk(team, team->first + c, &first, &count);
            if (r < 0) {
                memcpy(mine, g->sum + first, count * sizeof *mine);
                mine += count;
            } else {
                memcpy(g->sum + first, all, count * sizeof *all);
                all += count;
            }
        }
    }
}

/* --- what is left of samples ----------------------------------------------------------------- */

/* Copies what the step left of micro-batch `micro` from an array to *at, or back. */
static void left_copy(const px_team *team, int micro, char **at, bool back)
{
    const int64_t batch = team->plan->batch, first = micro * batch;
    const size_t samples = (size_t)PX_MIN(batch, team->step->samples - first);
    for (size_t i = 0; i < PX_LEN(team->step->left) && team->step->left[i].base; i++) {
        const size_t size = team->step->left[i].size;
        char *own = (char *)team->step->left[i].base + (size_t)first * size;
        memcpy(back ? own : *at, back ? *at : own, samples * size);
        *at += samples * size;
    }
}

static px_status left_gather(px_team *team, px_error *err)
{
    pxi_team_ranks *group = team->group;
    size_t each = 0, all_bytes = 0;
    for (size_t i = 0; i < PX_LEN(team->step->left) && team->step->left[i].base; i++)
        each += team->step->left[i].size;
    for (int r = 0; r < team->ranks; r++) {
        int64_t samples = rank_share(team, r) * team->plan->batch;
        if (r == (team->micro_count - 1) % team->ranks) /* the last may be smaller */
            samples -= team->micro_count * team->plan->batch - team->step->samples;
        group->from[r] = (size_t)samples * each;
        all_bytes += group->from[r];
    }
    if (all_bytes > INT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "a batch of %lld samples is too large for ranks",
                       (long long)team->step->samples);
    px_status status = group_room(group, all_bytes, err);
    PX_TRY(pxi_ranks_meet(AT, 1, status, team->rank, err));
    char *at = group->mine;
    for (int m = team->rank; m < team->micro_count; m += team->ranks)
        left_copy(team, m, &at, /* back= */ false);
    pxi_ranks_gather(group->mine, group->from, group->all);
    at = group->all;
    for (int r = 0; r < team->ranks; r++)
        for (int m = r; m < team->micro_count; m += team->ranks)
            left_copy(team, m, &at, /* back= */ true);
    return PX_OK;
}

px_status pxi_team_ranks_add(px_team *team, px_error *err)
{
    for (team->first = 0; team->first < team->chunks[team->gradient_count];) {
        const size_t chunks = round_chunks(team), ranks = (size_t)team->ranks;
        const size_t own = chunks / ranks + ((size_t)team->rank < chunks % ranks);
        round_send(team);
        PX_TRY(pxi_team_jobs(team, (int64_t)own, round_add, err));
        round_gather(team);
        team->first += chunks;
    }
    return left_gather(team, err);
}
