/* include/plexor/preprocess.h - from stored pixels to a network's input
 *
 *     const px_preprocess_options how = {.preprocess = "imagenet"};
 *     px_preprocess_init(&pre, properties, count, &input_shape, &how, &err);
 *     px_dataset_open_for(&pre, &input_shape, "photos/", NULL, &set, &err); // <plexor/data.h>
 *
 * An input is (pixel * scale - mean) / std. Options beat a preset or file, that beats the network's
 * metadata, and those beat the defaults: pixels between 0 and 1, no mean, no std. docs/data.md has
 * the metadata, docs/doctor.md how to find out what a network wants.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_PREPROCESS_H
#define PLEXOR_PREPROCESS_H

#include <plexor/audio.h>
#include <plexor/json.h>
#include <plexor/property.h>
#include <plexor/registry.h>
#include <plexor/tensor.h>

PX_BEGIN_DECLS

#define PX_PREPROCESS_CHANNELS 16
#define PX_PREPROCESS_NOTE 320

typedef struct px_preprocess {
    float scale;
    float range;  /* what white becomes before mean and std, where scale follows from the data
                     (px_preprocess_fit); 0: scale is as given */
    int channels; /* how many of mean/stddev are used; with 1 it holds for every channel */
    float mean[PX_PREPROCESS_CHANNELS], stddev[PX_PREPROCESS_CHANNELS];
    int height, width;  /* what the network takes; 0: anything */
    int picture;        /* 1: grey, 3: colour, 0: as the data has it */
    bool bgr;           /* swap the first and third channel; mean and std are in that order too */
    bool channels_last; /* the network's input is (N, H, W, C) */
    const char *scale_from, *mean_from, *std_from, *size_from; /* "option", "metadata", "default" */
    px_audio audio; /* how recordings become features, where audio_from is not "default" */
    const char *audio_from;
    char note[PX_PREPROCESS_NOTE]; /* what was asked for and is not done, or is contradicted by
                                      something else: a sentence for the user; "": nothing */
} px_preprocess;

/* Ways that are in wide use: a static table. */
typedef struct px_preprocess_preset {
    px_entry entry;    /* its title is what reaches the network, its source who uses it */
    const char *alias; /* "0.5" for "half"; NULL: none */
    double range;      /* what white becomes before mean and std: 1, or 255 */
    int channels;      /* 1: mean and std hold for every channel */
    double mean[3], stddev[3];
    bool bgr;
} px_preprocess_preset;

typedef struct px_preprocess_options { /* texts as typed; NULL: not given */
    /* A preset, maybe with an order of channels ("imagenet:bgr"), or a file: a
     * `preprocessor_config.json` as Hugging Face has beside its networks. */
    const char *preprocess;
    /* Numbers or fractions ("1/255"), comma lists, a preset's id for its mean or std, "HxW". */
    const char *scale, *mean, *std, *size;
} px_preprocess_options;

/* Works out what a network wants from its metadata (px_model_properties) and the declared shape of
 * its first input (px_value; -1: free). `options` may be NULL. */
PX_API px_status px_preprocess_init(px_preprocess *pre, const px_property *properties,
                                    size_t property_count, const px_shape *input_shape,
                                    const px_preprocess_options *options, px_error *err);
/* Sets the scale where it follows from the data: range / 255 for 8-bit pixels; float values are
 * taken as 0 to 1. px_dataset_open_for() does it. */
PX_API void px_preprocess_fit(px_preprocess *pre, bool is_8bit);

/* Raw values of that shape (px_dataset_pixels, maybe changed) become a network input, in place. */
PX_API px_status px_preprocess_apply(const px_preprocess *pre, const px_shape *shape, float *values,
                                     px_error *err);

/* Lengths are in *scaled units*: after `scale`, before mean and std; 0 to 1 for 8-bit data. Reads
 * "0.1", "8/255", "10%" (of high - low); PX_E_USAGE naming `option`. */
PX_API px_status px_length_parse(const char *text, const char *option, double low, double high,
                                 double *out, px_error *err);

PX_END_DECLS
#endif
