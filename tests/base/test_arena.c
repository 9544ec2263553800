/* tests/base/test_arena.c - arenas and checked allocation */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/memory.h"
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static void test_blocks(void **state)
{
    (void)state;
    px_arena *arena = pxi_arena_new();
    unsigned char *blocks[300];
    for (size_t i = 0; i < PX_LEN(blocks); i++) { /* small ones, and some beyond a chunk */
        const size_t size = i % 50 == 49 ? 100000 : i;
        blocks[i] = pxi_arena_alloc(arena, 1, size);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % (size >= 64 ? 64 : 16), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)i & 0xff, size);
    }
    for (size_t i = 0; i < PX_LEN(blocks); i++) /* none overlaps another */
        for (size_t k = 0; k < (i % 50 == 49 ? 100000 : i); k++)
            assert_int_equal(blocks[i][k], i & 0xff);
    assert_string_equal(pxi_arena_strdup(arena, "word"), "word");
    assert_string_equal(pxi_arena_strndup(arena, "word", 2), "wo");
    assert_true(pxi_arena_whole(arena));
    assert_null(pxi_arena_alloc(arena, SIZE_MAX, 2));
    assert_non_null(pxi_arena_alloc(arena, 1, 1));
    assert_false(pxi_arena_whole(arena) || pxi_arena_whole(NULL));
    assert_null(pxi_arena_alloc(NULL, 1, 1));
    assert_null(pxi_arena_alloc(arena, SIZE_MAX, 1));
    pxi_arena_free(arena);
    pxi_arena_free(NULL);
}

static void test_checked(void **state)
{
    (void)state;
    assert_null(pxi_calloc(SIZE_MAX / 2, 4));
    assert_null(pxi_realloc(NULL, SIZE_MAX / 2, 4));
    assert_null(pxi_alloc_aligned(SIZE_MAX));
    int *array = NULL;
    size_t cap = 0;
    assert_int_equal(pxi_grow(&array, &cap, 100, sizeof *array), 0);
    assert_true(cap >= 100);
    array[99] = 7;
    const size_t before = cap;
    assert_int_equal(pxi_grow(&array, &cap, SIZE_MAX / 2, sizeof *array), -1);
    assert_int_equal(cap, before);
    assert_int_equal(array[99], 7);
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
