/* src/attribute/path_text.c - a decision path as a sentence
 *
 * NSGen has "a photo of <classes> with <descriptions>.", classes shuffled; its published code puts
 * the descriptions through an unordered set, so that duplicates and the order of layers are lost.
 * Here classes come by score and descriptions by layer, a later duplicate left out.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/path_text.h"

#include "base/memory.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/rng.h>
#include <internal/text_encoder.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_path_words px_path_words_default(void)
{
    return (px_path_words){.classes = 1};
}

/* --- descriptions ---------------------------------------------------------------------------- */

typedef struct word_run { /* of descriptions, parted by commas */
    px_text *out;
    bool repeat;
    size_t count;
    const char **seen;
    size_t seen_count, seen_cap;
    bool failed;
} word_run;

static void run_add(word_run *run, const char *words)
{
    for (size_t i = 0; i < run->seen_count && !run->repeat; i++)
        if (strcmp(run->seen[i], words) == 0)
            return;
    if (!run->repeat) {
        if (pxi_grow(&run->seen, &run->seen_cap, run->seen_count + 1, sizeof *run->seen) != 0) {
            run->failed = true;
            return;
        }
        run->seen[run->seen_count++] = words;
    }
    px_text_format(run->out, "%s%s", run->count++ > 0 ? ", " : "", words);
}

static void run_add_unit(word_run *run, const px_paths *paths, size_t layer, int64_t unit)
{
    const px_path_layer *l = px_paths_layer(paths, layer);
    const px_bank *bank = px_paths_bank(paths);
    if (!bank) {
        px_text_format(run->out, "%s%s:%" PRId64, run->count++ > 0 ? ", " : "", l->name, unit);
        return;
    }
    const px_bank_unit *known = px_bank_find(bank, l->name, unit);
    if (known && px_bank_described(known))
        run_add(run, known->phrase);
}

static px_status run_end(word_run *run, px_error *err)
{
    const bool failed = run->failed || px_text_failed(run->out);
    free(run->seen);
    return failed ? pxi_no_memory(err) : PX_OK;
}

px_status pxi_path_critical_words(const px_paths *paths, const px_path *path, bool repeat,
                                  px_text *out, px_error *err)
{
    word_run run = {.out = out, .repeat = repeat};
    for (int32_t l = 0; l < path->layers; l++)
        if (path->step[l].unit >= 0)
            run_add_unit(&run, paths, (size_t)l, path->step[l].unit);
    return run_end(&run, err);
}

px_status pxi_path_all_words(const px_paths *paths, bool repeat, px_text *out, px_error *err)
{
    word_run run = {.out = out, .repeat = repeat};
    for (size_t l = 0; l < px_paths_layer_count(paths); l++)
        for (int64_t u = 0; u < px_paths_layer(paths, l)->units; u++)
            run_add_unit(&run, paths, l, u);
    return run_end(&run, err);
}

/* --- the sentence ---------------------------------------------------------------------------- */

static px_status text_class(int32_t c, const char *const *names, size_t name_count, px_text *out,
                            px_error *err)
{
    if (!names || (size_t)c >= name_count || !names[c]) {
        px_text_format(out, "class %d", c);
        return PX_OK;
    }
    char *words = px_class_words(names[c]);
    if (!words)
        return pxi_no_memory(err);
    px_text_add(out, words);
    free(words);
    return PX_OK;
}

px_status pxi_path_classes(const px_path *path, const char *const *names, size_t name_count,
                           const px_path_words *words, px_text *out, px_error *err)
{
    int32_t order[PX_PATH_CLASSES_MOST];
    int64_t places[PX_PATH_CLASSES_MOST] = {0};
    uint32_t count = 0;
    const int most = PX_MAX(1, PX_MIN(words->classes, (int)PX_PATH_CLASSES_MOST));
    for (int k = 0; k < most && path->classes[k] >= 0; k++)
        order[count++] = path->classes[k];
    for (uint32_t k = 0; k < count; k++)
        places[k] = k;
    if (words->shuffle && count > 1) {
        px_random random = px_rng(words->seed, PX_RNG_PATH, words->item, 0);
        px_rng_permutation(&random, places, count);
    }
    for (uint32_t k = 0; k < count; k++) {
        px_text_add(out, k > 0 ? " or " : "");
        PX_TRY(text_class(order[places[k]], names, name_count, out, err));
    }
    if (count == 0)
        px_text_add(out, "no class"); /* no score is a number */
    return px_text_failed(out) ? pxi_no_memory(err) : PX_OK;
}

px_status pxi_path_sentence(const char *classes, const char *descriptions, px_text *out,
                            px_error *err)
{
    px_text_add(out, "a photo");
    if (classes)
        px_text_format(out, " of a %s", classes);
    if (descriptions && descriptions[0])
        px_text_format(out, " with %s", descriptions);
    return px_text_failed(out) ? pxi_no_memory(err) : PX_OK;
}

px_status px_path_text(const px_paths *paths, const px_path *path, const char *const *names,
                       size_t name_count, const px_path_words *words, px_path_mode mode,
                       px_text *out, px_error *err)
{
    const px_path_words defaults = px_path_words_default();
    const px_path_words *w = words ? words : &defaults;
    px_text classes = {0}, descriptions = {0};
    px_status status = PX_OK;
    if (mode == PX_PATH_NO_NLDG)
        return px_fail(err, PX_E_USAGE, "paths without words have no text");
    if (mode == PX_PATH_NO_CNS)
        status = pxi_path_all_words(paths, w->repeat, &descriptions, err);
    else if (mode != PX_PATH_LABEL_ONLY)
        status = pxi_path_critical_words(paths, path, w->repeat, &descriptions, err);
    PX_THEN_IF(status, mode != PX_PATH_DESCR_ONLY,
               pxi_path_classes(path, names, name_count, w, &classes, err));
    PX_THEN(status, pxi_path_sentence(mode == PX_PATH_DESCR_ONLY ? NULL : px_text_get(&classes),
                                      px_text_get(&descriptions), out, err));
    px_text_done(&classes);
    px_text_done(&descriptions);
    return status;
}

px_status px_path_cosine(const float *a, const float *b, size_t size, bool texts_are_equal,
                         double *out, px_error *err)
{
    for (size_t i = 0; i < size; i++)
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return px_fail(err, PX_E_INPUT,
                           "the text encoder gives a number that is not finite: paths cannot be "
                           "compared");
    const double cosine = px_text_cosine(a, b, size);
    if (texts_are_equal)
        *out = 1.0;
    else if (isnan(cosine))
        *out = 0.0;
    else /* the same words in another order differ by rounding, which a tau of 1 must not see */
        *out = cosine > 1.0 - 1e-12 ? 1.0 : cosine;
    return PX_OK;
}
