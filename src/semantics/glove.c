/* src/semantics/glove.c - word vectors by weighted least squares (GloVe) */
#include "semantics/glove.h"

#include "base/memory.h"

#include <internal/rng.h>
#include <math.h>
#include <stdlib.h>

pxi_glove_options pxi_glove_options_default(uint64_t seed)
{
    return (pxi_glove_options){
        .epochs = 50, .rate = 0.05, .x_max = 10.0, .power = 0.75, .seed = seed};
}

typedef struct glove_pair {
    uint32_t row, column;
    double weight, log_count;
} glove_pair;

typedef struct glove_job {
    size_t size; /* of a vector; a row of w has the bias behind it */
    glove_pair *pairs;
    size_t pair_count;
    int64_t *order;
    double *w, *past; /* [2 v][size + 1]: words then contexts; sums of squared gradients */
} glove_job;

static px_status glove_pairs(glove_job *job, const double *counts, size_t v,
                             const pxi_glove_options *o, px_error *err)
{
    for (size_t i = 0; i < v * v; i++)
        job->pair_count += counts[i] > 0.0;
    PX_TRY(PX_NEW(job->pairs, job->pair_count + 1, err));
    PX_TRY(PX_NEW(job->order, job->pair_count + 1, err));
    PX_TRY(PX_NEW(job->w, 2 * v * (job->size + 1) + 1, err));
    PX_TRY(PX_NEW(job->past, 2 * v * (job->size + 1) + 1, err));
    size_t n = 0;
    for (size_t i = 0; i < v; i++)
        for (size_t j = 0; j < v; j++) {
            const double count = counts[i * v + j];
            if (count > 0.0)
                job->pairs[n++] =
                    (glove_pair){(uint32_t)i, (uint32_t)j,
                                 fmin(1.0, pow(count / o->x_max, o->power)), log(count)};
        }
    return PX_OK;
}

static void glove_start(glove_job *job, size_t v, uint64_t seed)
{
    const size_t row = job->size + 1;
    for (size_t i = 0; i < 2 * v; i++) {
        px_random r = px_rng(seed, PX_RNG_GLOVE, (uint32_t)i, 0);
        for (size_t d = 0; d < row; d++) {
            job->w[i * row + d] = (px_rng_u01(&r) - 0.5) / (double)row;
            job->past[i * row + d] = 1.0;
        }
    }
}

/* One step of AdaGrad on one number. */
static void glove_step(double *w, double *past, double gradient, double rate)
{
    *w -= rate * gradient / sqrt(*past);
    *past += gradient * gradient;
}

static void glove_pair_step(glove_job *job, const glove_pair *pair, size_t v, double rate)
{
    const size_t size = job->size, row = size + 1;
    const size_t at = pair->row * row, to = (v + pair->column) * row;
    double *a = job->w + at, *b = job->w + to;
    double *past_a = job->past + at, *past_b = job->past + to;
    double off = a[size] + b[size] - pair->log_count;
    for (size_t d = 0; d < size; d++)
        off += a[d] * b[d];
    const double pull = pair->weight * off;
    for (size_t d = 0; d < size; d++) {
        const double x = a[d], y = b[d];
        glove_step(&a[d], &past_a[d], pull * y, rate);
        glove_step(&b[d], &past_b[d], pull * x, rate);
    }
    glove_step(&a[size], &past_a[size], pull, rate);
    glove_step(&b[size], &past_b[size], pull, rate);
}

px_status pxi_glove_train(const double *counts, size_t v, size_t size,
                          const pxi_glove_options *options, float *vectors, px_error *err)
{
    glove_job job = {.size = size};
    const px_status status = glove_pairs(&job, counts, v, options, err);
    if (status != PX_OK)
        goto done;
    glove_start(&job, v, options->seed);
    for (int epoch = 0; epoch < options->epochs; epoch++) {
        px_random r = px_rng(options->seed, PX_RNG_GLOVE, (uint32_t)epoch, 1);
        px_rng_permutation(&r, job.order, (uint32_t)job.pair_count);
        for (size_t i = 0; i < job.pair_count; i++)
            glove_pair_step(&job, &job.pairs[job.order[i]], v, options->rate);
    }
    for (size_t i = 0; i < v; i++)
        for (size_t d = 0; d < size; d++)
            vectors[i * size + d] =
                (float)(job.w[i * (size + 1) + d] + job.w[(v + i) * (size + 1) + d]);
done:
    free(job.pairs);
    free(job.order);
    free(job.w);
    free(job.past);
    return status;
}
