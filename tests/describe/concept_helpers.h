/* tests/describe/concept_helpers.h - data sets of bytes */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SEMANTICS_CONCEPT_HELPERS_H
#define TESTS_SEMANTICS_CONCEPT_HELPERS_H

#include "cmocka_all.h"

#include <internal/concepts.h>
#include <internal/data.h>
#include <stdlib.h>

/* 8-bit pictures, [count][channels][h][w]; labels may be NULL. The file lies in the test's folder.
 */
static inline px_dataset *bytes_set(const char *name, const unsigned char *pixels,
                                    const int64_t *labels, int64_t count, int channels, int h,
                                    int w)
{
    char path[512];
    const char *folder = getenv("TEST_SCRATCH");
    px_error err = {0};
    px_npz_writer *writer = NULL;
    px_dataset *set = NULL;
    const px_data_options options = px_data_options_default();
    const px_tensor x = {PX_UINT8, {4, {count, channels, h, w}}, (void *)(uintptr_t)pixels};
    const px_tensor y = {PX_INT64, {1, {count}}, (void *)(uintptr_t)labels};
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    if (px_npz_create(path, &writer, &err) != PX_OK || px_npz_add(writer, "x", &x, &err) != PX_OK ||
        (labels && px_npz_add(writer, "y", &y, &err) != PX_OK) ||
        px_npz_commit(writer, &err) != PX_OK ||
        px_dataset_open(path, &options, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return set;
}

#endif
