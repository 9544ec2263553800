/* examples/cover_stream.c - which neurons a stream of inputs reaches that no file has
 *
 *     cc $(pkg-config --cflags plexor) cover_stream.c $(pkg-config --libs plexor) -o cover_stream
 *     ./cover_stream net.onnx
 *
 * Inputs are made when they are asked for, by any thread. Here they are noise.
 */
/* SPDX-License-Identifier: Apache-2.0 */
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

static px_status cover(const px_model *model, px_task *task, px_cover **cover, px_error *err)
{
    static px_shape sample = {3, {1, 28, 28}}; /* what read_noise() makes, as long as it is asked */
    px_source source = px_source_default();
    px_dataset *noise = NULL;
    px_cover_options options = px_cover_options_default();
    const px_cover_run_options run = px_cover_run_options_default();
    source.context = &sample;
    source.count = 200, source.shape = sample, source.is_8bit = true;
    source.read = read_noise;
    options.criteria = "nc,tknc";
    PX_TRY(px_dataset_from_source(&source, "noise", &noise, err));
    const px_status status = px_mem_put("noise", noise, err);
    px_dataset_close(noise);
    PX_TRY(status);
    PX_TRY(px_task_open(model, "mem:noise", NULL, task, err));
    PX_TRY(px_cover_new(model, &task->shape, &options, cover, err));
    return px_cover_run(*cover, task->set, &task->pre, &run, NULL, err);
}

int main(int argc, char **argv)
{
    px_error err = {PX_OK, ""};
    px_model *model = NULL;
    static px_task task; /* empty */
    px_cover *cov = NULL;
    px_status status = px_model_load(argc > 1 ? argv[1] : "net.onnx", &model, &err);
    if (status == PX_OK && (status = cover(model, &task, &cov, &err)) == PX_OK)
        for (size_t i = 0; i < px_cover_count(cov); i++)
            printf("%s %.4f\n", px_cover_criterion(cov, i)->entry.id, px_cover_value(cov, i).value);
    else
        fprintf(stderr, "cover_stream: %s\n", err.message);
    px_cover_free(cov);
    px_task_close(&task);
    px_model_free(model);
    return status != PX_OK;
}
