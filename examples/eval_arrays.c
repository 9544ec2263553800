/* examples/eval_arrays.c - how a network does on arrays that a program has in memory
 *
 *     cc $(pkg-config --cflags plexor) eval_arrays.c $(pkg-config --libs plexor) -o eval_arrays
 *     ./eval_arrays net.onnx
 * The arrays are borrowed, not copied. Here they are filled with plexor's own digits.
 */
#include <plexor/plexor.h>
#include <stdio.h>

enum { COUNT = 500, SIDE = 28 };
static uint8_t pixels[COUNT][SIDE][SIDE];
static int64_t labels[COUNT];

static px_status make(px_dataset **set, px_error *err)
{
    static float values[SIDE * SIDE];
    px_dataset *digits = NULL;
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
    return px_dataset_from_arrays(&arrays, "mine", set, err);
}

static px_status evaluate(const px_model *model, const px_dataset *set, px_predictions *said,
                          px_error *err)
{
    const px_graph *graph = px_model_graph(model);
    const px_predict_options how = px_predict_options_default();
    px_preprocess pre; /* what the network's metadata say, and the type of the data */
    PX_TRY(px_preprocess_init(&pre, px_model_properties(model), px_model_property_count(model),
                              &graph->values[graph->inputs[0]].shape, NULL, err));
    px_preprocess_fit(&pre, px_dataset_is_8bit(set));
    PX_TRY(px_predict(model, set, &pre, &how, said, err));
    const px_eval_sum sum = px_eval_slice(said, NULL, said->count);
    printf("right: %d of %d, loss %.4f\n", (int)sum.correct, (int)sum.labelled, sum.loss);
    return PX_OK;
}

int main(int argc, char **argv)
{
    px_error err = {PX_OK, ""};
    px_model *model = NULL;
    px_dataset *set = NULL;
    static px_predictions said; /* empty */
    if (px_model_load(argc > 1 ? argv[1] : "net.onnx", &model, &err) != PX_OK ||
        make(&set, &err) != PX_OK || evaluate(model, set, &said, &err) != PX_OK)
        fprintf(stderr, "eval_arrays: %s\n", err.message);
    px_predictions_done(&said);
    px_dataset_close(set);
    px_model_free(model);
    return err.status != PX_OK;
}
