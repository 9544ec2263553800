/* plugins/mpi/mpi_ranks.c - libplexor-mpi.so: ranks that mpirun or srun started
 *
 * Only what MPI 3 has. Waiting ranks sleep between looks, so that those at work on the same machine
 * have its cores; MPI itself would spin.
 */
#include <internal/ranks.h>

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOKS = 200, SLEEP_LEAST_NS = 20000, SLEEP_MOST_NS = 2000000 };

static MPI_Comm ranks = MPI_COMM_NULL;
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

static void mpi_close(void)
{
    MPI_Comm_free(&ranks);
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
                                    .close = mpi_close};
    int got;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &got) != MPI_SUCCESS ||
        got < MPI_THREAD_FUNNELED) {
        snprintf(err->message, sizeof err->message, "MPI does not start beside threads");
        return NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
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
