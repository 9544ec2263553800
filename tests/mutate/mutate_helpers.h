/* tests/mutate/mutate_helpers.h - pictures and texts for tests of mutations */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_MUTATE_HELPERS_H
#define TESTS_MUTATE_HELPERS_H

#include "cmocka_all.h"

#include <internal/mutate.h>

/* The generator of make_golden.py. */
static inline void picture(int c, int h, int w, uint8_t *out)
{
    uint32_t state = 12345u + 1000u * (uint32_t)c + 100u * (uint32_t)h + (uint32_t)w;
    for (int i = 0; i < c * h * w; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = (uint8_t)(state >> 24);
    }
}

#define FNV_START 0xcbf29ce484222325u

static inline uint64_t fnv(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

static inline px_drawn parsed(const char *text)
{
    px_drawn drawn = {0};
    px_error err = {0};
    if (px_drawn_parse(text, &drawn, &err) != PX_OK)
        fail_msg("'%s': %s", text, err.message);
    return drawn;
}

static inline px_mutations mutations(const char *text)
{
    px_mutations from = {0};
    px_error err = {0};
    if (px_mutations_parse(text, &from, &err) != PX_OK)
        fail_msg("'%s': %s", text, err.message);
    return from;
}

#endif
