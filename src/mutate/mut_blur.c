/* src/mutate/mut_blur.c - blurs: NSS's box, and OpenCV's box, Gaussian, median and bilateral */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/filters.h"
#include <internal/mutation.h>

static const px_param blur_params[] = {
    PXI_DRAWN_INT("size", 1, PXI_BOX_MOST, "of the square whose mean is taken, in pixels"),
    PX_PARAM_END,
};

static px_status blur_apply(const double *v, const uint8_t *in, uint8_t *out, int height, int width,
                            int channels, px_error *err)
{
    const size_t plane = (size_t)height * (size_t)width;
    for (int c = 0; c < channels; c++, in += plane, out += plane)
        PX_TRY(pxi_box_blur((int)v[0], /* cv= */ false, in, out, height, width, err));
    return PX_OK;
}

const px_mutation px_mutation_blur = {
    .entry = {.id = "blur", .title = "means of squares", .params = blur_params},
    .group = PX_MUTATION_PIXEL,
    .apply = blur_apply,
};

typedef enum blur_filter { BLUR_BOX, BLUR_GAUSSIAN, BLUR_MEDIAN, BLUR_BILATERAL } blur_filter;

/* X(name, filter, size, sigmas of the bilateral one); sets count on the order. */
#define BLUR_KINDS(X)                      \
    X("box3", BLUR_BOX, 3, 0)              \
    X("box4", BLUR_BOX, 4, 0)              \
    X("box5", BLUR_BOX, 5, 0)              \
    X("gauss3", BLUR_GAUSSIAN, 3, 0)       \
    X("gauss5", BLUR_GAUSSIAN, 5, 0)       \
    X("gauss7", BLUR_GAUSSIAN, 7, 0)       \
    X("median3", BLUR_MEDIAN, 3, 0)        \
    X("median5", BLUR_MEDIAN, 5, 0)        \
    X("bilateral6", BLUR_BILATERAL, 6, 50) \
    X("box6", BLUR_BOX, 6, 0)              \
    X("bilateral9", BLUR_BILATERAL, 9, 75) \
    X("box2", BLUR_BOX, 2, 0)              \
    X("box7", BLUR_BOX, 7, 0)

static const struct {
    blur_filter filter;
    int size;
    double sigma;
} kinds[] = {
#define BLUR_ROW(name, filter, size, sigma) {filter, size, sigma},
    BLUR_KINDS(BLUR_ROW)
#undef BLUR_ROW
};

static const char *const kind_names[] = {
#define BLUR_NAME(name, filter, size, sigma) name,
    BLUR_KINDS(BLUR_NAME) NULL,
#undef BLUR_NAME
};

static const px_param cv_blur_params[] = {
    PXI_DRAWN_CHOICE("kind", kind_names,
                     "filter and size; bilateral6 has sigmas of 50, bilateral9 of 75"),
    PX_PARAM_END,
};

static px_status cv_blur_apply(const double *v, const uint8_t *in, uint8_t *out, int height,
                               int width, int channels, px_error *err)
{
    const size_t plane = (size_t)height * (size_t)width, kind = (size_t)v[0];
    const int size = kinds[kind].size;
    if (kinds[kind].filter == BLUR_BILATERAL)
        return pxi_bilateral_blur(size, kinds[kind].sigma, kinds[kind].sigma, in, out, height,
                                  width, channels, err);
    for (int c = 0; c < channels; c++, in += plane, out += plane)
        PX_TRY(kinds[kind].filter == BLUR_BOX
                   ? pxi_box_blur(size, /* cv= */ true, in, out, height, width, err)
               : kinds[kind].filter == BLUR_GAUSSIAN
                   ? pxi_gaussian_blur(size, in, out, height, width, err)
                   : pxi_median_blur(size, in, out, height, width, err));
    return PX_OK;
}

const px_mutation px_mutation_cv_blur = {
    .entry = {.id = "cv-blur",
              .title = "OpenCV's filters (DeepHunter, NSGen)",
              .params = cv_blur_params},
    .group = PX_MUTATION_PIXEL,
    .apply = cv_blur_apply,
};
