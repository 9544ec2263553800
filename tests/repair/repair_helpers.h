/* tests/repair/repair_helpers.h - parts of the procedural digits */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_REPAIR_HELPERS_H
#define TESTS_REPAIR_HELPERS_H

#include "cmocka_all.h"

#include <plexor/data.h>

static inline px_dataset *open_digits(const char *split, int64_t offset, int64_t limit)
{
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    px_error err = {0};
    options.split = split;
    options.offset = offset;
    options.limit = limit;
    if (px_dataset_open("digits", &options, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return set;
}

#endif
