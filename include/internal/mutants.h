/* include/internal/mutants.h - mutants of a data set, as files and as figures
 *
 *     px_mutants_options options = px_mutants_options_default();
 *     px_mutants made = {0};
 *     options.set = set;
 *     options.path = "mutants";             // a new folder; FILE.npz or FILE.png; NULL: no files
 *     if (px_mutants_make(&options, &made, &err) == PX_OK)
 *         printf("%lld mutants\n", (long long)made.count);
 *     px_mutants_done(&made);
 *
 * Pictures of up to PX_MUTATION_SIDE_MOST pixels each way are changed as 8-bit levels, recordings
 * as 16-bit samples. What a mutant is depends on the seed, its input's index in the data and its
 * place among that input's mutants alone.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_MUTANTS_H
#define PXI_INTERNAL_MUTANTS_H

#include <internal/mutate.h>

PX_BEGIN_DECLS

typedef struct px_mutants_options { /* what it points to is borrowed */
    const px_dataset *set;
    const char *from;         /* of px_mutations_parse(); NULL: nss, audio for recordings */
    const px_styles *styles;  /* NULL: the generated ones */
    const char *const *given; /* instead: these of px_drawn_parse(), one mutant of each, */
    size_t given_count;
    bool chain;       /* or, two and more, one after another for one mutant */
    bool one_of_each; /* one of each mutation of the set, */
    int64_t each;     /* or so many drawn for every input; 0: one */
    uint64_t seed;
    /* A folder of PNG files, or WAV files with pictures of their features, and index.csv; an NPZ
     * with x, y, indices and mutations; a contact sheet, which has the originals too. Whole or not
     * at all. */
    const char *path;
    bool fresh; /* in place of a folder that was made by this function before */
    bool (*progress)(void *context, int64_t done, int64_t total); /* of inputs; false: stop */
    void *context;
} px_mutants_options;
px_mutants_options px_mutants_options_default(void);
bool px_mutants_is_sheet(const char *path); /* by its name: it ends in .png */

typedef struct px_mutant {
    int64_t row, origin, label; /* row: of the data set; origin: px_dataset_index(); -1: no label */
    px_drawn drawn;             /* of a chain: its first link */
    px_change change;           /* against the original */
    size_t size;                /* values of the input: pixels, or samples */
} px_mutant;

typedef struct px_mutants { /* {0}: empty */
    px_mutant *items;       /* inputs in order, each with its mutants */
    int64_t count, inputs;
    char *chain; /* "rotation angle=10; blur size=3"; NULL: each went through its own mutation */
} px_mutants;

/* Makes them all. On PX_OK the caller owns what is in *out, which borrows the styles. */
px_status px_mutants_make(const px_mutants_options *options, px_mutants *out, px_error *err);
void px_mutants_done(px_mutants *mutants);

typedef struct px_mutants_sum { /* over the mutants of one mutation; of a chain: of its first */
    int64_t count, unchanged;
    double changed, largest; /* means: the share of values that differ, the largest difference in
                                levels of 255; 0 where there are none */
} px_mutants_sum;
px_mutants_sum px_mutants_add(const px_mutants *mutants, const px_mutation *mutation);

PX_END_DECLS
#endif
