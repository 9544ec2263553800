/* include/internal/source.h - what a reader of some format makes: samples, not yet resized or
 * chosen from
 *
 * A source is immutable once made; its functions may be called from many threads at once. The
 * px_dataset on top of it picks samples (shuffle, offset, limit) and brings pictures into the shape
 * that the network wants.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_SOURCE_H
#define PXI_INTERNAL_SOURCE_H

#include <internal/image.h>
#include <internal/inputs.h>
#include <internal/recording.h>
#include <internal/tree.h>
#include <plexor/data.h>
#include <stdatomic.h>

typedef struct pxi_source pxi_source;

typedef struct pxi_source_type {
    /* Exactly one of the two. `image` may give another size and channel count for every sample;
     * `values` fills the source's shape, CHW. */
    px_status (*image)(const pxi_source *source, int64_t index, pxi_image *out, px_error *err);
    px_status (*values)(const pxi_source *source, int64_t index, float *out, px_error *err);
    int64_t (*label)(const pxi_source *source, int64_t index); /* NULL: no labels */
    /* Fills target_count numbers; NULL: no source of this type has any. */
    px_status (*target)(const pxi_source *source, int64_t index, float *out, px_error *err);
    /* NULL: the index in decimal */
    const char *(*name)(const pxi_source *source, int64_t index, char *buffer, size_t size);
    /* Where its label was written down, for messages: "'labels.csv': line 17"; false, or NULL: in
     * no place of its own. */
    bool (*place)(const pxi_source *source, int64_t index, char *buffer, size_t size);
    /* What stands beside a sample of an embedding; NULL else. */
    px_status (*beside)(const pxi_source *source, int64_t index, float *out, px_error *err);
    /* Texts only, NULL else; the caller frees it. */
    px_status (*text)(const pxi_source *source, int64_t index, char **out, px_error *err);
    /* And what a row of tokens reads as. */
    px_status (*words)(const pxi_source *source, const float *rows, char **out, px_error *err);
    uint64_t (*size)(const pxi_source *source, int64_t index); /* NULL: the shape says it */
    /* Its number where the samples come from, for sources made of others; NULL: the index. */
    int64_t (*origin)(const pxi_source *source, int64_t index);
    /* Recordings only, NULL else. `ready` is called once, before anything else, with a sample that
     * says what the data are like; `check` then with every one that may be read. `wanted` is NULL
     * for the defaults; `frames` and `mels` are what the network takes, 0: anything. */
    px_status (*ready)(pxi_source *source, int64_t index, const px_audio *wanted, int frames,
                       int mels, px_error *err);
    px_status (*check)(pxi_source *source, int64_t index, px_error *err);
    px_status (*clip)(const pxi_source *source, int64_t index, pxi_clip *out, px_error *err);
    px_status (*features)(const pxi_source *source, const float *samples, size_t count, float *out,
                          px_error *err);
    /* Files of their own only, NULL else: reads one as far as it takes to see that it is sound. */
    px_status (*verify)(const pxi_source *source, int64_t index, px_error *err);
    int (*flaws)(const pxi_source *source, int64_t index); /* PXI_CLIP_*, of samples read so far */
    void (*free)(pxi_source *source); /* frees the source itself too; takes half-built ones */
} pxi_source_type;

struct pxi_source { /* the first member of every reader's own struct */
    const pxi_source_type *type;
    int64_t count;
    bool is_8bit;
    px_shape shape;                 /* of every sample; rank 0: ask the first image */
    int class_count;                /* 0: unknown */
    int target_count;               /* numbers per sample beside its label: probabilities, or what
                                       a network of regression is to give; 0: none */
    const char *const *class_names; /* NULL: unknown */
    const px_audio *audio;          /* recordings: how they become values, once ready; else NULL */
    char kind[48];                  /* "IDX" */
    char remark[320];               /* what a user should know of the files; "": nothing */
    atomic_int more_owners;         /* besides the first one */
    void (*released)(void *owner);  /* NULL, or told when the last owner has freed it */
    void *owner;
};

/* Labels are class indices; more classes than this is taken for a mistake. */
#define PXI_CLASSES_MAX (1 << 20)

/* --- readers --------------------------------------------------------------------------------- */

/* A reader of trees. `root` is "" or ends with a slash. */
typedef struct pxi_reader {
    const char *name;
    bool (*claims)(const pxi_tree *tree, const char *root);
    /* Opens a split (NULL: the default one). Takes over the tree in any case. */
    px_status (*open)(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                      px_error *err);
} pxi_reader;

bool pxi_idx_claims(const pxi_tree *tree, const char *root);
px_status pxi_idx_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                       px_error *err);
/* One file of pictures, with its labels if they lie beside it. Takes over the tree. */
bool pxi_idx_is_images(const char *path);
px_status pxi_idx_open_file(pxi_tree *tree, const char *path, pxi_source **out, px_error *err);
/* From memory, without labels; for tests and fuzzing. */
px_status pxi_idx_parse(const void *data, size_t size, const char *name, pxi_source **out,
                        px_error *err);

bool pxi_folder_claims(const pxi_tree *tree, const char *root);
px_status pxi_folder_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                          px_error *err);

bool pxi_arrays_claims(const pxi_tree *tree, const char *root);
px_status pxi_arrays_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                          px_error *err);
/* Both take over `bytes` in any case. */
/* `targets` is px_data_options.targets here and below: labels are numbers then, and not classes. */
px_status pxi_npz_open_source(const char *name, pxi_bytes *bytes, const char *split, int targets,
                              pxi_source **out, px_error *err);
px_status pxi_npy_open_source(const char *name, pxi_bytes *bytes, const char *split,
                              pxi_source **out, px_error *err);

bool pxi_cifar_claims(const pxi_tree *tree, const char *root);
px_status pxi_cifar_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                         px_error *err);

bool pxi_manifest_claims(const pxi_tree *tree, const char *root);
px_status pxi_manifest_open(pxi_tree *tree, const char *root, const char *split, pxi_source **out,
                            px_error *err);
/* `path` is the manifest in the tree; pictures are looked up beside it. Takes over the tree. */
px_status pxi_manifest_open_file(pxi_tree *tree, const char *path, const char *split, int targets,
                                 pxi_source **out, px_error *err);

/* Labels and splits from the names of files: "PATH::PATTERN". Takes over the tree. */
px_status pxi_named_open(pxi_tree *tree, const char *pattern, const char *split, pxi_source **out,
                         px_error *err);

/* `text` is "digits" or "digits:SEED". */
bool pxi_digits_is_name(const char *text);
px_status pxi_digits_open(const char *text, const char *split, pxi_source **out, px_error *err);

/* `text` is "noise:CxHxW" or "noise:CxHxW:SEED"; it has no splits and no labels. */
bool pxi_noise_is_name(const char *text);
px_status pxi_noise_open(const char *text, const char *split, pxi_source **out, px_error *err);

/* --- from a SPEC to a source ----------------------------------------------------------------- */

px_status pxi_source_open(const char *spec, const char *split, int targets, pxi_source **out,
                          px_error *err);

/* Whatever lies in a folder or archive. Takes over the tree in any case. */
px_status pxi_source_of_tree(pxi_tree *tree, const char *split, pxi_source **out, px_error *err);

/* Of samples with targets of regression: every label is 0, and classes are the two verdicts. */
void pxi_source_set_verdicts(pxi_source *source, int targets);

/* For a room behind this one: folders that hold the file `marker` are opened by `open`. Called
 * once, before main(). */
typedef px_status (*pxi_folder_opener)(const char *folder, const char *split, pxi_source **out,
                                       px_error *err);
void pxi_source_register_folder(const char *marker, pxi_folder_opener open);

/* Likewise what makes texts the rows of a network's inputs, [inputs][tokens]. `encode` may be
 * called by many threads. */
typedef struct pxi_text_coder {
    void *own;
    px_status (*encode)(const void *own, const char *text, size_t size, float *rows, px_error *err);
    px_status (*decode)(const void *own, const float *rows, char **out, px_error *err);
    void (*free)(void *own);
} pxi_text_coder;
typedef px_status (*pxi_text_opener)(const px_inputs *inputs, pxi_text_coder *out, px_error *err);
void pxi_source_register_texts(pxi_text_opener open);

void pxi_source_free(pxi_source *source); /* one owner less; NULL is fine */
void pxi_source_retain(pxi_source *source);

/* "mem:NAME", which has no splits. */
px_status pxi_mem_open(const char *spec, const char *split, pxi_source **out, px_error *err);

/* --- from a source to a data set ------------------------------------------------------------- */

/* The samples that `options` (NULL: all, as they are) choose; `spec` is for messages. Takes over
 * the source in any case. */
px_status pxi_dataset_make(pxi_source *source, const char *spec, const px_data_options *options,
                           px_dataset **out, px_error *err);

#endif
