/* fuzz/fuzz_cover.c - coverage states and profiles that a stranger wrote
 *
 * Both are NPZ files, as lists of members (zip_members.h).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/cover_internal.h"
#include "cover/profile_internal.h"
#include "zip_members.h"

#include <internal/profile.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What `plexor merge` does: two of the same, which may lie about themselves in the same way. */
static void use_state(const zip *z)
{
    px_npz *npz = zip_open(z);
    px_cover *a = NULL, *b = NULL;
    px_error err = {0};
    if (npz && pxi_cover_read(npz, &a, &err) == PX_OK && pxi_cover_read(npz, &b, &err) == PX_OK) {
        b->seen.count = 0; /* as if of other inputs */
        if (px_cover_merge(a, b, &err) != PX_OK && err.status > PX_E_MISMATCH)
            abort();
        for (size_t i = 0; i < px_cover_count(a); i++)
            px_cover_value(a, i);
    }
    px_cover_free(a);
    px_cover_free(b);
    px_npz_close(npz);
}

static void use_profile(const zip *z)
{
    static const px_row_layer layers[] = {{"a", 0, 2}, {"b", 2, 3}};
    const px_extractor extractor = {
        .key = "fuzz", .definition = "fuzz", .width = 5, .layers = layers, .layer_count = 2};
    px_npz *npz = zip_open(z);
    px_profile *profile = NULL;
    if (npz && pxi_profile_read(npz, "fuzz", &profile, NULL) == PX_OK) {
        px_ranges ranges = {0};
        px_traces traces;
        double sum = 0.0;
        if (px_profile_ranges(profile, "", &extractor, &ranges, NULL) == PX_OK)
            for (int i = 0; i < 5; i++)
                sum += (double)(ranges.high[i] - ranges.low[i]) + ranges.deviation[i];
        if (px_profile_traces(profile, "", &extractor, &traces, NULL) == PX_OK)
            for (int64_t i = 0; i < traces.count * traces.width; i++)
                sum += (double)traces.values[i];
        if (!(sum == sum)) /* ranges and traces are finite, or refused */
            abort();
        px_ranges_done(&ranges);
    }
    px_profile_free(profile);
    px_npz_close(npz);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static zip z;
    if (zip_make(&z, bytes, size)) {
        use_state(&z);
        use_profile(&z);
    }
    return 0;
}
