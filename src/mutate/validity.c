/* src/mutate/validity.c - which mutants still count as the picture they come from
 *
 * DeepHunter (Xie et al., ISSTA 2019): an affine mutation, one per lineage, is taken on trust and
 * moves the reference along; pixel mutations are held against the reference, and what they did
 * before the affine one stays on the account. NSGen and NLC hold the affine one against the
 * reference too, before they move it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutate.h>
#include <internal/mutation.h>

#include "base/memory.h"

px_validity px_validity_default(px_validity_rule rule)
{
    const bool nsgen = rule == PX_VALID_NSGEN || rule == PX_VALID_NSGEN_STRICT;
    return nsgen ? (px_validity){rule, 0.2, 0.4} : (px_validity){rule, 0.02, 0.2};
}

/* Blocks are short enough that their count fits a byte-wide lane many times over. */
PXI_WIDE px_change pxi_change_between(const uint8_t *a, const uint8_t *b, size_t size)
{
    px_change change = {0};
    for (size_t i = 0; i < size;) {
        const size_t end = PX_MIN(size, i + 4096);
        uint16_t differ = 0;
        uint8_t most = 0;
        for (; i < end; i++) {
            const uint8_t by = (uint8_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
            differ = (uint16_t)(differ + (by != 0));
            most = by > most ? by : most;
        }
        change.l0 += differ;
        change.linf = PX_MAX(change.linf, most);
    }
    return change;
}

px_change px_change_between_samples(const int16_t *a, const int16_t *b, size_t count)
{
    uint64_t differ = 0;
    int most = 0;
    for (size_t i = 0; i < count; i++) {
        const int by = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        differ += by != 0;
        most = PX_MAX(most, by);
    }
    const int levels = (most * 255 + 32767) / 32768;
    return (px_change){.l0 = differ, .linf = (uint8_t)PX_MIN(levels, 255)};
}

static uint64_t validity_positive(const uint8_t *values, size_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += values[i] > 0;
    return count;
}

bool px_validity_affine(const px_validity *validity, const px_mutation *mutation)
{
    if (validity->rule == PX_VALID_DEEPHUNTER_CODE)
        return mutation != &px_mutation_pixel_change && mutation != &px_mutation_noise &&
               mutation != &px_mutation_style &&
               (!mutation->apply_samples || mutation->group == PX_MUTATION_AFFINE);
    return mutation->group == PX_MUTATION_AFFINE;
}

/* `positive`: values of the reference above 0, for the rules that count them. */
static bool validity_holds(const px_validity *v, px_change change, uint64_t positive, size_t size)
{
    const double l0 = (double)change.l0, linf = change.linf;
    const double alpha_size = v->alpha * (double)size, beta_255 = v->beta * 255.0;
    switch (v->rule) {
    case PX_VALID_DEEPHUNTER:
        return l0 < alpha_size || linf < beta_255;
    case PX_VALID_DEEPHUNTER_CODE:
        return change.l0 < (uint64_t)alpha_size || change.linf < (int)beta_255;
    case PX_VALID_NSGEN:
        return linf <= beta_255 || l0 < v->alpha * (double)positive;
    case PX_VALID_NSGEN_STRICT:
        return l0 < alpha_size && linf <= beta_255;
    }
    return false;
}

/* `old` is the parent against the reference, `change` the mutant. */
static bool validity_decide(const px_validity *validity, const px_lineage *lineage,
                            const px_mutation *mutation, px_change old, px_change change,
                            uint64_t positive, size_t size, px_lineage *next, bool *moves_reference)
{
    const bool affine = px_validity_affine(validity, mutation);
    const bool deephunter =
        validity->rule == PX_VALID_DEEPHUNTER || validity->rule == PX_VALID_DEEPHUNTER_CODE;
    px_lineage judged = *lineage;
    if (affine && deephunter) {
        judged.l0 = old.l0;
        judged.linf = old.linf;
    } else {
        change.l0 += lineage->l0;
        change.linf = PX_MAX(change.linf, lineage->linf);
        if (!validity_holds(validity, change, positive, size))
            return false;
    }
    judged.affine |= affine;
    *next = judged;
    *moves_reference = affine;
    return true;
}

bool px_validity_judge(const px_validity *validity, const px_lineage *lineage,
                       const px_mutation *mutation, const uint8_t *reference, const uint8_t *before,
                       const uint8_t *after, size_t size, px_lineage *next, bool *moves_reference)
{
    const bool affine = px_validity_affine(validity, mutation);
    if (mutation == &px_mutation_style) { /* exempt in NLC's and NSGen's code, as it must be */
        *next = *lineage;
        *moves_reference = false;
        return true;
    }
    if (affine && lineage->affine)
        return false;
    const bool trusted = affine && (validity->rule == PX_VALID_DEEPHUNTER ||
                                    validity->rule == PX_VALID_DEEPHUNTER_CODE);
    const px_change change = pxi_change_between(reference, trusted ? before : after, size);
    const uint64_t positive =
        validity->rule == PX_VALID_NSGEN ? validity_positive(reference, size) : 0;
    return validity_decide(validity, lineage, mutation, change, change, positive, size, next,
                           moves_reference);
}

bool px_validity_judge_samples(const px_validity *validity, const px_lineage *lineage,
                               const px_mutation *mutation, const int16_t *reference,
                               const int16_t *before, const int16_t *after, size_t count,
                               px_lineage *next, bool *moves_reference)
{
    uint64_t positive = 0;
    if (px_validity_affine(validity, mutation) && lineage->affine)
        return false;
    for (size_t i = 0; i < count; i++) /* of a wave: what is not silence */
        positive += reference[i] != 0;
    return validity_decide(
        validity, lineage, mutation, px_change_between_samples(reference, before, count),
        px_change_between_samples(reference, after, count), positive, count, next, moves_reference);
}
