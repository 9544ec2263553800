/* src/base/nearest_word.c - which known name was meant by a word that is none */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/text.h>

#include <string.h>

/* Edit distance in which swapping two neighbours counts as one edit. */
static size_t word_distance(const char *a, const char *b)
{
    enum { MOST = 31 };
    const size_t n = strlen(a), m = strlen(b);
    if (n > MOST || m > MOST)
        return MOST;
    size_t rows[3][MOST + 1];
    size_t *older = rows[0], *old = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        old[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = old[j - 1] + (a[i - 1] != b[j - 1]);
            best = old[j] + 1 < best ? old[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
        size_t *free_row = older;
        older = old;
        old = now;
        now = free_row;
    }
    return old[m];
}

const char *px_nearest_word(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) < 4 ? 2 : 3; /* fewer than this many edits */
    for (size_t i = 0; i < count; i++) {
        const size_t distance = word_distance(word, names[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}
