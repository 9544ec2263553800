/* tests/cover/surprise_helpers.h - traces and tests for surprise adequacy, and how they score */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SURPRISE_HELPERS_H
#define TESTS_SURPRISE_HELPERS_H

#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/rng.h>
#include <internal/surprise.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef struct sample { /* traces or tests with their classes */
    int64_t count, width;
    float *values;
    int64_t *label, *predicted;
} sample;

static inline sample sample_new(int64_t count, int64_t width)
{
    sample s = {.count = count, .width = width};
    s.values = pxi_calloc((size_t)(count * width), sizeof *s.values);
    s.label = pxi_calloc((size_t)count, sizeof *s.label);
    s.predicted = pxi_calloc((size_t)count, sizeof *s.predicted);
    assert_true(s.values && s.label && s.predicted);
    for (int64_t i = 0; i < count; i++)
        s.label[i] = -1;
    return s;
}

static inline void sample_done(sample *s)
{
    free(s->values);
    free(s->label);
    free(s->predicted);
}

static inline px_traces traces_of(const sample *s)
{
    return (px_traces){.count = s->count,
                       .width = s->width,
                       .values = s->values,
                       .labels = s->label,
                       .predictions = s->predicted};
}

static inline px_surprise *fit(const sample *train, int classes, const px_surprise_options *options)
{
    const px_traces traces = traces_of(train);
    px_surprise *surprise = NULL;
    px_error err = {0};
    if (px_surprise_new(&traces, classes, options, &surprise, &err) != PX_OK)
        fail_msg("%s: %s", px_surprise_id(options->method), err.message);
    return surprise;
}

/* scores[tests->count]; threads as given. */
static inline void score(const px_surprise *surprise, const sample *tests, int threads,
                         double *scores)
{
    px_input_facts *facts = pxi_calloc((size_t)tests->count, sizeof *facts);
    for (int64_t i = 0; i < tests->count; i++)
        facts[i] = (px_input_facts){
            .index = i, .label = tests->label[i], .predicted = (int)tests->predicted[i]};
    const px_rows rows = {
        .count = tests->count, .width = tests->width, .values = tests->values, .facts = facts};
    px_error err = {0};
    if (px_surprise_score(surprise, &rows, threads, scores, &err) != PX_OK)
        fail_msg("%s", err.message);
    free(facts);
}

static inline void score_once(const sample *train, const sample *tests, int classes,
                              const px_surprise_options *options, double *scores)
{
    px_surprise *surprise = fit(train, classes, options);
    score(surprise, tests, 1, scores);
    px_surprise_free(surprise);
}

static inline bool close_to(double got, double want, double relative)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= relative * fmax(1.0, fabs(want)) * (want == 0.0 ? 0.0 : 1.0) ||
           got == want;
}

/* --- TV-A8: five traces of class 0, four of class 1 ------------------------------------------ */

static const float a8_traces[][2] = {
    {0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}, {4, 4}, {5, 4}, {4, 5}, {5, 5},
};
static const int a8_class[] = {0, 0, 0, 0, 0, 1, 1, 1, 1};
static const float a8_tests[][2] = {{.5f, .5f}, {3, 3}, {5, 5}, {40, 40}};
static const int a8_predicted[] = {0, 0, 1, 0};

static inline sample a8_train(void)
{
    sample s = sample_new(PX_LEN(a8_traces), 2);
    memcpy(s.values, a8_traces, sizeof a8_traces);
    for (size_t i = 0; i < PX_LEN(a8_class); i++)
        s.predicted[i] = s.label[i] = a8_class[i];
    return s;
}

static inline sample a8_test(void)
{
    sample s = sample_new(PX_LEN(a8_tests), 2);
    memcpy(s.values, a8_tests, sizeof a8_tests);
    for (size_t i = 0; i < PX_LEN(a8_predicted); i++)
        s.predicted[i] = a8_predicted[i];
    return s;
}

/* --- random traces, whose classes differ in every third neuron ------------------------------- */

static inline sample random_sample(uint32_t item, int64_t count, int64_t width, int classes,
                                   double offset, double scale, int duplicates)
{
    sample s = sample_new(count, width);
    px_random random = px_rng(7, PX_RNG_TEST, item, 0);
    for (int64_t i = 0; i < count; i++) {
        s.predicted[i] = s.label[i] = px_rng_below(&random, (uint32_t)classes);
        const bool copy = i > 0 && duplicates > 0 && i % duplicates != 0;
        for (int64_t j = 0; j < width; j++)
            s.values[i * width + j] =
                copy ? s.values[(i - 1) * width + j]
                     : (float)(offset + scale * (px_rng_normal(&random) +
                                                 0.5 * (double)s.predicted[i] * (double)(j % 3)));
    }
    return s;
}

#endif
