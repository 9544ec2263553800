/* src/describe/virtual_score.c - how well captions of virtual units are told (gate g1) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/virtual_unit.h"

#include "base/memory.h"

#include <internal/bank.h>
#include <internal/captioner.h>
#include <stdlib.h>
#include <string.h>

typedef struct score_sums {
    px_bleu bleu;
    int64_t count, exact;
    int64_t said, meant, both; /* terms */
} score_sums;

/* Whether the text is one of the captions, but for blanks, case and punctuation. */
static px_status score_exact(const px_virtual_unit *u, const char *text, bool *exact, px_error *err)
{
    char *mine = pxi_words_normal(text);
    bool good = mine != NULL;
    *exact = false;
    for (int form = 0; good && form < PX_VIRTUAL_CAPTIONS; form++) {
        char *caption = pxi_words_normal(u->captions[form]);
        good = caption != NULL;
        *exact = *exact || (good && strcmp(mine, caption) == 0);
        free(caption);
    }
    free(mine);
    return good ? PX_OK : pxi_no_memory(err);
}

static px_status score_unit(const px_concepts *c, const px_virtual_unit *u, const char *text,
                            bool *mentioned, score_sums *sums, px_error *err)
{
    bool exact = false;
    PX_TRY(px_bleu_add(&sums->bleu, text, u->captions, PX_VIRTUAL_CAPTIONS, err));
    PX_TRY(score_exact(u, text, &exact, err));
    PX_TRY(px_concepts_mentions(c, text, mentioned, err));
    sums->count++;
    sums->exact += exact;
    for (size_t t = 0; t < c->term_count; t++)
        sums->said += mentioned[t];
    sums->meant += (int64_t)u->term_count;
    for (size_t t = 0; t < u->term_count; t++)
        sums->both += mentioned[u->terms[t]];
    return PX_OK;
}

static double share(int64_t part, int64_t of)
{
    return of > 0 ? (double)part / (double)of : 0.0; /* nothing said: nothing right */
}

px_status px_virtual_units_score(const px_virtual_units *units, const px_concepts *c,
                                 px_virtual_split split, const char *const *texts,
                                 px_caption_score *out, px_error *err)
{
    score_sums sums = {0};
    px_status status = PX_OK;
    bool *mentioned = NULL;
    PX_TRY(PX_NEW(mentioned, c->term_count, err));
    for (size_t i = 0; status == PX_OK && i < units->count; i++)
        if (units->units[i].split == split)
            status = score_unit(c, &units->units[i], texts[i], mentioned, &sums, err);
    free(mentioned);
    if (status != PX_OK)
        return status;
    *out = px_gates_none().held_out;
    if (sums.count > 0)
        *out = (px_caption_score){.count = sums.count,
                                  .bleu = px_bleu_value(&sums.bleu, NULL),
                                  .exact = share(sums.exact, sums.count),
                                  .precision = share(sums.both, sums.said),
                                  .recall = share(sums.both, sums.meant)};
    return PX_OK;
}
