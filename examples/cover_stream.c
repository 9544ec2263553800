/* examples/cover_stream.c - which neurons a stream of inputs reaches that no file has
 *
 *     cc $(pkg-config --cflags plexor) cover_stream.c $(pkg-config --libs plexor) -o cover_stream
 *     ./cover_stream net.onnx
 *
 * Inputs are made when they are asked for, by any thread. Here they are noise.
 */
#include <plexor/plexor.h>
#include <stdio.h>

static px_status read_noise(void *context, int64_t index, float *values, px_error *err)
{
    const px_shape *shape = (const px_shape *)context;
    uint32_t random = (uint32_t)index * 2654435761u; /* the same input whenever it is asked for */
    (void)err;                                       /* noise does not fail */
    for (int64_t i = 0; i < px_shape_count(shape); i++)
        values[i] = (float)((random = random * 1664525u + 1013904223u) >> 24);
    return PX_OK;
}

static px_status cover(const px_model *model, px_dataset **set, px_cover **cover, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    px_shape shape = graph->values[graph->inputs[0]].shape, sample = {shape.rank - 1, {0}};
    shape.dim[0] = 1;
    for (int d = 0; d < sample.rank; d++)
        sample.dim[d] = shape.dim[d + 1];
    px_source source = px_source_default();
    source.context = &sample;
    source.count = 200, source.shape = sample, source.is_8bit = true;
    source.read = read_noise;
    px_preprocess pre;
    px_cover_options options = px_cover_options_default();
    const px_cover_run_options run = px_cover_run_options_default();
    options.criteria = "nc,tknc";
    PX_TRY(px_preprocess_init(&pre, px_model_properties(model), px_model_property_count(model),
                              &shape, NULL, err));
    PX_TRY(px_dataset_from_source(&source, "noise", set, err));
    px_preprocess_fit(&pre, source.is_8bit);
    PX_TRY(px_cover_new(model, &shape, &options, cover, err));
    return px_cover_run(*cover, *set, &pre, &run, NULL, err);
}

int main(int argc, char **argv)
{
    px_error err = {PX_OK, ""};
    px_model *model = NULL;
    px_dataset *set = NULL;
    px_cover *cov = NULL;
    px_status status = px_model_load(argc > 1 ? argv[1] : "net.onnx", &model, &err);
    if (status == PX_OK && (status = cover(model, &set, &cov, &err)) == PX_OK)
        for (size_t i = 0; i < px_cover_count(cov); i++)
            printf("%s %.4f\n", px_cover_criterion(cov, i)->entry.id, px_cover_value(cov, i).value);
    else
        fprintf(stderr, "cover_stream: %s\n", err.message);
    px_cover_free(cov);
    px_dataset_close(set);
    px_model_free(model);
    return status != PX_OK;
}
