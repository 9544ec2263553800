/* include/internal/ranks.h - the processes that do one command together
 *
 * Started by mpirun or srun, every rank runs the same command from start to end on the same data,
 * and what one computes all compute: the same bytes, whatever is or is not divided. A pass that
 * says what its jobs leave (pxi_pass_leaves) is divided: each rank does its share of the jobs, and
 * then all get what the others' left, so that every rank goes on with the same state. The first
 * rank prints and writes; the others are mute where files are made (base/file.c and its
 * neighbours).
 *
 * Ranks *meet* where they exchange something and before a file appears. At a meeting each says
 * where it is and whether it failed: a failure of one is the failure of all, and ranks that are not
 * at the same place end with a sentence instead of waiting for each other.
 *
 * MPI is a plug-in, libplexor-mpi.so, loaded when the environment says that there are ranks.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_RANKS_H
#define PXI_INTERNAL_RANKS_H

#include <inttypes.h>
#include <plexor/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PX_BEGIN_DECLS

/* Before the first command of a process. Alone: PX_OK, and nothing happens. Refuses ranks that run
 * another version or other words. The others are with whoever called this: only in that thread
 * ranks meet. */
px_status pxi_ranks_join(int argc, char **argv, px_error *err);
int pxi_rank(void);       /* 0: the first, or alone */
int pxi_rank_count(void); /* 1: alone */
/* The command that follows is done by the first rank; the others only leave. */
void pxi_ranks_follow_first(void);
/* At the end; `error` NULL: it did not fail. Returns the exit status. Where only another failed,
 * *other is filled in with that. */
int pxi_ranks_leave(int exit_status, const px_error *error, px_error *other);

/* Whether ranks can meet here and now: there are several, and this is where all of them come by. */
bool pxi_ranks_together(void);
/* Whether this process writes nothing. */
bool pxi_ranks_mute(void);
/* While one is at its share nothing that it calls meets the others; returns what was before. */
bool pxi_ranks_apart(bool apart);

/* Only together. `what` and `mark` are the same for all, or all fail. `status` is how this one
 * fared, with *err as its sentence, and `job` what failed: all return the failure of the lowest
 * job, and a sentence of another rank's names rank and host. */
px_status pxi_ranks_meet(const char *what, uint64_t mark, px_status status, int64_t job,
                         px_error *err);
/* The same where it may be alone, and has not failed: does nothing then. */
px_status pxi_ranks_agree(const char *what, uint64_t mark, px_error *err);

/* The same, alone too, and where nobody failed: what the first rank says. For whatever depends on a
 * clock or a signal. */
px_status pxi_ranks_first(const char *what, px_status status, int64_t job, uint64_t *number,
                          px_error *err);

/* The same, and where nobody failed: of every rank the bytes that it has, behind each other,
 * sizes[r] of rank r. The caller frees *all. */
px_status pxi_ranks_swap(const char *what, px_status status, int64_t job, const void *mine,
                         size_t size, char **all, size_t *sizes, px_error *err);

/* Of bytes that another rank sent: moves on behind what it takes. False: there are not so many. */
bool pxi_ranks_take(void *to, size_t bytes, const char **from, size_t *size);

/* Together: the sums of all ranks' numbers, for all. */
px_status pxi_ranks_add(const char *what, px_status status, uint64_t *numbers, size_t count,
                        px_error *err);

/* Right after a meeting, by all: of rank r sizes[r] bytes behind each other; and of what this one
 * has, to[r] bytes for rank r, from[r] bytes of it. Below 2 GiB in all. */
void pxi_ranks_gather(const void *mine, const size_t *sizes, void *all);
void pxi_ranks_trade(const void *mine, const size_t *to, void *all, const size_t *from);

/* --- dealing ------------------------------------------------------------------------------------
 *
 * Numbers 0..count-1, each for one rank, to whoever asks next: a slow rank gets fewer, and nobody
 * waits for it. A rank gets its first ones without asking; then the first rank hands out pieces of
 * what is left, smaller and smaller ones. Any thread may ask, and to each rank numbers come in
 * ascending order. Between begin and end, both by all, ranks do not meet.
 */
void pxi_ranks_deal_begin(int64_t count);
bool pxi_ranks_deal_next(int64_t *number); /* false: none is left */
void pxi_ranks_deal_end(void);

/* In the environment the number of a descriptor: the process then does all that one of several
 * does, though it is alone, and writes there how many bytes it would have sent, the most memory
 * that this took, and how many seconds of its work would have been divided. For 'plexor plan'. */
#define PXI_REHEARSAL "PLEXOR_REHEARSAL"
#define PXI_REHEARSAL_FORMAT "%" PRIu64 " %" PRIu64 " %.9f\n"

/* --- the plug-in --------------------------------------------------------------------------------
 *
 * Functions are called by one thread, but for next(), by one at a time. They return when all ranks
 * have called them; a failure of the machinery ends all processes.
 */
#define PXI_RANKS_ABI 2
typedef struct pxi_ranks_plugin {
    uint32_t abi;
    int rank, size;
    void (*gather)(const void *mine, size_t size, void *all);
    /* sizes[r] bytes of rank r. */
    void (*gather_some)(const void *mine, const size_t *sizes, void *all);
    void (*trade)(const void *mine, const size_t *to, void *all, const size_t *from);
    /* Numbers from `first` to count - 1 are handed out, until all ranks were told that none is left
     * and have called dealt(). */
    void (*deal)(int64_t first, int64_t count);
    bool (*next)(int64_t *first, int64_t *end); /* some; false: none is left */
    void (*dealt)(void);
    void (*close)(void);
} pxi_ranks_plugin;
/* What the plug-in exports. NULL, with a sentence in *err, or PX_E_NOMEM: not possible. */
#define PXI_RANKS_OPEN "plexor_ranks_open"
typedef const pxi_ranks_plugin *(*pxi_ranks_open_fn)(px_error *err);

PX_END_DECLS
#endif
