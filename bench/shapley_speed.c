/* bench/shapley_speed.c - plexor's side of bench/shapley
 *
 *     shapley_speed MODEL X MOVED LABEL PERMUTATIONS THREADS ROUNDS
 *
 * X and MOVED are files with the float32 numbers of one input each. Prints a JSON object: seconds
 * of each round for the sampled values of all hidden channels, the values with their standard
 * errors, and seconds for the diagonal of 100 inputs.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/shapley.h>
#include <plexor/json.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PARTICLES = 100 };

static int stop(const px_error *err)
{
    fprintf(stderr, "shapley_speed: %s\n", err->message);
    return 2;
}

static float *read_floats(const char *path, size_t count)
{
    FILE *file = fopen(path, "rb");
    float *floats = calloc(count, sizeof *floats);
    const bool ok = file && floats && fread(floats, sizeof *floats, count, file) == count;
    if (file)
        fclose(file);
    if (ok)
        return floats;
    free(floats);
    fprintf(stderr, "shapley_speed: '%s' has not %zu floats\n", path, count);
    return NULL;
}

typedef struct speed {
    px_model *model;
    px_shapley *s;
    px_shapley_pair pair;
    px_shapley_sampling sampling;
    double *values, *errors;
    int64_t evaluated;
} speed;

static px_status speed_sample(speed *run, px_error *err)
{
    run->evaluated = 0;
    for (size_t l = 0; l < px_shapley_layer_count(run->s); l++) {
        const int64_t offset = px_shapley_layer_get(run->s, l)->offset;
        px_shapley_estimate e = {.values = run->values + offset, .errors = run->errors + offset};
        PX_TRY(px_shapley_sample(run->s, l, &run->sampling, &run->pair, &e, err));
        run->evaluated += e.evaluated;
    }
    return PX_OK;
}

static px_status speed_rounds(speed *run, int rounds, px_json *json, px_error *err)
{
    double processor = 0.0; /* of the rounds but the first, which compiles */
    px_json_array(json, "seconds");
    for (int r = 0; r < rounds; r++) {
        const double start = px_clock_s();
        const clock_t used = clock();
        PX_TRY(speed_sample(run, err));
        px_json_real(json, NULL, px_clock_s() - start);
        processor += r > 0 ? (double)(clock() - used) / CLOCKS_PER_SEC : 0.0;
    }
    px_json_end(json);
    px_json_real(json, "processor", processor / (rounds > 1 ? rounds - 1 : 1));
    px_json_int(json, "evaluated", run->evaluated);
    px_json_array(json, "values");
    for (int64_t n = 0; n < px_shapley_neuron_count(run->s); n++)
        px_json_real(json, NULL, run->values[n]);
    px_json_end(json);
    px_json_array(json, "errors");
    for (int64_t n = 0; n < px_shapley_neuron_count(run->s); n++)
        px_json_real(json, NULL, run->errors[n]);
    px_json_end(json);
    return PX_OK;
}

static px_status speed_diagonal(speed *run, int rounds, px_json *json, px_error *err)
{
    const size_t size = (size_t)px_shapley_input_size(run->s);
    const px_diagonal diagonal = px_diagonal_default();
    float *inputs = calloc(PARTICLES * size, sizeof *inputs);
    double *values = calloc(PARTICLES, (size_t)px_shapley_neuron_count(run->s) * sizeof *values);
    int64_t labels[PARTICLES];
    for (size_t i = 0; inputs && i < PARTICLES; i++) {
        labels[i] = run->pair.label;
        memcpy(inputs + i * size, run->pair.moved, size * sizeof *inputs);
    }
    px_status status = inputs && values ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    double processor = 0.0;
    px_json_array(json, "diagonal_seconds");
    for (int r = 0; r <= rounds && status == PX_OK; r++) {
        const double start = px_clock_s();
        const clock_t used = clock();
        status = px_shapley_integrate(run->s, &diagonal, inputs, labels, PARTICLES, values, err);
        if (r == 0) /* it compiles */
            continue;
        px_json_real(json, NULL, px_clock_s() - start);
        processor += (double)(clock() - used) / CLOCKS_PER_SEC;
    }
    px_json_end(json);
    px_json_real(json, "diagonal_processor", processor / (rounds > 0 ? rounds : 1));
    free(inputs);
    free(values);
    return status;
}

int main(int argc, char **argv)
{
    px_error err = {0};
    speed run = {0};
    if (argc != 8) {
        fprintf(stderr, "usage: shapley_speed MODEL X MOVED LABEL PERMUTATIONS THREADS ROUNDS\n");
        return 2;
    }
    px_shapley_options options = px_shapley_options_default();
    options.threads = atoi(argv[6]);
    if (px_model_load(argv[1], &run.model, &err) != PX_OK ||
        px_shapley_new(run.model, NULL, &options, &run.s, &err) != PX_OK)
        return stop(&err);
    const size_t size = (size_t)px_shapley_input_size(run.s);
    const size_t neurons = (size_t)px_shapley_neuron_count(run.s);
    float *x = read_floats(argv[2], size), *moved = read_floats(argv[3], size);
    run.values = calloc(neurons, sizeof *run.values);
    run.errors = calloc(neurons, sizeof *run.errors);
    if (!x || !moved || !run.values || !run.errors)
        return 2;
    run.pair = (px_shapley_pair){.x = x, .moved = moved, .label = atoll(argv[4])};
    run.sampling = px_shapley_sampling_default();
    run.sampling.permutations = atoll(argv[5]);
    run.sampling.truncation = 0.0;
    px_json json = {0};
    px_json_object(&json, NULL);
    if (speed_rounds(&run, atoi(argv[7]), &json, &err) != PX_OK ||
        speed_diagonal(&run, atoi(argv[7]), &json, &err) != PX_OK)
        return stop(&err);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    puts(text ? text : "{}");
    px_json_done(&json);
    free(x);
    free(moved);
    free(run.values);
    free(run.errors);
    px_shapley_free(run.s);
    px_model_free(run.model);
    return 0;
}
