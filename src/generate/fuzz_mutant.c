/* src/generate/fuzz_mutant.c - one mutant of an entry (LGR D.5)
 *
 * A mutation is drawn and tried until one is valid, each try with random numbers of its own address
 * (turn, number, try). An affine mutation comes at most once in a lineage. One that is valid and
 * changes nothing ends the tries too: there is no mutant then.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/fuzz_mutant.h>

#include <internal/mutate.h>
#include <internal/rng.h>
#include <string.h>

void pxi_mutant_rule_init(pxi_mutant_rule *rule, const px_mutations *from, px_validity validity,
                          uint32_t tries, uint64_t seed, const px_shape *shape, size_t samples)
{
    *rule = (pxi_mutant_rule){.all = *from,
                              .again = *from,
                              .validity = validity,
                              .tries = tries,
                              .seed = seed,
                              .height = (int)shape->dim[1],
                              .width = (int)shape->dim[2],
                              .channels = (int)shape->dim[0],
                              .size = samples ? samples * sizeof(int16_t)
                                              : (size_t)px_shape_count(shape),
                              .samples = samples};
    for (size_t i = 0; i < from->set->entry_count; i++)
        if (px_validity_affine(&validity, from->set->entries[i].mutation))
            rule->again.entries &= ~(1u << i);
}

/* Bytes that hold samples are allocated as such: aligned, and written as such only. */
static const int16_t *mutant_samples(const uint8_t *bytes)
{
    return (const int16_t *)(const void *)bytes;
}

px_status pxi_mutant_apply(const pxi_mutant_rule *rule, const px_drawn *drawn,
                           const uint8_t *origin, const uint8_t *in, uint8_t *out, px_error *err)
{
    if (rule->samples)
        return px_mutation_apply_samples(drawn, mutant_samples(in), (int16_t *)(void *)out,
                                         rule->samples, err);
    return px_mutation_apply_near(drawn, origin, in, out, rule->height, rule->width, rule->channels,
                                  err);
}

bool pxi_mutant_judge(const pxi_mutant_rule *rule, const pxi_mutant_parent *parent,
                      const px_mutation *mutation, const uint8_t *after, px_lineage *next,
                      bool *moves_reference)
{
    if (rule->samples)
        return px_validity_judge_samples(&rule->validity, &parent->lineage, mutation,
                                         mutant_samples(parent->reference),
                                         mutant_samples(parent->pixels), mutant_samples(after),
                                         rule->samples, next, moves_reference);
    return px_validity_judge(&rule->validity, &parent->lineage, mutation, parent->reference,
                             parent->pixels, after, rule->size, next, moves_reference);
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
        PX_TRY(pxi_mutant_apply(rule, &made->drawn, parent->origin, parent->pixels, out, err));
        if (!pxi_mutant_judge(rule, parent, made->drawn.mutation, out, &made->lineage, &moves))
            continue;
        made->valid = memcmp(out, parent->pixels, rule->size) != 0;
        return PX_OK;
    }
    return PX_OK;
}
