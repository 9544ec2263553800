/* src/attribute/grad_cam.c - Grad-CAM of classes and maps of units: where in the picture */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/paths_internal.h"

#include "base/memory.h"
#include "describe/mask.h"

#include <internal/decision_path.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void px_grad_cam(const float *activations, const float *gradients, int64_t units, int64_t places,
                 float *map)
{
    for (int64_t p = 0; p < places; p++)
        map[p] = 0.0f;
    for (int64_t u = 0; u < units; u++) {
        double sum = 0.0;
        for (int64_t p = 0; p < places; p++)
            sum += (double)gradients[u * places + p];
        const float alpha = (float)(sum / (double)places);
        for (int64_t p = 0; p < places; p++)
            map[p] += alpha * activations[u * places + p];
    }
    for (int64_t p = 0; p < places; p++)
        map[p] = map[p] < 0.0f ? 0.0f : map[p]; /* NaN goes through */
}

/* --- of a network ---------------------------------------------------------------------------- */

typedef struct cam_run {
    const px_paths *paths;
    const float *input;
    const px_path *path;
    size_t layer;
    bool gradients;
    float *values, *grads; /* [units][places] */
} cam_run;

static void cam_read(const pxi_neuron_layout *layout, const float *x, float *out)
{
    for (int64_t c = 0; c < layout->channels; c++) {
        const float *channel =
            x + layout->offset + pxi_extent_offset(layout->channel, layout->channel_rank, c);
        for (int64_t p = 0; p < layout->places; p++)
            *out++ = channel[pxi_extent_offset(layout->space, layout->space_rank, p)];
    }
}

static px_status cam_job(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const cam_run *run = context;
    const px_paths *paths = run->paths;
    const pxi_path_tap *tap = &paths->taps[run->layer];
    (void)index;
    memcpy(pxi_lane_input(lane, 0), run->input, paths->input_size * sizeof(float));
    PX_TRY(px_session_forward(lane->session, err));
    cam_read(&tap->values, px_session_view(lane->session, tap->value).data, run->values);
    if (!run->gradients)
        return PX_OK;
    PX_TRY(pxi_path_seed(paths, lane->session, 1, run->path->target, err));
    cam_read(&tap->grads, px_session_grad(lane->session, tap->value).data, run->grads);
    return PX_OK;
}

px_status px_paths_map(px_paths *paths, const float *input, const px_path *path, size_t layer,
                       px_path_map kind, float *map, px_error *err)
{
    if (layer >= paths->layer_count)
        return px_fail(err, PX_E_USAGE, "there is no layer %zu in the path", layer);
    const int64_t units = paths->layers[layer].units, unit = path->step[layer].unit;
    const int64_t places = paths->taps[layer].values.places;
    memset(map, 0, (size_t)places * sizeof *map);
    if (path->target < 0 || (kind == PX_PATH_MAP_UNIT && (unit < 0 || unit >= units)))
        return PX_OK;
    cam_run run = {.paths = paths,
                   .input = input,
                   .path = path,
                   .layer = layer,
                   .gradients = kind == PX_PATH_MAP_GRAD_CAM};
    run.values = pxi_calloc((size_t)units, (size_t)places * sizeof *run.values);
    run.grads = pxi_calloc((size_t)units, (size_t)places * sizeof *run.grads);
    px_status status = run.values && run.grads
                           ? pxi_pass_each(paths->pass, 1, NULL, cam_job, &run, err)
                           : pxi_no_memory(err);
    if (status == PX_OK && run.gradients)
        px_grad_cam(run.values, run.grads, units, places, map);
    else if (status == PX_OK)
        memcpy(map, run.values + unit * places, (size_t)places * sizeof *map);
    free(run.values);
    free(run.grads);
    return status;
}

/* --- as a picture ---------------------------------------------------------------------------- */

/* Blue, cyan, green, yellow, red: the colours that such maps are known by. */
static void cam_colour(double value, double rgb[3])
{
    static const double stops[][3] = {
        {0.0, 0.0, 0.56}, {0.0, 0.25, 1.0}, {0.0, 1.0, 1.0},
        {1.0, 1.0, 0.0},  {1.0, 0.25, 0.0}, {0.56, 0.0, 0.0},
    };
    const double at = value * (double)(PX_LEN(stops) - 1);
    const size_t i = PX_MIN((size_t)at, PX_LEN(stops) - 2);
    for (int k = 0; k < 3; k++)
        rgb[k] = stops[i][k] + (at - (double)i) * (stops[i + 1][k] - stops[i][k]);
}

px_status px_path_map_render(const float *map, int64_t map_height, int64_t map_width,
                             const uint8_t *picture, int height, int width, int channels,
                             uint8_t *out, px_error *err)
{
    if (map_height < 1 || map_width < 1 || height < 1 || width < 1 ||
        map_height > PXI_MAP_SIDE_MOST || map_width > PXI_MAP_SIDE_MOST ||
        height > PXI_MAP_SIDE_MOST || width > PXI_MAP_SIDE_MOST || (channels != 1 && channels != 3))
        return px_fail(err, PX_E_USAGE, "pictures have 1 or 3 channels and sides of 1 to %d",
                       PXI_MAP_SIDE_MOST);
    const size_t count = (size_t)height * (size_t)width;
    float *large = NULL;
    PX_TRY(PX_NEW(large, count, err));
    pxi_upsample(map, (int)map_height, (int)map_width, height, width, false, large);
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (isfinite(large[i])) {
            low = PX_MIN(low, large[i]);
            high = PX_MAX(high, large[i]);
        }
    for (size_t i = 0; i < count; i++) {
        double rgb[3];
        const double scaled = high > low && isfinite(large[i])
                                  ? ((double)large[i] - (double)low) / ((double)high - (double)low)
                                  : 0.0;
        cam_colour(scaled, rgb);
        for (size_t k = 0; k < 3; k++) {
            const uint8_t under = picture[channels == 3 ? 3 * i + k : i];
            out[3 * i + k] = (uint8_t)(0.5 * under + 0.5 * 255.0 * rgb[k] + 0.5);
        }
    }
    free(large);
    return PX_OK;
}
