/* examples/eval_arrays.c - how a network does on arrays that a program has in memory
 *
 *     cc $(pkg-config --cflags plexor) eval_arrays.c $(pkg-config --libs plexor) -o eval_arrays
 *     ./eval_arrays net.onnx
 * The arrays are borrowed, not copied. Here they are filled with plexor's own digits.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/plexor.h>
#include <stdio.h>

enum { COUNT = 500, SIDE = 28 };
static uint8_t pixels[COUNT][SIDE][SIDE];
static int64_t labels[COUNT];

static px_status make(px_error *err)
{
    static float values[SIDE * SIDE];
    px_dataset *digits = NULL, *mine = NULL;
    PX_TRY(px_dataset_open("digits", NULL, &digits, err));
    for (int64_t i = 0; i < COUNT; i++) {
        PX_TRY(px_dataset_pixels(digits, i, values, err));
        for (int k = 0; k < SIDE * SIDE; k++)
            pixels[i][k / SIDE][k % SIDE] = (uint8_t)values[k];
        labels[i] = px_dataset_label(digits, i);
    }
    px_dataset_close(digits);
    px_arrays arrays = px_arrays_default();
    arrays.inputs = px_array_of(pixels, PX_UINT8, COUNT, 1, SIDE, SIDE);
    arrays.labels = px_array_of(labels, PX_INT64, COUNT, 0, 0, 0);
    PX_TRY(px_dataset_from_arrays(&arrays, "mine", &mine, err));
    const px_status status = px_mem_put("mine", mine, err); /* any command knows it from now on */
    px_dataset_close(mine);
    return status;
}

static px_status evaluate(const px_model *model, px_task *task, px_predictions *said, px_error *err)
{
    const px_predict_options how = px_predict_options_default();
    PX_TRY(px_task_open(model, "mem:mine", NULL, task, err));
    PX_TRY(px_predict(model, task->set, &task->pre, &how, said, err));
    const px_eval_sum sum = px_eval_slice(said, NULL, said->count);
    printf("right: %d of %d, loss %.4f\n", (int)sum.correct, (int)sum.labelled, sum.loss);
    return PX_OK;
}

int main(int argc, char **argv)
{
    px_error err = {PX_OK, ""};
    px_model *model = NULL;
    static px_task task; /* empty */
    static px_predictions said;
    if (px_model_load(argc > 1 ? argv[1] : "net.onnx", &model, &err) != PX_OK ||
        make(&err) != PX_OK || evaluate(model, &task, &said, &err) != PX_OK)
        fprintf(stderr, "eval_arrays: %s\n", err.message);
    px_predictions_done(&said);
    px_task_close(&task);
    px_model_free(model);
    return err.status != PX_OK;
}
