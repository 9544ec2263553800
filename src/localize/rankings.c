/* src/localize/rankings.c - rankings compared: overlap and rank correlation */
#include "localize/suspicious.h"

#include "base/memory.h"

#include <math.h>
#include <plexor/stats.h>
#include <stdlib.h>
#include <string.h>

static int suspect_order(const void *left, const void *right)
{
    const px_suspect *a = *(const px_suspect *const *)left, *b = *(const px_suspect *const *)right;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

/* Pointers to the neurons, in the order of layers and units; NULL when out of memory. */
static const px_suspect **suspects_sorted(const px_suspect *items, size_t count)
{
    const px_suspect **sorted = pxi_calloc(PX_MAX(count, 1), sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = &items[i];
    if (sorted)
        qsort(sorted, count, sizeof *sorted, suspect_order);
    return sorted;
}

px_status px_suspicious_overlap(const px_suspicious *a, const px_suspicious *b, int c, double *out,
                                px_error *err)
{
    size_t a_count = 0, b_count = 0, both = 0;
    const px_suspect *a_items = px_suspicious_class(a, c, &a_count);
    const px_suspect *b_items = px_suspicious_class(b, c, &b_count);
    const px_suspect **x = suspects_sorted(a_items, a_count),
                     **y = suspects_sorted(b_items, b_count);
    const px_status status = x && y ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    for (size_t i = 0, j = 0; status == PX_OK && i < a_count && j < b_count;) {
        const int order = suspect_order(&x[i], &y[j]);
        both += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    if (status == PX_OK)
        *out = a_count && b_count ? (double)both / (double)PX_MAX(a_count, b_count) : (double)NAN;
    free(x);
    free(y);
    return status;
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
