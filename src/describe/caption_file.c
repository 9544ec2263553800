/* src/describe/caption_file.c - a captioner as a file
 *
 * An NPZ: `meta` (JSON: format, version, sizes, decoding, note), `words` (the vocabulary, a line
 * each, in the order of its numbers), `mean` and `scale` of the features, and the numbers of both
 * networks as `decoder/NAME` and `language/NAME`. Sizes are looked at before anything is made of
 * them, and every array must have the shape that follows from them.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "describe/captioner_internal.h"
#include <internal/npz_meta.h>

#include <internal/data.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CAPTIONER_FORMAT "plexor captioner"
enum { CAPTIONER_VERSION = 1 };

/* --- writing --------------------------------------------------------------------------------- */

static px_status save_meta(const px_captioner *c, px_npz_writer *to, px_error *err)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "format", CAPTIONER_FORMAT);
    px_json_int(&json, "version", CAPTIONER_VERSION);
    px_json_int(&json, "words", (int64_t)c->vocabulary.count);
    px_json_int(&json, "embedding", (int64_t)c->sizes.embedding);
    px_json_int(&json, "hidden", (int64_t)c->sizes.hidden);
    px_json_int(&json, "attention", (int64_t)c->sizes.attention);
    px_json_int(&json, "size", (int64_t)c->sizes.size);
    px_json_int(&json, "k", (int64_t)c->sizes.k);
    px_json_int(&json, "beam", c->decoding.beam);
    px_json_int(&json, "steps", c->decoding.steps);
    px_json_real(&json, "lambda", c->decoding.lambda);
    px_json_string(&json, "note", px_captioner_note(c));
    px_json_end(&json);
    return pxi_meta_put(to, &json, err);
}

static px_status save_words(const px_captioner *c, px_npz_writer *to, px_error *err)
{
    px_text text = {0};
    for (size_t i = 0; i < c->vocabulary.count; i++)
        px_text_format(&text, "%s\n", c->vocabulary.words[i]);
    px_status status = px_text_failed(&text) ? pxi_no_memory(err) : PX_OK;
    if (status == PX_OK) {
        const px_tensor bytes = {.dtype = PX_UINT8,
                                 .shape = {.rank = 1, .dim = {(int64_t)text.length}},
                                 .data = text.data};
        status = px_npz_add(to, "words", &bytes, err);
    }
    px_text_done(&text);
    return status;
}

static px_status save_numbers(px_npz_writer *to, const char *name, const px_shape *shape,
                              const float *numbers, px_error *err)
{
    const px_tensor tensor = {
        .dtype = PX_FLOAT32, .shape = *shape, .data = (void *)numbers}; /* reads only */
    return px_npz_add(to, name, &tensor, err);
}

static px_status save_net(const pxi_net *net, const char *room, const float *weights,
                          px_npz_writer *to, px_error *err)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", room, net->tensors[i].name);
        PX_TRY(
            save_numbers(to, name, &net->tensors[i].shape, weights + net->tensors[i].first, err));
    }
    return PX_OK;
}

static px_status save_all(const px_captioner *c, px_npz_writer *to, px_error *err)
{
    const px_shape features = {.rank = 1, .dim = {(int64_t)c->sizes.size}};
    PX_TRY(save_meta(c, to, err));
    PX_TRY(save_words(c, to, err));
    PX_TRY(save_numbers(to, "mean", &features, c->standard.mean, err));
    PX_TRY(save_numbers(to, "scale", &features, c->standard.scale, err));
    PX_TRY(save_net(&c->decoder, "decoder", c->decoder_weights, to, err));
    return save_net(&c->language, "language", c->language_weights, to, err);
}

px_status px_captioner_save(const px_captioner *c, const char *path, px_error *err)
{
    px_npz_writer *to = NULL;
    PX_TRY(px_npz_create(path, &to, err));
    const px_status status = save_all(c, to, err);
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

static px_status load_size(const px_json_value *root, const char *key, int64_t most, size_t *out,
                           px_error *err)
{
    int64_t value = 0;
    PX_TRY(pxi_meta_int(root, key, most, &value, err));
    if (value < 1)
        return px_fail(err, PX_E_INPUT, "'%s' in 'meta' is 0", key);
    *out = (size_t)value;
    return PX_OK;
}

static px_status load_sizes(const px_json_value *root, pxi_caption_sizes *sizes,
                            px_caption_decoding *decoding, px_error *err)
{
    size_t words = 0, beam = 0, steps = 0;
    const int64_t wide = PXI_CAPTION_MOST_SIZE;
    PX_TRY(load_size(root, "words", PXI_WORDLIST_MOST, &words, err));
    PX_TRY(load_size(root, "embedding", wide, &sizes->embedding, err));
    PX_TRY(load_size(root, "hidden", wide, &sizes->hidden, err));
    PX_TRY(load_size(root, "attention", wide, &sizes->attention, err));
    PX_TRY(load_size(root, "size", wide, &sizes->size, err));
    PX_TRY(load_size(root, "k", PXI_CAPTION_MOST_K, &sizes->k, err));
    PX_TRY(load_size(root, "beam", PX_CAPTION_MOST_BEAM, &beam, err));
    PX_TRY(load_size(root, "steps", PX_CAPTION_MOST_STEPS, &steps, err));
    const px_json_value *lambda = px_json_member(root, "lambda");
    if (!lambda || lambda->kind != PX_JSON_NUMBER || !(fabs(lambda->number) <= 1e6))
        return px_fail(err, PX_E_INPUT, "'lambda' in 'meta' is not a weight");
    sizes->words = words + PXI_WORD_SPECIALS;
    *decoding =
        (px_caption_decoding){.beam = (int)beam, .steps = (int)steps, .lambda = lambda->number};
    return PX_OK;
}

/* The array of that name, if it is what it should be. */
static px_status load_find(const px_npz *from, const char *name, const px_shape *shape,
                           const float **out, px_error *err)
{
    const px_tensor *tensor = px_npz_get(from, name);
    char is[PX_SHAPE_TEXT], wanted[PX_SHAPE_TEXT];
    if (!tensor)
        return px_fail(err, PX_E_INPUT, "array '%s' is missing", name);
    if (tensor->dtype != PX_FLOAT32 || !px_shape_equal(&tensor->shape, shape))
        return px_fail(err, PX_E_INPUT, "array '%s' is %s %s instead of float32 %s", name,
                       px_dtype_name(tensor->dtype), px_shape_text(&tensor->shape, is),
                       px_shape_text(shape, wanted));
    const float *numbers = tensor->data;
    const int64_t count = px_shape_count(shape);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return px_fail(err, PX_E_INPUT, "array '%s' has a number that is not finite", name);
    *out = numbers;
    return PX_OK;
}

/* Checks all arrays of a network; copies them with `weights`. */
static px_status load_net(const px_npz *from, const pxi_net *net, const char *room, float *weights,
                          px_error *err)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const pxi_net_tensor *t = &net->tensors[i];
        const float *numbers = NULL;
        char name[64];
        snprintf(name, sizeof name, "%s/%s", room, t->name);
        PX_TRY(load_find(from, name, &t->shape, &numbers, err));
        if (weights)
            memcpy(weights + t->first, numbers, t->count * sizeof *weights);
    }
    return PX_OK;
}

/* Whether the networks of these sizes are in the file: then memory for them is no more than the
 * file itself has taken. */
static px_status load_check(const px_npz *from, const pxi_caption_sizes *sizes, px_error *err)
{
    pxi_net net;
    PX_TRY(pxi_decoder_net(sizes, &net, err));
    PX_TRY(load_net(from, &net, "decoder", NULL, err));
    PX_TRY(pxi_language_net(sizes, &net, err));
    return load_net(from, &net, "language", NULL, err);
}

static px_status load_words(const px_npz *from, const pxi_caption_sizes *sizes, pxi_wordlist *out,
                            px_error *err)
{
    const px_tensor *words = px_npz_get(from, "words");
    if (!words || words->dtype != PX_UINT8 || words->shape.rank != 1)
        return px_fail(err, PX_E_INPUT, "array 'words' is missing, or not bytes");
    pxi_wordlist vocabulary = {0};
    PX_TRY(pxi_wordlist_read(words->data, (size_t)words->shape.dim[0], &vocabulary, err));
    if (vocabulary.count + PXI_WORD_SPECIALS == sizes->words) {
        *out = vocabulary;
        return PX_OK;
    }
    const size_t count = vocabulary.count;
    pxi_wordlist_done(&vocabulary);
    return px_fail(err, PX_E_INPUT, "'meta' says %zu words, 'words' has %zu",
                   sizes->words - PXI_WORD_SPECIALS, count);
}

static px_status load_all(const px_npz *from, const px_json_value *root, px_captioner **out,
                          px_error *err)
{
    pxi_caption_sizes sizes = {0};
    px_caption_decoding decoding = {0};
    pxi_wordlist vocabulary = {0};
    const char *note = NULL;
    const float *mean = NULL, *scale = NULL;
    PX_TRY(load_sizes(root, &sizes, &decoding, err));
    PX_TRY(pxi_meta_string(root, "note", &note, err));
    const px_shape features = {.rank = 1, .dim = {(int64_t)sizes.size}};
    PX_TRY(load_find(from, "mean", &features, &mean, err));
    PX_TRY(load_find(from, "scale", &features, &scale, err));
    PX_TRY(load_check(from, &sizes, err));
    PX_TRY(load_words(from, &sizes, &vocabulary, err));
    px_captioner *c = NULL;
    PX_TRY(pxi_captioner_new(&vocabulary, &sizes, &c, err));
    c->decoding = decoding;
    memcpy(c->standard.mean, mean, sizes.size * sizeof *mean);
    memcpy(c->standard.scale, scale, sizes.size * sizeof *scale);
    px_status status = load_net(from, &c->decoder, "decoder", c->decoder_weights, err);
    PX_THEN(status, load_net(from, &c->language, "language", c->language_weights, err));
    PX_THEN(status, px_captioner_set_note(c, note, err));
    return PX_GIVE(status, c, out, px_captioner_free);
}

px_status pxi_captioner_read(const px_npz *from, px_captioner **out, px_error *err)
{
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    PX_TRY(pxi_meta_take(from, CAPTIONER_FORMAT, CAPTIONER_VERSION, &document, &root, err));
    const px_status status = load_all(from, root, out, err);
    px_json_free(document);
    return status == PX_E_USAGE || status == PX_E_UNSUPPORTED ? PX_E_INPUT
                                                              : status; /* the file's */
}

px_status px_captioner_load(const char *path, px_captioner **out, px_error *err)
{
    px_npz *from = NULL;
    PX_TRY(px_npz_open(path, &from, err));
    const px_status status = pxi_captioner_read(from, out, err);
    px_npz_close(from);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", path);
}
