/* include/plexor/mutate.h - small changes of a picture that should leave its meaning alone
 *
 *     px_mutations from;
 *     PX_TRY(px_mutations_parse("nss", &from, err));              // or "nss:rotation,shear"
 *     px_random random = px_rng(seed, PX_RNG_MUTATE, index, PX_MUTATE_CANDIDATES);
 *     px_drawn drawn = px_mutation_draw(&from, &random);
 *     PX_TRY(px_mutation_apply(&drawn, pixels, mutant, height, width, channels, err));
 *     px_drawn_text(&drawn, text);                                // "rotation angle=-17.25"
 *
 * Pictures are 8-bit planes (CHW, as px_dataset_pixels() orders them), any size, any number of
 * channels; a mutant has the shape of its parent. Every mutation rounds to whole levels at its end
 * (halves up, then clipped), so a chain is: apply, keep the bytes, apply to those. The bytes depend
 * on the drawn mutation and the picture alone: no libm, no fused multiply-add, the same on every
 * machine. docs/mutate.md has the definitions.
 */
#ifndef PLEXOR_MUTATE_H
#define PLEXOR_MUTATE_H

#include <plexor/data.h>
#include <plexor/rng.h>

PX_BEGIN_DECLS

/* --- mutations ----------------------------------------------------------------------------------
 */

#define PX_MUTATION_PARAMS 4 /* at most */

typedef enum px_mutation_group {
    PX_MUTATION_AFFINE, /* moves content: at most one in a lineage */
    PX_MUTATION_PIXEL,  /* changes values in place */
} px_mutation_group;

typedef struct px_mutation_param {
    const char *name, *help;
    double least, most; /* what is accepted; sets draw from ranges of their own */
    bool integer;
    /* NULL-terminated: the value is an index into it, and the first one stands where none is
     * given. NULL: a number, which must be given. */
    const char *const *choices;
} px_mutation_param;

typedef struct px_drawn px_drawn;

typedef struct px_mutation {
    const char *id;    /* "rotation"; the same in C, on the command line, in JSON */
    const char *title; /* "turned about the centre" */
    px_mutation_group group;
    bool differentiable; /* the DH-D / DH-N split of paper 002: a value follows from that value */
    const px_mutation_param *params;
    size_t param_count;
    /* Planes in, planes out; `in` and `out` do not overlap. The values are within their ranges. */
    px_status (*apply)(const double *values, const uint8_t *in, uint8_t *out, int height, int width,
                       int channels, px_error *err);
    /* Instead, where it is bounded by what the chain began with (`in` itself at its beginning).
     * NULL: does not look at that. */
    px_status (*apply_near)(const double *values, const uint8_t *origin, const uint8_t *in,
                            uint8_t *out, int height, int width, int channels, px_error *err);
    /* Instead, where more than the values decides: a style. */
    px_status (*apply_drawn)(const px_drawn *drawn, const uint8_t *in, uint8_t *out, int height,
                             int width, int channels, px_error *err);
    /* Of recordings, which have none of the above: 16-bit samples in, samples out, at least one;
     * they do not overlap. */
    px_status (*apply_samples)(const double *values, const int16_t *in, int16_t *out, size_t count,
                               px_error *err);
    /* Of affine ones: where the point (x, y) of the result comes from in the picture,
     * (map[0] x + map[1] y + map[2], map[3] x + map[4] y + map[5]), centres of pixels being whole
     * numbers. Of recordings: in their features, a row for each frame. NULL: nothing moves. */
    void (*source)(const double *values, int height, int width, double map[6]);
} px_mutation;

PX_API size_t px_mutation_count(void);
PX_API const px_mutation *px_mutation_get(size_t i);        /* NULL beyond the last */
PX_API const px_mutation *px_mutation_find(const char *id); /* NULL: there is none */

/* --- a drawn mutation: a plain value ------------------------------------------------------------
 */

typedef struct px_styles px_styles;

struct px_drawn {
    const px_mutation *mutation;
    double values[PX_MUTATION_PARAMS]; /* in the order of its params */
    /* Borrowed; what "of=own" means in a style, and nothing to any other mutation. No text has it:
     * whoever parses one sets it. */
    const px_styles *styles;
};

/* "shift x=0.1 y=-0.07": reads back as the same value. Choices that stand at their first word are
 * left out. Returns `buffer`. */
#define PX_DRAWN_TEXT 256
PX_API const char *px_drawn_text(const px_drawn *drawn, char buffer[PX_DRAWN_TEXT]);
/* PX_E_USAGE, saying what is there, for names and values that are not. */
PX_API px_status px_drawn_parse(const char *text, px_drawn *out, px_error *err);

/* How strongly it changes an input, in a few bands that mean something: which one it is in, how
 * many the mutation has, and a band in words, "rotation 10 to 20 degrees". Returns `buffer`. */
#define PX_BAND_TEXT 96
PX_API int px_mutation_bands(const px_mutation *mutation);
PX_API int px_drawn_band(const px_drawn *drawn);
PX_API const char *px_band_text(const px_mutation *mutation, int band, char buffer[PX_BAND_TEXT]);

/* Sides of a picture at most; beyond it is PX_E_UNSUPPORTED. */
#define PX_MUTATION_SIDE_MOST 16384

/* `in` and `out` are planes of height x width, `channels` of them, and do not overlap. Any number
 * of threads. Memory is taken for the call only. */
PX_API px_status px_mutation_apply(const px_drawn *drawn, const uint8_t *in, uint8_t *out,
                                   int height, int width, int channels, px_error *err);
/* A link of a chain that began with `origin`: what fuzzing and replay use. */
PX_API px_status px_mutation_apply_near(const px_drawn *drawn, const uint8_t *origin,
                                        const uint8_t *in, uint8_t *out, int height, int width,
                                        int channels, px_error *err);

/* The same for a recording: 16-bit samples, one channel. PX_E_MISMATCH for a mutation of pictures,
 * as it is for the functions above and one of recordings. */
PX_API px_status px_mutation_apply_samples(const px_drawn *drawn, const int16_t *in, int16_t *out,
                                           size_t count, px_error *err);
/* Samples between -1 and 1 as 16 bits (nearest, clipped), and back. */
PX_API void px_samples_round(const float *samples, int16_t *out, size_t count);
PX_API void px_samples_widen(const int16_t *samples, float *out, size_t count);

/* --- sets: what to draw from --------------------------------------------------------------------
 */

typedef struct px_mutation_entry {
    const px_mutation *mutation;
    const char *range; /* "angle 5 to 25 degrees either way" */
    /* Discrete entries: how many rules, and the values of rule i. */
    size_t rule_count;
    void (*rule)(size_t i, double *values);
    /* Continuous entries (rule_count 0); a parameter named "seed" is drawn for all of them. */
    void (*draw)(px_random *random, double *values);
} px_mutation_entry;

typedef struct px_mutation_set {
    const char *id, *title, *source;
    const px_mutation_entry *entries;
    size_t entry_count; /* at most 32 */
    bool by_rule;       /* every rule is as likely as any other; else every entry is */
} px_mutation_set;

PX_API size_t px_mutation_set_count(void);
PX_API const px_mutation_set *px_mutation_set_get(size_t i);     /* NULL beyond the last */
PX_API size_t px_mutation_set_rules(const px_mutation_set *set); /* 0: some entry is continuous */

/* A set, or part of one: a plain value. */
typedef struct px_mutations {
    const px_mutation_set *set;
    uint32_t entries; /* bit i: entry i takes part; at least one does */
    /* Borrowed, and handed on to what is drawn: the pictures whose style is taken. NULL, as
     * px_mutations_parse() leaves it: the generated ones. */
    const px_styles *styles;
} px_mutations;

/* "nss", "deephunter", "nsgen", "nsgen+style", "tensorfuzz", "audio"; with a part:
 * "nss:rotation,shear", "deephunter:pixel" (by id or group), "deephunter:differentiable",
 * "deephunter:non-differentiable". */
PX_API px_status px_mutations_parse(const char *text, px_mutations *out, px_error *err);
/* PX_E_MISMATCH unless what is drawn from it is for such data: recordings, or pictures. */
PX_API px_status px_mutations_check(const px_mutations *from, const px_dataset *data,
                                    px_error *err);
/* The part of it that is of a group; false: there is none, and *out is untouched. */
PX_API bool px_mutations_of_group(const px_mutations *from, px_mutation_group group,
                                  px_mutations *out);
PX_API size_t px_mutations_rules(const px_mutations *from); /* 0: some entry is continuous */
/* Rule i of a discrete part, in the order of its entries; where a rule has a seed of its own
 * (noise), that is `seed`; a style is of picture `seed` modulo their number. */
PX_API px_drawn px_mutations_rule(const px_mutations *from, size_t i, uint32_t seed);

PX_API px_drawn px_mutation_draw(const px_mutations *from, px_random *random);

/* Iterations of px_rng(seed, PX_RNG_MUTATE, index, ...), so that no two uses share numbers. Those
 * from PX_MUTATE_FREE on are for callers with more than that. */
enum {
    PX_MUTATE_CANDIDATES = 0, /* a mutant of each input, as a study's candidates */
    PX_MUTATE_IDENTIFY = 1,   /* NSS, stage 1 */
    PX_MUTATE_SCORE = 2,      /* NSS, stage 2 */
    PX_MUTATE_FREE = 16,
};

/* --- styles -------------------------------------------------------------------------------------
 *
 * Colour and texture statistics of a picture, not a neural style: all that the mutation `style`
 * takes from it. docs/mutate.md has the formulas.
 */

#define PX_STYLE_BANDS 3
typedef struct px_style { /* in the colour basis l, a, b of docs/mutate.md; of levels 0..255 */
    double mean[3];
    double covariance[6];           /* ll, al, aa, bl, ba, bb */
    double band[PX_STYLE_BANDS][3]; /* standard deviations in a Laplacian pyramid, finest first */
} px_style;

/* Of planes of 1 channel (grey) or 3 (RGB). */
PX_API px_status px_style_measure(const uint8_t *planes, int height, int width, int channels,
                                  px_style *out, px_error *err);

/* The generated pictures: RGB planes of PX_STYLE_SIDE each way. */
#define PX_STYLE_GENERATED 32
#define PX_STYLE_SIDE 64
PX_API void px_style_texture(size_t i, uint8_t planes[3 * PX_STYLE_SIDE * PX_STYLE_SIDE]);
PX_API const px_style *px_style_generated(size_t i); /* NULL beyond the last */

/* The styles of a user's pictures. Those of a data SPEC, each measured at PX_STYLE_SIDE pixels each
 * way; labels do not matter. At most PX_STYLES_MOST. On PX_OK the caller owns *out. */
#define PX_STYLES_MOST 65536
PX_API px_status px_styles_open(const char *spec, px_styles **out, px_error *err);
PX_API void px_styles_free(px_styles *styles); /* NULL is fine */
PX_API size_t px_styles_count(const px_styles *styles);
PX_API const px_style *px_styles_get(const px_styles *styles, size_t i); /* NULL beyond the last */
PX_API uint64_t px_styles_hash(const px_styles *styles);
/* As bytes, the same on every machine; the caller frees *bytes. With them alone every style mutant
 * can be made again. */
PX_API px_status px_styles_save(const px_styles *styles, uint8_t **bytes, size_t *size,
                                px_error *err);
PX_API px_status px_styles_load(const uint8_t *bytes, size_t size, px_styles **out, px_error *err);

/* --- what is still a valid mutant ---------------------------------------------------------------
 */

typedef enum px_validity_rule {
    /* changed values < alpha * size, or largest change < beta * 255 */
    PX_VALID_DEEPHUNTER,
    /* the same with both limits cut to whole numbers, and everything but pixel-change and noise
     * taken for affine: DeepHunter's published code */
    PX_VALID_DEEPHUNTER_CODE,
    /* changed values < alpha * (positive values of the reference), or largest change <= beta * 255
     */
    PX_VALID_NSGEN,
    /* changed values < alpha * size, and largest change <= beta * 255: NSGen's text */
    PX_VALID_NSGEN_STRICT,
} px_validity_rule;

typedef struct px_validity {
    px_validity_rule rule;
    double alpha, beta;
} px_validity;
/* The papers' own: 0.02 and 0.2 for DeepHunter, 0.2 and 0.4 for NSGen. */
PX_API px_validity px_validity_default(px_validity_rule rule);

/* What a lineage remembers between its links; {0} is a seed whose reference is itself. `reference`,
 * the picture that changes are counted against, is kept by the caller beside it. */
typedef struct px_lineage {
    bool affine;  /* had its affine mutation */
    uint64_t l0;  /* DeepHunter: changed values before the affine mutation */
    uint8_t linf; /* and their largest change */
} px_lineage;

typedef struct px_change { /* of one picture against another */
    uint64_t l0;           /* values that differ */
    uint8_t linf;          /* the largest difference */
} px_change;
PX_API px_change px_change_between(const uint8_t *a, const uint8_t *b, size_t size);
/* Of recordings: samples that differ, and the largest difference in 255ths of full scale (which is
 * 32768), rounded up. */
PX_API px_change px_change_between_samples(const int16_t *a, const int16_t *b, size_t count);

/* Whether the rule counts the mutation as affine. */
PX_API bool px_validity_affine(const px_validity *validity, const px_mutation *mutation);

/* Judges a mutant: `before` and `after` are the stored pixels of parent and mutant, `reference`
 * what the parent's lineage is compared with. True: it is valid and *next its lineage. Where
 * *moves_reference, the mutant's own reference is the mutation applied to `reference`; else it is
 * `reference` itself. A second affine mutation is never valid; a style always is, and leaves the
 * lineage as it was. The outputs are set on true only. */
PX_API bool px_validity_judge(const px_validity *validity, const px_lineage *lineage,
                              const px_mutation *mutation, const uint8_t *reference,
                              const uint8_t *before, const uint8_t *after, size_t size,
                              px_lineage *next, bool *moves_reference);

/* The same for recordings: of samples, with px_change_between_samples(). */
PX_API bool px_validity_judge_samples(const px_validity *validity, const px_lineage *lineage,
                                      const px_mutation *mutation, const int16_t *reference,
                                      const int16_t *before, const int16_t *after, size_t count,
                                      px_lineage *next, bool *moves_reference);

/* --- a data set of mutants ----------------------------------------------------------------------
 */

typedef struct px_mutant_set px_mutant_set;

/* Input i is one mutant of input i of `parents` (borrowed; it outlives the set), drawn by
 * px_rng(seed, PX_RNG_MUTATE, px_dataset_index(parents, i), iteration): so a shard or a --limit of
 * the parents has the same mutants. Labels and indices are the parents'; a name is the parent's and
 * the mutation, "t10k-17|rotation angle=-17.25". Lazy: pixels are made when asked for. 8-bit data
 * give 8-bit data; float data must be pictures with values 0..1, which are rounded to k/255 first.
 * Pictures only ([C,H,W]); PX_E_MISMATCH else. Of recordings, by mutations of those: the recording
 * as 16 bits is changed, and the features are the mutant's; px_dataset_clip() gives its samples. */
PX_API px_status px_mutant_set_new(const px_dataset *parents, const px_mutations *from,
                                   uint64_t seed, uint32_t iteration, px_mutant_set **out,
                                   px_error *err);
PX_API void px_mutant_set_free(px_mutant_set *set); /* NULL is fine */
/* The mutants, for whatever takes a data set; borrowed. */
PX_API const px_dataset *px_mutant_set_data(const px_mutant_set *set);
PX_API const px_dataset *px_mutant_set_parents(const px_mutant_set *set);
/* How mutant i comes from input i of the parents. */
PX_API px_drawn px_mutant_set_drawn(const px_mutant_set *set, int64_t index);

/* Mutations work on levels, 0 to 255. A value between low and high as the nearest level, and what a
 * level stands for. */
PX_API uint8_t px_value_level(double value, double low, double high);
PX_API float px_level_value(uint8_t level, double low, double high);

/* Raw values of a picture (CHW, as px_dataset_pixels() gives them) through a mutation (`in` may be
 * `out`): what px_mutant_set does to each, for callers who have the pixels already. `unit`: values
 * are 0..1 instead of 0..255. PX_E_MISMATCH, naming the value, for values beyond the range. */
PX_API px_status px_mutation_apply_values(const px_drawn *drawn, const px_shape *shape, bool unit,
                                          const float *in, float *out, px_error *err);
/* The same for a link of a chain that began with `origin`, with values from low to high. */
PX_API px_status px_mutation_apply_values_near(const px_drawn *drawn, const px_shape *shape,
                                               double low, double high, const float *origin,
                                               const float *in, float *out, px_error *err);

PX_END_DECLS
#endif
