/* src/engine/set_classes.c - class names that a user gives to a network */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include <internal/model.h>

#include <internal/classes.h>
#include <internal/data.h>
#include <plexor/engine.h>
#include <string.h>

px_status px_model_set_classes(px_model *model, const char *text, px_error *err)
{
    char **names = NULL;
    int count = 0;
    px_scores scores;
    px_json json = {0};
    if (strcmp(text, "none") == 0) {
        model->class_names = NULL;
        model->class_count = 0;
        return pxi_model_write_classes(model, NULL, err);
    }
    PX_TRY(px_class_names_read(text, &names, &count, err));
    px_status status = px_model_scores(model, &scores, err);
    if (status == PX_OK && count != scores.classes)
        status =
            px_fail(err, PX_E_MISMATCH, "--classes names %d classes, the network '%.200s' has %d",
                    count, px_model_path(model), scores.classes);
    PX_THEN(status, pxi_model_take_classes(model, names, count, err));
    px_json_array(&json, NULL);
    for (int i = 0; i < count; i++)
        px_json_string(&json, NULL, names[i]);
    px_json_end(&json);
    const char *list = px_json_text(&json);
    PX_THEN(status, list ? pxi_model_write_classes(model, list, err) : pxi_no_memory(err));
    px_json_done(&json);
    px_class_names_free(names, count);
    return status;
}
