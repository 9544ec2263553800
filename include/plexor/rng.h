/* include/plexor/rng.h - random numbers by address
 *
 * Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011). The key is
 * the seed, the counter is (block, item, iteration, component), and each block gives four words
 * that are used in order. Whatever has the same address is the same number, on every thread and
 * shard: items and iterations are logical indices, never thread or batch numbers. Nothing is
 * shared.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_RNG_H
#define PLEXOR_RNG_H

#include <plexor/error.h>
#include <stddef.h>
#include <stdint.h>

PX_BEGIN_DECLS

/* Who draws. Numbers never change, or seeds would mean something else tomorrow. */
enum {
    PX_RNG_TEST = 0,          /* tests and benchmarks */
    PX_RNG_SHUFFLE = 1,       /* the order of a data set */
    PX_RNG_DIGITS = 2,        /* the procedural digits */
    PX_RNG_BENCH = 3,         /* inputs for throughput runs */
    PX_RNG_INIT = 4,          /* a new network's weights */
    PX_RNG_DROPOUT = 5,       /* what training drops */
    PX_RNG_EPOCH = 6,         /* the order of an epoch */
    PX_RNG_AUGMENT = 7,       /* crops and flips of training inputs */
    PX_RNG_POLLUTE = 8,       /* patches stamped into training inputs */
    PX_RNG_NOISE = 9,         /* labels made wrong on purpose */
    PX_RNG_MIX = 10,          /* the order of inputs that repair adds */
    PX_RNG_SAMPLE = 11,       /* which inputs take part, and which are held back */
    PX_RNG_NOISE_INPUT = 12,  /* inputs that are nothing but noise */
    PX_RNG_CLUSTER = 13,      /* where k-means starts */
    PX_RNG_MUTATE = 14,       /* which mutation, and its parameters */
    PX_RNG_MUTATE_NOISE = 15, /* what mutations that are noise put in */
    PX_RNG_SELECT = 16,       /* random orders and subsets of candidates */
    PX_RNG_BOOTSTRAP = 24,    /* resamples of confidence intervals */
    PX_RNG_TREES = 25,        /* which features a tree may look at */
    PX_RNG_PRIMA_MODEL = 26,  /* what PRIMA changes in a network */
    PX_RNG_PRIMA_INPUT = 27,  /* what PRIMA changes in an input */
    PX_RNG_FUZZ = 28,         /* which input a fuzzer picks next, and its seeds */
    PX_RNG_FUZZ_ENGINE = 29,  /* what engines that follow gradients choose */
    PX_RNG_STYLE = 30,        /* the generated style pictures */
    PX_RNG_BASELINE = 32,     /* neurons at random, to compare suspicious ones with */
    PX_RNG_DEEPXPLORE = 40,   /* neurons to cover, and places to black out */
    PX_RNG_DLFUZZ = 41,       /* neurons to raise */
    PX_RNG_ADAPT = 42,        /* vectors of weights, and their children */
    PX_RNG_SWARM = 43,        /* where particles begin, and what pulls them */
    PX_RNG_SWARM_CHANCE = 44, /* what a place is worth to a swarm without a guide */
    PX_RNG_ATTACK = 48,       /* where attacks begin */
    PX_RNG_ATTACK_AIM = 49,   /* which class they aim at */
    PX_RNG_CLEVER = 50,       /* points around an input */
    PX_RNG_CLEVER_POOL = 51,  /* which of them make a batch */
    PX_RNG_ADVERSARY = 52,    /* where attacks on training inputs begin */
    PX_RNG_SHAPLEY = 56,      /* orders in which neurons are taken out */
    PX_RNG_STUDY = 60,        /* what studies compare with */
    PX_RNG_TSNE = 64,         /* where the points of a map begin */
    PX_RNG_UMAP = 65,         /* where the points of a UMAP begin, and which repel */
    PX_RNG_WORDS = 72,        /* vectors of words that no corpus has */
    PX_RNG_VIRTUAL = 76,      /* virtual units: their recipes and their images */
    PX_RNG_DRAWN = 77,        /* drawn concepts: shapes, places and colours */
    PX_RNG_GATES = 78,        /* captions permuted */
    PX_RNG_PATH = 84,         /* decision paths: calibration images, the order of classes */
};

typedef struct px_random { /* a stream: open, 32 bytes, copy it to go back */
    uint32_t key[2];
    uint32_t counter[4]; /* of the block that comes next */
    uint32_t word[4];
    int used; /* of `word` */
} px_random;

PX_END_DECLS
#endif
