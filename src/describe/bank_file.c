/* src/describe/bank_file.c - a bank as JSON lines
 *
 * One object per line, so that no reader holds more than a line's tree at once and text tools work
 * on it. A number that is not known (NaN) is null. The sentences are written for people and not
 * read back: what has to be said follows from the describer and the gates.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/bank_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <internal/bank.h>
#include <internal/field.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BANK_FORMAT "plexor bank"
enum { BANK_VERSION = 1 };
#define BANK_BYTES_MOST ((size_t)1 << 28)

/* --- the lines ------------------------------------------------------------------------------- */

typedef struct bank_head { /* the first line */
    const char *format, *plexor, *describer, *validation;
    int64_t version, units;
    px_bank_about about;
    px_gates gates;
    const px_bank *bank; /* that is written */
    bool *failed;        /* for want of memory */
} bank_head;

static const void *sentence_item(const void *at, size_t i, void *row)
{
    const bank_head *head = at;
    char **sentence = row;
    if (i > 0)
        free(*sentence);
    if (i == PX_BANK_SENTENCES)
        return NULL;
    *sentence = px_bank_sentence(head->bank, (int)i);
    *head->failed = *head->failed || !*sentence;
    return row;
}

static const px_field form_fields[] = {
    PX_FIELD(bank_head, format, "format", BANK_FORMAT),
    PX_FIELD(bank_head, version, "version", "of the format"),
    PX_FIELDS_END,
};

static const px_field head_fields[] = {
    PX_OBJECT_OF(form_fields, ""),
    PX_FIELD(bank_head, plexor, "plexor", "the version that made it", .optional = true),
    PX_HASH(bank_head, about.model, "model", "of its bytes"),
    PX_HASH(bank_head, about.data, "data", "of all inputs"),
    PX_FIELD(bank_head, about.images, "images", "that exemplars were taken from"),
    PX_FIELD(bank_head, describer, "describer", "that found the words"),
    PX_FIELD(bank_head, about.encoder, "encoder", "of exemplars", .none = "none"),
    PX_HASH(bank_head, about.seed, "seed", "of all that is random"),
    PX_FIELD(bank_head, units, "units", "lines that follow"),
    PX_FIELD(bank_head, validation, "validation", "the verdict of the gates"),
    PX_OBJECT(bank_head, gates, px_gates_fields, "gates", "how far the words can be trusted"),
    PX_VALUES_MADE(sentence_item, char *, "sentences", "for people"),
    PX_FIELDS_END,
};

static const px_field label_fields[] = {
    PX_FIELD(px_bank_label, words, "words", "the attribute"),
    PX_FIELD(px_bank_label, iou, "iou", "overlap of masks"),
    PX_FIELDS_END,
};

static const px_field unit_fields[] = {
    PX_FIELD(px_bank_unit, layer, "layer", "its name"),
    PX_FIELD(px_bank_unit, unit, "unit", "the channel"),
    PX_FIELD(px_bank_unit, phrase, "phrase", "its description"),
    PX_FIELD(px_bank_unit, inactive, "inactive", "nothing raises it"),
    PX_FIELD(px_bank_unit, level, "level", "that masks were cut at"),
    PX_LIST_USED(px_bank_unit, labels, label_count, label_fields, "labels", "the best first"),
    PX_FIELD(px_bank_unit, class_name, "class", "that most exemplars have", .none = "none"),
    PX_FIELD(px_bank_unit, class_share, "class_share", "of the exemplars", .unit = PX_SHARE),
    PX_VALUES(px_bank_unit, exemplars, exemplar_count, "exemplars", "in the data"),
    PX_FIELDS_END,
};

/* --- writing --------------------------------------------------------------------------------- */

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
    bool failed = false;
    const bank_head head = {.format = BANK_FORMAT,
                            .plexor = PLEXOR_VERSION,
                            .describer = px_describer_id(bank->about.describer),
                            .validation = px_bank_validation(bank),
                            .version = BANK_VERSION,
                            .units = (int64_t)bank->count,
                            .about = bank->about,
                            .gates = bank->gates,
                            .bank = bank,
                            .failed = &failed};
    PX_TRY(pxi_file_create(path, &writer, err));
    for (size_t i = 0; i <= bank->count; i++) {
        px_json json = {0};
        if (i == 0)
            px_fields_object(head_fields, &head, NULL, &json);
        else
            px_fields_object(unit_fields, &bank->units[i - 1], NULL, &json);
        const char *text = failed ? NULL : px_json_text(&json);
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

typedef struct bank_exemplars {
    int64_t index[PX_BANK_EXEMPLARS_MOST];
    size_t count;
} bank_exemplars;

static const px_field exemplar_fields[] = {
    PX_ARRAY_USED(bank_exemplars, index, count, "exemplars", "in the data"),
    PX_FIELDS_END,
};

static px_status bank_fields(const bank_reader *r, const px_field *fields, void *record)
{
    px_error why = {0};
    const px_status status = px_fields_read(fields, r->object, record, &why);
    return status == PX_OK
               ? PX_OK
               : px_fail(r->err, status,
                         "'%s': line %zu: %s; make the bank again with 'plexor describe'", r->path,
                         r->line, why.message);
}

static px_status bank_bad(const bank_reader *r, const char *what)
{
    return px_fail(r->err, PX_E_INPUT,
                   "'%s': line %zu: %s; make the bank again with 'plexor describe'", r->path,
                   r->line, what);
}

static px_status bank_read_about(const bank_reader *r, int64_t *units, px_bank **out)
{
    bank_head head = {.gates = px_gates_none()};
    if (px_fields_read(form_fields, r->object, &head, NULL) != PX_OK ||
        strcmp(head.format, BANK_FORMAT) != 0)
        return px_fail(r->err, PX_E_INPUT,
                       "'%s': this is no bank; 'plexor describe MODEL -o FOLDER' makes one",
                       r->path);
    if (head.version != BANK_VERSION)
        return px_fail(r->err, PX_E_UNSUPPORTED,
                       "'%s': a bank of version %" PRId64 "; this plexor reads version %d", r->path,
                       head.version, BANK_VERSION);
    PX_TRY(bank_fields(r, head_fields, &head));
    if (px_describer_parse(head.describer, &head.about.describer, NULL) != PX_OK)
        return bank_bad(r, "'describer' is not one that plexor knows");
    if (head.about.encoder && strlen(head.about.encoder) > PX_BANK_TEXT_MOST)
        return bank_bad(r, "'encoder' is not of sane length");
    *units = head.units;
    PX_TRY(px_bank_new(&head.about, out, r->err));
    px_bank_set_gates(*out, &head.gates);
    if (strcmp(head.validation, px_bank_validation(*out)) != 0)
        return px_fail(
            r->err, PX_E_INPUT,
            "'%s': line 1: it says '%.60s' where its gates say '%s'; make the bank again "
            "with 'plexor describe'",
            r->path, head.validation, px_bank_validation(*out));
    return PX_OK;
}

static px_status bank_read_unit(const bank_reader *r, px_bank *bank)
{
    bank_exemplars listed = {.count = 0};
    px_bank_unit u = {0};
    PX_TRY(bank_fields(r, unit_fields, &u));
    PX_TRY(bank_fields(r, exemplar_fields, &listed));
    u.exemplars = listed.index;
    u.exemplar_count = listed.count;
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
    return PX_GIVE(status, bank, out, px_bank_free);
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
