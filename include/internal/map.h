/* include/internal/map.h - inputs on a plane, near each other where a layer finds them alike
 *
 *     px_map_options options = px_map_options_default();           // the last hidden layer
 *     px_map_new(model, &options, &map, &err);
 *     px_map_add(map, photos, &pre, "photos", &err);               // runs them through the network
 *     px_map_add(map, faults, &pre, "faults", &err);               // another origin, another mark
 *     px_map_lay(map, NULL, &err);                                 // t-SNE of all together
 *     px_map_save(map, "map.svg", "photos and faults", &err);      // or .csv
 *     px_map_free(map);
 *
 * The same inputs and settings give the same bytes, for any number of threads. A map belongs to one
 * thread at a time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_MAP_H
#define PXI_INTERNAL_MAP_H

#include <internal/umap.h>
#include <plexor/data.h>
#include <plexor/probe.h>

PX_BEGIN_DECLS

typedef struct px_map px_map;

#define PX_MAP_ORIGINS_MOST 32

typedef struct px_map_options {
    const char *layers; /* as px_probe_options has them, but NULL: "last-hidden" */
    const char *tap, *neurons;
    int threads;             /* 0: one per core */
    int64_t batch;           /* 0: chosen by plexor */
    px_progress_fn progress; /* counts inputs of a set, then iterations */
    void *progress_context;
} px_map_options;
px_map_options px_map_options_default(void);

/* `model` is borrowed and must outlive the map; texts are borrowed during the call only. */
px_status px_map_new(const px_model *model, const px_map_options *options, px_map **out,
                     px_error *err);
void px_map_free(px_map *map); /* NULL is fine */

/* Runs a data set through the network and keeps what the layer does. Sets are of one shape. An
 * input with a neuron that is not finite is left out and counted. `origin` is copied. A failure
 * leaves the map as it was. */
px_status px_map_add(px_map *map, const px_dataset *set, const px_preprocess *pre,
                     const char *origin, px_error *err);

/* Lays out all inputs (NULL: default settings, the perplexity lowered to what so many inputs
 * allow). `options->progress` and `threads` are the map's own. PX_E_USAGE and PX_E_INPUT as of
 * px_tsne(). */
px_status px_map_lay(px_map *map, const px_tsne_options *options, px_error *err);
/* The same by UMAP (NULL: default settings). PX_E_USAGE and PX_E_INPUT as of px_umap(). */
px_status px_map_lay_umap(px_map *map, const px_umap_options *options, px_error *err);
/* 30, or (n - 1) / 3 for fewer inputs. */
double px_map_perplexity(const px_map *map);

typedef struct px_map_point {
    int origin;
    int64_t index;      /* in its data set, before shuffle and offset */
    int64_t label;      /* -1: none */
    int64_t prediction; /* -1: the network has no class scores */
    double x, y;        /* NaN before px_map_lay() */
} px_map_point;
size_t px_map_count(const px_map *map);
px_map_point px_map_get(const px_map *map, size_t i); /* in the order of adding */

typedef struct px_map_origin {
    const char *name;
    int64_t count;      /* points */
    int64_t not_finite; /* inputs left out */
    int64_t right;      /* points whose prediction is their label; of labelled ones */
    int64_t labelled;   /* points that have a label and a prediction */
} px_map_origin;
int px_map_origin_count(const px_map *map);
px_map_origin px_map_origin_get(const px_map *map, int i);

typedef struct px_map_quality { /* of the layout; NaN before px_map_lay() */
    double kl, trustworthiness; /* of 5 neighbours (fewer for few inputs); UMAP has no kl */
    double perplexity;          /* of t-SNE */
    int iterations, neighbours; /* or epochs; and that trustworthiness was taken over */
    bool exact;
    bool umap;
    int graph_neighbours; /* of UMAP: that an input is tied to, itself among them */
    double min_dist;
    size_t dimensions, neurons; /* that distances were taken in, and of the layer */
    size_t vague;               /* see px_tsne_map, px_umap_map */
    size_t trust_sample;        /* points that trustworthiness was taken over */
} px_map_quality;
px_map_quality px_map_quality_get(const px_map *map);
const px_probe *px_map_probe(const px_map *map); /* NULL before px_map_add() */
/* What the layer does, [px_map_count()][*width]; borrowed until inputs are added. */
const float *px_map_rows(const px_map *map, size_t *width);

/* Names for classes in pictures; copied. Without, numbers. */
px_status px_map_name_class(px_map *map, int c, const char *name, px_error *err);

/* As the name ends: .svg (colour by label, mark by origin), or .csv (origin, index, name,
 * label, prediction, x, y). Whole or not at all. `title` may be NULL. */
px_status px_map_save(const px_map *map, const char *path, const char *title, px_error *err);
/* PX_E_USAGE where a name ends otherwise: before work is spent on it. */
px_status px_map_save_check(const char *path, px_error *err);

PX_END_DECLS
#endif
