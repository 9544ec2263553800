/* src/cli/cli_wrong.c - inputs that a network gets wrong, as a data set of their own */
#include "base/memory.h"
#include "cli/cli_net.h"

#include <internal/data.h>
#include <stdlib.h>

/* One row of x: bytes for 8-bit sources, floats as they are for others. */
static px_status wrong_row(px_npz_writer *writer, const cli_inputs *inputs, int64_t i,
                           float *pixels, uint8_t *bytes, px_error *err)
{
    PX_TRY(px_dataset_pixels(inputs->set, i, pixels, err));
    if (!bytes)
        return px_npz_write(writer, pixels, inputs->floats * sizeof *pixels, err);
    for (size_t k = 0; k < inputs->floats; k++)
        bytes[k] = (uint8_t)pixels[k];
    return px_npz_write(writer, bytes, inputs->floats, err);
}

static px_status wrong_write(px_npz_writer *writer, const cli_inputs *inputs, const int64_t *wrong,
                             const int64_t *predictions, int64_t count, float *pixels,
                             uint8_t *bytes, px_error *err)
{
    px_shape x = px_dataset_shape(inputs->set);
    const px_shape line = {1, {count}};
    for (int d = x.rank++; d > 0; d--)
        x.dim[d] = x.dim[d - 1];
    x.dim[0] = count;
    PX_TRY(px_npz_begin(writer, "x", bytes ? PX_UINT8 : PX_FLOAT32, &x, err));
    for (int64_t i = 0; i < count; i++)
        PX_TRY(wrong_row(writer, inputs, wrong[i], pixels, bytes, err));
    static const char *const names[] = {"y", "indices", "predictions"};
    for (int column = 0; column < 3; column++) {
        PX_TRY(px_npz_begin(writer, names[column], PX_INT64, &line, err));
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = wrong[i];
            const int64_t value = column == 0   ? px_dataset_label(inputs->set, at)
                                  : column == 1 ? px_dataset_index(inputs->set, at)
                                                : predictions[at];
            PX_TRY(px_npz_write(writer, &value, sizeof value, err));
        }
    }
    return PX_OK;
}

px_status cli_inputs_save_wrong(const cli_inputs *inputs, const int64_t *predictions,
                                const char *path, int64_t *count, px_error *err)
{
    const bool whole = px_dataset_is_8bit(inputs->set);
    int64_t *wrong = calloc((size_t)inputs->count, sizeof *wrong);
    float *pixels = calloc(inputs->floats, sizeof *pixels);
    uint8_t *bytes = whole ? calloc(inputs->floats, 1) : NULL;
    px_npz_writer *writer = NULL;
    px_status status;
    int64_t found = 0;
    if (!wrong || !pixels || (whole && !bytes)) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (int64_t i = 0; i < inputs->count; i++)
        if (predictions[i] != px_dataset_label(inputs->set, i))
            wrong[found++] = i;
    status = px_npz_create(path, &writer, err);
    if (status != PX_OK)
        goto done;
    status = wrong_write(writer, inputs, wrong, predictions, found, pixels, bytes, err);
    if (status == PX_OK)
        status = px_npz_commit(writer, err);
    else
        px_npz_abandon(writer);
    *count = found;
done:
    free(wrong);
    free(pixels);
    free(bytes);
    return status;
}
