/* tests/train/feeder_helpers.h - small data sets whose every pixel says where it comes from */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FEEDER_HELPERS_H
#define TESTS_FEEDER_HELPERS_H

#include "cmocka_all.h"

#include <internal/data.h>
#include <internal/feeder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHANNELS = 3, HEIGHT = 6, WIDTH = 7, SIZE = CHANNELS * HEIGHT * WIDTH };

static inline float made_pixel(int64_t item, int c, int y, int x)
{
    return (float)((item * 37 + c * 101 + y * 29 + x * 3 + 1) % 255 + 1); /* never black */
}

typedef struct made_set {
    px_dataset *set;
    px_preprocess pre;
    int64_t count;
} made_set;

/* `count` samples [3,6,7], the class of sample i being i mod `classes`. */
static inline made_set make_set(int64_t count, int classes, px_dtype dtype)
{
    char path[] = "/tmp/plexor-feeder-XXXXXX.npz";
    const px_shape shape = {4, {count, CHANNELS, HEIGHT, WIDTH}}, line = {1, {count}};
    px_tensor x = {0}, y = {0};
    px_npz_writer *writer = NULL;
    made_set made = {.count = count};
    px_error err = {0};
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(px_tensor_init(&x, dtype, &shape, &err), PX_OK);
    assert_int_equal(px_tensor_init(&y, PX_INT64, &line, &err), PX_OK);
    for (int64_t i = 0, at = 0; i < count; i++) {
        ((int64_t *)y.data)[i] = i % classes;
        for (int c = 0; c < CHANNELS; c++)
            for (int row = 0; row < HEIGHT; row++)
                for (int column = 0; column < WIDTH; column++, at++) {
                    const float value = made_pixel(i, c, row, column);
                    if (dtype == PX_UINT8)
                        ((uint8_t *)x.data)[at] = (uint8_t)value;
                    else
                        ((float *)x.data)[at] = value / 255.0f;
                }
    }
    assert_int_equal(px_npz_create(path, &writer, &err), PX_OK);
    assert_int_equal(px_npz_add(writer, "x", &x, &err), PX_OK);
    assert_int_equal(px_npz_add(writer, "y", &y, &err), PX_OK);
    assert_int_equal(px_npz_commit(writer, &err), PX_OK);
    const px_shape input = {4, {1, CHANNELS, HEIGHT, WIDTH}};
    assert_int_equal(
        px_preprocess_init(&made.pre, NULL, 0, &input,
                           &(px_preprocess_options){.mean = "0.1,0.2,0.3", .std = "0.5"}, &err),
        PX_OK);
    if (px_dataset_open_for(&made.pre, &input, path, NULL, &made.set, &err) != PX_OK)
        fail_msg("%s", err.message);
    remove(path); /* it stays readable while it is open */
    px_tensor_done(&x);
    px_tensor_done(&y);
    return made;
}

static inline px_feeder *make_feeder(const px_feeder_options *options)
{
    px_feeder *feeder = NULL;
    px_error err = {0};
    if (px_feeder_new(options, &feeder, &err) != PX_OK)
        fail_msg("%s", err.message);
    return feeder;
}

/* Options for a base set and, if it is not NULL, an added one. */
static inline px_feeder_options feed(const made_set *base, const made_set *added, int64_t batch)
{
    px_feeder_options options = px_feeder_options_default();
    if (base)
        options.base = (px_feeder_set){.set = base->set, .pre = &base->pre};
    if (added)
        options.added = (px_feeder_set){.set = added->set, .pre = &added->pre};
    options.classes = 5;
    options.batch = batch;
    options.seed = 42;
    return options;
}

static inline void begin(px_feeder *feeder, int64_t epoch)
{
    px_error err = {0};
    if (px_feeder_begin(feeder, epoch, &err) != PX_OK)
        fail_msg("%s", err.message);
}

static inline void get(const px_feeder *feeder, int64_t step, int64_t position, float *input,
                       int64_t *label)
{
    px_error err = {0};
    if (px_feeder_get(feeder, step, position, input, label, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* How often each item of a set comes in the epoch that was begun; returns the number of positions.
 */
static inline int64_t count_items(const px_feeder *feeder, const px_dataset *set, int *times,
                                  int64_t count)
{
    int64_t all = 0;
    memset(times, 0, (size_t)count * sizeof *times);
    for (int64_t step = 0; step < px_feeder_steps(feeder); step++)
        for (int64_t i = 0; i < px_feeder_samples(feeder, step); i++, all++) {
            const px_feeder_item item = px_feeder_item_at(feeder, step, i);
            if (item.set == set)
                times[item.index]++;
        }
    return all;
}

#endif
