/* src/text/ppmi.c - words by what stands near them: PPMI and SVD */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/ppmi.h"

#include "base/memory.h"
#include "text/jacobi_svd.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void pxi_cooccur(const px_corpus *corpus, const int32_t *rank, size_t v, size_t window, double *c)
{
    for (size_t s = 0; s < corpus->learnt; s++) {
        size_t count;
        const int32_t *words = pxi_corpus_sentence(corpus, s, &count);
        for (size_t i = 0; i < count; i++)
            for (size_t j = i + 1; j < count && j - i <= window; j++) {
                const int32_t x = rank[words[i]], y = rank[words[j]];
                if (x < 0 || y < 0)
                    continue;
                c[(size_t)x * v + (size_t)y] += 1.0 / (double)(j - i);
                c[(size_t)y * v + (size_t)x] += 1.0 / (double)(j - i);
            }
    }
}

px_status pxi_ppmi(const double *c, size_t v, double a, double *m, px_error *err)
{
    double *rows = pxi_calloc(v + 1, sizeof *rows), *contexts = pxi_calloc(v + 1, sizeof *contexts);
    double context_total = 0.0;
    if (!rows || !contexts) {
        free(rows);
        free(contexts);
        return pxi_no_memory_for(err, "%zu words", v);
    }
    for (size_t i = 0; i < v; i++) {
        for (size_t j = 0; j < v; j++)
            rows[i] += c[i * v + j];
        contexts[i] = rows[i] > 0.0 ? pow(rows[i], a) : 0.0;
        context_total += contexts[i];
    }
    for (size_t i = 0; i < v; i++)
        for (size_t j = 0; j < v; j++) {
            const double count = c[i * v + j]; /* above 0: so are the sums; T cancels */
            const double value =
                count > 0.0 ? log(count * context_total / (rows[i] * contexts[j])) : 0.0;
            m[i * v + j] = value > 0.0 ? value : 0.0;
        }
    free(rows);
    free(contexts);
    return PX_OK;
}

px_status pxi_ppmi_vectors(double *m, size_t v, size_t size, float *vectors, px_error *err)
{
    assert(size > 0);
    const size_t k = PX_MIN(v, size);
    double *u = pxi_calloc(k * v + 1, sizeof *u), *values = pxi_calloc(k + 1, sizeof *values);
    px_status status = u && values ? PX_OK : pxi_no_memory_for(err, "%zu words", v);
    if (status != PX_OK)
        goto done;
    for (size_t i = 0; i < v; i++) /* columns one after the other */
        for (size_t j = 0; j < i; j++) {
            const double swap = m[i * v + j];
            m[i * v + j] = m[j * v + i];
            m[j * v + i] = swap;
        }
    status = pxi_jacobi_svd(m, v, v, k, values, u, err);
    for (size_t i = 0; i < v && status == PX_OK; i++) {
        double power = 0.0;
        for (size_t d = 0; d < k; d++)
            power += u[d * v + i] * u[d * v + i] * values[d];
        const double scale = power > 0.0 ? 1.0 / sqrt(power) : 0.0;
        for (size_t d = 0; d < size; d++)
            vectors[i * size + d] = d < k ? (float)(u[d * v + i] * sqrt(values[d]) * scale) : 0.0f;
    }
done:
    free(u);
    free(values);
    return status;
}
