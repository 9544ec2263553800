/* src/cover/window_sums.c - channel means of a convolution's output, from its input */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/window_sums.h"

#include "base/memory.h"
#include "base/vector_math.h"

#include <stdlib.h>

#if defined __GNUC__ && !defined __clang__
#define SUMS_FUSED PXI_WIDE_FUSED __attribute__((optimize("fp-contract=fast")))
#else
#define SUMS_FUSED
#endif

enum {
    SUMS_LANES = 16,
    SUMS_WIDE = 32,   /* output channels at a time */
    SUMS_SAMPLES = 4, /* that share one reading of the weights */
    SUMS_RUN = 64,    /* numbers that are added in float before double takes over */
    SUMS_CHUNK = 64,  /* channels on the stack */
    SUMS_PLACES = 16, /* with fewer outputs per channel the product is no longer small */
    SUMS_KERNEL = 64, /* offsets per axis that fit a mask */
};

bool pxi_window_sums_fit(const pxi_conv_params *conv)
{
    const pxi_window *w = &conv->window;
    if (conv->transposed || w->spatial < 1 || w->spatial > 2 ||
        pxi_window_out_count(w) < SUMS_PLACES)
        return false;
    for (int d = 0; d < w->spatial; d++)
        if (w->kernel[d] > SUMS_KERNEL)
            return false;
    return true;
}

static void axis_done(pxi_window_axis *axis)
{
    free(axis->class_of);
    free(axis->order);
    free(axis->start);
    free(axis->meets);
    *axis = (pxi_window_axis){0};
}

/* The offsets that meet row i. */
static uint64_t axis_meets(const pxi_window *w, int d, int64_t i)
{
    uint64_t meets = 0;
    for (int64_t a = 0; a < w->kernel[d]; a++) {
        const int64_t at = i + w->pad_begin[d] - a * w->dilation[d];
        if (at >= 0 && at % w->stride[d] == 0 && at / w->stride[d] < w->out[d])
            meets |= UINT64_C(1) << a;
    }
    return meets;
}

static bool axis_init(pxi_window_axis *axis, const pxi_window *w, int d)
{
    const size_t extent = (size_t)w->in[d];
    *axis = (pxi_window_axis){.extent = w->in[d], .kernel = w->kernel[d]};
    axis->class_of = pxi_calloc(extent, sizeof *axis->class_of);
    axis->order = pxi_calloc(extent, sizeof *axis->order);
    axis->start = pxi_calloc(extent + 1, sizeof *axis->start);
    axis->meets = pxi_calloc(extent, sizeof *axis->meets);
    if (!axis->class_of || !axis->order || !axis->start || !axis->meets)
        return false;
    for (int64_t i = 0; i < axis->extent; i++) {
        const uint64_t meets = axis_meets(w, d, i);
        int c = 0;
        while (c < axis->classes && axis->meets[c] != meets)
            c++;
        axis->class_of[i] = meets ? c : -1;
        if (meets && c == axis->classes)
            axis->meets[axis->classes++] = meets;
    }
    int64_t next = 0;
    for (int c = 0; c < axis->classes; c++) {
        axis->start[c] = next;
        for (int64_t i = 0; i < axis->extent; i++)
            if (axis->class_of[i] == c)
                axis->order[next++] = i;
    }
    axis->start[axis->classes] = next;
    return true;
}

void pxi_window_sums_done(pxi_window_sums *sums)
{
    axis_done(&sums->y);
    axis_done(&sums->x);
    free(sums->weights);
    free(sums->bias);
    *sums = (pxi_window_sums){0};
}

px_status pxi_window_sums_init(pxi_window_sums *sums, const pxi_conv_params *conv,
                               const float *weights, const float *bias, px_error *err)
{
    const pxi_window window = pxi_window_3d(&conv->window);
    const int64_t offsets = pxi_window_kernel_count(&window);
    const int64_t per_group = conv->in_channels / conv->group;
    *sums = (pxi_window_sums){.in_channels = conv->in_channels,
                              .out_channels = conv->out_channels,
                              .group = conv->group,
                              .places = pxi_window_out_count(&window),
                              .terms = offsets * conv->in_channels};
    const size_t count = (size_t)(offsets * per_group * conv->out_channels);
    sums->weights = pxi_calloc(count, sizeof *sums->weights);
    sums->bias = pxi_calloc((size_t)conv->out_channels, sizeof *sums->bias);
    if (!sums->weights || !sums->bias || !axis_init(&sums->y, &window, 1) ||
        !axis_init(&sums->x, &window, 2)) {
        pxi_window_sums_done(sums);
        return pxi_no_memory(err);
    }
    for (int64_t m = 0; m < conv->out_channels; m++) {
        sums->bias[m] = bias ? (double)bias[m] : 0.0;
        for (int64_t i = 0; i < per_group; i++)
            for (int64_t k = 0; k < offsets; k++) {
                const float w = weights[(m * per_group + i) * offsets + k];
                if (conv->group == 1)
                    sums->weights[(k * per_group + i) * conv->out_channels + m] = w;
                else
                    sums->weights[(m * offsets + k) * per_group + i] = w;
            }
    }
    return PX_OK;
}

/* --- scratch: sums per pair of classes and column (double), then terms of samples (float) ---- */

static int64_t sums_doubles(const pxi_window_sums *sums)
{
    return (int64_t)(sums->y.classes + 1) * sums->x.classes * sums->in_channels;
}

size_t pxi_window_sums_scratch(const pxi_window_sums *sums, int64_t samples)
{
    return (size_t)sums_doubles(sums) * sizeof(double) +
           (size_t)(samples * sums->terms) * sizeof(float);
}

/* --- sums of classes ------------------------------------------------------------------------- */

/* One pair of classes: out[c] = sum of x[row * stride_y + column * stride_x + c] over all its rows
 * and columns, `lanes` channels side by side. Four partial sums in float, which double takes over
 * before they have grown long. */
static inline __attribute__((always_inline)) void
pair_sum(const float *restrict x, const int64_t *restrict rows, int64_t row_count,
         const int64_t *restrict columns, int64_t column_count, int64_t stride_y, int64_t stride_x,
         int lanes, double *restrict out)
{
    double sum[SUMS_LANES] = {0};
    float part[4][SUMS_LANES] = {{0}};
    int64_t places = 0;
    for (int64_t r = 0; r < row_count; r++) {
        const float *row = x + rows[r] * stride_y;
        int64_t i = 0;
        for (; i + 4 <= column_count; i += 4)
            for (int p = 0; p < 4; p++)
                for (int c = 0; c < lanes; c++)
                    part[p][c] += row[columns[i + p] * stride_x + c];
        for (; i < column_count; i++)
            for (int c = 0; c < lanes; c++)
                part[0][c] += row[columns[i] * stride_x + c];
        places += column_count;
        if (places >= SUMS_RUN || r + 1 == row_count) {
            for (int c = 0; c < lanes; c++) {
                sum[c] += (double)((part[0][c] + part[2][c]) + (part[1][c] + part[3][c]));
                part[0][c] = part[1][c] = part[2][c] = part[3][c] = 0.0f;
            }
            places = 0;
        }
    }
    for (int c = 0; c < lanes; c++)
        out[c] = sum[c];
}

/* out[y class][x class][channel] of one sample, for `lanes` channels that lie side by side. */
static inline __attribute__((always_inline)) void lanes_sums(const pxi_window_sums *sums,
                                                             const float *x, int64_t stride_y,
                                                             int64_t stride_x, int lanes,
                                                             double *out)
{
    const pxi_window_axis *y = &sums->y, *z = &sums->x;
    for (int i = 0; i < y->classes; i++)
        for (int k = 0; k < z->classes; k++)
            pair_sum(x, y->order + y->start[i], y->start[i + 1] - y->start[i],
                     z->order + z->start[k], z->start[k + 1] - z->start[k], stride_y, stride_x,
                     lanes, out + (i * z->classes + k) * sums->in_channels);
}

/* All channels of one sample. The order of additions is the same in any layout. */
PXI_WIDE static void sums_classes(const pxi_window_sums *sums, const float *x,
                                  const int64_t stride[3], double *out)
{
    const int64_t channels = sums->in_channels;
    int64_t c = 0;
    if (stride[0] == 1) {
        for (; c + SUMS_LANES <= channels; c += SUMS_LANES)
            lanes_sums(sums, x + c, stride[1], stride[2], SUMS_LANES, out + c);
        for (; c + 4 <= channels; c += 4)
            lanes_sums(sums, x + c, stride[1], stride[2], 4, out + c);
    }
    for (; c < channels; c++)
        lanes_sums(sums, x + c * stride[0], stride[1], stride[2], 1, out + c);
}

/* terms[(a, b)][channel]: what offset (a, b) meets. `column` is scratch: [x classes][channels]. */
PXI_WIDE static void sums_terms(const pxi_window_sums *sums, const double *restrict classes,
                                double *restrict column, float *restrict terms)
{
    const int64_t channels = sums->in_channels, wide = sums->x.classes * channels;
    for (int64_t a = 0; a < sums->y.kernel; a++) {
        for (int64_t n = 0; n < wide; n++)
            column[n] = 0.0;
        for (int i = 0; i < sums->y.classes; i++)
            if (sums->y.meets[i] >> a & 1)
                for (int64_t n = 0; n < wide; n++)
                    column[n] += classes[i * wide + n];
        for (int64_t b = 0; b < sums->x.kernel; b++, terms += channels) {
            double sum[SUMS_CHUNK];
            for (int64_t first = 0; first < channels; first += SUMS_CHUNK) {
                const int64_t count = channels - first < SUMS_CHUNK ? channels - first : SUMS_CHUNK;
                for (int64_t c = 0; c < count; c++)
                    sum[c] = 0.0;
                for (int k = 0; k < sums->x.classes; k++)
                    if (sums->x.meets[k] >> b & 1)
                        for (int64_t c = 0; c < count; c++)
                            sum[c] += column[k * channels + first + c];
                for (int64_t c = 0; c < count; c++)
                    terms[first + c] = (float)sum[c];
            }
        }
    }
}

/* --- the product ----------------------------------------------------------------------------- */

/* out[s][m] = sum over terms of weights[t][m] * terms[s][t], for `lanes` neighbouring m. */
static inline __attribute__((always_inline)) void
product_lanes(const float *restrict weights, const float *restrict terms, int64_t count,
              int64_t stride, int64_t samples, int lanes, double out[SUMS_SAMPLES][SUMS_WIDE])
{
    for (int s = 0; s < SUMS_SAMPLES; s++)
        for (int m = 0; m < lanes; m++)
            out[s][m] = 0.0;
    for (int64_t first = 0; first < count; first += SUMS_RUN) {
        const int64_t end = first + SUMS_RUN < count ? first + SUMS_RUN : count;
        float part[SUMS_SAMPLES][SUMS_WIDE] = {{0}};
        for (int64_t t = first; t < end; t++)
            for (int s = 0; s < SUMS_SAMPLES; s++) {
                /* samples beyond the last repeat the first: the same work, and no branches */
                const float term = terms[(s < samples ? s : 0) * count + t];
                for (int m = 0; m < lanes; m++)
                    part[s][m] += weights[t * stride + m] * term;
            }
        for (int s = 0; s < SUMS_SAMPLES; s++)
            for (int m = 0; m < lanes; m++)
                out[s][m] += (double)part[s][m];
    }
}

/* Contracted to fused multiply-adds where the machine has them: half the time. */
SUMS_FUSED static void product_dense(const pxi_window_sums *sums, const float *terms,
                                     int64_t samples, float *out, int64_t row_stride)
{
    double found[SUMS_SAMPLES][SUMS_WIDE];
    const int64_t outs = sums->out_channels;
    for (int64_t m = 0; m < outs;) {
        const int lanes = outs - m >= SUMS_WIDE    ? SUMS_WIDE
                          : outs - m >= SUMS_LANES ? SUMS_LANES
                          : outs - m >= 4          ? 4
                                                   : 1;
        const float *weights = sums->weights + m;
        if (lanes == SUMS_WIDE)
            product_lanes(weights, terms, sums->terms, outs, samples, SUMS_WIDE, found);
        else if (lanes == SUMS_LANES)
            product_lanes(weights, terms, sums->terms, outs, samples, SUMS_LANES, found);
        else if (lanes == 4)
            product_lanes(weights, terms, sums->terms, outs, samples, 4, found);
        else
            product_lanes(weights, terms, sums->terms, outs, samples, 1, found);
        for (int64_t s = 0; s < samples; s++)
            for (int j = 0; j < lanes; j++)
                out[s * row_stride + m + j] =
                    (float)(sums->bias[m + j] + found[s][j] / (double)sums->places);
        m += lanes;
    }
}

static void product_grouped(const pxi_window_sums *sums, const float *terms, float *out)
{
    const int64_t per_in = sums->in_channels / sums->group;
    const int64_t per_out = sums->out_channels / sums->group;
    const int64_t offsets = sums->terms / sums->in_channels;
    const float *weights = sums->weights;
    for (int64_t m = 0; m < sums->out_channels; m++) {
        const float *from = terms + m / per_out * per_in;
        double sum = 0.0;
        for (int64_t k = 0; k < offsets; k++)
            for (int64_t i = 0; i < per_in; i++)
                sum += (double)*weights++ * (double)from[k * sums->in_channels + i];
        out[m] = (float)(sums->bias[m] + sum / (double)sums->places);
    }
}

void pxi_window_sums_terms(const pxi_window_sums *sums, const px_view *view, int64_t samples,
                           void *scratch, float *out, int64_t row_stride)
{
    const int64_t *given = view->stride;
    const int64_t stride[3] = {given[1], view->shape.rank == 4 ? given[2] : 0,
                               given[view->shape.rank - 1]};
    double *classes = scratch;
    double *column = classes + (int64_t)sums->y.classes * sums->x.classes * sums->in_channels;
    for (int64_t s = 0; s < samples; s++) {
        sums_classes(sums, view->data + s * given[0], stride, classes);
        sums_terms(sums, classes, column, out + s * row_stride);
    }
}

void pxi_window_sums_run(const pxi_window_sums *sums, const px_view *view, int64_t samples,
                         void *scratch, float *out, int64_t row_stride)
{
    float *terms = (float *)((double *)scratch + sums_doubles(sums));
    pxi_window_sums_terms(sums, view, samples, scratch, terms, sums->terms);
    for (int64_t s = 0; s < samples; s += SUMS_SAMPLES) {
        const float *from = terms + s * sums->terms;
        const int64_t count = samples - s < SUMS_SAMPLES ? samples - s : SUMS_SAMPLES;
        if (sums->group == 1)
            product_dense(sums, from, count, out + s * row_stride, row_stride);
        for (int64_t i = 0; sums->group > 1 && i < count; i++)
            product_grouped(sums, from + i * sums->terms, out + (s + i) * row_stride);
    }
}
