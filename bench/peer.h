/* bench/peer.h - what a C peer of bench/engine, train and cover is: a process that stays alive and
 * is asked for rounds
 *
 * Requests come as lines on stdin, one reply line each on stdout:
 *
 *     open ID MODEL KIND BATCH THREADS LAYOUT    ready KEY=VALUE ... | error TEXT
 *     run ID SECONDS                             rate BY_CLOCK BY_CPU | error TEXT
 *     close ID                                   closed
 *     peak                                       peak GFLOPS
 *
 * Rates are images per second of the clock, and per second of CPU time times THREADS: on a machine
 * that others use too the second one is what is left to compare. KIND is forward, grad,
 * trace, train or cover.
 * Every peer fills its inputs by peer_fill(), so that the driver can see from the `check` values of
 * the `ready` line that all of them compute the same.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_BENCH_PEER_H
#define PLEXOR_BENCH_PEER_H

#include <plexor/engine.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PEER_TEXT = 8192,
    PEER_NETS = 256,
    PEER_WORKERS = 64,
    PEER_CLASSES_SHOWN = 10,
    PEER_SLOPES_SHOWN = 256, /* of a gradient */
};

typedef struct peer_request {
    char model[1024], kind[16], layout[16];
    int64_t batch; /* 0: the peer's own choice */
    int threads;
} peer_request;

typedef struct peer_net {
    void *state;
    int64_t batch;
    int workers; /* threads that call step() at the same time */
    int threads; /* as requested: workers times what each may use itself */
} peer_net;

typedef struct peer {
    /* Makes a network ready and runs it once. `text` gets the KEY=VALUE pairs, or the error. */
    bool (*open)(const peer_request *request, peer_net *net, char text[PEER_TEXT]);
    /* Puts one batch through, as worker 0 <= worker < net->workers. */
    bool (*step)(const peer_net *net, int worker, char text[PEER_TEXT]);
    void (*close)(peer_net *net); /* of a half-opened one too */
} peer;

/* Answers requests until stdin ends; the exit status of main(). */
int peer_serve(const peer *self);

/* The same pseudo-random numbers in [-1, 1) in every peer. */
void peer_fill(float *x, size_t count);

/* Training, in every peer: these steps when a network is opened, whose losses are the `check`
 * values, then steps so small that the work stays the same for as long as one likes. */
#define PEER_TRAIN_CHECKED 3
#define PEER_TRAIN_RATE 0.01
#define PEER_TRAIN_REST 1e-6
#define PEER_TRAIN_MOMENTUM "0.9"

/* Labels are sample index modulo class count, in every peer. */
static inline int peer_label(int64_t sample, int classes)
{
    return (int)(sample % classes);
}

/* Appends " KEY=a,b,c" to a reply. */
void peer_append_values(char text[PEER_TEXT], const char *key, const float *values, size_t count);
/* Appends how many kernels of the plan are oneDNN's reference ones, and which. */
void peer_append_kernels(char text[PEER_TEXT], const px_plan *plan);
void peer_append(char text[PEER_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
