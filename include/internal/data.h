/* include/internal/data.h - <plexor/data.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_DATA_H
#define PXI_INTERNAL_DATA_H

#include <plexor/data.h>

PX_BEGIN_DECLS

/* All of them, as px_data_options takes them; NULL: unknown. Borrowed from the set. */
const char *const *px_dataset_class_names(const px_dataset *set);

px_class_match px_dataset_class_match(const px_dataset *set); /* texts are the set's */

/* What a user should know about the data, found while they were opened, a sentence each: "the data
 * have 9 of the network's 10 classes; 'deer' never comes". */
size_t px_dataset_remark_count(const px_dataset *set);

const char *px_dataset_remark(const px_dataset *set, size_t i);

const char *px_dataset_spec(const px_dataset *set); /* that it was opened by */

/* Reads every picture or recording, on `threads` workers (0: one per core), and lists those that
 * cannot be decoded, in order. The caller frees the list, NULL where *count is 0. `progress` (may
 * be NULL) returns false to cancel: PX_E_CANCELLED. Trouble with disk or memory is an error. */
px_status px_dataset_damaged(const px_dataset *set, int threads,
                             bool (*progress)(void *context, int64_t done, int64_t total),
                             void *context, px_damage **out, size_t *count, px_error *err);

void px_damage_free(px_damage *list, size_t count);

/* What px_data_options.skip_damaged left out; NULL where *count is 0. Borrowed from the set. */
const px_damage *px_dataset_skipped(const px_dataset *set, size_t *count);

const char *px_dataset_sizes_remark(const px_dataset *set, char buffer[PX_SIZES_TEXT]);

/* Recordings (WAV, FLAC): a sample is [1, frames, n_mels] of float features. How they are made,
 * with all that followed from the data; NULL: the data are something else. */
const px_audio *px_dataset_audio(const px_dataset *set);

/* The recording itself, one channel at the front end's sample rate; the caller frees *samples. */
px_status px_dataset_clip(const px_dataset *set, int64_t index, float **samples, size_t *count,
                          px_error *err);

/* Samples at that rate through the set's front end, as px_dataset_pixels() would give them. */
px_status px_dataset_features(const px_dataset *set, const float *samples, size_t count,
                              float *features, px_error *err);

/* The words of token rows [inputs][tokens], as samples of texts are; the caller frees it. NULL: the
 * data are something else. */
px_status px_dataset_words(const px_dataset *set, const float *rows, char **out, px_error *err);

/* Of samples in an embedding (px_inputs.table): the network's own inputs, [parts][tokens]. */
px_status px_dataset_beside(const px_dataset *set, int64_t index, float *out, px_error *err);

/* The text that a sample was made of; the caller frees it. NULL: the data are something else. */
px_status px_dataset_text(const px_dataset *set, int64_t index, char **out, px_error *err);

px_audio_flaws px_dataset_audio_flaws(const px_dataset *set);

/* PX_E_MISMATCH, naming the first offender, if a label is not below `classes`; PX_E_INPUT if there
 * are no labels at all. */
px_status px_dataset_check_labels(const px_dataset *set, int classes, px_error *err);

const char *px_dataset_classes_doubt(const px_dataset *set, int classes,
                                     char buffer[PX_CLASSES_TEXT]);

/* The same of one part of the data (options->split), or with `input_shape` NULL as they are stored,
 * and then `pre` is not used. Data in one piece, which have neither a train nor a test part, are
 * their own only part where `may_be_whole`. */
px_status px_dataset_open_part(px_preprocess *pre, const px_shape *input_shape, const char *spec,
                               const px_data_options *options, bool may_be_whole, px_dataset **out,
                               px_error *err);

/* The names in `plexor.classes`: a JSON array of strings, or an object {"0": "cat", ...}. Free with
 * px_class_names_free(). */
px_status px_class_names_parse(const char *json, char ***names, int *count, px_error *err);

/* The same from what a user gives: a file (one name per line, or that JSON), or a list with commas.
 */
px_status px_class_names_read(const char *text, char ***names, int *count, px_error *err);

void px_class_names_free(char **names, int count);

/* Hands array i to the caller, who frees it; what stays behind has no elements. */
px_tensor px_npz_move(px_npz *npz, size_t i);

px_status px_npz_add(px_npz_writer *writer, const char *name, const px_tensor *tensor,
                     px_error *err);

/* The same file as bytes, which the caller frees; px_npz_take_bytes() takes the place of commit. */
px_status px_npz_create_bytes(px_npz_writer **out, px_error *err);
px_status px_npz_take_bytes(px_npz_writer *writer, char **bytes, size_t *size, px_error *err);

/* `name` is what messages quote. */
px_status px_npz_open_bytes(const char *name, const void *bytes, size_t size, px_npz **out,
                            px_error *err);

/* Streaming form for arrays that are too large to hold: shape first, then all bytes in order. */
px_status px_npz_begin(px_npz_writer *writer, const char *name, px_dtype dtype,
                       const px_shape *shape, px_error *err);

PX_END_DECLS
#endif
