/* src/localize/shapley_inside.h - the inside of px_shapley
 *
 * A *lane* is one layer: where its channels lie, and where the network is started again behind it.
 * Most layers are followed by something that is a sum over channels (a convolution or a product,
 * perhaps behind a pooling): then the network starts again behind that, at a value z with
 *
 *     z(mask) = base + sum of mask_i * part_i,
 *
 * and a channel is taken out by one subtraction. Other layers start at the masked layer itself.
 */
#ifndef PXI_LOCALIZE_SHAPLEY_INSIDE_H
#define PXI_LOCALIZE_SHAPLEY_INSIDE_H

#include <plexor/shapley.h>

#include "base/worker_pool.h"
#include "engine/crew.h"

typedef struct pxi_feed_list { /* what a restart is fed with, shapes for one sample */
    px_feed *feeds;            /* the first is where it starts */
    size_t *sizes;             /* elements per sample */
    size_t count;
} pxi_feed_list;

typedef struct pxi_lane {
    px_shapley_layer layer;
    int tap, axis;                       /* a value, and its channel axis */
    size_t size, outer, channels, inner; /* of one sample of the tap, row-major */
    bool additive;                       /* there is such a z */
    bool by_parts;                       /* masked rows start there */
    pxi_feed_list start, slope;          /* at z, if there is one, or the tap; at the tap */
    float *base;                         /* z without any channel; NULL: not had yet */
    /* of the pair that was loaded; side 0 is x, side 1 is x + dx */
    uint64_t pair;
    float *full[2];  /* what masked rows start at where nothing is masked */
    float *parts[2]; /* by_parts: [channels][start.sizes[0]] */
    bool *null;      /* per channel: zero on both sides, so that nothing depends on it */
    pxi_crew parts_crew, start_crew, slope_crew;
} pxi_lane;

typedef struct pxi_mask_seat { /* what one worker needs for masked rows */
    float *now[2];             /* the start of the current coalition */
    uint64_t pair;             /* whose skipped values its session holds */
    size_t lane;
    int64_t *labels, *predictions;
    double *losses;
} pxi_mask_seat;

struct px_shapley {
    const px_model *model;
    px_scores scores;
    px_probe *probe;
    px_tap tap;
    px_pool *pool;
    int workers;
    px_feed input; /* one sample */
    size_t input_size;
    pxi_lane *lanes;
    size_t lane_count;
    int64_t neuron_count;
    int *kept; /* taps, and what restarts are fed with */
    size_t kept_count;
    pxi_crew whole;  /* keeps them */
    pxi_crew judged; /* keeps nothing but the scores */
    pxi_crew taps;   /* as whole, for the diagonal of one layer at a time */
    uint64_t pair;   /* counts pairs that were loaded; 0: none */
    pxi_mask_seat *seats;
    /* the diagonal: trunk is the part that is the same at all nodes, if there is one */
    bool has_trunk;
    pxi_crew trunk, crown;
    struct pxi_diagonal_seat *diagonal; /* per worker; shapley_diagonal.c */
};

/* --- shapley.c
 * ----------------------------------------------------------------------------------- */

/* A plan's feeds for `batch` samples; the caller frees *out. */
px_status pxi_feeds_for(const pxi_feed_list *list, int64_t batch, px_feed **out, px_error *err);
/* The whole network for so many samples, keeping all that restarts are fed with. */
px_status pxi_shapley_keep_all(px_shapley *s, pxi_crew *crew, int64_t batch, int workers,
                               px_error *err);
/* How many rows of that many floats to run at a time: an even number. */
int64_t pxi_rows_at_a_time(size_t floats);

/* --- shapley_segment.c
 * --------------------------------------------------------------------------- */

/* The last value behind `tap` that is base + sum over channels of what each puts in, for factors of
 * channels that are not negative; -1: there is none behind a linear operator. `scores` is not
 * passed. */
int pxi_segment_end(const px_graph *graph, int tap, int axis, int scores);
/* Whether `value` lies on the way from `tap` to `end`, which were found so, `end` included. */
bool pxi_segment_has(const px_graph *graph, int tap, int end, int value);

/* --- shapley_lane.c
 * ------------------------------------------------------------------------------ */

px_status pxi_lane_init(px_shapley *s, pxi_lane *lane, const px_layer *layer, px_error *err);
void pxi_lane_done(pxi_lane *lane);
/* z of a network whose layer is silent. */
px_status pxi_lane_base(px_shapley *s, pxi_lane *lane, px_error *err);
/* Gets a lane ready for masked rows of the pair that pxi_shapley_load() loaded. */
px_status pxi_lane_load(px_shapley *s, pxi_lane *lane, px_error *err);
/* Runs the whole network on both inputs of a pair. */
px_status pxi_shapley_load(px_shapley *s, const px_shapley_pair *pair, px_error *err);

/* Masked rows: a worker starts with all channels or with none, takes channels out or puts them in,
 * writes what it has as row r of at most pxi_lane_rows(), and runs them. */
int64_t pxi_lane_rows(const pxi_lane *lane);
px_status pxi_mask_open(px_shapley *s, const pxi_lane *lane, int worker, int64_t label,
                        px_error *err);
void pxi_mask_all(px_shapley *s, const pxi_lane *lane, int worker);
void pxi_mask_none(px_shapley *s, const pxi_lane *lane, int worker);
void pxi_mask_remove(px_shapley *s, const pxi_lane *lane, int worker, int64_t channel);
void pxi_mask_add(px_shapley *s, const pxi_lane *lane, int worker, int64_t channel);
void pxi_mask_write(px_shapley *s, const pxi_lane *lane, int worker, int64_t row);
/* utilities[r] = u of row r. */
px_status pxi_mask_run(px_shapley *s, const pxi_lane *lane, int worker, int64_t rows,
                       double *utilities, px_error *err);

/* --- shapley_exact.c, shapley_sample.c: of the pair that was loaded
 * ------------------------------ */

px_status pxi_shapley_exact(px_shapley *s, size_t layer, const px_shapley_pair *pair,
                            double *values, double *utilities, px_error *err);
px_status pxi_shapley_sample(px_shapley *s, size_t layer, const px_shapley_sampling *options,
                             const px_shapley_pair *pair, px_shapley_estimate *estimate,
                             px_error *err);

/* --- shapley_diagonal.c, shapley_norm.c
 * ---------------------------------------------------------- */

void pxi_diagonal_close(px_shapley *s);
/* The values of one layer on the scale of a norm; `out` may be `values`. */
void pxi_shapley_scale(px_shapley_norm norm, const double *values, int64_t count, double *out);

#endif
