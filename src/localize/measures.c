/* src/localize/measures.c - suspiciousness (Tarantula, Ochiai, D* ...): one number of four counts
 *
 * F = af + nf (failed), P = as + ns (passed), N = F + P. A ratio 0/0 is 0, and x/0 with x > 0 is
 * +infinity, which only D* can reach (as = nf = 0). A measure that is af times something is 0 where
 * af is: so Barinel is written af / (as + af), which is 1 - as / (as + af) wherever that is
 * defined, and a neuron that is never active is not suspicious.
 *
 * The order of neurons hangs on ties, so scores that are equal must be equal bits: each formula is
 * brought to one quotient of whole numbers, which are exact in a double, and is rounded once.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "localize/spectrum.h"

#include <internal/localize.h>
#include <math.h>

/* Counts as reals, under the names of the formulas. */
#define COUNTS(h)                                                                  \
    const double as = (double)(h)->as, af = (double)(h)->af, ns = (double)(h)->ns, \
                 nf = (double)(h)->nf, F = af + nf, P = as + ns;                   \
    (void)as, (void)af, (void)ns, (void)nf, (void)F, (void)P, (void)star

static double ratio(double above, double below)
{
    if (below != 0.0)
        return above / below;
    return above > 0.0 ? (double)INFINITY : 0.0;
}

/* Wong's third heuristic, af - h: each further passing input counts for less. */
static double wong3_value(double as, double af)
{
    if (as <= 2.0)
        return af - as; /* h = as */
    if (as <= 10.0)
        return (10.0 * af - 18.0 - as) / 10.0;   /* h = 2 + 0.1 (as - 2) */
    return (1000.0 * af - 2790.0 - as) / 1000.0; /* h = 2.8 + 0.001 (as - 10) */
}

/* X(name, key, what, rule, value, paper): the formula for people, the value for the compiler */
#define MEASURES(X)                                                                                \
    X(tarantula, "tarantula", "Tarantula", "(af/F) / (af/F + as/P)", ratio(af *P, af *P + as * F), \
      "Jones, Harrold, Stasko, ICSE 2002")                                                         \
    X(ochiai, "ochiai", "Ochiai", "af / sqrt(F (af+as))", sqrt(ratio(af *af, F *(af + as))),       \
      "Abreu, Zoeteweij, van Gemund, PRDC 2006")                                                   \
    X(dstar, "dstar", "D*", "af^star / (as+nf)", ratio(pow(af, star), as + nf),                    \
      "Wong, Debroy, Gao, Li, IEEE Trans. Reliability 2014")                                       \
    X(barinel, "barinel", "Barinel, for one fault", "1 - as/(as+af)", ratio(af, as + af),          \
      "Abreu, Zoeteweij, van Gemund, ASE 2009")                                                    \
    X(op2, "op2", "Op2", "af - as/(P+1)", (af * (P + 1.0) - as) / (P + 1.0),                       \
      "Naish, Lee, Ramamohanarao, TOSEM 2011")                                                     \
    X(op1, "op1", "Op1", "-1 if nf > 0, else ns", nf > 0.0 ? -1.0 : ns,                            \
      "Naish, Lee, Ramamohanarao, TOSEM 2011")                                                     \
    X(jaccard, "jaccard", "Jaccard", "af / (F+as)", ratio(af, F + as),                             \
      "Chen et al., Pinpoint, DSN 2002")                                                           \
    X(dice, "dice", "Dice; ranks as Jaccard does", "2af / (2af+as+nf)",                            \
      ratio(2.0 * af, 2.0 * af + as + nf), "Dice, Ecology 1945")                                   \
    X(zoltar, "zoltar", "Zoltar", "af / (F + as + 10000 nf as/af)",                                \
      ratio(af *af, af *(F + as) + 10000.0 * nf * as), "Janssen, Abreu, van Gemund, ASE 2009")     \
    X(kulczynski2, "kulczynski2", "Kulczynski 2", "(af/F + af/(af+as)) / 2",                       \
      ratio(af *(af + as + F), 2.0 * F * (af + as)), "Kulczynski, 1927")                           \
    X(overlap, "overlap", "Overlap", "af / min(F, af+as)", ratio(af, PX_MIN(F, af + as)),          \
      "Szymkiewicz, 1934")                                                                         \
    X(ample, "ample", "Ample; two-sided", "|af/F - as/P|", ratio(fabs(af *P - as * F), F *P),      \
      "Dallmeier, Lindig, Zeller, ECOOP 2005")                                                     \
    X(wong2, "wong2", "Wong 2", "af - as", af - as, "Wong, Qi, Zhao, Cai, COMPSAC 2007")           \
    X(wong3, "wong3", "Wong 3", "af - h(as), h rising by 1, 0.1 (from 2), 0.001 (from 10)",        \
      wong3_value(as, af), "Wong, Qi, Zhao, Cai, COMPSAC 2007")                                    \
    X(gp13, "gp13", "GP13, found by genetic programming", "af (1 + 1/(2as+af))",                   \
      ratio(af *(2.0 * as + af + 1.0), 2.0 * as + af), "Yoo, SSBSE 2012")                          \
    X(mccon, "mccon", "McCon", "(af^2 - nf as) / (F (af+as))",                                     \
      ratio(af *af - nf * as, F * (af + as)), "McConnaughey, 1964")                                \
    X(rogers_tanimoto, "rogers-tanimoto", "Rogers-Tanimoto", "(af+ns) / (af+ns+2(nf+as))",         \
      ratio(af + ns, af + ns + 2.0 * (nf + as)), "Rogers, Tanimoto, Science 1960")                 \
    X(simple_matching, "simple-matching", "simple matching", "(af+ns) / N", ratio(af + ns, F + P), \
      "Sokal, Michener, 1958")                                                                     \
    X(m2, "m2", "M2", "af / (af+ns+2(nf+as))", ratio(af, af + ns + 2.0 * (nf + as)),               \
      "Everitt, 1978")

#define MEASURE_SCORE(name, key, what, rule, value, paper)    \
    static double name##_score(const px_hits *h, double star) \
    {                                                         \
        COUNTS(h);                                            \
        return value;                                         \
    }
MEASURES(MEASURE_SCORE)
#undef MEASURE_SCORE

static const px_measure measures[] = {
#define MEASURE_ROW(name, key, what, rule, value, paper) \
    {.entry = {.id = key, .title = what, .source = paper}, .formula = rule, .score = name##_score},
    MEASURES(MEASURE_ROW)
#undef MEASURE_ROW
};

const px_registry px_measures = {
    .kind = "measure", .plural = "measures", .many = true, PX_REGISTRY_ARRAY(measures)};

void px_measure_scores(const px_measure *measure, double star, const px_spectrum *spectrum, int c,
                       double *scores)
{
    const int64_t count = px_spectrum_neuron_count(spectrum);
    const bool ranks = px_spectrum_ranks(spectrum, c);
    for (int64_t n = 0; n < count; n++) {
        const px_hits hits = px_spectrum_hits(spectrum, c, n);
        scores[n] = ranks ? measure->score(&hits, star) : (double)NAN;
    }
}
