/* include/internal/mutate.h - <plexor/mutate.h>, and what only plexor itself uses of it
 *
 *     px_mutations from;
 *     PX_TRY(px_mutations_parse("nss", &from, err));              // or "nss:rotation,shear"
 *     px_random random = px_rng(seed, PX_RNG_MUTATE, index, PX_MUTATE_CANDIDATES);
 *     px_drawn drawn = px_mutation_draw(&from, &random);
 *     PX_TRY(px_mutation_apply(&drawn, pixels, mutant, height, width, channels, err));
 *     px_drawn_text(&drawn, text);                                // "rotation angle=-17.25"
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_MUTATE_H
#define PXI_INTERNAL_MUTATE_H

#include <plexor/mutate.h>

PX_BEGIN_DECLS

const char *px_drawn_text(const px_drawn *drawn, char buffer[PX_DRAWN_TEXT]);

/* PX_E_USAGE, saying what is there, for names and values that are not. */
px_status px_drawn_parse(const char *text, px_drawn *out, px_error *err);

int px_mutation_bands(const px_mutation *mutation);

int px_drawn_band(const px_drawn *drawn);

const char *px_band_text(const px_mutation *mutation, int band, char buffer[PX_BAND_TEXT]);

/* `in` and `out` are planes of height x width, `channels` of them, and do not overlap. Any number
 * of threads. Memory is taken for the call only. */
px_status px_mutation_apply(const px_drawn *drawn, const uint8_t *in, uint8_t *out, int height,
                            int width, int channels, px_error *err);

/* A link of a chain that began with `origin`: what fuzzing and replay use. */
px_status px_mutation_apply_near(const px_drawn *drawn, const uint8_t *origin, const uint8_t *in,
                                 uint8_t *out, int height, int width, int channels, px_error *err);

/* The same for a recording: 16-bit samples, one channel. PX_E_MISMATCH for a mutation of pictures,
 * as it is for the functions above and one of recordings. */
px_status px_mutation_apply_samples(const px_drawn *drawn, const int16_t *in, int16_t *out,
                                    size_t count, px_error *err);

/* Samples between -1 and 1 as 16 bits (nearest, clipped), and back. */
void px_samples_round(const float *samples, int16_t *out, size_t count);

void px_samples_widen(const int16_t *samples, float *out, size_t count);

size_t px_mutation_set_rules(const px_mutation_set *set); /* 0: some entry is continuous */

/* "nss", "deephunter", "nsgen", "nsgen+style", "tensorfuzz", "audio"; with a part:
 * "nss:rotation,shear", "deephunter:pixel" (by id or group), "deephunter:differentiable",
 * "deephunter:non-differentiable". */
px_status px_mutations_parse(const char *text, px_mutations *out, px_error *err);

/* PX_E_MISMATCH unless what is drawn from it is for such data: recordings, or pictures. */
px_status px_mutations_check(const px_mutations *from, const px_dataset *data, px_error *err);

size_t px_mutations_rules(const px_mutations *from); /* 0: some entry is continuous */

/* Rule i of a discrete part, in the order of its entries; where a rule has a seed of its own
 * (noise), that is `seed`; a style is of picture `seed` modulo their number. */
px_drawn px_mutations_rule(const px_mutations *from, size_t i, uint32_t seed);

px_drawn px_mutation_draw(const px_mutations *from, px_random *random);

/* Of planes of 1 channel (grey) or 3 (RGB). */
px_status px_style_measure(const uint8_t *planes, int height, int width, int channels,
                           px_style *out, px_error *err);

const px_style *px_style_generated(size_t i); /* NULL beyond the last */

px_status px_styles_open(const char *spec, px_styles **out, px_error *err);

void px_styles_free(px_styles *styles); /* NULL is fine */

size_t px_styles_count(const px_styles *styles);

const px_style *px_styles_get(const px_styles *styles, size_t i); /* NULL beyond the last */

uint64_t px_styles_hash(const px_styles *styles);

/* As bytes, the same on every machine; the caller frees *bytes. With them alone every style mutant
 * can be made again. */
px_status px_styles_save(const px_styles *styles, uint8_t **bytes, size_t *size, px_error *err);

px_status px_styles_load(const uint8_t *bytes, size_t size, px_styles **out, px_error *err);

/* The papers' own: 0.02 and 0.2 for DeepHunter, 0.2 and 0.4 for NSGen. */
px_validity px_validity_default(px_validity_rule rule);

px_change pxi_change_between(const uint8_t *a, const uint8_t *b, size_t size);

/* Of recordings: samples that differ, and the largest difference in 255ths of full scale (which is
 * 32768), rounded up. */
px_change px_change_between_samples(const int16_t *a, const int16_t *b, size_t count);

/* Whether the rule counts the mutation as affine. */
bool px_validity_affine(const px_validity *validity, const px_mutation *mutation);

/* Judges a mutant: `before` and `after` are the stored pixels of parent and mutant, `reference`
 * what the parent's lineage is compared with. True: it is valid and *next its lineage. Where
 * *moves_reference, the mutant's own reference is the mutation applied to `reference`; else it is
 * `reference` itself. A second affine mutation is never valid; a style always is, and leaves the
 * lineage as it was. The outputs are set on true only. */
bool px_validity_judge(const px_validity *validity, const px_lineage *lineage,
                       const px_mutation *mutation, const uint8_t *reference, const uint8_t *before,
                       const uint8_t *after, size_t size, px_lineage *next, bool *moves_reference);

/* The same for recordings: of samples, with px_change_between_samples(). */
bool px_validity_judge_samples(const px_validity *validity, const px_lineage *lineage,
                               const px_mutation *mutation, const int16_t *reference,
                               const int16_t *before, const int16_t *after, size_t count,
                               px_lineage *next, bool *moves_reference);

/* Input i is one mutant of input i of `parents` (borrowed; it outlives the set), drawn by
 * px_rng(seed, PX_RNG_MUTATE, px_dataset_index(parents, i), iteration): so a shard or a --limit of
 * the parents has the same mutants. Labels and indices are the parents'; a name is the parent's and
 * the mutation, "t10k-17|rotation angle=-17.25". Lazy: pixels are made when asked for. 8-bit data
 * give 8-bit data; float data must be pictures with values 0..1, which are rounded to k/255 first.
 * Pictures only ([C,H,W]); PX_E_MISMATCH else. Of recordings, by mutations of those: the recording
 * as 16 bits is changed, and the features are the mutant's; px_dataset_clip() gives its samples. */
px_status px_mutant_set_new(const px_dataset *parents, const px_mutations *from, uint64_t seed,
                            uint32_t iteration, px_mutant_set **out, px_error *err);

void px_mutant_set_free(px_mutant_set *set); /* NULL is fine */

/* The mutants, for whatever takes a data set; borrowed. */
const px_dataset *px_mutant_set_data(const px_mutant_set *set);

/* How mutant i comes from input i of the parents. */
px_drawn px_mutant_set_drawn(const px_mutant_set *set, int64_t index);

/* Mutations work on levels, 0 to 255. A value between low and high as the nearest level, and what a
 * level stands for. */
uint8_t px_value_level(double value, double low, double high);

float px_level_value(uint8_t level, double low, double high);

/* Raw values of a picture (CHW, as px_dataset_pixels() gives them) through a mutation (`in` may be
 * `out`): what px_mutant_set does to each, for callers who have the pixels already. `unit`: values
 * are 0..1 instead of 0..255. PX_E_MISMATCH, naming the value, for values beyond the range. */
px_status px_mutation_apply_values(const px_drawn *drawn, const px_shape *shape, bool unit,
                                   const float *in, float *out, px_error *err);

/* The same for a link of a chain that began with `origin`, with values from low to high. */
px_status px_mutation_apply_values_near(const px_drawn *drawn, const px_shape *shape, double low,
                                        double high, const float *origin, const float *in,
                                        float *out, px_error *err);

PX_END_DECLS
#endif
