/* src/mutate/mutants.c - mutants of a data set: drawn or given, one by one or as a chain */
/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate/mutants_out.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

typedef struct mutants_work {
    const px_mutants_options *o;
    px_mutations from;
    px_drawn *given; /* NULL: drawn from the set */
    bool sounds;
    int channels, height, width; /* of pictures */
    size_t size;                 /* of an input's pixels or features */
    int64_t each;
    pxi_mutants_out *out; /* NULL: nothing is written */
    px_mutants *made;
} mutants_work;

px_mutants_options px_mutants_options_default(void)
{
    return (px_mutants_options){.each = 0};
}

/* --- one mutant ------------------------------------------------------------------------------ */

/* One link of a chain that began with `original`, of `count` values. */
static px_status mutants_link(const mutants_work *w, const px_drawn *drawn, const void *original,
                              const void *in, void *out, size_t count, px_error *err)
{
    if (w->sounds)
        return px_mutation_apply_samples(drawn, in, out, count, err);
    if (in == original)
        return px_mutation_apply(drawn, in, out, w->height, w->width, w->channels, err);
    return px_mutation_apply_near(drawn, original, in, out, w->height, w->width, w->channels, err);
}

/* The k-th entry of a part, alone. */
static px_mutations mutants_entry(const px_mutations *from, int64_t k)
{
    px_mutations one = {.set = from->set, .styles = from->styles};
    for (size_t i = 0; i < from->set->entry_count; i++)
        if (from->entries >> i & 1 && k-- == 0)
            one.entries = UINT32_C(1) << i;
    return one;
}

/* Mutant k of an input: what it went through, and the values. */
static px_status mutants_one(const mutants_work *w, int64_t k, px_random *random,
                             const void *original, void *mutant, void *scratch, size_t count,
                             px_drawn *drawn, px_error *err)
{
    const size_t bytes = count * (w->sounds ? sizeof(int16_t) : 1);
    if (w->given) {
        *drawn = w->given[w->o->chain ? 0 : k];
    } else {
        const px_mutations from = w->o->one_of_each ? mutants_entry(&w->from, k) : w->from;
        *drawn = px_mutation_draw(&from, random);
    }
    PX_TRY(mutants_link(w, drawn, original, original, mutant, count, err));
    for (size_t link = 1; w->o->chain && link < w->o->given_count; link++) {
        memcpy(scratch, mutant, bytes);
        PX_TRY(mutants_link(w, &w->given[link], original, scratch, mutant, count, err));
    }
    return PX_OK;
}

/* All of an input. `original` has room for three of its kind, `wave` of a recording for one. */
static px_status mutants_of(const mutants_work *w, int64_t row, void *original, float *wave,
                            float *features, size_t count, px_error *err)
{
    const size_t bytes = count * (w->sounds ? sizeof(int16_t) : 1);
    void *mutant = (char *)original + bytes, *scratch = (char *)mutant + bytes;
    const int64_t origin = px_dataset_index(w->o->set, row);
    px_random random = px_rng(w->o->seed, PX_RNG_MUTATE, (uint32_t)origin, PX_MUTATE_CANDIDATES);
    pxi_mutable input = {original, count, features};
    if (w->out)
        PX_TRY(pxi_mutants_original(w->out, row, &input, err));
    for (int64_t k = 0; k < w->each; k++) {
        px_mutant *m = &w->made->items[w->made->count];
        *m = (px_mutant){
            .row = row, .origin = origin, .label = px_dataset_label(w->o->set, row), .size = count};
        PX_TRY(mutants_one(w, k, &random, original, mutant, scratch, count, &m->drawn, err));
        m->change = w->sounds ? px_change_between_samples(original, mutant, count)
                              : pxi_change_between(original, mutant, count);
        if (w->sounds && w->out) {
            px_samples_widen(mutant, wave, count);
            PX_TRY(px_dataset_features(w->o->set, wave, count, features, err));
        }
        input.values = mutant;
        if (w->out)
            PX_TRY(pxi_mutants_put(w->out, m, &input, err));
        w->made->count++;
    }
    return PX_OK;
}

/* --- pictures and recordings ----------------------------------------------------------------- */

static px_status mutants_picture(const mutants_work *w, int64_t row, float *values, uint8_t *levels,
                                 px_error *err)
{
    const px_dataset *set = w->o->set;
    const float scale = px_dataset_is_8bit(set) ? 1.0f : 255.0f;
    char name[256];
    PX_TRY(px_dataset_pixels(set, row, values, err));
    for (size_t i = 0; i < w->size; i++) {
        const float v = values[i] * scale;
        if (!(v >= 0.0f && v <= 255.0f))
            return px_fail(err, PX_E_MISMATCH,
                           "input '%s' has a value of %g; mutations are for 8-bit pictures, or "
                           "floats from 0 to 1",
                           px_dataset_name(set, row, name, sizeof name), (double)values[i]);
        levels[i] = (uint8_t)(v + 0.5f);
    }
    return mutants_of(w, row, levels, NULL, NULL, w->size, err);
}

static px_status mutants_recording(const mutants_work *w, int64_t row, float *features,
                                   px_error *err)
{
    float *wave = NULL;
    size_t count = 0;
    PX_TRY(px_dataset_clip(w->o->set, row, &wave, &count, err));
    int16_t *samples = NULL;
    px_status status = count <= SIZE_MAX / 3 ? PX_NEW(samples, 3 * count, err) : pxi_no_memory(err);
    PX_THEN(status, px_dataset_features(w->o->set, wave, count, features, err));
    if (status == PX_OK) {
        px_samples_round(wave, samples, count);
        status = mutants_of(w, row, samples, wave, features, count, err);
    }
    free(samples);
    free(wave);
    return status;
}

static px_status mutants_all(const mutants_work *w, px_error *err)
{
    const int64_t inputs = px_dataset_count(w->o->set);
    float *values = NULL;
    uint8_t *levels = NULL;
    px_status status = PX_NEW(values, w->size, err);
    PX_THEN(status, PX_NEW(levels, 3 * w->size, err));
    for (int64_t row = 0; row < inputs && status == PX_OK; row++) {
        status = w->sounds ? mutants_recording(w, row, values, err)
                           : mutants_picture(w, row, values, levels, err);
        if (status == PX_OK && w->o->progress && !w->o->progress(w->o->context, row + 1, inputs))
            status = px_fail(err, PX_E_CANCELLED, "interrupted");
    }
    free(values);
    free(levels);
    return status;
}

/* --- what is wanted -------------------------------------------------------------------------- */

static px_status mutants_check(mutants_work *w, px_error *err)
{
    const px_dataset *set = w->o->set;
    const px_shape shape = px_dataset_shape(set);
    char text[PX_SHAPE_TEXT];
    w->sounds = px_dataset_audio(set) != NULL;
    w->size = (size_t)px_shape_count(&shape);
    if (shape.rank != 3 || shape.dim[1] > PX_MUTATION_SIDE_MOST ||
        shape.dim[2] > PX_MUTATION_SIDE_MOST)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s': mutations are for pictures, [channels,height,width] of up to %d "
                       "pixels each way; the samples are %s",
                       px_dataset_spec(set), PX_MUTATION_SIDE_MOST, px_shape_text(&shape, text));
    w->channels = (int)shape.dim[0];
    w->height = (int)shape.dim[1];
    w->width = (int)shape.dim[2];
    return PX_OK;
}

static px_status mutants_given(mutants_work *w, px_error *err)
{
    const px_mutants_options *o = w->o;
    px_text chain = {0};
    if (o->chain && o->given_count < 2)
        return px_fail(err, PX_E_USAGE, "a chain is made of two mutations or more");
    w->each = o->chain ? 1 : (int64_t)o->given_count;
    PX_TRY(PX_NEW(w->given, o->given_count, err));
    px_status status = PX_OK;
    for (size_t i = 0; i < o->given_count && status == PX_OK; i++) {
        char text[PX_DRAWN_TEXT];
        status = px_drawn_parse(o->given[i], &w->given[i], err);
        if (status != PX_OK)
            break;
        w->given[i].styles = o->styles;
        px_text_format(&chain, "%s%s", i ? "; " : "", px_drawn_text(&w->given[i], text));
    }
    if (status == PX_OK && px_text_failed(&chain))
        status = pxi_no_memory(err);
    if (status == PX_OK && o->chain)
        w->made->chain = px_text_take(&chain);
    px_text_done(&chain);
    return status;
}

static px_status mutants_drawn(mutants_work *w, px_error *err)
{
    const px_mutants_options *o = w->o;
    const char *from = o->from ? o->from : w->sounds ? "audio" : "nss";
    PX_TRY(px_mutations_parse(from, &w->from, err));
    PX_TRY(px_mutations_check(&w->from, o->set, err));
    w->from.styles = o->styles;
    w->each = o->one_of_each ? __builtin_popcount(w->from.entries) : PX_MAX(o->each, 1);
    return PX_OK;
}

static px_status mutants_work_do(mutants_work *w, px_error *err)
{
    PX_TRY(mutants_check(w, err));
    PX_TRY(w->o->given_count ? mutants_given(w, err) : mutants_drawn(w, err));
    w->made->inputs = px_dataset_count(w->o->set);
    if (w->o->path)
        PX_TRY(pxi_mutants_open(w->o, w->each, w->made->chain, &w->out, err));
    const size_t inputs = (size_t)w->made->inputs, each = (size_t)w->each;
    PX_TRY(inputs <= SIZE_MAX / each ? PX_NEW(w->made->items, inputs * each, err)
                                     : pxi_no_memory(err));
    PX_TRY(mutants_all(w, err));
    return w->out ? pxi_mutants_finish(w->out, w->made, err) : PX_OK;
}

px_status px_mutants_make(const px_mutants_options *options, px_mutants *out, px_error *err)
{
    px_mutants made = {0};
    mutants_work w = {.o = options, .made = &made};
    const px_status status = mutants_work_do(&w, err);
    pxi_mutants_close(w.out);
    free(w.given);
    if (status == PX_OK)
        *out = made;
    else
        px_mutants_done(&made);
    return status;
}

void px_mutants_done(px_mutants *mutants)
{
    free(mutants->items);
    free(mutants->chain);
    *mutants = (px_mutants){0};
}

px_mutants_sum px_mutants_add(const px_mutants *mutants, const px_mutation *mutation)
{
    px_mutants_sum sum = {0};
    for (int64_t i = 0; i < mutants->count; i++) {
        const px_mutant *m = &mutants->items[i];
        if (m->drawn.mutation != mutation)
            continue;
        sum.count++;
        sum.unchanged += m->change.l0 == 0;
        sum.changed += (double)m->change.l0 / (double)m->size;
        sum.largest += m->change.linf;
    }
    if (sum.count) {
        sum.changed /= (double)sum.count;
        sum.largest /= (double)sum.count;
    }
    return sum;
}
