/* include/internal/classes.h - a network's class names, and data that go by them
 *
 *     px_data_options options = px_model_data_options(model);
 *     options.limit = 100;
 *     px_model_preprocess(model, &pixels, NULL, &pre, &err);
 *     px_dataset_open_for(&pre, px_model_input_shape(model), "photos/", &options, &set, &err);
 *
 * A network names its classes in its metadata (`plexor.classes`) or is told them once, before it is
 * shared by threads. Data that are opened with the options above have labels that are indices of
 * the network's classes, whatever order their folders or names are in.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_CLASSES_H
#define PXI_INTERNAL_CLASSES_H

#include <internal/data.h>
#include <plexor/graph.h>

PX_BEGIN_DECLS

const char *px_model_class_name(const px_model *model, int c); /* NULL: none */

/* The defaults with the network's class names, which are borrowed from it. */
px_data_options px_model_data_options(const px_model *model);

/* How samples become the input of a network, which has one (PX_E_UNSUPPORTED otherwise): options,
 * and settings of recordings (NULL: none), beat its metadata. */
px_status px_model_preprocess(const px_model *model, const px_preprocess_options *pixels,
                              const char *audio, px_preprocess *out, px_error *err);
const px_shape *px_model_input_shape(const px_model *model); /* of the first input */

/* Names the classes by what a user says, in place of what the metadata say: a file or a list as for
 * px_class_names_read(), or "none". As many names as the network has classes, else PX_E_MISMATCH.
 * The metadata are changed along, so that networks made from this one have the names too. */
px_status px_model_set_classes(px_model *model, const char *text, px_error *err);

PX_END_DECLS
#endif
