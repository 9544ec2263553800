/* tests/onnx/corpus.h - models of fuzz/corpus/onnx for tests; CORPUS comes from the build */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ONNX_CORPUS_H
#define TESTS_ONNX_CORPUS_H

#include <plexor/onnx.h>
#include <stdio.h>

#include "cmocka_all.h"

#define CORPUS_PATH 1024

static inline const char *corpus_path(const char *name, char path[CORPUS_PATH])
{
    snprintf(path, CORPUS_PATH, "%s/%s", CORPUS, name);
    return path;
}

/* A model that must load. */
static inline px_model *corpus_load(const char *name)
{
    char path[CORPUS_PATH];
    px_model *model = NULL;
    px_error err = {0};
    if (px_model_load(corpus_path(name, path), &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    return model;
}

#endif
