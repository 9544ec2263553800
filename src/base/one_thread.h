/* src/base/one_thread.h - keep what a library does inside a call on the thread that calls it
 *
 *     const int before = pxi_one_thread_begin();
 *     ... oneDNN ...
 *     pxi_one_thread_end(before);
 *
 * Threads of plexor come from its worker pool alone. OpenMP's own setting belongs to the caller's
 * thread and is put back.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_ONE_THREAD_H
#define PXI_BASE_ONE_THREAD_H

#ifdef _OPENMP
#include <omp.h>

static inline int pxi_one_thread_begin(void)
{
    const int before = omp_get_max_threads();
    if (before != 1)
        omp_set_num_threads(1);
    return before;
}

static inline void pxi_one_thread_end(int before)
{
    if (before != 1)
        omp_set_num_threads(before);
}

#else /* a build without it, such as the fuzz targets': nothing to keep on one thread */

static inline int pxi_one_thread_begin(void)
{
    return 1;
}

static inline void pxi_one_thread_end(int before)
{
    (void)before;
}

#endif
#endif
