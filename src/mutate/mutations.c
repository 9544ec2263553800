/* src/mutate/mutations.c - the table of mutations, and applying one */
#include <internal/mutation.h>

#include <assert.h>
#include <internal/mutate.h>

static const px_entry *const mutations[] = {
#define MUTATION_ROW(id) &px_mutation_##id.entry,
    PX_MUTATIONS(MUTATION_ROW)
#undef MUTATION_ROW
};

const px_registry px_mutations_all = {
    .kind = "mutation", .plural = "mutations", .many = true, PX_REGISTRY_POINTERS(mutations)};

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
