/* tests/faults/fault.h - which call fails, for both libraries that are preloaded
 *
 * FAULT_AT is the number of the call that fails, with FAULT_ONWARDS=1 all from there on do. With
 * FAULT_KILL=1 the process is killed there instead. FAULT_LOG names a file that gets the number of
 * calls.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    const char *log;
    long at;
    bool onwards, kills;
    atomic_bool armed; /* not before main(), and not while the count is written */
    atomic_long count;
} fault;

static void fault_arm(void)
{
    const char *at = getenv("FAULT_AT");
    fault.at = at ? atol(at) : 0;
    fault.onwards = getenv("FAULT_ONWARDS") != NULL;
    fault.kills = getenv("FAULT_KILL") != NULL;
    fault.log = getenv("FAULT_LOG");
    fault.armed = true;
}

/* By system calls: those of libc are being counted. */
__attribute__((destructor)) static void fault_end(void)
{
    char text[32];
    fault.armed = false;
    if (!fault.log)
        return;
    const int size = snprintf(text, sizeof text, "%ld\n", atomic_load(&fault.count));
    const long fd =
        syscall(SYS_openat, AT_FDCWD, fault.log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        syscall(SYS_write, fd, text, (size_t)size);
        syscall(SYS_close, fd);
    }
}

/* Counts a call; true: it is to fail. */
static bool fault_is_due(void)
{
    if (!fault.armed)
        return false;
    const long n = atomic_fetch_add(&fault.count, 1) + 1;
    const bool due = fault.at > 0 && (n == fault.at || (fault.onwards && n > fault.at));
    if (due && fault.kills)
        syscall(SYS_kill, getpid(), SIGKILL);
    return due;
}

#endif
