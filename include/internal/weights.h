/* include/internal/weights.h - <plexor/weights.h>, and what only plexor itself uses of it
 *
 *     px_weights *weights = NULL;
 *     if (px_weights_new(model, &weights, &err) != PX_OK) ...
 *     float *w = px_weights_get(weights, 0)->tensor.data;        // change them as you like
 *     px_weights_freeze(weights, NULL, 0, &trained, &err);       // a new model that holds them
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_WEIGHTS_H
#define PXI_INTERNAL_WEIGHTS_H

#include <plexor/weights.h>

PX_BEGIN_DECLS

/* Copies the weights of `model`, which is borrowed and must outlive them; in the order of the
 * graph's values. A network may have none. PX_E_UNSUPPORTED names a weight that is not float32, or
 * that a Constant node holds: px_builder_from_model() in <internal/build.h> and px_builder_finish()
 * make initialisers of those. What is returned belongs to one thread at a time. */
px_status px_weights_new(const px_model *model, px_weights **out, px_error *err);

void px_weights_free(px_weights *weights); /* NULL is fine */

const px_model *px_weights_model(const px_weights *weights);

size_t px_weights_count(const px_weights *weights);

/* i < px_weights_count(). Value, name, shape and role stay as they are. */
px_weight *px_weights_get(px_weights *weights, size_t i);

px_weight *px_weights_find(px_weights *weights, int value); /* NULL: not a weight */

/* The numbers of `from`, which was made from the same model (PX_E_MISMATCH if not). */
px_status px_weights_copy(px_weights *to, const px_weights *from, px_error *err);

/* Makes a model of its own with these numbers and the graph, values and properties of the one they
 * came from; each of `set` replaces the property of that key or is added. The caller owns *out. */
px_status px_weights_freeze(const px_weights *weights, const px_property *set, size_t set_count,
                            px_model **out, px_error *err);

PX_END_DECLS
#endif
