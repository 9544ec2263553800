/* bench/nsgen_speed.c - plexor's side of bench/nsgen
 *
 *     nsgen_speed MODEL DATA COUNT LAYERS STEPS RULE THREADS ROUNDS OUT
 *
 * Prints a JSON object: seconds of each round for the decision paths of the first COUNT inputs,
 * their labels and contributions. The float32 numbers of the inputs, as the network takes them, are
 * written to OUT for the peer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/decision_path.h>
#include <plexor/onnx.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct speed {
    px_model *model;
    px_dataset *set;
    px_preprocess pre;
    px_paths *paths;
    float *inputs;
    int64_t *labels;
    int64_t count;
    px_path *found;
    double *contributions;
} speed;

/* Reads the inputs, and writes them to `out`. */
static px_status speed_inputs(speed *run, const char *out, px_error *err)
{
    const px_shape shape = px_dataset_shape(run->set);
    const size_t size = (size_t)px_shape_count(&shape), count = (size_t)run->count;
    run->inputs = calloc(count * size, sizeof *run->inputs);
    run->labels = calloc(count, sizeof *run->labels);
    run->found = calloc(count, sizeof *run->found);
    run->contributions =
        calloc(count * (size_t)px_paths_unit_count(run->paths), sizeof *run->contributions);
    if (!run->inputs || !run->labels || !run->found || !run->contributions)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        PX_TRY(px_dataset_input(run->set, &run->pre, (int64_t)i, run->inputs + i * size, err));
        run->labels[i] = px_dataset_label(run->set, (int64_t)i);
    }
    FILE *file = fopen(out, "wb");
    const bool written =
        file && fwrite(run->inputs, size * sizeof *run->inputs, count, file) == count;
    if ((file && fclose(file) != 0) || !written)
        return px_fail(err, PX_E_IO, "'%s' cannot be written", out);
    return PX_OK;
}

static px_status speed_rounds(speed *run, int rounds, px_json *json, px_error *err)
{
    double processor = 0.0; /* of the rounds but the first, which warms up */
    px_json_array(json, "seconds");
    for (int r = 0; r < rounds; r++) {
        const double start = px_clock_s();
        const clock_t used = clock();
        PX_TRY(px_paths_run(run->paths, run->inputs, run->labels, run->count, run->found,
                            run->contributions, err));
        px_json_real(json, NULL, px_clock_s() - start);
        processor += r > 0 ? (double)(clock() - used) / CLOCKS_PER_SEC : 0.0;
    }
    px_json_end(json);
    px_json_real(json, "processor", processor / (rounds > 1 ? rounds - 1 : 1));
    px_json_array(json, "layers");
    for (size_t l = 0; l < px_paths_layer_count(run->paths); l++)
        px_json_string(json, NULL, px_paths_layer(run->paths, l)->name);
    px_json_end(json);
    px_json_array(json, "labels");
    for (int64_t i = 0; i < run->count; i++)
        px_json_int(json, NULL, run->labels[i]);
    px_json_end(json);
    px_json_array(json, "contributions");
    for (int64_t i = 0; i < run->count * px_paths_unit_count(run->paths); i++)
        px_json_real(json, NULL, run->contributions[i]);
    px_json_end(json);
    px_json_array(json, "gaps");
    for (int64_t i = 0; i < run->count; i++)
        px_json_real(json, NULL, run->found[i].gap);
    px_json_end(json);
    return PX_OK;
}

static px_status speed_open(speed *run, char **argv, px_error *err)
{
    px_paths_options options = px_paths_options_default();
    px_data_options data = px_data_options_default();
    data.limit = run->count = atoll(argv[3]);
    data.shuffle = true; /* of all classes */
    options.layers = argv[4];
    options.steps = options.most_steps = atoi(argv[5]);
    options.threads = atoi(argv[7]);
    for (options.rule = 0; strcmp(px_path_rule_name(options.rule), argv[6]) != 0; options.rule++)
        if (options.rule == PX_PATH_BALANCED)
            return px_fail(err, PX_E_USAGE, "'%s' is no rule", argv[6]);
    PX_TRY(px_model_load(argv[1], &run->model, err));
    const px_graph *graph = px_model_graph(run->model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    PX_TRY(px_preprocess_init(&run->pre, px_model_properties(run->model),
                              px_model_property_count(run->model), input,
                              &(px_preprocess_options){.preprocess = "imagenet"}, err));
    PX_TRY(px_dataset_open_for(&run->pre, input, argv[2], &data, &run->set, err));
    run->count = px_dataset_count(run->set);
    const px_shape sample = px_dataset_shape(run->set);
    PX_TRY(px_paths_new(run->model, &sample, &run->pre, &options, &run->paths, err));
    return speed_inputs(run, argv[9], err);
}

int main(int argc, char **argv)
{
    px_error err = {0};
    speed run = {0};
    px_json json = {0};
    if (argc != 10) {
        fprintf(stderr, "usage: nsgen_speed MODEL DATA COUNT LAYERS STEPS RULE THREADS ROUNDS "
                        "OUT\n");
        return 2;
    }
    px_json_object(&json, NULL);
    px_status status = speed_open(&run, argv, &err);
    if (status == PX_OK)
        status = speed_rounds(&run, atoi(argv[8]), &json, &err);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    if (status == PX_OK)
        puts(text ? text : "{}");
    else
        fprintf(stderr, "nsgen_speed: %s\n", err.message);
    px_json_done(&json);
    free(run.inputs);
    free(run.labels);
    free(run.found);
    free(run.contributions);
    px_paths_free(run.paths);
    px_dataset_close(run.set);
    px_model_free(run.model);
    return status == PX_OK ? 0 : 2;
}
