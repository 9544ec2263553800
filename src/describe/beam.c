/* src/describe/beam.c - words for vectors: greedy, and by beam search with re-ranking
 *
 * Beam search on p(d|R) with summed log-probabilities and no normalisation by length. Finished
 * hypotheses propose themselves once, with the score they have. Ties: the lower rank of the parent,
 * then the lower number of the word.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/beam.h"

#include "base/memory.h"
#include "describe/caption_math.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_status pxi_beam_init(pxi_beam *beam, const px_captioner *captioner,
                        const px_caption_decoding *decoding, px_error *err)
{
    const pxi_caption_sizes *s = &captioner->sizes;
    const size_t width = (size_t)decoding->beam, steps = (size_t)decoding->steps, h = s->hidden;
    *beam = (pxi_beam){
        .captioner = captioner, .width = width, .steps = steps, .lambda = decoding->lambda};
    const pxi_room_part parts[] = {
        {&beam->features, s->k * s->size}, {&beam->h[0], width * h},
        {&beam->h[1], width * h},          {&beam->c[0], width * h},
        {&beam->c[1], width * h},          {&beam->scores, width * s->words},
    };
    size_t bytes = 0;
    beam->memory = pxi_room_make(parts, PX_LEN(parts), &bytes);
    beam->found = pxi_calloc(width, sizeof *beam->found);
    beam->next = pxi_calloc(width, sizeof *beam->next);
    beam->heap = pxi_calloc(width, sizeof *beam->heap);
    beam->last = pxi_calloc(width, sizeof *beam->last);
    beam->words = pxi_calloc(2 * width, steps * sizeof *beam->words);
    beam->samples = pxi_calloc(width, sizeof *beam->samples);
    beam->order = pxi_calloc(width, sizeof *beam->order);
    beam->losses = pxi_calloc(width, sizeof *beam->losses);
    beam->alone = pxi_calloc(width, sizeof *beam->alone);
    px_status status = PX_OK;
    if (!beam->memory || !beam->found || !beam->next || !beam->heap || !beam->last ||
        !beam->words || !beam->samples || !beam->order || !beam->losses || !beam->alone)
        status = pxi_no_memory_for(err, "a beam of %zu", width);
    PX_THEN(status,
            pxi_decoder_room_init(&beam->decoder, &captioner->decoder, width, 1, false, err));
    PX_THEN_IF(
        status, beam->lambda != 0.0,
        pxi_language_room_init(&beam->language, &captioner->language, width, steps, false, err));
    PX_THEN_IF(status, beam->lambda != 0.0,
               pxi_block_init(&beam->block, width, steps, s, /* features= */ false, err));
    if (status != PX_OK) {
        pxi_beam_done(beam);
        return status;
    }
    for (size_t i = 0; i < width; i++) {
        beam->found[i].words = beam->words + i * steps;
        beam->next[i].words = beam->words + (width + i) * steps;
    }
    return PX_OK;
}

void pxi_beam_done(pxi_beam *beam)
{
    pxi_decoder_room_done(&beam->decoder);
    pxi_language_room_done(&beam->language);
    pxi_block_done(&beam->block);
    free(beam->memory);
    free(beam->found);
    free(beam->next);
    free(beam->heap);
    free(beam->last);
    free(beam->words);
    free(beam->samples);
    free(beam->order);
    free(beam->losses);
    free(beam->alone);
    *beam = (pxi_beam){0};
}

/* --- the best candidates --------------------------------------------------------------------- */

static bool candidate_better(const beam_candidate *a, const beam_candidate *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    return a->parent != b->parent ? a->parent < b->parent : a->word < b->word;
}

static int candidate_order(const void *a, const void *b)
{
    return candidate_better(a, b) ? -1 : candidate_better(b, a);
}

/* Keeps the `width` best: a heap whose top is the worst of them. */
static void heap_offer(pxi_beam *beam, size_t *count, beam_candidate candidate)
{
    beam_candidate *heap = beam->heap;
    if (!isfinite(candidate.score))
        return;
    size_t i = *count;
    if (i < beam->width) {
        for (++*count; i && candidate_better(&heap[(i - 1) / 2], &candidate); i = (i - 1) / 2)
            heap[i] = heap[(i - 1) / 2];
        heap[i] = candidate;
        return;
    }
    if (!candidate_better(&candidate, &heap[0]))
        return;
    for (i = 0;;) {
        size_t child = 2 * i + 1;
        if (child >= *count)
            break;
        if (child + 1 < *count && candidate_better(&heap[child], &heap[child + 1]))
            child++;
        if (!candidate_better(&candidate, &heap[child]))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = candidate;
}

/* All that hypotheses propose, by the scores of their rows. */
static size_t beam_collect(pxi_beam *beam)
{
    const size_t words = beam->captioner->sizes.words, known = beam->captioner->vocabulary.count;
    const int32_t stop = pxi_wordlist_special(&beam->captioner->vocabulary, PXI_WORD_STOP);
    size_t count = 0;
    for (size_t p = 0; p < beam->count; p++) {
        const pxi_hypothesis *parent = &beam->found[p];
        if (parent->finished) {
            heap_offer(beam, &count, (beam_candidate){parent->score, p, -1});
            continue;
        }
        const float *row = beam->scores + parent->row * words;
        const double base = parent->score - pxi_log_sum_exp(row, words);
        for (size_t w = 0; w < known; w++)
            heap_offer(beam, &count, (beam_candidate){base + (double)row[w], p, (int32_t)w});
        heap_offer(beam, &count, (beam_candidate){base + (double)row[stop], p, stop});
    }
    qsort(beam->heap, count, sizeof *beam->heap, candidate_order);
    return count;
}

/* --- the search ------------------------------------------------------------------------------ */

/* Makes the kept candidates the new hypotheses; their states, of `from`, go to `to`. Returns how
 * many are not finished. */
static size_t beam_renew(pxi_beam *beam, size_t count, int from, int to)
{
    const size_t hidden = beam->captioner->sizes.hidden;
    const int32_t stop = pxi_wordlist_special(&beam->captioner->vocabulary, PXI_WORD_STOP);
    size_t going = 0;
    for (size_t i = 0; i < count; i++) {
        const beam_candidate *kept = &beam->heap[i];
        const pxi_hypothesis *parent = &beam->found[kept->parent];
        pxi_hypothesis *child = &beam->next[i];
        memcpy(child->words, parent->words, parent->length * sizeof *child->words);
        child->score = kept->score;
        child->length = parent->length;
        child->finished = parent->finished || kept->word == stop;
        if (!parent->finished)
            child->words[child->length++] = kept->word;
        if (child->finished)
            continue;
        child->row = going++;
        beam->last[child->row] = kept->word;
        memcpy(beam->h[to] + child->row * hidden, beam->h[from] + parent->row * hidden,
               hidden * sizeof(float));
        memcpy(beam->c[to] + child->row * hidden, beam->c[from] + parent->row * hidden,
               hidden * sizeof(float));
    }
    pxi_hypothesis *old = beam->found;
    beam->found = beam->next;
    beam->next = old;
    beam->count = count;
    return going;
}

px_status pxi_beam_search(pxi_beam *beam, const float *features, px_error *err)
{
    const px_captioner *c = beam->captioner;
    const size_t hidden = c->sizes.hidden;
    pxi_standardise(&c->standard, &c->sizes, features, beam->features);
    PX_TRY(
        pxi_decoder_look(&c->decoder, c->decoder_weights, beam->features, 1, &beam->decoder, err));
    memcpy(beam->h[0], beam->decoder.h0, hidden * sizeof(float));
    memcpy(beam->c[0], beam->decoder.c0, hidden * sizeof(float));
    beam->found[0].score = 0.0;
    beam->found[0].length = beam->found[0].row = 0;
    beam->found[0].finished = false;
    beam->last[0] = pxi_wordlist_special(&c->vocabulary, PXI_WORD_START);
    beam->count = 1;
    size_t going = 1;
    for (size_t t = 0; t < beam->steps && going > 0; t++) {
        const pxi_decoder_step step = {.rows = going,
                                       .words = beam->last,
                                       .features = beam->features,
                                       .shared = true,
                                       .h = beam->h[0],
                                       .c = beam->c[0],
                                       .h_new = beam->h[1],
                                       .c_new = beam->c[1],
                                       .scores = beam->scores};
        PX_TRY(pxi_decoder_say(&c->decoder, c->decoder_weights, &step, &beam->decoder, err));
        const size_t count = beam_collect(beam);
        if (count == 0)
            return px_fail(err, PX_E_INPUT,
                           "the captioner gives no finite probabilities for these features");
        going = beam_renew(beam, count, /* from= */ 1, /* to= */ 0);
    }
    return PX_OK;
}

static int longer_first(const void *a, const void *b)
{
    const pxi_sample *x = *(const pxi_sample *const *)a, *y = *(const pxi_sample *const *)b;
    return x->length != y->length ? (x->length < y->length ? 1 : -1) : (x > y) - (x < y);
}

px_status pxi_beam_judge(pxi_beam *beam, px_error *err)
{
    const px_captioner *c = beam->captioner;
    memset(beam->alone, 0, beam->count * sizeof *beam->alone);
    if (beam->lambda == 0.0)
        return PX_OK;
    for (size_t i = 0; i < beam->count; i++) {
        beam->samples[i] =
            (pxi_sample){.words = beam->found[i].words, .length = beam->found[i].length};
        beam->order[i] = &beam->samples[i];
    }
    qsort(beam->order, beam->count, sizeof *beam->order, longer_first);
    pxi_block_fill(&beam->block, beam->order, beam->count,
                   pxi_wordlist_special(&c->vocabulary, PXI_WORD_START));
    const pxi_language_task task = {.net = &c->language,
                                    .weights = c->language_weights,
                                    .block = &beam->block,
                                    .losses = beam->losses};
    PX_TRY(pxi_language_run(&task, &beam->language, err));
    for (size_t r = 0; r < beam->count; r++)
        beam->alone[beam->order[r] - beam->samples] = -beam->losses[r];
    return PX_OK;
}

size_t pxi_rerank(const double *given, const double *alone, const bool *empty, size_t count,
                  double lambda)
{
    assert(count > 0);
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        const double mine = given[i] - lambda * alone[i], most = given[best] - lambda * alone[best];
        if (empty[best] != empty[i] ? empty[best] : mine > most)
            best = i;
    }
    return best;
}

px_status pxi_beam_choose(pxi_beam *beam, const float *features, size_t *choice, double *score,
                          px_error *err)
{
    double given[PX_CAPTION_MOST_BEAM];
    bool empty[PX_CAPTION_MOST_BEAM];
    PX_TRY(pxi_beam_search(beam, features, err));
    PX_TRY(pxi_beam_judge(beam, err));
    for (size_t i = 0; i < beam->count; i++) {
        given[i] = beam->found[i].score;
        empty[i] = beam->found[i].finished && beam->found[i].length == 1;
    }
    *choice = pxi_rerank(given, beam->alone, empty, beam->count, beam->lambda);
    *score = given[*choice] - beam->lambda * beam->alone[*choice];
    return PX_OK;
}

/* --- greedy ---------------------------------------------------------------------------------- */

typedef struct greedy_room {
    pxi_decoder_room decoder;
    float *h[2], *c[2], *scores, *memory;
} greedy_room;

static int32_t likeliest(const px_captioner *c, const float *row)
{
    int32_t best = pxi_wordlist_special(&c->vocabulary, PXI_WORD_STOP);
    float most = row[best];
    for (size_t w = c->vocabulary.count; w-- > 0;) /* ties: the lowest number */
        if (row[w] >= most) {
            most = row[w];
            best = (int32_t)w;
        }
    return best;
}

static px_status greedy_steps(const px_captioner *c, const float *features, size_t units,
                              size_t steps, greedy_room *room, int32_t *words, px_error *err)
{
    const int32_t stop = pxi_wordlist_special(&c->vocabulary, PXI_WORD_STOP);
    int32_t last[PXI_GREEDY_UNITS];
    bool ended[PXI_GREEDY_UNITS] = {false};
    PX_TRY(pxi_decoder_look(&c->decoder, c->decoder_weights, features, units, &room->decoder, err));
    for (size_t u = 0; u < units; u++)
        last[u] = pxi_wordlist_special(&c->vocabulary, PXI_WORD_START);
    size_t going = units;
    for (size_t t = 0; t < steps && going > 0; t++) {
        const pxi_decoder_step step = {.rows = units,
                                       .words = last,
                                       .features = features,
                                       .h = t ? room->h[t % 2] : room->decoder.h0,
                                       .c = t ? room->c[t % 2] : room->decoder.c0,
                                       .h_new = room->h[(t + 1) % 2],
                                       .c_new = room->c[(t + 1) % 2],
                                       .scores = room->scores};
        PX_TRY(pxi_decoder_say(&c->decoder, c->decoder_weights, &step, &room->decoder, err));
        for (size_t u = 0; u < units; u++) {
            last[u] = ended[u] ? stop : likeliest(c, room->scores + u * c->sizes.words);
            words[u * steps + t] = last[u];
            going -= !ended[u] && last[u] == stop;
            ended[u] = last[u] == stop;
        }
    }
    return PX_OK;
}

px_status pxi_greedy(const px_captioner *c, const float *features, size_t units, size_t steps,
                     int32_t *words, px_error *err)
{
    const size_t state = PXI_GREEDY_UNITS * c->sizes.hidden;
    greedy_room room = {0};
    const pxi_room_part parts[] = {{&room.h[0], state},
                                   {&room.h[1], state},
                                   {&room.c[0], state},
                                   {&room.c[1], state},
                                   {&room.scores, PXI_GREEDY_UNITS * c->sizes.words}};
    size_t bytes = 0;
    room.memory = pxi_room_make(parts, PX_LEN(parts), &bytes);
    px_status status = room.memory ? PX_OK : pxi_no_memory_for(err, "%zu bytes", bytes);
    PX_THEN(status,
            pxi_decoder_room_init(&room.decoder, &c->decoder, PXI_GREEDY_UNITS, 1, false, err));
    PX_THEN(status, greedy_steps(c, features, units, steps, &room, words, err));
    pxi_decoder_room_done(&room.decoder);
    free(room.memory);
    return status;
}
