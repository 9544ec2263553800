/* src/describe/describe_rate.c - a blind test of descriptions for people (NSGen, section 7.7)
 *
 * Half of the items show a unit's own phrase, half that of another unit. Which is which is in a
 * file of its own. Ratings come from people only: nothing here fills one in.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/describe_internal.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"
#include "describe/exemplar_internal.h"
#include <internal/bank.h>
#include <internal/folder.h>
#include <internal/rng.h>
#include <internal/stats.h>
#include <plexor/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITEMS_MOST = 10000,
    RATING_MOST = 5,
    FILE_MOST = 16 << 20,
};

static const char howto[] =
    "Each picture item-NNN.png shows the inputs that drive one unit of the network most; the "
    "tinted\n"
    "places are where it is active. ratings.csv has a phrase for each picture. Write a number "
    "into\n"
    "its last column:\n\n"
    "    5  the phrase says exactly what the tinted places have in common\n"
    "    4  mostly\n"
    "    3  partly\n"
    "    2  hardly\n"
    "    1  not at all\n\n"
    "Leave it empty where you cannot tell. Do not open key.csv before you are done: it says which\n"
    "phrases are the units' own and which were taken from another unit. Then\n\n"
    "    plexor describe --ratings THIS_FOLDER\n\n"
    "compares the two.\n";

typedef struct rate_job {
    const px_bank *bank;
    const px_exemplars *exemplars;
    const px_dataset *set;
    const char *folder;
    px_text ratings, key;
} rate_job;

static px_status rate_file(const rate_job *job, const char *name, const char *text, size_t size,
                           px_error *err)
{
    char *path = pxi_exemplar_path(job->folder, name);
    const px_status status = path ? pxi_file_write(path, text, size, err) : pxi_no_memory(err);
    free(path);
    return status;
}

/* The layer of that name, and the unit's row among its exemplars. */
static bool find_row(const px_exemplars *e, const px_bank_unit *unit, size_t *layer, int64_t *row)
{
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++) {
        const px_exemplar_layer *info = px_exemplars_layer(e, l);
        if (strcmp(info->name, unit->layer) == 0 && unit->unit < info->units) {
            *layer = l;
            *row = unit->unit;
            return true;
        }
    }
    return false;
}

static px_status rate_item(rate_job *job, int64_t item, const px_bank_unit *unit,
                           const char *phrase, bool own, px_error *err)
{
    size_t layer = 0;
    int64_t row = 0;
    char name[32];
    if (!find_row(job->exemplars, unit, &layer, &row))
        return px_fail(err, PX_E_MISMATCH, "the bank has a unit of layer '%s' without exemplars",
                       unit->layer);
    snprintf(name, sizeof name, "item-%03" PRId64 ".png", item);
    char *path = pxi_exemplar_path(job->folder, name);
    const px_status status =
        path ? pxi_exemplar_blind_sheet(job->exemplars, job->set, layer, row, path, err)
             : pxi_no_memory(err);
    free(path);
    px_text_format(&job->ratings, "%" PRId64 ",", item);
    pxi_csv_put(&job->ratings, phrase);
    px_text_add(&job->ratings, ",\n");
    px_text_format(&job->key, "%" PRId64 ",", item);
    pxi_csv_put(&job->key, unit->layer);
    px_text_format(&job->key, ",%" PRId64 ",%d\n", unit->unit, own);
    return status;
}

static px_status rate_items(rate_job *job, const size_t *described, size_t count, int64_t items,
                            uint64_t seed, px_error *err)
{
    int64_t *order = pxi_calloc(count, sizeof *order),
            *kind = pxi_calloc((size_t)items, sizeof *kind);
    px_status status = order && kind ? PX_OK : pxi_no_memory_for(err, "%zu units", count);
    if (status == PX_OK) {
        px_random r = px_rng(seed, PX_RNG_SAMPLE, 0, 0), s = px_rng(seed, PX_RNG_SAMPLE, 1, 0);
        px_rng_permutation(&r, order, (uint32_t)count);
        px_rng_permutation(&s, kind, (uint32_t)items); /* the first half of the numbers is own */
    }
    for (int64_t i = 0; i < items && status == PX_OK; i++) {
        const px_bank_unit *unit = px_bank_get(job->bank, described[order[i]]);
        const char *phrase = unit->phrase;
        const bool own = kind[i] < items / 2;
        px_random r = px_rng(seed, PX_RNG_SAMPLE, 2, (uint32_t)i);
        while (!own && strcmp(phrase, unit->phrase) == 0)
            phrase = px_bank_get(job->bank, described[px_rng_below(&r, (uint32_t)count)])->phrase;
        status = rate_item(job, i + 1, unit, phrase, own, err);
    }
    free(order);
    free(kind);
    return status;
}

/* Units with words; false where all say the same. */
static bool list_described(const px_bank *bank, size_t *described, size_t *count)
{
    bool differ = false;
    for (size_t i = 0; i < px_bank_count(bank); i++) {
        const px_bank_unit *unit = px_bank_get(bank, i);
        if (!px_bank_described(unit))
            continue;
        differ = differ ||
                 (*count && strcmp(unit->phrase, px_bank_get(bank, described[0])->phrase) != 0);
        described[(*count)++] = i;
    }
    return differ;
}

px_status px_describe_rate(const px_bank *bank, const px_exemplars *exemplars,
                           const px_dataset *set, int64_t items, uint64_t seed, const char *folder,
                           int64_t *written, px_error *err)
{
    rate_job job = {.bank = bank, .exemplars = exemplars, .set = set, .folder = folder};
    if (items < 2 || items % 2 || items > ITEMS_MOST)
        return px_fail(err, PX_E_USAGE,
                       "%" PRId64 " items to rate: expected an even number, 2 to %d", items,
                       ITEMS_MOST);
    size_t count = 0, *described = pxi_calloc(PX_MAX(px_bank_count(bank), 1), sizeof *described);
    px_status status = PX_OK;
    if (!described)
        status = pxi_no_memory_for(err, "%zu units", px_bank_count(bank));
    else if (!list_described(bank, described, &count))
        status = px_fail(err, PX_E_USAGE,
                         "no two units are described differently: there is nothing to rate");
    PX_THEN(status, px_folder_make(folder, err));
    items = PX_MIN(items, (int64_t)(count & ~(size_t)1));
    px_text_add(&job.ratings, "item,phrase,rating\n");
    px_text_add(&job.key, "item,layer,unit,own\n");
    PX_THEN(status, rate_items(&job, described, count, items, seed, err));
    if (status == PX_OK && (px_text_failed(&job.ratings) || px_text_failed(&job.key)))
        status = pxi_no_memory(err);
    PX_THEN(status,
            rate_file(&job, "ratings.csv", px_text_get(&job.ratings), job.ratings.length, err));
    PX_THEN(status, rate_file(&job, "key.csv", px_text_get(&job.key), job.key.length, err));
    PX_THEN(status, rate_file(&job, "HOWTO.txt", howto, sizeof howto - 1, err));
    if (status == PX_OK && written)
        *written = items;
    px_text_done(&job.ratings);
    px_text_done(&job.key);
    free(described);
    return status;
}

/* --- back ------------------------------------------------------------------------------------ */

/* Reads `column` of a file whose first column is the item, 1 to ITEMS_MOST. */
static px_status read_column(const char *folder, const char *name, const char *column, double least,
                             double most, double *out, px_error *err)
{
    char *path = pxi_exemplar_path(folder, name), *text = NULL;
    size_t size = 0;
    px_status status =
        path ? pxi_file_read(path, FILE_MOST, &text, &size, err) : pxi_no_memory(err);
    pxi_csv csv = {.at = text, .end = text ? text + size : NULL, .name = path, .line = 1};
    if (status == PX_OK && memchr(text, '\0', size))
        status = px_fail(err, PX_E_INPUT, "'%s': not a CSV text: it has bytes of 0", path);
    PX_THEN(status, pxi_csv_row(&csv, err));
    size_t at = 0;
    while (status == PX_OK && at < csv.count && strcmp(csv.fields[at], column) != 0)
        at++;
    if (status == PX_OK && at == csv.count)
        status = px_fail(err, PX_E_INPUT, "'%s': no column '%s'", path, column);
    while (status == PX_OK) {
        status = pxi_csv_row(&csv, err);
        if (status != PX_OK || csv.count == 0)
            break;
        char *end = NULL, *end_of_item = NULL;
        const long item = strtol(csv.fields[0], &end_of_item, 10);
        const char *field = at < csv.count ? csv.fields[at] : "";
        const double value = strtod(field, &end);
        csv.line--;
        if (*end_of_item || item < 1 || item > ITEMS_MOST)
            status = pxi_csv_fail(&csv, "the item is no number of one", err);
        else if (*end || (*field && !(value >= least && value <= most)))
            status = pxi_csv_fail(&csv, "a rating is a number from 1 to 5, or nothing", err);
        else
            out[item - 1] = *field ? value : NAN;
        csv.line++;
    }
    free(text);
    free(path);
    return status;
}

px_status px_describe_ratings(const char *folder, px_ratings *out, px_error *err)
{
    double *rating = pxi_calloc(ITEMS_MOST, sizeof *rating),
           *own = pxi_calloc(ITEMS_MOST, sizeof *own);
    double *a = pxi_calloc(ITEMS_MOST, sizeof *a), *b = pxi_calloc(ITEMS_MOST, sizeof *b);
    px_ratings r = {.mean_own = NAN, .mean_other = NAN, .p = NAN};
    px_status status = rating && own && a && b ? PX_OK : pxi_no_memory(err);
    for (int i = 0; status == PX_OK && i < ITEMS_MOST; i++)
        rating[i] = own[i] = NAN;
    PX_THEN(status, read_column(folder, "ratings.csv", "rating", 1, RATING_MOST, rating, err));
    PX_THEN(status, read_column(folder, "key.csv", "own", 0, 1, own, err));
    double sum_own = 0.0, sum_other = 0.0;
    for (int i = 0; status == PX_OK && i < ITEMS_MOST; i++) {
        if (isnan(rating[i]) || isnan(own[i]))
            continue;
        if (own[i] > 0.0) {
            a[r.own++] = rating[i];
            sum_own += rating[i];
        } else {
            b[r.other++] = rating[i];
            sum_other += rating[i];
        }
    }
    if (status == PX_OK && r.own + r.other == 0)
        status = px_fail(err, PX_E_INPUT, "'%s/ratings.csv': no item has a rating yet", folder);
    if (status == PX_OK) {
        px_mann_whitney_result test = {0};
        r.mean_own = r.own ? sum_own / (double)r.own : NAN;
        r.mean_other = r.other ? sum_other / (double)r.other : NAN;
        if (r.own && r.other &&
            px_mann_whitney(a, (size_t)r.own, b, (size_t)r.other, PX_TWO_SIDED, PX_U_AUTO, &test,
                            NULL) == PX_OK)
            r.p = test.p;
        *out = r;
    }
    free(rating);
    free(own);
    free(a);
    free(b);
    return status;
}
