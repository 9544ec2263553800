/* fuzz/fuzz_styles.c - stored styles: what is taken is stored as it was, and can be applied */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutate.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void apply(const px_styles *styles)
{
    enum { SIDE = 9 };
    uint8_t in[3 * SIDE * SIDE], out[sizeof in];
    px_drawn drawn = {0};
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(37 * i);
    if (px_drawn_parse("style strength=0.8 image=0 of=own", &drawn, NULL) != PX_OK)
        abort();
    drawn.styles = styles;
    for (int channels = 1; channels <= 3; channels += 2)
        if (px_mutation_apply(&drawn, in, out, SIDE, SIDE, channels, NULL) != PX_OK)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    px_styles *styles = NULL;
    uint8_t *again = NULL;
    size_t again_size = 0;
    px_error err = {0};
    if (px_styles_load(bytes, size, &styles, &err) != PX_OK) {
        if (styles || !err.message[0])
            abort();
        return 0;
    }
    if (px_styles_save(styles, &again, &again_size, &err) != PX_OK || again_size != size ||
        memcmp(again, bytes, size) != 0)
        abort();
    apply(styles);
    free(again);
    px_styles_free(styles);
    return 0;
}
