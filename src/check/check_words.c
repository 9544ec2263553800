/* src/check/check_words.c - what neurons respond to, in words
 *
 * Without a bank of descriptions, labels are measured: which attributes of pictures (edges,
 * colours, strokes) a unit's masks overlap with, and which class its exemplars share. Nothing in
 * that is learned, so that there is nothing to be validated; a bank says itself how far it was.
 */
#include "check/check_words.h"

#include <plexor/concepts.h>
#include <plexor/exemplars.h>
#include <stdlib.h>

enum {
    WORDS_PICTURES = 1000, /* that labels are measured on */
    WORDS_SENTENCES = 3    /* those about words; the others are about similarities of texts */
};

typedef struct measured {
    px_dataset *set;
    px_preprocess pre;
    px_exemplars *exemplars;
    px_concepts *concepts;
    px_dissection *dissection;
} measured;

static px_status words_data(const px_check *c, measured *m, px_error *err)
{
    const px_graph *graph = px_model_graph(c->model);
    px_data_options options = pxi_check_read(c);
    options.limit = PX_MIN(c->count, (int64_t)WORDS_PICTURES);
    m->pre = c->pre;
    return px_dataset_open_for(&m->pre, &graph->values[graph->inputs[0]].shape, c->data_spec,
                               &options, &m->set, err);
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

px_status pxi_words_about(const px_bank *bank, px_json *out, px_error *err)
{
    const px_bank_about *about = px_bank_get_about(bank);
    px_json_string(out, "describer", px_describer_id(about->describer));
    px_json_string(out, "describer_help", px_describer_help(about->describer));
    px_json_string(out, "validation", px_bank_validation(bank));
    px_json_int(out, "pictures", about->images);
    px_json_array(out, "sentences");
    for (int i = 0; i < PX_MIN(WORDS_SENTENCES, PX_BANK_SENTENCES); i++) {
        char *sentence = px_bank_sentence(bank, i);
        if (!sentence)
            return pxi_check_nomem(err);
        px_json_string(out, NULL, sentence);
        free(sentence);
    }
    px_json_end(out);
    return PX_OK;
}

/* Which class a unit responds to is counted elsewhere, over all inputs: of what is measured here,
 * words are the attribute alone, if its overlap is above the level from which it means something.
 */
void pxi_words_unit(const px_bank *bank, bool own, const char *layer, int64_t unit, px_json *out)
{
    const px_bank_unit *found = px_bank_find(bank, layer, unit);
    if (!found)
        return;
    if (own && !found->inactive) {
        if (px_bank_label_of(found))
            px_json_string(out, "words", px_bank_label_of(found));
    } else if (found->inactive || px_bank_described(found)) { /* else nothing can be said */
        px_json_string(out, "words", px_bank_shown(found));
    }
    px_json_bool(out, "inactive", found->inactive);
    px_json_array(out, "labels");
    for (size_t i = 0; i < found->label_count; i++) {
        if (!(found->labels[i].iou > PX_BANK_LABEL_LEAST))
            continue;
        px_json_object(out, NULL);
        px_json_string(out, "label", found->labels[i].words);
        px_json_real(out, "iou", found->labels[i].iou);
        px_json_end(out);
    }
    px_json_end(out);
    px_json_string(out, "shared_class", px_bank_class_of(found));
    px_json_real(out, "class_share", found->class_share);
}
