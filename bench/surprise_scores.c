/* bench/surprise_scores.c - scores of traces in files, and how long they take
 *
 *     surprise_scores METHOD TRAIN.npz TEST.npz OUT.npz THREADS ROUNDS
 *
 * METHOD may be followed by a number of components (mlsa:3). Both files have `traces` (float32,
 * [n][neurons]) and `predictions` (int64). Writes `scores`, for dsa also `nearest`, `dist_a` and
 * `dist_b`, and prints the seconds of fitting and of scoring, each the best of ROUNDS, wall clock
 * and CPU. Nothing is carried from one round to the next.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <internal/data.h>
#include <internal/surprise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const px_error *err)
{
    fprintf(stderr, "surprise_scores: %s\n", err->message);
    return 3;
}

static px_status traces_open(const char *path, px_npz **file, px_traces *out, px_error *err)
{
    PX_TRY(px_npz_open(path, file, err));
    const px_tensor *traces = px_npz_get(*file, "traces");
    const px_tensor *predictions = px_npz_get(*file, "predictions");
    if (!traces || !predictions || traces->dtype != PX_FLOAT32 || traces->shape.rank != 2 ||
        predictions->dtype != PX_INT64 || predictions->shape.rank != 1 ||
        predictions->shape.dim[0] != traces->shape.dim[0])
        return px_fail(err, PX_E_INPUT, "'%s' has no traces and predictions", path);
    *out = (px_traces){.count = traces->shape.dim[0],
                       .width = traces->shape.dim[1],
                       .values = traces->data,
                       .labels = predictions->data,
                       .predictions = predictions->data};
    return PX_OK;
}

static px_status put(px_npz_writer *to, const char *name, px_dtype dtype, int64_t count, void *data,
                     px_error *err)
{
    const px_tensor tensor = {.dtype = dtype, .shape = {.rank = 1, .dim = {count}}, .data = data};
    return px_npz_add(to, name, &tensor, err);
}

typedef struct best {
    double wall, cpu;
} best;

static void best_of(best *b, double wall, double cpu)
{
    const double took = seconds(CLOCK_MONOTONIC) - wall;
    const double used = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    b->wall = took < b->wall ? took : b->wall;
    b->cpu = used < b->cpu ? used : b->cpu;
}

int main(int argc, char **argv)
{
    px_error err = {0};
    if (argc != 7) {
        fputs("usage: surprise_scores METHOD TRAIN.npz TEST.npz OUT.npz THREADS ROUNDS\n", stderr);
        return 2;
    }
    px_surprise_method method = PX_LSA;
    const size_t name = strcspn(argv[1], ":");
    while (method < PX_SURPRISE_METHODS && (strncmp(px_surprise_id(method), argv[1], name) != 0 ||
                                            strlen(px_surprise_id(method)) != name))
        method++;
    px_npz *train_file = NULL, *test_file = NULL;
    px_traces train, tests;
    px_npz_writer *to = NULL;
    if (method == PX_SURPRISE_METHODS || traces_open(argv[2], &train_file, &train, &err) != PX_OK ||
        traces_open(argv[3], &test_file, &tests, &err) != PX_OK)
        return fail(&err);
    const int threads = atoi(argv[5]), rounds = atoi(argv[6]);
    int64_t classes = 1;
    for (int64_t i = 0; i < train.count; i++)
        classes = PX_MAX(classes, train.predictions[i] + 1);
    const size_t n = (size_t)tests.count;
    px_input_facts *facts = pxi_calloc(n, sizeof *facts);
    double *scores = pxi_calloc(n, sizeof *scores), *dist_a = pxi_calloc(n, sizeof *dist_a);
    double *dist_b = pxi_calloc(n, sizeof *dist_b);
    int64_t *nearest = pxi_calloc(n, sizeof *nearest);
    if (!facts || !scores || !dist_a || !dist_b || !nearest)
        return 3;
    for (size_t i = 0; i < n; i++)
        facts[i] = (px_input_facts){
            .index = (int64_t)i, .label = -1, .predicted = (int)tests.predictions[i]};
    const px_rows rows = {
        .count = tests.count, .width = tests.width, .values = tests.values, .facts = facts};
    px_surprise_options options = px_surprise_options_default(method);
    options.threads = threads;
    if (argv[1][name] == ':')
        options.components = atoi(argv[1] + name + 1);
    best fitting = {1e30, 1e30}, scoring = {1e30, 1e30};
    px_surprise *surprise = NULL;
    for (int round = 0; round < rounds; round++) {
        px_surprise_free(surprise);
        surprise = NULL;
        double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (px_surprise_new(&train, (int)classes, &options, &surprise, &err) != PX_OK)
            return fail(&err);
        best_of(&fitting, wall, cpu);
        wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (px_surprise_score(surprise, &rows, threads, scores, &err) != PX_OK)
            return fail(&err);
        best_of(&scoring, wall, cpu);
    }
    px_status status = px_npz_create(argv[4], &to, &err);
    if (status == PX_OK)
        status = put(to, "scores", PX_FLOAT64, tests.count, scores, &err);
    if (status == PX_OK && method == PX_DSA) {
        status = px_surprise_neighbours(surprise, &rows, threads, nearest, dist_a, dist_b, &err);
        if (status == PX_OK)
            status = put(to, "nearest", PX_INT64, tests.count, nearest, &err);
        if (status == PX_OK)
            status = put(to, "dist_a", PX_FLOAT64, tests.count, dist_a, &err);
        if (status == PX_OK)
            status = put(to, "dist_b", PX_FLOAT64, tests.count, dist_b, &err);
    }
    if (status == PX_OK)
        status = px_npz_commit(to, &err);
    if (status != PX_OK)
        return fail(&err);
    px_text remarks = {0};
    px_surprise_remark(surprise, &remarks);
    fputs(px_text_get(&remarks), stderr);
    printf("{\"fit_s\": %.6f, \"score_s\": %.6f, \"fit_cpu_s\": %.6f, \"score_cpu_s\": %.6f, "
           "\"clusters\": %d}\n",
           fitting.wall, scoring.wall, fitting.cpu, scoring.cpu, px_surprise_clusters(surprise));
    px_text_done(&remarks);
    px_surprise_free(surprise);
    px_npz_close(train_file);
    px_npz_close(test_file);
    free(facts);
    free(scores);
    free(dist_a);
    free(dist_b);
    free(nearest);
    return 0;
}
