/* src/describe/caption_attention.c - which exemplars a step looks at */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/caption_attention.h"

#include "base/vector_math.h"
#include "describe/caption_math.h"

#include <assert.h>
#include <string.h>

/* e_j of one row. */
PXI_WIDE static void row_scores(size_t k, size_t size, const float *q, const float *keys,
                                const float *v, float bias, float *tanhs, float *e)
{
    for (size_t j = 0; j < k; j++) {
        const float *restrict key = keys + j * size;
        float *restrict t = tanhs + j * size;
        for (size_t i = 0; i < size; i++)
            t[i] = pxi_tanh(q[i] + key[i]);
        e[j] = pxi_dot_lanes(v, t, size) + bias;
    }
}

static void row_softmax(size_t k, float *e)
{
    float most = e[0], sum = 0.0f; /* the sum is at least 1, or NaN */
    for (size_t j = 1; j < k; j++)
        most = e[j] > most ? e[j] : most;
    for (size_t j = 0; j < k; j++) {
        e[j] = pxi_exp(e[j] - most);
        sum += e[j];
    }
    for (size_t j = 0; j < k; j++)
        e[j] /= sum;
}

PXI_WIDE static void row_mix(size_t k, size_t size, const float *alpha, const float *features,
                             float *gate, float *restrict z, float *restrict gated)
{
    memset(z, 0, size * sizeof *z);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < size; i++)
            z[i] += alpha[j] * features[j * size + i];
    for (size_t i = 0; i < size; i++) {
        gate[i] = 1.0f / (1.0f + pxi_exp(-gate[i]));
        gated[i] = gate[i] * z[i];
    }
}

void pxi_attention_run(const pxi_attention *a, float *gated, size_t gated_row)
{
    const size_t k = a->sizes->k, f = a->sizes->size, size = a->sizes->attention;
    for (size_t r = 0; r < a->rows; r++) {
        float *q = a->state + r * a->state_row, *alpha = a->alpha + r * k;
        row_scores(k, size, q, a->keys + r * a->keys_row, a->v, a->v_bias[0],
                   a->tanhs + r * k * size, alpha);
        row_softmax(k, alpha);
        row_mix(k, f, alpha, a->features + r * a->features_row, q + size, a->z + r * f,
                gated + r * gated_row);
    }
}

/* Leaves dz in z and the gradient of g in gate; gives that of alpha. */
PXI_WIDE static void row_mix_back(size_t k, size_t size, const float *dgated, const float *features,
                                  const float *push, float *gate, float *z, float *dalpha)
{
    for (size_t i = 0; i < size; i++) {
        const float s = gate[i];
        gate[i] = dgated[i] * z[i] * s * (1.0f - s);
        z[i] = dgated[i] * s;
    }
    for (size_t j = 0; j < k; j++)
        dalpha[j] = pxi_dot_lanes(z, features + j * size, size) + push[j];
}

PXI_WIDE static void row_scores_back(size_t k, size_t size, const float *de, const float *v,
                                     const float *tanhs, float *restrict dq, float *restrict dkeys,
                                     float *restrict dv)
{
    memset(dq, 0, size * sizeof *dq);
    for (size_t j = 0; j < k; j++) {
        const float *t = tanhs + j * size;
        float *restrict dkey = dkeys + j * size;
        for (size_t i = 0; i < size; i++) {
            const float d = de[j] * v[i] * (1.0f - t[i] * t[i]);
            dq[i] += d;
            dkey[i] += d;
            dv[i] += de[j] * t[i];
        }
    }
}

void pxi_attention_back(const pxi_attention *a, const float *dgated, size_t dgated_row,
                        const float *push, float *dkeys, float *dv, float *dv_bias)
{
    const size_t k = a->sizes->k, f = a->sizes->size, size = a->sizes->attention;
    for (size_t r = 0; r < a->rows; r++) {
        float *q = a->state + r * a->state_row, *alpha = a->alpha + r * k;
        float de[PXI_CAPTION_MOST_K];
        row_mix_back(k, f, dgated + r * dgated_row, a->features + r * a->features_row, push + r * k,
                     q + size, a->z + r * f, de);
        float mean = 0.0f;
        for (size_t j = 0; j < k; j++)
            mean += alpha[j] * de[j];
        for (size_t j = 0; j < k; j++) {
            de[j] = alpha[j] * (de[j] - mean);
            dv_bias[0] += de[j];
        }
        row_scores_back(k, size, de, a->v, a->tanhs + r * k * size, q, dkeys + r * k * size, dv);
    }
}

double pxi_attention_penalty(const float *sums, size_t k)
{
    assert(k > 0);
    double penalty = 0.0;
    for (size_t j = 0; j < k; j++)
        penalty += (1.0 - (double)sums[j]) * (1.0 - (double)sums[j]);
    return penalty;
}
