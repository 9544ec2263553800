/* src/localize/rankings.c - rankings compared: overlap and rank correlation */
#include "localize/suspicious.h"

#include "base/memory.h"

#include <math.h>
#include <plexor/stats.h>
#include <stdlib.h>
#include <string.h>

double px_suspicious_overlap(const px_suspicious *a, const px_suspicious *b, int c)
{
    size_t a_count = 0, b_count = 0, both = 0;
    const px_suspect *x = px_suspicious_class(a, c, &a_count);
    const px_suspect *y = px_suspicious_class(b, c, &b_count);
    if (a_count == 0 || b_count == 0)
        return (double)NAN;
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++)
            if (x[i].position == y[j].position && x[i].unit == y[j].unit) {
                both++;
                break;
            }
    return (double)both / (double)PX_MAX(a_count, b_count);
}

/* rank[neuron]: how many different scores are above its own, with a minus: a larger one is better.
 * Whole numbers in place of scores, so that infinite ones have their place. */
static void rankings_places(const px_spectrum *spectrum, int c, const px_measure *measure,
                            double star, pxi_scored *scored, double *place)
{
    pxi_ranking(spectrum, measure, star, c, scored);
    double above = 0.0;
    for (int64_t i = 0; i < spectrum->counts.width; i++) {
        above += i > 0 && pxi_scored_compare(&scored[i - 1], &scored[i]) != 0;
        place[scored[i].neuron] = -above;
    }
}

px_status px_measures_spearman(const px_spectrum *spectrum, int c, double star, double *matrix,
                               px_error *err)
{
    const size_t width = (size_t)spectrum->counts.width, count = px_measure_count();
    for (size_t i = 0; i < count * count; i++)
        matrix[i] = (double)NAN;
    if (!px_spectrum_ranks(spectrum, c))
        return PX_OK;
    pxi_scored *scored = pxi_calloc(PX_MAX(width, 1), sizeof *scored);
    double *place = pxi_calloc(PX_MAX(width, 1), sizeof *place);
    double *ranks = pxi_calloc(PX_MAX(width, 1), count * sizeof *ranks); /* sorted once each */
    px_status status = scored && place && ranks ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    for (size_t m = 0; m < count && status == PX_OK; m++) {
        rankings_places(spectrum, c, px_measure_get(m), star, scored, place);
        status = px_ranks(place, width, ranks + m * width, NULL, err);
    }
    for (size_t i = 0; i < count && status == PX_OK; i++)
        for (size_t j = i; j < count; j++)
            matrix[i * count + j] = matrix[j * count + i] =
                px_pearson(ranks + i * width, ranks + j * width, width).r;
    free(scored);
    free(place);
    free(ranks);
    return status;
}
