/* src/engine/pass_stream.c - searches: slots that are refilled until all items are done */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pass_internal.h"

#include "base/memory.h"

#include <stdlib.h>

void pxi_pass_break(pxi_pass *pass, int64_t job, px_status status, const px_error *why)
{
    pthread_mutex_lock(&pass->lock);
    if (status != PX_E_CANCELLED && job < pass->broken) {
        pass->broken = job;
        pass->failure = *why;
        pass->failure.status = status;
    }
    pthread_mutex_unlock(&pass->lock);
    atomic_store(&pass->stop, true);
}

static bool stream_next(pxi_pass *pass, int64_t *item)
{
    if (pass->ranks > 1)
        return pxi_pass_deal(pass, item);
    if ((int64_t)atomic_load(&pass->next) >= pass->stream_count)
        return false;
    *item = (int64_t)atomic_fetch_add(&pass->next, 1);
    return *item < pass->stream_count;
}

static px_status stream_begin(pxi_pass *pass, pxi_lane *lane, size_t slot, int64_t item,
                              px_error *err)
{
    px_error own = {0};
    const px_status status = pass->stream->begin(lane, slot, item, &own);
    if (status == PX_OK)
        return PX_OK;
    pxi_pass_break(pass, item, status, &own);
    if (err)
        *err = own;
    return status;
}

/* Fills empty slots; *some is false where none is taken. */
static px_status stream_fill(pxi_pass *pass, pxi_lane *lane, bool *taken, bool *some, px_error *err)
{
    *some = false;
    for (size_t i = 0; i < pass->stream->slots; i++) {
        int64_t item;
        if (!taken[i] && stream_next(pass, &item)) {
            PX_TRY(stream_begin(pass, lane, i, item, err));
            taken[i] = true;
        }
        *some |= taken[i];
    }
    return PX_OK;
}

static px_status stream_work(void *context, pxi_lane *lane, int64_t job, px_error *err)
{
    pxi_pass *pass = context;
    const pxi_stream *stream = pass->stream;
    bool *taken = pxi_calloc(stream->slots, sizeof *taken), some = false;
    px_status status = taken ? PX_OK : pxi_no_memory(err);
    (void)job;
    while (status == PX_OK && !atomic_load(&pass->stop)) {
        status = stream_fill(pass, lane, taken, &some, err);
        if (status != PX_OK || !some)
            break;
        status = stream->step(lane, err);
        for (size_t i = 0; status == PX_OK && i < stream->slots; i++)
            if (taken[i] && stream->done(lane, i)) {
                taken[i] = false;
                atomic_fetch_add(&pass->finished, 1);
            }
    }
    if (status != PX_OK)
        atomic_store(&pass->stop, true);
    free(taken);
    return status;
}

px_status pxi_pass_stream(pxi_pass *pass, int64_t count, const pxi_share *share,
                          const pxi_stream *stream, px_error *err)
{
    pass->stream = stream;
    pass->stream_count = count;
    atomic_store(&pass->finished, 0);
    atomic_store(&pass->stop, false);
    const px_status status = pxi_pass_each(pass, pass->lane_count, share, stream_work, pass, err);
    pass->stream = NULL;
    if (pass->broken == INT64_MAX || pass->ranks > 1)
        return status;
    if (err)
        *err = pass->failure; /* whichever lane met it */
    return pass->failure.status;
}
