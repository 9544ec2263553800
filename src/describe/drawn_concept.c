/* src/describe/drawn_concept.c - shapes, patterns and parts drawn into pictures
 *
 * A thing is a function of a point: which tone is there, if any. Small things live in a disc of
 * radius one around a random place, .12 to .35 of the picture's side, turned at random unless they
 * have an upper end; scenes fill the picture above or below a line. A pixel is the mean of three by
 * three points, its colour carries noise.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/drawn_concept.h"

#include "base/memory.h"

#include <assert.h>
#include <internal/rng.h>
#include <math.h>

enum { POINTS = 3 }; /* per side of a pixel */
#define PI 3.14159265358979323846
#define NOISE_SD 0.03

typedef enum tone { NOTHING, PLAIN, DARKER, LIGHTER } tone;

/* u, v: the point in the thing's own frame; x, y: in 32nds of the picture's side, for patterns;
 * period: of those, in the same unit. Scenes get v as the share of the way from line to border. */
typedef struct point {
    double u, v, x, y, period;
} point;

static tone draw_circle(point p)
{
    return hypot(p.u, p.v) < 1.0 ? PLAIN : NOTHING;
}

static tone draw_ring(point p)
{
    const double r = hypot(p.u, p.v);
    return r > 0.6 && r < 1.0 ? PLAIN : NOTHING;
}

static double square_radius(point p)
{
    return fmax(fabs(p.u), fabs(p.v));
}

static tone draw_square(point p)
{
    return square_radius(p) < 0.8 ? PLAIN : NOTHING;
}

static tone draw_triangle(point p)
{
    return fabs(p.v) < 0.8 && fabs(p.u) < 0.55 * (p.v + 0.8) ? PLAIN : NOTHING;
}

static tone draw_cross(point p)
{
    return square_radius(p) < 0.95 && fmin(fabs(p.u), fabs(p.v)) < 0.25 ? PLAIN : NOTHING;
}

static tone draw_line(point p)
{
    return fabs(p.u) < 1.0 && fabs(p.v) < 0.15 ? PLAIN : NOTHING;
}

static tone draw_star(point p)
{
    const double ray = cos(2.5 * atan2(p.v, p.u));
    return hypot(p.u, p.v) < 0.35 + 0.65 * ray * ray ? PLAIN : NOTHING;
}

static tone draw_arc(point p)
{
    const double r = hypot(p.u, p.v);
    return p.v < 0.0 && r > 0.65 && r < 1.0 ? PLAIN : NOTHING;
}

static tone draw_corner(point p)
{
    return square_radius(p) < 0.85 && (p.u < -0.4 || p.v > 0.4) ? PLAIN : NOTHING;
}

/* --- patterns, in a disc --------------------------------------------------------------------- */

static tone in_disc(point p, bool light)
{
    return hypot(p.u, p.v) >= 1.0 ? NOTHING : light ? PLAIN : DARKER;
}

static double wave(double at, double period)
{
    return sin(2.0 * PI * at / period);
}

static tone draw_stripes(point p)
{
    return in_disc(p, wave(p.x, p.period) > 0.0);
}

static tone draw_grid(point p)
{
    return in_disc(p, wave(p.x, p.period) > 0.6 || wave(p.y, p.period) > 0.6);
}

static tone draw_dots(point p)
{
    return in_disc(p, wave(p.x, p.period) + wave(p.y, p.period) > 1.0);
}

static tone draw_checks(point p)
{
    return in_disc(p, (wave(p.x, p.period) > 0.0) == (wave(p.y, p.period) > 0.0));
}

static tone draw_bricks(point p)
{
    const double row = floor(2.0 * p.y / p.period), shift = 0.5 * p.period * fmod(fabs(row), 2.0);
    const bool seam = wave(p.x + shift, p.period) > 0.85 || wave(p.y, 0.5 * p.period) > 0.75;
    return in_disc(p, !seam);
}

static tone draw_waves(point p)
{
    return in_disc(p, wave(p.y + 0.2 * p.period * wave(p.x, 1.6 * p.period), p.period) > 0.0);
}

static tone draw_fur(point p)
{
    const double bend = p.x + 0.35 * p.y + 0.8 * wave(p.y, 7.3) + 0.5 * wave(p.x, 5.1);
    return in_disc(p, wave(bend, 2.1) + 0.6 * wave(p.y + 1.7 * p.x, 3.3) > 0.0);
}

/* --- parts ----------------------------------------------------------------------------------- */

static tone draw_eye(point p)
{
    const double r = hypot(p.u, p.v);
    return r < 0.45 ? DARKER : r < 1.0 ? LIGHTER : NOTHING;
}

static tone draw_wheel(point p)
{
    const double r = hypot(p.u, p.v), spoke = fabs(sin(3.0 * atan2(p.v, p.u))) * r;
    return r > 0.75 && r < 1.0 ? DARKER : r <= 0.75 && spoke < 0.12 ? PLAIN : NOTHING;
}

static tone draw_legs(point p)
{
    const bool body = p.u * p.u / 0.8 + (p.v + 0.4) * (p.v + 0.4) / 0.25 < 1.0;
    const bool legs = p.v > -0.2 && p.v < 1.0 && fabs(fabs(p.u) - 0.5) < 0.14;
    return body || legs ? PLAIN : NOTHING;
}

static tone draw_beak(point p)
{
    const bool head = hypot(p.u + 0.3, p.v) < 0.6;
    const bool beak = p.u > 0.2 && p.u < 1.0 && fabs(p.v) < 0.4 * (1.0 - p.u);
    return beak ? LIGHTER : head ? PLAIN : NOTHING;
}

static tone draw_window(point p)
{
    if (square_radius(p) >= 0.85)
        return NOTHING;
    return fmin(fabs(p.u), fabs(p.v)) < 0.1 || square_radius(p) > 0.72 ? DARKER : LIGHTER;
}

/* --- scenes: v is 0 at the line and 1 at the border they reach ------------------------------- */

static tone draw_horizon(point p)
{
    return fabs(p.v) < 0.12 ? DARKER : NOTHING;
}

static tone draw_sky(point p)
{
    return p.v < 0.0 ? NOTHING : p.v < 0.35 ? LIGHTER : PLAIN;
}

static tone draw_grass(point p)
{
    if (p.v < 0.0)
        return NOTHING;
    return wave(p.x + 0.4 * wave(p.y, 4.7), 2.3) > 0.2 ? DARKER : PLAIN;
}

static tone draw_water(point p)
{
    if (p.v < 0.0)
        return NOTHING;
    return wave(p.y + 0.5 * wave(p.x, 9.0), 3.7) > 0.6 ? LIGHTER : PLAIN;
}

/* --- the table ------------------------------------------------------------------------------- */

enum { UPRIGHT = 1, OVER = 2, UNDER = 4, ACROSS = 8 };
enum { ANY = -1, GREEN = 3, BLUE = 4, BLACK = 7 };

static const struct {
    const char *words, *noun;
    tone (*at)(point p);
    unsigned flags;
    int colour; /* ANY: it takes one */
} things[] = {
    {"circle", "shape", draw_circle, 0, ANY},
    {"ring", "shape", draw_ring, 0, ANY},
    {"square", "shape", draw_square, 0, ANY},
    {"triangle", "shape", draw_triangle, 0, ANY},
    {"cross", "shape", draw_cross, 0, ANY},
    {"line", "shape", draw_line, 0, ANY},
    {"star", "shape", draw_star, 0, ANY},
    {"arc", "shape", draw_arc, 0, ANY},
    {"corner", "shape", draw_corner, 0, ANY},
    {"stripes", "pattern", draw_stripes, 0, ANY},
    {"grid", "pattern", draw_grid, 0, ANY},
    {"dots", "pattern", draw_dots, 0, ANY},
    {"checks", "pattern", draw_checks, 0, ANY},
    {"bricks", "pattern", draw_bricks, 0, ANY},
    {"waves", "pattern", draw_waves, 0, ANY},
    {"fur", "pattern", draw_fur, 0, ANY},
    {"eye-like", "part", draw_eye, UPRIGHT, ANY},
    {"wheel-like", "part", draw_wheel, 0, ANY},
    {"leg-like", "part", draw_legs, UPRIGHT, ANY},
    {"beak-like", "part", draw_beak, UPRIGHT, ANY},
    {"window-like", "part", draw_window, UPRIGHT, ANY},
    {"horizon", "part", draw_horizon, ACROSS, BLACK},
    {"sky-like", "part", draw_sky, OVER, BLUE},
    {"grass-like", "part", draw_grass, UNDER, GREEN},
    {"water-like", "part", draw_water, UNDER, BLUE},
};

/* Each within the window of hues of its attribute: red, orange, yellow, green, blue, purple, white,
 * black, gray, brown. */
static const double colours[PXI_DRAWN_COLOURS][3] = {
    {0.85, 0.10, 0.10}, {0.95, 0.50, 0.05}, {0.95, 0.89, 0.10}, {0.15, 0.70, 0.15},
    {0.10, 0.40, 0.90}, {0.75, 0.10, 0.90}, {0.95, 0.95, 0.95}, {0.05, 0.05, 0.05},
    {0.50, 0.50, 0.50}, {0.42, 0.22, 0.08}};

size_t pxi_drawn_count(void)
{
    return PX_LEN(things);
}

const char *pxi_drawn_words(size_t i)
{
    assert(i < PX_LEN(things));
    return things[i].words;
}

const char *pxi_drawn_noun(size_t i)
{
    assert(i < PX_LEN(things));
    return things[i].noun;
}

bool pxi_drawn_takes_colour(size_t i)
{
    assert(i < PX_LEN(things));
    return things[i].colour == ANY;
}

/* --- drawing --------------------------------------------------------------------------------- */

typedef struct pose {
    double x, y, radius, turn, line, period; /* in sides of the picture; period in 32nds */
} pose;

static point pose_point(const pose *at, unsigned flags, double x, double y)
{
    const double dx = (x - at->x) / at->radius, dy = (y - at->y) / at->radius;
    const double c = cos(at->turn), s = sin(at->turn);
    point p = {.u = c * dx + s * dy, .v = c * dy - s * dx, .period = at->period};
    p.x = 32.0 * (c * x + s * y);
    p.y = 32.0 * (c * y - s * x);
    if (flags & (OVER | UNDER | ACROSS)) {
        const double down = y - at->line;
        p.v = flags & OVER ? -down / at->line : down / (1.0 - at->line);
        p.x = 32.0 * x;
        p.y = 32.0 * y;
    }
    return p;
}

static double tone_value(tone t, double value)
{
    return t == DARKER ? 0.3 * value : t == LIGHTER ? 0.6 * value + 0.4 : value;
}

void pxi_drawn_draw(size_t i, int colour, px_random *r, int channels, int h, int w, float *values,
                    float *region)
{
    assert(i < PX_LEN(things) && h > 0 && w > 0);
    const unsigned flags = things[i].flags;
    pose at = {.radius = 0.12 + 0.23 * px_rng_u01(r)};
    at.x = at.radius + (1.0 - 2.0 * at.radius) * px_rng_u01(r);
    at.y = at.radius + (1.0 - 2.0 * at.radius) * px_rng_u01(r);
    at.turn = (flags & UPRIGHT ? 0.4 * (px_rng_u01(r) - 0.5) : 2.0 * PI * px_rng_u01(r));
    at.line = 0.35 + 0.3 * px_rng_u01(r);
    at.period = 3.0 + 5.0 * px_rng_u01(r);
    const int any = (int)px_rng_below(r, PXI_DRAWN_COLOURS);
    const double *paint = colours[things[i].colour != ANY ? things[i].colour
                                  : colour >= 0           ? colour
                                                          : any];
    const double noise = NOISE_SD * px_rng_u01(r);
    const size_t n = (size_t)h * (size_t)w;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const size_t pixel = (size_t)y * (size_t)w + (size_t)x;
            double sum[3] = {0.0, 0.0, 0.0};
            int covered = 0;
            for (int k = 0; k < POINTS * POINTS; k++) {
                const double px = (x + (k % POINTS + 0.5) / POINTS) / w;
                const double py = (y + (k / POINTS + 0.5) / POINTS) / h;
                const tone t = things[i].at(pose_point(&at, flags, px, py));
                covered += t != NOTHING;
                for (int c = 0; t != NOTHING && c < 3; c++)
                    sum[c] += tone_value(t, paint[c]);
            }
            const double share = (double)covered / (POINTS * POINTS);
            region[pixel] = (float)share;
            if (covered == 0)
                continue;
            const double shade = noise * px_rng_normal(r);
            for (int c = 0; c < channels; c++) {
                const double ink =
                    channels == 3 ? sum[c] / covered : (sum[0] + sum[1] + sum[2]) / (3.0 * covered);
                float *to = &values[(size_t)c * n + pixel];
                const double mixed = (1.0 - share) * (double)*to + share * (ink + shade);
                *to = (float)fmin(fmax(mixed, 0.0), 1.0);
            }
        }
}
