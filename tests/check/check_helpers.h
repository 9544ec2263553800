/* tests/check/check_helpers.h - small examinations in folders that go away */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_CHECK_HELPERS_H
#define TESTS_CHECK_HELPERS_H

#include "cmocka_all.h"

#include "check/check_internal.h"

#define CHECK_LIMIT 240

/* A folder of its own below TMPDIR; the text is static. */
const char *check_folder_make(void);
void check_folder_remove(const char *folder);

/* Of the digits network on the first CHECK_LIMIT digits, little of everything. */
px_check_options check_options(const char *folder);
/* Fails the test with the message where it does not run. */
px_check *check_examined(const px_check_options *options);

/* A number that must be there. */
double check_number(const px_check *check, const char *stage, const char *path);
const px_json_value *check_list(const px_check *check, const char *stage, const char *path);

#endif
