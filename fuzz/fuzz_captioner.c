/* fuzz/fuzz_captioner.c - captioners that a stranger wrote
 *
 * NPZ files, as lists of members (zip_members.h). What is read must be able to tell something, or
 * say why not.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/captioner_internal.h"
#include "zip_members.h"

#include <stdlib.h>

enum { MOST_NUMBERS = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void tell(const px_captioner *captioner)
{
    static float features[MOST_NUMBERS];
    const px_caption_decoding how = {.beam = 3, .steps = 3, .lambda = 0.2, .threads = 1};
    if (px_captioner_k(captioner) * px_captioner_size(captioner) > MOST_NUMBERS)
        return;
    for (size_t i = 0; i < MOST_NUMBERS; i++)
        features[i] = (float)(i % 7) - 3.0f;
    char *text = NULL;
    px_error err = {0};
    const px_status status = px_captioner_describe(captioner, features, 1, &how, &text, NULL, &err);
    if (status != PX_OK && status != PX_E_INPUT && status != PX_E_NOMEM)
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static zip z;
    px_captioner *captioner = NULL;
    px_error err = {0};
    px_npz *npz = zip_make(&z, bytes, size) ? zip_open(&z) : NULL;
    if (npz && pxi_captioner_read(npz, &captioner, &err) == PX_OK)
        tell(captioner);
    px_captioner_free(captioner);
    px_npz_close(npz);
    return 0;
}
