/* tests/stats/stats_values.h - the values that make_tests.py gives to scipy */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_STATS_VALUES_H
#define TESTS_STATS_VALUES_H

#include <math.h>
#include <stdint.h>

static inline double stats_value(uint32_t i, uint32_t stream, unsigned grid)
{
    uint32_t x = i * 2654435761u + stream * 40503u + 12345u;
    x = (x ^ (x >> 15)) * 2246822519u;
    x = (x ^ (x >> 13)) * 3266489917u;
    const double u = (x ^ (x >> 16)) / 4294967296.0;
    return grid ? floor(u * grid) : u;
}

static inline void stats_column(double *x, int count, uint32_t stream, unsigned grid, double shift)
{
    for (int i = 0; i < count; i++)
        x[i] = stats_value((uint32_t)i, stream, grid) + shift;
}

#endif
