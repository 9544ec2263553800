/* src/describe/virtual_recipe.c - what a virtual unit computes, by chance, and its caption
 *
 * Probabilities are those of LGR C.12.2, which were measured. "Uniformly chosen attribute" means
 * words: diagonal edges, which have two maps, are no likelier than vertical ones. In glyph data
 * brightness takes the place of colours before edges and textures; spots, which are bright by
 * definition, are left alone. Data without labels have no class units: those become plain ones.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/virtual_unit.h"

#include "base/memory.h"
#include "describe/drawn_concept.h"

#include <internal/rng.h>
#include <math.h>
#include <string.h>

#define CLASS_SHARE 0.12
#define COLOUR_FROM 0.55 /* up to POSITION_FROM */
#define POSITION_FROM 0.75
#define IMPURE_SHARE 0.60

static const double blurs[] = {0.7, 1.2, 2.0, 3.0};
static const int pools[] = {1, 2, 4};

static const pxi_recipe no_recipe = {.class_term = PXI_NONE,
                                     .map = PXI_NONE,
                                     .colour = PXI_NONE,
                                     .position = PXI_NONE,
                                     .drawn = PXI_NONE,
                                     .other = PXI_NONE};

static double between(px_random *r, double low, double high)
{
    return low + (high - low) * px_rng_u01(r);
}

/* One of the maps that have the term. */
static size_t map_of_term(const px_concepts *c, size_t term, px_random *r)
{
    size_t first = 0, count = 0;
    for (size_t m = c->count; m-- > 0;)
        if (c->maps[m].term == term) {
            first = m;
            count++;
        }
    return first + (count > 1 ? px_rng_below(r, (uint32_t)count) : 0);
}

static bool takes_colour(const px_concepts *c, size_t map)
{
    const px_concept *m = &c->maps[map];
    if (m->group == PX_GROUP_EDGES)
        return true;
    return m->group == PX_GROUP_TEXTURE &&
           (c->kind == PX_CONCEPTS_COLOUR || strcmp(m->words, "bright spots") != 0);
}

static size_t colour_of(const px_concepts *c, px_random *r)
{
    const px_concept_group group =
        c->kind == PX_CONCEPTS_COLOUR ? PX_GROUP_COLOUR : PX_GROUP_BRIGHTNESS;
    uint32_t count = 0;
    for (size_t m = 0; m < c->count; m++)
        count += c->maps[m].group == group;
    uint32_t wanted = px_rng_below(r, count);
    size_t m = 0;
    while (c->maps[m].group != group || wanted-- > 0)
        m++;
    return m;
}

pxi_recipe pxi_recipe_draw(const px_concepts *c, const size_t *classes, size_t class_count,
                           uint64_t seed, uint32_t unit, uint32_t attempt)
{
    px_random r = px_rng(seed, PX_RNG_VIRTUAL, unit, PXI_DRAW_RECIPE + attempt);
    pxi_recipe recipe = no_recipe;
    const uint32_t attributes = (uint32_t)c->first_position;
    const double kind = px_rng_u01(&r);
    size_t term = PXI_NONE;
    if (kind < CLASS_SHARE && class_count > 0) {
        recipe.class_term = classes[px_rng_below(&r, (uint32_t)class_count)];
        recipe.window = between(&r, 0.15, 0.4);
    } else {
        term = px_rng_below(&r, attributes);
        recipe.map = map_of_term(c, term, &r);
        if (kind > POSITION_FROM)
            recipe.position = px_rng_below(&r, PXI_POSITIONS);
        else if (kind > COLOUR_FROM && takes_colour(c, recipe.map))
            recipe.colour = colour_of(c, &r);
    }
    if (px_rng_u01(&r) < IMPURE_SHARE) {
        recipe.other_weight = between(&r, 0.1, 0.4);
        size_t other = px_rng_below(&r, term == PXI_NONE ? attributes : attributes - 1);
        other += term != PXI_NONE && other >= term; /* another one */
        recipe.other = map_of_term(c, other, &r);
    }
    recipe.blur = blurs[px_rng_below(&r, PX_LEN(blurs))];
    recipe.pool = pools[px_rng_below(&r, PX_LEN(pools))];
    return recipe;
}

/* Half of the things that take a colour have one, which all of its exemplars share; only then is it
 * said. Glyphs have no colours. */
pxi_recipe pxi_recipe_drawn(const px_concepts *c, uint64_t seed, uint32_t unit, uint32_t attempt)
{
    px_random r = px_rng(seed, PX_RNG_VIRTUAL, unit, PXI_DRAW_RECIPE + attempt);
    pxi_recipe recipe = no_recipe;
    recipe.drawn = px_rng_below(&r, (uint32_t)pxi_drawn_count());
    const bool coloured = px_rng_u01(&r) < 0.5;
    if (coloured && c->kind == PX_CONCEPTS_COLOUR && pxi_drawn_takes_colour(recipe.drawn))
        recipe.colour = colour_of(c, &r);
    recipe.blur = blurs[px_rng_below(&r, PX_LEN(blurs))];
    recipe.pool = pools[px_rng_below(&r, PX_LEN(pools))];
    return recipe;
}

/* --- pairs that training never sees ---------------------------------------------------------- */

void pxi_pairs_reserve(const px_concepts *c, double share, uint64_t seed, bool *reserved)
{
    const uint32_t pairs = (uint32_t)c->first_position * PXI_POSITIONS;
    uint32_t wanted = (uint32_t)lround(share * (double)pairs);
    px_random r = px_rng(seed, PX_RNG_VIRTUAL, PXI_CORPUS_ITEM, 0);
    memset(reserved, 0, pairs * sizeof *reserved);
    while (wanted > 0) { /* few of them: drawing until it is a new one is quick */
        const uint32_t pair = px_rng_below(&r, pairs);
        wanted -= !reserved[pair];
        reserved[pair] = true;
    }
}

bool pxi_recipe_is_reserved(const px_concepts *c, const pxi_recipe *recipe, const bool *reserved)
{
    return recipe->map != PXI_NONE && recipe->position != PXI_NONE &&
           reserved[c->maps[recipe->map].term * PXI_POSITIONS + recipe->position];
}

/* --- words ----------------------------------------------------------------------------------- */

size_t pxi_recipe_terms(const px_concepts *c, const pxi_recipe *recipe, size_t terms[3])
{
    size_t count = 0;
    if (recipe->class_term != PXI_NONE)
        terms[count++] = recipe->class_term;
    if (recipe->map != PXI_NONE)
        terms[count++] = c->maps[recipe->map].term;
    if (recipe->colour != PXI_NONE)
        terms[count++] = c->maps[recipe->colour].term;
    if (recipe->position != PXI_NONE)
        terms[count++] = c->first_position + recipe->position;
    if (recipe->drawn != PXI_NONE)
        terms[count++] = c->first_drawn + recipe->drawn;
    return count;
}

void pxi_recipe_caption(const px_concepts *c, const pxi_recipe *recipe, int form, px_text *out)
{
    if (recipe->class_term != PXI_NONE) {
        pxi_caption_class(c, recipe->class_term, form, out);
        return;
    }
    const size_t colour = recipe->colour == PXI_NONE ? SIZE_MAX : c->maps[recipe->colour].term;
    if (recipe->drawn != PXI_NONE) {
        pxi_caption_drawn(c, c->first_drawn + recipe->drawn, colour, form, out);
        return;
    }
    const size_t position =
        recipe->position == PXI_NONE ? SIZE_MAX : c->first_position + recipe->position;
    pxi_caption_attribute(c, c->maps[recipe->map].term, colour, position, form, out);
}
