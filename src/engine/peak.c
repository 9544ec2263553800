/* src/engine/peak.c - what the machine can do at most: oneDNN's sgemm on square matrices
 *
 * Throughput of a network is printed as a share of this, so that a number means the same on a
 * laptop and on a server.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/engine.h>

#include "base/memory.h"
#include "base/worker_pool.h"
#include "engine/prim.h"

#include <internal/system.h>
#include <stdlib.h>

enum { PEAK_SIZE = 512, PEAK_REPEATS = 8, PEAK_ROUNDS = 5 };

static px_status peak_multiply(void *context, int worker, int64_t index, px_error *err)
{
    float *matrices = (float *)context + (size_t)worker * 3 * PEAK_SIZE * PEAK_SIZE;
    float *a = matrices, *b = a + PEAK_SIZE * PEAK_SIZE, *c = b + PEAK_SIZE * PEAK_SIZE;
    (void)index;
    for (int i = 0; i < PEAK_REPEATS; i++) {
        if (px_cancelled())
            return px_fail(err, PX_E_CANCELLED, "cancelled");
        PX_TRY(pxi_sgemm(PEAK_SIZE, PEAK_SIZE, PEAK_SIZE, a, b, c, err));
    }
    return PX_OK;
}

px_status px_peak_gflops(int threads, double *out, px_error *err)
{
    px_pool *pool = NULL;
    float *matrices = NULL;
    double best_s = 0.0;
    PX_TRY(pxi_pool_new(threads, &pool, err));
    threads = pxi_pool_threads(pool);
    const size_t count = (size_t)threads * 3 * PEAK_SIZE * PEAK_SIZE;
    px_status status = PX_OK;
    matrices = pxi_alloc_aligned(count * sizeof *matrices);
    if (!matrices) {
        status = pxi_no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        matrices[i] = (float)(i % 7) * 0.125f;
    for (int round = 0; round < PEAK_ROUNDS; round++) {
        const double start = px_clock_s();
        status = pxi_pool_run(pool, threads, peak_multiply, matrices, NULL, NULL, err);
        if (status != PX_OK)
            goto done;
        const double seconds = px_clock_s() - start;
        if (round == 0 || seconds < best_s)
            best_s = seconds;
    }
    *out = 2e-9 * PEAK_SIZE * PEAK_SIZE * PEAK_SIZE * PEAK_REPEATS * threads / best_s;
done:
    free(matrices);
    pxi_pool_free(pool);
    return status;
}
