/* src/semantics/bank_file.c - a bank as JSON lines
 *
 * One object per line, so that no reader holds more than a line's tree at once and text tools work
 * on it. A number that is not known (NaN) is null. The sentences are written for people and not
 * read back: what has to be said follows from the describer and the gates.
 */
#include "semantics/bank_inside.h"

#include "base/file.h"
#include "base/memory.h"

#include <internal/field.h>
#include <internal/bank.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BANK_FORMAT "plexor bank"
enum { BANK_VERSION = 1 };
#define BANK_BYTES_MOST ((size_t)1 << 28)
#define BANK_WHOLE_MOST 0x1p53 /* whole numbers that a JSON number holds */

/* --- writing --------------------------------------------------------------------------------- */

static void bank_put_hash(px_json *json, const char *key, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    px_json_string(json, key, text);
}

static void bank_put_about(const px_bank *bank, px_json *json)
{
    px_json_object(json, NULL);
    px_json_string(json, "format", BANK_FORMAT);
    px_json_int(json, "version", BANK_VERSION);
    px_json_string(json, "plexor", PLEXOR_VERSION);
    bank_put_hash(json, "model", bank->about.model);
    bank_put_hash(json, "data", bank->about.data);
    px_json_int(json, "images", bank->about.images);
    px_json_string(json, "describer", px_describer_id(bank->about.describer));
    px_json_string(json, "encoder", bank->about.encoder);
    bank_put_hash(json, "seed", bank->about.seed);
    px_json_int(json, "units", (int64_t)bank->count);
    px_json_string(json, "validation", px_bank_validation(bank));
    px_fields_object(px_gates_fields, &bank->gates, "gates", json);
    px_json_array(json, "sentences");
    for (int i = 0; i < PX_BANK_SENTENCES; i++) {
        char *sentence = px_bank_sentence(bank, i);
        if (!sentence)
            json->text.failed = true;
        px_json_string(json, NULL, sentence);
        free(sentence);
    }
    px_json_end(json);
    px_json_end(json);
}

static void bank_put_unit(const px_bank_unit *u, px_json *json)
{
    px_json_object(json, NULL);
    px_json_string(json, "layer", u->layer);
    px_json_int(json, "unit", u->unit);
    px_json_string(json, "phrase", u->phrase);
    px_json_bool(json, "inactive", u->inactive);
    px_json_real(json, "level", u->level);
    px_json_array(json, "labels");
    for (size_t i = 0; i < u->label_count; i++) {
        px_json_object(json, NULL);
        px_json_string(json, "words", u->labels[i].words);
        px_json_real(json, "iou", u->labels[i].iou);
        px_json_end(json);
    }
    px_json_end(json);
    px_json_string(json, "class", u->class_name);
    px_json_real(json, "class_share", u->class_share);
    px_json_array(json, "exemplars");
    for (size_t i = 0; i < u->exemplar_count; i++)
        px_json_int(json, NULL, u->exemplars[i]);
    px_json_end(json);
    px_json_end(json);
}

/* The writer's text in one line: its line breaks and indents go, texts have none (they are
 * escaped).
 */
static void bank_put_line(const char *text, FILE *stream)
{
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, "\n");
        fwrite(at, 1, length, stream);
        at += length;
        at += strspn(at, "\n ");
    }
    fputc('\n', stream);
}

px_status px_bank_save(const px_bank *bank, const char *path, px_error *err)
{
    px_file_writer writer = {0};
    PX_TRY(pxi_file_create(path, &writer, err));
    for (size_t i = 0; i <= bank->count; i++) {
        px_json json = {0};
        if (i == 0)
            bank_put_about(bank, &json);
        else
            bank_put_unit(&bank->units[i - 1], &json);
        const char *text = px_json_text(&json);
        if (text)
            bank_put_line(text, writer.stream);
        px_json_done(&json);
        if (!text) {
            pxi_file_abandon(&writer);
            return pxi_no_memory_for(err, "'%s'", path);
        }
    }
    return pxi_file_commit(&writer, err);
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct bank_reader {
    const char *path;
    size_t line;
    const px_json_value *object; /* of the line */
    px_error *err;
} bank_reader;

static px_status bank_bad(const bank_reader *r, const char *key, const char *wanted)
{
    return px_fail(r->err, PX_E_INPUT,
                   "'%s': line %zu: '%s' is missing or not %s; make the bank again with 'plexor "
                   "describe'",
                   r->path, r->line, key, wanted);
}

static const px_json_value *bank_member(const px_json_value *object, const char *key,
                                        px_json_kind kind)
{
    const px_json_value *v = px_json_member(object, key);
    return v && v->kind == kind ? v : NULL;
}

static px_status bank_string(const bank_reader *r, const char *key, const char **out)
{
    const px_json_value *v = bank_member(r->object, key, PX_JSON_STRING);
    if (!v)
        return bank_bad(r, key, "a text");
    *out = v->string;
    return PX_OK;
}

static px_status bank_string_or_null(const bank_reader *r, const char *key, const char **out)
{
    *out = NULL;
    return bank_member(r->object, key, PX_JSON_NULL) ? PX_OK : bank_string(r, key, out);
}

static bool bank_is_whole(const px_json_value *v)
{
    return v->kind == PX_JSON_NUMBER && v->number >= 0.0 && v->number <= BANK_WHOLE_MOST &&
           floor(v->number) == v->number;
}

static px_status bank_whole(const bank_reader *r, const px_json_value *object, const char *key,
                            int64_t *out)
{
    const px_json_value *v = px_json_member(object, key);
    if (!v || !bank_is_whole(v))
        return bank_bad(r, key, "a whole number");
    *out = (int64_t)v->number;
    return PX_OK;
}

/* null is NaN; infinities come from numbers such as 1e999. */
static px_status bank_real(const bank_reader *r, const px_json_value *object, const char *key,
                           double *out)
{
    const px_json_value *v = px_json_member(object, key);
    if (!v || (v->kind != PX_JSON_NULL && (v->kind != PX_JSON_NUMBER || !isfinite(v->number))))
        return bank_bad(r, key, "a number or null");
    *out = v->kind == PX_JSON_NULL ? (double)NAN : v->number;
    return PX_OK;
}

static px_status bank_hash(const bank_reader *r, const char *key, uint64_t *out)
{
    const char *text = NULL;
    PX_TRY(bank_string(r, key, &text));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return bank_bad(r, key, "16 hexadecimal digits");
    *out = strtoull(text, NULL, 16);
    return PX_OK;
}

static px_status bank_captions(const bank_reader *r, const px_json_value *gates, const char *key,
                               px_caption_score *out)
{
    const px_json_value *o = bank_member(gates, key, PX_JSON_OBJECT);
    if (!o)
        return bank_bad(r, key, "an object");
    PX_TRY(bank_whole(r, o, "count", &out->count));
    PX_TRY(bank_real(r, o, "bleu", &out->bleu));
    PX_TRY(bank_real(r, o, "exact", &out->exact));
    PX_TRY(bank_real(r, o, "precision", &out->precision));
    return bank_real(r, o, "recall", &out->recall);
}

static px_status bank_agreement(const bank_reader *r, const px_json_value *gates, const char *key,
                                px_agreement *out)
{
    const px_json_value *o = bank_member(gates, key, PX_JSON_OBJECT);
    if (!o)
        return bank_bad(r, key, "an object");
    PX_TRY(bank_real(r, o, "value", &out->value));
    PX_TRY(bank_real(r, o, "chance", &out->chance));
    return bank_real(r, o, "sd", &out->sd);
}

static px_status bank_read_gates(const bank_reader *r, px_gates *out)
{
    const px_json_value *g = bank_member(r->object, "gates", PX_JSON_OBJECT);
    int64_t permutations = 0;
    if (!g)
        return bank_bad(r, "gates", "an object");
    PX_TRY(bank_captions(r, g, "held_out", &out->held_out));
    PX_TRY(bank_captions(r, g, "unseen_pairs", &out->unseen_pairs));
    PX_TRY(bank_whole(r, g, "labelled", &out->labelled));
    PX_TRY(bank_agreement(r, g, "top1", &out->top1));
    PX_TRY(bank_agreement(r, g, "top3", &out->top3));
    PX_TRY(bank_whole(r, g, "selective", &out->selective));
    PX_TRY(bank_agreement(r, g, "cosine", &out->cosine));
    PX_TRY(bank_agreement(r, g, "named", &out->named));
    PX_TRY(bank_whole(r, g, "units", &out->units));
    PX_TRY(bank_whole(r, g, "inactive", &out->inactive));
    PX_TRY(bank_whole(r, g, "distinct", &out->distinct));
    PX_TRY(bank_real(r, g, "most_frequent", &out->most_frequent));
    PX_TRY(bank_whole(r, g, "permutations", &permutations));
    if (permutations > INT32_MAX)
        return bank_bad(r, "permutations", "a sane number");
    out->permutations = (int)permutations;
    return PX_OK;
}

static px_status bank_read_about(const bank_reader *r, int64_t *units, px_bank **out)
{
    px_bank_about about = {0};
    px_gates gates = px_gates_none();
    const char *format = NULL, *describer = NULL, *validation = NULL;
    int64_t version = 0;
    const px_json_value *v = bank_member(r->object, "format", PX_JSON_STRING);
    format = v ? v->string : "";
    if (strcmp(format, BANK_FORMAT) != 0)
        return px_fail(r->err, PX_E_INPUT,
                       "'%s': this is no bank; 'plexor describe MODEL -o FOLDER' makes one",
                       r->path);
    PX_TRY(bank_whole(r, r->object, "version", &version));
    if (version != BANK_VERSION)
        return px_fail(r->err, PX_E_UNSUPPORTED,
                       "'%s': a bank of version %" PRId64 "; this plexor reads version %d", r->path,
                       version, BANK_VERSION);
    PX_TRY(bank_hash(r, "model", &about.model));
    PX_TRY(bank_hash(r, "data", &about.data));
    PX_TRY(bank_whole(r, r->object, "images", &about.images));
    PX_TRY(bank_string(r, "describer", &describer));
    if (px_describer_parse(describer, &about.describer, NULL) != PX_OK)
        return bank_bad(r, "describer", "one that plexor knows");
    PX_TRY(bank_string_or_null(r, "encoder", &about.encoder));
    if (about.encoder && strlen(about.encoder) > PX_BANK_TEXT_MOST)
        return bank_bad(r, "encoder", "of sane length");
    PX_TRY(bank_hash(r, "seed", &about.seed));
    PX_TRY(bank_whole(r, r->object, "units", units));
    PX_TRY(bank_string(r, "validation", &validation));
    PX_TRY(bank_read_gates(r, &gates));
    PX_TRY(px_bank_new(&about, out, r->err));
    px_bank_set_gates(*out, &gates);
    if (strcmp(validation, px_bank_validation(*out)) != 0)
        return px_fail(
            r->err, PX_E_INPUT,
            "'%s': line 1: it says '%.60s' where its gates say '%s'; make the bank again "
            "with 'plexor describe'",
            r->path, validation, px_bank_validation(*out));
    return PX_OK;
}

static px_status bank_read_unit(const bank_reader *r, px_bank *bank)
{
    px_bank_unit u = {0};
    int64_t exemplars[PX_BANK_EXEMPLARS_MOST];
    PX_TRY(bank_string(r, "layer", &u.layer));
    PX_TRY(bank_whole(r, r->object, "unit", &u.unit));
    PX_TRY(bank_string(r, "phrase", &u.phrase));
    const px_json_value *inactive = bank_member(r->object, "inactive", PX_JSON_BOOL);
    if (!inactive)
        return bank_bad(r, "inactive", "true or false");
    u.inactive = inactive->boolean;
    PX_TRY(bank_real(r, r->object, "level", &u.level));
    const px_json_value *labels = bank_member(r->object, "labels", PX_JSON_ARRAY);
    if (!labels || labels->count > PX_BANK_LABELS)
        return bank_bad(r, "labels", "a short list");
    for (u.label_count = 0; u.label_count < labels->count; u.label_count++) {
        const px_json_value *label = &labels->items[u.label_count];
        const px_json_value *words = bank_member(label, "words", PX_JSON_STRING);
        if (!words)
            return bank_bad(r, "words", "a text");
        u.labels[u.label_count].words = words->string;
        PX_TRY(bank_real(r, label, "iou", &u.labels[u.label_count].iou));
    }
    PX_TRY(bank_string_or_null(r, "class", &u.class_name));
    PX_TRY(bank_real(r, r->object, "class_share", &u.class_share));
    const px_json_value *list = bank_member(r->object, "exemplars", PX_JSON_ARRAY);
    if (!list || list->count > PX_BANK_EXEMPLARS_MOST)
        return bank_bad(r, "exemplars", "a short list");
    for (; u.exemplar_count < list->count; u.exemplar_count++) {
        const px_json_value *v = &list->items[u.exemplar_count];
        if (!bank_is_whole(v))
            return bank_bad(r, "exemplars", "a list of whole numbers");
        exemplars[u.exemplar_count] = (int64_t)v->number;
    }
    u.exemplars = exemplars;
    const px_status status = px_bank_add(bank, &u, r->err);
    return status == PX_E_USAGE ? px_fail_in(r->err, PX_E_INPUT, "'%s': line %zu", r->path, r->line)
                                : status;
}

static px_status bank_read_line(bank_reader *r, const char *text, size_t size, int64_t *units,
                                px_bank **bank)
{
    px_json_document *document = NULL;
    px_status status = px_json_parse(text, size, &document, r->err);
    if (status == PX_E_INPUT)
        status = px_fail_in(r->err, status, "'%s': line %zu", r->path, r->line);
    if (status == PX_OK) {
        r->object = px_json_root(document);
        status = *bank ? bank_read_unit(r, *bank) : bank_read_about(r, units, bank);
    }
    px_json_free(document);
    return status;
}

px_status pxi_bank_parse(const char *text, size_t size, const char *name, px_bank **out,
                         px_error *err)
{
    px_bank *bank = NULL;
    int64_t units = 0;
    px_error own = {0}; /* messages are built upon: one is needed */
    bank_reader r = {.path = name, .err = err ? err : &own};
    px_status status = PX_OK;
    for (const char *at = text, *end = text + size; status == PX_OK && at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        r.line++;
        status = bank_read_line(&r, at, length, &units, &bank);
        at = stop ? stop + 1 : end;
    }
    if (status == PX_OK && !bank)
        status = px_fail(err, PX_E_INPUT, "'%s': the file is empty, a bank was expected", name);
    if (status == PX_OK && units != (int64_t)bank->count)
        status =
            px_fail(err, PX_E_INPUT,
                    "'%s': it says %" PRId64 " units and has %zu; the file has been cut off or "
                    "changed",
                    name, units, bank->count);
    if (status == PX_OK)
        *out = bank;
    else
        px_bank_free(bank);
    return status;
}

px_status px_bank_load(const char *path, px_bank **out, px_error *err)
{
    char *text = NULL;
    size_t size = 0;
    PX_TRY(pxi_file_read(path, BANK_BYTES_MOST, &text, &size, err));
    const px_status status = pxi_bank_parse(text, size, path, out, err);
    free(text);
    return status;
}
