/* tests/cover/cover_helpers.h - a small network, data, covers and profiles for the driver's tests
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_COVER_HELPERS_H
#define TESTS_COVER_HELPERS_H

#include "cmocka_all.h"
#include <plexor/cover.h>

/* A convolutional classifier of 28x28 images; equal seeds are equal networks. `channels` of the
 * first layer, which keeps the size of the image. */
px_model *small_net(uint64_t seed, int channels);

typedef struct small_data {
    px_dataset *set;
    px_preprocess pre;
} small_data;
/* `count` inputs of digits; shuffled by `shuffle` unless that is 0. */
small_data small_digits(const px_model *model, const char *split, int64_t count, uint64_t shuffle);
void small_close(small_data *data);

/* Every criterion, or only those that do not depend on the order of inputs. */
const char *criteria_list(bool ordered_too);

/* Fail the test with the message where there is an error. */
px_profile *profile_make(const px_model *model, const char *criteria, const small_data *train,
                         int threads);
px_cover *cover_make(const px_model *model, const char *criteria, const px_profile *profile,
                     int threads);
void cover_observe(px_cover *cover, const small_data *data, int64_t shard, int64_t shards);

/* In the folder for this test's files. Returns `buffer`. */
#define TEST_PATH 256
const char *test_path(const char *name, char buffer[TEST_PATH]);
/* Fails, naming `what`, if two files differ. */
void assert_same_file(const char *a, const char *b, const char *what);
char *file_bytes(const char *path, size_t *size);
void file_write(const char *path, const void *bytes, size_t size);

#endif
