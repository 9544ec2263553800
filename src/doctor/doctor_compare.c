/* src/doctor/doctor_compare.c - which of two ways to make inputs does better, and whether chance
 * says so
 *
 * Ways are compared by the cross-entropy, input by input, as it is and after each way has got its
 * best temperature (doctor_calibrated.c). A way is advised where
 *
 * - the calibrated loss falls by LOSS_FALLS: the answers are better; or the loss as it is falls by
 *   UNSURE_FALLS and the calibrated one does not rise: the answers are as good, and were far too
 *   unsure, as those of a network that is given a fraction of the contrast it was trained with;
 * - chance does not explain it: Student's paired test, one-sided, times the number of ways that
 *   were tried, is below ADVISED_P; and answers are not significantly less often right;
 * - its answers have to do with the labels: the calibrated loss is below that of guessing, ln of
 * the number of classes, by KNOWS. Labels of other classes make all ways equally wrong.
 *
 * Why this finds the right way and no other: scale and mean of the inputs could be taken up by the
 * first layer's weights, so that training leaves the loss at its lowest along both. A network that
 * is fed as it was trained has nothing to gain from another way but confidence; the calibrated loss
 * does not count that.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor_ways.h"

#include <internal/stats.h>
#include <math.h>

#define ADVISED_P 1e-3
#define LOSS_FALLS 0.05
#define UNSURE_FALLS 0.5
#define KNOWS 0.1
#define TOLD_APART_P 0.05

/* That chance alone makes `lower` lower by so much, or more: one-sided. */
static double paired_p(const pxi_losses *lower, const pxi_losses *higher, int64_t n)
{
    const double mean = higher->mean - lower->mean;
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++)
        squares += pow(higher->each[i] - lower->each[i] - mean, 2.0);
    if (!(mean > 0.0) || n < 2)
        return 1.0;
    const double p =
        px_student_two_sided(mean / sqrt(squares / (double)(n - 1) / (double)n), (double)(n - 1));
    return isnan(p) ? 1.0 : 0.5 * p;
}

static bool told_apart(const pxi_trials *t, const pxi_losses *lower, const pxi_losses *higher)
{
    return paired_p(lower, higher, t->input_count) < TOLD_APART_P;
}

bool pxi_way_tie(const pxi_trials *t, const pxi_way *best, const pxi_way *w)
{
    return w != best && w->preset && best->preset &&
           !told_apart(t, &best->calibrated, &w->calibrated) &&
           !told_apart(t, &best->raw, &w->raw) && !told_apart(t, &w->raw, &best->raw);
}

const pxi_way *pxi_ways_best(const pxi_trials *t)
{
    const pxi_way *best = &t->ways[0];
    for (size_t i = 1; i < t->count; i++)
        if (t->ways[i].raw.mean < best->raw.mean &&
            !told_apart(t, &t->ways[0].calibrated, &t->ways[i].calibrated))
            best = &t->ways[i];
    const pxi_way *common = best;
    for (size_t i = 0; i < t->count; i++)
        if (pxi_way_tie(t, best, &t->ways[i]) && t->ways[i].preset < common->preset)
            common = &t->ways[i]; /* the table of presets has the common ones first */
    return common;
}

static bool less_often_right(const pxi_trials *t, const pxi_way *w)
{
    int64_t gained = 0, lost = 0;
    for (int64_t i = 0; i < t->input_count; i++) {
        gained += w->right[i] && !t->at_hand.right[i];
        lost += !w->right[i] && t->at_hand.right[i];
    }
    return lost > gained && px_mcnemar(lost, gained).p < TOLD_APART_P;
}

bool pxi_way_better(const pxi_trials *t, const pxi_way *w, size_t tried)
{
    const pxi_way *now = &t->at_hand;
    const double most = ADVISED_P / (double)tried;
    const bool better = w->calibrated.mean <= (1.0 - LOSS_FALLS) * now->calibrated.mean &&
                        paired_p(&w->calibrated, &now->calibrated, t->input_count) < most;
    const bool surer = w->raw.mean <= (1.0 - UNSURE_FALLS) * now->raw.mean &&
                       !told_apart(t, &now->calibrated, &w->calibrated) &&
                       paired_p(&w->raw, &now->raw, t->input_count) < most;
    const bool knows =
        w->calibrated.mean <= (1.0 - KNOWS) * log((double)t->d->said->scores.classes);
    return (better || surer) && knows && !less_often_right(t, w);
}
