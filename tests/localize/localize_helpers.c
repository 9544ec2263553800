/* tests/localize/localize_helpers.c - spectra made by hand */
/* SPDX-License-Identifier: Apache-2.0 */
#include "localize_helpers.h"

#include "base/memory.h"

#include <internal/localize.h>
#include <string.h>

px_spectrum *empty_spectrum(const int64_t *sizes, int classes)
{
    px_spectrum_layer layers[16] = {0};
    char names[16][8];
    size_t count = 0;
    px_spectrum *spectrum = NULL;
    px_error err = {0};
    for (; sizes[count]; count++) {
        snprintf(names[count], sizeof names[count], "L%zu", count);
        layers[count] = (px_spectrum_layer){
            .name = names[count], .position = (int)count, .count = sizes[count]};
    }
    if (pxi_spectrum_make(layers, count, classes, 0.0, &spectrum, &err) != PX_OK)
        fail_msg("%s", err.message);
    spectrum->definition = pxi_strdup("by hand");
    return spectrum;
}

px_spectrum *example_spectrum(int classes)
{
    static const float values[8][4] = {
        {.5f, -.1f, .2f, 0},   {.3f, .4f, 0, .1f},     {-.2f, .6f, .7f, .3f},
        {.1f, -.3f, .9f, .2f}, {-.4f, .2f, .1f, .5f},                        /* pass */
        {.2f, .8f, .4f, -.6f}, {-.1f, .9f, .3f, -.2f}, {.7f, .1f, .8f, .4f}, /* fail */
    };
    px_input_facts facts[8] = {0};
    for (int i = 0; i < 8; i++)
        facts[i] = (px_input_facts){.index = i, .label = 0, .predicted = i < 5 ? 0 : 1};
    px_spectrum *spectrum = empty_spectrum((const int64_t[]){2, 2, 0}, classes);
    const px_rows rows = {.count = 8, .width = 4, .values = values[0], .facts = facts};
    px_error err = {0};
    if (pxi_counts_observe(&spectrum->counts, &rows, 0.0, &err) != PX_OK)
        fail_msg("%s", err.message);
    return spectrum;
}

void set_class(px_spectrum *spectrum, int c, int64_t passed, int64_t failed, const uint32_t *as,
               const uint32_t *af)
{
    const size_t bytes = (size_t)spectrum->counts.width * sizeof *as;
    px_error err = {0};
    if (pxi_counts_open(&spectrum->counts, c, &err) != PX_OK)
        fail_msg("%s", err.message);
    pxi_class_hits *of = &spectrum->counts.of[c];
    of->inputs[PXI_PASS] = passed;
    of->inputs[PXI_FAIL] = failed;
    memcpy(of->active[PXI_PASS], as, bytes);
    memcpy(of->active[PXI_FAIL], af, bytes);
}

px_suspicious *rank(const px_spectrum *spectrum, const char *measure, int64_t k, bool pooled)
{
    px_rank_options options = px_rank_options_default();
    px_suspicious *list = NULL;
    px_error err = {0};
    options.measure = measure;
    options.k = k;
    options.pooled = pooled;
    options.include_uninformative = true; /* counts of a few inputs, worked by hand */
    if (px_suspicious_rank(spectrum, &options, &list, &err) != PX_OK)
        fail_msg("%s: %s", measure, err.message);
    return list;
}

const char *neurons_text(const px_suspicious *list, int c)
{
    static char text[1024];
    size_t count = 0, used = 0;
    const px_suspect *items = px_suspicious_class(list, c, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof text - 64; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%d", i ? " " : "",
                                 items[i].layer, (int)items[i].unit);
    return text;
}
