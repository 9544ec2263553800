/* tests/studies/study_helpers.h - a folder for each test, studies in it, and what reports must have
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_HELPERS_H
#define STUDY_HELPERS_H

#include "cmocka_all.h"

#include "base/memory.h"

#include "frame/study.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[32]; /* of the test at work */

static inline int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "study-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int teardown(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* In that folder, with arrays of data and models. */
#define STUDY_OPTIONS(data_list, model_list) \
    study_options(data_list, PX_LEN(data_list), model_list, PX_LEN(model_list))

static inline px_study_options study_options(const char *const *data, size_t data_count,
                                             const char *const *models, size_t model_count)
{
    px_study_options o = px_study_options_default();
    o.folder = folder;
    o.data = data;
    o.data_count = data_count;
    o.models = models;
    o.model_count = model_count;
    return o;
}

/* `jobs` may be NULL. */
static inline px_study *study_open(const char *name, const px_study_options *o, int64_t *jobs)
{
    px_study *study = NULL;
    px_error err = {0};
    double left = 0.0;
    if (px_study_new(name, o, &study, &err) != PX_OK)
        fail_msg("%s", err.message);
    if (jobs)
        px_study_left(study, jobs, &left);
    return study;
}

static inline char *report_of(px_study *study, px_study_format format)
{
    char *text = NULL;
    px_error err = {0};
    if (px_study_report(study, format, &text, &err) != PX_OK || !text)
        fail_msg("%s", err.message);
    return text;
}

static inline void has(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in the report:\n%s", words, text);
}

#endif
