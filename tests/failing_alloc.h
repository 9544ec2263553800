/* tests/failing_alloc.h - an allocator that can be told to fail
 *
 * The linker sends the library's allocations here: link with -Wl,--wrap=malloc and so on
 * (alloc_wraps of tests/meson.build). Included by one file per executable.
 *
 *     for (long k = 0; fail_at(k), status = work(), fail_never(); k++)   // true while one failed
 *         ...
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAILING_ALLOC_H
#define TESTS_FAILING_ALLOC_H

#include "base/arena.h"
#include "cmocka_all.h"

#include <plexor/error.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_pxi_arena_alloc(px_arena *arena, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_pxi_arena_alloc(px_arena *arena, size_t count, size_t size);

static atomic_long alloc_count;      /* since fail_at() */
static atomic_long alloc_fails = -1; /* which of them fails; -1: none */

/* The allocation after the next `k` fails. */
static inline void fail_at(long k)
{
    alloc_count = 0;
    alloc_fails = k;
}

/* Whether one failed since fail_at(). None will from now on. */
static inline bool fail_never(void)
{
    const bool failed = alloc_fails >= 0 && alloc_count > alloc_fails;
    alloc_fails = -1;
    return failed;
}

static inline bool alloc_must_fail(void)
{
    return atomic_fetch_add(&alloc_count, 1) == alloc_fails;
}

void *__wrap_malloc(size_t size)
{
    return alloc_must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return alloc_must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return alloc_must_fail() ? NULL : __real_reallocarray(old, count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return alloc_must_fail() ? NULL : __real_aligned_alloc(alignment, size);
}

/* Most of an arena's allocations reach no other one. */
void *__wrap_pxi_arena_alloc(px_arena *arena, size_t count, size_t size)
{
    /* the arena remembers that it lacked something */
    return alloc_must_fail() ? __real_pxi_arena_alloc(arena, SIZE_MAX, 2)
                             : __real_pxi_arena_alloc(arena, count, size);
}

/* Runs the work until none of its allocations failed: every one at first, then fewer and fewer
 * (planning alone makes thousands), the sooner the smaller `pace`. */
static inline void fail_in_turn(px_status (*work)(const void *context, px_error *err),
                                const void *context, long pace, const char *what)
{
    bool failed = true;
    for (long k = 0; failed; k += 1 + k / pace) {
        px_error err = {0};
        fail_at(k);
        const px_status status = work(context, &err);
        failed = fail_never();
        if (status != (failed ? PX_E_NOMEM : PX_OK))
            fail_msg("%s, allocation %ld: status %d, '%s'", what, k, (int)status, err.message);
    }
}

#endif
