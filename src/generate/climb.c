/* src/generate/climb.c - rows of a group: begun, moved, looked at, put */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/climb.h"

#include "base/memory.h"

#include <internal/preprocess.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- opening --------------------------------------------------------------------------------- */

static px_status climb_net(pxi_climb *climb, size_t net, const px_preprocess *pre, px_error *err)
{
    const px_fuzz *fuzz = climb->fuzz;
    const pxi_ascent_options options = {
        .model = fuzz->models[net],
        .pre = pre,
        .shape = fuzz->shape,
        .bytes = fuzz->rounds,
        .workers = pxi_pass_workers(fuzz->pass),
        .batch = fuzz->options.batch,
        .most = climb->group,
    };
    PX_TRY(pxi_ascent_new(&options, &climb->nets[net], err));
    climb->net_count = net + 1;
    const size_t group = (size_t)climb->group;
    const size_t units = (size_t)pxi_ascent_units(climb->nets[net]);
    const size_t classes = (size_t)pxi_ascent_classes(climb->nets[net]);
    if (units > UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "%zu neurons are too many to draw from", units);
    PX_TRY(pxi_unit_tally_init(&climb->tallies[net], (int64_t)units, err));
    climb->seen[net] = (pxi_seen){
        .predictions = pxi_calloc(group, sizeof(int64_t)),
        .confidences = pxi_calloc(group, sizeof(double)),
        .scores = pxi_calloc(group, classes * sizeof(float)),
        .values = pxi_calloc(group, units * sizeof(float)),
    };
    const pxi_seen *seen = &climb->seen[net];
    return seen->predictions && seen->confidences && seen->scores && seen->values
               ? PX_OK
               : pxi_no_memory_for(err, "a group of %zu inputs", group);
}

static px_status climb_rows(pxi_climb *climb, const pxi_climb_options *options, px_error *err)
{
    const size_t group = (size_t)climb->group, size = climb->fuzz->size;
    const size_t terms = options->class_terms + options->unit_terms;
    climb->rows = pxi_calloc(group, sizeof *climb->rows);
    climb->climbers = pxi_calloc(group, sizeof *climb->climbers);
    climb->reals = pxi_calloc(group, 3 * size * sizeof *climb->reals);
    climb->bytes = pxi_calloc(group, climb->fuzz->pixel_bytes);
    climb->terms = pxi_calloc(group, climb->fuzz->model_count * terms * sizeof *climb->terms);
    if (!climb->rows || !climb->climbers || !climb->reals || !climb->bytes || !climb->terms)
        return pxi_no_memory_for(err, "a group of %zu inputs", group);
    for (size_t i = 0; i < group; i++) {
        pxi_climb_row *row = &climb->rows[i];
        row->start = climb->reals + 3 * i * size;
        row->levels = row->start + size;
        row->gradient = row->levels + size;
        for (size_t net = 0; net < climb->fuzz->model_count; net++) {
            row->classes[net] = climb->terms + (i * climb->fuzz->model_count + net) * terms;
            row->units[net] = row->classes[net] + options->class_terms;
        }
    }
    return PX_OK;
}

px_status pxi_climb_open(pxi_climb *climb, px_fuzz *fuzz, const pxi_climb_options *options,
                         px_error *err)
{
    *climb = (pxi_climb){.fuzz = fuzz, .group = options->group, .yield = {.name = options->what}};
    PX_TRY(climb_rows(climb, options, err));
    for (size_t net = 0; net < fuzz->model_count; net++)
        PX_TRY(climb_net(climb, net, &options->pres[net], err));
    return PX_OK;
}

static void climb_forget(pxi_climb_row *row)
{
    for (; row->list_next < row->list_count; row->list_next++)
        free(row->list[row->list_next].pixels);
    row->list_next = row->list_count = 0;
}

void pxi_climb_close(pxi_climb *climb)
{
    for (int64_t i = 0; climb->rows && i < climb->group; i++) {
        climb_forget(&climb->rows[i]);
        free(climb->rows[i].list);
    }
    for (size_t net = 0; net < climb->net_count; net++) {
        pxi_ascent_free(climb->nets[net]);
        pxi_unit_tally_done(&climb->tallies[net]);
        free(climb->seen[net].predictions);
        free(climb->seen[net].confidences);
        free(climb->seen[net].scores);
        free(climb->seen[net].values);
    }
    free(climb->rows);
    free(climb->climbers);
    free(climb->reals);
    free(climb->bytes);
    free(climb->terms);
    *climb = (pxi_climb){0};
}

/* --- a round --------------------------------------------------------------------------------- */

void pxi_climb_begin(pxi_climb *climb, int64_t rows)
{
    const px_fuzz *fuzz = climb->fuzz;
    climb->rows_used = PX_MIN(rows, climb->group);
    for (int64_t i = 0; i < climb->rows_used; i++) {
        pxi_climb_row *row = &climb->rows[i];
        row->visit = climb->visits++;
        row->seed = (size_t)(row->visit % (int64_t)fuzz->seed_count);
        const pxi_fuzz_seed *seed = &fuzz->seeds[row->seed];
        row->active = true;
        row->stuck = false;
        row->label = seed->label;
        row->entry = row->depth = row->steps = 0;
        climb_forget(row);
        pxi_climb_place(climb, row, seed->pixels, seed->id);
        memcpy(row->start, row->levels, fuzz->size * sizeof *row->start);
    }
}

void pxi_climb_place(pxi_climb *climb, pxi_climb_row *row, const void *pixels, int64_t id)
{
    row->fresh = true;
    row->parent = id;
    pxi_fuzz_levels(climb->fuzz, pixels, row->levels);
}

px_status pxi_climb_push(const pxi_climb *climb, pxi_climb_row *row, int64_t id, px_error *err)
{
    void *pixels = pxi_alloc_aligned(climb->fuzz->pixel_bytes);
    if (!pixels ||
        pxi_grow(&row->list, &row->list_room, row->list_count + 1, sizeof *row->list) != 0) {
        free(pixels);
        return pxi_no_memory(err);
    }
    memcpy(pixels, row->pixels, climb->fuzz->pixel_bytes);
    row->list[row->list_count++] = (pxi_climb_entry){id, row->depth + 1, pixels};
    return PX_OK;
}

void pxi_climb_next(pxi_climb *climb, pxi_climb_row *row)
{
    row->stuck = false;
    row->active = row->list_next < row->list_count;
    if (!row->active)
        return;
    const pxi_climb_entry *entry = &row->list[row->list_next++];
    pxi_climb_place(climb, row, entry->pixels, entry->id);
    free(entry->pixels);
    row->depth = entry->depth;
    row->steps = 0;
    row->entry++;
}

bool pxi_climb_active(const pxi_climb *climb)
{
    for (int64_t i = 0; i < climb->rows_used; i++)
        if (climb->rows[i].active)
            return true;
    return false;
}

px_status pxi_climb_look(pxi_climb *climb, bool fresh, px_error *err)
{
    const px_fuzz *fuzz = climb->fuzz;
    int64_t count = 0;
    for (int64_t i = 0; i < climb->rows_used; i++) {
        pxi_climb_row *row = &climb->rows[i];
        if (!row->active || (fresh && !row->fresh))
            continue;
        uint8_t *pixels = climb->bytes + (size_t)count * fuzz->pixel_bytes;
        pxi_fuzz_round(fuzz, row->levels, NULL, pixels);
        row->pixels = pixels;
        row->place = count++;
    }
    for (size_t net = 0; count > 0 && net < climb->net_count; net++)
        PX_TRY(pxi_ascent_look(climb->nets[net], climb->bytes, count, &climb->seen[net], err));
    return PX_OK;
}

px_status pxi_climb_gradients(pxi_climb *climb, px_error *err)
{
    for (size_t net = 0; net < climb->net_count; net++) {
        int64_t count = 0;
        for (int64_t i = 0; i < climb->rows_used; i++) {
            const pxi_climb_row *row = &climb->rows[i];
            if (!row->active)
                continue;
            if (net == 0)
                memset(row->gradient, 0, climb->fuzz->size * sizeof *row->gradient);
            climb->climbers[count++] = (pxi_climber){.levels = row->levels,
                                                     .classes = row->classes[net],
                                                     .units = row->units[net],
                                                     .class_count = row->class_count[net],
                                                     .unit_count = row->unit_count[net],
                                                     .gradient = row->gradient};
        }
        if (count > 0)
            PX_TRY(pxi_ascent_gradients(climb->nets[net], climb->climbers, count, err));
    }
    return PX_OK;
}

void pxi_climb_move(const pxi_climb *climb, pxi_climb_row *row, double step, bool free)
{
    const px_fuzz *fuzz = climb->fuzz;
    pxi_ascent_move(row->gradient, px_length_levels(&fuzz->pre, step),
                    free ? -(double)INFINITY : fuzz->low, free ? (double)INFINITY : fuzz->high,
                    row->levels, fuzz->size);
}

bool pxi_climb_count(pxi_climb *climb, pxi_climb_row *row)
{
    bool number = !row->stuck;
    for (size_t net = 0; net < climb->net_count; net++)
        number &= pxi_climb_prediction(climb, net, row) >= 0;
    row->steps++;
    climb->tried++;
    climb->changed += pxi_climb_changed(climb, row);
    climb->depth = PX_MAX(climb->depth, row->depth + 1);
    pxi_fuzz_count(climb->fuzz, 1);
    if (!number)
        pxi_fuzz_count_not_finite(climb->fuzz);
    return number;
}

double pxi_climb_distance(const pxi_climb *climb, const pxi_climb_row *row, float *scratch)
{
    pxi_fuzz_levels(climb->fuzz, row->pixels, scratch);
    return pxi_ascent_distance(row->start, scratch, climb->fuzz->size);
}

bool pxi_climb_changed(const pxi_climb *climb, const pxi_climb_row *row)
{
    return memcmp(row->pixels, climb->fuzz->seeds[row->seed].pixels, climb->fuzz->pixel_bytes) != 0;
}

/* The largest stored value less the smallest. */
static double climb_range(const px_fuzz *fuzz, const void *pixels)
{
    const uint8_t *bytes = pixels;
    const float *reals = pixels;
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (size_t i = 0; i < fuzz->size; i++) {
        const double value = fuzz->rounds ? bytes[i] : (double)reals[i];
        low = PX_MIN(value, low); /* as fmin(), which gcc 12 cannot compile here for arm64 */
        high = PX_MAX(value, high);
    }
    return high - low;
}

bool pxi_climb_blank(const pxi_climb *climb, const pxi_climb_row *row)
{
    const double least = 0.1 * climb_range(climb->fuzz, climb->fuzz->seeds[row->seed].pixels);
    return climb_range(climb->fuzz, row->pixels) < least;
}

/* --- outputs --------------------------------------------------------------------------------- */

void pxi_climb_chain(const pxi_climb *climb, const pxi_climb_row *row, px_json *chain)
{
    px_json_object(chain, NULL);
    px_json_string(chain, "engine", climb->fuzz->engine->shown.entry.id);
    px_json_int(chain, "visit", row->visit);
}

void pxi_climb_chain_units(const pxi_climb *climb, const pxi_climb_row *row, size_t net,
                           const char *key, px_json *chain)
{
    char text[PXI_UNIT_TEXT];
    px_json_array(chain, key);
    for (size_t i = 0; i < row->unit_count[net]; i++)
        px_json_string(chain, NULL,
                       pxi_ascent_unit_text(climb->nets[net], row->units[net][i].at, text));
    px_json_end(chain);
}

/* On one line: a campaign may hold millions of them. */
static char *chain_pack(const char *json)
{
    char *packed = json ? pxi_strdup(json) : NULL;
    size_t length = 0;
    bool text = false, escaped = false;
    for (const char *c = packed ? json : ""; *c; c++) {
        if (*c == '"' && !escaped)
            text = !text;
        escaped = text && *c == '\\' && !escaped;
        if (text || (*c != '\n' && *c != ' '))
            packed[length++] = *c;
    }
    if (packed)
        packed[length] = '\0';
    return packed;
}

px_status pxi_climb_put(pxi_climb *climb, const pxi_climb_row *row, px_json *chain, bool needed,
                        int64_t *id, px_error *err)
{
    const int64_t prediction = pxi_climb_prediction(climb, 0, row);
    px_json_end(chain);
    char *packed = chain_pack(px_json_text(chain));
    const pxi_fuzz_find find = {
        .kind = prediction != row->label ? PX_INPUT_FAULT : PX_INPUT_KEPT,
        .parent = row->parent,
        .seed = row->seed,
        .prediction = prediction,
        .confidence = climb->seen[0].confidences[row->place],
        .chain = packed,
        .pixels = row->pixels,
        .needed = needed,
    };
    const px_status status =
        find.chain ? pxi_fuzz_put(climb->fuzz, &find, id, err) : pxi_no_memory(err);
    px_json_done(chain);
    free(packed);
    climb->kept += find.kind == PX_INPUT_KEPT;
    climb->faults += find.kind == PX_INPUT_FAULT;
    climb->last_find = row->visit;
    return status;
}

/* --- what is saved and shown ----------------------------------------------------------------- */

void pxi_climb_save(const pxi_climb *climb, px_text *bytes)
{
    pxi_fuzz_save_int(bytes, climb->visits);
    pxi_fuzz_save_int(bytes, climb->last_find);
    pxi_fuzz_save_int(bytes, climb->tried);
    pxi_fuzz_save_int(bytes, climb->changed);
    pxi_fuzz_save_int(bytes, climb->kept);
    pxi_fuzz_save_int(bytes, climb->faults);
    pxi_fuzz_save_int(bytes, climb->depth);
    for (size_t net = 0; net < climb->net_count; net++)
        for (int64_t i = 0; i < climb->tallies[net].count; i++)
            pxi_fuzz_save_int(bytes, climb->tallies[net].times[i]);
}

bool pxi_climb_load(pxi_climb *climb, pxi_fuzz_bytes *from)
{
    int64_t *const counts[] = {&climb->visits, &climb->last_find, &climb->tried, &climb->changed,
                               &climb->kept,   &climb->faults,    &climb->depth};
    const int64_t most = INT64_MAX / 4;
    for (size_t i = 0; i < PX_LEN(counts); i++)
        if (!pxi_fuzz_load_int(from, 0, most, counts[i]))
            return false;
    if (climb->last_find > climb->visits)
        return false;
    for (size_t net = 0; net < climb->net_count; net++) {
        pxi_unit_tally *tally = &climb->tallies[net];
        tally->covered = 0;
        for (int64_t i = 0; i < tally->count; i++) {
            if (!pxi_fuzz_load_int(from, 0, most, &tally->times[i]))
                return false;
            tally->covered += tally->times[i] > 0;
        }
    }
    pxi_climb_tell(climb);
    return true;
}

px_coverage pxi_climb_coverage(const pxi_climb *climb)
{
    const pxi_unit_tally *tally = &climb->tallies[0];
    return (px_coverage){.value = (double)tally->covered / (double)PX_MAX(tally->count, 1),
                         .covered = tally->covered,
                         .total = tally->count};
}

void pxi_climb_tell(pxi_climb *climb)
{
    climb->yield.tried = climb->tried;
    climb->yield.valid = climb->changed;
    climb->yield.kept = climb->kept;
    climb->yield.faults = climb->faults;
}

void pxi_climb_note(px_fuzz_report *report, const char *name, int64_t value)
{
    if (report->note_count == PX_FUZZ_NOTES)
        return;
    px_fuzz_note *note = &report->notes[report->note_count++];
    note->name = name;
    snprintf(note->value, sizeof note->value, "%" PRId64, value);
}

void pxi_climb_report(const pxi_climb *climb, px_fuzz_report *report)
{
    const int64_t seeds = (int64_t)climb->fuzz->seed_count;
    report->yields = &climb->yield;
    report->yield_count = 1;
    report->queue = seeds + climb->kept;
    report->pending = PX_MAX(seeds - climb->visits, 0);
    report->depth = climb->depth;
    report->coverage = pxi_climb_coverage(climb);
    report->stage = "seeds of this cycle";
    report->stage_total = seeds;
    if (seeds == 0)
        return;
    report->current = report->stage_done = climb->visits % seeds;
    report->cycles = climb->visits / seeds;
    report->cycles_without_finds = (climb->visits - climb->last_find) / seeds;
}
