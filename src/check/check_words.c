/* src/check/check_words.c - what neurons respond to, in words
 *
 * Without a bank of descriptions, labels are measured: which attributes of pictures (edges,
 * colours, strokes) a unit's masks overlap with, and which class its exemplars share. Nothing in
 * that is learned, so that there is nothing to be validated; a bank says itself how far it was.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_words.h"

#include <internal/bank.h>
#include <internal/concepts.h>
#include <internal/exemplars.h>
#include <internal/field.h>
#include <stdlib.h>

enum { WORDS_PICTURES = 1000 }; /* that labels are measured on */

typedef struct measured {
    px_dataset *set;
    px_preprocess pre;
    px_exemplars *exemplars;
    px_concepts *concepts;
    px_dissection *dissection;
} measured;

static px_status words_data(const px_check *c, measured *m, px_error *err)
{
    px_data_options options = pxi_check_read(c);
    options.limit = PX_MIN(c->count, (int64_t)WORDS_PICTURES);
    m->pre = c->pre;
    return px_dataset_open_for(&m->pre, px_model_input_shape(c->model), c->data_spec, &options,
                               &m->set, err);
}

static px_status words_measure(px_check *c, const char *layers, measured *m, px_bank **out,
                               px_error *err)
{
    px_exemplar_options collect = px_exemplar_options_default();
    px_concepts_options look = px_concepts_options_default();
    px_dissect_options dissect = {.layers = layers,
                                  .threads = c->o.threads,
                                  .batch = c->o.batch,
                                  .progress = pxi_check_tick,
                                  .progress_context = c};
    px_bank_about about = {
        .model = px_model_hash(c->model), .describer = PX_DESCRIBER_DISSECT, .seed = c->o.seed};
    PX_TRY(words_data(c, m, err));
    look.classes = (const char *const *)c->names;
    look.class_count = c->scores.classes;
    look.threads = c->o.threads;
    look.progress = pxi_check_tick;
    look.progress_context = c;
    PX_TRY(px_concepts_new(m->set, &m->pre, &look, &m->concepts, err));
    collect.layers = layers;
    collect.threads = c->o.threads;
    collect.batch = c->o.batch;
    collect.progress = pxi_check_tick;
    collect.progress_context = c;
    PX_TRY(px_exemplars_collect(c->model, m->set, &m->pre, &collect, &m->exemplars, err));
    PX_TRY(px_dissect(c->model, m->set, &m->pre, m->exemplars, m->concepts, &dissect,
                      &m->dissection, err));
    about.data = px_dataset_hash(m->set);
    about.images = px_dataset_count(m->set);
    PX_TRY(px_dissection_bank(m->dissection, &about, NULL, out, err));
    px_gates gates = px_gates_none();
    const px_status status = px_gates_measure(*out, m->concepts, NULL, &gates, err);
    if (status == PX_OK)
        px_bank_set_gates(*out, &gates);
    return status;
}

px_status pxi_words_open(px_check *c, const char *layers, px_bank **own, const px_bank **out,
                         px_error *err)
{
    measured m = {.set = NULL};
    *own = NULL;
    if (c->bank) {
        *out = c->bank;
        return PX_OK;
    }
    const px_status status = words_measure(c, layers, &m, own, err);
    px_dissection_free(m.dissection);
    px_exemplars_free(m.exemplars);
    px_concepts_free(m.concepts);
    px_dataset_close(m.set);
    if (status == PX_OK)
        *out = *own;
    return status;
}

px_status pxi_words_about_make(const px_bank *bank, pxi_words_about *out, px_error *err)
{
    const px_bank_about *about = px_bank_get_about(bank);
    *out = (pxi_words_about){.describer = px_describer_id(about->describer),
                             .help = px_describer_help(about->describer),
                             .validation = px_bank_validation(bank),
                             .pictures = about->images};
    for (int i = 0; i < PX_MIN(PXI_WORDS_SENTENCES, PX_BANK_SENTENCES); i++) {
        char *sentence = px_bank_sentence(bank, i);
        if (!sentence)
            return pxi_no_memory(err);
        out->sentences[out->sentence_count++] = sentence;
    }
    return PX_OK;
}

void pxi_words_about_done(pxi_words_about *about)
{
    for (size_t i = 0; i < about->sentence_count; i++)
        free(about->sentences[i]);
}

const px_field pxi_words_about_fields[] = {
    PX_FIELD(pxi_words_about, describer, "describer", "where the words are from"),
    PX_FIELD(pxi_words_about, help, "describer_help", "what that is"),
    PX_FIELD(pxi_words_about, validation, "validation", "how far they are validated"),
    PX_FIELD(pxi_words_about, pictures, "pictures", "that they are from"),
    PX_ARRAY_USED(pxi_words_about, sentences, sentence_count, "sentences",
                  "what has to be said of them"),
    PX_FIELDS_END,
};

/* Which class a unit responds to is counted elsewhere, over all inputs: of what is measured here,
 * words are the attribute alone, if its overlap is above the level from which it means something.
 */
pxi_words_unit pxi_words_of(const px_bank *bank, bool own, const char *layer, int64_t unit)
{
    const px_bank_unit *found = bank ? px_bank_find(bank, layer, unit) : NULL;
    pxi_words_unit words = {.unit = found};
    if (found && own && !found->inactive)
        words.words = px_bank_label_of(found);
    else if (found && (found->inactive || px_bank_described(found)))
        words.words = px_bank_shown(found);
    return words;
}

/* Item i of the labels above the level. */
static const void *unit_label(const void *at, size_t i, void *row)
{
    const px_bank_unit *unit = at;
    (void)row;
    for (size_t k = 0; k < unit->label_count; k++)
        if (unit->labels[k].iou > PX_BANK_LABEL_LEAST && i-- == 0)
            return &unit->labels[k];
    return NULL;
}

static px_datum unit_class(const void *at, char *text)
{
    (void)text;
    return px_datum_text(px_bank_class_of(at));
}

static const px_field label_fields[] = {
    PX_FIELD(px_bank_label, words, "label", "an attribute of pictures"),
    PX_FIELD(px_bank_label, iou, "iou", "how well the unit's masks overlap with it"),
    PX_FIELDS_END,
};

static const px_field unit_fields[] = {
    PX_FIELD(px_bank_unit, inactive, "inactive", "nothing raises it above its level"),
    PX_LIST_MADE(unit_label, label_fields, "labels", "measured, best first"),
    PX_MADE(TEXT, unit_class, "shared_class", "class of most of its exemplars"),
    PX_FIELD(px_bank_unit, class_share, "class_share", "of the exemplars", .unit = PX_SHARE),
    PX_FIELDS_END,
};

const px_field pxi_words_unit_fields[] = {
    PX_FIELD(pxi_words_unit, words, "words", "what it responds to", .optional = true),
    PX_OBJECT_AT(pxi_words_unit, unit, unit_fields, "", "what is known of it"),
    PX_FIELDS_END,
};
