/* src/assess/metric_jpeg.c - RIC: failures that compression does not cure
 *
 * A real round trip through libjpeg in memory: baseline, standard tables, 4:2:0 for colour. DEEPSEC
 * uses quality 90; the paper's package calls it with 1.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "assess/metrics.h"

#include <internal/image.h>

#include <math.h>
#include <stdlib.h>

typedef struct ric_config {
    int64_t quality;
} ric_config;

static const px_param ric_params[] = {
    PX_PARAM_INT(ric_config, quality, 90, 1, 100, "of the JPEG, as libjpeg counts it"),
    PX_PARAM_END,
};

static px_status trip_image(const pxi_image *image, int quality, pxi_image *out, px_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    PX_TRY(pxi_jpeg_encode(image, quality, &bytes, &size, err));
    const px_status status = pxi_jpeg_decode(bytes, size, "a compressed input", out, err);
    free(bytes);
    return status;
}

px_status pxi_jpeg_trip(const double *in, double *out, size_t channels, int height, int width,
                        int quality, px_error *err)
{
    const size_t plane = (size_t)height * (size_t)width;
    pxi_image image = {0}, trip = {0};
    px_status status = pxi_image_init(&image, width, height, (int)channels, err);
    if (status != PX_OK)
        return status;
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < plane; i++) {
            const double level = floor(in[c * plane + i] + 0.5);
            image.data[i * channels + c] = (uint8_t)(level > 255.0 ? 255.0
                                                     : level > 0.0 ? level
                                                                   : 0.0);
        }
    status = trip_image(&image, quality, &trip, err);
    for (size_t c = 0; status == PX_OK && c < channels; c++)
        for (size_t i = 0; i < plane; i++)
            out[c * plane + i] = trip.data[i * channels + c];
    pxi_image_done(&image);
    pxi_image_done(&trip);
    return status;
}

static px_status change_jpeg(const pxi_pair *pair, const void *config, double *out, px_error *err)
{
    return pxi_jpeg_trip(pair->a, out, pair->channels, pair->height, pair->width,
                         (int)((const ric_config *)config)->quality, err);
}

const pxi_metric pxi_metric_ric = {
    .shown = {.entry = {.id = "ric",
                        .title = "robustness to image compression",
                        .source = "Yang et al. (Revisiting neuron coverage), eq. 21",
                        .params = ric_params,
                        .config_size = sizeof(ric_config)},
              .definition = "share of misclassified inputs that still are after a JPEG round trip",
              .better = PX_BETTER_LOW,
              .remark = "quality 90 as in DEEPSEC; the paper's package uses 1"},
    .over = PXI_OVER_WRONG,
    .needs = PXI_NEEDS_PICTURE,
    .change = change_jpeg,
};
