/* src/generate/fuzz_recording.c - recordings that are mutated as such
 *
 * All recordings of a campaign have as many 16-bit samples as the network's frames need: of longer
 * ones the middle, shorter ones begin again. What the campaign stores and the network judges are
 * the features of those samples, of seeds too, so that nothing but mutations lies between a seed
 * and a fault. The samples follow from the data and the chain, and are never stored.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_internal.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/mutate.h>
#include <inttypes.h>
#include <stdlib.h>

size_t pxi_fuzz_sample_count(const px_fuzz *fuzz)
{
    const px_audio *audio = px_dataset_audio(fuzz->options.set);
    if (!audio || !fuzz->has_mutations)
        return 0;
    return (size_t)(audio->frames - 1) * (size_t)audio->hop_length + (size_t)audio->win_length;
}

px_status pxi_fuzz_samples(const px_fuzz *fuzz, int64_t row, int16_t *out, px_error *err)
{
    float *clip = NULL;
    size_t count = 0;
    PX_TRY(px_dataset_clip(fuzz->options.set, row, &clip, &count, err));
    const size_t skip = count > fuzz->samples ? (count - fuzz->samples) / 2 : 0;
    for (size_t i = 0; i < fuzz->samples; i++)
        px_samples_round(clip + (skip + i) % count, out + i, 1);
    free(clip);
    return PX_OK;
}

px_status pxi_fuzz_features(const px_fuzz *fuzz, const int16_t *samples, float *features,
                            px_error *err)
{
    float *wide = NULL;
    PX_TRY(PX_NEW(wide, fuzz->samples, err));
    px_samples_widen(samples, wide, fuzz->samples);
    const px_status status =
        px_dataset_features(fuzz->options.set, wide, fuzz->samples, features, err);
    free(wide);
    return status;
}

px_status pxi_fuzz_seed_samples(const px_fuzz *fuzz, int16_t *out, px_error *err)
{
    const px_dataset *set = fuzz->options.set;
    size_t found = 0;
    for (int64_t row = 0; row < px_dataset_count(set) && found < fuzz->seed_count; row++)
        for (size_t s = 0; s < fuzz->seed_count; s++)
            if (fuzz->seeds[s].data_index == px_dataset_index(set, row)) {
                PX_TRY(pxi_fuzz_samples(fuzz, row, out + s * fuzz->samples, err));
                found++;
            }
    return found == fuzz->seed_count ? PX_OK : pxi_fuzz_bad_state(fuzz, err);
}
