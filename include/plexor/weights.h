/* include/plexor/weights.h - a network's numbers while they change
 *
 *     px_weights *weights = NULL;
 *     if (px_weights_new(model, &weights, &err) != PX_OK) ...
 *     float *w = px_weights_get(weights, 0)->tensor.data;        // change them as you like
 *     px_weights_freeze(weights, NULL, 0, &trained, &err);       // a new model that holds them
 *
 * A weight is a float32 initialiser that an operator with parameters reads, directly or through
 * Identity, Transpose, Reshape, Flatten, Squeeze and Unsqueeze: Conv, ConvTranspose, Gemm, MatMul,
 * RNN, GRU and LSTM (not their initial states), a normalisation, PRelu; and Add and Mul where it
 * has more than one element. Pads, clip bounds, scales of Resize and other numbers are not weights,
 * nor is what no output depends on. An initialiser that several nodes read is one weight.
 */
#ifndef PLEXOR_WEIGHTS_H
#define PLEXOR_WEIGHTS_H

#include <plexor/graph.h>

PX_BEGIN_DECLS

typedef struct px_weights px_weights;

typedef enum px_weight_role {
    PX_WEIGHT_PARAMETER, /* what gradients change */
    PX_WEIGHT_STATISTIC, /* running mean and variance of BatchNormalization */
} px_weight_role;

typedef struct px_weight {
    int value;        /* of the model's graph */
    const char *name; /* the value's */
    px_tensor tensor; /* float32, 64-byte aligned, in the file's order; data is yours to change */
    px_weight_role role;
} px_weight;

/* Copies the weights of `model`, which is borrowed and must outlive them; in the order of the
 * graph's values. A network may have none. PX_E_UNSUPPORTED names a weight that is not float32, or
 * that a Constant node holds: px_builder_from_model() in <plexor/build.h> and px_builder_finish()
 * make initialisers of those. What is returned belongs to one thread at a time. */
PX_API px_status px_weights_new(const px_model *model, px_weights **out, px_error *err);
PX_API void px_weights_free(px_weights *weights); /* NULL is fine */

PX_API const px_model *px_weights_model(const px_weights *weights);
PX_API size_t px_weights_count(const px_weights *weights);

/* i < px_weights_count(). Value, name, shape and role stay as they are. */
PX_API px_weight *px_weights_get(px_weights *weights, size_t i);
PX_API px_weight *px_weights_find(px_weights *weights, int value); /* NULL: not a weight */

/* The numbers of `from`, which was made from the same model (PX_E_MISMATCH if not). */
PX_API px_status px_weights_copy(px_weights *to, const px_weights *from, px_error *err);

/* Makes a model of its own with these numbers and the graph, values and properties of the one they
 * came from; each of `set` replaces the property of that key or is added. The caller owns *out. */
PX_API px_status px_weights_freeze(const px_weights *weights, const px_property *set,
                                   size_t set_count, px_model **out, px_error *err);

PX_END_DECLS
#endif
