/* src/attribute/shapley_internal.h - the inside of px_shapley
 *
 * A *game* is one layer, whose channels are the players: where they lie, and where the network is
 * started again behind it.
 * Most layers are followed by something that is a sum over channels (a convolution or a product,
 * perhaps behind a pooling): then the network starts again behind that, at a value z with
 *
 *     z(mask) = base + sum of mask_i * part_i,
 *
 * and a channel is taken out by one subtraction. Other layers start at the masked layer itself.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTRIBUTE_SHAPLEY_INTERNAL_H
#define PXI_ATTRIBUTE_SHAPLEY_INTERNAL_H

#include <internal/shapley.h>

#include <internal/pass.h>

typedef struct pxi_feed_list { /* what a restart is fed with, shapes for one sample */
    px_feed *feeds;            /* the first is where it starts */
    size_t *sizes;             /* elements per sample */
    size_t count;
} pxi_feed_list;

typedef struct pxi_game {
    px_shapley_layer layer;
    int tap, axis;                       /* a value, and its channel axis */
    size_t size, outer, channels, inner; /* of one sample of the tap, row-major */
    bool additive;                       /* there is such a z */
    bool by_parts;                       /* masked rows start there */
    pxi_feed_list start, slope;          /* at z, if there is one, or the tap; at the tap */
    float *base;                         /* z without any channel; NULL: not had yet */
    /* of the pair that was loaded; side 0 is x, side 1 is x + dx */
    uint64_t pair;
    float *full[2];           /* what masked rows start at where nothing is masked */
    float *parts[2];          /* by_parts: [channels][start.sizes[0]] */
    bool *null;               /* per channel: zero on both sides, so that nothing depends on it */
    pxi_pass *alone, *masked; /* one channel at a time; masked rows */
    pxi_pass *stem, *slopes;  /* the diagonal: from the layer to z, and what is behind */
} pxi_game;

struct px_shapley {
    const px_model *model;
    px_scores scores;
    px_probe *probe;
    px_tap tap;
    pxi_workers *workers; /* of all passes that do not say otherwise */
    px_feed input;        /* one sample */
    size_t input_size;
    pxi_game *games;
    size_t game_count;
    int64_t neuron_count;
    int *kept; /* taps, and what restarts are fed with */
    size_t kept_count;
    pxi_pass *whole;  /* keeps them, on a lane of its own */
    pxi_pass *judged; /* keeps nothing but the scores */
    pxi_pass *taps;   /* as whole, for the diagonal of one layer at a time */
    uint64_t pair;    /* counts pairs that were loaded; 0: none */
    /* the diagonal: trunk is the part that is the same at all nodes, if there is one */
    bool has_trunk;
    pxi_pass *trunk, *crown;
};

/* --- shapley.c ------------------------------------------------------------------------------- */

/* A pass whose jobs start the network at the first `count` of `from`, with `batch` samples; open
 * already: nothing. `workers` NULL: a lane of its own. */
px_status pxi_shapley_start(px_shapley *s, const px_feed *from, size_t count, int64_t batch,
                            const px_plan_options *wants, const pxi_visitor *visitor,
                            pxi_workers *workers, pxi_pass **pass, px_error *err);
/* The whole network for so many samples, keeping all that restarts are fed with. */
px_status pxi_shapley_keep_all(px_shapley *s, int64_t batch, const pxi_visitor *visitor,
                               pxi_workers *workers, pxi_pass **pass, px_error *err);
/* How many rows of that many floats to run at a time: an even number. */
int64_t pxi_rows_at_a_time(size_t floats);

/* --- shapley_segment.c ----------------------------------------------------------------------- */

/* The last value behind `tap` that is base + sum over channels of what each puts in, for factors of
 * channels that are not negative; -1: there is none behind a linear operator. `scores` is not
 * passed. */
int pxi_segment_end(const px_graph *graph, int tap, int axis, int scores);
/* Whether `value` lies on the way from `tap` to `end`, which were found so, `end` included. */
bool pxi_segment_has(const px_graph *graph, int tap, int end, int value);

/* --- shapley_game.c -------------------------------------------------------------------------- */

px_status pxi_game_init(px_shapley *s, pxi_game *game, const px_layer *layer, px_error *err);
void pxi_game_done(pxi_game *game);
/* z of a network whose layer is silent. */
px_status pxi_game_base(px_shapley *s, pxi_game *game, px_error *err);
/* Gets a game ready for masked rows of the pair that pxi_shapley_load() loaded. */
px_status pxi_game_load(px_shapley *s, pxi_game *game, px_error *err);
/* Runs the whole network on both inputs of a pair. */
px_status pxi_shapley_load(px_shapley *s, const px_shapley_pair *pair, px_error *err);

/* Masked rows: a job on a lane of game->masked starts with all channels or with none, takes
 * channels out or puts them in, writes what it has as row r of at most pxi_game_rows(), and runs
 * them. */
int64_t pxi_game_rows(const pxi_game *game);
px_status pxi_mask_open(const px_shapley *s, const pxi_game *game, pxi_lane *lane, int64_t label,
                        px_error *err);
void pxi_mask_all(const pxi_game *game, pxi_lane *lane);
void pxi_mask_none(const pxi_game *game, pxi_lane *lane);
void pxi_mask_remove(const pxi_game *game, pxi_lane *lane, int64_t channel);
void pxi_mask_add(const pxi_game *game, pxi_lane *lane, int64_t channel);
void pxi_mask_write(const pxi_game *game, pxi_lane *lane, int64_t row);
/* utilities[r] = u of row r. */
px_status pxi_mask_run(const px_shapley *s, const pxi_game *game, pxi_lane *lane, int64_t rows,
                       double *utilities, px_error *err);

/* --- shapley_exact.c, shapley_sample.c: of the pair that was loaded -------------------------- */

px_status pxi_shapley_exact(px_shapley *s, size_t layer, const px_shapley_pair *pair,
                            double *values, double *utilities, px_error *err);
px_status pxi_shapley_sample(px_shapley *s, size_t layer, const px_shapley_sampling *options,
                             const px_shapley_pair *pair, px_shapley_estimate *estimate,
                             px_error *err);

/* --- shapley_norm.c -------------------------------------------------------------------------- */

/* The values of one layer on the scale of a norm; `out` may be `values`. */
void pxi_shapley_scale(px_shapley_norm norm, const double *values, int64_t count, double *out);

#endif
