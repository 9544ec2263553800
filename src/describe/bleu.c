/* src/describe/bleu.c - BLEU (Papineni, Roukos, Ward, Zhu, ACL 2002)
 *
 * Modified precisions with per-reference maxima, the brevity penalty by the closest reference
 * length (ties: the shorter), and the "exp" smoothing of mteval-v13a. Captions are short: where no
 * hypothesis of the whole corpus has n words, precision n is 0/0 and is left out of the mean
 * (sacreBLEU's effective order), or two-word phrases would always be at 0.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "text/vocabulary.h"

#include "base/memory.h"

#include <internal/captioner.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_words(const pxi_tokens *a, size_t i, const pxi_tokens *b, size_t j, size_t n)
{
    for (size_t w = 0; w < n; w++)
        if (strcmp(a->at[i + w], b->at[j + w]) != 0)
            return false;
    return true;
}

/* How often the n words from `at` of `of` occur in `in` from word `first` on. */
static int64_t occurrences(const pxi_tokens *of, size_t at, size_t n, const pxi_tokens *in,
                           size_t first)
{
    int64_t count = 0;
    for (size_t j = first; j + n <= in->count; j++)
        count += same_words(of, at, in, j, n);
    return count;
}

static int64_t matches_of_order(const pxi_tokens *hypothesis, const pxi_tokens *references,
                                size_t count, size_t n)
{
    int64_t matches = 0;
    for (size_t i = 0; i + n <= hypothesis->count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = same_words(hypothesis, i, hypothesis, j, n);
        if (seen)
            continue;
        int64_t most = 0;
        for (size_t r = 0; r < count; r++) {
            const int64_t there = occurrences(hypothesis, i, n, &references[r], 0);
            most = PX_MAX(most, there);
        }
        const int64_t said = occurrences(hypothesis, i, n, hypothesis, i);
        matches += PX_MIN(said, most);
    }
    return matches;
}

static int64_t closest_length(size_t length, const pxi_tokens *references, size_t count)
{
    size_t best = references[0].count;
    for (size_t r = 1; r < count; r++) {
        const size_t n = references[r].count;
        const size_t off = n > length ? n - length : length - n;
        const size_t least = best > length ? best - length : length - best;
        if (off < least || (off == least && n < best))
            best = n;
    }
    return (int64_t)best;
}

px_status px_bleu_add(px_bleu *bleu, const char *hypothesis, const char *const *references,
                      size_t count, px_error *err)
{
    if (count == 0)
        return px_fail(err, PX_E_USAGE, "BLEU of '%.100s' needs a reference", hypothesis);
    pxi_tokens said = {0}, *others = pxi_calloc(count, sizeof *others);
    px_status status = others ? PX_OK : pxi_no_memory(err);
    PX_THEN(status, pxi_tokens_init(hypothesis, &said, err));
    for (size_t r = 0; r < count && status == PX_OK; r++)
        status = pxi_tokens_init(references[r], &others[r], err);
    if (status == PX_OK) {
        for (size_t n = 1; n <= PX_BLEU_ORDERS; n++) {
            bleu->matches[n - 1] += matches_of_order(&said, others, count, n);
            bleu->total[n - 1] += said.count >= n ? (int64_t)(said.count - n + 1) : 0;
        }
        bleu->length += (int64_t)said.count;
        bleu->reference_length += closest_length(said.count, others, count);
    }
    for (size_t r = 0; others && r < count; r++)
        pxi_tokens_done(&others[r]);
    free(others);
    pxi_tokens_done(&said);
    return status;
}

double px_bleu_value(const px_bleu *bleu, double precisions[PX_BLEU_ORDERS])
{
    double log_sum = 0.0, half = 1.0;
    int orders = 0;
    for (int n = 0; n < PX_BLEU_ORDERS; n++) {
        double precision = NAN;
        if (bleu->total[n] > 0) {
            half = bleu->matches[n] ? half : half / 2.0;
            precision =
                (bleu->matches[n] ? (double)bleu->matches[n] : half) / (double)bleu->total[n];
            log_sum += log(precision); /* above 0 */
            orders++;
        }
        if (precisions)
            precisions[n] = precision;
    }
    if (orders == 0)
        return 0.0;
    const double length = (double)bleu->length, wanted = (double)bleu->reference_length;
    const double penalty = length < wanted ? 1.0 - wanted / length : 0.0; /* length >= 1 */
    return 100.0 * exp(log_sum / orders + penalty);
}
