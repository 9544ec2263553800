/* include/internal/block_run.h - a data set through a network in blocks, on all workers
 *
 * Consumers look at rows: criteria and learners. Each worker has a state of its own for each
 * consumer, except that worker 0 uses the consumer's; at the end the others are merged into it.
 * Ordered consumers have one state only, and see the blocks in their order: a worker that has its
 * rows waits until it is its block's turn. Shared ones have one state too, for it is large; who
 * comes first goes first.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_BLOCK_RUN_H
#define PXI_INTERNAL_BLOCK_RUN_H

#include <internal/pass.h>
#include <internal/row_reader.h>

typedef struct pxi_consumer_kind {
    px_status (*open)(void *context, void **state, px_error *err);
    void (*close)(void *context, void *state);
    px_status (*observe)(void *context, void *state, const px_rows *rows, px_error *err);
    px_status (*merge)(void *context, void *state, void *other, px_error *err);
    /* What a state has seen, for other ranks; `state` of load() was just opened. Where it
     * cannot be sent (NULL, or not may_save()), every rank does all blocks. */
    px_status (*save)(void *context, const void *state, px_npz_writer *to, const char *prefix,
                      px_error *err);
    px_status (*load)(void *context, void *state, const px_npz *from, const char *prefix,
                      px_error *err);
    bool (*may_save)(const void *context); /* NULL: it may */
} pxi_consumer_kind;

typedef struct pxi_consumer {
    const pxi_consumer_kind *kind;
    void *context;
    size_t extractor;
    bool ordered, shared;
    void *state;                /* must be open; has everything in the end */
    int64_t observed, rejected; /* rows, added to what is there */
    double seconds;             /* of observing, on all workers; added */
} pxi_consumer;

typedef struct pxi_tally {
    px_cover_tally sum;
    double *extract_seconds;           /* per extractor; added */
    int64_t *by_label, *by_prediction; /* per class; NULL: nobody wants them; added */
} pxi_tally;

typedef struct pxi_block_job {
    const pxi_row_set *rows;
    const px_dataset *set;
    const px_preprocess *pre;
    int64_t batch;
    int threads;
    int64_t first, end; /* inputs; first is a multiple of PX_COVER_BLOCK */
    const bool *only;   /* per input; NULL: all */
    pxi_consumer *consumers;
    size_t consumer_count;
    /* After these many blocks of the job the states are merged and `stop` is called; ascending. */
    const int64_t *stops;
    size_t stop_count;
    px_status (*stop)(void *context, size_t i, px_error *err);
    void *stop_context;
    px_progress_fn progress;
    void *progress_context;
    pxi_tally *tally;
    pxi_left left;  /* arrays by input that consumers write beside their states */
    bool undivided; /* among ranks: there is more than `left` tells */
} pxi_block_job;

/* The inputs first..end-1 of part `shard` of `shards` (0 and 1: one), along blocks. */
px_status pxi_block_shard(int64_t count, int64_t shard, int64_t shards, pxi_block_job *job,
                          px_error *err);

/* *done (may be NULL) gets how many of the job's blocks are in the states, also where it was
 * cancelled. */
px_status pxi_block_run(const pxi_block_job *job, int64_t *done, px_error *err);

/* Of a cover with a network: what it reads, and what its i-th criterion opens states with. */
const pxi_row_set *pxi_cover_rows(const px_cover *cover);
const void *pxi_cover_prepared(const px_cover *cover, size_t i);

#endif
