/* src/mutate/set_audio.c - noise, gain, shift and time mask, in ranges that a listener forgives
 *
 * Ours: DeepHunter's transformations are for pictures. Noise between 20 and 40 dB below the
 * recording is a room, half a second of a second would be missed where a tenth is not, and six
 * decibels are a factor of two.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutation.h>
#include <internal/rng.h>

#include "base/memory.h"

static double draw_between(px_random *random, double least, double most)
{
    return least + (most - least) * px_rng_u01(random);
}

static void audio_draw_noise(px_random *random, double *values)
{
    values[0] = draw_between(random, 20.0, 40.0);
}

static void audio_draw_gain(px_random *random, double *values)
{
    values[0] = draw_between(random, -6.0, 6.0);
}

static void audio_draw_shift(px_random *random, double *values)
{
    values[0] = draw_between(random, -0.1, 0.1);
}

static void audio_draw_mask(px_random *random, double *values)
{
    values[1] = draw_between(random, 0.01, 0.1);
    values[0] = draw_between(random, 0.0, 1.0 - values[1]);
}

static const px_mutation_entry entries[] = {
    {&px_mutation_audio_noise, "snr 20 to 40 dB", 0, NULL, audio_draw_noise},
    {&px_mutation_audio_gain, "db -6 to 6", 0, NULL, audio_draw_gain},
    {&px_mutation_audio_shift, "by -0.1 to 0.1 of the recording", 0, NULL, audio_draw_shift},
    {&px_mutation_audio_mask, "length 0.01 to 0.1 of the recording, anywhere", 0, NULL,
     audio_draw_mask},
};

const px_mutation_set pxi_mutation_set_audio = {
    .entry = {.id = "audio",
              .title = "noise, gain, shift and time mask of recordings",
              .source = "plexor"},
    .entries = entries,
    .entry_count = PX_LEN(entries),
};
