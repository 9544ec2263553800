/* src/generate/fuzz_rows.c - what a run writes: outputs, coverage over time, its own state
 *
 * Outputs are put into a list, with their ids, and written later: a wave of mutants has one job
 * that does so while others run the network. A batch is what happened since the last commit, whole
 * turns; the state of the frame and of the engine is in it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/fuzz_internal.h"

#include "base/memory.h"
#include "generate/seed_names.h"

#include <internal/closeness.h>
#include <internal/store.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

typedef struct pending_row {
    px_campaign_input input;
    size_t chain, name, pixels; /* offsets */
} pending_row;

struct pxi_fuzz_pending {
    pending_row *rows;
    size_t count, capacity, written;
    px_text bytes; /* chains and pixels */
    int64_t last;  /* the highest id, written or not */
    uint8_t *scratch;
};

static const char FUZZ_STATE[] = "fuzz";               /* name of the blob */
enum { FUZZ_STATE_FIRST = 1, FUZZ_STATE_VERSION = 2 }; /* 2: with `rejected` */

/* --- bytes ----------------------------------------------------------------------------------- */

/* Seven bits at a time, the sign in the lowest. */
void pxi_fuzz_save_int(px_text *bytes, int64_t value)
{
    uint64_t left = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    char digits[10];
    size_t used = 0;
    do {
        digits[used++] = (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
        left >>= 7;
    } while (left);
    px_text_add_bytes(bytes, digits, used);
}

void pxi_fuzz_save_real(px_text *bytes, double value)
{
    uint64_t bits;
    char digits[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        digits[i] = (char)(bits >> 8 * i & 0xff);
    px_text_add_bytes(bytes, digits, sizeof digits);
}

bool pxi_fuzz_load_int(pxi_fuzz_bytes *from, int64_t least, int64_t most, int64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (from->at >= from->end)
            return false;
        const uint8_t digit = *from->at++;
        value |= (uint64_t)(digit & 0x7f) << shift;
        if (digit & 0x80)
            continue;
        *out = (int64_t)(value >> 1 ^ (~(value & 1) + 1));
        return *out >= least && *out <= most;
    }
    return false;
}

bool pxi_fuzz_load_real(pxi_fuzz_bytes *from, double *out)
{
    uint64_t bits = 0;
    if (from->end - from->at < 8)
        return false;
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)*from->at++ << 8 * i;
    memcpy(out, &bits, sizeof bits);
    return true;
}

px_status pxi_fuzz_bad_state(const px_fuzz *fuzz, px_error *err)
{
    return px_fail(err, PX_E_INPUT,
                   "'%s': what the run had in mind is damaged; 'plexor export' still reads its "
                   "inputs",
                   px_campaign_folder(fuzz->campaign));
}

/* --- outputs --------------------------------------------------------------------------------- */

px_status pxi_fuzz_rows_open(px_fuzz *fuzz, px_error *err)
{
    fuzz->pending = pxi_calloc(1, sizeof *fuzz->pending);
    if (fuzz->pending)
        fuzz->pending->scratch = pxi_calloc(fuzz->size, sizeof(float));
    fuzz->class_hit = pxi_calloc((size_t)fuzz->classes, sizeof *fuzz->class_hit);
    if (fuzz->classes <= 4096)
        fuzz->type_hit =
            pxi_calloc((size_t)fuzz->classes * (size_t)fuzz->classes, sizeof *fuzz->type_hit);
    if (!fuzz->pending || !fuzz->pending->scratch || !fuzz->class_hit ||
        (fuzz->classes <= 4096 && !fuzz->type_hit))
        return pxi_no_memory(err);
    const pxi_twins_rule rule = {.shape = fuzz->shape,
                                 .bytes = fuzz->rounds,
                                 .low = fuzz->low,
                                 .high = fuzz->high,
                                 .near = fuzz->common->near};
    PX_TRY(pxi_fuzz_twins_new(&rule, &fuzz->twins, err));
    return px_campaign_last(fuzz->campaign, &fuzz->pending->last, err);
}

void pxi_fuzz_rows_close(px_fuzz *fuzz)
{
    if (fuzz->pending) {
        free(fuzz->pending->rows);
        free(fuzz->pending->scratch);
        px_text_done(&fuzz->pending->bytes);
        free(fuzz->pending);
    }
    free(fuzz->class_hit);
    free(fuzz->type_hit);
    pxi_fuzz_twins_free(fuzz->twins);
}

static px_status rows_add(px_fuzz *fuzz, const px_campaign_input *input, const char *chain,
                          const char *name, const void *pixels, int64_t *id, px_error *err)
{
    pxi_fuzz_pending *p = fuzz->pending;
    PX_TRY(PX_GROW(p->rows, p->capacity, p->count + 1, err));
    pending_row *row = &p->rows[p->count];
    *row = (pending_row){.input = *input, .chain = p->bytes.length};
    px_text_add_bytes(&p->bytes, chain ? chain : "", chain ? strlen(chain) + 1 : 1);
    row->name = p->bytes.length;
    px_text_add_bytes(&p->bytes, name ? name : "", name ? strlen(name) + 1 : 1);
    px_text_add_bytes(&p->bytes, "\0\0\0\0\0\0\0", -p->bytes.length & 7); /* floats lie aligned */
    row->pixels = p->bytes.length;
    px_text_add_bytes(&p->bytes, pixels, fuzz->pixel_bytes);
    if (px_text_failed(&p->bytes))
        return pxi_no_memory(err);
    p->count++;
    *id = ++p->last;
    return PX_OK;
}

px_status pxi_fuzz_write(px_fuzz *fuzz, px_error *err)
{
    pxi_fuzz_pending *p = fuzz->pending;
    for (; p->written < p->count; p->written++) {
        pending_row *row = &p->rows[p->written];
        row->input.chain = p->bytes.data + row->chain;
        row->input.name = p->bytes.data + row->name;
        PX_TRY(
            px_campaign_put(fuzz->campaign, &row->input, p->bytes.data + row->pixels, NULL, err));
    }
    p->count = p->written = 0;
    px_text_clear(&p->bytes);
    return PX_OK;
}

int64_t pxi_fuzz_last(const px_fuzz *fuzz)
{
    return fuzz->pending->last;
}

px_status pxi_fuzz_read(px_fuzz *fuzz, int64_t id, void *pixels, px_error *err)
{
    const pxi_fuzz_pending *p = fuzz->pending;
    px_campaign_input input;
    const int64_t written = p->last - (int64_t)(p->count - p->written);
    if (id > written && id <= p->last) {
        const size_t at = p->written + (size_t)(id - written - 1);
        memcpy(pixels, p->bytes.data + p->rows[at].pixels, fuzz->pixel_bytes);
        return PX_OK;
    }
    return px_campaign_read(fuzz->campaign, id, &input, pixels, err);
}

/* Distances from the root, in units. */
static void rows_distance(const px_fuzz *fuzz, const void *a, const void *b, px_campaign_input *out)
{
    const uint8_t *ab = a, *bb = b;
    const float *af = a, *bf = b;
    double sum = 0.0, most = 0.0;
    int64_t changed = 0;
    if (fuzz->rounds) {
        uint64_t squares = 0;
        int largest = 0;
        for (size_t i = 0; i < fuzz->size; i++) {
            const int by = abs(ab[i] - bb[i]);
            squares += (uint64_t)(by * by);
            largest = PX_MAX(largest, by);
            changed += by != 0;
        }
        sum = (double)squares;
        most = largest;
    } else {
        for (size_t i = 0; i < fuzz->size; i++) {
            const double by = fabs((double)af[i] - (double)bf[i]);
            sum += by * by;
            most = fmax(most, by);
            changed += by != 0.0;
        }
    }
    out->l0 = changed;
    out->l2 = sqrt(sum) * fuzz->unit;
    out->linf = most * fuzz->unit;
}

/* Counts an output that is in the campaign, or will be. */
static void rows_count(px_fuzz *fuzz, const px_campaign_input *input)
{
    px_fuzz_report *now = &fuzz->now;
    const int64_t label = input->label, prediction = input->prediction;
    now->outputs++;
    now->kept += input->kind == PX_INPUT_KEPT;
    now->last_find_s = input->found_s;
    if (input->kind != PX_INPUT_FAULT)
        return;
    now->faults++;
    now->last_fault_s = input->found_s;
    now->unique_faults += input->twin == 0;
    now->close_faults += input->measured && px_is_close(&input->near);
    if (prediction < 0 || prediction >= fuzz->classes || label < 0 || label >= fuzz->classes)
        return;
    now->classes += !fuzz->class_hit[prediction];
    fuzz->class_hit[prediction] = true;
    if (!fuzz->type_hit)
        return;
    bool *type = &fuzz->type_hit[label * fuzz->classes + prediction];
    now->fault_types += !*type;
    *type = true;
}

px_status pxi_fuzz_measure(const px_fuzz *fuzz, size_t seed, const void *pixels,
                           const px_drawn *links, size_t count, px_closeness *out, px_error *err)
{
    return px_closeness_measure(links, count, &fuzz->shape, fuzz->rounds ? PX_UINT8 : PX_FLOAT32,
                                fuzz->seeds[seed].pixels, pixels, out, err);
}

bool pxi_fuzz_accepts(px_fuzz *fuzz, const px_closeness *near)
{
    const px_closeness *least = &fuzz->options.least;
    const bool far = (least->similarity > 0.0 && !(near->similarity >= least->similarity)) ||
                     (least->inside > 0.0 && !(near->inside >= least->inside));
    fuzz->now.rejected += far;
    return !far;
}

px_status pxi_fuzz_put(px_fuzz *fuzz, const pxi_fuzz_find *find, int64_t *id, px_error *err)
{
    const pxi_fuzz_seed *root = &fuzz->seeds[find->seed];
    const bool fault = find->kind == PX_INPUT_FAULT;
    px_campaign_input input = {
        .kind = find->kind,
        .parent = find->parent,
        .root = root->id,
        .data_index = root->data_index,
        .label = root->label,
        .prediction = find->prediction,
        .confidence = find->confidence,
        .step = fuzz->executions,
        .found_s = pxi_fuzz_seconds(fuzz),
    };
    fuzz->last_output = fuzz->turn;
    int64_t repeats = 0;
    if (fault) {
        fuzz->last_fault = fuzz->executions;
        input.twin =
            pxi_fuzz_twins_find(fuzz->twins, find->pixels, find->seed, find->prediction, &repeats);
        if (input.twin && !find->needed && repeats >= fuzz->common->twins) {
            fuzz->unstored++;
            *id = 0;
            return PX_OK;
        }
    }
    rows_distance(fuzz, root->pixels, find->pixels, &input);
    input.measured = fault;
    if (find->near)
        input.near = *find->near;
    else if (fault)
        PX_TRY(pxi_fuzz_measure(fuzz, find->seed, find->pixels, NULL, 0, &input.near, err));
    PX_TRY(rows_add(fuzz, &input, find->chain, NULL, find->pixels, id, err));
    if (fault)
        PX_TRY(pxi_fuzz_twins_add(fuzz->twins, *id, input.twin, find->pixels, find->seed,
                                  find->prediction, err));
    rows_count(fuzz, &input);
    return PX_OK;
}

px_status pxi_fuzz_put_seed(px_fuzz *fuzz, pxi_fuzz_seed *seed, px_error *err)
{
    const px_campaign_input input = {
        .kind = PX_INPUT_SEED,
        .data_index = seed->data_index,
        .label = seed->label,
        .prediction = seed->label, /* that is what makes it one */
        .confidence = seed->confidence,
        .found_s = pxi_fuzz_seconds(fuzz),
    };
    char name[PXI_SEED_NAME];
    return rows_add(fuzz, &input, NULL, pxi_seed_name(fuzz->options.set, seed->row, name),
                    seed->pixels, &seed->id, err);
}

/* --- what is there already ------------------------------------------------------------------- */

static size_t rows_seed(const px_fuzz *fuzz, int64_t root)
{
    return root >= 1 && (size_t)root <= fuzz->seed_count ? (size_t)root - 1 : fuzz->seed_count;
}

px_status pxi_fuzz_rows_load(px_fuzz *fuzz, px_error *err)
{
    px_campaign_input in = {0};
    PX_TRY(px_campaign_measure_all(fuzz->campaign, err)); /* what an older plexor began */
    uint8_t *pixels = fuzz->pending->scratch;
    for (;;) {
        PX_TRY(px_campaign_next(fuzz->campaign, in.id, PX_INPUT_KEPT | PX_INPUT_FAULT, &in, pixels,
                                NULL, err));
        if (!in.id)
            return PX_OK;
        const size_t seed = rows_seed(fuzz, in.root);
        if (seed == fuzz->seed_count)
            return pxi_fuzz_bad_state(fuzz, err);
        rows_count(fuzz, &in);
        if (in.kind == PX_INPUT_FAULT)
            PX_TRY(
                pxi_fuzz_twins_add(fuzz->twins, in.id, in.twin, pixels, seed, in.prediction, err));
    }
}

/* --- the state, and the commit --------------------------------------------------------------- */

static px_status rows_put_state(px_fuzz *fuzz, px_error *err)
{
    px_text bytes = {0};
    pxi_fuzz_save_int(&bytes, FUZZ_STATE_VERSION);
    pxi_fuzz_save_int(&bytes, fuzz->turn);
    pxi_fuzz_save_int(&bytes, fuzz->executions);
    pxi_fuzz_save_int(&bytes, fuzz->last_output);
    pxi_fuzz_save_int(&bytes, fuzz->last_fault);
    pxi_fuzz_save_int(&bytes, fuzz->reset_after);
    pxi_fuzz_save_int(&bytes, fuzz->point_step);
    pxi_fuzz_save_int(&bytes, fuzz->unstored);
    pxi_fuzz_save_int(&bytes, fuzz->now.resets);
    pxi_fuzz_save_int(&bytes, fuzz->now.not_finite);
    pxi_fuzz_save_int(&bytes, fuzz->now.seeds_wrong);
    pxi_fuzz_save_int(&bytes, fuzz->now.rejected);
    pxi_fuzz_save_real(&bytes, fuzz->now.coverage_seeds);
    px_status status = fuzz->engine->save(fuzz->state, &bytes, err);
    if (status == PX_OK && px_text_failed(&bytes))
        status = pxi_no_memory(err);
    PX_THEN(status,
            px_campaign_put_blob(fuzz->campaign, FUZZ_STATE, bytes.data, bytes.length, err));
    px_text_done(&bytes);
    return status;
}

px_status pxi_fuzz_state_load(px_fuzz *fuzz, void **bytes, pxi_fuzz_bytes *rest, px_error *err)
{
    size_t size = 0;
    int64_t version;
    PX_TRY(px_campaign_get_blob(fuzz->campaign, FUZZ_STATE, bytes, &size, err));
    if (!*bytes)
        return pxi_fuzz_bad_state(fuzz, err);
    pxi_fuzz_bytes from = {.at = *bytes, .end = (const uint8_t *)*bytes + size};
    if (!pxi_fuzz_load_int(&from, FUZZ_STATE_FIRST, FUZZ_STATE_VERSION, &version) ||
        !pxi_fuzz_load_int(&from, 0, UINT32_MAX, &fuzz->turn) ||
        !pxi_fuzz_load_int(&from, 0, INT64_MAX / 2, &fuzz->executions) ||
        !pxi_fuzz_load_int(&from, 0, fuzz->turn, &fuzz->last_output) ||
        !pxi_fuzz_load_int(&from, 0, fuzz->executions, &fuzz->last_fault) ||
        !pxi_fuzz_load_int(&from, 0, fuzz->pending->last, &fuzz->reset_after) ||
        !pxi_fuzz_load_int(&from, 0, fuzz->executions, &fuzz->point_step) ||
        !pxi_fuzz_load_int(&from, 0, INT64_MAX / 2, &fuzz->unstored) ||
        !pxi_fuzz_load_int(&from, 0, fuzz->turn, &fuzz->now.resets) ||
        !pxi_fuzz_load_int(&from, 0, fuzz->executions, &fuzz->now.not_finite) ||
        !pxi_fuzz_load_int(&from, 0, INT64_MAX / 2, &fuzz->now.seeds_wrong) ||
        (version >= 2 && !pxi_fuzz_load_int(&from, 0, fuzz->executions, &fuzz->now.rejected)) ||
        !pxi_fuzz_load_real(&from, &fuzz->now.coverage_seeds))
        return pxi_fuzz_bad_state(fuzz, err);
    *rest = from;
    return PX_OK;
}

/* Points lie as densely as a curve needs: every turn at first, then about 128 per doubling. */
static bool rows_point_due(int64_t turn)
{
    int64_t every = 1;
    while (turn >= 256 * every)
        every *= 2;
    return turn % every == 0;
}

px_status pxi_fuzz_put_point(px_fuzz *fuzz, px_error *err)
{
    if (fuzz->cover)
        fuzz->now.coverage = px_cover_value(fuzz->cover, 0);
    else if (fuzz->engine->coverage)
        fuzz->now.coverage = fuzz->engine->coverage(fuzz->state);
    else
        return PX_OK;
    if (isnan(fuzz->now.coverage.value)) /* a loop without a guide */
        return PX_OK;
    if (!rows_point_due(fuzz->turn) || (fuzz->turn > 0 && fuzz->executions == fuzz->point_step))
        return PX_OK;
    fuzz->point_step = fuzz->executions;
    if (fuzz->engine->second)
        PX_TRY(px_campaign_put_coverage(fuzz->campaign, fuzz->executions, fuzz->engine->second,
                                        fuzz->engine->second_value(fuzz->state),
                                        pxi_fuzz_seconds(fuzz), err));
    return px_campaign_put_coverage(fuzz->campaign, fuzz->executions, fuzz->guide,
                                    fuzz->now.coverage.value, pxi_fuzz_seconds(fuzz), err);
}

static px_status rows_put_run(px_fuzz *fuzz, px_error *err)
{
    px_campaign *c = fuzz->campaign;
    PX_TRY(px_campaign_set_int(c, "executions", fuzz->executions, err));
    PX_TRY(px_campaign_set_real(c, "seconds", pxi_fuzz_seconds(fuzz), err));
    PX_TRY(px_campaign_set_int(c, "turns", fuzz->turn, err));
    PX_TRY(px_campaign_set_int(c, "faults_not_stored", fuzz->unstored, err));
    PX_TRY(px_campaign_set_int(c, "seeds_wrong", fuzz->now.seeds_wrong, err));
    if (fuzz->options.least.similarity > 0.0 || fuzz->options.least.inside > 0.0)
        PX_TRY(px_campaign_set_int(c, "faults_rejected", fuzz->now.rejected, err));
    if (fuzz->polluted_class >= 0)
        PX_TRY(px_campaign_set_int(c, PX_CAMPAIGN_POLLUTED_CLASS, fuzz->polluted_class, err));
    if (!isnan(fuzz->now.coverage.value))
        PX_TRY(px_campaign_set_real(c, "coverage", fuzz->now.coverage.value, err));
    return fuzz->command ? px_campaign_set(c, "command", fuzz->command, err) : PX_OK;
}

px_status pxi_fuzz_commit(px_fuzz *fuzz, px_error *err)
{
    PX_TRY(pxi_fuzz_write(fuzz, err));
    if (fuzz->cover)
        fuzz->now.coverage = px_cover_value(fuzz->cover, 0);
    PX_TRY(pxi_fuzz_modes_put(fuzz, err));
    PX_TRY(rows_put_state(fuzz, err));
    PX_TRY(rows_put_run(fuzz, err));
    PX_TRY(px_campaign_commit(fuzz->campaign, err));
    pxi_fuzz_show(fuzz);
    return PX_OK;
}
