/* include/internal/exemplars.h - what drives a unit most: its top inputs, with masks
 *
 *     px_exemplar_options options = px_exemplar_options_default();   // the stage layers, 15 each
 *     px_exemplars_collect(model, photos, &pre, &options, &e, &err);
 *     px_unit unit = px_exemplars_unit(e, layer, 7);                 // level, scores, indices
 *     px_exemplars_mask(e, layer, 7, 0, 32, 32, mask, &err);         // of its first exemplar
 *     px_exemplars_save(e, photos, most, "exemplars", &err);         // MILANNOTATIONS layout
 *
 * A *unit* is a channel of a layer, a neuron of a dense one. Its exemplars are the inputs on which
 * the maximum of its map is largest (ties: the lower index); its *level* is a quantile of all
 * values of its map over the data; the mask of an exemplar is where the map, brought to the
 * picture's size, exceeds the level (Hernandez et al., *Natural Language Descriptions of Deep
 * Visual Features*; NSGen after it). Values that are no finite numbers are left out and counted.
 *
 * The data are run through the network three times (twice at most with `approximate`); memory does
 * not grow with their number. Results do not depend on threads or batch. An object is immutable and
 * may be shared by threads.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_EXEMPLARS_H
#define PXI_INTERNAL_EXEMPLARS_H

#include <plexor/data.h>
#include <plexor/probe.h>

PX_BEGIN_DECLS

typedef struct px_exemplars px_exemplars;

#define PX_EXEMPLARS_MOST 256                    /* exemplars of a unit */
#define PX_EXEMPLAR_MAPS_MOST ((int64_t)4 << 30) /* bytes of all maps that are kept */

typedef struct px_exemplar_options {
    const char *layers; /* as px_probe_options has them; NULL: the last convolution of each spatial
                           size, or what stands in for it ("stages") */
    int64_t count;      /* exemplars of a unit; fewer where the data have fewer inputs */
    double quantile;    /* of the level, type 7 */
    bool zero_padded;   /* masks: zeros around the maps, as published code has */
    bool approximate;   /* the level from a histogram of 65,536 bins, in one pass over the data */
    int threads;        /* <= 0: one per core */
    int64_t batch;      /* 0: chosen by plexor */
    px_progress_fn progress; /* counts inputs, over all passes; false cancels */
    void *progress_context;
} px_exemplar_options;
px_exemplar_options px_exemplar_options_default(void); /* 15, 0.99 */

/* On PX_OK the caller owns *out. `model`, `set` and `pre` are borrowed during the call. PX_E_USAGE
 * for layers whose units have no map (recurrent ones over several steps, attention), and where
 * maps would take more than PX_EXEMPLAR_MAPS_MOST. */
px_status px_exemplars_collect(const px_model *model, const px_dataset *set,
                               const px_preprocess *pre, const px_exemplar_options *options,
                               px_exemplars **out, px_error *err);
void px_exemplars_free(px_exemplars *exemplars); /* NULL is fine */

typedef struct px_exemplar_layer {
    const char *name;       /* px_layer.name */
    int64_t units;          /* channels */
    const int64_t *numbers; /* of the units in the network; NULL: 0, 1, 2 ... */
    int h, w;               /* of the maps; 1 x 1 where the layer has no extent; 0: maps unknown */
} px_exemplar_layer;
size_t px_exemplars_layer_count(const px_exemplars *exemplars);
const px_exemplar_layer *px_exemplars_layer(const px_exemplars *exemplars, size_t layer);

typedef struct px_exemplar {
    int64_t index;    /* of the input in the data set */
    int64_t source;   /* px_dataset_index() of it */
    double score;     /* the maximum of the map */
    const float *map; /* h * w, borrowed; NULL: unknown (loaded from a layout without maps) */
} px_exemplar;

typedef struct px_unit {
    double level;           /* NaN: unknown, or no finite value */
    double most, least;     /* of its values over the data; NaN: unknown */
    bool inactive;          /* nowhere above its level: dead or constant */
    int64_t not_finite;     /* values left out */
    int64_t count;          /* of exemplars */
    const px_exemplar *top; /* [count], best first; borrowed */
} px_unit;
px_unit px_exemplars_unit(const px_exemplars *exemplars, size_t layer, int64_t unit);

/* The mask of exemplar j as H x W bytes of 0 and 1. All zeros where the unit is inactive. */
px_status px_exemplars_mask(const px_exemplars *exemplars, size_t layer, int64_t unit, int64_t j,
                            int H, int W, uint8_t *out, px_error *err);

typedef struct px_exemplar_facts {  /* of the run that made them; loaded ones may lack some */
    uint64_t model_hash, data_hash; /* 0: unknown */
    int64_t inputs;                 /* that were looked at; 0: unknown */
    int64_t count;                  /* asked for, per unit */
    double quantile;
    bool zero_padded, approximate;
    int height, width; /* of the pictures */
} px_exemplar_facts;
px_exemplar_facts px_exemplars_facts(const px_exemplars *exemplars);

/* A contact sheet: a row for each of units[0..count-1] of a layer, its exemplars best first with
 * their masks tinted; texts[i] (NULL: none, also of all) stands under the first of row i. `path`
 * ends with .png or .svg. `set` is the one they were collected from. */
px_status px_exemplars_sheet(const px_exemplars *exemplars, const px_dataset *set, size_t layer,
                             const int64_t *units, size_t count, const char *const *texts,
                             const char *path, px_error *err);

/* --- on disk ------------------------------------------------------------------------------------
 *
 * The layout of MILANNOTATIONS: a folder per layer with images.npy (uint8 [units,k,3,H,W]),
 * masks.npy (uint8 [units,k,1,H,W]), units.npy where not all units are there, activations.csv and
 * ids.csv (units x k); at the root annotations.csv, where there is one (layer,unit,summary). What
 * plexor adds is in files that readers of the layout do not look at: maps.npy and levels.csv per
 * layer, exemplars.json at the root. A character of a layer's name that cannot be in a file name is
 * written as %XX. Pictures of one channel are repeated, float values scaled to 0..255.
 */

/* What pictures and masks of all exemplars take. */
uint64_t px_exemplars_bytes(const px_exemplars *exemplars);
/* `set` is the one they were collected from. The folder is made; one that has layers of other
 * exemplars is refused. Where pictures and masks would take more than `most` bytes they are left
 * out: ids.csv says which inputs they are. */
px_status px_exemplars_save(const px_exemplars *exemplars, const px_dataset *set, uint64_t most,
                            const char *folder, px_error *err);

/* plexor's own or anybody's. Pictures and masks are read when they are asked for. */
px_status px_exemplars_load(const char *folder, px_exemplars **out, px_error *err);

/* The picture of exemplar j of loaded ones: 3 * height * width bytes (px_exemplars_facts), planes
 * of red, green, blue. PX_E_USAGE for those that were collected: their data set has it. */
px_status px_exemplars_picture(const px_exemplars *exemplars, size_t layer, int64_t unit, int64_t j,
                               uint8_t *out, px_error *err);

typedef struct px_milan_annotations px_milan_annotations; /* what people wrote about units */
typedef struct px_milan_annotation {
    const char *layer; /* as the file has it */
    int64_t unit;
    const char *summary; /* UTF-8, lower case, blanks in a row made one */
} px_milan_annotation;

/* annotations.csv: RFC 4180, columns found by name; rows with an empty summary are left out. */
px_status px_milan_annotations_load(const char *path, px_milan_annotations **out, px_error *err);
void px_milan_annotations_free(px_milan_annotations *annotations); /* NULL is fine */
size_t px_milan_annotations_count(const px_milan_annotations *annotations);
const px_milan_annotation *px_milan_annotations_get(const px_milan_annotations *annotations,
                                                    size_t i);

/* --- annotation vectors -------------------------------------------------------------------------
 *
 *     px_annotator_options o = px_annotator_options_default();      // the network itself, and
 * pixels px_annotator_new(model, photos, &pre, &o, &annotator, &err); px_annotator_run(annotator,
 * pairs, 15 * units, features, &err);   // [pair][size]
 *
 * What an encoder sees inside a mask: the masked mean (or sum) of every channel of its stages (Eq 6
 * to 8). Each distinct picture is encoded once per call. An annotator belongs to one thread.
 * Features are raw: standardising them by the mean and deviation of training is the captioner's.
 */
typedef struct px_annotator px_annotator;

typedef struct px_annotator_options {
    const char *encoder; /* "self+pixels": stages of the model, R, G, B, their squares, x and y;
                            "self"; "pixels"; or the path of an ONNX file */
    const char *taps; /* layers of the encoder as px_probe_options has them; NULL: stage layers */
    const char *mean, *std, *scale; /* of an ONNX encoder, as px_preprocess_init() has them */
    bool sum;                       /* pool=sum: Eq 6 to the letter, instead of the masked mean */
    int threads;
    int64_t batch;
    px_progress_fn progress; /* counts distinct pictures */
    void *progress_context;
} px_annotator_options;
px_annotator_options px_annotator_options_default(void);

/* `model`, `set` and `pre` are borrowed and must outlive the annotator. */
px_status px_annotator_new(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                           const px_annotator_options *options, px_annotator **out, px_error *err);
void px_annotator_free(px_annotator *annotator);          /* NULL is fine */
int64_t px_annotator_size(const px_annotator *annotator); /* features of a pair */

typedef struct px_annotated_pair {
    int64_t index;         /* in the data set; not read where there are pixels */
    const uint8_t *pixels; /* NULL, or the picture itself: planes of red, green, blue */
    int height, width;     /* of the mask, and of `pixels` */
    const uint8_t *mask;   /* height x width; an empty one makes zeros */
} px_annotated_pair;

/* features is [count][px_annotator_size()]. Pairs with the same `pixels` pointer share a picture.
 */
px_status px_annotator_run(px_annotator *annotator, const px_annotated_pair *pairs, size_t count,
                           float *features, px_error *err);

PX_END_DECLS
#endif
