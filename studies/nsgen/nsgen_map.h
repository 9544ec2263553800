/* studies/nsgen/nsgen_map.h - faults on a map, between its files */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_NSGEN_MAP_H
#define PXI_STUDY_NSGEN_MAP_H

#include "base/worker_pool.h"
#include "nsgen/nsgen_study.h"

#include <internal/map.h>

enum {
    NG_MAP_FAULTS = 500, /* of each guide, drawn at random */
    NG_MAP_NEAR = 15,    /* neighbours that are looked at */
    NG_MAP_DRAWS = 999,  /* permutations */
};

/* The paper's four, then what could stand in NSGen's place: its control, and no guide. */
enum { NG_MAP_NSGEN, NG_MAP_KMNC, NG_MAP_DSC, NG_MAP_NLC, NG_MAP_LABEL, NG_MAP_RANDOM, NG_MAP_ALL };
extern const char *const ng_map_guides[NG_MAP_ALL];

/* Whether `other` is one that `guide` is compared with: KMNC, DSC and NLC; of these three the four
 * without itself. */
bool ng_map_rival(size_t guide, size_t other);

void ng_map_prefix(const px_study *study, size_t subject, char key[CELL_KEY]);
/* FOLDER/figures/DATASET_ARCH_map_R.csv; the caller frees it, NULL: out of memory. */
char *ng_map_path(const px_study *study, size_t subject, int64_t run);

/* The columns of that file. */
#define NG_MAP_HEADER "guide,label,prediction,only,alone,x,y"

typedef struct ng_map_guide {
    double faults; /* NaN: no campaign */
    int64_t *pair; /* of classes, ng_map_pair(); ascending, each once */
    size_t pair_count, pair_room;
    size_t first, count; /* of its points on the map, which are in random order */
    size_t used;         /* of these, where as many of each count */
} ng_map_guide;

typedef struct ng_map_work {
    px_study *study;
    const study_job *job;
    px_model *model;
    px_map *map;
    ng_map_guide guide[NG_MAP_ALL];
    bool *only, *alone; /* per point: its pair is no rival's; its neighbours are its guide's */
    cell_list cell;
} ng_map_work;

/* A true and a predicted class as one number; -1: not both are known. */
int64_t ng_map_pair(int64_t label, int64_t prediction);
size_t ng_map_pairs_sort(int64_t *pair, size_t count); /* each once; returns how many are left */

/* Error types and regions of a guide: into the cell and the flags of points. */
px_status ng_map_types(ng_map_work *work, size_t guide, px_error *err);
px_status ng_map_regions(ng_map_work *work, size_t guide, px_pool *workers, px_error *err);

typedef struct ng_map_alone { /* how many of a guide's faults have only its own around them */
    double share;             /* NaN: there are none */
    double chance;            /* expected where guides are permuted */
    double p;                 /* of permutations with a share as large */
} ng_map_alone;

/* Of n points with their k nearest, near[n][k]; `own` are the guide's, `flags` (may be NULL) become
 * those that are alone. */
ng_map_alone ng_map_count_alone(const uint32_t *near, size_t n, size_t k, const bool *own,
                                bool *flags, bool *scratch, uint64_t seed, uint32_t item);

#endif
