/* src/stats/vargha_delaney.c - A12 (Vargha & Delaney, J. Educational and Behavioral Statistics 25,
 * 2000): how often a value of one sample is above one of the other
 *
 * From ranks: A12 = (R1 / n1 - (n1 + 1) / 2) / n2, which is U / (n1 n2). The words are those of
 * their section 5: .56, .64 and .71, or as far below one half.
 */
#include <internal/stats.h>

#include <math.h>

px_status px_vargha_delaney(const double *a, size_t a_count, const double *b, size_t b_count,
                            double *out, px_error *err)
{
    px_mann_whitney_result r;
    PX_TRY(px_mann_whitney(a, a_count, b, b_count, PX_TWO_SIDED, PX_U_NORMAL, &r, err));
    *out = r.effect;
    return PX_OK;
}

const char *px_a12_size(double a12)
{
    const double from_half = fabs(a12 - 0.5);
    if (a12 != a12)
        return "undefined";
    return from_half < 0.06   ? "negligible"
           : from_half < 0.14 ? "small"
           : from_half < 0.21 ? "medium"
                              : "large";
}
