/* include/plexor/task.h - a network, data for it, and how the one becomes the other's input
 *
 *     px_task task;
 *     px_task_options options = px_task_options_default();
 *     options.data.limit = 1000;
 *     px_task_open(model, "fashion-mnist", &options, &task, &err);
 *     px_predict(task.model, task.set, &task.pre, &how, &said, &err);
 *     px_task_close(&task);
 *
 * Labels go by the names of the network's classes where both sides have names.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_TASK_H
#define PLEXOR_TASK_H

#include <plexor/data.h>
#include <plexor/graph.h>

PX_BEGIN_DECLS

typedef struct px_task_options {
    px_data_options data;         /* which of the inputs; names of classes are the network's */
    px_preprocess_options pixels; /* beats the network's metadata */
    const char *audio;            /* settings of features of recordings; NULL: the metadata's */
    const px_preprocess *pre;     /* NULL, or what is taken in place of the two above */
} px_task_options;
PX_API px_task_options px_task_options_default(void); /* all inputs of the test part */

typedef struct px_task {
    const px_model *model; /* borrowed */
    px_dataset *set;
    px_preprocess pre; /* from a sample to the network's input */
    px_shape shape;    /* of one input with a batch axis: [1,C,H,W] */
    int64_t count;     /* of inputs, at least 1 */
    size_t floats;     /* of one input */
} px_task;

/* SPEC is what `--data` takes; `options` may be NULL. PX_E_UNSUPPORTED for networks that data sets
 * cannot be fed to: of several inputs, or of other numbers than float32. */
PX_API px_status px_task_open(const px_model *model, const char *spec,
                              const px_task_options *options, px_task *out, px_error *err);
PX_API void px_task_close(px_task *task); /* the data; what is zeroed is fine */

PX_END_DECLS
#endif
