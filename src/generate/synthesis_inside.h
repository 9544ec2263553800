/* src/generate/synthesis_inside.h - the inside of px_synthesize() */
#ifndef PXI_GENERATE_SYNTHESIS_INSIDE_H
#define PXI_GENERATE_SYNTHESIS_INSIDE_H

#include <plexor/synthesize.h>

/* --- pixels (synthesis_pixels.c) ----------------------------------------------------------------
 *
 * *Levels* are raw values, 0..255 for 8-bit data; *units* are scaled ones. Arithmetic is in double,
 * and what is kept in float is moved inwards where that would leave the ball or the range.
 */

typedef struct pxi_pixel_rule {
    double whole; /* a unit is so many levels, where that is a whole number; else 0 */
    double scale; /* units per level */
    double step, distance, low, high;      /* in levels, per unit of gradient for the step */
    size_t count, channels, plane;         /* values; count = channels * plane */
    bool bgr, channels_last;               /* how the network's input lies */
    double stddev[PX_PREPROCESS_CHANNELS]; /* per channel of the network's input */
} pxi_pixel_rule;

void pxi_pixel_rule_init(pxi_pixel_rule *rule, const px_dataset *set, const px_preprocess *pre,
                         const px_synthesis_options *options);
double pxi_pixel_units(const pxi_pixel_rule *rule, double levels);
double pxi_pixel_levels(const pxi_pixel_rule *rule, double units);

/* The first value that is no number or lies outside the range; count: none. */
size_t pxi_pixels_outside(const pxi_pixel_rule *rule, const float *pixels);

/* One step of Algorithm 2: `pixels` moves along `gradient` (of the network's input, in its own
 * order) and stays within the distance of `original`. */
void pxi_pixels_step(const pxi_pixel_rule *rule, const float *original, const float *gradient,
                     float *pixels);

/* Whole levels towards the original, whose values are whole. */
void pxi_pixels_round(const float *original, const float *pixels, size_t count, uint8_t *bytes);

/* L1, L2 and Linf of pixels - original in units; false where nothing differs. */
bool pxi_pixels_distance(const pxi_pixel_rule *rule, const float *original, const float *pixels,
                         px_synthesis_form *form);

/* --- a run (synthesis.c, synthesis_batch.c) -----------------------------------------------------
 */

enum { SYNTHESIS_FORWARD, SYNTHESIS_BACKWARD, SYNTHESIS_JUDGE, SYNTHESIS_ALL, SYNTHESIS_TIMES };

struct px_synthesis {
    px_synthesis_options options; /* complete */
    bool rounds;                  /* 8-bit pixels are what is stored */
    int classes;
    int64_t count;
    px_synthesis_row *rows;
    size_t *rose_at; /* per row, and the end */
    uint8_t *rose;
    double seconds, emit_seconds, spent[SYNTHESIS_TIMES];
};

typedef struct pxi_synthesis_run {
    const px_synthesis_job *job;
    px_synthesis *out;
    pxi_pixel_rule rule;
    px_plan *plan;
    px_scores scores;
    int input;   /* value */
    int *values; /* that the neurons are in, each once; the class scores last */
    size_t value_count;
    bool *used;   /* per chosen layer of the probe: some list has neurons there */
    int64_t wide; /* neurons of the probe: a row of a trace */

    /* The inputs that are being made: rows `first` on, at most `room` of them. */
    int64_t first, room;
    float *original, *exact;
    uint8_t *bytes;                   /* NULL: nothing is rounded */
    double (*spent)[SYNTHESIS_TIMES]; /* per micro-batch of the chunk */
} pxi_synthesis_run;

/* A px_batch_fn over the chunk's rows. */
px_status pxi_synthesis_batch(void *run, px_session *session, int64_t first, int64_t samples,
                              px_error *err);

#endif
