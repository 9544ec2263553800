/* tests/train/trainer_helpers.h - a small network with everything that training must get right */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TRAINER_HELPERS_H
#define TESTS_TRAINER_HELPERS_H

#include "cmocka_all.h"

#include <internal/build.h>
#include <internal/rng.h>
#include <internal/train.h>
#include <internal/weights.h>
#include <math.h>
#include <plexor/eval.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The call takes `fault` as its error. */
static px_error fault_of_ok;
static px_error *const fault = &fault_of_ok;
#define OK(call)                            \
    do {                                    \
        if ((call) != PX_OK)                \
            fail_msg("%s", fault->message); \
    } while (0)

static inline void assert_near(double a, double b, double limit)
{
    if (!(fabs(a - b) <= limit))
        fail_msg("%.17g is not %.17g", a, b);
}

typedef struct bench { /* data and a network for them */
    px_dataset *train, *test;
    px_preprocess pre;
    px_model *model;
} bench;

static inline int bench_weight(px_builder *b, const char *name, const px_shape *shape, double scale)
{
    const int value = px_builder_constant(b, name, PX_FLOAT32, shape, NULL);
    px_random r = px_rng(7, PX_RNG_TEST, (uint32_t)value, 0);
    float *data = px_builder_data(b, value);
    for (int64_t i = 0; i < px_shape_count(shape); i++)
        data[i] = (float)(scale * px_rng_normal(&r));
    return value;
}

static inline int bench_fill(px_builder *b, const char *name, int64_t count, float with)
{
    const px_shape shape = {.rank = 1, .dim = {count}};
    const int value = px_builder_constant(b, name, PX_FLOAT32, &shape, NULL);
    float *data = px_builder_data(b, value);
    for (int64_t i = 0; i < count; i++)
        data[i] = with;
    return value;
}

static inline int bench_block(px_builder *b, const char *name, int x, int64_t from, int64_t to)
{
    static const int64_t two[] = {2, 2}, pads[] = {1, 1, 1, 1};
    const px_attr conv[] = {{.name = "strides", .kind = PX_ATTR_INTS, .count = 2, .ints = two},
                            {.name = "pads", .kind = PX_ATTR_INTS, .count = 4, .ints = pads}};
    const px_shape shape = {.rank = 4, .dim = {to, from, 3, 3}};
    char n[7][32];
    static const char *const parts[] = {"conv", "bn", "relu", "scale", "bias", "mean", "var"};
    for (int i = 0; i < 7; i++)
        snprintf(n[i], sizeof n[i], "%s.%s", name, parts[i]);
    char weight[40];
    snprintf(weight, sizeof weight, "%s.weight", name);
    const int w = bench_weight(b, weight, &shape, sqrt(2.0 / (double)(9 * from)));
    const int c = px_builder_node(b, "Conv", n[0], (int[]){x, w}, 2, conv, 2);
    const int norm =
        px_builder_node(b, "BatchNormalization", n[1],
                        (int[]){c, bench_fill(b, n[3], to, 1.0f), bench_fill(b, n[4], to, 0.0f),
                                bench_fill(b, n[5], to, 0.0f), bench_fill(b, n[6], to, 1.0f)},
                        5, NULL, 0);
    return px_builder_node(b, "Relu", n[2], &norm, 1, NULL, 0);
}

/* Two convolutions with normalisation, dropout, one dense layer. */
static inline px_model *bench_model(void)
{
    px_builder *b = NULL;
    px_model *model = NULL;
    const px_shape input = {.rank = 4, .dim = {-1, 1, 28, 28}},
                   dense = {.rank = 2, .dim = {392, 10}};
    const px_shape scalar = {.rank = 0};
    const float rate = 0.2f;
    OK(px_builder_new("small", &b, fault));
    const int x = px_builder_input(b, "input", PX_FLOAT32, &input);
    const int a = bench_block(b, "a", x, 1, 4), c = bench_block(b, "b", a, 4, 8);
    const int ratio = px_builder_constant(b, "ratio", PX_FLOAT32, &scalar, &rate);
    const int drop = px_builder_node(b, "Dropout", "drop", (int[]){c, ratio}, 2, NULL, 0);
    const int flat = px_builder_node(b, "Flatten", "flat", &drop, 1, NULL, 0);
    const int logits = px_builder_node(b, "Gemm", "fc",
                                       (int[]){flat, bench_weight(b, "fc.weight", &dense, 0.05),
                                               bench_fill(b, "fc.bias", 10, 0.0f)},
                                       3, NULL, 0);
    px_builder_rename(b, logits, "logits");
    px_builder_output(b, logits, PX_FLOAT32, NULL);
    OK(px_builder_finish(b, &model, fault));
    return model;
}

static inline px_dataset *bench_set(const char *split, int64_t limit)
{
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    options.split = split;
    options.limit = limit;
    OK(px_dataset_open("digits", &options, &set, fault));
    return set;
}

static inline bench bench_open(int64_t train, int64_t test)
{
    bench m = {.train = bench_set("train", train), .test = bench_set("test", test)};
    const px_shape input = {.rank = 4, .dim = {-1, 1, 28, 28}};
    OK(px_preprocess_init(&m.pre, NULL, 0, &input,
                          &(px_preprocess_options){.scale = "1/255", .mean = "0.1", .std = "0.3"},
                          fault));
    m.model = bench_model();
    return m;
}

static inline void bench_close(bench *m)
{
    px_model_free(m->model);
    px_dataset_close(m->train);
    px_dataset_close(m->test);
}

static inline px_feeder *bench_feeder(const bench *m, int64_t batch)
{
    px_feeder_options options = px_feeder_options_default();
    px_feeder *feeder = NULL;
    options.base = (px_feeder_set){.set = m->train, .pre = &m->pre};
    options.classes = 10;
    options.batch = batch;
    options.seed = 3;
    options.augment = "crop:2";
    OK(px_feeder_new(&options, &feeder, fault));
    return feeder;
}

static inline px_trainer_options bench_options(const bench *m, px_feeder *feeder)
{
    px_trainer_options options = px_trainer_options_default();
    options.model = m->model;
    options.feeder = feeder;
    options.test = (px_judge_set){m->test, &m->pre};
    options.optimizer = "sgd:momentum=0.9,nesterov=1,decay=1e-3";
    options.schedule = "cosine";
    options.lr = 0.02;
    options.epochs = 2;
    options.micro_batch = 8;
    options.threads = 2;
    options.seed = 11;
    return options;
}

/* All numbers of the weights in one piece, to be freed. */
static inline float *bench_numbers(px_weights *weights, size_t *count)
{
    float *all = NULL;
    *count = 0;
    for (size_t i = 0; i < px_weights_count(weights); i++) {
        const px_tensor *t = &px_weights_get(weights, i)->tensor;
        const size_t n = (size_t)px_shape_count(&t->shape);
        all = realloc(all, (*count + n) * sizeof *all);
        assert_non_null(all);
        memcpy(all + *count, t->data, n * sizeof *all);
        *count += n;
    }
    return all;
}

/* A name for a checkpoint that is not there yet. */
static inline char *bench_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/plexor-train-%ld.ckpt", (long)getpid());
    unlink(path);
    return path;
}

#endif
