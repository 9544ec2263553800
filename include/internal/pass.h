/* include/internal/pass.h - the one way through a network
 *
 *     pxi_task task = {.model = model, .set = set, .pre = pre, .count = count, .threads = threads};
 *     px_plan_options wants = px_plan_options_default();      // what is kept, observed, seeded
 *     pxi_visitor visitor = {.context = &sums, .visit = look};
 *     PX_TRY(pxi_pass_once(&task, &wants, &visitor, err)); // fill, forward, visit: all inputs
 *
 * A *task* says what goes through which network. A *pass* is a task made ready: the plan, and for
 * every worker a *lane* with a session and the visitor's own state. Whoever has data for a network
 * comes through here and makes no sessions of its own, so that a device or other machines have one
 * place to come in: the executor, whose workers do the jobs (executor.h).
 *
 * Whatever a visitor writes is keyed by item, or joined from the lanes by something that does not
 * depend on who did what: results are the same for any number of workers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PASS_H
#define PXI_INTERNAL_PASS_H

#include <internal/executor.h>

#include <plexor/data.h>
#include <plexor/text.h>

typedef struct pxi_pass pxi_pass;

typedef struct pxi_task {
    const px_model *model;
    const px_dataset *set; /* NULL: `sample` says the shape, and the visitor fills */
    const px_preprocess *pre;
    px_shape sample;        /* of an input, where there is no set */
    const px_feed *feeds;   /* NULL, or what the network is given instead, shapes with the batch; */
    size_t feed_count;      /* without any of the three as declared. Jobs fill that by themselves */
    const int64_t *indices; /* item i is this input of the set; NULL: input i */
    int64_t count;          /* items; 0: not known yet */
    int threads;            /* 0: one per core; never more lanes than items that are known */
    pxi_workers *workers;   /* NULL, or whose lanes are used instead; they outlive the pass */
    int64_t batch;          /* network inputs at a time; 0: chosen, */
    int64_t max_batch;      /* but at most this; 0: the number of network inputs */
    bool even;              /* a chosen batch is made smaller, so that max_batch needs no padding */
    px_progress_fn progress;
    void *progress_context;
} pxi_task;

typedef struct pxi_lane { /* what one worker has */
    const pxi_pass *pass;
    int number;
    px_session *session;
    void *state;   /* visitor->state_size bytes */
    void *context; /* the visitor's */
    int64_t job;   /* the one at work */
    bool has_turn;
} pxi_lane;

/* Some network inputs behind each other. Input r of it is view (row + r) % views of item
 * first + (row + r) / views. */
typedef struct pxi_batch {
    int64_t first; /* item of row 0 of the piece */
    int64_t row;   /* of the piece's, the batch's first */
    int64_t count; /* network inputs */
    bool last;     /* of the piece: all views of its items have been run */
} pxi_batch;

/* What the jobs of one run leave, where that is all that anybody looks at afterwards: then the run
 * can be divided among ranks (ranks.h), and all get what the others' jobs left. Job j leaves, in
 * each array, `size` bytes for each of the units [j * each, (j + 1) * each) below `count`, and what
 * pack() adds. What is the same for all jobs or left in lanes is not keyed, and such a run not
 * divided. The first jobs may be ones that every rank does, and leave nothing: j counts from those
 * behind them then. */
enum { PXI_LEFT_ARRAYS = 40 };
typedef struct pxi_left {
    int64_t each, count; /* of items, where these are run: filled in */
    int64_t beside;      /* jobs that every rank does */
    bool in_turn;        /* jobs are few, short and alike: dealt out without asking who has time */
    struct {
        void *base; /* NULL: none */
        size_t size;
    } array[PXI_LEFT_ARRAYS];
    void *context;
    px_status (*pack)(void *context, int64_t job, px_text *to, px_error *err);
    /* On the caller's thread, after all jobs; other ranks' in ascending order for each of them. */
    px_status (*unpack)(void *context, int64_t job, const char *bytes, size_t size, px_error *err);
} pxi_left;

typedef struct pxi_visitor {
    void *context;
    size_t state_size; /* per lane, zeroed */
    int views;         /* network inputs that an item has; 0: 1 */
    bool ordered;      /* pxi_pass_turn() may be called */
    /* Before a lane's first batch; lanes in order. May take memory by pxi_lane_array(). */
    px_status (*open)(pxi_lane *lane, px_error *err);
    /* Writes one network input. Views of an item come in order. NULL: the set's input. */
    px_status (*fill)(pxi_lane *lane, int64_t item, int view, float *input, px_error *err);
    px_observer observe; /* its context is the lane; NULL: nobody observes */
    /* Before forward, after the inputs were written; NULL: nothing. */
    px_status (*begin)(pxi_lane *lane, const pxi_batch *batch, px_error *err);
    /* After forward; NULL: nothing, as for who observes. */
    px_status (*visit)(pxi_lane *lane, const pxi_batch *batch, px_error *err);
    void (*close)(pxi_lane *lane); /* of lanes with a state, also where open() failed */
    const pxi_left *left;          /* by runs over all items; NULL: not said */
} pxi_visitor;

/* Wants the class scores, and nothing else. `scores` must outlive the opening of the pass. */
px_plan_options pxi_wants_scores(const px_scores *scores);

/* Wants the class scores, and their gradients by the network's input, whose value *input is then.
 * Both must outlive the opening. Refuses networks in which no way leads from the scores to the
 * input. */
px_status pxi_wants_gradient(const px_model *model, const px_scores *scores, int *input,
                             px_plan_options *wants, px_error *err);

/* `wants` has no feeds and no batch: those are the task's. */
px_status pxi_pass_open(const pxi_task *task, const px_plan_options *wants,
                        const pxi_visitor *visitor, pxi_pass **out, px_error *err);
void pxi_pass_close(pxi_pass *pass); /* NULL is fine */

/* What does its jobs: for the tasks of other passes, whose lanes are then as many. A job on lane i
 * may use lane i of all of them. */
pxi_workers *pxi_pass_workers(const pxi_pass *pass);
int pxi_pass_lanes(const pxi_pass *pass);
pxi_lane *pxi_pass_lane(const pxi_pass *pass, int number);
px_plan *pxi_pass_plan(const pxi_pass *pass);
int64_t pxi_pass_batch(const pxi_pass *pass);
int64_t pxi_pass_rows(const pxi_pass *pass);  /* network inputs of a piece, at most */
size_t pxi_pass_floats(const pxi_pass *pass); /* of a network input */

/* Memory that lives as long as the lane: zeroed. NULL when there is none left, and then what
 * opened the lane fails, saying so: open() need not look. */
void *pxi_lane_array(pxi_lane *lane, size_t count, size_t size);

/* Network input `row` of the lane's batch, to be written before forward. */
float *pxi_lane_input(const pxi_lane *lane, int64_t row);
/* The set's input `item` of the task, preprocessed. */
px_status pxi_lane_read(const pxi_lane *lane, int64_t item, float *input, px_error *err);
/* What stands beside row `row` (pxi_sample_beside) of the set's input `index`, for who writes
 * inputs itself; pxi_lane_read() does it for what it reads. Of regression that is the target: index
 * -1 is none, as rows have at first, and then the row is neither right nor wrong. */
px_status pxi_lane_beside(const pxi_lane *lane, int64_t row, const px_dataset *set, int64_t index,
                          px_error *err);
/* Zeros behind the first `rows` network inputs. */
void pxi_lane_pad(const pxi_lane *lane, int64_t rows);
/* Runs `rows` network inputs that were written; those behind them are zeros. */
px_status pxi_lane_forward(pxi_lane *lane, int64_t rows, px_error *err);
/* After forward: class scores of one row, in order. */
px_status pxi_scores_row(const px_session *session, const px_scores *scores, int64_t row,
                         float *out, px_error *err);

/* Other items from now on. */
void pxi_pass_over(pxi_pass *pass, const int64_t *indices, int64_t count);
/* Who is told of progress from now on. */
void pxi_pass_watch(pxi_pass *pass, px_progress_fn progress, void *context);

/* What the jobs of the next run leave, and of no other: borrowed until that is over. */
void pxi_pass_leaves(pxi_pass *pass, const pxi_left *left);

/* All items of the task: fills, runs and visits. */
px_status pxi_pass_run(pxi_pass *pass, px_error *err);

/* The same as part of something that ends by itself: tells nobody, and nothing cancels it. */
px_status pxi_pass_all(pxi_pass *pass, px_error *err);
/* The whole of it: opens, with no more lanes than there is work for, runs and closes. */
px_status pxi_pass_once(const pxi_task *task, const px_plan_options *wants,
                        const pxi_visitor *visitor, px_error *err);

/* Jobs 0..count-1 that fill, run and read by themselves. When `n` of them are done, progress is
 * before + n * each of total. Where there is none to tell (NULL), nothing cancels the jobs either:
 * they are part of something that ends by itself. */
typedef struct pxi_share {
    int64_t before, each, total;
} pxi_share;
typedef px_status (*pxi_job_fn)(void *context, pxi_lane *lane, int64_t job, px_error *err);
px_status pxi_pass_each(pxi_pass *pass, int64_t count, const pxi_share *share, pxi_job_fn work,
                        void *context, px_error *err);

/* Waits until all jobs before this lane's are done, so that what follows happens in the order of
 * jobs; the next job has its turn when this one ends. */
px_status pxi_pass_turn(pxi_lane *lane, px_error *err);

/* --- searches -----------------------------------------------------------------------------------
 *
 * Items that need the network an unknown number of times: attacks, climbs. Every lane has slots; an
 * empty one takes the next item, and steps are made for those that are taken until all items are
 * done. Items are handed out in ascending order, and all that were are begun: the first that cannot
 * be is the same for any number of workers.
 */
typedef struct pxi_stream {
    size_t slots; /* per lane */
    px_status (*begin)(pxi_lane *lane, size_t slot, int64_t item, px_error *err);
    /* Some work for some of the slots that are taken: at least one is. */
    px_status (*step)(pxi_lane *lane, px_error *err);
    bool (*done)(const pxi_lane *lane, size_t slot); /* after a step, of one that was taken */
} pxi_stream;
px_status pxi_pass_stream(pxi_pass *pass, int64_t count, const pxi_share *share,
                          const pxi_stream *stream, px_error *err);

#endif
