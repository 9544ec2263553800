/* src/assess/metric_similarity.c - ASS: structural similarity of failures and originals
 *
 * Wang et al., Image quality assessment: from error visibility to structural similarity, IEEE
 * Transactions on Image Processing 13(4), 2004, as scikit-image has it by default: windows of 7 x 7
 * values without weights, sample covariances, K1 = 0.01, K2 = 0.03; the mean over the places where
 * the window fits, then over channels. Five integral images make a window cost the same whatever
 * its size.
 */
#include "assess/metrics.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { WINDOW = 7, SUMS = 5 };
enum { ASS_RANGE, ASS_SETTINGS };

static const px_param ass_settings[ASS_SETTINGS] = {
    [ASS_RANGE] =
        {"range", 255, 1e-3, 1e6, false, NULL,
         "L of the constants (K L)^2, in levels; 2 is what float arrays got by default in "
         "the library that DEEPSEC used"},
};

size_t pxi_metric_scratch(int height, int width)
{
    return SUMS * (size_t)(height + 1) * (size_t)(width + 1);
}

/* table[r][c]: the sums of x, y, xx, yy, xy over the r first rows and c first columns. */
static void integrate(const double *x, const double *y, int height, int width, double *table)
{
    const size_t line = SUMS * (size_t)(width + 1);
    memset(table, 0, line * sizeof *table);
    for (int r = 0; r < height; r++) {
        double row[SUMS] = {0};
        const double *above = table + (size_t)r * line;
        double *here = table + (size_t)(r + 1) * line;
        memset(here, 0, SUMS * sizeof *here);
        for (int c = 0; c < width; c++) {
            const double u = *x++, v = *y++;
            const double add[SUMS] = {u, v, u * u, v * v, u * v};
            for (int k = 0; k < SUMS; k++) {
                row[k] += add[k];
                here[SUMS * (c + 1) + k] = above[SUMS * (c + 1) + k] + row[k];
            }
        }
    }
}

double pxi_ssim(const double *x, const double *y, int height, int width, double range,
                double *scratch)
{
    int window = PX_MIN(WINDOW, PX_MIN(height, width));
    window -= window % 2 == 0;
    if (window < 3)
        return (double)NAN; /* one value has no variance */
    integrate(x, y, height, width, scratch);
    const size_t line = SUMS * (size_t)(width + 1);
    const double n = window * window, sample = n / (n - 1.0);
    const double c1 = 0.01 * range * 0.01 * range, c2 = 0.03 * range * 0.03 * range;
    double total = 0.0;
    for (int r = 0; r + window <= height; r++)
        for (int c = 0; c + window <= width; c++) {
            const double *top = scratch + (size_t)r * line + SUMS * (size_t)c;
            const double *bottom = top + (size_t)window * line;
            const int across = SUMS * window;
            double mean[SUMS];
            for (int k = 0; k < SUMS; k++)
                mean[k] = (bottom[across + k] - bottom[k] - top[across + k] + top[k]) / n;
            const double ux = mean[0], uy = mean[1];
            const double vx = sample * (mean[2] - ux * ux), vy = sample * (mean[3] - uy * uy);
            const double vxy = sample * (mean[4] - ux * uy);
            total += (2.0 * ux * uy + c1) * (2.0 * vxy + c2) /
                     ((ux * ux + uy * uy + c1) * (vx + vy + c2));
        }
    return total / ((double)(height - window + 1) * (double)(width - window + 1));
}

static double term_ssim(const pxi_pair *pair, const double *settings)
{
    const size_t plane = (size_t)pair->height * (size_t)pair->width;
    double sum = 0.0;
    for (size_t c = 0; c < pair->channels; c++)
        sum += pxi_ssim(pair->x + c * plane, pair->a + c * plane, pair->height, pair->width,
                        settings[ASS_RANGE], pair->scratch);
    return sum / (double)pair->channels;
}

const pxi_metric pxi_metric_ass = {
    .shown = {.id = "ass",
              .title = "average structural similarity",
              .definition = "mean SSIM of an input and its original (1: the same), over "
                            "misclassified inputs",
              .equation = "Yang et al. (Revisiting neuron coverage), eq. 17; Wang et al. 2004, "
                          "eq. 13",
              .better = PX_BETTER_LOW,
              .remark = "windows of 7 x 7, or the largest odd size that fits; levels of 0 to 255",
              .settings = ass_settings,
              .setting_count = ASS_SETTINGS},
    .over = PXI_OVER_WRONG,
    .needs = PXI_NEEDS_PLANES,
    .term = term_ssim,
};
