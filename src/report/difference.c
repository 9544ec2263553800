/* src/report/difference.c - what was changed in a picture, made visible
 *
 * DeepSensor, Fig. 9: rho = x' - x in 0-1, shown ten times as strong, around grey or as its amount.
 */
#include <internal/report.h>

#include <math.h>

typedef struct difference_norms {
    double largest, squares;
} difference_norms;

static uint8_t difference_show(px_difference view, double factor, double rho,
                               difference_norms *norms)
{
    if (isnan(rho))
        rho = 0.0;
    norms->largest = fmax(norms->largest, fabs(rho));
    norms->squares += rho * rho;
    const double shown =
        view == PX_DIFFERENCE_SIGNED ? 0.5 + factor * rho : factor * fabs(rho); /* NaN: 0 * inf */
    return (uint8_t)(255.0 * fmin(fmax(shown, 0.0), 1.0) + 0.5);
}

static void difference_report(const difference_norms *norms, double *linf, double *l2)
{
    if (linf)
        *linf = norms->largest;
    if (l2)
        *l2 = sqrt(norms->squares);
}

void px_difference_bytes(px_difference view, double factor, const uint8_t *original,
                         const uint8_t *changed, size_t count, uint8_t *out, double *linf,
                         double *l2)
{
    difference_norms norms = {0};
    for (size_t i = 0; i < count; i++)
        out[i] = difference_show(view, factor, (changed[i] - original[i]) / 255.0, &norms);
    difference_report(&norms, linf, l2);
}

void px_difference_floats(px_difference view, double factor, const float *original,
                          const float *changed, size_t count, uint8_t *out, double *linf,
                          double *l2)
{
    difference_norms norms = {0};
    for (size_t i = 0; i < count; i++)
        out[i] = difference_show(view, factor, (double)changed[i] - (double)original[i], &norms);
    difference_report(&norms, linf, l2);
}
