/* src/base/ranks.c - the processes that do one command together: joining, meeting, leaving */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/ranks.h>

#include "base/memory.h"
#include "base/plugin_dir.h"
#include <internal/system.h>
#include <plexor/text.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { PIECE_BYTES = 64 << 20, HOST_SIZE = 64, MEET = 1, LEAVE = 2 };

/* What each says at every meeting. */
typedef struct rank_word {
    int32_t kind, status;
    uint64_t serial, mark, bytes;
    int64_t job;
} rank_word;

typedef struct rank_sentence { /* and what follows where somebody failed */
    char host[HOST_SIZE], what[64];
    char message[sizeof((px_error *)NULL)->message];
} rank_sentence;

static struct {
    const pxi_ranks_plugin *plugin; /* NULL: alone */
    void *library;
    pthread_t thread;
    uint64_t serial; /* of the next meeting */
    int stranger;    /* without a plug-in: its rank by the environment, so that one complains */
    bool apart;      /* nothing meets now */
    bool broken;     /* somebody left, or is elsewhere: nobody meets any more */
    rank_word *words;
    rank_sentence *sentences;
    char host[HOST_SIZE];
} group;

/* --- alone, as if there were others ----------------------------------------------------------- */

/* For 'plexor plan': a process that does as one of several does, though it is the only one, and
 * tells what it would have sent, and how long it was at work that would be divided. */
static struct {
    int fd;                  /* where it tells; 0: it does not */
    uint64_t bytes, buffers; /* buffers: the most at a time */
    double since, last, divided_s;
    int64_t first, end; /* that are dealt */
} rehearsal;

static void rehearse_some(const void *mine, const size_t *sizes, void *all)
{
    if (sizes[0])
        memcpy(all, mine, sizes[0]);
    rehearsal.bytes += sizes[0];
}

static void rehearse(const void *mine, size_t size, void *all)
{
    rehearse_some(mine, &size, all);
}

static void rehearse_trade(const void *mine, const size_t *to, void *all, const size_t *from)
{
    (void)from;
    rehearse_some(mine, to, all);
}

static void rehearse_deal(int64_t first, int64_t count)
{
    rehearsal.first = first;
    rehearsal.end = count;
}

static bool rehearse_next(int64_t *first, int64_t *end)
{
    *first = rehearsal.first;
    *end = rehearsal.first = rehearsal.end;
    return *first < *end;
}

static void rehearse_dealt(void)
{
}

static void rehearsal_end(void)
{
    dprintf(rehearsal.fd, PXI_REHEARSAL_FORMAT, rehearsal.bytes, rehearsal.buffers,
            rehearsal.divided_s);
}

static const pxi_ranks_plugin *rehearsal_begin(void)
{
    static const pxi_ranks_plugin only = {.abi = PXI_RANKS_ABI,
                                          .size = 1,
                                          .gather = rehearse,
                                          .gather_some = rehearse_some,
                                          .trade = rehearse_trade,
                                          .deal = rehearse_deal,
                                          .next = rehearse_next,
                                          .dealt = rehearse_dealt,
                                          .close = rehearsal_end};
    const char *text = getenv(PXI_REHEARSAL);
    rehearsal.fd = text ? (int)strtol(text, NULL, 10) : 0;
    return rehearsal.fd > STDERR_FILENO ? &only : NULL;
}

/* --- who there is ---------------------------------------------------------------------------- */

int pxi_rank(void)
{
    return group.plugin ? group.plugin->rank : group.stranger;
}

int pxi_rank_count(void)
{
    return group.plugin ? group.plugin->size : 1;
}

bool pxi_ranks_together(void)
{
    return group.plugin && !group.apart && !group.broken &&
           pthread_equal(group.thread, pthread_self());
}

bool pxi_ranks_mute(void)
{
    return pxi_rank() > 0;
}

bool pxi_ranks_apart(bool apart)
{
    if (!group.plugin || !pthread_equal(group.thread, pthread_self()))
        return false;
    const bool before = group.apart;
    group.apart = apart;
    if (rehearsal.fd && apart && !before)
        rehearsal.since = px_clock_s();
    else if (rehearsal.fd && before && !apart)
        rehearsal.last = px_clock_s() - rehearsal.since;
    return before;
}

void pxi_ranks_follow_first(void)
{
    group.apart = true;
}

/* --- meetings -------------------------------------------------------------------------------- */

static void exchange_words(rank_word own)
{
    own.serial = group.serial++;
    group.plugin->gather(&own, sizeof own, group.words);
}

static void exchange_sentences(const char *what, const char *message)
{
    rank_sentence own = {0};
    snprintf(own.host, sizeof own.host, "%s", group.host);
    snprintf(own.what, sizeof own.what, "%s", what);
    snprintf(own.message, sizeof own.message, "%s", message ? message : "");
    group.plugin->gather(&own, sizeof own, group.sentences);
}

/* A failure comes before a wish to stop, and a lower job before a higher one. */
static bool word_is_worse(const rank_word *a, const rank_word *b)
{
    if (b->status == PX_OK || (a->status == PX_E_CANCELLED) != (b->status == PX_E_CANCELLED))
        return b->status == PX_OK || b->status == PX_E_CANCELLED;
    return a->job < b->job;
}

static int worst_rank(void)
{
    int worst = 0;
    for (int r = 1; r < group.plugin->size; r++)
        if (group.words[r].status != PX_OK && word_is_worse(&group.words[r], &group.words[worst]))
            worst = r;
    return worst;
}

/* The first that has left, or is elsewhere than this one; -1: none. */
static int stray_rank(int32_t kind)
{
    const rank_word *own = &group.words[group.plugin->rank];
    for (int r = 0; r < group.plugin->size; r++) {
        const rank_word *word = &group.words[r];
        if (word->kind != kind ||
            (kind == MEET && (word->serial != own->serial || word->mark != own->mark)))
            return r;
    }
    return -1;
}

static px_status stray_fail(int r, const char *what, px_error *err)
{
    const rank_sentence *said = &group.sentences[r];
    group.broken = true;
    if (group.words[r].kind == MEET && strcmp(said->what, what) == 0)
        return px_fail(err, PX_E_MISMATCH,
                       "rank %d on '%s' differs in %.100s; all ranks need the same plexor, files "
                       "and options",
                       r, said->host, what);
    if (group.words[r].kind == LEAVE && *said->message)
        return px_fail(err, (px_status)group.words[r].status, "rank %d on '%s': %.400s", r,
                       said->host, said->message);
    return px_fail(err, PX_E_INTERNAL, "rank %d on '%s' is at %.60s, and rank %d at %.60s", r,
                   said->host, said->what, group.plugin->rank, what);
}

static px_status meet(const char *what, rank_word own, px_error *err)
{
    px_error failure = {0};
    if (own.status != PX_OK && err)
        failure = *err;
    own.kind = MEET;
    own.mark ^= XXH3_64bits(what, strlen(what));
    exchange_words(own);
    const int worst = worst_rank(), stray = stray_rank(MEET);
    if (stray < 0 && group.words[worst].status == PX_OK)
        return PX_OK;
    exchange_sentences(what, failure.message);
    if (stray >= 0)
        return stray_fail(stray, what, err);
    if (worst == group.plugin->rank)
        return (px_status)own.status;
    const rank_sentence *said = &group.sentences[worst];
    return px_fail(err, (px_status)group.words[worst].status, "rank %d on '%s': %.400s", worst,
                   said->host, said->message);
}

px_status pxi_ranks_meet(const char *what, uint64_t mark, px_status status, int64_t job,
                         px_error *err)
{
    return meet(what, (rank_word){.status = (int32_t)status, .mark = mark, .job = job}, err);
}

px_status pxi_ranks_agree(const char *what, uint64_t mark, px_error *err)
{
    return pxi_ranks_together() ? pxi_ranks_meet(what, mark, PX_OK, 0, err) : PX_OK;
}

px_status pxi_ranks_first(const char *what, px_status status, int64_t job, uint64_t *number,
                          px_error *err)
{
    if (!pxi_ranks_together())
        return status;
    PX_TRY(meet(what, (rank_word){.status = (int32_t)status, .job = job, .bytes = *number}, err));
    *number = group.words[0].bytes;
    return PX_OK;
}

void pxi_ranks_gather(const void *mine, const size_t *sizes, void *all)
{
    group.plugin->gather_some(mine, sizes, all);
}

void pxi_ranks_trade(const void *mine, const size_t *to, void *all, const size_t *from)
{
    group.plugin->trade(mine, to, all, from);
}

/* Piece by piece, so that there is never much more than what was asked for. */
px_status pxi_ranks_swap(const char *what, px_status status, int64_t job, const void *mine,
                         size_t size, char **all, size_t *sizes, px_error *err)
{
    const int count = group.plugin->size;
    const size_t piece = (size_t)PIECE_BYTES / (size_t)count;
    size_t total = 0, most = 0, *now = NULL;
    rehearsal.divided_s += rehearsal.last; /* what is swapped is what that work left */
    rehearsal.last = 0.0;
    char *got = NULL, *part = NULL;
    PX_TRY(meet(what, (rank_word){.status = (int32_t)status, .job = job, .bytes = size}, err));
    for (int r = 0; r < count; r++) {
        sizes[r] = (size_t)group.words[r].bytes;
        total += sizes[r];
        most = PX_MAX(most, sizes[r]);
    }
    rehearsal.buffers =
        PX_MAX(rehearsal.buffers, size + total + PX_MIN(total, (size_t)PIECE_BYTES));
    status = PX_NEW(now, count, err);
    if (status == PX_OK)
        status = PX_NEW(got, total + 1, err);
    if (status == PX_OK)
        status = PX_NEW(part, PX_MIN(total, (size_t)PIECE_BYTES) + 1, err);
    status = pxi_ranks_meet(what, 0, status, 0, err); /* whether all have room */
    for (size_t done = 0; status == PX_OK && done < most; done += piece) {
        size_t from = 0, to = 0;
        for (int r = 0; r < count; r++)
            now[r] = sizes[r] > done ? PX_MIN(piece, sizes[r] - done) : 0;
        group.plugin->gather_some((const char *)mine + PX_MIN(done, size), now, part);
        for (int r = 0; r < count; r++) {
            memcpy(got + to + PX_MIN(done, sizes[r]), part + from, now[r]);
            from += now[r];
            to += sizes[r];
        }
    }
    free(part);
    free(now);
    if (status == PX_OK)
        *all = got;
    else
        free(got);
    return status;
}

bool pxi_ranks_take(void *to, size_t bytes, const char **from, size_t *size)
{
    if (bytes > *size)
        return false;
    memcpy(to, *from, bytes);
    *from += bytes;
    *size -= bytes;
    return true;
}

px_status pxi_ranks_add(const char *what, px_status status, uint64_t *numbers, size_t count,
                        px_error *err)
{
    const int ranks = group.plugin->size;
    size_t *sizes = NULL;
    char *all = NULL;
    if (status == PX_OK)
        status = PX_NEW(sizes, ranks, err);
    status = pxi_ranks_swap(what, status, 0, numbers, count * sizeof *numbers, &all, sizes, err);
    for (int r = 0; status == PX_OK && r < ranks; r++) {
        const char *from = all + (size_t)r * count * sizeof *numbers;
        for (size_t i = 0; r != group.plugin->rank && i < count; i++) {
            uint64_t other;
            memcpy(&other, from + i * sizeof other, sizeof other);
            numbers[i] += other;
        }
    }
    free(sizes);
    free(all);
    return status;
}

/* --- dealing --------------------------------------------------------------------------------- */

enum { DEAL_PARTS = 4 }; /* of what is left, a rank gets 1 / (parts * ranks) at first */

static struct {
    pthread_mutex_t lock;
    int64_t first, end; /* that this rank may take */
    bool asks, more;    /* there are others to ask for, and may still be some */
} hand = {.lock = PTHREAD_MUTEX_INITIALIZER};

void pxi_ranks_deal_begin(int64_t count)
{
    const int64_t ranks = group.plugin->size, rank = group.plugin->rank;
    const int64_t each = PX_MAX(count / (DEAL_PARTS * ranks), (int64_t)1);
    hand.first = PX_MIN(rank * each, count);
    hand.end = PX_MIN(hand.first + each, count);
    hand.asks = hand.more = ranks * each < count;
    if (hand.asks)
        group.plugin->deal(ranks * each, count);
}

bool pxi_ranks_deal_next(int64_t *number)
{
    pthread_mutex_lock(&hand.lock);
    if (hand.first >= hand.end && hand.more)
        hand.more = group.plugin->next(&hand.first, &hand.end);
    const bool some = hand.first < hand.end;
    if (some)
        *number = hand.first++;
    pthread_mutex_unlock(&hand.lock);
    return some;
}

void pxi_ranks_deal_end(void)
{
    while (hand.more) /* this rank failed, and then all have: nobody does these */
        hand.more = group.plugin->next(&hand.first, &hand.end);
    if (hand.asks)
        group.plugin->dealt();
    hand.asks = false;
    hand.first = hand.end = 0;
}

/* --- joining and leaving --------------------------------------------------------------------- */

static long environment_number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

/* Whether somebody started this process as one of several: mpirun of Open MPI; of MPICH, and srun
 * with PMI; srun with PMIx. */
static bool environment_has_ranks(void)
{
    const char *off = getenv("PLEXOR_MPI");
    if (off && strcmp(off, "off") == 0)
        return false;
    return environment_number("OMPI_COMM_WORLD_SIZE") > 1 || environment_number("PMI_SIZE") > 1 ||
           (getenv("PMIX_RANK") && environment_number("SLURM_STEP_NUM_TASKS") > 1);
}

/* $PLEXOR_MPI; beside the program, as it was built; where it was installed. */
static void *plugin_load(void)
{
    char self[4096];
    const char *own = getenv("PLEXOR_MPI");
    if (own && *own)
        return dlopen(own, RTLD_NOW | RTLD_GLOBAL);
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[PX_MAX(length, 0)] = '\0';
    char *slash = strrchr(self, '/');
    px_text built = {0};
    px_text_format(&built, "%.*s/plugins/mpi/libplexor-mpi.so", slash ? (int)(slash - self) : 0,
                   self);
    void *library = dlopen(px_text_get(&built), RTLD_NOW | RTLD_GLOBAL);
    px_text_done(&built);
    return library ? library
                   : dlopen(PLEXOR_PLUGIN_DIR "/libplexor-mpi.so", RTLD_NOW | RTLD_GLOBAL);
}

static px_status plugin_open(const pxi_ranks_plugin **out, px_error *err)
{
    px_error own = {0};
    void *library = plugin_load();
    if (!library)
        return px_fail(
            err, PX_E_UNSUPPORTED,
            "started as one of several ranks, but libplexor-mpi.so cannot be loaded "
            "(%.300s); PLEXOR_MPI=FILE names it, PLEXOR_MPI=off lets each rank run alone",
            dlerror());
    pxi_ranks_open_fn open;
    *(void **)&open = dlsym(library, PXI_RANKS_OPEN);
    if (!open)
        return px_fail(err, PX_E_UNSUPPORTED, "libplexor-mpi.so is not of this plexor: %.300s",
                       dlerror());
    const pxi_ranks_plugin *plugin = open(&own);
    if (!plugin && own.status == PX_E_NOMEM)
        return pxi_no_memory_for(err, "the ranks");
    if (!plugin)
        return px_fail(err, PX_E_UNSUPPORTED, "libplexor-mpi.so: %.400s", own.message);
    if (plugin->abi != PXI_RANKS_ABI) {
        plugin->close();
        return px_fail(err, PX_E_UNSUPPORTED,
                       "libplexor-mpi.so has interface %u, this plexor needs %d; install both from "
                       "the same version",
                       plugin->abi, PXI_RANKS_ABI);
    }
    *out = plugin;
    return PX_OK;
}

typedef struct rank_machine {
    char host[HOST_SIZE];
    cpu_set_t cores; /* that it may use */
    int64_t memory;
} rank_machine;

/* Ranks that may use the same cores share them, and all get as many as the one that has fewest: so
 * they do the same where something is made for each thread. */
static px_status machine_share(px_error *err)
{
    rank_machine own = {.memory = px_memory_bytes()}, *all = NULL;
    const int count = group.plugin->size;
    int cores = 1 << 20;
    int64_t memory = own.memory;
    PX_TRY(PX_NEW(all, count, err));
    memcpy(own.host, group.host, sizeof own.host);
    if (sched_getaffinity(0, sizeof own.cores, &own.cores) != 0)
        CPU_SET(0, &own.cores);
    group.plugin->gather(&own, sizeof own, all);
    for (int a = 0; a < count; a++) {
        int on_cores = 0, on_host = 0;
        for (int b = 0; b < count; b++) {
            const bool beside = strcmp(all[a].host, all[b].host) == 0;
            on_host += beside;
            on_cores += beside && CPU_EQUAL(&all[a].cores, &all[b].cores);
        }
        cores = PX_MIN(cores, PX_MAX(CPU_COUNT(&all[a].cores) / on_cores, 1));
        memory = PX_MIN(memory, all[a].memory / on_host);
    }
    free(all);
    pxi_system_share(cores, memory);
    return PX_OK;
}

px_status pxi_ranks_join(int argc, char **argv, px_error *err)
{
    const pxi_ranks_plugin *plugin = rehearsal_begin();
    if (!plugin && !environment_has_ranks())
        return PX_OK;
    px_status status = plugin ? PX_OK : plugin_open(&plugin, err);
    if (status != PX_OK) {
        group.stranger = (int)(environment_number("OMPI_COMM_WORLD_RANK") +
                               environment_number("PMI_RANK") + environment_number("PMIX_RANK"));
        return status;
    }
    if (plugin->size < 2 && !rehearsal.fd) {
        plugin->close();
        return PX_OK;
    }
    if (gethostname(group.host, sizeof group.host - 1) != 0)
        snprintf(group.host, sizeof group.host, "unknown");
    status = PX_NEW(group.words, plugin->size, err);
    if (status == PX_OK)
        status = PX_NEW(group.sentences, plugin->size, err);
    if (status != PX_OK)
        abort(); /* the others wait: mpirun ends them */
    group.thread = pthread_self();
    group.plugin = plugin;
    px_text words = {0};
    for (int i = 1; i < argc; i++)
        px_text_format(&words, "%s\n", argv[i]);
    const uint64_t hash = XXH3_64bits(px_text_get(&words), words.length);
    px_text_done(&words);
    PX_TRY(pxi_ranks_agree("its version", XXH3_64bits(px_version(), strlen(px_version())), err));
    PX_TRY(pxi_ranks_agree("the words of the command", hash, err));
    status = machine_share(err);
    return pxi_ranks_meet("its machine", 0, status, 0, err);
}

/* Where only others failed, which is not seen before: the lowest. */
static int leave_others(int exit_status, px_error *other)
{
    const rank_word *words = group.words;
    const bool fine = words[0].kind == LEAVE && words[0].status == 0;
    for (int r = 1; r < group.plugin->size && fine; r++)
        if (words[r].kind == LEAVE && words[r].status != 0) {
            (void)px_fail(other, PX_E_INTERNAL, "rank %d on '%s': %.400s", r,
                          group.sentences[r].host, group.sentences[r].message);
            return 3;
        }
    return exit_status;
}

int pxi_ranks_leave(int exit_status, const px_error *error, px_error *other)
{
    if (!group.plugin)
        return exit_status;
    if (!group.broken) {
        bool same = true;
        exchange_words(
            (rank_word){.kind = LEAVE, .status = error ? (int32_t)error->status : exit_status});
        for (int r = 0; r < group.plugin->size; r++)
            same &= group.words[r].kind == LEAVE && group.words[r].status == group.words[0].status;
        if (!same) {
            exchange_sentences("the end", error ? error->message : "");
            exit_status = leave_others(exit_status, other);
        }
    }
    group.plugin->close();
    free(group.words);
    free(group.sentences);
    group.plugin = NULL;
    return exit_status;
}
