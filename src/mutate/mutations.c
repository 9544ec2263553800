/* src/mutate/mutations.c - the table of mutations, and applying one */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>

#include "base/additions.h"

#include <assert.h>
#include <internal/mutate.h>
#include <string.h>

static const px_entry *const mutations[] = {
#define MUTATION_ROW(id) &px_mutation_##id.entry,
    PX_MUTATIONS(MUTATION_ROW)
#undef MUTATION_ROW
};

static struct px_additions added;

const px_registry px_mutations_all = {.kind = "mutation",
                                      .plural = "mutations",
                                      .many = true,
                                      .added = &added,
                                      PX_REGISTRY_POINTERS(mutations)};

/* What the table of settings has that a text or a drawn value has no room for; NULL: nothing. */
static const char *mutation_flaw(const px_mutation *m)
{
    const int functions = (m->apply != NULL) + (m->apply_near != NULL) + (m->apply_drawn != NULL) +
                          (m->apply_samples != NULL);
    size_t count = 0;
    if (functions != 1)
        return "it has one of apply, apply_near, apply_drawn and apply_samples";
    if (!m->entry.params)
        return "it has no table of settings, not even an empty one";
    if (m->entry.id && strlen(m->entry.id) > PX_MUTATION_NAME_MOST)
        return "its id is too long";
    for (; m->entry.params[count].name; count++)
        if (strlen(m->entry.params[count].name) > PX_MUTATION_NAME_MOST)
            return "the name of a setting is too long";
    return count > PX_MUTATION_PARAMS ? "it has too many settings" : NULL;
}

px_status px_mutation_add(const px_mutation *mutation, px_error *err)
{
    const char *flaw = mutation_flaw(mutation);
    const char *id = mutation->entry.id ? mutation->entry.id : "";
    if (flaw)
        return px_fail(err, PX_E_USAGE, "the mutation '%.60s' cannot be added: %s", id, flaw);
    if (px_registry_find(&px_mutation_sets, id))
        return px_fail(err, PX_E_USAGE, "there is a set of mutations '%.60s' already", id);
    PX_TRY(pxi_registry_add(&px_mutations_all, &mutation->entry, err));
    return pxi_mutation_set_add(mutation, err);
}

px_status px_mutation_apply_near(const px_drawn *drawn, const uint8_t *origin, const uint8_t *in,
                                 uint8_t *out, int height, int width, int channels, px_error *err)
{
    if (height < 1 || width < 1 || channels < 1 || height > PX_MUTATION_SIDE_MOST ||
        width > PX_MUTATION_SIDE_MOST || channels > PX_MUTATION_SIDE_MOST)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "mutations are for pictures of 1 to %d pixels each way, not %d channels of "
                       "%d x %d",
                       PX_MUTATION_SIDE_MOST, channels, width, height);
    assert(drawn->mutation);
    if (drawn->mutation->apply_samples)
        return px_fail(err, PX_E_MISMATCH, "'%s' is for recordings, not for pictures",
                       drawn->mutation->entry.id);
    if (drawn->mutation->apply_near)
        return drawn->mutation->apply_near(drawn->values, origin, in, out, height, width, channels,
                                           err);
    if (drawn->mutation->apply_drawn)
        return drawn->mutation->apply_drawn(drawn, in, out, height, width, channels, err);
    return drawn->mutation->apply(drawn->values, in, out, height, width, channels, err);
}

px_status px_mutation_apply(const px_drawn *drawn, const uint8_t *in, uint8_t *out, int height,
                            int width, int channels, px_error *err)
{
    return px_mutation_apply_near(drawn, in, in, out, height, width, channels, err);
}

px_status px_mutation_apply_samples(const px_drawn *drawn, const int16_t *in, int16_t *out,
                                    size_t count, px_error *err)
{
    assert(drawn->mutation && count > 0);
    if (!drawn->mutation->apply_samples)
        return px_fail(err, PX_E_MISMATCH, "'%s' is for pictures, not for recordings",
                       drawn->mutation->entry.id);
    return drawn->mutation->apply_samples(drawn->values, in, out, count, err);
}

void px_samples_round(const float *samples, int16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double v = (double)samples[i] * 32768.0;
        out[i] = v >= 32767.0    ? INT16_MAX
                 : v <= -32768.0 ? INT16_MIN
                 : v != v        ? 0
                                 : (int16_t)(v < 0.0 ? v - 0.5 : v + 0.5);
    }
}

void px_samples_widen(const int16_t *samples, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)samples[i] / 32768.0f;
}
