/* include/internal/decision_path.h - <plexor/decision_path.h>, and the functions of it
 *
 *     px_paths_options options = px_paths_options_default();     // layers "stages", 50 steps
 *     options.bank = bank;                                       // only described units compete
 *     px_paths_new(model, &sample, &pre, &options, &paths, &err);
 *     px_paths_run(paths, inputs, labels, count, found, NULL, &err);      // many inputs at once
 *     px_path_text(paths, &found[0], names, 10, NULL, PX_PATH_FULL, &text, &err);
 *     puts(px_text_get(&text));   // "a photo of a cat with orange regions, fine texture, cat"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_DECISION_PATH_H
#define PXI_INTERNAL_DECISION_PATH_H

#include <plexor/decision_path.h>

PX_BEGIN_DECLS

const char *px_path_rule_name(px_path_rule rule);

const char *px_path_target_name(px_path_target target);

const char *px_path_baseline_name(px_path_baseline baseline);

px_paths_options px_paths_options_default(void); /* 50 steps, up to 400, 0.05, balanced */

/* `sample` is the shape of one input as px_dataset_shape() has it. `pre` says what black is; it may
 * be NULL with PX_PATH_ZERO. `model` is borrowed and must outlive the object. PX_E_MISMATCH for a
 * bank of another network, or one that knows nothing of a layer; PX_E_UNSUPPORTED where gradients
 * do not come to a layer. */
px_status px_paths_new(const px_model *model, const px_shape *sample, const px_preprocess *pre,
                       const px_paths_options *options, px_paths **out, px_error *err);

void px_paths_free(px_paths *paths); /* NULL is fine */

size_t px_paths_layer_count(const px_paths *paths);

const px_path_layer *px_paths_layer(const px_paths *paths, size_t i);

int64_t px_paths_unit_count(const px_paths *paths);

int64_t px_paths_input_size(const px_paths *paths); /* numbers per input */

const px_scores *px_paths_scores(const px_paths *paths);

const px_model *px_paths_model(const px_paths *paths);

const px_bank *px_paths_bank(const px_paths *paths); /* NULL: none */

/* "layers=stages tap=post: 3 layers, 112 units; trapezoid, 50 steps, target label, baseline zero"
 */
const char *px_paths_describe(const px_paths *paths);

/* Of all that paths depend on but the network and the bank: two objects of one id find the same. */
uint64_t px_paths_id(const px_paths *paths);

/* labels may be NULL (then, and where one is negative, the target is the predicted class).
 * contributions is NULL or [count][units]: the mean of each unit. progress may be NULL; it is
 * called with inputs done. */
px_status px_paths_run(px_paths *paths, const float *inputs, const int64_t *labels, int64_t count,
                       px_path *out, double *contributions, px_error *err);

/* The classes and the target alone, one forward row an input: all that the modes need whose text
 * does not depend on critical units (px_path_mode_needs_units()). Steps are 0, units -1. */
px_status px_paths_classes(px_paths *paths, const float *inputs, const int64_t *labels,
                           int64_t count, px_path *out, px_error *err);

void px_paths_progress(px_paths *paths, px_progress_fn progress, void *context);

px_paths_sums px_paths_get_sums(const px_paths *paths);

const char *px_path_mode_name(px_path_mode mode);

bool px_path_mode_needs_units(px_path_mode mode); /* false: label-only, no-cns */

px_status px_path_mode_parse(const char *text, px_path_mode *out, px_error *err);

px_path_words px_path_words_default(void); /* one class, no repetition, by score */

/* Adds "a photo of a <classes joined by ' or '> with <words in layer order, later duplicates left
 * out>" to `out`; what a mode leaves out takes its "of a" or "with" along. `names` (may be NULL)
 * are the class names as the files have them: px_class_words() makes words of them, and a class
 * without a name is "class 7". Without a bank a unit is called by layer and number. PX_PATH_NO_NLDG
 * has no text: PX_E_USAGE. */
px_status px_path_text(const px_paths *paths, const px_path *path, const char *const *names,
                       size_t name_count, const px_path_words *words, px_path_mode mode,
                       px_text *out, px_error *err);

/* |A and B| / |A or B| of the critical units of two paths; 1 where both have none. */
double px_path_jaccard(const px_path *a, const px_path *b);

/* Eq 12. Equal texts: 1. Where a vector is all zeros: else 0. PX_E_INPUT where a vector
 * has a number that is not finite. */
px_status px_path_cosine(const float *a, const float *b, size_t size, bool texts_are_equal,
                         double *out, px_error *err);

/* A text encoder for a bank's phrases and these classes: what `options` say (NULL: the default),
 * with both as what it learns from. `bank` and `names` may be NULL. */
px_status px_path_encoder_open(const px_bank *bank, const char *const *names, size_t name_count,
                               const px_text_encoder_options *options, px_text_encoder **out,
                               px_error *err);

/* `paths` and `encoder` are borrowed. encoder NULL: PX_PATH_NO_NLDG alone can be asked for. */
px_status px_path_judge_new(const px_paths *paths, px_text_encoder *encoder,
                            const char *const *names, size_t name_count, const px_path_words *words,
                            px_path_judge **out, px_error *err);

void px_path_judge_free(px_path_judge *judge); /* NULL is fine */

px_status px_path_judge_similarity(px_path_judge *judge, px_path_mode mode, const px_path *a,
                                   const px_path *b, double *out, px_error *err);

/* PX_E_USAGE where a mode needs words and there is no encoder, or no bank. */
px_status px_path_judge_check(const px_path_judge *judge, px_path_mode mode, px_error *err);

px_path_judge_sums px_path_judge_get_sums(const px_path_judge *judge);

px_path_tools_options px_path_tools_options_default(void);

/* For inputs of `set`. px_path_tools_close() in any case. */
px_status px_path_tools_open(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                             const px_path_tools_options *options, px_path_tools *out,
                             px_error *err);

void px_path_tools_close(px_path_tools *tools);

px_calibration px_calibration_default(void); /* 50 images */

/* 8-bit pictures, or floats between 0 and 1. Each mode that the judge can compare in gets its tau
 * from the same paths. similarities is NULL, or gets [PX_PATH_MODE_COUNT][pairs] in an array that
 * the caller frees. */
px_status px_calibrate(px_paths *paths, px_path_judge *judge, const px_dataset *set,
                       const px_preprocess *pre, const px_calibration *options, px_threshold *out,
                       double **similarities, px_error *err);

/* Whether a pair of that similarity is kept: below tau, and not where the paths are the same (1),
 * whatever tau is. */
bool px_tau_keeps(const px_tau *tau, double similarity);

/* PX_E_MISMATCH, saying what is another one's: network, bank, encoder, way of finding paths; or no
 * tau of that mode. */
px_status px_threshold_check(const px_threshold *threshold, const px_paths *paths,
                             const px_text_encoder *encoder, px_path_mode mode, px_error *err);

px_status px_threshold_save(const px_threshold *threshold, const char *path, px_error *err);

px_status px_threshold_load(const char *path, px_threshold *out, px_error *err);

/* Where the threshold of these is kept between runs: a file in the user's cache folder
 * ($PLEXOR_CACHE, else plexor/ in $XDG_CACHE_HOME or ~/.cache). The caller frees it; NULL: there is
 * no such folder. */
char *px_threshold_path(const px_paths *paths, const px_text_encoder *encoder);

extern const px_field px_threshold_fields[];

const char *px_path_map_name(px_path_map kind);

/* The map of layer `layer` (px_path_layer.height x width) for one input and the path found for it.
 * A unit map of a layer that the path leaves out is all zeros. */
px_status px_paths_map(px_paths *paths, const float *input, const px_path *path, size_t layer,
                       px_path_map kind, float *map, px_error *err);

/* Grad-CAM (Selvaraju et al., ICCV 2017): relu(sum over units of mean gradient times activation);
 * both are [units][places]. */
void px_grad_cam(const float *activations, const float *gradients, int64_t units, int64_t places,
                 float *map);

/* Lays a map over a picture: bilinear to its size, its least value 0 and its largest 1 (a constant
 * map: 0 everywhere), colours from blue over green and yellow to red, half and half. `picture` has
 * 1 or 3 channels together, `out` gets RGB. */
px_status px_path_map_render(const float *map, int64_t map_height, int64_t map_width,
                             const uint8_t *picture, int height, int width, int channels,
                             uint8_t *out, px_error *err);

PX_END_DECLS
#endif
