/* include/internal/profile.h - <plexor/profile.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PROFILE_H
#define PXI_INTERNAL_PROFILE_H

#include <plexor/profile.h>

PX_BEGIN_DECLS

void px_extractor_free(px_extractor *extractor); /* NULL is fine */

/* Neuron values: a row is px_probe_neuron_count() values. */
px_status px_extractor_probe(const px_model *model, const px_probe_options *options,
                             px_extractor **out, px_error *err);

const char *px_profile_name(const px_profile *profile); /* its file, or "the profile" */

uint64_t px_profile_hash(const px_profile *profile); /* of all that it holds */

int64_t px_profile_count(const px_profile *profile); /* inputs it was made from */

/* Inputs of class c by label (-1 where labels are unknown) and by prediction. */
int64_t px_profile_labelled(const px_profile *profile, int c);

int64_t px_profile_predicted(const px_profile *profile, int c);

int64_t px_profile_rejected(const px_profile *profile); /* rows with NaN or infinity */

size_t px_profile_section_count(const px_profile *profile);

/* Its key: learner, settings, extractor; and the extractor's definition, for people. */
const char *px_profile_section(const px_profile *profile, size_t i);

const char *px_profile_definition(const px_profile *profile, size_t i);

/* The section with this key; PX_E_MISMATCH, saying which neurons it does have, if there is none. */
px_status px_profile_find(const px_profile *profile, const char *key, const char **section,
                          px_error *err);

/* For learners: adds an array to a section; takes over the tensor's memory, on failure too. */
px_status px_profile_put(px_profile *profile, const char *section, const char *name,
                         px_tensor *tensor, px_error *err);

/* For criteria: an array of a section, if it has this type and shape (dimensions of -1: any);
 * PX_E_INPUT otherwise, naming the file. Borrowed. */
px_status px_profile_get(const px_profile *profile, const char *section, const char *name,
                         px_dtype dtype, const px_shape *shape, const px_tensor **out,
                         px_error *err);

px_status px_profile_traces(const px_profile *profile, const char *section,
                            const px_extractor *extractor, px_traces *out, px_error *err);

PX_END_DECLS
#endif
