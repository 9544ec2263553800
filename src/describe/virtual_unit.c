/* src/describe/virtual_unit.c - virtual units: attributes treated as if they were units
 *
 * Each unit has a random subset of the pictures, a map for each of them, and from these its
 * exemplars, its level and its masks exactly as real units have (LGR C.1). Blurring and pooling
 * are linear, so the impurity is blurred apart and added when the means of both parts are known. A
 * unit one of whose masks is empty would have a caption that its exemplars do not show: it is drawn
 * anew.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/virtual_unit.h"

#include "base/memory.h"
#include "describe/drawn_concept.h"
#include "describe/mask.h"
#include "describe/smooth.h"

#include <internal/rng.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ATTEMPTS_MOST = 200 };
#define DRAWN_SHOWN 0.08 /* share of the pictures that a drawn thing is in */

/* --- one picture ----------------------------------------------------------------------------- */

static void times(float *plane, const float *by, size_t count)
{
    for (size_t i = 0; i < count; i++)
        plane[i] *= by[i];
}

static void gaussian_window(int h, int w, double sd, float *out)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const double v = ((y + 0.5) / h - 0.5) / sd, u = ((x + 0.5) / w - 0.5) / sd;
            out[(size_t)y * (size_t)w + (size_t)x] = (float)exp(-0.5 * (u * u + v * v));
        }
}

/* The unit's own map of a picture that the look is at, before blurring. */
static void unit_plane(const pxi_maker *m, pxi_maker_worker *w, const pxi_recipe *recipe,
                       int64_t label, double gain)
{
    const px_concepts *c = m->c;
    if (recipe->class_term != PXI_NONE) {
        const bool mine = label == c->terms[recipe->class_term].class_index;
        for (size_t i = 0; i < c->pixels; i++)
            w->plane[i] = mine ? (float)gain * w->window[i] : 0.0f;
        return;
    }
    pxi_look_map(w->look, &c->attributes[recipe->map], w->plane);
    if (recipe->colour != PXI_NONE) {
        pxi_look_map(w->look, &c->attributes[recipe->colour], w->colour);
        times(w->plane, w->colour, c->pixels);
    }
    if (recipe->position != PXI_NONE)
        times(w->plane, w->window, c->pixels);
}

/* Means over h x wd rectangles of (almost) equal size. */
static void plane_pool(const float *plane, int H, int W, int h, int wd, float *to)
{
    if (h == H && wd == W) {
        memcpy(to, plane, (size_t)H * (size_t)W * sizeof *to);
        return;
    }
    for (int y = 0; y < h; y++) {
        const int y0 = y * H / h, y1 = (y + 1) * H / h;
        for (int x = 0; x < wd; x++) {
            const int x0 = x * W / wd, x1 = (x + 1) * W / wd;
            float total = 0.0f;
            for (int v = y0; v < y1; v++)
                for (int u = x0; u < x1; u++)
                    total += plane[(size_t)v * (size_t)W + (size_t)u];
            to[(size_t)y * (size_t)wd + (size_t)x] = total / (float)((y1 - y0) * (x1 - x0));
        }
    }
}

/* Blurs and pools w->plane into `to`; returns the sum over the plane. */
static double plane_finish(const pxi_maker *m, pxi_maker_worker *w, const pxi_recipe *recipe, int h,
                           int wd, float *to)
{
    const px_concepts *c = m->c;
    double sum = 0.0;
    for (size_t i = 0; i < c->pixels; i++)
        sum += (double)w->plane[i];
    if (!(sum > 0.0)) { /* maps are nowhere negative */
        memset(to, 0, (size_t)h * (size_t)wd * sizeof *to);
        return 0.0;
    }
    pxi_smooth(w->plane, c->h, c->w, recipe->blur, w->scratch, w->plane);
    plane_pool(w->plane, c->h, c->w, h, wd, to);
    return sum;
}

/* --- one unit -------------------------------------------------------------------------------- */

/* Draws the thing into picture number i of the subset, or leaves it: w->plane becomes the region
 * that is covered, w->picture the picture. Whatever is drawn is addressed by the picture. */
static bool unit_drawing(const pxi_maker *m, pxi_maker_worker *w, const pxi_recipe *recipe,
                         uint32_t unit, uint32_t attempt, int64_t i)
{
    const px_concepts *c = m->c;
    px_random r =
        px_rng(m->o.seed, PX_RNG_DRAWN, unit, attempt * PXI_DRAWN_IMAGES_MOST + (uint32_t)i);
    const double enough = 2.0 * (double)m->o.exemplars / (double)m->o.images;
    memset(w->plane, 0, c->pixels * sizeof *w->plane);
    if (!(px_rng_u01(&r) < PX_MAX(DRAWN_SHOWN, enough)))
        return false;
    memcpy(w->picture, m->pool.values + (size_t)w->order[i] * c->floats,
           c->floats * sizeof *w->picture);
    pxi_drawn_draw(recipe->drawn, recipe->colour == PXI_NONE ? -1 : (int)recipe->colour, &r,
                   c->channels, c->h, c->w, w->picture, w->plane);
    return true;
}

/* The pictures of the exemplars, drawn once more. */
static void unit_pictures(const pxi_maker *m, pxi_maker_worker *w, const pxi_recipe *recipe,
                          uint32_t unit, uint32_t attempt)
{
    const px_concepts *c = m->c;
    px_virtual_units *out = m->out;
    for (int64_t j = 0; j < m->o.exemplars; j++) {
        uint8_t *to =
            out->pictures + (out->drawn[unit] * (size_t)m->o.exemplars + (size_t)j) * 3 * c->pixels;
        unit_drawing(m, w, recipe, unit, attempt, w->best[j]);
        for (size_t p = 0; p < 3 * c->pixels; p++)
            to[p] = (uint8_t)lrintf(255.0f * w->picture[c->channels == 3 ? p : p % c->pixels]);
    }
}

/* All maps of a unit over its subset, into w->main. False: a part is nowhere to be seen. */
static bool unit_maps(const pxi_maker *m, pxi_maker_worker *w, const pxi_recipe *recipe,
                      uint32_t unit, uint32_t attempt, int h, int wd)
{
    const px_concepts *c = m->c;
    const size_t n = (size_t)h * (size_t)wd;
    px_random r = px_rng(m->o.seed, PX_RNG_VIRTUAL, unit, PXI_DRAW_GAIN + attempt);
    double sum = 0.0, other_sum = 0.0;
    if (recipe->class_term != PXI_NONE)
        gaussian_window(c->h, c->w, recipe->window, w->window);
    else if (recipe->position != PXI_NONE)
        pxi_position_window((int)recipe->position, c->h, c->w, w->window);
    for (int64_t i = 0; i < m->o.images; i++) {
        const int64_t at = w->order[i];
        const double gain = 0.5 + 0.5 * px_rng_u01(&r);
        if (recipe->drawn != PXI_NONE) {
            if (unit_drawing(m, w, recipe, unit, attempt, i))
                for (size_t p = 0; p < c->pixels; p++)
                    w->plane[p] *= (float)gain;
            sum += plane_finish(m, w, recipe, h, wd, w->main + (size_t)i * n);
            continue;
        }
        pxi_look_at(w->look, m->pool.values + (size_t)at * c->floats, c->channels);
        unit_plane(m, w, recipe, m->pool.labels[at], gain);
        sum += plane_finish(m, w, recipe, h, wd, w->main + (size_t)i * n);
        if (recipe->other == PXI_NONE)
            continue;
        pxi_look_map(w->look, &c->attributes[recipe->other], w->plane);
        other_sum += plane_finish(m, w, recipe, h, wd, w->other + (size_t)i * n);
    }
    if (!(sum > 0.0) || (recipe->other != PXI_NONE && !(other_sum > 0.0)))
        return false;
    if (recipe->other != PXI_NONE) {
        const double pixels = (double)m->o.images * (double)c->pixels;
        const float a = (float)(pixels / sum);
        const float b = (float)(recipe->other_weight * pixels / other_sum);
        for (size_t i = 0; i < (size_t)m->o.images * n; i++)
            w->main[i] = a * w->main[i] + b * w->other[i];
    }
    return true;
}

/* The places of the largest maxima; ties to the picture that comes first in the data. */
static void unit_exemplars(const pxi_maker *m, pxi_maker_worker *w, size_t n)
{
    int64_t filled = 0;
    const int64_t k = m->o.exemplars;
    for (int64_t i = 0; i < m->o.images; i++) {
        const float *map = w->main + (size_t)i * n;
        float most = map[0];
        for (size_t p = 1; p < n; p++)
            most = PX_MAX(most, map[p]);
        int64_t at = filled < k ? filled++ : k;
        for (; at > 0; at--) {
            const bool better =
                most > w->score[at - 1] ||
                (most == w->score[at - 1] && w->order[i] < w->order[w->best[at - 1]]);
            if (!better)
                break;
            if (at < k) {
                w->score[at] = w->score[at - 1];
                w->best[at] = w->best[at - 1];
            }
        }
        if (at < k) {
            w->score[at] = most;
            w->best[at] = i;
        }
    }
}

static double unit_level(const pxi_maker *m, pxi_maker_worker *w, size_t n)
{
    pxi_level_pick pick = {0};
    for (int pass = 0; pass < PXI_LEVEL_PASSES; pass++) {
        pxi_level_zero(w->counts);
        pxi_level_zero_total(w->total);
        pxi_level_observe(&pick, pass, w->counts, w->main, (size_t)m->o.images * n);
        pxi_level_join(w->total, w->counts);
        pxi_level_narrow(&pick, pass, m->o.quantile, w->total);
    }
    return pick.level;
}

/* False: a mask is empty. */
static bool unit_masks(const pxi_maker *m, pxi_maker_worker *w, uint32_t unit, int h, int wd,
                       double level)
{
    const px_concepts *c = m->c;
    px_virtual_units *out = m->out;
    const size_t n = (size_t)h * (size_t)wd, first = (size_t)unit * (size_t)m->o.exemplars;
    for (int64_t j = 0; j < m->o.exemplars; j++) {
        const float *map = w->main + (size_t)w->best[j] * n;
        if (pxi_mask(map, h, wd, (float)level, c->h, c->w, /* zero_padded= */ false, w->mask) == 0)
            return false;
        uint8_t *bits = out->masks + (first + (size_t)j) * out->mask_bytes;
        memset(bits, 0, out->mask_bytes);
        for (size_t p = 0; p < c->pixels; p++)
            bits[p / 8] |= (uint8_t)(w->mask[p] << (p % 8));
        out->images[first + (size_t)j] = m->pool.items[w->order[w->best[j]]];
    }
    return true;
}

px_status pxi_virtual_unit_make(void *context, int worker, int64_t index, px_error *err)
{
    pxi_maker *m = context;
    pxi_maker_worker *w = &m->workers[worker];
    const uint32_t unit = (uint32_t)index;
    for (uint32_t attempt = 0; attempt < ATTEMPTS_MOST; attempt++) {
        const bool drawn = m->out->drawn[unit] != PXI_NONE;
        const pxi_recipe recipe =
            drawn ? pxi_recipe_drawn(m->c, m->o.seed, unit, attempt)
                  : pxi_recipe_draw(m->c, m->classes, m->class_count, m->o.seed, unit, attempt);
        const int h = PX_MAX(m->c->h / recipe.pool, 1), wd = PX_MAX(m->c->w / recipe.pool, 1);
        const size_t n = (size_t)h * (size_t)wd;
        px_random r = px_rng(m->o.seed, PX_RNG_VIRTUAL, unit, PXI_DRAW_SUBSET + attempt);
        px_rng_permutation(&r, w->order, (uint32_t)m->pool.count);
        if (!unit_maps(m, w, &recipe, unit, attempt, h, wd))
            continue;
        unit_exemplars(m, w, n);
        const double level = unit_level(m, w, n);
        if (!unit_masks(m, w, unit, h, wd, level))
            continue;
        if (drawn)
            unit_pictures(m, w, &recipe, unit, attempt);
        m->made[index] = (pxi_made_unit){.recipe = recipe, .level = level};
        return PX_OK;
    }
    return px_fail(err, PX_E_INPUT,
                   "in %d draws no attribute was seen in %" PRId64 " of %" PRId64
                   " pictures: there is too little to see in these data for virtual units; use "
                   "--describer dissect, or give more pictures",
                   ATTEMPTS_MOST, m->o.exemplars, m->o.images);
}
