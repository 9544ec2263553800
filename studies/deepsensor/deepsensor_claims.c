/* studies/deepsensor/deepsensor_claims.c - what the DeepSensor paper says, and whether it came out
 *
 * Each is looked at for every network and rival that was run.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"
#include "deepsensor/deepsensor_tables.h"
#include "frame/study_claim.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/text.h>
#include <string.h>

static const double UNKNOWN = (double)NAN;

typedef struct ds_quantity { /* what is compared: a value of cells, and how it is told */
    const char *name;
    ds_share share;
    const char *unit;
} ds_quantity;

static const ds_quantity errors = {"errors", DS_PER_EXAMPLE, "%"},
                         near_errors = {"near_errors", DS_PER_EXAMPLE, "%"},
                         noise_errors = {"noise_errors", DS_PER_EXAMPLE, "%"},
                         linf = {"linf", DS_COUNT, ""},
                         categories = {"categories", DS_PER_SEED, ""},
                         any = {"any", DS_PER_CENT, "%"}, pol = {"pol", DS_PER_CENT, "%"};

static double value_of(const px_study *study, size_t subject, size_t state, size_t method,
                       const ds_quantity *what)
{
    return ds_figure(study, subject, state, method, what->name,
                     ds_scale(study, subject, state, method, what->share), UNKNOWN)
        .mean;
}

/* The largest number of seeds that both were run with; -1: none. A swarm's rate moves by points
 * between 60 seeds and 1,000, so that methods are compared on as many. */
static int64_t common_size(const px_study *study, size_t subject, size_t state, size_t method,
                           size_t other_state, size_t other)
{
    char key[CELL_KEY], other_key[CELL_KEY];
    ds_prefix(study, subject, state, method, key);
    ds_prefix(study, subject, other_state, other, other_key);
    int64_t a = pxi_study_size(study, key, INT64_MAX);
    int64_t b = pxi_study_size(study, other_key, INT64_MAX);
    while (a >= 0 && b >= 0 && a != b)
        if (a > b)
            a = pxi_study_size(study, key, a);
        else
            b = pxi_study_size(study, other_key, b);
    return a == b ? a : -1;
}

/* A share of a method's examples or seeds, of campaigns of that many seeds. */
static double value_at(const px_study *study, size_t subject, size_t state, size_t method,
                       const ds_quantity *what, int64_t size)
{
    char key[CELL_KEY];
    ds_prefix(study, subject, state, method, key);
    const double seeds = pxi_study_figure_of(study, key, size, "seeds", 1.0, UNKNOWN, 0).mean;
    return ds_share_scale(study, seeds, what->share) *
           pxi_study_figure_of(study, key, size, what->name, 1.0, UNKNOWN, 0).mean;
}

static void tell(study_claim *c, const ds_quantity *what, double value)
{
    px_text_format(&c->evidence, "%.2f%s", value, what->unit);
}

static void claim_case(study_claim *c, size_t subject, size_t state)
{
    px_text_format(&c->evidence, "%s%s", c->evidence.length ? "; " : "",
                   ds_subjects[subject].title);
    if (state != DS_CLEAN)
        px_text_format(&c->evidence, ", %s", ds_states[state].title);
    px_text_add(&c->evidence, ": ");
}

/* DeepSensor against each rival, `times` as much or more. */
static void claim_network(const px_study *study, study_claim *c, size_t subject, size_t state,
                          const ds_quantity *what, double times)
{
    const double own = value_of(study, subject, state, DS_SENSOR, what);
    bool told = false;
    for (size_t m = 0; m < DS_SENSOR; m++) {
        const double other = value_of(study, subject, state, m, what);
        if (isnan(own) || isnan(other))
            continue;
        if (!told) {
            claim_case(c, subject, state);
            tell(c, what, own);
        }
        px_text_format(&c->evidence, "%s%s ", told ? ", " : " against ", ds_methods[m].title);
        tell(c, what, other);
        told = true;
        c->run++;
        c->held += own > times * other;
    }
}

static void claim_rivals(const px_study *study, study_document *doc, const ds_quantity *what,
                         bool audio, const char *text)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        if (ds_is_audio(s) == audio)
            claim_network(study, &c, s, DS_CLEAN, what, 1.0);
    pxi_claim_end(&c, doc, text);
}

static void claim_states(const px_study *study, study_document *doc, size_t first, size_t last,
                         const ds_quantity *what, double times, const char *text)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        for (size_t state = first; state <= last; state++)
            claim_network(study, &c, s, state, what, times);
    pxi_claim_end(&c, doc, text);
}

/* More errors in badly trained networks than in the well-trained one. */
static void claim_more_where_bad(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        for (size_t state = DS_UNDER; state <= DS_OVER; state++) {
            const int64_t size = common_size(study, s, state, DS_SENSOR, DS_CLEAN, DS_SENSOR);
            const double bad = value_at(study, s, state, DS_SENSOR, &any, size);
            const double well = value_at(study, s, DS_CLEAN, DS_SENSOR, &any, size);
            if (isnan(well) || isnan(bad))
                continue;
            claim_case(&c, s, state);
            px_text_format(&c.evidence, "%.1f%% against %.1f%%, %" PRId64 " seeds each", bad, well,
                           size);
            c.run++;
            c.held += bad > well;
        }
    pxi_claim_end(&c, doc,
                  "DeepSensor finds more errors in networks that are badly trained than in those "
                  "that are well trained");
}

/* One method's value against another's. */
static void claim_pair(const px_study *study, study_document *doc, const char *id,
                       const char *other, double band, const char *text)
{
    const ds_quantity *const whats[] = {&errors, &categories};
    study_claim c = {0};
    const size_t a = ds_method_find(id), b = ds_method_find(other);
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        for (size_t i = 0; i < 2; i++) {
            const int64_t size = common_size(study, s, DS_CLEAN, a, DS_CLEAN, b);
            const double x = value_at(study, s, DS_CLEAN, a, whats[i], size);
            const double y = value_at(study, s, DS_CLEAN, b, whats[i], size);
            if (isnan(x) || isnan(y) ||
                (x == 0.0 && y == 0.0)) /* none found any: that says nothing */
                continue;
            claim_case(&c, s, DS_CLEAN);
            px_text_format(&c.evidence, "%s ", whats[i]->name);
            tell(&c, whats[i], x);
            px_text_add(&c.evidence, " and ");
            tell(&c, whats[i], y);
            if (size < DS_SEEDS)
                px_text_format(&c.evidence, " (%" PRId64 " seeds)", size);
            c.run++;
            c.held += band > 0.0 ? fabs(x - y) <= band * fmax(x, y) : x > y;
        }
    pxi_claim_end(&c, doc, text);
}

/* As many errors as Table 3 has, to five points of a hundred. */
static void claim_paper(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_PAPER_SUBJECTS; s++) {
        const double own = value_of(study, s, DS_CLEAN, DS_SENSOR, &errors);
        const double paper =
            ds_table3[s][DS_SENSOR][DS_ERRORS] * 100.0 / (DS_SEEDS * DS_ITERATIONS);
        if (!isnan(own))
            pxi_claim_case(&c, fabs(own - paper) <= 5.0, "%s: %.1f%%, the paper %.1f%%",
                           ds_subjects[s].title, own, paper);
    }
    pxi_claim_end(&c, doc,
                  "DeepSensor's share of misclassified examples (Table 3; read as: to five points, "
                  "with a radius that was chosen for it)");
}

/* More errors than noise that moves its examples as far. */
static void claim_noise(const px_study *study, study_document *doc, const char *id,
                        const char *text)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_SUBJECTS; s++) {
        const double own = value_of(study, s, DS_CLEAN, ds_method_find(id), &errors);
        const double noise = value_of(study, s, DS_CLEAN, ds_method_find(id), &noise_errors);
        if (!isnan(own) && !isnan(noise))
            pxi_claim_case(&c, own > noise, "%s: %.1f%% against %.1f%%", ds_subjects[s].title, own,
                           noise);
    }
    pxi_claim_end(&c, doc, text);
}

static void claim_seen(const px_study *study, study_document *doc)
{
    study_claim c = {0};
    for (size_t s = 0; s < DS_PICTURES; s++) {
        const double own = value_of(study, s, DS_CLEAN, DS_SENSOR, &linf);
        if (!isnan(own))
            pxi_claim_case(&c, own < 0.1, "%s: %.2f", ds_subjects[s].title, own);
    }
    pxi_claim_end(&c, doc,
                  "its changes are nearly imperceptible (Figure 9; read as: L∞ below 0.1 on "
                  "average)");
}

enum { LADDER = 16 };

/* A group's methods by their parameter, which the table has them by, and DeepSensor at its own. */
static size_t parameter_ladder(ds_group group, double own, size_t ladder[LADDER])
{
    size_t count = 0;
    bool told = false;
    for (size_t m = 0; m < ds_method_count && count + 1 < LADDER; m++) {
        if (ds_methods[m].group != group)
            continue;
        if (!told && ds_methods[m].value > own) {
            ladder[count++] = DS_SENSOR;
            told = true;
        }
        ladder[count++] = m;
    }
    if (!told)
        ladder[count++] = DS_SENSOR;
    return count;
}

/* The largest number of seeds that all of them were run with, of those that were run; -1: none. */
static int64_t ladder_size(const px_study *study, const size_t *ladder, size_t count)
{
    char sensor[CELL_KEY], key[CELL_KEY];
    ds_prefix(study, DS_LENET5, DS_CLEAN, DS_SENSOR, sensor);
    int64_t size = INT64_MAX;
    bool all = false;
    while (!all && size >= 0) {
        size = pxi_study_size(study, sensor, size);
        all = true;
        for (size_t i = 0; i < count; i++) {
            ds_prefix(study, DS_LENET5, DS_CLEAN, ladder[i], key);
            all &= pxi_study_size(study, key, INT64_MAX) < 0 ||
                   pxi_study_size(study, key, size + 1) == size;
        }
    }
    return size;
}

/* Whether the value rises along a group's parameter; `flat_from`: does not change from there on. */
static void claim_parameter(const px_study *study, study_document *doc, ds_group group, double own,
                            double flat_from, const char *text)
{
    study_claim c = {0};
    size_t ladder[LADDER];
    const size_t count = parameter_ladder(group, own, ladder);
    const int64_t size = ladder_size(study, ladder, count);
    double before = UNKNOWN;
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        const double at = ladder[i] == DS_SENSOR ? own : ds_methods[ladder[i]].value;
        const double value = value_at(study, DS_LENET5, DS_CLEAN, ladder[i], &errors, size);
        if (isnan(value))
            continue;
        if (c.evidence.length)
            px_text_add(&c.evidence, ", ");
        else
            px_text_format(&c.evidence, "LeNet-5, %" PRId64 " seeds each: ", size);
        px_text_format(&c.evidence, "%g: %.1f%%", at, value);
        if (!isnan(before) && (value > 0.0 || before > 0.0)) { /* none says nothing */
            const bool flat = flat_from > 0.0 && at > flat_from;
            c.run++;
            c.held += flat ? fabs(value - before) <= 0.05 * fmax(value, before) : value > before;
            same &= value == before;
        }
        before = value;
    }
    if (same && c.run > 0)
        px_text_add(&c.evidence, " (all alike: it never came into play)");
    pxi_claim_end(&c, doc, text);
}

/* Clock times are there, but not of a machine that did nothing else. */
static void claim_slower(study_document *doc)
{
    pxi_doc_claim(doc, STUDY_OPEN,
                  "DeepSensor takes longer for 100 examples than its rivals do on average",
                  "Nothing was run that could tell: clock times are of a machine with other work "
                  "(below).");
}

void ds_claims(const px_study *study, study_document *doc)
{
    claim_paper(study, doc);
    claim_rivals(study, doc, &errors, false,
                 "DeepSensor finds more test errors than DeepXplore, DLFuzz and DeepHunter "
                 "(pictures)");
    claim_rivals(study, doc, &categories, false, "and they are of more categories (pictures)");
    claim_rivals(study, doc, &near_errors, false,
                 "plexor's own question: the same with every example cut to L∞ 0.1");
    claim_states(study, doc, DS_POLLUTED10, DS_POLLUTED30, &pol, 1.0,
                 "DeepSensor finds more errors due to polluted data than its rivals");
    claim_states(study, doc, DS_POLLUTED10, DS_POLLUTED30, &pol, 2.5,
                 "almost five times as many (read as: more than two and a half times)");
    claim_states(study, doc, DS_UNDER, DS_OVER, &any, 1.0,
                 "DeepSensor finds more errors in networks that are under- or over-trained than "
                 "its rivals");
    claim_more_where_bad(study, doc);
    claim_rivals(study, doc, &errors, true, "DeepSensor finds more test errors (speakers)");
    claim_rivals(study, doc, &categories, true, "and they are of more categories (speakers)");
    claim_pair(study, doc, "deepsensor", "ga", 0.05,
               "errors do not depend on the optimiser (read as: within 5% of those of a genetic "
               "algorithm)");
    claim_pair(study, doc, "deepsensor", "random", 0.0,
               "plexor's own question: the swarm finds more than as many places at random");
    claim_noise(study, doc, "deepsensor",
                "plexor's own question: it finds more than noise that is as large");
    claim_pair(study, doc, "deepsensor", "chance", 0.0,
               "plexor's own question: excitable neurons guide it better than numbers by chance");
    claim_pair(study, doc, "deepsensor", "loss", 0.0,
               "plexor's own question: and better than the loss alone");
    claim_noise(study, doc, "default", "the same with plexor's default: more than noise");
    claim_pair(study, doc, "default", "default-chance", 0.0,
               "the same with plexor's default: more than by chance");
    claim_pair(study, doc, "default", "default-loss", 0.0,
               "the same with plexor's default: more than the loss alone");
    claim_seen(study, doc);
    claim_parameter(study, doc, DS_GROUP_LAMBDA, 0.5, 0.6,
                    "errors grow with lambda and are stable from 0.6 on (read as: within 5%)");
    claim_parameter(study, doc, DS_GROUP_EPSILON, 1.0, 0.0, "errors grow with epsilon");
    claim_pair(study, doc, "deepsensor", "init-fixed", 0.0,
               "particles that begin at random find more than those that begin at the seed");
    claim_slower(doc);
    ds_claims_figures(study, doc);
}
