/* src/engine/task.c - a network and data for it, opened so that they fit */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/task.h>

#include <internal/classes.h>

px_task_options px_task_options_default(void)
{
    return (px_task_options){.data = px_data_options_default()};
}

px_status px_task_open(const px_model *model, const char *spec, const px_task_options *options,
                       px_task *out, px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const px_task_options wanted = options ? *options : px_task_options_default();
    const px_data_options named = px_model_data_options(model);
    px_data_options data = wanted.data;
    px_task task = {.model = model};
    PX_TRY(px_model_preprocess(model, &wanted.pixels, wanted.audio, &task.pre, err));
    if (wanted.pre)
        task.pre = *wanted.pre;
    const px_value *input = &graph->values[graph->inputs[0]];
    if (input->dtype != PX_FLOAT32 && input->dtype != PX_NONE)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%.200s': input '%s' is %s; data sets can be fed to float32 inputs",
                       px_model_path(model), input->name, px_dtype_name(input->dtype));
    data.class_names = named.class_names;
    data.class_count = named.class_count;
    data.inputs = named.inputs;
    data.targets = named.targets;
    PX_TRY(px_dataset_open_for(&task.pre, &input->shape, spec, &data, &task.set, err));
    const px_shape sample = px_dataset_shape(task.set);
    task.count = px_dataset_count(task.set);
    task.floats = (size_t)px_shape_count(&sample);
    task.shape = (px_shape){.rank = sample.rank + 1, .dim = {1}};
    for (int d = 0; d < sample.rank; d++)
        task.shape.dim[d + 1] = sample.dim[d];
    if (task.count == 0) {
        px_dataset_close(task.set);
        return px_fail(err, PX_E_INPUT, "'%.200s': no inputs are left; see --offset and --limit",
                       spec);
    }
    *out = task;
    return PX_OK;
}

void px_task_close(px_task *task)
{
    px_dataset_close(task->set);
    task->set = NULL;
}
