/* src/stats/gauss_nodes.c - Gauss and Legendre's nodes
 *
 * The roots of the Legendre polynomial P_n by Newton's method from cos(pi (i - 1/4) / (n + 1/2)),
 * weights 2 / ((1 - x^2) P_n'(x)^2), moved from [-1, 1] to [0, 1].
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/gauss_nodes.h>

#include <assert.h>
#include <math.h>

void pxi_gauss_nodes(int count, double *nodes, double *weights)
{
    assert(count > 0);
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < count; i++) {
        double x = cos(pi * (i + 0.75) / (count + 0.5)), slope = 1.0;
        for (int step = 0; step < 100; step++) {
            double p = 1.0, before = 0.0;
            for (int k = 1; k <= count; k++) {
                const double older = before;
                before = p;
                p = ((2.0 * k - 1.0) * x * before - (k - 1.0) * older) / k;
            }
            slope = count * (x * p - before) / (x * x - 1.0);
            const double moved = p / slope;
            x -= moved;
            if (fabs(moved) < 1e-15)
                break;
        }
        nodes[count - 1 - i] = 0.5 * (1.0 + x);
        weights[count - 1 - i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
}
