/* src/check/check_page.c - the report as one file
 *
 * A page that does not open is no report: findings are taken off it until it is below a limit,
 * unless the user wants all.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/page_internal.h"

#include "base/file.h"

#include <internal/data.h>
#include <internal/field.h>
#include <internal/system.h>
#include <plexor/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAGE_BYTES_MOST = 4900000,
    PAGE_FINDINGS = 600,
    PAGE_FINDINGS_FULL = 20000,
    DOCTOR_BYTES_MOST = 1 << 20 /* as much as is parsed */
};

int64_t pxi_page_class(const pxi_page *p, int64_t c)
{
    return c < p->c->scores.classes ? c : -1;
}

bool pxi_page_failed(const pxi_page *p, px_status status)
{
    if (*p->status == PX_OK)
        *p->status = status;
    return *p->status != PX_OK;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* --- what was looked at ---------------------------------------------------------------------- */

typedef struct page_head {
    const char *schema, *created, *version, *folder, *verdict, *title, *model_name, *data_name;
    int64_t parameters, layers, neurons;
    bool probed, unlabelled, recordings;
    const px_check *c;
} page_head;

static const px_field model_fields[] = {
    PX_FIELD(page_head, model_name, "name", "of its file"),
    PX_FIELD(page_head, parameters, "parameters", "of the network"),
    PX_FIELD(page_head, layers, "layers", "of the network", PX_IF(page_head, probed)),
    PX_FIELD(page_head, neurons, "neurons", "of the network", PX_IF(page_head, probed)),
    PX_FIELDS_END,
};

static const px_field part_fields[] = {
    PX_FIELD(px_check, o.read.split, "split", "part of the data"),
    PX_FIELD(px_check, count, "count", "inputs that were looked at"),
    PX_FIELD(px_check, labelled, "labelled", "they have labels that the network knows"),
    PX_FIELDS_END,
};

static const px_field why_fields[] = {
    PX_CHARS(px_check, no_labels, "no_labels", "why they have none"),
    PX_FIELDS_END,
};

static const px_field data_fields[] = {
    PX_FIELD(page_head, data_name, "name", "the SPEC, without folders of this machine"),
    PX_OBJECT_AT(page_head, c, part_fields, ""),
    PX_OBJECT_AT(page_head, c, why_fields, "", PX_IF(page_head, unlabelled)),
    PX_FIELD(page_head, recordings, "recordings", "inputs are features of recordings"),
    PX_FIELDS_END,
};

static const px_field class_fields[] = {
    PX_VALUES(px_check, names, scores.classes, "classes", "their names"),
    PX_FIELDS_END,
};

static const px_field gate_fields[] = {
    PX_LIST_MADE(pxi_gate_item, pxi_gate_page_fields, "gates", "what must hold"),
    PX_FIELDS_END,
};

static const px_field head_fields[] = {
    PX_FIELD(page_head, schema, "schema", "of this object"),
    PX_FIELD(page_head, title, "title", "of the page"),
    PX_FIELD(page_head, created, "created", "when, in UTC"),
    PX_FIELD(page_head, version, "version", "of plexor"),
    PX_FIELD(page_head, folder, "folder", "of the examination"),
    PX_OBJECT_OF(model_fields, "model", "the network"),
    PX_OBJECT_OF(data_fields, "data", "the inputs"),
    PX_OBJECT_AT(page_head, c, class_fields, ""),
    PX_FIELD(page_head, verdict, "verdict", "pass, fail, or none without gates"),
    PX_OBJECT_AT(page_head, c, gate_fields, ""),
    PX_FIELDS_END,
};

static void write_head(const void *page, px_json *json)
{
    const px_check *c = ((const pxi_page *)page)->c;
    const time_t now = time(NULL);
    struct tm utc;
    char when[32] = "";
    px_text title = {0};
    px_probe *probe = NULL;
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    px_text_format(&title, "LeNet-5 on %s", c->data_spec); /* of those who bring no network */
    page_head head = {
        .schema = "plexor-report/2",
        .created = when,
        .version = px_version(),
        .folder = pxi_shown_path(c->folder),
        .verdict = px_verdict_name(px_check_verdict(c)),
        .title = c->o.model ? base_name(c->model_path) : px_text_get(&title),
        .model_name = base_name(c->model_path),
        .data_name = pxi_shown_path(c->data_spec),
        .parameters = px_model_parameters(c->model, NULL),
        .unlabelled = !c->labelled,
        .recordings = px_dataset_audio(c->set) != NULL,
        .c = c,
    };
    options.feeds = &feed;
    options.feed_count = 1;
    head.probed = px_probe_new(c->model, &options, &probe, NULL) == PX_OK;
    if (head.probed) {
        head.layers = (int64_t)px_probe_layer_count(probe);
        head.neurons = px_probe_neuron_count(probe);
    }
    px_fields_json(head_fields, &head, json);
    px_probe_free(probe);
    px_text_done(&title);
}

/* --- doctor and remarks ---------------------------------------------------------------------- */

static bool is_finding(const px_json_document *doctor, const char *sentence)
{
    const px_json_value *list = doctor ? px_json_member(px_json_root(doctor), "findings") : NULL;
    for (size_t i = 0; list && list->kind == PX_JSON_ARRAY && i < list->count; i++) {
        const char *found = pxi_json_words(&list->items[i], "sentence");
        if (found && strcmp(found, sentence) == 0)
            return true;
    }
    return false;
}

typedef struct page_said {
    char *doctor; /* DOCTOR_FILE; NULL: it is not there, or cannot be read */
    px_json_document *document;
    const char *remarks;
} page_said;

typedef struct remark_row {
    const char *text; /* what a field reads */
    const char *rest; /* lines that come next */
    char line[PX_FIELD_TEXT_MOST];
} remark_row;

static const void *remark_item(const void *at, size_t i, void *row)
{
    const page_said *said = at;
    remark_row *r = row;
    if (i == 0)
        r->rest = said->remarks;
    while (*r->rest) {
        const size_t length = strcspn(r->rest, "\n");
        snprintf(r->line, sizeof r->line, "%.*s", (int)length, r->rest);
        r->rest += length + (r->rest[length] == '\n');
        r->text = r->line;
        /* The stages say what is left out, of earlier runs too; findings are said once. */
        if (!strstr(r->line, " is left out: ") && !is_finding(said->document, r->line))
            return r;
    }
    return NULL;
}

static const px_field said_fields[] = {
    PX_READY(page_said, doctor, "doctor", "what speaks against preprocessing and data",
             PX_IF(page_said, doctor)),
    PX_VALUES_MADE(remark_item, const char *, "remarks", "of the run"),
    PX_FIELDS_END,
};

/* What the doctor found (of stage eval) and what the run had to say. A file that is not there, or
 * cannot be read, is no reason for no page. */
static void write_said(const void *page, px_json *json)
{
    const px_check *c = ((const pxi_page *)page)->c;
    page_said said = {.remarks = px_text_get(c->remarks)};
    char *path = pxi_check_path(c, "doctor.json");
    size_t size = 0;
    if (path && pxi_file_read(path, DOCTOR_BYTES_MOST, &said.doctor, &size, NULL) == PX_OK &&
        px_json_parse(said.doctor, size, &said.document, NULL) != PX_OK) {
        free(said.doctor);
        said.doctor = NULL;
    }
    px_fields_json(said_fields, &said, json);
    px_json_free(said.document);
    free(said.doctor);
    free(path);
}

/* --- all of it ------------------------------------------------------------------------------- */

typedef struct result_row {
    const char *id;
    char *text;
    int stage;
} result_row;

/* The next stage from `stage` on that has a result. */
static int next_result(const px_check *c, int stage)
{
    while (stage < PXI_STAGE_COUNT && !c->result[stage])
        stage++;
    return stage;
}

/* Every STAGE.json as it is. */
static const void *result_item(const void *at, size_t i, void *row)
{
    const pxi_page *p = at;
    result_row *r = row;
    if (i > 0)
        free(r->text);
    r->text = NULL;
    r->stage = next_result(p->c, i ? r->stage + 1 : 0);
    if (r->stage == PXI_STAGE_COUNT ||
        pxi_page_failed(p, pxi_check_result_text(p->c, r->stage, &r->text, p->err)))
        return NULL;
    r->id = pxi_stages[r->stage]->public.entry.id;
    return r;
}

static const px_field result_fields[] = {
    PX_FIELD(result_row, id, "stage", "its id"),
    PX_READY(result_row, text, "", "STAGE.json"),
    PX_FIELDS_END,
};
typedef struct beside_row {
    const char *id;
    pxi_page *p;
    int stage;
} beside_row;

/* What only the library can know. */
static const void *beside_item(const void *at, size_t i, void *row)
{
    pxi_page *p = ((const pxi_page *)at)->self;
    beside_row *r = row;
    r->p = p;
    r->stage = next_result(p->c, i ? r->stage + 1 : 0);
    while (r->stage < PXI_STAGE_COUNT && !pxi_stages[r->stage]->page)
        r->stage = next_result(p->c, r->stage + 1);
    if (r->stage == PXI_STAGE_COUNT)
        return NULL;
    r->id = pxi_stages[r->stage]->public.entry.id;
    return r;
}

static void beside_write(const void *at, px_json *json)
{
    const beside_row *r = at;
    (void)json;
    if (!pxi_page_failed(r->p, PX_OK))
        pxi_page_failed(r->p,
                        pxi_stages[r->stage]->page(r->p, r->p->c->result[r->stage], r->p->err));
}

static const px_field beside_fields[] = {
    PX_FIELD(beside_row, id, "stage", "its id"),
    PX_WRITTEN(beside_write, "", "what its view needs besides"),
    PX_FIELDS_END,
};

static const void *sheet_item(const void *at, size_t i, void *row)
{
    (void)row;
    return i == 0 && ((const pxi_page *)at)->sprites ? at : NULL;
}

static void sheet_write(const void *at, px_json *json)
{
    const pxi_page *p = at;
    pxi_page_failed(p, px_sprites_json(p->sprites, json, p->err));
}

static const px_field sheet_fields[] = {
    PX_WRITTEN(sheet_write, "", "the sheet"),
    PX_FIELDS_END,
};

static const px_field page_fields[] = {
    PX_WRITTEN(write_head, "", "what was looked at"),
    PX_LIST_MADE(pxi_page_stage, pxi_page_stage_fields, "stages", "in their order"),
    PX_MAP_MADE(result_item, result_fields, "results", "of the stages, as they are"),
    PX_MAP_MADE(beside_item, beside_fields, "beside", "what no result has"),
    PX_MAP_MADE(pxi_page_input_item, pxi_page_input_fields, "inputs", "that are shown"),
    PX_OBJECT_OF(pxi_page_failure_fields, "failures", "of the campaign", PX_IF(pxi_page, campaign)),
    PX_WRITTEN(write_said, "", "what there is to say"),
    PX_OBJECT_AT(pxi_page, c, pxi_page_provenance_fields, "provenance", "where it is from"),
    PX_LIST_MADE(sheet_item, sheet_fields, "sheets", "of pictures"),
    PX_FIELDS_END,
};

static px_status page_make(pxi_page *p, px_error *err)
{
    px_status status = PX_OK;
    p->self = p;
    p->status = &status;
    p->err = err;
    px_fields_object(page_fields, p, NULL, &p->json);
    PX_TRY(status);
    return px_json_text(&p->json) ? PX_OK : pxi_no_memory(err);
}

/* Without line breaks and indents, which in what px_json writes stand outside of strings; chains
 * are on one line. */
static char *compact(const char *json)
{
    char *out = malloc(strlen(json) + 1), *to = out;
    for (const char *from = json; out && *from;) {
        if (*from == '\n') {
            from += 1 + strspn(from + 1, " ");
        } else {
            *to++ = *from++;
        }
    }
    if (out)
        *to = '\0';
    return out;
}

/* One try; *size is what it would take. */
static px_status page_try(px_check *c, px_campaign *campaign, int64_t faults, int64_t findings,
                          char **html, size_t *size, px_error *err)
{
    pxi_page p = {.c = c, .campaign = campaign, .findings = findings, .faults = faults};
    char *json = NULL;
    px_status status = pxi_page_pictures_open(&p, err);
    PX_THEN(status, pxi_page_findings_open(&p, err));
    PX_THEN(status, page_make(&p, err));
    if (status == PX_OK && !(json = compact(px_json_text(&p.json))))
        status = pxi_no_memory(err);
    PX_THEN(status, px_report_html(json, html, size, err));
    free(json);
    px_json_done(&p.json);
    pxi_page_pictures_close(&p);
    return status;
}

px_status pxi_page_write(px_check *c, px_error *err)
{
    px_campaign *campaign = NULL;
    px_campaign_counts counts = {0};
    char *html = NULL;
    size_t size = 0;
    int64_t findings = c->o.full ? PAGE_FINDINGS_FULL : PAGE_FINDINGS;
    px_status status = pxi_findings_gather(c, &campaign, err);
    PX_THEN_IF(status, campaign, px_campaign_count(campaign, &counts, err));
    while (status == PX_OK) {
        free(html);
        html = NULL;
        status = page_try(c, campaign, counts.faults, findings, &html, &size, err);
        if (c->o.full || size <= PAGE_BYTES_MOST || findings < 10)
            break;
        findings = findings * 2 / 3;
    }
    PX_THEN(status, pxi_file_write(c->page, html, size, err));
    free(html);
    px_campaign_close(campaign);
    return status;
}
