/* src/train/measure.c - mean and standard deviation of a data set, for its preprocessing */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/train.h>

#include "base/memory.h"
#include "base/worker_pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MEASURE_BLOCK = 256 };                  /* samples whose sums are kept apart */
static const int64_t MEASURE_MOST = 1ll << 28; /* values that are read */

typedef struct measure {
    const px_dataset *set;
    int64_t count, samples; /* of the set, and how many of them are read */
    size_t channels, plane;
    float **pixels; /* one sample per worker */
    double *sums;   /* [block][channel][sum, sum of squares] */
} measure;

static px_status measure_block(void *context, int worker, int64_t block, px_error *err)
{
    const measure *m = context;
    float *pixels = m->pixels[worker];
    double *sums = m->sums + (size_t)block * m->channels * 2;
    const int64_t first = block * MEASURE_BLOCK, last = PX_MIN(first + MEASURE_BLOCK, m->samples);
    for (int64_t i = first; i < last; i++) {
        const int64_t index = (int64_t)((double)i * ((double)m->count / (double)m->samples));
        PX_TRY(px_dataset_pixels(m->set, PX_MIN(index, m->count - 1), pixels, err));
        for (size_t c = 0; c < m->channels; c++) {
            double sum = 0.0, squares = 0.0;
            for (size_t p = 0; p < m->plane; p++) {
                const double v = (double)pixels[c * m->plane + p];
                sum += v;
                squares += v * v;
            }
            sums[2 * c] += sum;
            sums[2 * c + 1] += squares;
        }
    }
    return PX_OK;
}

/* The shortest decimal with four digits is what people will find in the file. */
static float measure_round(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return strtof(text, NULL);
}

static px_status measure_finish(const measure *m, int64_t blocks, px_preprocess *pre, px_error *err)
{
    const double n = (double)m->samples * (double)m->plane, scale = (double)pre->scale;
    for (size_t c = 0; c < m->channels; c++) {
        double sum = 0.0, squares = 0.0;
        for (int64_t b = 0; b < blocks; b++) {
            sum += m->sums[((size_t)b * m->channels + c) * 2];
            squares += m->sums[((size_t)b * m->channels + c) * 2 + 1];
        }
        const double mean = sum / n, variance = squares / n - mean * mean;
        if (!isfinite(mean) || !isfinite(variance))
            return px_fail(err, PX_E_INPUT,
                           "the data have values that are not numbers or too large; --mean and "
                           "--std can be given");
        const size_t to = pre->bgr && m->channels == 3 ? 2 - c : c;
        const float stddev = measure_round(sqrt(fmax(variance, 0.0)) * fabs(scale));
        pre->mean[to] = measure_round(mean * scale);
        pre->stddev[to] = stddev > 0.0f ? stddev : 1.0f;
    }
    for (size_t c = m->channels; c < PX_PREPROCESS_CHANNELS; c++) {
        pre->mean[c] = pre->mean[m->channels - 1];
        pre->stddev[c] = pre->stddev[m->channels - 1];
    }
    pre->channels = (int)m->channels;
    return PX_OK;
}

px_status px_preprocess_measure(px_preprocess *pre, const px_dataset *set, int threads,
                                px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    const int64_t floats = px_shape_count(&shape);
    const bool planes = shape.rank == 3 && shape.dim[0] <= PX_PREPROCESS_CHANNELS;
    measure m = {.set = set, .count = px_dataset_count(set)};
    m.samples = PX_MIN(m.count, PX_MAX(MEASURE_MOST / PX_MAX(floats, 1), 1));
    m.channels = planes ? (size_t)shape.dim[0] : 1;
    m.plane = (size_t)floats / m.channels;
    const int64_t blocks = (m.samples + MEASURE_BLOCK - 1) / MEASURE_BLOCK;
    px_pool *pool = NULL;
    PX_TRY(pxi_pool_new(threads, &pool, err));
    const int workers = pxi_pool_threads(pool);
    px_status status = PX_OK;
    m.sums = pxi_calloc((size_t)blocks * m.channels * 2, sizeof *m.sums);
    m.pixels = pxi_calloc((size_t)workers, sizeof *m.pixels);
    bool room = m.sums && m.pixels;
    for (int i = 0; room && i < workers; i++)
        room = (m.pixels[i] = pxi_calloc((size_t)floats, sizeof **m.pixels)) != NULL;
    if (!room)
        status = pxi_no_memory(err);
    PX_THEN(status, pxi_pool_run(pool, blocks, measure_block, &m, pxi_pool_unwatched, NULL, err));
    PX_THEN(status, measure_finish(&m, blocks, pre, err));
    for (int i = 0; m.pixels && i < workers; i++)
        free(m.pixels[i]);
    free(m.pixels);
    free(m.sums);
    pxi_pool_free(pool);
    return status;
}
