/* src/describe/exemplar_names.c - layers as folders, inputs as pictures */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/exemplar_internal.h"

#include "base/memory.h"
#include <internal/pixel_rule.h>
#include <plexor/text.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything that some file system or shell stumbles over is escaped, and a leading dot. */
static bool plain(const char *name, size_t i)
{
    const char c = name[i];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || (c == '.' && i > 0);
}

char *pxi_exemplar_folder(const char *layer)
{
    px_text text = {0};
    for (size_t i = 0; layer[i]; i++) {
        if (plain(layer, i))
            px_text_add_bytes(&text, layer + i, 1);
        else
            px_text_format(&text, "%%%02X", (unsigned)(unsigned char)layer[i]);
    }
    if (text.length == 0)
        px_text_add(&text, "%");
    return px_text_take(&text);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *pxi_exemplar_layer_name(const char *folder)
{
    px_text text = {0};
    px_text_add(&text, "");
    for (size_t i = 0; folder[i]; i++) {
        const int high = folder[i] == '%' ? hex_digit(folder[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(folder[i + 2]) : -1;
        if (low >= 0 && 16 * high + low > 0) {
            const char c = (char)(unsigned char)(16 * high + low);
            px_text_add_bytes(&text, &c, 1);
            i += 2;
        } else {
            px_text_add_bytes(&text, folder + i, 1);
        }
    }
    if (strcmp(px_text_get(&text), "%") == 0)
        px_text_clear(&text);
    return px_text_take(&text);
}

char *pxi_exemplar_path(const char *folder, const char *name)
{
    px_text text = {0};
    px_text_format(&text, "%s/%s", folder, name);
    return px_text_take(&text);
}

/* Floats of any range to levels. */
static void stretch(float *values, size_t count)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            least = PX_MIN(least, (double)values[i]);
            most = PX_MAX(most, (double)values[i]);
        }
    if (least >= 0.0 && most <= 1.0) {
        least = 0.0;
        most = 1.0;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = isfinite(values[i]) && most > least
                        ? (float)(((double)values[i] - least) / (most - least) * 255.0)
                        : 0.0f;
}

px_status pxi_exemplar_rgb(const px_dataset *set, int64_t index, uint8_t *planes, px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    if (shape.rank != 3 || shape.dim[0] < 1) {
        char text[PX_SHAPE_TEXT];
        return px_fail(err, PX_E_USAGE, "inputs of %s are no pictures",
                       px_shape_text(&shape, text));
    }
    const size_t count = (size_t)px_shape_count(&shape), plane = count / (size_t)shape.dim[0];
    float *values = NULL;
    PX_TRY(PX_NEW(values, count, err));
    const px_status status = px_dataset_pixels(set, index, values, err);
    if (status == PX_OK) {
        if (!px_dataset_is_8bit(set))
            stretch(values, count);
        for (size_t c = 0; c < 3; c++)
            pxi_pixels_round_nearest(values + (shape.dim[0] >= 3 ? c * plane : 0), plane,
                                     planes + c * plane);
    }
    free(values);
    return status;
}
