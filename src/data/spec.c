/* src/data/spec.c - from what the user calls a data set to a reader of it */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/source.h>

#include "base/file.h"
#include "base/foreign.h"
#include "base/mem_names.h"
#include "base/memory.h"
#include "data/index.h"
#include "data/picture_source.h"

#include <errno.h>
#include <plexor/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FASHION_FOLDER "/usr/share/datasets/fashion-mnist"

void pxi_source_free(pxi_source *source)
{
    if (!source || atomic_fetch_sub(&source->more_owners, 1) > 0)
        return;
    void (*const released)(void *owner) = source->released;
    void *const owner = source->owner;
    source->type->free(source);
    if (released)
        released(owner);
}

void pxi_source_retain(pxi_source *source)
{
    atomic_fetch_add(&source->more_owners, 1);
}

void pxi_source_set_verdicts(pxi_source *source, int targets)
{
    static const char *const verdicts[] = {"within", "beyond"};
    source->target_count = targets;
    source->class_names = verdicts;
    source->class_count = (int)PX_LEN(verdicts);
}

/* In the order in which they are asked. */
static const pxi_reader readers[] = {
    {"IDX", pxi_idx_claims, pxi_idx_open},
    {"CIFAR", pxi_cifar_claims, pxi_cifar_open},
    {"arrays", pxi_arrays_claims, pxi_arrays_open},
    {"manifest", pxi_manifest_claims, pxi_manifest_open},
    {"pictures", pxi_folder_claims, pxi_folder_open},
};

/* --- folders that another room reads --------------------------------------------------------- */

static const char *folder_marker;
static pxi_folder_opener folder_open;

void pxi_source_register_folder(const char *marker, pxi_folder_opener open)
{
    folder_marker = marker;
    folder_open = open;
}

static px_status spec_is_marked(const char *folder, bool *out, px_error *err)
{
    struct stat info;
    px_text path = {0};
    *out = false;
    if (!folder_open)
        return PX_OK;
    px_text_format(&path, "%s/%s", folder, folder_marker);
    const bool made = !px_text_failed(&path);
    *out = made && stat(px_text_get(&path), &info) == 0 && S_ISREG(info.st_mode);
    px_text_done(&path);
    return made ? PX_OK : pxi_no_memory(err);
}

/* --- trees ----------------------------------------------------------------------------------- */

/* An archive often holds one folder that holds everything: steps into it, unless that folder is a
 * split or a class (pictures lie right in it). */
static void spec_root(const pxi_tree *tree, char *root, size_t room)
{
    root[0] = '\0';
    for (;;) {
        const size_t length = strlen(root);
        const char *first = pxi_tree_entry(tree, 0)->path + length;
        const char *slash = strchr(first, '/');
        bool only_pictures = true;
        if (!slash || length + (size_t)(slash - first) + 2 > room)
            return;
        const size_t inner = (size_t)(slash - first) + 1;
        for (size_t i = 0; i < pxi_tree_count(tree); i++) {
            const char *path = pxi_tree_entry(tree, i)->path + length;
            if (strncmp(path, first, inner) != 0)
                return;
            only_pictures = only_pictures && !strchr(path + inner, '/') &&
                            (pxi_sample_is_name(path) || pxi_foreign_is_name(path));
        }
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)inner - 1, first);
        if (only_pictures || pxi_split_is_name(name))
            return;
        memcpy(root + length, first, inner);
        root[length + inner] = '\0';
    }
}

/* Why a tree that no reader claims holds no data set. */
static px_status spec_nothing(const pxi_tree *tree, const char *root, px_error *err)
{
    char text[320];
    const pxi_foreign foreign = pxi_tree_foreign(tree, root);
    if (pxi_foreign_text(&foreign, text, sizeof text))
        return px_fail(err, PX_E_INPUT,
                       "'%.120s': %s; pictures are read as PNG or JPEG, recordings as WAV or FLAC: "
                       "convert them",
                       pxi_tree_name(tree), text);
    const bool packed = pxi_tree_is_archive(pxi_tree_name(tree));
    for (size_t i = 0; i < pxi_tree_count(tree); i++) {
        const char *path = pxi_tree_entry(tree, i)->path;
        if (!packed && pxi_tree_is_archive(path))
            return px_fail(err, PX_E_INPUT,
                           "'%s': holds no data set, but an archive, which may be one: give "
                           "'%s/%s'",
                           pxi_tree_name(tree), pxi_tree_name(tree), path);
    }
    return px_fail(err, PX_E_INPUT,
                   "'%s': holds no data set; expected class folders of PNG, JPEG, WAV or FLAC "
                   "files, IDX files, CIFAR .bin files, or one .npz, .npy or .csv file",
                   pxi_tree_name(tree));
}

px_status pxi_source_of_tree(pxi_tree *tree, const char *split, pxi_source **out, px_error *err)
{
    char root[1024] = "";
    if (pxi_tree_count(tree))
        spec_root(tree, root, sizeof root);
    for (size_t i = 0; i < PX_LEN(readers); i++)
        if (readers[i].claims(tree, root))
            return readers[i].open(tree, root, split, out, err);
    const px_status status = spec_nothing(tree, root, err);
    pxi_tree_free(tree);
    return status;
}

/* --- what may have an index ------------------------------------------------------------------ */

static void spec_advise(pxi_source *source, const char *spec)
{
    char sentence[320];
    if (source->count < PXI_INDEX_ADVICE)
        return;
    snprintf(sentence, sizeof sentence,
             "%lld inputs were listed one by one: after 'plexor index %.120s' they need not be",
             (long long)source->count, spec);
    pxi_source_remark(source, sentence);
}

static px_status spec_shards(pxi_shards *shards, const char *spec, const char *split,
                             pxi_source **out, px_error *err)
{
    px_status status = pxi_shards_open(shards, spec, split, out, err);
    pxi_shards_done(shards);
    return status;
}

static px_status spec_folder(const char *folder, const char *split, pxi_source **out, px_error *err)
{
    char why[320];
    pxi_tree *tree = NULL;
    pxi_shards shards = {0};
    PX_TRY(pxi_index_find(folder, "", split, out, why, sizeof why, err));
    if (*out)
        return PX_OK;
    PX_TRY(pxi_tree_open_folder(folder, split, &tree, err));
    px_status status = pxi_shards_of_tree(tree, split, &shards, err);
    if (status != PX_OK || shards.count) {
        pxi_tree_free(tree);
        PX_TRY(status);
        PX_TRY(spec_shards(&shards, folder, split, out, err));
    } else {
        PX_TRY(pxi_source_of_tree(tree, split, out, err));
        if (pxi_picture_source_of(*out))
            spec_advise(*out, folder);
    }
    pxi_source_remark(*out, why);
    return PX_OK;
}

/* --- names known to the program -------------------------------------------------------------- */

static const char *const fashion_classes[] = {"T-shirt/top", "Trouser",   "Pullover", "Dress",
                                              "Coat",        "Sandal",    "Shirt",    "Sneaker",
                                              "Bag",         "Ankle boot"};

static px_status spec_fashion(const char *split, pxi_source **out, px_error *err)
{
    pxi_tree *tree = NULL;
    struct stat info;
    if (stat(FASHION_FOLDER, &info) != 0)
        return px_fail(err, PX_E_INPUT,
                       "'fashion-mnist' is not installed: apt install dataset-fashion-mnist");
    PX_TRY(pxi_tree_open_folder(FASHION_FOLDER, split, &tree, err));
    PX_TRY(pxi_idx_open(tree, "", split, out, err));
    if ((*out)->class_count == (int)PX_LEN(fashion_classes))
        (*out)->class_names = fashion_classes;
    return PX_OK;
}

/* --- files ----------------------------------------------------------------------------------- */

/* The folder a file lies in, for readers that look beside it. */
static px_status spec_beside(const char *path, pxi_tree **tree, const char **name, px_error *err)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!folder)
        return pxi_no_memory(err);
    const px_status status = pxi_tree_open_unlisted(folder, tree, err);
    free(folder);
    return status;
}

/* One picture or recording: a data set of one, without a label. */
static px_status spec_sample(const char *path, pxi_source **out, px_error *err)
{
    pxi_tree *tree = NULL;
    pxi_picture_source *source = NULL;
    const char *name;
    PX_TRY(spec_beside(path, &tree, &name, err));
    PX_TRY(pxi_picture_source_new("one file", tree, &source, err));
    const char *own = pxi_arena_strdup(source->arena, name);
    px_status status =
        own ? pxi_picture_source_add(source, (pxi_picture_item){.path = own, .label = -1}, err)
            : pxi_no_memory(err);
    PX_THEN(status, pxi_picture_source_finish(source, err));
    if (status == PX_OK)
        *out = &source->base;
    else
        pxi_source_free(&source->base);
    return status;
}

static px_status spec_file(const char *path, const char *split, int targets, pxi_source **out,
                           px_error *err)
{
    pxi_tree *tree = NULL;
    const char *name;
    pxi_shards shards = {0};
    PX_TRY(pxi_shards_of_file(path, &shards, err));
    if (shards.count) {
        if (!split)
            return spec_shards(&shards, path, NULL, out, err);
        pxi_shards_done(&shards);
        return pxi_split_fail(path, NULL, 0, split, err);
    }
    if (pxi_tree_is_archive(path)) {
        PX_TRY(pxi_tree_open_archive(path, &tree, err));
        return pxi_source_of_tree(tree, split, out, err);
    }
    if (pxi_has_suffix(path, ".npz") || pxi_has_suffix(path, ".npy")) {
        pxi_bytes bytes = {0};
        PX_TRY(pxi_bytes_open(&bytes, path, err));
        return pxi_has_suffix(path, ".npz")
                   ? pxi_npz_open_source(path, &bytes, split, targets, out, err)
                   : pxi_npy_open_source(path, &bytes, split, out, err);
    }
    if (pxi_has_suffix(path, ".csv")) {
        PX_TRY(spec_beside(path, &tree, &name, err));
        return pxi_manifest_open_file(tree, name, split, targets, out, err);
    }
    if (pxi_idx_is_images(path)) {
        PX_TRY(spec_beside(path, &tree, &name, err));
        return pxi_idx_open_file(tree, name, out, err);
    }
    if (pxi_sample_is_name(path))
        return spec_sample(path, out, err);
    if (pxi_foreign_check_file(path, PXI_WANTED_DATA, err) != PX_OK)
        return px_fail_in(err, PX_E_UNSUPPORTED, "'%s'", path);
    return px_fail(
        err, PX_E_INPUT,
        "'%s': not a data set that plexor knows; expected .npz, .npy, .csv, an IDX file, one "
        "picture, or an archive (.zip, .tar, .tar.gz, .tar.xz)",
        path);
}

/* "PATH::PATTERN", where PATH is a folder or an archive; false: it is not that. A file that is
 * really called so is itself. */
static bool spec_has_pattern(const char *spec, const char **mark)
{
    struct stat info;
    *mark = strstr(spec, "::");
    return *mark && *mark != spec && stat(spec, &info) != 0;
}

static px_status spec_named(const char *spec, const char *mark, const char *split, pxi_source **out,
                            px_error *err)
{
    struct stat info;
    pxi_tree *tree = NULL;
    char *path = strndup(spec, (size_t)(mark - spec));
    px_status status = PX_OK;
    if (!path)
        return pxi_no_memory(err);
    if (stat(path, &info) != 0)
        status = px_fail(err, pxi_errno_status(errno), "'%s': cannot be opened: %s", path,
                         strerror(errno));
    else if (S_ISDIR(info.st_mode))
        status = pxi_tree_open_folder(path, split, &tree, err);
    else if (pxi_tree_is_archive(path))
        status = pxi_tree_open_archive(path, &tree, err);
    else
        status =
            px_fail(err, PX_E_INPUT,
                    "'%s': a pattern of names is for the files of a folder or an archive", path);
    free(path);
    return status == PX_OK ? pxi_named_open(tree, mark + 2, split, out, err) : status;
}

px_status pxi_source_open(const char *spec, const char *split, int targets, pxi_source **out,
                          px_error *err)
{
    const char *mark;
    if (spec_has_pattern(spec, &mark))
        return spec_named(spec, mark, split, out, err);
    struct stat info;
    if (pxi_mem_is_name(spec))
        return pxi_mem_open(spec, split, out, err);
    if (pxi_digits_is_name(spec))
        return pxi_digits_open(spec, split, out, err);
    if (pxi_noise_is_name(spec))
        return pxi_noise_open(spec, split, out, err);
    if (pxi_shards_is_range(spec)) {
        pxi_shards shards = {0};
        if (split)
            return pxi_split_fail(spec, NULL, 0, split, err);
        PX_TRY(pxi_shards_of_range(spec, &shards, err));
        return spec_shards(&shards, spec, NULL, out, err);
    }
    if (strcmp(spec, "fashion-mnist") == 0)
        return spec_fashion(split, out, err);
    if (stat(spec, &info) != 0 && errno == ENOENT)
        return px_fail(err, PX_E_INPUT,
                       "'%s': no such file or folder, and not a name plexor knows (digits, "
                       "fashion-mnist, noise:CxHxW)",
                       spec);
    if (stat(spec, &info) != 0)
        return px_fail(err, pxi_errno_status(errno), "'%s': cannot be opened: %s", spec,
                       strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return spec_file(spec, split, targets, out, err);
    bool marked;
    PX_TRY(spec_is_marked(spec, &marked, err));
    if (marked)
        return folder_open(spec, split, out, err);
    return spec_folder(spec, split, out, err);
}
