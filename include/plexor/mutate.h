/* include/plexor/mutate.h - small changes of a picture that should leave its meaning alone
 *
 * Pictures are 8-bit planes (CHW, as px_dataset_pixels() orders them), any size, any number of
 * channels; a mutant has the shape of its parent. Every mutation rounds to whole levels at its end
 * (halves up, then clipped), so a chain is: apply, keep the bytes, apply to those. The bytes depend
 * on the drawn mutation and the picture alone: no libm, no fused multiply-add, the same on every
 * machine. docs/mutate.md has the definitions.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_MUTATE_H
#define PLEXOR_MUTATE_H

#include <plexor/data.h>
#include <plexor/registry.h>
#include <plexor/rng.h>

PX_BEGIN_DECLS

/* --- mutations ------------------------------------------------------------------------------- */

#define PX_MUTATION_PARAMS 4 /* at most */

typedef enum px_mutation_group {
    PX_MUTATION_AFFINE, /* moves content: at most one in a lineage */
    PX_MUTATION_PIXEL,  /* changes values in place */
} px_mutation_group;

typedef struct px_drawn px_drawn;

typedef struct px_mutation {
    /* Its params say what values are accepted; sets draw from ranges of their own. Those with
     * choices stand at their first word where none is given; a number must be given. A drawn
     * mutation has the values in the order of the table, so there is no struct. */
    px_entry entry;
    px_mutation_group group;
    bool differentiable; /* the DH-D / DH-N split (CSM C.2): a value follows from that value */
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

PX_REGISTRY(px_mutations_all, px_mutation, px_mutation)

/* Adds a mutation of the program's own, borrowed for good: 'mutate --mutation' takes it with
 * values, and a set of its id draws them uniformly from the ranges of its settings, for 'mutate
 * --set' and 'fuzz --mutations'. It has one of the four functions, and its bytes depend on what
 * that is given alone; a setting named "seed" is drawn anew each time. At most PX_MUTATION_PARAMS
 * settings, whose names and whose id have at most PX_MUTATION_NAME_MOST letters. PX_E_USAGE for
 * what is none of this, or where there is a mutation or a set of that id. */
#define PX_MUTATION_NAME_MOST 24
PX_API px_status px_mutation_add(const px_mutation *mutation, px_error *err);

/* --- a drawn mutation: a plain value --------------------------------------------------------- */

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

/* How strongly it changes an input, in a few bands that mean something: which one it is in, how
 * many the mutation has, and a band in words, "rotation 10 to 20 degrees". Returns `buffer`. */
#define PX_BAND_TEXT 96

/* Sides of a picture at most; beyond it is PX_E_UNSUPPORTED. */
#define PX_MUTATION_SIDE_MOST 16384

/* --- sets: what to draw from ----------------------------------------------------------------- */

typedef struct px_mutation_entry {
    const px_mutation *mutation;
    const char *range; /* "angle 5 to 25 degrees either way" */
    /* Discrete entries: how many rules, and the values of rule i. */
    size_t rule_count;
    void (*rule)(size_t i, double *values);
    /* Continuous entries (rule_count 0); a parameter named "seed" is drawn for all of them. NULL:
     * uniformly from the ranges of the mutation's settings. */
    void (*draw)(px_random *random, double *values);
} px_mutation_entry;

typedef struct px_mutation_set {
    px_entry entry;
    const px_mutation_entry *entries;
    size_t entry_count; /* at most 32 */
    bool by_rule;       /* every rule is as likely as any other; else every entry is */
} px_mutation_set;

PX_REGISTRY(px_mutation_sets, px_mutation_set, px_mutation_set)

/* A set, or part of one: a plain value. */
typedef struct px_mutations {
    const px_mutation_set *set;
    uint32_t entries; /* bit i: entry i takes part; at least one does */
    /* Borrowed, and handed on to what is drawn: the pictures whose style is taken. NULL, as
     * px_mutations_parse() leaves it: the generated ones. */
    const px_styles *styles;
} px_mutations;

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

/* The generated pictures: RGB planes of PX_STYLE_SIDE each way. */
#define PX_STYLE_GENERATED 32
#define PX_STYLE_SIDE 64

/* The styles of a user's pictures. Those of a data SPEC, each measured at PX_STYLE_SIDE pixels each
 * way; labels do not matter. At most PX_STYLES_MOST. On PX_OK the caller owns *out. */
#define PX_STYLES_MOST 65536

/* --- what is still a valid mutant ------------------------------------------------------------ */

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

/* --- a data set of mutants ------------------------------------------------------------------- */

typedef struct px_mutant_set px_mutant_set;

PX_END_DECLS
#endif
