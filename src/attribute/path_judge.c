/* src/attribute/path_judge.c - how alike paths are, with a memory for the vectors of texts */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/path_text.h"
#include "attribute/paths_internal.h"

#include "base/arena.h"
#include "base/memory.h"
#include <internal/names.h>

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/text_encoder.h>
#include <stdlib.h>

enum { JUDGE_TEXTS_MOST = 1 << 16 }; /* then it starts anew */

struct px_path_judge {
    const px_paths *paths;
    px_text_encoder *encoder;
    char **names;
    size_t name_count;
    px_path_words words;
    px_text all; /* the words of all units, which are the same for every input */
    bool has_all;
    px_text text[2];
    /* texts that were embedded */
    px_arena *arena;
    pxi_names known;
    float *vectors; /* [count][size] */
    size_t count, capacity, size;
    px_path_judge_sums sums;
};

static px_status judge_make(px_path_judge *judge, const char *const *names, size_t name_count,
                            px_error *err)
{
    judge->size = judge->encoder ? px_text_encoder_size(judge->encoder) : 0;
    PX_TRY(PX_NEW(judge->names, PX_MAX(name_count, (size_t)1), err));
    for (size_t i = 0; names && i < name_count; i++) {
        judge->name_count = i + 1;
        if (names[i] && !(judge->names[i] = pxi_strdup(names[i])))
            return pxi_no_memory(err);
    }
    return PX_OK;
}

px_status px_path_judge_new(const px_paths *paths, px_text_encoder *encoder,
                            const char *const *names, size_t name_count, const px_path_words *words,
                            px_path_judge **out, px_error *err)
{
    px_path_judge *judge = NULL;
    PX_TRY(PX_NEW(judge, 1, err));
    judge->paths = paths;
    judge->encoder = encoder;
    judge->words = words ? *words : px_path_words_default();
    const px_status status = judge_make(judge, names, name_count, err);
    return PX_GIVE(status, judge, out, px_path_judge_free);
}

static void judge_forget(px_path_judge *judge)
{
    pxi_names_done(&judge->known);
    judge->known = (pxi_names){0};
    pxi_arena_free(judge->arena);
    judge->arena = NULL;
    judge->count = 0;
}

void px_path_judge_free(px_path_judge *judge)
{
    if (!judge)
        return;
    judge_forget(judge);
    for (size_t i = 0; judge->names && i < judge->name_count; i++)
        free(judge->names[i]);
    free(judge->names);
    free(judge->vectors);
    px_text_done(&judge->all);
    px_text_done(&judge->text[0]);
    px_text_done(&judge->text[1]);
    free(judge);
}

px_status px_path_judge_check(const px_path_judge *judge, px_path_mode mode, px_error *err)
{
    if ((size_t)mode >= PX_PATH_MODE_COUNT)
        return px_fail(err, PX_E_USAGE, "there is no such mode");
    if (mode == PX_PATH_NO_NLDG)
        return PX_OK;
    if (!judge->encoder)
        return px_fail(err, PX_E_USAGE, "mode '%s' compares words and needs a text encoder",
                       px_path_mode_name(mode));
    if (mode != PX_PATH_LABEL_ONLY && !px_paths_bank(judge->paths))
        return px_fail(err, PX_E_USAGE,
                       "mode '%s' needs descriptions of units; 'plexor describe' makes a bank of "
                       "them",
                       px_path_mode_name(mode));
    return PX_OK;
}

/* The sentence of a path, into a text that the judge keeps. */
static px_status judge_text(px_path_judge *judge, px_path_mode mode, const px_path *path,
                            px_text *out, px_error *err)
{
    px_text_clear(out);
    if (mode != PX_PATH_NO_CNS)
        return px_path_text(judge->paths, path, (const char *const *)judge->names,
                            judge->name_count, &judge->words, mode, out, err);
    if (!judge->has_all)
        PX_TRY(pxi_path_all_words(judge->paths, judge->words.repeat, &judge->all, err));
    judge->has_all = true;
    px_text classes = {0};
    px_status status = pxi_path_classes(path, (const char *const *)judge->names, judge->name_count,
                                        &judge->words, &classes, err);
    PX_THEN(status, pxi_path_sentence(px_text_get(&classes), px_text_get(&judge->all), out, err));
    px_text_done(&classes);
    return status;
}

/* Embeds a text unless it is known; *index is its row among the vectors. */
static px_status judge_vector(px_path_judge *judge, const char *text, size_t *index, px_error *err)
{
    judge->sums.texts++;
    const int known = pxi_names_find(&judge->known, text);
    if (known >= 0) {
        *index = (size_t)known;
        return PX_OK;
    }
    size_t bytes;
    if (!judge->arena)
        judge->arena = pxi_arena_new();
    char *copy = judge->arena ? pxi_arena_strdup(judge->arena, text) : NULL;
    if (!copy || __builtin_mul_overflow(judge->size, sizeof *judge->vectors, &bytes) ||
        pxi_grow(&judge->vectors, &judge->capacity, judge->count + 1, bytes) != 0)
        return pxi_no_memory(err);
    px_text_facts facts = {0};
    PX_TRY(px_text_encoder_embed(judge->encoder, text, judge->vectors + judge->count * judge->size,
                                 &facts, err));
    if (pxi_names_add(&judge->known, copy, (int)judge->count) < 0)
        return pxi_no_memory(err);
    judge->sums.embedded++;
    judge->sums.tokens += facts.tokens;
    judge->sums.unknown += facts.unknown;
    judge->sums.dropped += facts.dropped;
    *index = judge->count++;
    return PX_OK;
}

px_status px_path_judge_similarity(px_path_judge *judge, px_path_mode mode, const px_path *a,
                                   const px_path *b, double *out, px_error *err)
{
    PX_TRY(px_path_judge_check(judge, mode, err));
    if (mode == PX_PATH_NO_NLDG) {
        *out = px_path_jaccard(a, b);
        return PX_OK;
    }
    PX_TRY(judge_text(judge, mode, a, &judge->text[0], err));
    PX_TRY(judge_text(judge, mode, b, &judge->text[1], err));
    if (judge->count + 2 > JUDGE_TEXTS_MOST)
        judge_forget(judge);
    size_t first, second;
    PX_TRY(judge_vector(judge, px_text_get(&judge->text[0]), &first, err));
    PX_TRY(judge_vector(judge, px_text_get(&judge->text[1]), &second, err));
    return px_path_cosine(judge->vectors + first * judge->size,
                          judge->vectors + second * judge->size, judge->size, first == second, out,
                          err);
}

px_path_judge_sums px_path_judge_get_sums(const px_path_judge *judge)
{
    return judge->sums;
}

px_status px_path_encoder_open(const px_bank *bank, const char *const *names, size_t name_count,
                               const px_text_encoder_options *options, px_text_encoder **out,
                               px_error *err)
{
    px_text_encoder_options own = options ? *options : px_text_encoder_options_default();
    const size_t units = bank ? px_bank_count(bank) : 0;
    const char **captions = pxi_calloc(units + 1, sizeof *captions);
    const char **classes = pxi_calloc(name_count + 1, sizeof *classes);
    px_status status = PX_OK;
    if (!captions || !classes)
        status = pxi_no_memory(err);
    size_t caption_count = 0, class_count = 0;
    for (size_t i = 0; i < units && status == PX_OK; i++)
        if (px_bank_described(px_bank_get(bank, i)))
            captions[caption_count++] = px_bank_get(bank, i)->phrase;
    for (size_t i = 0; names && i < name_count && status == PX_OK; i++)
        if (names[i])
            classes[class_count++] = names[i];
    own.captions = captions;
    own.caption_count = caption_count;
    own.classes = classes;
    own.class_count = class_count;
    PX_THEN(status, px_text_encoder_open(&own, out, err));
    free(captions);
    free(classes);
    return status;
}

uint64_t pxi_path_judge_encoder(const px_path_judge *judge)
{
    return judge->encoder ? px_text_encoder_id(judge->encoder) : 0;
}
