/* src/generate/ascent_math.c - normalising, moving and measuring pixels */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/ascent.h"

#include "base/memory.h"

#include <math.h>

bool pxi_ascent_normalise(float *gradient, size_t size)
{
    double squares = 0.0;
    for (size_t i = 0; i < size; i++)
        squares += (double)gradient[i] * (double)gradient[i];
    if (!isfinite(squares)) /* squares of floats do not overflow a double */
        return false;
    const double rms = sqrt(squares / (double)PX_MAX(size, 1)) + 1e-5;
    for (size_t i = 0; i < size; i++)
        gradient[i] = (float)((double)gradient[i] / rms);
    return true;
}

void pxi_ascent_move(const float *gradient, double step, double low, double high, float *levels,
                     size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const double moved = (double)levels[i] + step * (double)gradient[i];
        levels[i] = (float)(moved < low ? low : moved > high ? high : moved);
    }
}

double pxi_ascent_distance(const float *start, const float *now, size_t size)
{
    double squares = 0.0, norm = 0.0;
    for (size_t i = 0; i < size; i++) {
        const double move = (double)now[i] - (double)start[i];
        squares += move * move;
        norm += (double)start[i] * (double)start[i];
    }
    return norm > 0.0 ? sqrt(squares / norm) : INFINITY;
}

void pxi_ascent_ranking(const float *scores, int classes, int *out, int count)
{
    for (int i = 0; i < count; i++) { /* a handful: no need to sort them all */
        int best = -1;
        for (int c = 0; c < classes; c++) {
            bool taken = false;
            for (int k = 0; k < i && !taken; k++)
                taken = out[k] == c;
            if (!taken && (best < 0 || scores[c] > scores[best]))
                best = c;
        }
        out[i] = best;
    }
}
