/* fuzz/fuzz_spectrum.c - hit spectra that a stranger wrote: as lists of members (zip_members.h),
 * merged with themselves, ranked, and set against random neurons
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize/spectrum.h"
#include "zip_members.h"

#include <internal/localize.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use_hits(const px_spectrum *spectrum)
{
    const int64_t neurons = px_spectrum_neuron_count(spectrum);
    int64_t always = 0, never = 0;
    for (int c = PX_POOLED; c < px_spectrum_classes(spectrum); c++)
        for (int64_t i = 0; i < neurons; i++) {
            const px_hits hits = px_spectrum_hits(spectrum, c, i);
            if (hits.as < 0 || hits.af < 0 || hits.ns < 0 || hits.nf < 0)
                abort();
        }
    px_spectrum_extremes(spectrum, &always, &never);
    if (always < 0 || never < 0 || always > neurons || never > neurons)
        abort();
}

static void use_lists(const px_spectrum *spectrum)
{
    px_rank_options options = px_rank_options_default();
    const px_baseline_options chance = {.k = 2, .seed = 1};
    px_suspicious *list = NULL, *random = NULL;
    px_error err = {0};
    options.k = 2;
    if (px_suspicious_rank(spectrum, &options, &list, &err) == PX_OK) {
        const px_suspicious *const lists[] = {list};
        if (px_suspicious_random(spectrum, lists, 1, &chance, &random, &err) != PX_OK &&
            !err.message[0])
            abort();
    }
    px_suspicious_free(random);
    px_suspicious_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static zip z;
    if (!zip_make(&z, bytes, size))
        return 0;
    px_npz *npz = zip_open(&z);
    px_spectrum *a = NULL, *b = NULL;
    px_error err = {0};
    if (npz && pxi_spectrum_read(npz, &a, &err) == PX_OK &&
        pxi_spectrum_read(npz, &b, &err) == PX_OK) {
        use_hits(a);
        use_lists(a);
        b->seen.count = 0; /* as if of other inputs */
        if (px_spectrum_merge(a, b, &err) == PX_OK)
            use_hits(a);
        else if (!err.message[0])
            abort();
    }
    px_spectrum_free(b);
    px_spectrum_free(a);
    px_npz_close(npz);
    return 0;
}
