/* src/probe/layer_select.c - the text of --layers: words, names, globs, #i, !x, left to right */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "probe/probe_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- words ----------------------------------------------------------------------------------- */

static bool word_all(const px_layer *layer)
{
    (void)layer;
    return true;
}

static bool word_hidden(const px_layer *layer)
{
    return layer->hidden;
}

static bool word_conv(const px_layer *layer)
{
    return layer->hidden && layer->kind == PX_LAYER_CONV;
}

static bool word_dense(const px_layer *layer)
{
    return layer->hidden && layer->kind == PX_LAYER_DENSE;
}

static bool word_recurrent(const px_layer *layer)
{
    return layer->hidden && layer->kind == PX_LAYER_RECURRENT;
}

static bool word_heads(const px_layer *layer)
{
    return layer->kind == PX_LAYER_HEADS;
}

static bool word_block(const px_layer *layer)
{
    return layer->hidden && layer->block;
}

static bool word_logits(const px_layer *layer)
{
    return layer->logits;
}

static const struct {
    const char *word;
    bool (*takes)(const px_layer *layer);
} words[] = {
    {"all", word_all},       {"hidden", word_hidden},       {"conv", word_conv},
    {"dense", word_dense},   {"recurrent", word_recurrent}, {"heads", word_heads},
    {"logits", word_logits},
};

/* The last hidden layer; count if none at all. */
static size_t layers_last_hidden(const pxi_layers *all)
{
    for (size_t i = all->count; i-- > 0;)
        if (all->layer[i].hidden)
            return i;
    return all->count;
}

/* The last hidden layer with spatial extent; none: the last hidden layer. */
static size_t layers_last_encoder(const pxi_layers *all)
{
    for (size_t i = all->count; i-- > 0;)
        if (all->layer[i].hidden && all->places[i] > 1)
            return i;
    return layers_last_hidden(all);
}

static const struct {
    const char *word;
    size_t (*find)(const pxi_layers *all); /* count: there is none */
} single_words[] = {
    {"last-encoder", layers_last_encoder},
    {"last-hidden", layers_last_hidden},
};

/* What a decision goes through: of a transformer the residual stream behind every block, of other
 * networks the last hidden convolution of every size that pictures have on their way. Fewer than
 * three sizes: every hidden convolution; none at all: the dense layers. */
static void layers_stages(const pxi_layers *all, bool take, bool *in)
{
    enum { stages_least = 3 };
    size_t stages = 0, convs = 0, blocks = 0;
    for (int pass = 0; pass < 2; pass++) /* count, then choose */
        for (size_t i = 0; i < all->count; i++) {
            const bool conv = word_conv(&all->layer[i]);
            bool last = conv && all->places[i] > 1;
            for (size_t k = i + 1; last && k < all->count; k++)
                last = !word_conv(&all->layer[k]) || all->places[k] != all->places[i];
            const bool chosen = blocks > 0               ? word_block(&all->layer[i])
                                : stages >= stages_least ? last
                                : convs > 0              ? conv
                                                         : word_hidden(&all->layer[i]);
            if (pass == 1 && chosen)
                in[i] = take;
            else if (pass == 0)
                stages += last, convs += conv, blocks += word_block(&all->layer[i]);
        }
}

static const char stages_word[] = "stages";

/* --- names ----------------------------------------------------------------------------------- */

/* "#12" to 12; -1 if it is not of that form. */
static int64_t parse_position(const char *text)
{
    if (text[0] != '#' || !isdigit((unsigned char)text[1]))
        return -1;
    char *end;
    errno = 0;
    const long long position = strtoll(text + 1, &end, 10);
    return *end == '\0' && errno == 0 ? position : -1;
}

size_t pxi_layers_match(const pxi_layers *all, const char *text, size_t first)
{
    const int64_t position = parse_position(text);
    if (position >= 0)
        return position < (int64_t)all->count && (size_t)position >= first ? (size_t)position
                                                                           : all->count;
    for (size_t i = first; i < all->count; i++)
        if (strcmp(all->layer[i].name, text) == 0)
            return i;
    for (size_t i = 0; i < first; i++) /* a name wins over aliases, also those further on */
        if (strcmp(all->layer[i].name, text) == 0)
            return all->count;
    for (size_t i = first; i < all->count; i++)
        for (int k = 0; k < PXI_LAYER_ALIASES; k++)
            if (all->alias[i][k] && strcmp(all->alias[i][k], text) == 0)
                return i;
    return all->count;
}

/* Number of single-letter edits, given up beyond what `row` holds. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[64];
    const size_t m = strlen(a), n = strlen(b);
    if (n >= PX_LEN(row))
        return m + n;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t replaced =
                diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            row[j] = PX_MIN(replaced, 1 + PX_MIN(row[j], row[j - 1]));
        }
    }
    return row[n];
}

const char *pxi_layers_hint(const pxi_layers *all, const char *text, char buffer[PXI_HINT_TEXT])
{
    const size_t close = PX_MAX(2, strlen(text) / 3);
    size_t best = close + 1;
    const char *match = NULL;
    const size_t single = PX_LEN(words) + 1, named = single + PX_LEN(single_words);
    for (size_t i = 0; i < named + all->count; i++) {
        const char *candidate = i < PX_LEN(words) ? words[i].word
                                : i < single      ? stages_word
                                : i < named       ? single_words[i - single].word
                                                  : all->layer[i - named].name;
        const size_t distance = edit_distance(text, candidate);
        if (distance < best)
            best = distance, match = candidate;
    }
    for (size_t i = 0; !match && text[0] && i < all->count; i++)
        if (strstr(all->layer[i].name, text)) /* conv1 of '/layer1/conv1/Conv' */
            match = all->layer[i].name;
    if (match)
        snprintf(buffer, PXI_HINT_TEXT, "; did you mean '%.100s'?", match);
    else
        snprintf(buffer, PXI_HINT_TEXT, "; 'plexor info' lists the layers");
    return buffer;
}

/* --- selectors ------------------------------------------------------------------------------- */

/* Adds to or takes from `in` what one selector names. */
static px_status select_apply(const pxi_layers *all, const char *text, bool take, bool *in,
                              px_error *err)
{
    for (size_t w = 0; w < PX_LEN(words); w++)
        if (strcmp(text, words[w].word) == 0) {
            for (size_t i = 0; i < all->count; i++)
                if (words[w].takes(&all->layer[i]))
                    in[i] = take;
            return PX_OK;
        }
    if (strcmp(text, stages_word) == 0) {
        layers_stages(all, take, in);
        return PX_OK;
    }
    for (size_t w = 0; w < PX_LEN(single_words); w++)
        if (strcmp(text, single_words[w].word) == 0) {
            const size_t i = single_words[w].find(all);
            if (i < all->count)
                in[i] = take;
            return PX_OK;
        }

    bool found = false;
    for (size_t i = 0; (i = pxi_layers_match(all, text, i)) < all->count; i++) {
        in[i] = take;
        found = true;
    }
    const bool exact = found;
    for (size_t i = 0; !exact && i < all->count; i++)
        if (fnmatch(text, all->layer[i].name, 0) == 0) {
            in[i] = take;
            found = true;
        }
    if (found)
        return PX_OK;
    if (parse_position(text) >= 0)
        return px_fail(err, PX_E_USAGE, "there is no layer '%.60s': the network has #0 to #%zu",
                       text, all->count - 1);
    char hint[PXI_HINT_TEXT];
    return px_fail(err, PX_E_USAGE, "no layer is called '%.100s'%s", text,
                   pxi_layers_hint(all, text, hint));
}

/* Cuts *text at the next comma that no backslash protects; NULL at the end. */
static char *select_next(char **text)
{
    char *start = *text;
    if (!start)
        return NULL;
    while (isspace((unsigned char)*start))
        start++;
    char *end = start;
    while (*end && *end != ',')
        end += *end == '\\' && end[1] ? 2 : 1;
    *text = *end ? end + 1 : NULL;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return start;
}

px_status pxi_layers_select(px_probe *probe, const char *layers, px_error *err)
{
    const pxi_layers *all = &probe->all;
    if (all->count == 0)
        return px_fail(err, PX_E_INPUT,
                       "the network has no layers: no activation and no linear operator");
    bool *in = pxi_arena_alloc(probe->arena, all->count, sizeof *in);
    char *copy = pxi_arena_strdup(probe->arena, layers);
    probe->chosen = pxi_arena_alloc(probe->arena, all->count, sizeof *probe->chosen);
    if (!in || !copy || !probe->chosen)
        return pxi_no_memory(err);

    bool first = true;
    for (char *rest = copy, *text; (text = select_next(&rest)); first = false) {
        const bool take = text[0] != '!';
        if (!take && first) /* nothing to take out of yet: of what is taken by default */
            PX_TRY(select_apply(all, "hidden", true, in, err));
        if (text[take ? 0 : 1] == '\0')
            return px_fail(err, PX_E_USAGE, "an empty layer name in '%.200s'", layers);
        PX_TRY(select_apply(all, take ? text : text + 1, take, in, err));
    }
    for (size_t i = 0; i < all->count; i++)
        if (in[i])
            probe->chosen[probe->layer_count++] = i;
    if (probe->layer_count == 0)
        return px_fail(err, PX_E_USAGE,
                       "'%.200s' chooses none of the %zu layers; 'plexor info' lists them", layers,
                       all->count);
    return PX_OK;
}
