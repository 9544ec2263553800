/* src/generate/fuzz_mutant.c - one mutant of an entry (spec LGR D.5)
 *
 * A mutation is drawn and tried until one is valid, each try with random numbers of its own address
 * (turn, number, try). An affine mutation comes at most once in a lineage. One that is valid and
 * changes nothing ends the tries too: there is no mutant then.
 */
#include "generate/fuzz_mutant.h"

#include <string.h>

void pxi_mutant_rule_init(pxi_mutant_rule *rule, const px_mutations *from, px_validity validity,
                          uint32_t tries, uint64_t seed, const px_shape *shape)
{
    *rule = (pxi_mutant_rule){.all = *from,
                              .again = *from,
                              .validity = validity,
                              .tries = tries,
                              .seed = seed,
                              .height = (int)shape->dim[1],
                              .width = (int)shape->dim[2],
                              .channels = (int)shape->dim[0],
                              .size = (size_t)px_shape_count(shape)};
    for (size_t i = 0; i < from->set->entry_count; i++)
        if (px_validity_affine(&validity, from->set->entries[i].mutation))
            rule->again.entries &= ~(1u << i);
}

static size_t mutant_entry(const px_mutations *from, const px_mutation *mutation)
{
    size_t i = 0;
    while (i + 1 < from->set->entry_count &&
           (from->set->entries[i].mutation != mutation || !(from->entries & 1u << i)))
        i++;
    return i;
}

px_status pxi_mutant_make(const pxi_mutant_rule *rule, const pxi_mutant_parent *parent,
                          int64_t turn, uint32_t number, uint8_t *out, pxi_mutant *made,
                          px_error *err)
{
    const px_mutations *from = parent->lineage.affine ? &rule->again : &rule->all;
    memset(made, 0, sizeof *made);
    if (!from->entries)
        return PX_OK;
    for (uint32_t t = 0; t < rule->tries; t++) {
        px_random random = px_rng(rule->seed, PX_RNG_MUTATE, (uint32_t)turn,
                                  PX_MUTATE_FREE + number * rule->tries + t);
        bool moves;
        made->drawn = px_mutation_draw(from, &random);
        made->entry = mutant_entry(from, made->drawn.mutation);
        made->tried[made->entry]++;
        PX_TRY(px_mutation_apply_near(&made->drawn, parent->origin, parent->pixels, out,
                                      rule->height, rule->width, rule->channels, err));
        if (!px_validity_judge(&rule->validity, &parent->lineage, made->drawn.mutation,
                               parent->reference, parent->pixels, out, rule->size, &made->lineage,
                               &moves))
            continue;
        made->valid = memcmp(out, parent->pixels, rule->size) != 0;
        return PX_OK;
    }
    return PX_OK;
}
