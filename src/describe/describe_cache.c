/* src/describe/describe_cache.c - trained describers on disk, and whose they are
 *
 * The captioner's file has room for a note: the identity of network, data and settings, and what
 * was measured when it was trained, so that a bank made with it later has the same gates.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/describe_internal.h"

#include "base/cache_folder.h"
#include "base/memory.h"
#include <internal/bank.h>
#include <internal/field.h>
#include <plexor/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { NOTE_VERSION = 1 };

static void add_text(px_text *to, const char *name, const char *value)
{
    px_text_format(to, "%s=%s;", name, value ? value : "");
}

uint64_t pxi_describe_key(const px_model *model, const px_dataset *set,
                          const px_describe_options *o)
{
    px_text t = {0};
    px_text_format(&t, "%d;%016" PRIx64 ";%016" PRIx64 ";", NOTE_VERSION, px_model_hash(model),
                   px_dataset_hash(set));
    add_text(&t, "describer", px_describer_id(o->describer));
    add_text(&t, "encoder", o->annotator.encoder);
    add_text(&t, "taps", o->annotator.taps);
    add_text(&t, "mean", o->annotator.mean);
    add_text(&t, "std", o->annotator.std);
    add_text(&t, "scale", o->annotator.scale);
    add_text(&t, "milan", o->describer == PX_DESCRIBER_MILAN ? o->milan : NULL);
    const px_virtual_options *v = &o->virtual_units;
    px_text_format(&t, "%d;%" PRId64 ";%" PRId64 ";%" PRId64 ";%" PRId64 ";%g;%g;%g;%g;%d;",
                   o->annotator.sum, v->count, v->images, v->pool, o->exemplars.count,
                   o->exemplars.quantile, v->held_out, v->unseen, v->drawn, (int)o->concepts);
    const px_captioner_options *c = &o->captioner;
    px_text_format(&t, "%d;%d;%d;%d;%d;%d;%g;%g;%g;%g;%d;%g;%g;%" PRIu64 ";", c->embedding,
                   c->hidden, c->attention, c->epochs, c->batch, c->language_batch, c->rate,
                   c->decay, c->dropout, c->regularizer, c->patience, c->held_out, c->clip,
                   o->seed);
    for (int i = 0; i < o->class_count; i++)
        add_text(&t, "class", o->classes[i]);
    const uint64_t key = XXH3_64bits(px_text_get(&t), t.length);
    px_text_done(&t);
    return key;
}

char *px_describe_cache(const px_model *model, const px_dataset *set,
                        const px_describe_options *options)
{
    const px_describe_options o = options ? *options : px_describe_options_default();
    char name[64];
    snprintf(name, sizeof name, "describer-%016" PRIx64 ".npz", pxi_describe_key(model, set, &o));
    return pxi_cache_path(name);
}

/* --- the note -------------------------------------------------------------------------------- */

typedef struct describe_note {
    uint64_t key;
    const char *encoder;
    int64_t virtual_units, annotated;
    px_caption_score held_out, unseen;
    px_captioner_report report;
} describe_note;

static const px_field report_fields[] = {
    PX_FIELD(px_captioner_report, epochs, "epochs", "that were run"),
    PX_FIELD(px_captioner_report, best_epoch, "best_epoch", "whose weights were kept"),
    PX_FIELD(px_captioner_report, loss, "loss", "of the last epoch"),
    PX_FIELD(px_captioner_report, bleu, "bleu", "best, held out"),
    PX_FIELD(px_captioner_report, language_epochs, "language_epochs", "of the language model"),
    PX_FIELD(px_captioner_report, language_loss, "language_loss", "nats per word"),
    PX_FIELD(px_captioner_report, units, "units", "with a caption"),
    PX_FIELD(px_captioner_report, words, "words", "of the vocabulary"),
    PX_FIELDS_END,
};

static const px_field note_fields[] = {
    PX_HASH(describe_note, key, "key", "of network, data and settings"),
    PX_FIELD(describe_note, encoder, "encoder", "of exemplars", .optional = true),
    PX_FIELD(describe_note, virtual_units, "virtual_units", "that it learnt from"),
    PX_FIELD(describe_note, annotated, "annotated", "units of people's that it learnt from"),
    PX_OBJECT(describe_note, held_out, px_caption_score_fields, "held_out", "captions held out"),
    PX_OBJECT(describe_note, unseen, px_caption_score_fields, "unseen_pairs",
              "captions of pairs never seen"),
    PX_OBJECT(describe_note, report, report_fields, "report", "of training"),
    PX_FIELDS_END,
};

px_status pxi_describe_save(pxi_describe *job, px_error *err)
{
    px_description *d = job->out;
    px_json json = {0};
    const describe_note note = {.key = pxi_describe_key(job->model, job->set, &job->options),
                                .encoder = job->options.annotator.encoder,
                                .virtual_units = d->facts.virtual_units,
                                .annotated = d->facts.annotated,
                                .held_out = d->held_out,
                                .unseen = d->unseen,
                                .report = d->facts.report};
    px_fields_object(note_fields, &note, NULL, &json);
    const char *text = px_json_text(&json);
    px_status status = text ? px_captioner_set_note(d->captioner, text, err) : pxi_no_memory(err);
    px_json_done(&json);
    PX_THEN_IF(status, job->options.captioner_file,
               px_captioner_save(d->captioner, job->options.captioner_file, err));
    return status;
}

px_status pxi_describe_load(pxi_describe *job, px_error *err)
{
    px_description *d = job->out;
    const char *path = job->options.captioner_file;
    px_captioner *captioner = NULL;
    px_json_document *document = NULL;
    PX_TRY(px_captioner_load(path, &captioner, err));
    const char *text = px_captioner_note(captioner);
    describe_note note = {.report = {.seconds = NAN, .language_seconds = NAN}};
    /* The note says whose it is; one that says nothing is somebody else's. */
    const bool fits = px_captioner_k(captioner) == job->k &&
                      px_captioner_size(captioner) == (size_t)px_annotator_size(job->annotator) &&
                      px_json_parse(text, strlen(text), &document, NULL) == PX_OK &&
                      px_fields_read(note_fields, px_json_root(document), &note, NULL) == PX_OK &&
                      note.key == pxi_describe_key(job->model, job->set, &job->options);
    if (fits) {
        d->captioner = captioner;
        d->held_out = note.held_out;
        d->unseen = note.unseen;
        d->facts.virtual_units = note.virtual_units;
        d->facts.annotated = note.annotated;
        d->facts.report = note.report;
    } else {
        px_captioner_free(captioner);
    }
    px_json_free(document);
    return fits ? PX_OK
                : px_fail(err, PX_E_MISMATCH,
                          "'%s' is a describer of another network, other data or other settings",
                          path);
}
