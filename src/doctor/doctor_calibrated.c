/* src/doctor/doctor_calibrated.c - cross-entropy after the confidence is put right
 *
 * The loss of a network that is too sure falls with less contrast, right or wrong. So that only the
 * order of answers counts, each way of making inputs first gets the temperature that suits it best
 * (Guo et al., On Calibration of Modern Neural Networks, ICML 2017, section 4.2): the loss is
 * convex in 1/T, and its derivative is bisected.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "doctor/doctor_internal.h"

#include <math.h>
#include <stdlib.h>

enum { BISECTIONS = 20 }; /* log(1/T) to 1e-5 */

/* Loss of one input at 1/T = sharp, of log-probabilities q; *slope is its derivative in `sharp`. */
static double loss_at(const double *q, int classes, int64_t label, double sharp, double *slope)
{
    double highest = q[0], sum = 0.0, mean = 0.0;
    for (int c = 1; c < classes; c++)
        highest = fmax(highest, q[c]);
    for (int c = 0; c < classes; c++) {
        const double weight = exp(sharp * (q[c] - highest)); /* one of them is 1 */
        sum += weight;
        mean += weight * q[c];
    }
    *slope = mean / sum - q[label];
    return log(sum) + sharp * (highest - q[label]);
}

/* Scores that are not numbers say as much as no answer. */
static void log_probabilities(const float *p, int classes, double *q)
{
    bool numbers = true;
    for (int c = 0; c < classes; c++)
        numbers &= isfinite(p[c]) != 0;
    for (int c = 0; c < classes; c++)
        q[c] = numbers ? log(fmax((double)p[c], 1e-45)) : 0.0;
}

px_status pxi_calibrated_loss(const px_predictions *said, double *loss, px_error *err)
{
    const int classes = said->scores.classes;
    const size_t n = (size_t)said->count, width = (size_t)classes;
    double *q = n <= SIZE_MAX / sizeof *q / width ? pxi_calloc(n * width, sizeof *q) : NULL;
    double low = -9.0, high = 4.0, slope = 0.0; /* of log(1/T): from useless to certain */
    if (!q)
        return pxi_no_memory(err);
    for (size_t i = 0; i < n; i++)
        log_probabilities(said->probabilities + i * width, classes, q + i * width);
    for (int k = 0; k < BISECTIONS; k++) {
        const double middle = 0.5 * (low + high);
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            loss_at(q + i * width, classes, said->label[i], exp(middle), &slope);
            sum += slope;
        }
        if (sum > 0.0)
            high = middle;
        else
            low = middle;
    }
    for (size_t i = 0; i < n; i++)
        loss[i] = loss_at(q + i * width, classes, said->label[i], exp(low), &slope);
    free(q);
    return PX_OK;
}
