/* tests/mutate/style_textures.c - the generated style pictures
 *
 * Eight patterns, each in four variants: a number t from 0 to 1 at every pixel picks a colour on
 * the way between three that are drawn, and grain is added. plexor has their statistics only, in
 * style_table.c, which is made from these.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "style_textures.h"

#include "mutate/plain_math.h"
#include "mutate/style.h"
#include <internal/mutation.h>

#include "base/memory.h"

#include <internal/mutate.h>
#include <internal/rng.h>
#include <math.h>
#include <string.h>

enum { SIDE = PX_STYLE_SIDE, TEXTURE_POINTS = 24, TEXTURE_DABS = 160, TEXTURE_OCTAVES = 4 };

typedef double texture_plane[SIDE][SIDE];

static double texture_wave(double turns) /* 1 at whole turns, 0 between */
{
    double sine, cosine;
    pxi_sin_cos_degrees(360.0 * turns, &sine, &cosine);
    return 0.5 + 0.5 * cosine;
}

static double texture_between(px_random *random, double least, double most)
{
    return least + (most - least) * px_rng_u01(random);
}

static void texture_stripes(px_random *random, texture_plane t)
{
    const double across = texture_between(random, 2, 12), down = texture_between(random, 2, 12);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            t[y][x] = texture_wave((across * x + down * y) / SIDE);
}

static void texture_checks(px_random *random, texture_plane t)
{
    const int across = 2 + (int)px_rng_below(random, 10), down = 2 + (int)px_rng_below(random, 10);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            t[y][x] = (x / across + y / down) % 2;
}

/* Values at the points of a grid, joined smoothly, on finer and finer grids. */
static void texture_clouds(px_random *random, texture_plane t)
{
    double share = 8.0 / 15.0; /* halves with every octave, to a sum of 1 */
    memset(t, 0, sizeof(texture_plane));
    for (int octave = 0, cell = SIDE / 4; octave < TEXTURE_OCTAVES;
         octave++, cell /= 2, share /= 2) {
        double grid[SIDE / 2 + 1][SIDE / 2 + 1];
        const int cells = SIDE / cell;
        for (int y = 0; y <= cells; y++)
            for (int x = 0; x <= cells; x++)
                grid[y][x] = px_rng_u01(random);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                const double v = (double)(y % cell) / cell, u = (double)(x % cell) / cell;
                const double *top = &grid[y / cell][x / cell];
                const double *bottom = &grid[y / cell + 1][x / cell];
                t[y][x] += share * ((1 - v) * ((1 - u) * top[0] + u * top[1]) +
                                    v * ((1 - u) * bottom[0] + u * bottom[1]));
            }
    }
}

/* Distance to the nearest of some points. */
static void texture_cells(px_random *random, texture_plane t)
{
    double at[TEXTURE_POINTS][2];
    for (int i = 0; i < TEXTURE_POINTS; i++)
        for (int k = 0; k < 2; k++)
            at[i][k] = SIDE * px_rng_u01(random);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double least = 2.0 * SIDE * SIDE;
            for (int i = 0; i < TEXTURE_POINTS; i++) {
                const double dy = y - at[i][0], dx = x - at[i][1];
                least = PX_MIN(least, dy * dy + dx * dx);
            }
            t[y][x] = PX_MIN(sqrt(least) / 12.0, 1.0);
        }
}

static void texture_rings(px_random *random, texture_plane t)
{
    const double cy = SIDE * px_rng_u01(random), cx = SIDE * px_rng_u01(random);
    const double width = texture_between(random, 5, 20);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            t[y][x] = texture_wave(sqrt((y - cy) * (y - cy) + (x - cx) * (x - cx)) / width);
}

static void texture_weave(px_random *random, texture_plane t)
{
    const double across = texture_between(random, 3, 14), down = texture_between(random, 3, 14);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            t[y][x] = texture_wave(across * x / SIDE) * texture_wave(down * y / SIDE);
}

static void texture_speckle(px_random *random, texture_plane t)
{
    const int size = 1 + (int)px_rng_below(random, 3);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            t[y][x] = y % size ? t[y - 1][x] : x % size ? t[y][x - 1] : px_rng_u01(random);
}

/* Dabs of a flat brush, one over another. */
static void texture_dabs(px_random *random, texture_plane t)
{
    const uint32_t long_side = 6 + px_rng_below(random, 14);
    memset(t, 0, sizeof(texture_plane));
    for (int i = 0; i < TEXTURE_DABS; i++) {
        const int top = (int)px_rng_below(random, SIDE), left = (int)px_rng_below(random, SIDE);
        const int length = (int)(2 + px_rng_below(random, long_side));
        const int thick = (int)(2 + px_rng_below(random, 4));
        const bool upright = px_rng_below(random, 2) == 1;
        const double value = px_rng_u01(random);
        const int bottom = PX_MIN(top + (upright ? length : thick), SIDE);
        const int right = PX_MIN(left + (upright ? thick : length), SIDE);
        for (int y = top; y < bottom; y++)
            for (int x = left; x < right; x++)
                t[y][x] = value;
    }
}

void style_texture(size_t i, uint8_t planes[3 * SIDE * SIDE])
{
    static void (*const patterns[])(px_random *, texture_plane) = {
        texture_stripes, texture_checks, texture_clouds,  texture_cells,
        texture_rings,   texture_weave,  texture_speckle, texture_dabs,
    };
    texture_plane t;
    double colour[3][3];
    px_random random = px_rng(0, PX_RNG_STYLE, (uint32_t)i, 0);
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            colour[k][c] = 255.0 * px_rng_u01(&random);
    const double grain = texture_between(&random, 0, 60);
    patterns[i % PX_LEN(patterns)](&random, t);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int k = t[y][x] < 0.5 ? 0 : 1;
            const double part = 2.0 * t[y][x] - k;
            const double more = grain * (px_rng_u01(&random) - 0.5);
            for (int c = 0; c < 3; c++)
                planes[(c * SIDE + y) * SIDE + x] =
                    pxi_level(colour[k][c] + part * (colour[k + 1][c] - colour[k][c]) + more);
        }
}
