/* plugins/mpi/mpi_ranks.c - libplexor-mpi.so: ranks that mpirun or srun started
 *
 * Only what MPI 3 has. Waiting ranks sleep between looks, so that those at work on the same machine
 * have its cores; MPI itself would spin.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/ranks.h>

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOKS = 200, SLEEP_LEAST_NS = 20000, SLEEP_MOST_NS = 2000000 };

static MPI_Comm ranks = MPI_COMM_NULL, asks = MPI_COMM_NULL; /* of meetings, of dealing */
static int *counts, *offsets, *own_counts, *own_offsets;

static void mpi_wait(MPI_Request *request)
{
    int done = 0;
    long sleep_ns = SLEEP_LEAST_NS;
    for (int look = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done; look++) {
        if (look < LOOKS) {
            sched_yield();
            continue;
        }
        nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
        sleep_ns = sleep_ns * 5 / 4 < SLEEP_MOST_NS ? sleep_ns * 5 / 4 : SLEEP_MOST_NS;
    }
}

static void mpi_gather(const void *mine, size_t size, void *all)
{
    MPI_Request request;
    if (size > INT_MAX)
        MPI_Abort(ranks, 3); /* plexor's own pieces are smaller */
    MPI_Iallgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, ranks, &request);
    mpi_wait(&request);
}

static void mpi_lay_out(const size_t *sizes, int *to_counts, int *to_offsets)
{
    int count;
    size_t offset = 0;
    MPI_Comm_size(ranks, &count);
    for (int r = 0; r < count; r++) {
        if (sizes[r] > INT_MAX - offset)
            MPI_Abort(ranks, 3); /* likewise */
        to_counts[r] = (int)sizes[r];
        to_offsets[r] = (int)offset;
        offset += sizes[r];
    }
}

static void mpi_trade(const void *mine, const size_t *to, void *all, const size_t *from)
{
    MPI_Request request;
    mpi_lay_out(to, own_counts, own_offsets);
    mpi_lay_out(from, counts, offsets);
    MPI_Ialltoallv(mine, own_counts, own_offsets, MPI_BYTE, all, counts, offsets, MPI_BYTE, ranks,
                   &request);
    mpi_wait(&request);
}

static void mpi_gather_some(const void *mine, const size_t *sizes, void *all)
{
    MPI_Request request;
    int rank;
    MPI_Comm_rank(ranks, &rank);
    mpi_lay_out(sizes, counts, offsets);
    MPI_Iallgatherv(mine, counts[rank], MPI_BYTE, all, counts, offsets, MPI_BYTE, ranks, &request);
    mpi_wait(&request);
}

/* --- dealing ------------------------------------------------------------------------------------
 *
 * On the first rank a thread answers the others while workers are at their jobs: nobody else there
 * is in MPI meanwhile. It ends when each of them was told that none is left.
 */

enum { DEAL_ASK = 1, DEAL_ANSWER = 2, DEAL_PARTS = 4, DEAL_SLEEP_NS = 100000 };

static struct {
    pthread_mutex_t lock; /* guards next */
    pthread_t thread;
    int64_t next, count;
} dealer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void mpi_wait_briefly(MPI_Request *request)
{
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE), !done)
        nanosleep(&(struct timespec){.tv_nsec = DEAL_SLEEP_NS}, NULL);
}

/* piece[0]..piece[1]-1, none where they are equal. */
static void dealer_take(int64_t piece[2])
{
    int size;
    MPI_Comm_size(asks, &size);
    pthread_mutex_lock(&dealer.lock);
    const int64_t part = (dealer.count - dealer.next) / (DEAL_PARTS * (int64_t)size);
    piece[0] = dealer.next;
    piece[1] = dealer.next += part > 1 ? part : dealer.next < dealer.count;
    pthread_mutex_unlock(&dealer.lock);
}

static void *dealer_main(void *unused)
{
    int size;
    MPI_Comm_size(asks, &size);
    for (int served = 1; served < size;) {
        int64_t piece[2];
        char ask;
        MPI_Status who;
        MPI_Request request;
        int done = 0;
        MPI_Irecv(&ask, 1, MPI_BYTE, MPI_ANY_SOURCE, DEAL_ASK, asks, &request);
        while (MPI_Test(&request, &done, &who), !done)
            nanosleep(&(struct timespec){.tv_nsec = DEAL_SLEEP_NS}, NULL);
        dealer_take(piece);
        served += piece[0] == piece[1];
        MPI_Isend(piece, sizeof piece, MPI_BYTE, who.MPI_SOURCE, DEAL_ANSWER, asks, &request);
        mpi_wait_briefly(&request);
    }
    return unused;
}

static void mpi_deal(int64_t first, int64_t count)
{
    int rank;
    MPI_Comm_rank(asks, &rank);
    dealer.next = first;
    dealer.count = count;
    if (rank == 0 && pthread_create(&dealer.thread, NULL, dealer_main, NULL) != 0)
        MPI_Abort(asks, 3); /* no memory for a thread */
}

static bool mpi_next(int64_t *first, int64_t *end)
{
    int64_t piece[2];
    int rank;
    MPI_Comm_rank(asks, &rank);
    if (rank == 0) {
        dealer_take(piece);
    } else {
        const char ask = 0;
        MPI_Request request;
        MPI_Isend(&ask, 1, MPI_BYTE, 0, DEAL_ASK, asks, &request);
        mpi_wait_briefly(&request);
        MPI_Irecv(piece, sizeof piece, MPI_BYTE, 0, DEAL_ANSWER, asks, &request);
        mpi_wait_briefly(&request);
    }
    *first = piece[0];
    *end = piece[1];
    return piece[0] < piece[1];
}

static void mpi_dealt(void)
{
    int rank;
    MPI_Comm_rank(asks, &rank);
    if (rank == 0)
        pthread_join(dealer.thread, NULL);
}

static void mpi_close(void)
{
    MPI_Comm_free(&ranks);
    MPI_Comm_free(&asks);
    free(counts);
    free(offsets);
    free(own_counts);
    free(own_offsets);
    MPI_Finalize();
}

/* MPI_ERRORS_ARE_FATAL is the default: whatever fails ends all ranks, with a sentence of MPI's. */
__attribute__((visibility("default"))) const pxi_ranks_plugin *plexor_ranks_open(px_error *err);
const pxi_ranks_plugin *plexor_ranks_open(px_error *err)
{
    static pxi_ranks_plugin self = {.abi = PXI_RANKS_ABI,
                                    .gather = mpi_gather,
                                    .gather_some = mpi_gather_some,
                                    .trade = mpi_trade,
                                    .deal = mpi_deal,
                                    .next = mpi_next,
                                    .dealt = mpi_dealt,
                                    .close = mpi_close};
    int got;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &got) != MPI_SUCCESS ||
        got < MPI_THREAD_SERIALIZED) {
        snprintf(err->message, sizeof err->message, "MPI does not start beside threads");
        return NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &asks);
    MPI_Comm_rank(ranks, &self.rank);
    MPI_Comm_size(ranks, &self.size);
    counts = calloc((size_t)self.size, sizeof *counts);
    offsets = calloc((size_t)self.size, sizeof *offsets);
    own_counts = calloc((size_t)self.size, sizeof *own_counts);
    own_offsets = calloc((size_t)self.size, sizeof *own_offsets);
    if (!counts || !offsets || !own_counts || !own_offsets) {
        err->status = PX_E_NOMEM;
        return NULL;
    }
    return &self;
}
