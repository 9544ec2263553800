/* src/semantics/describe_cache.c - trained describers on disk, and whose they are
 *
 * The captioner's file has room for a note: the identity of network, data and settings, and what
 * was measured when it was trained, so that a bank made with it later has the same gates.
 */
#include "semantics/describe_inside.h"

#include "base/cache_folder.h"
#include "base/memory.h"
#include <internal/bank.h>
#include <plexor/json.h>
#include <plexor/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static void score_put(px_json *json, const char *name, const px_caption_score *s)
{
    px_json_object(json, name);
    px_json_int(json, "count", s->count);
    px_json_real(json, "bleu", s->bleu);
    px_json_real(json, "exact", s->exact);
    px_json_real(json, "precision", s->precision);
    px_json_real(json, "recall", s->recall);
    px_json_end(json);
}

static double number(const px_json_value *object, const char *name)
{
    const px_json_value *v =
        object && object->kind == PX_JSON_OBJECT ? px_json_member(object, name) : NULL;
    return v && v->kind == PX_JSON_NUMBER ? v->number : NAN;
}

static int64_t whole(const px_json_value *object, const char *name)
{
    const double v = number(object, name);
    return v >= 0.0 && v < 9e15 ? (int64_t)v : 0;
}

static px_caption_score score_get(const px_json_value *object)
{
    return (px_caption_score){.count = whole(object, "count"),
                              .bleu = number(object, "bleu"),
                              .exact = number(object, "exact"),
                              .precision = number(object, "precision"),
                              .recall = number(object, "recall")};
}

static void report_put(px_json *json, const px_captioner_report *r)
{
    px_json_object(json, "report");
    px_json_int(json, "epochs", r->epochs);
    px_json_int(json, "best_epoch", r->best_epoch);
    px_json_real(json, "loss", r->loss);
    px_json_real(json, "bleu", r->bleu);
    px_json_int(json, "language_epochs", r->language_epochs);
    px_json_real(json, "language_loss", r->language_loss);
    px_json_int(json, "units", (int64_t)r->units);
    px_json_int(json, "words", (int64_t)r->words);
    px_json_end(json);
}

static px_captioner_report report_get(const px_json_value *object)
{
    return (px_captioner_report){.epochs = (int)whole(object, "epochs"),
                                 .best_epoch = (int)whole(object, "best_epoch"),
                                 .loss = number(object, "loss"),
                                 .bleu = number(object, "bleu"),
                                 .language_epochs = (int)whole(object, "language_epochs"),
                                 .language_loss = number(object, "language_loss"),
                                 .units = (size_t)whole(object, "units"),
                                 .words = (size_t)whole(object, "words"),
                                 .seconds = NAN,
                                 .language_seconds = NAN};
}

px_status pxi_describe_save(pxi_describe *job, px_error *err)
{
    px_description *d = job->out;
    char key[24];
    px_json json = {0};
    snprintf(key, sizeof key, "%016" PRIx64, pxi_describe_key(job->model, job->set, &job->options));
    px_json_object(&json, NULL);
    px_json_string(&json, "key", key);
    px_json_string(&json, "encoder", job->options.annotator.encoder);
    px_json_int(&json, "virtual_units", d->facts.virtual_units);
    px_json_int(&json, "annotated", d->facts.annotated);
    score_put(&json, "held_out", &d->held_out);
    score_put(&json, "unseen_pairs", &d->unseen);
    report_put(&json, &d->facts.report);
    px_json_end(&json);
    const char *text = px_json_text(&json);
    px_status status = text ? px_captioner_set_note(d->captioner, text, err) : pxi_no_memory(err);
    px_json_done(&json);
    if (status == PX_OK && job->options.captioner_file)
        status = px_captioner_save(d->captioner, job->options.captioner_file, err);
    return status;
}

/* The note says whose it is; one that says nothing is somebody else's. */
static bool note_fits(const pxi_describe *job, const px_json_value *top)
{
    char key[24];
    const px_json_value *there = top->kind == PX_JSON_OBJECT ? px_json_member(top, "key") : NULL;
    snprintf(key, sizeof key, "%016" PRIx64, pxi_describe_key(job->model, job->set, &job->options));
    return there && there->kind == PX_JSON_STRING && strcmp(there->string, key) == 0;
}

px_status pxi_describe_load(pxi_describe *job, px_error *err)
{
    px_description *d = job->out;
    const char *path = job->options.captioner_file;
    px_captioner *captioner = NULL;
    px_json_document *document = NULL;
    PX_TRY(px_captioner_load(path, &captioner, err));
    const char *note = px_captioner_note(captioner);
    bool fits = px_captioner_k(captioner) == job->k &&
                px_captioner_size(captioner) == (size_t)px_annotator_size(job->annotator) &&
                px_json_parse(note, strlen(note), &document, NULL) == PX_OK &&
                note_fits(job, px_json_root(document));
    if (fits) {
        const px_json_value *top = px_json_root(document);
        d->captioner = captioner;
        d->held_out = score_get(px_json_member(top, "held_out"));
        d->unseen = score_get(px_json_member(top, "unseen_pairs"));
        d->facts.virtual_units = whole(top, "virtual_units");
        d->facts.annotated = whole(top, "annotated");
        d->facts.report = report_get(px_json_member(top, "report"));
    } else {
        px_captioner_free(captioner);
    }
    px_json_free(document);
    return fits ? PX_OK
                : px_fail(err, PX_E_MISMATCH,
                          "'%s' is a describer of another network, other data or other settings",
                          path);
}
