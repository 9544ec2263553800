/* src/cli/cli_net.h - option groups and openings that commands with a network share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_NET_H
#define PLEXOR_CLI_NET_H

#include "cli/cli.h"

#include <internal/classes.h>
#include <internal/data.h>
#include <plexor/engine.h>
#include <plexor/onnx.h>
#include <plexor/probe.h>
#include <plexor/task.h>

typedef struct cli_workers {
    int64_t threads, batch; /* 0: chosen by plexor */
} cli_workers;

#define CLI_WORKER_OPTIONS(w)                                                                \
    CLI_INT('j', "threads", &(w)->threads, "N", 0, 1024, "worker threads; 0: one per core"), \
        CLI_INT(0, "batch", &(w)->batch, "N", 0, 65536,                                      \
                "inputs per worker at a time; 0: chosen to keep activations in the cache")

typedef struct cli_data {
    const char *spec, *split;
    int64_t limit, offset, seed;
    bool shuffle, skip_damaged, any_classes;
    px_preprocess_options pixels;
    const char *audio;
} cli_data;

#define CLI_DATA_DEFAULT \
    {                    \
        .split = NULL    \
    }
/* How pixels become a network's input. */
#define CLI_PIXEL_OPTIONS(p)                                                               \
    CLI_STRING(0, "preprocess", &(p)->preprocess, "NAME|FILE",                             \
               "scale, mean and std at once: one of 'plexor list preprocess', or Hugging " \
               "Face's preprocessor_config.json"),                                         \
        CLI_STRING(0, "scale", &(p)->scale, "X",                                           \
                   "pixels are multiplied by this first; 1/255 for 8-bit data, else 1"),   \
        CLI_STRING(0, "mean", &(p)->mean, "LIST",                                          \
                   "then subtracted, one number or one per channel, or a preset's"),       \
        CLI_STRING(0, "std", &(p)->std, "LIST", "then divided by"),                        \
        CLI_STRING(0, "size", &(p)->size, "HxW", "resize images to this")

/* Of commands that change inputs. */
#define CLI_RANGE_OPTION(target)        \
    CLI_STRING(                         \
        0, "range", target, "LOW,HIGH", \
        "what a scaled value may be; 0 to 255 levels for 8-bit data, else 0,1 or the data's")

#define CLI_CLASSES_OPTION                                                                  \
    CLI_STRING(0, "classes", &cli_now()->class_list, "FILE|LIST",                           \
               "names of the network's classes in its order, where it has none or others; " \
               "none: labels go by the order of the data's classes")

/* Of commands that feed data to a network. */
#define CLI_NETWORK_OPTIONS                                                                       \
    CLI_CLASSES_OPTION,                                                                           \
        CLI_STRING(0, "task", &cli_now()->task, "classification|regression",                      \
                   "what the network does; regression: it gives numbers, and data have targets"), \
        CLI_STRING(0, "tolerance", &cli_now()->tolerance, "X",                                    \
                   "regression: an output further than this from its target is wrong"),           \
        CLI_STRING(0, "tokenizer", &cli_now()->tokenizer, "FILE",                                 \
                   "of texts: vocab.txt (WordPiece), or vocab.json or merges.txt (BPE); beside "  \
                   "the network without it"),                                                     \
        CLI_INT(0, "tokens", &cli_now()->tokens, "N", 0, 65536,                                   \
                "of a text, where the network leaves it open; 0: 128")

#define CLI_SKIP_OPTION(d)                          \
    CLI_FLAG(0, "skip-damaged", &(d)->skip_damaged, \
             "read all inputs first and leave out files that cannot be read")

#define CLI_DATA_OPTIONS(d)                                                                        \
    CLI_STRING(0, "data", &(d)->spec, "SPEC",                                                      \
               "the inputs; 'plexor list data' says what it takes"),                               \
        CLI_STRING(0, "split", &(d)->split, "NAME",                                                \
                   "which part, where the data have parts; test unless another is named"),         \
        CLI_INT(0, "limit", &(d)->limit, "N", 0, 9e15, "at most this many inputs; 0: all"),        \
        CLI_INT(0, "offset", &(d)->offset, "N", 0, 9e15, "leave out the first ones"),              \
        CLI_FLAG(0, "shuffle", &(d)->shuffle, "in an order given by --seed"),                      \
        CLI_INT(0, "seed", &(d)->seed, "N", 0, 9e15, "of everything random"), CLI_NETWORK_OPTIONS, \
        CLI_SKIP_OPTION(d), CLI_PIXEL_OPTIONS(&(d)->pixels),                                       \
        CLI_STRING(0, "audio", &(d)->audio, "SETTINGS",                                            \
                   "of features of recordings: resample=1, ...; 'plexor list audio'")

typedef struct cli_neurons {
    const char *layers, *tap, *view;
} cli_neurons;

#define CLI_NEURON_OPTIONS(n)                                                                \
    CLI_STRING(0, "layers", &(n)->layers, "LIST", "which layers; see 'plexor list layers'"), \
        CLI_STRING(0, "tap", &(n)->tap, "TAP", "where in a layer; see 'plexor list taps'"),  \
        CLI_STRING(0, "neurons", &(n)->view, "VIEW",                                         \
                   "what a neuron is; see 'plexor list neurons'")

/* Loads a network, names its classes as --classes says, and passes on the reader's warnings. */
px_status cli_model_load_file(const cli_command *self, const char *path, px_model **out,
                              px_error *err);
/* --tolerance of regression; NaN: it classifies. */
px_status cli_tolerance(double *out, px_error *err);
/* The same for a command that feeds data to it: several inputs are one, and so on. */
px_status cli_model_load(const cli_command *self, const char *path, px_model **out, px_error *err);

typedef px_task cli_inputs;

/* px_dataset_open_part(), where looking for damaged files, which is to read them all, is shown and
 * can be stopped. */
px_status cli_part_open(const px_model *model, px_preprocess *pre, const char *spec,
                        const px_data_options *options, bool may_be_whole, px_dataset **out,
                        px_error *err);
px_status cli_inputs_open(const px_model *model, const cli_data *data, cli_inputs *out,
                          px_error *err);
/* Says how many of the recordings that were read are silent or clipped. */
void cli_inputs_close(cli_inputs *inputs);
/* What is assumed about preprocessing, and where each part comes from. */
void cli_inputs_print(const cli_inputs *inputs, const px_model *model, const px_scores *scores);
extern const px_field cli_inputs_fields[]; /* of a cli_inputs */

/* The shape of one picture where the network leaves sides open and --size (or its metadata, where
 * `size` is NULL) tells them; rank 0: there is nothing to tell, or nothing tells it. */
px_status cli_open_shape(const px_model *model, const char *size, px_shape *out, px_error *err);
/* Compiles with that shape, NULL or rank 0: as declared. */
enum { CLI_OPEN_BATCH = 8 }; /* inputs at a time where options.batch does not say, with a shape */
px_status cli_plan_open(const px_model *model, const px_shape *open, px_plan_options options,
                        px_plan **out, px_error *err);

/* Says that an exporter baked in its batch; the other one only where that made a loop. */
void cli_note_baked(const cli_command *self, const px_model *model, int64_t batch);
void cli_note_run(const cli_command *self, const px_model *model, const px_run_facts *facts);

/* `shape` is that of the inputs at hand, for networks that leave it open; NULL: as declared. */
px_status cli_probe_new(const px_model *model, const cli_neurons *neurons, const px_shape *shape,
                        px_probe **out, px_error *err);

/* Names of classes: the model's, else the data set's, else numbers. */
typedef struct cli_classes {
    const px_model *model;
    const px_dataset *set; /* may be NULL */
} cli_classes;
cli_classes cli_classes_of(const px_model *model, const px_dataset *set);
const char *cli_class_name(const cli_classes *classes, int c, char buffer[CLI_NUMBER_TEXT]);
/* Says what is doubtful about labels that could not go by name. */
void cli_classes_doubt(const cli_command *self, const px_dataset *set, int classes);

/* --range LOW,HIGH. */
px_status cli_range(const char *text, double *low, double *high, px_error *err);
/* The same, or where `text` is NULL what the data have, which is told where it is not 0 to 1. */
px_status cli_range_of(const cli_command *self, const char *text, const cli_inputs *inputs,
                       double *low, double *high, px_error *err);

/* --shard I/N; NULL: 0/1. */
px_status cli_shard(const char *text, int64_t *shard, int64_t *shards, px_error *err);

typedef struct cli_origin {   /* what a result was made from */
    const char *model, *data; /* data NULL: none */
    uint64_t model_hash, data_hash;
    const px_damage *damaged; /* inputs that were left out */
    size_t damaged_count;
} cli_origin;
extern const px_field cli_origin_fields[];
cli_origin cli_origin_of(const px_model *model, const px_dataset *set); /* each NULL: none */

#endif
