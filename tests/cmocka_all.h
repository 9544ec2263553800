/* tests/cmocka_all.h - cmocka and the headers it wants before it */
#ifndef TESTS_CMOCKA_ALL_H
#define TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka's own skip() says "not ok # SKIP" in TAP, which readers of TAP count as a failure. */
#include <stdio.h>
#undef skip
#define skip()                                        \
    do {                                              \
        fprintf(stderr, "%s is skipped\n", __func__); \
        return;                                       \
    } while (0)

#endif
