/* src/base/system.c - the program's version, the machine it runs on, and a wish to stop */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/canceller.h"

#include <internal/system.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static bool (*_Atomic cancel_asked)(void); /* any thread reads it */
static _Thread_local px_canceller canceller_here;
static int share_cores; /* 0: all there are */
static int64_t share_memory;

void pxi_system_share(int cores, int64_t memory_bytes)
{
    share_cores = cores;
    share_memory = memory_bytes;
}

const char *px_version(void)
{
    return PLEXOR_VERSION;
}

double px_clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int px_cpu_count(void)
{
    cpu_set_t set;
    if (share_cores > 0)
        return share_cores;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than a cpu_set_t holds */
    return online > 0 && online < 65536 ? (int)online : 1;
}

int64_t px_peak_rss_bytes(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (int64_t)usage.ru_maxrss * 1024;
}

int64_t px_memory_bytes(void)
{
    int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGE_SIZE);
    FILE *limit = fopen("/sys/fs/cgroup/memory.max", "re");
    long long cap;
    if (share_memory > 0)
        bytes = share_memory;
    if (limit) {
        if (fscanf(limit, "%lld", &cap) == 1 && cap > 0 && cap < bytes)
            bytes = cap;
        fclose(limit);
    }
    return bytes;
}

void px_cancel_when(bool (*asked)(void))
{
    atomic_store(&cancel_asked, asked);
}

bool px_cancelled(void)
{
    bool (*const asked)(void) = atomic_load_explicit(&cancel_asked, memory_order_relaxed);
    return (canceller_here.asked && canceller_here.asked(canceller_here.context)) ||
           (asked && asked());
}

px_canceller pxi_canceller(void)
{
    return canceller_here;
}

px_canceller px_cancel_here(px_canceller canceller)
{
    const px_canceller before = canceller_here;
    canceller_here = canceller;
    return before;
}
